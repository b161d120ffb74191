from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import sklearn.metrics as sk
from hypothesis import given
from hypothesis import strategies as st
from metric_views import laws, outcome, reason, rows, value
from primabench_metrics import pairwise, retrieval

from primabench_core.errors import ContractError

lists = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1)), min_size=1, max_size=6)


def expected_over_orders(scores, labels, measure):
    """Mean over all orders of the rows in which scores fall."""
    found = []
    for order in itertools.permutations(range(len(scores))):
        if all(scores[a] >= scores[b] for a, b in itertools.pairwise(order)):
            found.append(measure(np.asarray([labels[i] for i in order])))
    return np.mean(found)


@laws
@given(pairs=lists, k=st.integers(1, 8))
def test_ties_take_the_expected_value(pairs, k):
    scores, labels = zip(*pairs, strict=True)
    state = rows({"score": scores}, {"label": labels}, classes=(0, 1))
    fraction = k / 10
    top = max(1, k * len(scores) // 10)
    if not any(labels):
        for metric in (retrieval.mrr, retrieval.hit_rate_at_k, retrieval.recall_at_k, retrieval.enrichment_factor):
            assert reason(metric(state)) == "no_positives"
        return
    cases = [
        (retrieval.mrr, {}, lambda y: 1 / (np.flatnonzero(y)[0] + 1)),
        (retrieval.hit_rate_at_k, {"k": k}, lambda y: float(y[:k].any())),
        (retrieval.recall_at_k, {"k": k}, lambda y: y[:k].sum() / y.sum()),
        (retrieval.enrichment_factor, {"fraction": fraction}, lambda y: y[:top].mean() / y.mean()),
    ]
    for metric, params, measure in cases:
        assert value(metric(state, **params)) == pytest.approx(expected_over_orders(scores, labels, measure), abs=1e-12)


def test_large_ties_are_closed_forms():
    n, q = 100_000, 7
    labels = np.zeros(n, int)
    labels[:q] = 1
    state = rows({"score": np.zeros(n)}, {"label": labels})
    assert value(retrieval.recall_at_k(state, k=1000)) == pytest.approx(0.01)
    missed = math.prod((n - 1000 - i) / (n - i) for i in range(q))
    assert value(retrieval.hit_rate_at_k(state, k=1000)) == pytest.approx(1 - missed)
    assert 0 < value(retrieval.mrr(state)) < 0.01


@laws
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 5)), min_size=1, max_size=30), st.integers(1, 40))
def test_ndcg_agrees_with_scikit_learn(pairs, k):
    scores, gains = np.asarray(pairs, float).T
    state = rows({"score": scores}, {"value": gains})
    if len(pairs) == 1 or not gains.any():
        assert outcome(retrieval.ndcg_at_k(state, k=k)).value == (1.0 if gains.any() else None)
    else:
        assert value(retrieval.ndcg_at_k(state, k=k)) == pytest.approx(sk.ndcg_score([gains], [scores], k=k), abs=1e-12)


class TestNdcg:
    def test_negative_gains_are_refused_or_scaled(self):
        state = rows({"score": [1.0, 2.0]}, {"value": [-1.0, 3.0]})
        with pytest.raises(ContractError, match="value"):
            retrieval.ndcg_at_k(state)
        assert value(retrieval.ndcg_at_k(state, gains="min_max")) == 1.0

    def test_a_shift_of_scaled_gains_changes_nothing(self):
        rng = np.random.default_rng(0)
        scores, gains = rng.random(40), rng.random(40).round(2)
        values = [
            value(retrieval.ndcg_at_k(rows({"score": scores}, {"value": g}), fraction=0.1, gains="min_max"))
            for g in (gains, gains - 100)
        ]
        assert values[0] == pytest.approx(values[1], abs=1e-12)

    def test_constant_truth(self):
        state = rows({"score": [1.0, 2.0]}, {"value": [4.0, 4.0]})
        assert reason(retrieval.ndcg_at_k(state, gains="min_max")) == "constant_truth"
        assert value(retrieval.ndcg_at_k(state)) == 1.0
        assert reason(retrieval.ndcg_at_k(rows({"score": [1.0]}, {"value": [0.0]}))) == "constant_truth"

    def test_the_depth_is_at_least_one_and_read_as_a_decimal(self):
        assert retrieval.top_rows(0.1, 9) == 1
        assert retrieval.top_rows(0.29, 100) == 29

    def test_lists_without_gain_are_left_out_and_counted(self):
        state = rows({"score": [1, 2, 3, 4.0]}, {"value": [1.0, 2, 0, 0], "group": list("aabb")})
        result = outcome(retrieval.ndcg_at_k(state))
        assert (result.value, result.n, dict(result.n_excluded)) == (1.0, 2, {"constant_truth": 2})


class TestGroups:
    STATE = rows(
        {"score": [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.9]},
        {"label": [0, 1, 0, 1, 1, 0, 0, 0], "group": ["q1"] * 4 + ["q2"] * 3 + ["q3"]},
    )

    def test_mean_over_lists(self):
        result = outcome(retrieval.mrr(self.STATE))
        assert (result.value, dict(result.per_unit)) == (0.75, {"q1": 0.5, "q2": 1.0})
        assert (result.n, dict(result.n_excluded)) == (7, {"no_positives": 1})
        assert result.values["n_groups_without_positives"] == 1

    def test_hit_rate_is_not_recall(self):
        assert value(retrieval.hit_rate_at_k(self.STATE, k=2)) == 1.0
        assert value(retrieval.recall_at_k(self.STATE, k=2)) == 0.75

    def test_all_rows_as_one_list(self):
        assert value(retrieval.recall_at_k(self.STATE, k=3, per="all")) == pytest.approx(1 / 3)

    def test_without_any_positive(self):
        state = rows({"score": [1.0, 2]}, {"label": [0, 0], "group": ["a", "b"]}, classes=(0, 1))
        assert reason(retrieval.mrr(state)) == "no_positives"


@laws
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=25), st.integers(0, 2**32 - 1))
def test_concordance_by_all_pairs(pairs, seed):
    x, y = np.asarray(pairs, float).T
    doubled = comparable = 0
    for i, j in itertools.combinations(range(len(x)), 2):
        if y[i] != y[j]:
            comparable += 1
            doubled += 1 if x[i] == x[j] else 2 * ((x[i] > x[j]) == (y[i] > y[j]))
    state = rows({"value": x}, {"value": y})
    if not comparable:
        assert reason(pairwise.concordance_index(state)) == "no_comparable_pair"
        return
    assert value(pairwise.concordance_index(state)) == doubled / (2 * comparable)
    shuffled = state.take(np.random.default_rng(seed).permutation(len(x)))
    assert outcome(pairwise.concordance_index(shuffled)) == outcome(pairwise.concordance_index(state))


def test_concordance_refuses_several_features():
    with pytest.raises(ContractError, match="value"):
        pairwise.concordance_index(rows({"value": np.ones((3, 2))}, {"value": np.ones((3, 2))}))


class TestPairedAccuracy:
    def test_ties_are_half(self):
        state = rows({"score": [1, 0, 2, 2, 0, 1.0]}, {"label": [1, 0, 1, 0, 1, 0], "group": list("aabbcc")})
        result = outcome(pairwise.paired_accuracy(state))
        assert (result.value, result.values["n_ties"]) == (0.5, 1)

    def test_groups_with_one_side_are_left_out_and_counted(self):
        state = rows({"score": [1, 0, 2.0]}, {"label": [1, 0, 1], "group": list("aab")})
        result = outcome(pairwise.paired_accuracy(state))
        assert (result.value, dict(result.n_excluded)) == (1.0, {"no_comparable_pair": 1})

    def test_no_pair_at_all(self):
        state = rows({"score": [1, 0.0]}, {"label": [1, 0], "group": list("ab")})
        assert reason(pairwise.paired_accuracy(state)) == "no_comparable_pair"

    def test_constant_scores_are_chance(self):
        state = rows({"score": [1.0] * 6}, {"label": [1, 0, 0, 1, 1, 0], "group": list("aaabbb")})
        assert value(pairwise.paired_accuracy(state)) == 0.5
