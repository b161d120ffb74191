from __future__ import annotations

import numpy as np
import pytest
import sklearn.metrics as sk
from hypothesis import given
from hypothesis import strategies as st
from metric_views import laws, outcome, reason, rows, value
from primabench_metrics import ranking as r
from primabench_metrics import runs

from primabench_core.errors import ParameterError

few_scores = st.lists(
    st.tuples(st.sampled_from([-1.5, -0.0, 0.0, 1e-40, 0.1, 0.3, 7.0]), st.integers(0, 1)), min_size=1
)


def state_of(pairs, dtype=np.float64):
    scores, labels = zip(*pairs, strict=True)
    return rows({"score": np.asarray(scores, dtype)}, {"label": labels}, classes=(0, 1))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@laws
@given(pairs=few_scores)
def test_agrees_with_scikit_learn_on_ties(dtype, pairs):
    state = state_of(pairs, dtype)
    scores = np.asarray([s for s, _ in pairs], dtype)
    labels = np.asarray([y for _, y in pairs])
    if 0 < labels.sum() < len(labels):
        assert value(r.auroc(state)) == pytest.approx(sk.roc_auc_score(labels, scores), abs=1e-15)
    else:
        assert reason(r.auroc(state)) == "single_class"
    if labels.any():
        assert value(r.average_precision(state)) == pytest.approx(sk.average_precision_score(labels, scores), abs=1e-14)
        assert outcome(r.average_precision(state)).values["prevalence"] == labels.mean()
    else:
        assert reason(r.average_precision(state)) == "no_positives"


@pytest.mark.parametrize("block", [1, 2, 7, 1 << 17])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_blocks_do_not_matter(monkeypatch, block, dtype):
    rng = np.random.default_rng(block)
    for levels in (1, 3, 10**9):
        scores = (rng.integers(0, levels, 100) / 7).astype(dtype)
        labels = rng.integers(0, 2, 100)
        whole = runs.rank_counts(scores, labels, 1)
        monkeypatch.setattr(runs, "BLOCK", block)
        assert runs.rank_counts(scores, labels, 1) == whole
        monkeypatch.undo()


@pytest.mark.parametrize("offset", [0.0, 1e6, 1e8, -1e8])
def test_float32_with_an_offset_is_the_same_as_its_float64(offset):
    rng = np.random.default_rng(0)
    scores = (rng.standard_normal(500) * 30 + offset).astype(np.float32)
    labels = rng.integers(0, 2, 500)
    narrow, wide = (
        state_of(list(zip(scores, labels, strict=True)), np.float32),
        rows({"score": scores.astype(np.float64)}, {"label": labels}),
    )
    for metric in (r.auroc, r.average_precision):
        assert value(metric(narrow)) == value(metric(wide))
    assert value(r.auroc(narrow)) == sk.roc_auc_score(labels, scores)


def test_float64_scores_that_float32_cannot_hold():
    rng = np.random.default_rng(1)
    scores = np.concatenate([1 + rng.integers(0, 9, 300) * 1e-12, rng.standard_normal(300) * 1e300, [5e-324, 0.0]])
    labels = rng.integers(0, 2, len(scores))
    state = rows({"score": scores}, {"label": labels})
    assert value(r.auroc(state)) == pytest.approx(sk.roc_auc_score(labels, scores), abs=1e-15)
    assert value(r.average_precision(state)) == pytest.approx(sk.average_precision_score(labels, scores), abs=1e-14)


@laws
@given(pairs=few_scores, seed=st.integers(0, 2**32 - 1))
def test_order_of_rows_changes_no_bit(pairs, seed):
    state = state_of(pairs)
    shuffled = state.take(np.random.default_rng(seed).permutation(state.n))
    for metric in (r.auroc, r.average_precision):
        assert outcome(metric(state)) == outcome(metric(shuffled))


@laws
@given(pairs=few_scores)
def test_reversing_scores_mirrors_auroc(pairs):
    state, mirrored = state_of(pairs), state_of([(-s, y) for s, y in pairs])
    if outcome(r.auroc(state)).value is not None:
        assert value(r.auroc(state)) == pytest.approx(1 - value(r.auroc(mirrored)), abs=1e-15)


def test_a_perfect_ranking_is_exactly_one():
    rng = np.random.default_rng(2)
    labels = rng.integers(0, 2, 10_000)
    state = rows({"score": labels + rng.random(10_000) / 2}, {"label": labels})
    assert value(r.auroc(state)) == 1.0
    assert value(r.average_precision(state)) == 1.0


def test_constant_scores_are_chance():
    state = rows({"score": np.full(5, 0.3)}, {"label": [1, 0, 0, 1, 0]})
    assert value(r.auroc(state)) == 0.5
    assert value(r.average_precision(state)) == 0.4


def test_without_rows_there_is_no_value():
    state = rows({"score": np.empty(0)}, {"label": []}, classes=(0, 1))
    for metric in (r.auroc, r.average_precision):
        assert reason(metric(state)) == "too_few_items"


def test_several_other_classes_are_the_rest_and_said_so():
    state = rows({"score": [0.9, 0.1, 0.4]}, {"label": ["a", "b", "c"]})
    result = outcome(r.auroc(state, positive="a"))
    assert (result.value, result.flags) == (1.0, ("one_vs_rest",))


class TestMultiClass:
    def make(self, seed, n=60, k=4):
        rng = np.random.default_rng(seed)
        return np.round(rng.dirichlet(np.ones(k), n), 1), rng.integers(0, k, n)

    def test_agrees_with_scikit_learn(self):
        for seed in range(20):
            p, y = self.make(seed)
            state = rows({"probability": p}, {"label": y}, classes=(0, 1, 2, 3))
            columns = [sk.roc_auc_score(y == k, p[:, k]) for k in range(4)]
            result = outcome(r.auroc(state, multi_class="ovr"))
            assert result.value == pytest.approx(np.mean(columns), abs=1e-15)
            assert list(result.per_unit.values()) == pytest.approx(columns, abs=1e-15)

    def test_classes_without_both_sides_are_dropped_and_listed(self):
        state = rows({"probability": np.eye(3)}, {"label": ["a", "b", "a"]}, classes=("a", "b", "c"))
        result = outcome(r.auroc(state, multi_class="ovr"))
        assert result.values["dropped_classes"] == ["c"]
        assert result.flags == ("dropped_classes",)
        assert result.n_undefined == 1

    def test_one_class_alone_leaves_nothing(self):
        state = rows({"probability": np.eye(3)}, {"label": ["a", "a", "a"]}, classes=("a", "b", "c"))
        assert reason(r.auroc(state, multi_class="ovr")) == "single_class"

    def test_columns_belong_to_classes_by_name(self):
        p, y = self.make(1)
        names = np.array(list("wxyz"))
        state = rows({"probability": p}, {"label": names[y]}, classes=tuple(names))
        turned = rows({"probability": p[:, ::-1]}, {"label": names[y]}, classes=tuple(names[::-1]))
        assert value(r.auroc(state, multi_class="ovr")) == value(r.auroc(turned, multi_class="ovr"))

    def test_two_classes_by_their_positive_column(self):
        p, y = self.make(2, k=2)
        state = rows({"probability": p}, {"label": y}, classes=(0, 1))
        expected = sk.roc_auc_score(y, p[:, 1])
        assert value(r.auroc(state)) == pytest.approx(expected, abs=1e-15)
        assert value(r.average_precision(state)) == pytest.approx(sk.average_precision_score(y, p[:, 1]), abs=1e-14)

    def test_more_classes_without_a_word_are_refused(self):
        p, y = self.make(3)
        (violation,) = r.check_ranking(("probability",), (0, 1, 2, 3), {"positive": 1, "multi_class": ""})
        assert "multi_class" in str(violation)
        with pytest.raises(ParameterError):
            r.auroc(rows({"probability": p}, {"label": y}, classes=(0, 1, 2, 3)))

    def test_a_single_score_has_no_columns(self):
        assert r.check_ranking(("score",), (0, 1), {"multi_class": "ovr"})
        assert r.check_ranking(("probability",), (0, 1, 2), {"multi_class": "ovr"}) == []


def test_a_positive_that_is_no_class_is_refused():
    assert r.check_ranking(("score",), ("benign", "bad"), {"positive": 1})
    with pytest.raises(ParameterError, match="positive"):
        r.auroc(rows({"score": [0.1, 0.2]}, {"label": ["benign", "bad"]}))


def test_metrics_share_one_sort(monkeypatch):
    calls = []
    original = r.rank_counts
    monkeypatch.setattr(r, "rank_counts", lambda *a: calls.append(1) or original(*a))
    state = rows({"score": [0.1, 0.9]}, {"label": [0, 1]})
    r.auroc(state)
    r.average_precision(state)
    assert calls == [1]
