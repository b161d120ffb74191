"""What compute gives: metrics in isolation, coverage, gaps in the truth, rules of a contract, what is recorded."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import primabench_core as pb
from primabench_core.errors import ContractError, CoverageError, UsageError
from primabench_core.evaluation.aggregate import aggregate
from primabench_core.result.metric_result import MetricResult
from primabench_core.spec import Contract, Field

pytestmark = pytest.mark.usefixtures("toys")

CELLS = {f"cell{i}": ("canary_class_7f3a" if i % 3 == 0 else "plain") for i in range(40)}


def cells(**changes):
    return {"ids": list(CELLS), "label": [changes.get(i, label) for i, label in CELLS.items()]}


# -- isolation ---------------------------------------------------------------------------------------------------------


def test_a_metric_that_fails_harms_only_itself():
    run = pb.stream(["toy_raises", "toy_hits", "toy_nan", "toy_text"], truth={"label": [0, 1, 1]})
    run.update(label=[0, 1, 0])
    result = run.compute(ci=0.9)
    assert result["toy_hits"].value == 2 / 3
    assert result["toy_hits"].interval is not None
    for name, reason in (("toy_raises", "raised"), ("toy_nan", "numerical_failure"), ("toy_text", "not_a_result")):
        assert (result[name].status, result[name].value, result[name].reason) == ("failed", None, reason)
        assert result[name].interval is None
    assert "KeyError" in result["toy_raises"].detail
    assert result.scores["toy_nan"] is None


def test_fewer_metrics_change_no_value():
    fields = {"label": [0, 1, 2], "value": [1.0, 2.0, 4.0], "cluster": [5, 5, 6]}
    truth = {"label": [0, 1, 1], "value": [1.0, 2.0, 3.0]}
    many = pb.stream(["toy_hits", "toy_mean", "toy_open", "toy_picky", "nmi", "ari", "accuracy"], truth=truth)
    many.update(**fields)
    together = many.compute(ci=0.9)
    for name, needs in (("toy_hits", "label"), ("toy_mean", "value"), ("toy_open", "cluster"), ("nmi", "cluster")):
        told = {k: v for k, v in truth.items() if k == ("value" if needs == "value" else "label")}
        alone = pb.score(name, {needs: fields[needs]}, told)
        assert alone.value == together[name].value


def test_a_metric_sees_its_own_fields_only():
    run = pb.stream(["toy_hits", "toy_mean"], truth={"label": [0, 1], "value": [0.0, 1.0]})
    run.update(label=[0, 1], value=[0.0, 1.0])
    run.compute()
    assert sys.modules["toy_metrics"].SEEN[-1] == (["value"], ["value"])


def test_a_check_refuses_before_any_metric_runs():
    run = pb.stream(["toy_refuses", "toy_mean"], truth={"label": ["a", "b"], "value": [0.0, 1.0]})
    run.update(label=["a", "b"], value=[0.0, 1.0])
    seen = len(sys.modules["toy_metrics"].SEEN)
    with pytest.raises(ContractError, match="label with 2 classes"):
        run.compute()
    assert len(sys.modules["toy_metrics"].SEEN) == seen


def test_a_metric_that_cannot_be_loaded_is_refused_at_the_start(monkeypatch):
    import toy_specs

    from primabench_core.discovery import registry
    from primabench_core.errors import PluginError

    spec = toy_specs.toy_hits
    monkeypatch.setattr(registry, "_loaded", {})
    monkeypatch.setattr(toy_specs, "toy_hits", type(spec)(**{**_fields(spec), "compute": "toy_metrics:absent"}))
    with pytest.raises(PluginError, match="absent"):
        pb.stream(["toy_hits"], truth={"label": [0]})


def _fields(spec):
    import attrs

    return {a.name: getattr(spec, a.name) for a in attrs.fields(type(spec))}


def test_alternatives_take_what_comes():
    truth = {"label": [0, 1], "classes": [0, 1]}
    assert pb.score("toy_either", {"score": [0.25, 0.5]}, truth).value == 0.75
    assert pb.score("toy_either", {"probability": [[0.25, 0.75], [0.5, 0.5]]}, truth).value == 2.0
    both = pb.score("toy_either", {"score": [0.25, 0.5], "probability": [[0.25, 0.75], [0.5, 0.5]]}, truth)
    assert both.value == 0.75  # the first alternative that the metric lists


def test_columns_are_joined_by_name():
    truth = {"value": [[1.0, 2.0, 3.0]], "genes": ["A", "B", "C"]}
    assert pb.score("toy_mean", {"value": [[3.0, 1.0, 2.0]], "genes": ["C", "A", "B"]}, truth).value == 0.0
    for genes in (["C", "A", "D"], ["A", "A", "B"], ["A", "B"]):
        with pytest.raises(ContractError, match="gene"):
            pb.score("toy_mean", {"value": [[3.0, 1.0, 2.0]], "genes": genes}, truth)
    with pytest.raises(ContractError, match="gene"):
        pb.score("toy_mean", {"value": [[3.0]], "genes": ["A"]}, {"value": [[3.0]]})
    classes = {"label": ["b", "a"], "classes": ["a", "b"]}
    run = pb.stream(["toy_either"], truth=classes)
    run.update(probability=[[0.75, 0.25], [0.5, 0.5]], classes=["b", "a"])
    assert run._intake.columns()["probability"].tolist() == [[0.25, 0.75], [0.5, 0.5]]


# -- coverage and gaps -------------------------------------------------------------------------------------------------


def test_partial_scores_stand_beside_their_coverage():
    run = pb.stream(["toy_hits"], truth={"label": [0, 1, 1, 0]}, partial=True)
    run.update(positions=[1, 3], label=[1, 1])
    result = run.compute()
    assert (result["toy_hits"].value, result["toy_hits"].n, result["toy_hits"].coverage) == (0.5, 2, 0.5)
    assert (result.coverage, result.n_units) == (0.5, 4)
    assert pb.score("toy_hits", {"label": [1, 0]}, {"label": [1, 0]}).coverage == 1.0


def test_partial_without_any_row():
    run = pb.stream(["toy_hits", "toy_mean"], truth={"label": [0, 1], "value": [0.0, 1.0]}, partial=True)
    result = run.compute()
    assert result.scores == {"toy_hits": None, "toy_mean": None}
    assert result["toy_hits"].reason == "too_few_items"
    assert result.coverage == 0.0


def test_a_gap_in_a_nullable_truth_takes_the_row_out_of_that_metric_alone():
    truth = {"value": [0.0, float("nan"), 2.0], "label": [0, 1, 1]}
    run = pb.stream(["toy_mean", "toy_hits"], truth=truth)
    run.update(value=[1.0, 7.0, 2.0], label=[0, 0, 1])
    result = run.compute(ci=0.9)
    assert (result["toy_mean"].value, result["toy_mean"].n) == (0.5, 2)
    assert dict(result["toy_mean"].n_excluded) == {"no_truth": 1}
    assert (result["toy_hits"].n, dict(result["toy_hits"].n_excluded)) == (3, {})
    gappy = pb.score("toy_gappy", {"label": ["a", "b", "c"]}, {"label": ["a", None, "b"]})
    assert (gappy.value, gappy.n, dict(gappy.n_excluded)) == (0.5, 2, {"no_truth": 1})


def test_gaps_and_partial_together():
    run = pb.stream(["toy_mean"], truth={"value": [0.0, float("nan"), 2.0, float("nan")]}, partial=True)
    run.update(positions=[0, 1], value=[1.0, 7.0])
    result = run.compute()["toy_mean"]
    assert (result.value, result.n, dict(result.n_excluded), result.coverage) == (1.0, 1, {"no_truth": 1}, 0.5)


def test_unknown_labels_count_as_errors_and_are_counted():
    result = pb.score("toy_hits", {"label": ["a", "x", "y", "y"]}, {"label": ["a", "a", "a", "a"]})
    assert (result.value, result.values["n_unknown_labels"]) == (0.25, 3)
    assert "unknown_labels" in result.flags
    assert "n_unknown_labels" not in pb.score("toy_hits", {"label": ["a"]}, {"label": ["a"]}).values
    accuracy = pb.score("accuracy", {"label": ["a", "x"]}, {"label": ["a", "a"]})
    assert accuracy.flags.count("unknown_labels") == 1


def test_a_probe_over_fit_and_scored_rows():
    generator = np.random.default_rng(3)
    x = generator.normal(size=(40, 3))
    y = x @ np.array([1.0, -2.0, 0.5])
    truth = {"value": y, "role": np.where(np.arange(40) < 30, "fit", "score")}
    result = pb.score("toy_probe", {"embedding": x}, truth)
    assert result.value == pytest.approx(0.0, abs=1e-20)
    assert result.n == 10
    with pytest.raises(ContractError):
        pb.score("toy_probe", {"embedding": x}, {**truth, "role": np.full(40, "train")})


# -- tasks -------------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("solutions")
class TestTask:
    def test_a_task_in_one_call_and_in_batches(self):
        predictions = cells(cell1="canary_class_7f3a")
        whole = pb.evaluate("toy_cells", predictions)
        assert whole["toy_hits"].value == 39 / 40
        assert whole["toy_hits"].interval is not None
        assert whole["toy_hits"].interval.unit == "donor"
        run = pb.Evaluation("toy_cells")
        for k in (1, 0, 2):
            run.update(ids=predictions["ids"][k::3], label=predictions["label"][k::3])
        streamed = run.compute(ci=0.95)
        assert streamed.scores_hash == whole.scores_hash
        assert streamed.record_hash == whole.record_hash

    def test_what_a_result_records(self):
        result = pb.evaluate("toy_cells", cells(), labels={"model_name": "m", "step": "3"}, seed=7)
        assert (result.task, result.dataset) == ("toy_cells", "primabench_synthetic/toy_cells@1.0.0")
        assert result.dataset_hash == f"{1:064x}"
        assert (result.primary, result.unit, result.n_units, result.synthetic) == ("toy_hits", "cell", 40, True)
        assert {"primabench-core", "toy-metrics"} <= set(result.packages)
        assert dict(result.seeds) == {"bootstrap": 7}
        assert dict(result.labels) == {"model_name": "m", "step": "3"}
        assert set(result.timings) == {"update", "hash", "metrics"}
        assert len(result.predictions_sha256) == len(result.truth_sha256) == 64
        plain = pb.evaluate("toy_cells", cells())
        assert plain.predictions_sha256 == result.predictions_sha256
        assert plain.request_hash != result.request_hash
        other = pb.evaluate("toy_cells", cells(cell1="other"))
        assert other.predictions_sha256 != plain.predictions_sha256
        assert other.truth_sha256 == plain.truth_sha256

    def test_the_truth_of_a_dataset_is_salted(self, solutions):
        held, _ = solutions
        solution = held["primabench_synthetic/toy_cells@1.0.0"]
        private = pb.evaluate("toy_cells", cells(), metrics=["toy_hits"], ci=None)
        own = pb.stream(["toy_hits"], truth={"ids": solution.ids, "label": solution["label"]})
        own.update(**cells())
        assert own.compute().truth_sha256 != private.truth_sha256
        assert own.compute().predictions_sha256 == private.predictions_sha256

    def test_without_a_fingerprint_there_is_a_reason(self):
        result = pb.evaluate("toy_cells", cells(), hash_predictions=False, ci=None)
        assert result.predictions_sha256 == ""
        assert result.predictions_reason

    def test_the_aggregate_needs_the_whole_panel(self):
        result = pb.evaluate("toy_cells", cells(), ci=None)
        assert result["aggregate"].value == (1.0 + 40.0) / 2
        assert "aggregate" not in pb.evaluate("toy_cells", cells(), metrics=["toy_hits"], ci=None)

    def test_what_always_stands_is_scored_whatever_is_asked_for(self):
        for asked, found in (
            (["toy_hits"], ["toy_hits", "toy_picky"]),
            (["toy_picky"], ["toy_picky"]),
            (["toy_picky", "toy_hits"], ["toy_picky", "toy_hits"]),
            (None, ["toy_hits", "toy_picky"]),
        ):
            assert list(pb.evaluate("toy_strict", cells(), metrics=asked, ci=None).scores) == found
        assert "toy_picky" not in pb.evaluate("toy_cells", cells(), metrics=["toy_hits"], ci=None)

    def test_few_rows_of_a_private_truth_give_no_score(self):
        predictions = {"ids": list(CELLS)[:29], "label": list(CELLS.values())[:29]}
        result = pb.evaluate("toy_cells", predictions, partial=True)
        assert all(r.value is None and r.reason == "insufficient_coverage" for r in result if r.name != "aggregate")
        assert result.coverage == 29 / 40
        more = {"ids": list(CELLS)[:30], "label": list(CELLS.values())[:30]}
        assert pb.evaluate("toy_cells", more, partial=True)["toy_hits"].value == 1.0
        with pytest.raises(CoverageError, match="cell30"):
            pb.evaluate("toy_cells", more)

    def test_ignored_fields_pass_and_others_do_not(self):
        assert pb.evaluate("toy_cells", {**cells(), "comment": ["x"] * 40}, ci=None)["toy_hits"].value == 1.0
        with pytest.raises(ContractError, match="comments"):
            pb.evaluate("toy_cells", {**cells(), "comments": ["x"] * 40})

    def test_a_strict_contract_refuses_unknown_labels(self):
        with pytest.raises(ContractError, match="cell1"):
            pb.evaluate("toy_strict", cells(cell1="other"))

    def test_missing_edges_weigh_nothing_repeats_keep_the_largest_and_others_are_ignored(self):
        run = pb.Evaluation("toy_edges")
        run.update(ids=["e1", "self", "e3"], value=[0.5, 9.0, 1.0])
        run.update(ids=["e1", "self", "e1"], value=[1.0, 9.0, -0.25])
        result = run.compute()["toy_mean"]
        assert result.value == 1 / 6  # only e5 is missed
        assert dict(result.n_excluded) == {"outside": 1}
        assert result.coverage == 2 / 6
        nothing = pb.Evaluation("toy_edges").compute()["toy_mean"]
        assert (nothing.value, nothing.coverage) == (0.5, 0.0)

    def test_a_handier_form_becomes_rows_in_updates_containers_files_and_parts(self, tmp_path):
        from primabench_core.evaluation.many import evaluate_many

        edges = {"number": [1.0, 3.0, 1.0], "value": [0.5, 1.0, 1.0]}
        (tmp_path / "edges.csv").write_text("number,value\n1,0.5\n3,1\n1,1\n")
        rows = pb.evaluate("toy_edges", {"ids": ["e1", "e3", "e1"], "value": edges["value"]}, ci=None)
        ways = [pb.evaluate("toy_edges", given, ci=None) for given in (edges, pb.EvalData(edges))]
        ways.append(pb.evaluate("toy_edges", tmp_path / "edges.csv", ci=None))
        run = pb.Evaluation("toy_edges", duplicates="refuse")
        run.update(number=[1.0], value=[0.5])
        run.update(number=[3.0, 1.0], value=[1.0, 1.0])
        ways.append(run.compute())
        ways += evaluate_many(
            {"a": tmp_path / "edges.csv", "b": edges}, task="toy_edges", ci=None, progress=False
        ).values()
        assert rows["toy_mean"].value == 1 / 6
        assert {(way["toy_mean"].value, way.predictions_sha256) for way in ways} == {(1 / 6, rows.predictions_sha256)}
        with pytest.raises(ValueError, match="function that arranges"):
            Contract(prediction=(), solution=(), forms=(Field("number", "value"),))

    def test_unknown_names(self):
        from primabench_core.errors import UnknownNameError

        with pytest.raises(UnknownNameError):
            pb.evaluate("toy_cell", cells())
        with pytest.raises(UnknownNameError, match="toy_hits"):
            pb.evaluate("toy_cells", cells(), metrics=["toy_hit"])

    def test_hooks_are_told(self, monkeypatch):
        from primabench_core.discovery import hooks

        told = []
        monkeypatch.setattr(hooks, "evaluation_started", lambda *about: told.append(about))
        monkeypatch.setattr(hooks, "evaluation_finished", lambda result: told.append(result.task))
        pb.evaluate("toy_cells", cells(), ci=None)
        assert told == [
            ("toy_cells", "primabench_synthetic/toy_cells@1.0.0", ("toy_hits", "toy_picky")),
            "toy_cells",
        ]


# -- aggregates --------------------------------------------------------------------------------------------------------


def part(name, value=None, reason="", status=None, direction="higher"):
    about = {"status": status} if status else {}
    return MetricResult(name=name, value=value, reason=reason, direction=direction, **about)


def test_policies():
    parts = [part("a", 0.5), part("b", 1.0), part("info", 9.0, direction="info")]
    for policy in ("strict", "defined_only", "penalise_constant_prediction"):
        assert aggregate(parts, policy).value == 0.75
    constant = [*parts, part("c", reason="constant_prediction")]
    assert aggregate(constant, "strict").reason == "component_undefined"
    assert aggregate(constant, "defined_only").value == 0.75
    assert aggregate(constant, "defined_only").values["parts_coverage"] == 2 / 3
    assert aggregate(constant, "defined_only").coverage is None
    assert aggregate(constant, "penalise_constant_prediction").value == 0.5
    assert aggregate(constant, "penalise_constant_prediction").flags == ("penalised",)
    truth = [*parts, part("c", reason="constant_truth")]
    assert aggregate(truth, "penalise_constant_prediction").value == 0.75
    failed = [*parts, part("c", reason="raised", status="failed")]
    for policy in ("strict", "defined_only", "penalise_constant_prediction"):
        assert aggregate(failed, policy).value is None
        assert aggregate(failed, policy).mean_over_defined == 0.75
    lower = [*parts, part("c", 0.1, direction="lower")]
    assert aggregate(lower, "strict").reason == "not_applicable"


def test_levels_that_cannot_be_meant():
    run = pb.stream(["toy_hits"], truth={"label": [0]})
    run.update(label=[0])
    for level in (0, 1, 1.5, True, "0.9"):
        with pytest.raises(UsageError):
            run.compute(ci=level)
