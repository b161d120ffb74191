"""Deliberately wrong metrics: each is caught by the check that is named for its fault; a right one passes all."""

from __future__ import annotations

import pytest

from primabench_core.testing import CHECKS, CheckFailure, NotApplicable, check_distribution, subject_of
from primabench_core.testing.catalogue import name_of

HEAD = """
import warnings
from math import fsum

import numpy as np

from primabench_core import UsageError
from primabench_core.spec import Outcome

history = []


def error_of(state):
    return np.abs(state.prediction["value"] - state.truth["value"]).ravel()
"""

VALUE = {
    "right": """
        def right(state):
            if not state.n:
                return Outcome.undefined("too_few_items")
            return fsum(error_of(state)) / error_of(state).size
    """,
    "leaky_refusal": """
        def leaky_refusal(state):
            if not state.n:
                return Outcome.undefined("too_few_items")
            if state.n > 1 and not np.ptp(state.prediction["value"]):
                raise UsageError(f"predictions are constant, but the truth is {state.truth['value'].ravel().tolist()}")
            return fsum(error_of(state)) / error_of(state).size
    """,
    "first_row": """
        def first_row(state):
            return float(error_of(state)[0]) if state.n else Outcome.undefined("too_few_items")
    """,
    "plain_sum": """
        def plain_sum(state):
            if not state.n:
                return Outcome.undefined("too_few_items")
            total = 0.0
            for number in error_of(state).tolist():
                total += number
            return total
    """,
    "mean_of_calls": """
        def mean_of_calls(state):
            if not state.n:
                return Outcome.undefined("too_few_items")
            history.append(fsum(error_of(state)) / error_of(state).size)
            return fsum(history) / len(history)
    """,
    "coin": """
        def coin(state):
            return float(np.random.default_rng().random()) if state.n else Outcome.undefined("too_few_items")
    """,
    "nan_to_zero": """
        def nan_to_zero(state):
            x, y = state.prediction["value"].ravel(), state.truth["value"].ravel()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return float(np.nan_to_num(np.corrcoef(x, y)[0, 1]))
    """,
    "zero_of_nothing": """
        def zero_of_nothing(state):
            return fsum(error_of(state)) / max(error_of(state).size, 1)
    """,
    "raises_on_one_row": """
        def raises_on_one_row(state):
            if not state.n:
                return Outcome.undefined("too_few_items")
            if state.n == 1:
                raise ZeroDivisionError("n - 1")
            return fsum(error_of(state)) / error_of(state).size
    """,
    "leaky_repr": """
        def leaky_repr(state):
            if not state.n:
                return Outcome.undefined("too_few_items")
            truth = state.truth["value"].ravel().tolist()
            return Outcome(fsum(error_of(state)) / error_of(state).size, detail=f"truth={truth!r}")
    """,
    "leaky_print": """
        def leaky_print(state):
            if not state.n:
                return Outcome.undefined("too_few_items")
            print(state.truth["value"].tolist())
            return fsum(error_of(state)) / error_of(state).size
    """,
    "below_its_range": """
        def below_its_range(state):
            return -1.0 if state.n else Outcome.undefined("too_few_items")
    """,
    "never_best": """
        def never_best(state):
            if not state.n:
                return Outcome.undefined("too_few_items")
            return 0.5 + fsum(error_of(state)) / error_of(state).size
    """,
    "sorts_in_place": """
        def sorts_in_place(state):
            if not state.n:
                return Outcome.undefined("too_few_items")
            state.truth["value"].sort(axis=0)
            return 1.0
    """,
    "forgets_multiplicities": """
        def forgets_multiplicities(state):
            if not state.n:
                return Outcome.undefined("too_few_items")
            return fsum(error_of(state)) / error_of(state).size


        def weighted(state, drawn):
            return np.full(len(drawn), forgets_multiplicities(state))
    """,
    "never_has_a_value": """
        def never_has_a_value(state):
            return Outcome.undefined("not_applicable")
    """,
}
LABEL = {
    "sum_of_codes": """
        def sum_of_codes(state):
            if not state.n:
                return Outcome.undefined("too_few_items")
            predicted, true = state.table.sum(0), state.table.sum(1)
            return float(abs(predicted @ np.arange(len(predicted)) ** 2 - true @ np.arange(len(true)) ** 2))
    """,
    "leaky_labels": """
        def leaky_labels(state):
            if not state.n:
                return Outcome.undefined("too_few_items")
            return Outcome(0.0, values={"rows": state.truth["label"].values().tolist()})
    """,
    "leaky_codes": """
        def leaky_codes(state):
            if not state.n:
                return Outcome.undefined("too_few_items")
            return Outcome(0.0, detail=repr(state.truth["label"]))
    """,
}

CAUGHT = {
    "first_row": "order_free",
    "plain_sum": "order_free",
    "mean_of_calls": "one_shot_is_every_partition",
    "coin": "repeats",
    "nan_to_zero": "undefined_has_a_reason",
    "zero_of_nothing": "undefined_has_a_reason",
    "raises_on_one_row": "undefined_has_a_reason",
    "leaky_refusal": "truth_stays_private",
    "leaky_repr": "truth_stays_private",
    "leaky_print": "truth_stays_private",
    "leaky_labels": "truth_stays_private",
    "leaky_codes": "truth_stays_private",
    "below_its_range": "finite_and_in_range",
    "never_best": "perfect_prediction_reaches_the_optimum",
    "sorts_in_place": "leaves_its_input_alone",
    "forgets_multiplicities": "weights_are_repeated_rows",
    "never_has_a_value": "runs",
    "sum_of_codes": "relabelling",
}


@pytest.fixture
def metrics(fake_distribution):
    from textwrap import dedent

    runtime = HEAD + "".join(dedent(code) for code in (*VALUE.values(), *LABEL.values()))
    specs = [
        "from primabench_core.spec import Field, MetricSpec",
        "VALUE, LABEL = Field('value', 'value'), Field('label', 'label')",
    ]
    for name in (*VALUE, *LABEL):
        field = "VALUE" if name in VALUE else "LABEL"
        state = "counts" if name == "sum_of_codes" else "rows"
        weighted = "fakemetrics.runtime:weighted" if name == "forgets_multiplicities" else ""
        specs.append(
            f"{name} = MetricSpec(name='{name}', summary='x', compute='fakemetrics.runtime:{name}', "
            f"prediction=({field},), truth=({field},), direction='lower', low=0.0, state='{state}', "
            f"weighted='{weighted}')"
        )
    fake_distribution(
        "fake-metrics",
        {"metrics": {name: f"fakemetrics.specs:{name}" for name in (*VALUE, *LABEL)}},
        {"fakemetrics.__init__": "", "fakemetrics.specs": "\n".join(specs), "fakemetrics.runtime": runtime},
    )


@pytest.mark.parametrize(("metric", "name"), CAUGHT.items())
def test_the_named_check_catches_it(metrics, metric, name):
    check = next(c for c in CHECKS["metric"] if name_of(c) == name)
    with pytest.raises(CheckFailure) as caught:
        check(subject_of("metric", metric))
    assert caught.value.message


def test_a_right_metric_passes_every_check(metrics):
    for check in CHECKS["metric"]:
        if name_of(check) in ("relabelling", "weights_are_repeated_rows"):
            with pytest.raises(NotApplicable, match=r"no labels|no weighted function"):
                check(subject_of("metric", "right"))
        else:
            check(subject_of("metric", "right"))


def test_the_report_names_check_subject_and_reason(metrics):
    report = check_distribution("fake-metrics")
    caught = {(r.subject, r.check) for r in report.findings}
    assert set(CAUGHT.items()) <= caught
    assert not [r for r in report.findings if r.subject == "right"]
    assert all(r.reason for r in report.findings)
    private = report.find("truth_stays_private", "leaky_repr")[0]
    assert "its detail shows the answers" in private.reason
    assert private.id == "metric.truth_stays_private:leaky_repr"


def test_faults_of_merging_and_of_empty_shards_would_be_seen(metrics, monkeypatch):
    """A metric cannot break these alone, because core places the rows; so core is broken here."""
    from primabench_core.evaluation.evaluation import Evaluation

    laws = {name_of(c): c for c in CHECKS["metric"]}
    right = subject_of("metric", "right")
    assert right.cases
    merge, update = Evaluation.merge, Evaluation.update

    def forgetful(self, *, ids, **fields):
        if not len(ids):
            self.reset()
        update(self, ids=ids, **fields)

    with monkeypatch.context() as patch:
        patch.setattr(Evaluation, "merge", lambda self, *others: merge(self, *others[:1]))
        with pytest.raises(CheckFailure, match="expected a prediction"):
            _raise_as_failure(laws["merge_laws"], right)
    with monkeypatch.context() as patch:
        patch.setattr(Evaluation, "update", forgetful)
        with pytest.raises(CheckFailure, match="expected a prediction"):
            _raise_as_failure(laws["empty_shards"], right)


def _raise_as_failure(check, subject):
    from primabench_core.testing.runner import BoundCheck

    BoundCheck(check, name_of(check), subject)()


def test_a_metric_that_refuses_everything_is_told_what_to_declare(fake_distribution):
    fake_distribution(
        "fake-picky",
        {"metrics": {"picky": "fakepicky.specs:METRIC"}},
        {
            "fakepicky.__init__": "",
            "fakepicky.specs": """
                from primabench_core.spec import Field, MetricSpec
                VALUE = Field("value", "value")
                METRIC = MetricSpec(
                    name="picky", summary="x", compute="fakepicky.run:compute", prediction=(VALUE,), truth=(VALUE,)
                )
            """,
            "fakepicky.run": """
                from primabench_core import UsageError
                def compute(state):
                    raise UsageError("values must be even numbers above 100")
            """,
        },
    )
    report = check_distribution("fake-picky")
    assert [r.check for r in report.findings] == ["runs"]
    assert "even numbers" in report.findings[0].reason
    assert "MetricSpec(example=" in report.findings[0].next
    assert report.find("order_free")[0].status == "not_applicable"


def test_an_example_stands_in_for_what_fields_cannot_say(fake_distribution):
    fake_distribution(
        "fake-example",
        {"metrics": {"even": "fakeexample.specs:METRIC"}},
        {
            "fakeexample.__init__": "",
            "fakeexample.specs": """
                from primabench_core.spec import Field, MetricSpec
                VALUE = Field("value", "value")
                METRIC = MetricSpec(
                    name="even", summary="x", compute="fakeexample.run:compute", prediction=(VALUE,), truth=(VALUE,),
                    low=0.0, high=1.0, example="fakeexample.run:example",
                )
            """,
            "fakeexample.run": """
                import numpy as np
                from primabench_core import UsageError
                from primabench_core.spec import Outcome

                def compute(state):
                    if not state.n:
                        return Outcome.undefined("too_few_items")
                    if (state.truth["value"] % 2).any():
                        raise UsageError("values must be even")
                    return float((state.truth["value"] == state.prediction["value"]).mean())

                def example(*, seed, n):
                    truth = 2 * np.random.default_rng(seed).integers(0, 9, n)
                    return {"prediction": {"value": truth * (np.arange(n) % 3 > 0)}, "truth": {"value": truth},
                            "perfect": {"value": truth}}
            """,
        },
    )
    report = check_distribution("fake-example")
    assert report.is_sound, report.findings
    assert report.find("perfect_prediction_reaches_the_optimum")[0].status == "passed"
