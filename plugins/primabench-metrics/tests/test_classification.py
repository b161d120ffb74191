from __future__ import annotations

import warnings

import numpy as np
import pytest
import sklearn.metrics as sk
from hypothesis import given
from hypothesis import strategies as st
from metric_views import counts, laws, outcome, reason, value
from primabench_metrics import classification as c

import primabench_core as pb
from primabench_core.errors import ParameterError
from primabench_core.state.counts import Counts

pairs = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 5)), min_size=1, max_size=40)

REFERENCE = {
    "accuracy": (c.accuracy, {}, sk.accuracy_score),
    "balanced_accuracy": (c.balanced_accuracy, {}, sk.balanced_accuracy_score),
    "macro_f1": (c.macro_f1, {}, lambda t, p: sk.f1_score(t, p, average="macro", zero_division=0)),
    "macro_f1_truth": (
        c.macro_f1,
        {"labels": "truth"},
        lambda t, p: sk.f1_score(t, p, labels=np.unique(t), average="macro", zero_division=0),
    ),
    "weighted_f1": (c.weighted_f1, {}, lambda t, p: sk.f1_score(t, p, average="weighted", zero_division=0)),
    "micro_f1": (c.micro_f1, {}, lambda t, p: sk.f1_score(t, p, average="micro", zero_division=0)),
    "macro_precision": (
        c.precision,
        {"average": "macro"},
        lambda t, p: sk.precision_score(t, p, average="macro", zero_division=0),
    ),
    "macro_recall": (
        c.recall,
        {"average": "macro"},
        lambda t, p: sk.recall_score(t, p, average="macro", zero_division=0),
    ),
    "macro_recall_truth": (
        c.recall,
        {"average": "macro", "labels": "truth"},
        lambda t, p: sk.recall_score(t, p, labels=np.unique(t), average="macro", zero_division=0),
    ),
    "mcc_sklearn": (c.mcc, {"mode": "sklearn"}, sk.matthews_corrcoef),
}


@pytest.mark.parametrize("name", sorted(REFERENCE))
@laws
@given(rows=pairs)
def test_agrees_with_scikit_learn(name, rows):
    metric, params, reference = REFERENCE[name]
    truth, predicted = np.asarray(rows).T
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn remarks on classes that are absent
        expected = reference(truth, predicted)
    assert value(metric(counts(truth, predicted), **params)) == pytest.approx(expected, abs=1e-12)


@laws
@given(
    rows=st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=30), positive=st.integers(0, 1)
)
def test_binary_precision_and_recall_agree_with_scikit_learn(rows, positive):
    truth, predicted = np.asarray(rows).T
    for metric, reference in ((c.precision, sk.precision_score), (c.recall, sk.recall_score)):
        expected = reference(truth, predicted, pos_label=positive, labels=[0, 1], zero_division=0)
        result = outcome(metric(counts(truth, predicted, classes=(0, 1)), positive=positive))
        assert result.value == pytest.approx(expected, abs=1e-15)
    called = bool((predicted == positive).any())
    flags = outcome(c.precision(counts(truth, predicted, classes=(0, 1)), positive=positive)).flags
    assert flags == (() if called else ("zero_division",))


@laws
@given(rows=pairs)
def test_kappa_agrees_with_scikit_learn_where_it_is_defined(rows):
    truth, predicted = np.asarray(rows).T
    result = outcome(c.cohen_kappa(counts(truth, predicted)))
    if len({*truth.tolist(), *predicted.tolist()}) == 1:
        assert result.reason == "zero_denominator"
    else:
        assert result.value == pytest.approx(sk.cohen_kappa_score(truth, predicted), abs=1e-12)


@pytest.mark.parametrize("name", sorted(REFERENCE))
@laws
@given(rows=pairs, seed=st.integers(0, 2**32 - 1))
def test_relabelling_classes_changes_no_bit(name, rows, seed):
    metric, params, _ = REFERENCE[name]
    truth, predicted = np.asarray(rows).T
    names = np.random.default_rng(seed).permutation(list("zyxwvu"))
    renamed = counts(names[truth], names[predicted])
    assert value(metric(renamed, **params)) == value(metric(counts(truth, predicted), **params))


@pytest.mark.parametrize("name", sorted(REFERENCE))
@laws
@given(rows=pairs)
def test_stays_in_range_and_a_perfect_prediction_reaches_one(name, rows):
    metric, params, _ = REFERENCE[name]
    truth, predicted = np.asarray(rows).T
    assert -1 <= value(metric(counts(truth, predicted), **params)) <= 1
    if name != "mcc_sklearn" or len(set(truth.tolist())) > 1:
        assert value(metric(counts(truth, truth), **params)) == 1.0


@pytest.mark.parametrize("name", sorted(REFERENCE))
def test_without_rows_there_is_no_value(name):
    metric, params, _ = REFERENCE[name]
    assert reason(metric(Counts.empty(), **params)) == "too_few_items"


class TestMcc:
    def test_both_sides_constant_is_undefined_also_when_they_disagree(self):
        assert reason(c.mcc(counts([1, 1], [1, 1]))) == "constant_truth"
        assert reason(c.mcc(counts(["a"], ["b"]))) == "constant_truth"
        assert value(c.mcc(counts([1, 1], [1, 1]), mode="sklearn")) == 0.0

    @pytest.mark.parametrize(("truth", "predicted"), [([1, 1, 0], [1, 1, 1]), ([1, 1, 1], [1, 0, 1])])
    def test_one_side_constant_is_zero_with_a_flag(self, truth, predicted):
        result = outcome(c.mcc(counts(truth, predicted)))
        assert (result.value, result.flags) == (0.0, ("constant_margin",))

    def test_a_perfect_prediction_of_many_rows_is_one(self):
        table = np.diag([10**9 + 7, 3, 10**8 + 9]).astype(np.int64)
        assert value(c.mcc(Counts(table, ("a", "b", "c"), ("a", "b", "c")))) == 1.0

    def test_the_worst_binary_prediction_is_minus_one(self):
        assert value(c.mcc(counts([0, 1, 1], [1, 0, 0]))) == -1.0


class TestVocabulary:
    def test_a_class_outside_the_vocabulary_is_an_error_of_the_prediction(self):
        table = counts(["a", "b"], ["a", "z"])
        assert value(c.accuracy(table)) == 0.5
        assert value(c.balanced_accuracy(table)) == 0.5
        assert value(c.macro_f1(table)) == pytest.approx(1 / 3)
        assert value(c.macro_f1(table, labels="truth")) == 0.5

    def test_a_class_of_the_vocabulary_that_never_occurs_adds_nothing(self):
        table = counts(["a", "b"], ["a", "b"], classes=("a", "b", "c"))
        assert value(c.macro_f1(table)) == 1.0
        assert outcome(c.macro_f1(table)).per_unit == {"a": 1.0, "b": 1.0}

    def test_classes_never_predicted_are_named(self):
        result = outcome(c.n_unpredicted_classes(counts(["a", "b", "c"], ["a", "a", "x"])))
        assert (result.value, result.values["classes"]) == (2.0, ["b", "c"])

    def test_averaging_does_not_switch_with_two_classes(self):
        table = counts(["a", "a", "b"], ["a", "b", "b"])
        assert value(c.recall(table, average="macro")) == 0.75
        with pytest.raises(ParameterError, match="positive"):
            c.recall(table)


class TestCheck:
    def test_text_classes_need_a_named_positive(self):
        (violation,) = c.check_positive(("label",), ("benign", "bad"), {"average": "binary", "positive": 1})
        assert "positive" in str(violation)
        assert c.check_positive(("label",), ("benign", "bad"), {"average": "binary", "positive": "bad"}) == []
        assert c.check_positive(("label",), ("benign", "bad"), {"average": "macro", "positive": 1}) == []

    def test_a_truth_of_one_class_says_nothing_about_the_other(self):
        assert c.check_positive(("label",), (0,), {"positive": 1}) == []
        assert c.check_positive(("label",), ("b",), {"positive": "a"}) == []
        assert c.check_positive(("label",), ("b",), {"positive": 1}) != []

    def test_an_integer_that_no_row_has_is_refused(self):
        assert c.check_positive(("label",), (0, 2), {"positive": 1}) != []


def test_micro_f1_is_tested_as_the_accuracy_that_it_is():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 60)
    good, poor = (np.where(rng.random(60) < share, truth, rng.integers(0, 3, 60)) for share in (0.9, 0.3))
    found = pb.compare(
        {"label": good}, {"label": poor}, truth={"label": truth}, metrics=["accuracy", "micro_f1"], draws=50
    )
    assert found["micro_f1"].test == "mcnemar"
    assert found["micro_f1"].p == found["accuracy"].p


@pytest.mark.parametrize(
    "name", ["accuracy", "micro_f1", "macro_f1", "weighted_f1", "mcc", "cohen_kappa", "n_unpredicted_classes"]
)
def test_no_metric_asks_for_all_cells(name, monkeypatch):
    def refuse(self):
        raise AssertionError("a table of all classes by all classes")

    monkeypatch.setattr(Counts, "table", property(refuse))
    monkeypatch.setattr(Counts, "square", refuse)
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 1_000_000, 500)
    predicted = np.where(rng.random(500) < 0.5, truth, rng.integers(0, 1_000_000, 500))
    assert pb.score(name, {"label": predicted}, {"label": truth}).value is not None
