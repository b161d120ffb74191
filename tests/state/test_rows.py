"""The view that metrics receive, and counts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from primabench_core.state.counts import Counts
from primabench_core.state.rows import Labels, Ragged, Rows


def view():
    labels = Labels(np.array([0, 1, 1, 2]), ("a", "b", "c"))
    predicted = Labels(np.array([0, 1, 3, 0]), ("a", "b", "c", "new"))
    boxes = Ragged(np.arange(10.0).reshape(5, 2), np.array([2, 0, 3, 0]))
    return Rows(
        4,
        {"label": predicted, "score": np.arange(4.0), "boxes": boxes},
        {"label": labels},
        {"genes": ("g",)},
        ("a", "b", "c"),
        {"no_truth": 2},
    )


def test_taking_rows_keeps_what_belongs_to_them():
    rows = view().take(np.array([2, 0, 2]))
    assert rows.n == 3
    assert rows.prediction["label"].values().tolist() == ["new", "a", "new"]
    assert rows.prediction["score"].tolist() == [2, 0, 2]
    assert rows.prediction["boxes"].counts.tolist() == [3, 2, 3]
    assert rows.prediction["boxes"].values[:3].tolist() == rows.prediction["boxes"].values[5:].tolist()
    assert (rows.classes, rows.coords, rows.n_excluded) == (("a", "b", "c"), {"genes": ("g",)}, {"no_truth": 2})


def test_shared_work_is_done_once_and_not_carried_over():
    rows, calls = view(), []
    for _ in range(3):
        assert rows.shared("key", lambda: calls.append(1) or 7) == 7
    assert len(calls) == 1
    rows.take(np.array([0])).shared("key", lambda: calls.append(1))
    assert len(calls) == 2
    assert rows.counts("label", "label") is rows.counts("label", "label")


def test_counts_of_fields():
    rows = view()
    counts = rows.counts("label", "label")
    assert counts.n == 4
    table, classes = counts.square()
    assert classes == ("a", "b", "c", "new")
    assert table.sum(axis=1).tolist() == [1, 2, 1, 0]
    with pytest.raises(TypeError, match="score"):
        rows.counts("label", "score")


pairs = st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("abxy")), max_size=20)


def count(some, truth=None, predicted=None):
    truth = truth or tuple(sorted({t for t, _ in some}))
    predicted = predicted or tuple(sorted({p for _, p in some}))
    codes = [np.array([k.index(v) for v in column], np.int64) for k, column in
             ((truth, [t for t, _ in some]), (predicted, [p for _, p in some]))]  # fmt: skip
    return Counts.of(*codes, truth, predicted)


@given(pairs, pairs, pairs)
def test_counts_merge_laws(a, b, c):
    x, y, z = count(a), count(b), count(c)
    left, right = x.merge(y).merge(z), x.merge(y.merge(z))
    whole = count([*a, *b, *c])

    def cells(counts):
        return {
            (t, p): int(counts.table[i, j])
            for i, t in enumerate(counts.truth_classes)
            for j, p in enumerate(counts.predicted_classes)
            if counts.table[i, j]
        }

    assert cells(left) == cells(right) == cells(whole) == cells(z.merge(x).merge(y))
    assert cells(x.merge(Counts.empty())) == cells(Counts.empty().merge(x)) == cells(x)
    assert cells(Counts(*x.to_buffers())) == cells(x)
    assert whole.n == len(a) + len(b) + len(c)


@given(pairs)
def test_square_is_the_same_whatever_the_vocabulary(some):
    narrow, wide = count(some), count(some, tuple("abcdz"), tuple("abqxy"))
    tables = []
    for counts in (narrow, wide):
        table, classes = counts.square()
        assert set(classes) == {v for pair in some for v in pair}
        tables.append({(t, p): int(table[i, j]) for i, t in enumerate(classes) for j, p in enumerate(classes)})
    assert tables[0] == tables[1]


@given(pairs)
def test_margins_are_those_of_the_square(some):
    for counts in (
        count(some),
        count(some, tuple("abcdz"), tuple("abqxy")),
        count(some, tuple("abcd"), tuple("abcdxy")),
    ):
        table, classes = counts.square()
        m = counts.margins
        assert m.classes == classes
        assert m.hits.tolist() == table.diagonal().tolist()
        assert m.true.tolist() == table.sum(1).tolist()
        assert m.called.tolist() == table.sum(0).tolist()
        assert counts.true.tolist() == counts.table.sum(1).tolist()
        assert counts.called.tolist() == counts.table.sum(0).tolist()
        assert counts.times.tolist() == counts.table[counts.table > 0].tolist()


def test_cells_named_again_are_added_and_zeros_are_none():
    counts = Counts.of_cells(np.array([3, 0, 3, 1]), np.array([2, 1, 5, 0]), ("a", "b"), ("a", "b"))
    assert (counts.places.tolist(), counts.times.tolist()) == ([0, 3], [1, 7])
    assert counts.table.tolist() == [[1, 0], [0, 7]]


def test_a_table_must_fit_its_classes():
    with pytest.raises(ValueError, match="shape"):
        Counts(np.zeros((2, 2), np.int64), ("a",), ("a", "b"))


def test_many_classes_and_few_rows_take_few_cells():
    k, n = 300_000, 1000
    classes = tuple(range(k))
    rng = np.random.default_rng(1)
    truth, predicted = rng.integers(0, k, n), rng.integers(0, k, n)
    counts = Counts.of(truth, predicted, classes, classes)
    assert len(counts.places) <= n
    assert counts.margins.true.sum() == counts.margins.called.sum() == counts.merge(counts).n // 2 == n
    assert counts.margins.hits.sum() == (truth == predicted).sum()


def test_integer_and_text_labels():
    assert Labels(np.array([1, 0]), (3, 5)).values().tolist() == [5, 3]
    assert Labels(np.array([1, 0]), (3, 5)).values().dtype == np.int64
    assert Labels(np.array([1]), ("a", "b")).take(np.array([0, 0])).values().tolist() == ["b", "b"]
    assert len(Labels(np.zeros(0, np.int64), ()).values()) == 0
