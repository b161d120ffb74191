"""Every public name, and what can be reached from what it gives, keeps the solution."""

from __future__ import annotations

import pickle
import traceback

import pytest

import primabench_core as pb
from primabench_core.evaluation.folding import combine, fold
from primabench_core.evaluation.many import _question
from primabench_core.evaluation.oracle import evaluate_oracle
from primabench_core.evaluation.parts import grouped, partitions


def results(vault):
    """Results of all kinds."""
    yield pb.evaluate("vault_types", vault.labels(), ci=0.9)
    yield pb.evaluate("vault_types", vault.labels(), metrics=["vault_talks", "vault_raises", "mcc"], ci=None)
    yield pb.evaluate("vault_values", vault.values(), metrics=["pearson", "rmse", "vault_counts"])
    yield evaluate_oracle("vault_types", "perfect", ci=None)
    yield evaluate_oracle("vault_values", "perfect", ci=None)


def test_the_canaries_are_there(vault):
    """The net is fine enough: what is looked for lies in the private folder, and the search finds it there."""
    found = set()
    for _, data in vault.search.held_by(vault.private):
        found.update(vault.needles.in_bytes(data))
    assert {vault.module.SECRET_CLASS, vault.module.SECRET_GROUP, "solution.zarr"} <= found
    assert {repr(value) for value in vault.module.SECRET_VALUES} <= found
    assert vault.needles.in_text(f"… {vault.module.SECRET_VALUES[3]} …")


NOT_CALLED = {
    "EvalData": "holds what its caller gives",
    "EvalResult": "is given by evaluate",
    "EvalFailure": "is given by evaluate_many",
    "MetricResult": "is given by score, and reached from an EvalResult",
    "foreign": "makes metrics, which are not handed a solution: test_oracles_and_partial",
    "statistics": "takes numbers of its caller",
    "get_sequences": "reads genomes",
}


def test_public_names_and_what_they_give(vault):
    """All of them: a name that is added to the facade is walked through too, or stands above with a reason."""
    labels, own = vault.labels(), ({"label": ["a", "b"]}, {"label": ["a", "a"]})
    many = {"a": labels, "b": {**labels, "label": ["plain"] * 60}}
    called = {
        "list_tasks": (), "list_datasets": (), "list_metrics": (), "list_benchmarks": (), "list_baselines": (),
        "fetch_data": ("vault_types",), "fetch_train": ("vault_types",), "fetch_test": ("vault_values",),
        "load": (pb.fetch_test("vault_types"),), "evaluate": ("vault_types", labels),
        "evaluate_many": (many, "vault_types"),
        "compare": tuple(pb.evaluate("vault_types", one, ci=None) for one in many.values()),
        "Evaluation": ("vault_types",), "score": ("accuracy", *own), "stream": ("accuracy", own[1]),
    }  # fmt: skip
    errors = {
        name for name in pb.__all__ if isinstance(getattr(pb, name), type) and issubclass(getattr(pb, name), Exception)
    }
    assert sorted([*called, *errors, *NOT_CALLED]) == sorted(pb.__all__)
    for name in pb.__all__:
        value = getattr(pb, name)
        vault.needles.clean(value, getattr(value, "__doc__", ""))
        if name in called:
            for item in vault.search.reachable(value(*called[name])):
                vault.needles.clean(item, vault.search.pickled(item))


@pytest.mark.parametrize("task", ["vault_types", "vault_values"])
def test_splits_hold_no_answer(vault, task):
    for path, split in zip(pb.fetch_data(task), ("train", "test"), strict=True):
        vault.needles.clean(path)
        data = pb.load(path, task=task, split=split)
        for item in vault.search.reachable(data.load()):
            vault.needles.clean(item, vault.search.pickled(item))
        for value in data.load().fields.values():
            vault.needles.clean(value.tolist(), value.tobytes() if value.dtype != object else b"")


def test_an_evaluation_and_its_pickle(vault):
    run = pb.Evaluation("vault_types")
    labels = vault.labels()
    run.update(ids=labels["ids"][:31], label=labels["label"][:31])
    for _ in range(2):
        for item in vault.search.reachable(run):
            vault.needles.clean(item, vault.search.pickled(item))
        run = pickle.loads(pickle.dumps(run))
    run.update(ids=labels["ids"][31:], label=labels["label"][31:])
    for item in vault.search.reachable(run.compute(ci=0.8)):
        vault.needles.clean(item)
    assert run.truth.n == 60


def test_results_their_json_and_their_pickles(vault, tmp_path):
    for place, result in enumerate(results(vault)):
        path = result.save(tmp_path / f"{place}.json")
        vault.needles.clean(path.read_bytes(), pickle.dumps(result), result.to_dict(), result.to_pandas().to_csv())
        for item in vault.search.reachable(pb.EvalResult.load(path)):
            vault.needles.clean(item)


def test_a_class_that_only_the_solution_names_goes_by_another_name(vault):
    from primabench_core.evaluation.secrecy import POOLED

    result = pb.evaluate("vault_types", vault.labels(), ci=None)
    assert set(result["macro_f1"].per_unit) == {"plain", "simple", "made up", POOLED}
    assert result["n_unpredicted_classes"].values["classes"] == (POOLED,)
    assert result["n_unpredicted_classes"].value == 1.0
    named = {**vault.labels(), "label": [vault.module.SECRET_CLASS] * 60}  # who says it has heard of it
    assert vault.module.SECRET_CLASS in pb.evaluate("vault_types", named, ci=None)["macro_f1"].per_unit
    talks = pb.evaluate("vault_types", vault.labels(), metrics=["vault_talks"], ci=None)["vault_talks"]
    assert talks.per_unit[POOLED] == 0.5
    assert talks.values["classes"] == (POOLED, "plain", "simple")


def test_two_models_compared(vault):
    a, b = vault.labels(), {"ids": vault.ids, "label": ["plain"] * 60}
    found = pb.compare(
        pb.evaluate("vault_types", a, ci=None), pb.evaluate("vault_types", b, ci=None), predictions=(a, b), draws=50
    )
    for item in vault.search.reachable(found):
        vault.needles.clean(item, vault.search.pickled(item))


def test_what_travels_on_a_cluster(vault):
    import cloudpickle

    options = {"seed": 0, "duplicates": "drop_identical", "partial": False, "hash_predictions": True}
    for task, given in (("vault_types", vault.labels()), ("vault_values", vault.values())):
        question = _question(task, None, None, None, None, None, options, travels=True)
        groups = grouped(partitions(pb.EvalData.of(given), question.request.contract, {}, 20), 2)
        states = [fold(question, group) for group in groups]
        vault.needles.clean(cloudpickle.dumps([question, groups]), pickle.dumps([states, combine(question, states)]))


def test_many_models_on_threads(vault):
    given = {"a": vault.labels(), "short": {"ids": vault.ids[:3], "label": ["plain"] * 3}}
    for item in vault.search.reachable(pb.evaluate_many(given, "vault_types", ci=None, progress=False)):
        vault.needles.clean(item, vault.search.pickled(item))


def test_errors_and_their_tracebacks(vault):
    labels = vault.labels()
    asked = [
        lambda: pb.evaluate("vault_types", labels, metrics=["vault_refuses"]),
        lambda: pb.evaluate("vault_values", vault.values(), metrics=["vault_misuses"]),
        lambda: pb.evaluate("vault_types", labels, metrics=["vault_checks"]),
        lambda: evaluate_oracle("vault_types", "leaky"),
        lambda: pb.evaluate("vault_types", {"ids": ["x"], "label": ["plain"]}),
        lambda: pb.evaluate("vault_types", {"ids": vault.ids, "label": [1.5] * 60}),
        lambda: pb.evaluate("vault_types", {"ids": vault.ids[:40], "label": ["plain"] * 40}),
        lambda: pb.evaluate("vault_values", {"ids": vault.ids, "value": [float("nan")] * 60}),
        lambda: pb.evaluate("vault_types", {**labels, "probability": [[1.0]] * 60}, metrics=["auroc_ovr_macro"]),
        lambda: pb.evaluate(
            "vault_types",
            {**labels, "probability": [[0.5, 0.25, 0.25]] * 60, "classes": ["plain", "simple", "other"]},
            metrics=["auroc_ovr_macro"],
        ),
        lambda: pb.evaluate("vault_types", labels, metrics=["recall{positive: hushed}"]),
        lambda: pb.evaluate("vault_types", labels, metrics=["no such metric"]),
        lambda: pb.load(pb.fetch_test("vault_types").parent, task="vault_types"),
        lambda: pb.load(pb.fetch_test("vault_types"), task="vault_values"),
    ]
    for ask in asked:
        with pytest.raises(pb.PrimaBenchError) as caught:
            ask()
        vault.needles.clean("".join(traceback.format_exception(caught.value)), pickle.dumps(caught.value))
        for item in vault.search.reachable(caught.value, 2):
            vault.needles.clean(item)


def test_a_damaged_vault_names_neither_place_nor_content(vault, tmp_path, monkeypatch):
    import shutil

    store = tmp_path / "store"
    shutil.copytree(vault.store, store)
    monkeypatch.setenv("PRIMABENCH_STORE", str(store))
    private = store / vault.private.relative_to(vault.store)
    sealed = private / "vault_types-p1"
    chunk = next(p for p in sorted(sealed.rglob("c/*")) if p.is_file())
    chunk.write_bytes(chunk.read_bytes()[:-3] + b"abc")
    manifest = sealed / "manifest.json"
    asked = [lambda: pb.evaluate("vault_types", vault.labels()), lambda: pb.Evaluation("vault_types").truth]
    for damage in (lambda: None, lambda: manifest.write_text("{}"), lambda: shutil.rmtree(private)):
        damage()
        for ask in asked:
            with pytest.raises(pb.PrimaBenchError) as caught:
                ask()
            vault.needles.clean("".join(traceback.format_exception(caught.value)))
