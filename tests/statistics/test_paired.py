from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from primabench_core.errors import ParameterError, UsageError
from primabench_core.statistics import mcnemar_exact, sign_flip, wilcoxon_paired

pairs = st.lists(st.tuples(st.integers(-5, 5), st.integers(-5, 5)), min_size=1, max_size=9)


@given(b=st.integers(0, 40), c=st.integers(0, 40))
def test_mcnemar_agrees_with_scipy_and_is_symmetric(b, c):
    y = np.ones(b + c + 3, int)
    left, right = y.copy(), y.copy()
    right[:b] = 0
    left[b : b + c] = 0
    left[-1] = right[-1] = 7  # both wrong
    found = mcnemar_exact(label_a=left, label_b=right, label=y)
    assert (found.values["only_a_right"], found.values["only_b_right"]) == (b, c)
    expected = stats.binomtest(b, b + c).pvalue if b + c else 1.0
    assert found.value == pytest.approx(expected, rel=1e-12)
    assert mcnemar_exact(label_a=right, label_b=left, label=y).value == found.value
    assert (found.flags == ("no_discordant_rows",)) == (b + c == 0)


@pytest.mark.parametrize(("b", "c"), [(9_800, 10_100), (10_300, 10_000), (0, 1_200), (30_000, 31_000)])
def test_mcnemar_with_many_rows(b, c):
    y = np.zeros(b + c, int)
    left = np.concatenate([np.zeros(b, int), np.ones(c, int)])
    found = mcnemar_exact(label_a=left, label_b=1 - left, label=y).value
    assert found == pytest.approx(stats.binomtest(b, b + c).pvalue, rel=1e-8, abs=1e-300)


def test_mcnemar_edges():
    assert mcnemar_exact(label_a=[], label_b=[], label=[]).reason == "too_few_items"
    text = mcnemar_exact(label_a=["T", "B"], label_b=["B", "B"], label=["T", "nan"])
    assert text.values["only_a_right"] == 1
    with pytest.raises(UsageError, match="one kind"):
        mcnemar_exact(label_a=["1"], label_b=[1], label=[1])
    with pytest.raises(UsageError, match="label_b: 2"):
        mcnemar_exact(label_a=[1], label_b=[1, 2], label=[1])


def enumerated(difference, statistic, extreme):
    size = [abs(d) for d in difference if d]
    patterns = list(product((-1, 1), repeat=len(size)))
    return sum(extreme(statistic(size, p)) for p in patterns) / len(patterns)


@given(pairs=pairs, seed=st.integers(0, 20))
def test_wilcoxon_is_the_enumeration_over_signs(pairs, seed):
    a, b = np.array(pairs, float).T
    found = wilcoxon_paired(value_a=a, value_b=b)
    d = a - b
    if not d.any():
        assert found.value is None
        assert found.reason == "no_comparable_pair"
        return
    kept = d[d != 0]
    ranks = stats.rankdata(np.abs(kept))
    seen = min(ranks[kept > 0].sum(), ranks[kept < 0].sum())
    tail = sum(ranks[np.array(s) > 0].sum() <= seen for s in product((-1, 1), repeat=len(kept))) / 2 ** len(kept)
    assert found.values["statistic"] == seen
    assert found.value == min(1.0, 2 * tail)
    order = np.random.default_rng(seed).permutation(len(a))
    assert wilcoxon_paired(value_a=a[order], value_b=b[order]) == found
    assert wilcoxon_paired(value_a=b, value_b=a).value == found.value


@pytest.mark.parametrize("n", [5, 20, 50, 62, 63, 150])
def test_wilcoxon_agrees_with_scipy(n):
    rng = np.random.default_rng(n)
    a, b = rng.normal(0.1, 1, n), rng.normal(size=n)
    exact = wilcoxon_paired(value_a=a, value_b=b)
    expected = stats.wilcoxon(a, b, method="exact")
    assert exact.values["statistic"] == expected.statistic
    assert exact.value == pytest.approx(expected.pvalue, rel=1e-10)
    normal = wilcoxon_paired(value_a=a, value_b=b, method="normal")
    assert normal.value == pytest.approx(stats.wilcoxon(a, b, method="approx").pvalue, rel=1e-10)


def test_wilcoxon_normal_with_ties_agrees_with_scipy():
    a = np.array([1, 2, 3, 4, 5, 6, 7, 8, 9, 3.0])
    b = np.array([0, 1, 1, 5, 3, 8, 4, 5, 9, 1.0])
    found = wilcoxon_paired(value_a=a, value_b=b, method="normal").value
    expected = stats.wilcoxon(a, b, zero_method="wilcox", method="approx").pvalue
    assert found == pytest.approx(expected, rel=1e-10)


def test_unknown_options_are_refused():
    with pytest.raises(ParameterError, match="method"):
        wilcoxon_paired(value_a=[1], value_b=[2], method="auto")
    with pytest.raises(ParameterError, match="zeros"):
        wilcoxon_paired(value_a=[1], value_b=[2], zeros="pratt")
    with pytest.raises(ParameterError, match="draws"):
        sign_flip(value_a=[1], value_b=[2], draws=0)
    with pytest.raises(ParameterError, match="seed"):
        sign_flip(value_a=[1], value_b=[2], seed=-1)


@given(pairs=pairs, seed=st.integers(0, 20))
def test_sign_flip_is_the_enumeration(pairs, seed):
    a, b = np.array(pairs, float).T
    found = sign_flip(value_a=a, value_b=b)
    d = a - b
    if not d.any():
        assert found.reason == "no_comparable_pair"
        return
    seen = abs(d.sum())
    expected = enumerated(d, lambda size, s: abs(np.dot(size, s)), lambda total: total >= seen)
    assert found.value == expected
    assert found.values["exact"]
    order = np.random.default_rng(seed).permutation(len(a))
    assert sign_flip(value_a=a[order], value_b=b[order]) == found
    assert sign_flip(value_a=b, value_b=a).value == found.value


def test_sign_flip_is_stable_where_rounding_would_decide():
    # 0.1 + 0.2 and 0.3 differ in the last bit; as sums they are equal
    assert sign_flip(value_a=[0.1, 0.2, 0.3], value_b=[0, 0, 0]).value == 0.25
    assert sign_flip(value_a=[0.1, 0.2, 0], value_b=[0, 0, 0.3]).value == 1.0


@settings(deadline=None, max_examples=5)
@given(seed=st.integers(0, 2**64 - 1))
def test_sign_flip_by_draws_repeats_and_lies_near_the_normal(seed):
    rng = np.random.default_rng(3)
    d = rng.normal(0.25, 1, 60)
    one, two = (sign_flip(value_a=d, value_b=np.zeros(60), draws=2000, seed=seed) for _ in range(2))
    assert one == two
    assert not one.values["exact"]
    assert abs(one.value - stats.ttest_1samp(d, 0).pvalue) < 0.05


def test_equal_models_give_uniform_p():
    """Under the null, p at most 0.1 happens about one time in ten."""
    rng = np.random.default_rng(9)
    found = [wilcoxon_paired(value_a=rng.normal(size=12), value_b=rng.normal(size=12)).value for _ in range(400)]
    assert 0.05 < np.mean(np.array(found) <= 0.1) < 0.15
