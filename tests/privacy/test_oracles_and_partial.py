"""Oracle baselines give nothing away, and a part of the predictions is no oracle."""

from __future__ import annotations

import pickle

import pytest

import primabench_core as pb
from primabench_core.evaluation.compute import MIN_PARTIAL
from primabench_core.evaluation.oracle import evaluate_oracle


@pytest.mark.parametrize("task", ["vault_types", "vault_values"])
def test_an_oracle_gives_a_result_and_nothing_else(vault, task):
    result = evaluate_oracle(task, "perfect", ci=0.9)
    vault.needles.clean(pickle.dumps(result))
    for item in vault.search.reachable(result):
        assert not isinstance(item, pb.EvalData)
        vault.needles.clean(item)
    assert result.is_oracle
    assert result[result.primary].value == 1.0


@pytest.mark.parametrize("n", [1, 2, MIN_PARTIAL - 1])
@pytest.mark.parametrize("task", ["vault_types", "vault_values"])
def test_few_units_have_a_coverage_and_no_score(vault, task, n):
    given = vault.labels() if task == "vault_types" else vault.values()
    some = {name: values[:n] for name, values in given.items()}
    result = pb.evaluate(task, some, partial=True, ci=0.9)
    for metric in result.results:
        assert (metric.value, metric.reason, metric.coverage) == (None, "insufficient_coverage", n / 60)
        assert not metric.per_unit
        assert not metric.values
        assert metric.interval is None
    right = {name: (values[:n] if name == "ids" else _truth(vault, task)[:n]) for name, values in given.items()}
    assert {m.value for m in pb.evaluate(task, right, partial=True, ci=None).results} == {None}


def _truth(vault, task):
    if task == "vault_values":
        return vault.module.SECRET_VALUES
    return [(vault.module.SECRET_CLASS, "plain", "simple")[i % 3] for i in range(60)]


def test_from_thirty_units_on_there_is_a_score(vault):
    some = {name: values[:MIN_PARTIAL] for name, values in vault.labels().items()}
    assert pb.evaluate("vault_types", some, partial=True, ci=None)["accuracy"].value is not None


def test_neither_streams_nor_merging_nor_many_get_round_the_floor(vault):
    labels = vault.labels()
    runs = []
    for part in (slice(0, 10), slice(10, 29)):
        run = pb.Evaluation("vault_types", partial=True)
        run.update(ids=labels["ids"][part], label=labels["label"][part])
        assert set(run.compute().scores.values()) == {None}
        runs.append(run)
    runs[0].merge(runs[1])
    assert set(runs[0].compute().scores.values()) == {None}
    assert set(pickle.loads(pickle.dumps(runs[0])).compute().scores.values()) == {None}
    few = {name: values[:29] for name, values in labels.items()}
    many = pb.evaluate_many({"a": few}, "vault_types", partial=True, progress=False, ci=None)
    assert set(many["a"].scores.values()) == {None}


def test_a_function_of_the_callers_own_is_not_handed_the_solution(vault):
    taken = []

    def spy(truth, prediction):
        taken.append(truth)
        return 0.0

    own = pb.foreign.from_sklearn(spy, name="own", prediction="label", truth="label", direction="higher")
    with pytest.raises(pb.UsageError, match="not handed"):
        pb.evaluate("vault_types", vault.labels(), metrics=[own])
    assert not taken
