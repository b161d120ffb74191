"""The solution of a dataset stays inside: not in a repr, a pickle, an error, a result."""

from __future__ import annotations

import pickle
import traceback

import pytest

import primabench_core as pb
from primabench_core.errors import ContractError, CorruptDataError, CoverageError, MetricError, UsageError
from primabench_core.evaluation.oracle import evaluate_oracle

CANARY = "canary_class_7f3a"
IDS = [f"cell{i}" for i in range(40)]

pytestmark = pytest.mark.usefixtures("solutions")


def clean(*texts: object) -> None:
    for text in texts:
        assert CANARY not in str(text)
        assert CANARY not in repr(text)


def test_pickles_hold_no_solution_and_reopen_it(solutions):
    run = pb.Evaluation("toy_cells", metrics=["toy_hits"])
    run.update(ids=IDS[:20], label=["plain"] * 20)
    carried = pickle.dumps(run)
    assert CANARY.encode() not in carried
    assert b"d7" not in carried
    opened = pickle.loads(carried)
    assert opened._truth is None  # not before it is needed
    opened.update(ids=IDS[20:], label=["plain"] * 20)
    run.update(ids=IDS[20:], label=["plain"] * 20)
    assert opened.compute().scores_hash == run.compute().scores_hash
    again = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(opened))))
    assert again.n_seen == 40
    assert again.compute().scores_hash == run.compute().scores_hash


def test_a_pickle_names_only_classes_that_the_truth_does_not_have():
    run = pb.Evaluation("toy_cells", metrics=["toy_hits"])
    run.update(ids=IDS, label=["other"] * 39 + [CANARY])
    carried = pickle.dumps(run)
    assert b"other" in carried
    assert CANARY.encode() not in carried
    assert pickle.loads(carried).compute().scores_hash == run.compute().scores_hash


def test_another_content_under_the_same_key_is_an_error(solutions):
    _, hashes = solutions
    run = pb.Evaluation("toy_cells", metrics=["toy_hits"])
    carried = pickle.dumps(run)
    hashes["primabench_synthetic/toy_cells@1.0.0"] = "f" * 64
    with pytest.raises(CorruptDataError, match="content hash"):
        pickle.loads(carried).update(ids=IDS, label=["plain"] * 40)


def test_nothing_prints_the_solution():
    run = pb.Evaluation("toy_cells")
    run.update(ids=IDS, label=["plain"] * 40)
    clean(run, run.truth, run._opened, run._intake, run._request)
    result = run.compute(ci=0.9)
    clean(result, result.to_dict(), result["toy_hits"])


def test_no_public_attribute_gives_the_solution():
    run = pb.Evaluation("toy_cells")
    public = [getattr(run, name) for name in dir(run) if not name.startswith("_")]
    clean(*public, pickle.dumps([v for v in public if not callable(v)]))
    assert run.truth.n == 40


def test_no_error_quotes_the_solution():
    run = pb.Evaluation("toy_cells", metrics=["toy_hits"])
    for bad in (
        {"ids": IDS, "label": [0] * 40},
        {"ids": ["x"], "label": ["plain"]},
        {"ids": IDS, "label": [None] * 40},
        {"label": ["plain"] * 40},
    ):
        with pytest.raises(ContractError) as caught:
            run.update(**bad)
        clean("".join(traceback.format_exception(caught.value)))
    run.update(ids=IDS[:1], label=["plain"])
    with pytest.raises(ContractError) as caught:
        run.update(ids=IDS[:1], label=["other"])
    clean("".join(traceback.format_exception(caught.value)))
    with pytest.raises(CoverageError) as caught:
        run.compute()
    clean("".join(traceback.format_exception(caught.value)))


def test_what_a_metric_says_about_a_private_truth_is_left_out():
    result = pb.evaluate("toy_cells", {"ids": IDS, "label": ["plain"] * 40}, metrics=["toy_raises", "toy_hits"])
    failed = result["toy_raises"]
    assert (failed.status, failed.reason) == ("failed", "raised")
    assert "KeyError in toy_metrics.py" in failed.detail
    clean(failed, result, result.to_dict())
    own = pb.score("toy_raises", {"label": ["a"]}, {"label": ["a"]})
    assert "the truth holds ('a',)" in own.detail


def test_a_damaged_solution_is_reported_without_its_values(solutions):
    from primabench_core.contract.evaldata import EvalData

    held, _ = solutions
    held["primabench_synthetic/toy_cells@1.0.0"] = EvalData(
        {"label": [CANARY, None], "donor": ["d0", "d1"]}, ids=["cell0", "cell1"]
    )
    with pytest.raises(ContractError, match="solution") as caught:
        pb.Evaluation("toy_cells")
    clean(caught.value)


def test_an_oracle_runs_inside():
    result = evaluate_oracle("toy_cells", "perfect", metrics=["toy_hits"], ci=None)
    assert result.scores == {"toy_hits": 1.0}
    assert result.labels["baseline"] == "perfect"
    sharded = evaluate_oracle("toy_cells", "perfect", metrics=["toy_hits"], ci=None, shards=7)
    assert sharded.scores_hash == result.scores_hash
    clean(result.to_dict())


def test_an_oracle_that_raises_takes_its_words_with_it():
    with pytest.raises(MetricError) as caught:
        evaluate_oracle("toy_cells", "leaky")
    clean("".join(traceback.format_exception(caught.value)))
    assert "ValueError" in str(caught.value)
    with pytest.raises(UsageError, match="no oracle"):
        evaluate_oracle("toy_cells", "honest")


def test_classes_that_only_the_solution_names_are_not_told():
    run = pb.stream(["toy_either"], truth={"label": [CANARY, "b"]})
    run._opened.private = True
    with pytest.raises(ContractError) as caught:
        run.update(probability=[[0.5, 0.5], [0.5, 0.5]], classes=[CANARY[:-1], "b"])
    clean("".join(traceback.format_exception(caught.value)))
    assert "missing classes in 1 name" in str(caught.value)
    told = pb.stream(["toy_either"], truth={"label": [CANARY, "b"], "classes": [CANARY, "b"]})
    told._opened.private = True
    with pytest.raises(ContractError, match=CANARY):
        told.update(probability=[[0.5, 0.5], [0.5, 0.5]], classes=[CANARY[:-1], "b"])
