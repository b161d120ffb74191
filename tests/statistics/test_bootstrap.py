import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from primabench_core.errors import MetricError, ParameterError, UsageError
from primabench_core.statistics import Resampling, block_of, bootstrap, draw_below, paired_bootstrap
from primabench_core.statistics.resampling import draws_below

KNOWN = [[3, 1, 61, 24, 36, 11], [2, 5, 7, 51, 87, 31]]


def mean_of(x):
    return lambda at: float(x[at].mean())


def test_known_draws_do_not_move():
    """The first positions of two draws, so that no release changes an interval silently."""
    assert draw_below(0, 0, 6, 100).tolist() == KNOWN[0]
    assert draw_below(2**64 - 1, 5, 6, 100).tolist() == KNOWN[1]


@given(seed=st.integers(0, 2**64 - 1), draw=st.integers(0, 10**6), below=st.integers(1, 2**32), n=st.integers(0, 40))
def test_draws_stay_in_range_and_longer_ones_begin_alike(seed, draw, below, n):
    found = draw_below(seed, draw, n, below)
    assert len(found) == n
    assert ((found >= 0) & (found < below)).all()
    np.testing.assert_array_equal(draw_below(seed, draw, n + 7, below)[:n], found)


def test_draws_are_uniform_and_distinct():
    counts = np.bincount(np.concatenate([draw_below(1, d, 1000, 10) for d in range(100)]), minlength=10)
    assert stats.chisquare(counts).pvalue > 1e-4
    assert not np.array_equal(draw_below(1, 0, 50, 10**6), draw_below(1, 1, 50, 10**6))
    assert not np.array_equal(draw_below(1, 0, 50, 10**6), draw_below(2, 0, 50, 10**6))


def test_agrees_with_scipy_and_repeats():
    x = np.random.default_rng(0).exponential(size=200)
    found = bootstrap(statistic=mean_of(x), n=200, seed=4)
    assert found == bootstrap(statistic=mean_of(x), n=200, seed=4)
    theirs = stats.bootstrap((x,), np.mean, method="percentile", n_resamples=5000, rng=np.random.default_rng(1))
    assert found.values["low"] == pytest.approx(theirs.confidence_interval.low, abs=0.03)
    assert found.values["high"] == pytest.approx(theirs.confidence_interval.high, abs=0.03)
    assert found.values["standard_error"] == pytest.approx(theirs.standard_error, rel=0.1)
    assert found.value == x.mean()
    wide, narrow = (bootstrap(statistic=mean_of(x), n=200, level=level).values for level in (0.99, 0.5))
    assert wide["low"] < narrow["low"] < narrow["high"] < wide["high"]


def test_covers_about_as_often_as_it_says():
    rng = np.random.default_rng(5)
    hits = 0
    for i in range(150):
        x = rng.normal(size=40)
        v = bootstrap(statistic=mean_of(x), n=40, draws=300, seed=i).values
        hits += v["low"] <= 0 <= v["high"]
    assert hits / 150 > 0.86


def test_units_widen_what_rows_would_narrow():
    """Rows of one donor are copies: the honest interval is that of the donors."""
    donors = np.repeat(np.arange(8), 50)
    x = np.random.default_rng(2).normal(size=8)[donors]
    rows = bootstrap(statistic=mean_of(x), n=400).values
    units = bootstrap(statistic=mean_of(x), n=400, unit=donors).values
    assert units["n_groups"] == 8
    assert units["high"] - units["low"] > 4 * (rows["high"] - rows["low"])


@given(data=st.data(), seed=st.integers(0, 1000))
@settings(deadline=None)
def test_groups_come_whole_and_strata_keep_their_numbers(data, seed):
    n = data.draw(st.integers(1, 30))
    unit = np.array(data.draw(st.lists(st.integers(0, 6), min_size=n, max_size=n)))
    strata = unit % 2
    plan = Resampling.of(n, unit=unit, strata=strata)
    at = plan.positions(seed, 3)
    sizes = np.bincount(unit, minlength=7)
    drawn = np.bincount(unit[at], minlength=7)
    times = np.divide(drawn, sizes, out=np.zeros(7), where=sizes > 0)
    assert (times == times.astype(int)).all()
    for layer in (0, 1):
        inside = np.arange(7) % 2 == layer
        assert times[inside].sum() == (sizes[inside] > 0).sum()
    # which row of a unit comes first does not matter, nor how units are called
    order = np.random.default_rng(seed).permutation(n)
    again = Resampling.of(n, unit=unit[order], strata=strata[order]).positions(seed, 3)
    np.testing.assert_array_equal(np.sort(unit[order][again]), np.sort(unit[at]))


def test_strata_of_rows_keep_the_class_balance():
    y = np.array([0] * 90 + [1] * 10)
    plan = Resampling.of(100, strata=y)
    assert all(y[plan.positions(0, d)].sum() == 10 for d in range(50))


def test_a_unit_in_two_strata_is_refused():
    with pytest.raises(UsageError, match="stratum"):
        Resampling.of(3, unit=["a", "a", "b"], strata=[0, 1, 1])


def test_blocks_are_by_name_not_by_place():
    ids = [f"cell{i}" for i in range(5000)]
    assert block_of(ids[::-1]).tolist() == block_of(ids).tolist()[::-1]
    assert len(np.unique(block_of(ids))) == 256
    x = np.random.default_rng(0).normal(size=5000)
    blocked = bootstrap(statistic=mean_of(x), n=5000, unit=ids, blocks=256, draws=500).values
    rows = bootstrap(statistic=mean_of(x), n=5000, draws=500).values
    assert blocked["n_groups"] == 256
    assert blocked["standard_error"] == pytest.approx(rows["standard_error"], rel=0.2)
    with pytest.raises(UsageError, match="unit"):
        bootstrap(statistic=mean_of(x), n=5000, blocks=256)


def test_undefined_draws_are_counted_and_too_many_give_no_interval():
    y = np.array([1] + [0] * 9)  # a third of the draws has no positive

    def needs_a_positive(at):
        return float(at.mean()) if y[at].any() else None

    found = bootstrap(statistic=needs_a_positive, n=10, draws=500)
    assert found.value is not None
    assert found.values["low"] is None
    assert "of 500" in found.values["reason"]
    assert found.values["dropped"] > 100
    y[:4] = 1
    few = bootstrap(statistic=lambda at: needs_a_positive(at) if y[at].any() else float("nan"), n=10, draws=500)
    assert 0 < few.values["dropped"] < 100
    assert few.values["low"] < few.values["high"]


def test_edges():
    x = np.arange(5.0)
    assert bootstrap(statistic=mean_of(x), n=0).reason == "too_few_items"
    alone = bootstrap(statistic=mean_of(x), n=5, unit=["a"] * 5)
    assert alone.value == 2.0
    assert alone.values["low"] is None
    assert bootstrap(statistic=lambda at: None, n=5).reason == "component_undefined"
    with pytest.raises(MetricError, match="inf"):
        bootstrap(statistic=lambda at: float("inf"), n=5)
    for change in ({"draws": 0}, {"draws": True}, {"level": 1.0}, {"level": "0.9"}, {"seed": 2**64}, {"n": -1}):
        with pytest.raises(ParameterError, match=next(iter(change))):
            bootstrap(**{"statistic": mean_of(x), "n": 5, **change})
    with pytest.raises(UsageError, match="unit: 3"):
        bootstrap(statistic=mean_of(x), n=5, unit=[1, 2, 3])


def test_pairing_finds_what_two_intervals_hide():
    rng = np.random.default_rng(0)
    hard = rng.normal(size=300)
    a, b = hard + 0.1 + 0.05 * rng.normal(size=300), hard
    found = paired_bootstrap(statistic_a=mean_of(a), statistic_b=mean_of(b), n=300)
    assert found.value < 0.01
    assert 0 < found.values["low"] < found.values["difference"] < found.values["high"]
    one, two = (bootstrap(statistic=mean_of(v), n=300).values for v in (a, b))
    assert one["low"] < two["high"]  # the single intervals overlap
    swapped = paired_bootstrap(statistic_a=mean_of(b), statistic_b=mean_of(a), n=300)
    assert swapped.value == found.value
    assert swapped.values["low"] == pytest.approx(-found.values["high"], rel=1e-12)


def test_equal_models_have_no_test():
    x = np.arange(5.0)
    found = paired_bootstrap(statistic_a=mean_of(x), statistic_b=mean_of(x), n=5, draws=50)
    assert found.value is None
    assert found.reason == "zero_denominator"
    assert found.values["difference"] == 0
    assert paired_bootstrap(statistic_a=mean_of(x), statistic_b=mean_of(x), n=0).reason == "too_few_items"
    assert paired_bootstrap(statistic_a=mean_of(x), statistic_b=lambda at: None, n=5).reason == "component_undefined"


@pytest.mark.parametrize("count", [1, 2, 7, 8])
def test_runs_of_draws_are_those_of_generators_of_their_own(count):
    """One generator keyed anew gives what a new generator gives, however much was left of the draw before."""
    found = draws_below(2**64 - 1, range(3, 7), count, 1000)
    for row, draw in zip(found, range(3, 7), strict=True):
        words = np.random.Philox(key=np.array([2**64 - 1, draw], np.uint64)).random_raw(-(-count // 2)).tolist()
        halves = [half for word in words for half in (word & 0xFFFFFFFF, word >> 32)][:count]
        assert row.tolist() == [half * 1000 >> 32 for half in halves]
        assert (row == draw_below(2**64 - 1, draw, count, 1000)).all()
    assert draws_below(0, range(0), 3, 10).shape == (0, 3)
