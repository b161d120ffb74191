"""Deliberately wrong plugins: what they declare, and what their data, splits, baselines and recipes do."""

from __future__ import annotations

import pytest

from primabench_core.testing import CHECKS, CheckFailure, NotApplicable, check_distribution, task_checks
from primabench_core.testing.catalogue import name_of
from primabench_core.testing.runner import BoundCheck

DISTRIBUTION, KEY = "primabench-task-wrong", "primabench_synthetic/wrong@1.0.0"
PREPARER = f"wrong|{KEY}"


def run(subject, kind, name, check):
    found = next(c for c in CHECKS[kind] if name_of(c) == check)
    BoundCheck(found, check, subject(kind, name))()


def demand(subject, kind, name, check, match):
    with pytest.raises(CheckFailure, match=match):
        run(subject, kind, name, check)


def test_the_package_passes_as_it_is_written(wrong_task):
    wrong_task()
    report = check_distribution(DISTRIBUTION)
    assert report.is_sound, report.findings
    assert {r.check for r in report.records if r.status == "not_applicable"} == {
        "refuses_infinity",
        "refuses_out_of_range",
    }


# -- what is declared ------------------------------------------------------------------------------------------------

TASK = "TASK = TaskSpec(\n    name=NAME,"
DECLARED = {
    "heavy spec": (
        "specs_are_light",
        {"from __future__ import annotations\n": "from __future__ import annotations\nimport pandas\n"},
        "loads pandas",
    ),
    "wrong api": ("api_version", {TASK: f"{TASK}\n    api=99,"}, "API 99, this core has 1"),
    "unpicklable": ("specs_pickle", {TASK: f"{TASK}\n    references=(lambda: 0,),"}, "task 'wrong'.*pickle"),
    "broken reference": ("entry_points_resolve", {"baselines:majority": "baselines:majorities"}, "majorities"),
    "broken spec": ("entry_points_resolve", {'primary="macro_f1",': ""}, "task 'wrong' is broken"),
}


@pytest.mark.parametrize("fault", DECLARED)
def test_faults_of_specs(wrong_task, subject, fault):
    check, changes, match = DECLARED[fault]
    wrong_task(specs=changes)
    demand(subject, "plugin", DISTRIBUTION, check, match)


def test_metadata_that_do_not_require_core(wrong_task, subject):
    wrong_task(requires=("numpy",))
    demand(subject, "plugin", DISTRIBUTION, "requires_core", "do not require primabench-core")


def test_what_does_not_load_is_one_finding_and_the_rest_does_not_apply(wrong_task):
    wrong_task(specs={'primary="macro_f1",': ""})
    report = check_distribution(DISTRIBUTION)
    assert {r.check for r in report.findings} == {"entry_points_resolve"}
    assert "its spec does not load" in report.find("panel_resolves")[0].reason


def test_an_own_metric_without_entry_point_is_one_finding_that_says_what_to_type(wrong_task):
    wrong_task(specs={'"accuracy",': '"own_metric_of_mine",'})
    report = check_distribution(DISTRIBUTION)
    (found,) = report.findings
    assert (found.check, found.subject) == ("panel_resolves", "wrong")
    assert "Unknown metric 'own_metric_of_mine'" in found.reason
    assert "own_metric_of_mine is a metric of primabench-task-wrong" in found.next
    assert '[project.entry-points."primabench.metrics"] in pyproject.toml, then pip install' in found.next
    for check in ("valid_prediction_scores", "refuses_nan", "fits_the_contract", "oracle_reaches_the_optimum"):
        for record in report.find(check):
            assert record.status == "not_applicable", record
            assert "does not resolve: Unknown metric 'own_metric_of_mine'" in record.reason


# -- tasks -----------------------------------------------------------------------------------------------------------

TASKS = {
    "unknown metric": ("panel_resolves", {'"accuracy",': '"acuracy",'}, "acuracy"),
    "field that no metric reads": ("panel_resolves", {'"accuracy",': '"auroc",'}, "score"),
    "primary outside": ("panel_resolves", {'primary="macro_f1"': 'primary="nmi"'}, "not in the panel"),
    "unknown dataset": (
        "default_dataset_known",
        {"default_dataset=KEY": 'default_dataset="a_2020_b/c@1.0.0"'},
        "a_2020_b",
    ),
    "unprepared dataset": (
        "default_dataset_known",
        {"default_dataset=KEY": 'default_dataset="primabench_synthetic/clustering@1.0.0"'},
        "no preparer",
    ),
    "nothing synthetic": (
        "synthetic_dataset_builds",
        {"synthetic_dataset=KEY": 'synthetic_dataset=""'},
        "no synthetic",
    ),
    "ignored": (
        "refuses_extra_field",
        {"contract=Contract(": 'contract=Contract(ignored=("field_of_nobody",),'},
        "field that the contract does not name is accepted",
    ),
}


@pytest.mark.parametrize("fault", TASKS)
def test_faults_of_tasks(wrong_task, subject, fault):
    check, changes, match = TASKS[fault]
    wrong_task(specs=changes)
    demand(subject, "task", "wrong", check, match)


SCORE = {"prediction=(Field(": 'prediction=(Field("score", "score", low=0.0, high=1.0), Field('}
REFUSALS = [name_of(c) for c in CHECKS["task"] if name_of(c).startswith("refuses_")]


@pytest.mark.parametrize("check", REFUSALS)
def test_a_contract_that_takes_anything_is_caught(wrong_task, subject, monkeypatch, check):
    wrong_task(specs=SCORE)
    run(subject, "task", "wrong", check)  # core refuses each of them
    monkeypatch.setattr(task_checks.Offer, "evaluate", lambda *_: None)
    demand(subject, "task", "wrong", check, "is accepted")


def test_a_refusal_must_name_the_field(wrong_task, subject, monkeypatch):
    from primabench_core.contract.violations import Violation
    from primabench_core.errors import ContractError

    def vague(*_):
        raise ContractError([Violation("data", "better data", "bad data")])

    wrong_task(specs=SCORE)
    monkeypatch.setattr(task_checks.Offer, "evaluate", vague)
    demand(subject, "task", "wrong", "refuses_nan", "does not name 'score'")


def test_a_crash_is_no_refusal(wrong_task, subject, monkeypatch):
    def crash(*_):
        raise KeyError("label")

    wrong_task()
    monkeypatch.setattr(task_checks.Offer, "evaluate", crash)
    demand(subject, "task", "wrong", "refuses_missing_field", "KeyError.*instead of a contract error")


# -- datasets --------------------------------------------------------------------------------------------------------

DATASETS = {
    "no licence": ("says_where_from", {'licence="CC0-1.0"': 'licence=""'}, "licence"),
    "not said to be made": (
        "versioned_key",
        {
            'title="Synthetic data of wrong"': 'title="Cells"',
            "120 made units": "120 units",
            "Made by primabench-task-wrong; not measured, not published.": "Nature",
        },
        "synthetic",
    ),
}


@pytest.mark.parametrize("fault", DATASETS)
def test_faults_of_cards(wrong_task, subject, fault):
    check, changes, match = DATASETS[fault]
    wrong_task(specs=changes)
    demand(subject, "dataset", KEY, check, match)


@pytest.mark.parametrize(("said", "is_right"), [(120, True), (40, True), (119, False), (0, False)])
def test_the_number_of_units_on_the_card(wrong_task, subject, said, is_right):
    """All rows, or those that the task scores."""
    wrong_task(specs={"n_units=120": f"n_units={said}"})
    if is_right:
        run(subject, "dataset", KEY, "units_are_those_of_the_data")
    else:
        expected = f"says {said} units, the data have 120 all rows, 40 scored by wrong"
        demand(subject, "dataset", KEY, "units_are_those_of_the_data", expected)


def test_a_card_without_a_number_of_units(wrong_task, subject):
    wrong_task(specs={"n_units=120": "n_units=None"})
    with pytest.raises(NotApplicable, match="no number"):
        run(subject, "dataset", KEY, "units_are_those_of_the_data")


def test_a_hash_that_is_absent_or_another_one(wrong_task, subject):
    wrong_task(pinned=False)
    demand(subject, "dataset", KEY, "builds_to_pinned_hash", "pins no content hash")


def test_a_recipe_that_no_longer_reaches_the_pinned_hash(wrong_task, subject):
    wrong_task(recipe={"key=20": "key=21"})
    demand(subject, "dataset", KEY, "builds_to_pinned_hash", "did not reach its content hash")


def test_measured_data_are_named_after_their_publication(fake_distribution, subject):
    spec = """
        from primabench_core.spec import DatasetSpec
        CARD = DatasetSpec(key="blood/cells@1.0.0", title="Blood", summary="x", publication="y", licence="MIT")
    """
    fake_distribution(
        "fake-card",
        {"datasets": {"blood/cells@1.0.0": "fakecard.specs:CARD"}},
        {"fakecard.__init__": "", "fakecard.specs": spec},
    )
    demand(subject, "dataset", "blood/cells@1.0.0", "versioned_key", "first author")
    demand(subject, "dataset", "blood/cells@1.0.0", "says_where_from", "doi")
    demand(
        subject, "dataset", "blood/cells@1.0.0", "builds_to_pinned_hash", "no content hash .no installed distribution"
    )


# -- preparers -------------------------------------------------------------------------------------------------------


def test_shared_ids(wrong_task, subject):
    wrong_task(preparer={'select(ids["train"])': 'select([*ids["train"], ids["test"][0]])'})
    demand(subject, "preparer", PREPARER, "ids_disjoint", "1 units are in train and in test: unit_002")
    demand(subject, "preparer", PREPARER, "solution_unreachable", "core refuses what it makes")


def test_answers_in_the_test_split(wrong_task, subject):
    wrong_task(preparer={'artifact("censored")': 'artifact("labelled")'})
    demand(subject, "preparer", PREPARER, "test_answers_missing", "'label' of the test split holds values")


@pytest.mark.parametrize("copy", ["label", "codes", "np.asarray(['x', 'y', 'z'], object)[codes]"])
def test_a_copy_of_the_answers_under_another_name(wrong_task, subject, copy):
    fields = 'censored = EvalData({"features": features, '
    wrong_task(pinned=False, recipe={fields: f'{fields}"batch": {copy}, '})
    demand(subject, "preparer", PREPARER, "test_answers_missing", "'batch' of the test split gives the answers of")


def test_a_public_solution(wrong_task, subject):
    answers = 'Artifact(view="solution", data=solution),'
    wrong_task(pinned=False, recipe={answers: f'{answers} Artifact(view="old_solution", data=solution),'})
    demand(subject, "preparer", PREPARER, "solution_unreachable", "public path .*old_solution holds a solution")


def test_an_eager_store(wrong_task, subject, monkeypatch):
    from primabench_core.store import access

    wrong_task()
    run(subject, "preparer", PREPARER, "lazy_open_reads_no_chunk")
    real = access.open_lazy
    monkeypatch.setattr(access, "open_lazy", lambda path, **more: real(path, **more).load())
    demand(subject, "preparer", PREPARER, "lazy_open_reads_no_chunk", "reads values of features, label")


# -- baselines -------------------------------------------------------------------------------------------------------

COUNT = "    counts = Counter("
RETURN = 'return EvalData({"label": np.full(test.n, most, object)}, ids=test.ids)'
DRAW = """    drawn = {}.choice(["amber", "birch"], test.n)
    return EvalData({{"label": drawn.astype(object)}}, ids=test.ids)
"""
BASELINES = {
    "own entropy": (
        "repeats_with_its_seed",
        "majority",
        {COUNT: DRAW.format("np.random.default_rng()") + COUNT},
        "one seed differ",
    ),
    "global generator": ("repeats_with_its_seed", "majority", {COUNT: DRAW.format("np.random") + COUNT}, "one seed"),
    "raises": ("runs_on_synthetic_data", "majority", {COUNT: f"    raise IndexError('none')\n{COUNT}"}, "IndexError"),
    "returns an array": ("runs_on_synthetic_data", "majority", {RETURN: "return np.zeros(3)"}, "ndarray"),
    "too few rows": (
        "runs_on_synthetic_data",
        "majority",
        {RETURN: 'return EvalData({"label": np.full(2, most, object)}, ids=test.ids[:2])'},
        "predicts 2 rows",
    ),
    "another field": ("fits_the_contract", "majority", {RETURN: RETURN.replace("label", "labels")}, "labels"),
    "weak oracle": (
        "oracle_reaches_the_optimum",
        "perfect",
        {'{"label": solution["label"]}': '{"label": solution["label"][::-1]}'},
        "optimum is 1.0",
    ),
}


@pytest.mark.parametrize("fault", BASELINES)
def test_faults_of_baselines(wrong_task, subject, fault):
    check, name, changes, match = BASELINES[fault]
    wrong_task(baselines=changes)
    demand(subject, "baseline", f"wrong|{name}", check, match)


# -- recipes ---------------------------------------------------------------------------------------------------------

CENSORED = 'Artifact(view="censored", data=censored)'
STAMPS = {
    "module": ("import datetime\n", "datetime.datetime.now().isoformat()"),
    "class": ("from datetime import datetime\n", "datetime.now().isoformat()"),
    "date": ("from datetime import date\n", "str(date.today())"),
    "seconds": ("import time\n", "int(time.time())"),
    "function": ("from time import strftime\n", "strftime('%Y-%m-%d')"),
}


@pytest.mark.parametrize("stamp", STAMPS)
def test_a_timestamp_in_an_attribute(wrong_task, subject, stamp):
    imported, now = STAMPS[stamp]
    changes = {
        "from typing import": f"{imported}from typing import",
        CENSORED: f'Artifact(view="censored", data=censored, attributes={{"built": {now}}})',
    }
    wrong_task(pinned=False, recipe=changes)
    demand(subject, "recipe", KEY, "no_timestamps", "changes with the clock|time of the build")


def test_a_timestamp_in_a_field(wrong_task, subject):
    changes = {
        "from typing import": "import time\nfrom typing import",
        "features = noise +": "features = np.float32(time.time() // 86400) + noise +",
    }
    wrong_task(pinned=False, recipe=changes)
    demand(subject, "recipe", KEY, "no_timestamps", "censored/data.zarr changes with the clock|labelled")


def test_the_order_of_a_set(wrong_task, subject):
    changes = {
        "CLASSES = (": "CLASSES = ORDER = (",
        "label = np.asarray(CLASSES, object)": "label = np.asarray(list({*CLASSES, *map(str, range(40))})[:3], object)",
    }
    wrong_task(pinned=False, recipe={**changes, 'coords = {"classes": CLASSES}': "coords = {}"})
    demand(subject, "recipe", KEY, "rebuilds_to_the_same_hash", "two builds differ")


def test_own_entropy(wrong_task, subject):
    wrong_task(pinned=False, recipe={"np.random.Philox(key=20)": "np.random.Philox()"})
    demand(subject, "recipe", KEY, "rebuilds_to_the_same_hash", "two builds differ")


def test_a_recipe_that_needs_a_network_does_not_apply(wrong_task, subject):
    source = 'sources=(__import__("primabench_core.spec").spec.Source(name="t", url="https://example.org/t"),),'
    wrong_task(
        specs={'build="primabench_task_wrong.recipe:build",': f'build="primabench_task_wrong.recipe:build",{source}'}
    )
    with pytest.raises(NotApplicable, match="needs a network"):
        run(subject, "recipe", KEY, "rebuilds_to_the_same_hash")
