from fractions import Fraction
from math import sqrt

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import roc_auc_score

from primabench_core.errors import UsageError
from primabench_core.statistics import delong


def direct(a, b, y):
    """The definition, pair by pair, in fractions."""
    pos, neg = [i for i, v in enumerate(y) if v == 1], [i for i, v in enumerate(y) if v != 1]

    def psi(s, i, j):
        return Fraction(1) if s[i] > s[j] else Fraction(1, 2) if s[i] == s[j] else Fraction(0)

    def components(s):
        return (
            [sum(psi(s, i, j) for j in neg) / len(neg) for i in pos],
            [sum(psi(s, i, j) for i in pos) / len(pos) for j in neg],
        )

    def variance(values):
        mean = sum(values) / len(values)
        return sum((v - mean) ** 2 for v in values) / (len(values) - 1)

    (pa, na), (pb_, nb) = components(a), components(b)
    spread = variance([x - y for x, y in zip(pa, pb_, strict=True)]) / len(pos)
    spread += variance([x - y for x, y in zip(na, nb, strict=True)]) / len(neg)
    return sum(pa) / len(pos), sum(pb_) / len(pos), spread


rows = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 1)), min_size=4, max_size=14)


@given(rows=rows, seed=st.integers(0, 50))
def test_agrees_with_the_definition_with_ties_and_in_any_order(rows, seed):
    a, b, y = (list(column) for column in zip(*rows, strict=True))
    assume(2 <= sum(y) <= len(y) - 2)
    auc_a, auc_b, spread = direct(a, b, y)
    found = delong(score_a=a, score_b=b, label=y)
    if not spread:
        assert found.reason == "zero_denominator"
        assert found.value is None
        return
    assert found.values["auroc_a"] == float(auc_a)
    assert found.values["z"] == pytest.approx(float(auc_a - auc_b) / sqrt(spread), rel=1e-14)
    assert found.value == pytest.approx(2 * stats.norm.sf(abs(found.values["z"])), rel=1e-12)
    order = np.random.default_rng(seed).permutation(len(y))
    again = delong(score_a=np.array(a)[order], score_b=np.array(b)[order], label=np.array(y)[order])
    assert again == found
    swapped = delong(score_a=b, score_b=a, label=y)
    assert swapped.value == found.value
    assert swapped.values["z"] == -found.values["z"]


def test_monotone_maps_of_a_score_change_nothing():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    a, b = rng.normal(size=300) + y, rng.normal(size=300) + 0.5 * y
    found = delong(score_a=a, score_b=b, label=y)
    assert delong(score_a=np.exp(a), score_b=5 * b - 1e6, label=y).values == found.values
    assert found.values["auroc_a"] == pytest.approx(roc_auc_score(y, a), rel=1e-12)


def test_large_counts_do_not_overflow():
    rng = np.random.default_rng(1)
    n = 200_000
    y = rng.integers(0, 2, n)
    a, b = rng.normal(size=n) + 0.02 * y, rng.normal(size=n)
    found = delong(score_a=a, score_b=b, label=y)
    assert found.values["standard_error"] == pytest.approx(sqrt(2 * n / 12 / (n / 2) ** 2 * 2 / 2), rel=0.05)


def test_text_labels_and_other_positives():
    found = delong(score_a=[3, 4, 1, 2.5], score_b=[1, 4, 3, 2], label=["b", "b", "a", "a"], positive="b")
    assert found.values["auroc_a"] == 1.0
    with pytest.raises(UsageError, match="positive"):
        delong(score_a=[1, 2], score_b=[1, 2], label=["a", "b"])
    with pytest.raises(UsageError, match="positive"):
        delong(score_a=[1, 2], score_b=[1, 2], label=[0, 1], positive="1")


def test_small_classes_have_no_test():
    assert delong(score_a=[1, 2, 3], score_b=[3, 1, 2], label=[1, 0, 0]).reason == "too_few_items"
    assert delong(score_a=[], score_b=[], label=[]).reason == "single_class"


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"score_a": [1, float("nan"), 2]}, "score_a"),
        ({"score_b": [1, float("inf"), 2]}, "score_b"),
        ({"score_b": ["1", "2", "3"]}, "score_b"),
        ({"score_a": [1, 2]}, "score_a: 2"),
        ({"label": [0.0, 1.0, 1.0]}, "label"),
        ({"label": [0, None, 1]}, "label"),
        ({"label": [0, "1", 1]}, "label"),
    ],
)
def test_bad_input_is_refused_by_name(change, name):
    with pytest.raises(UsageError, match=name):
        delong(**{"score_a": [1, 2, 3], "score_b": [1, 2, 3], "label": [0, 1, 1], **change})
