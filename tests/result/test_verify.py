import json
from io import StringIO

import attrs
import pytest

from primabench_core.errors import ContractError, MissingDataError, ResultError, UsageError
from primabench_core.result import EvalResult, Interval, from_json, to_json
from primabench_core.result.verify import verify


def again_with(result, **changes):
    """An ``evaluate`` that finds this result, whatever it is given; it keeps what it was asked."""
    found = EvalResult.make(
        **{
            **{f.name: getattr(result, f.name) for f in attrs.fields(EvalResult) if not f.name.endswith("_hash")},
            "dataset_hash": result.dataset_hash,
            **changes,
        }
    )

    def evaluate(task, predictions, **asked):
        evaluate.asked = {"task": task, "predictions": predictions, **asked}
        return found

    return evaluate


def statuses(found):
    return {c.name: c.status for c in found.checks}


def test_an_honest_result_verifies(result):
    found = verify(result)
    assert found.passed
    assert statuses(found) == {
        "request_hash": "passed",
        "scores_hash": "passed",
        "record_hash": "passed",
        "scores": "skipped",
    }
    evaluate = again_with(result)
    found = verify(result, "predictions", evaluate=evaluate)
    assert found.passed, str(found)
    found.require()
    assert evaluate.asked["metrics"][0] == ("accuracy", {})
    assert (evaluate.asked["task"], evaluate.asked["dataset"]) == (result.task, result.dataset)
    assert (evaluate.asked["ci"], evaluate.asked["seed"], evaluate.asked["partial"]) == (0.95, 0, False)
    assert "accuracy interval" in statuses(found)


TAMPERED = [
    (("results", 0, "value"), 0.7500000000000001, {"scores_hash", "record_hash"}),
    (("results", 0, "n"), 39, {"scores_hash", "record_hash"}),
    (("results", 0, "interval", "low"), 0.71, {"record_hash"}),
    (("results", 0, "interval", "unit"), "cell", {"record_hash"}),
    (("results", 1, "params", "labels"), "truth", {"request_hash", "scores_hash", "record_hash"}),
    (("results", 1, "per_unit", "B"), 0.6, {"scores_hash", "record_hash"}),
    (("results", 1, "flags"), [], {"scores_hash", "record_hash"}),
    (("results", 3, "value"), 0.3, {"record_hash"}),
    (("results", 3, "rtol"), 1.0, {"record_hash"}),
    (("results", 3, "reproducibility"), "exact", {"scores_hash", "record_hash"}),
    (("seeds", "bootstrap"), 7, {"request_hash", "record_hash"}),
    (("packages", "primabench-core"), "9.9", {"request_hash", "record_hash"}),
    (("predictions_sha256",), "c" * 64, {"request_hash", "record_hash"}),
    (("dataset",), "x/y@1.0.0", {"request_hash", "record_hash"}),
    (("synthetic",), True, {"record_hash"}),
    (("coverage",), 0.5, {"record_hash"}),
    (("primary",), "auroc", {"record_hash"}),
]


@pytest.mark.parametrize(("path", "value", "expected"), TAMPERED)
def test_an_edited_record_is_found_without_predictions(result, path, value, expected):
    document = json.loads(to_json(result))
    inner = document
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    found = verify(from_json(json.dumps(document)))
    assert {c.name for c in found.failures} == expected
    with pytest.raises(ResultError, match="does not verify"):
        found.require()


def forged(result, place, **changes):
    """A result with a changed metric whose own hashes were all computed anew."""
    results = list(result.results)
    results[place] = attrs.evolve(results[place], **changes)
    return again_with(result, results=results)(None, None)


@pytest.mark.parametrize(
    ("place", "changes", "check"),
    [
        (0, {"value": 0.7500000000000001}, "accuracy"),
        (0, {"interval": Interval(low=0.7, high=0.80000001, draws=2000, unit="donor")}, "accuracy interval"),
        (0, {"interval": Interval.absent("none")}, "accuracy interval"),
        (0, {"version": "2"}, "accuracy"),
        (0, {"params": {"k": 5}}, "accuracy"),
        (1, {"per_unit": {"B": 0.5, "é": 0.1, "-0": -0.0}}, "macro_f1"),
        (1, {"per_unit": {"B": 0.5, "é": None, "-0": 0.0}}, "macro_f1"),
        (2, {"value": 0.5, "status": "ok", "reason": ""}, "auroc"),
        (3, {"value": 0.2000003}, "silhouette_label"),
        (3, {"n": 41}, "silhouette_label"),
        (3, {"rtol": 1.0, "value": 0.3}, "silhouette_label"),
    ],
)
def test_a_forged_score_is_found_with_predictions(result, place, changes, check):
    claim = forged(result, place, **changes)
    assert verify(claim).passed  # its hashes are consistent
    found = verify(claim, "predictions", evaluate=again_with(result))
    assert [c.name for c in found.failures] == [check], str(found)


def test_tolerance_metrics_agree_within_theirs(result):
    near = forged(result, 3, value=0.2 * (1 + 1e-6))
    found = verify(near, "predictions", evaluate=again_with(result))
    assert found.passed, str(found)


def test_other_data_are_found(result):
    found = verify(result, "p", evaluate=again_with(result, predictions_sha256="c" * 64, truth_sha256="e" * 64))
    assert {c.name for c in found.failures} == {"truth_sha256", "predictions_sha256"}
    found = verify(result, "p", evaluate=again_with(result, n_units=41))
    assert {c.name for c in found.failures} == {"n_units"}


def test_other_versions_are_a_note(result):
    found = verify(result, "p", evaluate=again_with(result, packages={"primabench-core": "0.2.0", "x": "1"}))
    assert found.passed
    assert statuses(found)["packages"] == "note"
    assert "0.1.0 → 0.2.0" in str(found)


def test_a_result_without_a_fingerprint_says_so(result):
    bare = again_with(result, predictions_sha256="", predictions_reason="hash_predictions=False")(None, None)
    found = verify(bare, "p", evaluate=again_with(result))
    assert statuses(found)["predictions_sha256"] == "skipped"


def test_refusals(result):
    with pytest.raises(UsageError, match="evaluate"):
        verify(result, "p")

    def broken(*_, **__):
        raise ContractError([], what="The prediction")

    assert statuses(verify(result, "p", evaluate=broken))["evaluation"] == "failed"

    def absent(*_, **__):
        raise MissingDataError("no such dataset")

    with pytest.raises(MissingDataError):  # nothing was verified, so there is nothing to report
        verify(result, "p", evaluate=absent)


def test_it_prints_as_text_and_as_a_table(result):
    from rich.console import Console

    console = Console(width=80, record=True, file=StringIO())
    console.print(verify(result))

    assert "scores_hash" in console.export_text()
    assert "needs the predictions" in str(verify(result))
