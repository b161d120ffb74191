from __future__ import annotations

import decimal
import math
import warnings

import numpy as np
import pytest
import sklearn.metrics as sk
from hypothesis import given
from hypothesis import strategies as st
from metric_views import counts, laws, outcome, reason, value
from primabench_metrics import clustering as c
from primabench_metrics.logarithms import log_int

import primabench_core as pb
from primabench_core.state.counts import Counts

REFERENCE = [
    (c.ari, sk.adjusted_rand_score),
    (c.nmi, sk.normalized_mutual_info_score),
    (c.ami, sk.adjusted_mutual_info_score),
    (c.homogeneity, sk.homogeneity_score),
    (c.completeness, sk.completeness_score),
    (c.v_measure, sk.v_measure_score),
]
partitions = st.lists(st.tuples(st.integers(0, 4), st.integers(-1, 5)), min_size=1, max_size=40)


@pytest.mark.parametrize(("metric", "reference"), REFERENCE)
@laws
@given(pairs=partitions)
def test_agrees_with_scikit_learn(metric, reference, pairs):
    truth, cluster = np.asarray(pairs).T
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn wonders about many labels
        expected = reference(truth, cluster)
    assert value(metric(counts(truth, cluster, open_vocabulary=True))) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(("metric", "_"), REFERENCE)
@laws
@given(pairs=partitions, seed=st.integers(0, 2**32 - 1))
def test_names_change_no_bit(metric, _, pairs, seed):
    truth, cluster = np.asarray(pairs).T
    rng = np.random.default_rng(seed)
    names, numbers = rng.permutation(list("abcde")), rng.permutation(100)[:7]
    renamed = counts(names[truth], numbers[cluster + 1], open_vocabulary=True)
    plain = counts(truth, cluster, open_vocabulary=True)
    tolerance = 1e-12 if metric is c.ami else 0.0  # its sum over pairs of sizes is of tolerance kind
    assert value(metric(renamed)) == pytest.approx(value(metric(plain)), abs=tolerance)


@pytest.mark.parametrize(("metric", "_"), REFERENCE)
@laws
@given(labels=st.lists(st.integers(0, 5), min_size=1, max_size=40))
def test_the_same_partition_is_exactly_one(metric, _, labels):
    renamed = [9 - k for k in labels]
    assert value(metric(counts(labels, renamed, open_vocabulary=True))) == 1.0


@pytest.mark.parametrize(("metric", "_"), REFERENCE)
@laws
@given(pairs=partitions)
def test_stays_in_range(metric, _, pairs):
    truth, cluster = np.asarray(pairs).T
    low = {c.ari: -0.5, c.ami: -1.0}.get(metric, 0.0)
    assert low <= value(metric(counts(truth, cluster, open_vocabulary=True))) <= 1.0


@pytest.mark.parametrize(("metric", "_"), REFERENCE)
def test_without_rows_there_is_no_value(metric, _):
    assert reason(metric(Counts.empty())) == "too_few_items"


@pytest.mark.parametrize(("metric", "_"), REFERENCE)
def test_trivial_partitions_are_one_and_flagged(metric, _):
    same = outcome(metric(counts(["a"] * 4, [0] * 4, open_vocabulary=True)))
    assert (same.value, same.flags) == (1.0, ("trivial_partition",))
    one = outcome(metric(counts(["a"], [3], open_vocabulary=True)))
    assert (one.value, one.flags) == (1.0, ("trivial_partition",))


@pytest.mark.parametrize("metric", [c.ari, c.nmi, c.ami, c.v_measure])
def test_all_single_rows_on_both_sides(metric):
    result = outcome(metric(counts(list("abcd"), [4, 3, 2, 1], open_vocabulary=True)))
    assert (result.value, result.flags) == (1.0, ("trivial_partition",))


@pytest.mark.parametrize("metric", [c.ari, c.nmi, c.ami, c.v_measure])
@pytest.mark.parametrize(("truth", "cluster"), [("abca", [3] * 4), ("aaaa", [1, 2, 2, 3])])
def test_one_constant_side_is_zero(metric, truth, cluster):
    assert value(metric(counts(list(truth), cluster, open_vocabulary=True))) == 0.0


def test_noise_is_a_cluster_and_counted():
    result = outcome(c.ari(counts(list("aabbbc"), [0, 0, 1, 1, -1, -1], open_vocabulary=True)))
    assert result.value == pytest.approx(4 / 9)
    assert result.values["n_noise"] == 2


def test_pair_counts_pass_64_bits():
    table = np.array([[10**9, 3], [5, 10**9]], np.int64)
    assert value(c.ari(Counts(table, ("a", "b"), (0, 1)))) == pytest.approx(1.0, abs=1e-7)


def test_chance_information_of_many_rows():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 12, 30_000)
    cluster = np.where(rng.random(30_000) < 0.3, truth, rng.integers(0, 15, 30_000))
    expected = sk.adjusted_mutual_info_score(truth, cluster)
    assert value(c.ami(counts(truth, cluster, open_vocabulary=True))) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("k", [1, 2, 3, 10, 65_537, 10**9 + 7, 2**62])
def test_logarithms_are_correctly_rounded(k):
    with decimal.localcontext(prec=60):
        assert log_int(k) == float(decimal.Decimal(k).ln())
    assert log_int(k) == pytest.approx(math.log(k), rel=1e-15)


@pytest.mark.parametrize("name", ["ari", "nmi", "ami", "homogeneity", "completeness", "v_measure"])
def test_agreement_of_partitions_has_no_bootstrap_interval(name):
    # rows drawn twice lie together on both sides: even independent partitions agree once they are resampled
    rng = np.random.default_rng(0)
    truth, cluster = rng.integers(0, 5, (2, 300))
    found = pb.score(name, {"cluster": cluster}, {"label": truth}, ci=0.95)
    assert found.value is not None
    assert found.interval.low is None
    assert "drawn twice" in found.interval.reason
