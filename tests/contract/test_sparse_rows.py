"""Rows without their zeros: what scipy and dense arrays say of the same rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from primabench_core.contract import sparse_rows
from primabench_core.contract.check import Context, ShardChecker
from primabench_core.contract.fields import Field
from primabench_core.contract.sparse_rows import SparseRows, dense_of, thin


def drawn(seed, n=9, m=7, density=0.4, kind=np.float32):
    rng = np.random.default_rng(seed)
    return (rng.normal(size=(n, m)) * (rng.random((n, m)) < density)).astype(kind)


@given(st.integers(0, 1000), st.sampled_from([np.float32, np.float64]), st.data())
def test_rows_columns_and_pieces_are_those_of_the_array(seed, kind, data):
    x = drawn(seed, kind=kind)
    for rows in (SparseRows.of(sparse.csc_matrix(x)), SparseRows.compressed(x)):
        assert (rows.dense() == x).all()
        assert (rows.dtype, rows.shape, len(rows)) == (x.dtype, x.shape, 9)
        at = np.array(data.draw(st.lists(st.integers(0, 8), max_size=12)), np.int64)
        assert (rows[at].dense() == x[at]).all()
        cut = slice(data.draw(st.integers(0, 9)), data.draw(st.integers(0, 9)), data.draw(st.sampled_from([1, 2])))
        assert (rows[cut].dense() == x[cut]).all()
        order = np.array(data.draw(st.permutations(range(7))))
        moved = rows[:, order]
        assert (moved.dense() == x[:, order]).all()
        assert moved.csr().has_sorted_indices or len(moved.data) == 0
        assert (SparseRows.joined([rows[:4], rows[4:]]).dense() == x).all()
        assert (rows.csr().toarray() == x).all()


def test_room_behind_the_last_row_is_no_part_of_the_matrix():
    x = drawn(3)
    matrix = sparse.csr_matrix(x)
    matrix.data, matrix.indices = np.append(matrix.data, [9, 9]), np.append(matrix.indices, [0, 1])
    matrix.data = matrix.data.astype(np.float32)
    assert (SparseRows.of(matrix).dense() == x).all()


def test_duplicates_explicit_zeros_and_other_types():
    twice = sparse.csr_matrix((np.array([1, 2, 0, 4], np.float32), [1, 1, 0, 2], [0, 3, 4]), shape=(2, 3))
    rows = SparseRows.of(twice)
    assert rows.data.tolist() == [3.0, 4.0]
    assert rows.columns.tolist() == [1, 2]
    assert rows.dtype == np.float32
    assert twice.nnz == 4  # the caller's matrix keeps what it had
    assert SparseRows.of(sparse.csr_matrix(np.array([[True, False]]))).dtype == np.float64
    assert SparseRows.of(sparse.csr_matrix(np.array([[1j, 0]]))) is None
    empty = SparseRows.of(sparse.csr_matrix((0, 5)))
    assert (empty.shape, empty.dense().shape, empty[np.array([], int)].shape) == ((0, 5), (0, 5), (0, 5))


def test_nothing_is_shared_with_the_matrix():
    matrix = sparse.csr_matrix(drawn(1))
    rows = SparseRows.of(matrix)
    before = rows.dense()
    matrix.data[:] = 9
    assert (rows.dense() == before).all()


def test_the_smaller_form_is_taken_and_dense_memory_is_bounded(monkeypatch):
    few, many = drawn(2, density=0.1), drawn(2, density=0.9)
    assert isinstance(thin(few), SparseRows)
    assert isinstance(thin(many), np.ndarray)
    assert isinstance(thin(SparseRows.compressed(many)), np.ndarray)
    monkeypatch.setattr(sparse_rows, "DENSE_BYTES", 4 * 7 * 2)
    pieces = list(SparseRows.compressed(few).pieces())
    assert [start for start, _ in pieces] == [0, 2, 4, 6, 8]
    assert max(piece.nbytes for _, piece in pieces) <= 4 * 7 * 2
    assert (np.concatenate([piece for _, piece in pieces]) == few).all()
    assert (dense_of(SparseRows.compressed(few)) == few).all()


def test_a_checker_lets_good_rows_stay_sparse_and_says_the_same_of_bad_ones():
    x = drawn(3)
    names = tuple("abcdefg")
    new = lambda: ShardChecker([Field("value", "matrix", coord="genes")], Context(coords={"genes": names}))  # noqa: E731
    given = {"genes": names[::-1]}
    found, violations = new().check({"value": SparseRows.compressed(x)}, coords=given)
    assert not violations
    assert isinstance(found["value"], SparseRows)
    assert (found["value"].dense() == x[:, ::-1]).all()
    for spoil in (np.nan, np.inf):
        bad = x.copy()
        bad[3, 2] = spoil
        words = [[str(v) for v in new().check({"value": value})[1]] for value in (bad, SparseRows.compressed(bad))]
        assert words[0] == words[1] != []
    narrow = [[str(v) for v in new().check({"value": v})[1]] for v in (x[:, :5], SparseRows.compressed(x[:, :5]))]
    assert narrow[0] == narrow[1] != []


@pytest.mark.parametrize("low", [0.5, None])
def test_zeros_that_are_not_held_are_numbers_too(low):
    x = np.abs(drawn(4)) + np.float32(0.0)
    field = Field("value", "matrix", coord="genes", low=low)
    _, violations = ShardChecker([field], Context(widths={"value": 7})).check({"value": SparseRows.compressed(x)})
    assert bool(violations) == (low is not None)
