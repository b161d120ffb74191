"""What is cast, what stays, what is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st

from primabench_core.contract.arrays import as_ids, as_labels, as_numeric, whole_numbers
from primabench_core.contract.plain import is_lazy, plain
from primabench_core.contract.ragged import Ragged
from primabench_core.errors import ContractError


@pytest.mark.parametrize(
    ("given_dtype", "kept"),
    [
        ("float16", "float32"), ("float32", "float32"), ("float64", "float64"), (">f4", "float32"), (">f8", "float64"),
        ("int8", "float64"), ("int64", "float64"), ("uint64", "float64"), ("bool", "float64"),
    ],
)  # fmt: skip
def test_numbers_are_cast_up_and_never_down(given_dtype, kept):
    array = as_numeric(np.array([0, 1, 1]).astype(given_dtype))
    assert array.dtype == kept
    assert array.dtype.isnative
    assert array.tolist() == [0, 1, 1]


def test_bfloat16_keeps_its_value():
    tensor = torch.tensor([0.1, 3.0], dtype=torch.bfloat16)
    assert as_numeric(tensor).tolist() == tensor.float().tolist()


@pytest.mark.parametrize(
    "tensor",
    [
        torch.tensor([1.0, 2.0], requires_grad=True),
        torch.tensor([1.0, 9.0, 2.0])[::2],
        torch.tensor([1.0, 2.0]).to_sparse(),
        torch.tensor([1.0, 2.0], dtype=torch.float16),
        torch.tensor([1, 2]),
        [torch.tensor(1.0), torch.tensor(2.0)],
    ],
)
def test_tensors_of_every_kind(tensor):
    assert as_numeric(tensor).tolist() == [1.0, 2.0]


def test_conjugate_and_negative_views_are_resolved():
    assert as_numeric(torch.tensor([1 + 2j]).conj().imag).tolist() == [-2.0]


@pytest.mark.parametrize(
    "value",
    [
        pd.Series([1, 2], dtype="Int64"), pd.Series([1.0, 2.0], dtype="Float32"), pd.Series([1, 2], index=[5, 9]),
        pd.array([1, 2], dtype="int64[pyarrow]"), (1, 2), range(1, 3), np.ma.masked_array([1, 2], mask=[0, 0]),
        pd.Series([1, 2], dtype="category"),
    ],
    ids=repr,
)  # fmt: skip
def test_numbers_in_other_containers(value):
    assert as_numeric(value).tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (["0.1", "0.2"], "text"), (np.array([1j]), "complex"), (np.array([b"1"]), "bytes"), ([1.0, None], "missing"),
        (np.array(["2020-01-01"], "M8[D]"), "dates"), ([1, "a"], "objects"), ([[1.0, 2.0], [3.0]], "lengths 1, 2"),
        (pd.Series([1, None], dtype="Int64"), "missing"), (np.ma.masked_array([1.0, 2.0], mask=[0, 1]), "missing"),
        (np.zeros(2, np.longdouble), "more than 64 bits"), (np.zeros(1, [("a", "f4")]), "records"), (3.0, "float 3.0"),
        ("abc", "str 'abc'"), (None, "NoneType"), ([2**70, 1], "objects"), (np.array([1, 2], object), "objects"),
    ],
    ids=repr,
)  # fmt: skip
def test_what_holds_no_numbers(value, words):
    with pytest.raises(ContractError, match="score: expected") as error:
        as_numeric(value, "score")
    assert words in str(error.value)


def test_missing_entries_are_named_by_id():
    with pytest.raises(ContractError, match=r"missing entries in 1 row \(ids: b\)"):
        as_numeric(pd.Series([1.0, pd.NA], dtype="object"), "score", ["a", "b"])


def test_object_matrices_name_the_row_not_the_entry():
    with pytest.raises(ContractError, match=r"in 1 row \(ids: b\)"):
        as_numeric(np.array([[1, 2], [3, None]], object), "value", ["a", "b"])


@pytest.mark.parametrize(
    ("value", "labels"),
    [
        ([0, 1], [0, 1]), ([True, False], [1, 0]), (np.array(["a", "b"]), ["a", "b"]),
        (pd.Series(["a", "b"], dtype="category"), ["a", "b"]), (pd.Series(["a", "b"], dtype="string"), ["a", "b"]),
        (pd.array(["a", "b"], dtype="string[pyarrow]"), ["a", "b"]), (pd.Series([3, 1], dtype="category"), [3, 1]),
        (np.array([np.str_("x"), "y"], object), ["x", "y"]), (torch.tensor([5, 7], dtype=torch.int32), [5, 7]),
        (np.array([1, np.int8(2), True], object), [1, 2, 1]), (["nan", "None"], ["nan", "None"]), ([], []),
        (np.array(["a"], dtype=np.dtypes.StringDType()), ["a"]), (np.array([1, 2], np.uint8), [1, 2]),
    ],
    ids=repr,
)  # fmt: skip
def test_labels(value, labels):
    found = as_labels(value)
    assert found.tolist() == labels
    assert found.dtype == (object if labels and isinstance(labels[0], str) else np.int64)
    assert all(type(v) in (int, str) for v in found.tolist())


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ([0.0, 1.0], "real numbers"), ([0, None], "missing"), (["a", None], "missing"),
        (["a", float("nan")], "missing"),
        ([0, float("nan")], "NaN"), (["a", 1], "a mixture of int and str"),
        (pd.Series(["a", pd.NA], dtype="string"), "missing"),
        (pd.Series(["a", None], dtype="category"), "missing"), (np.array([b"a"]), "bytes"), (["a", ""], "blank"),
        (["a", "  "], "blank"), (np.array([2**63], np.uint64), "2^63"), (pd.Series([pd.NaT]), "dates"),
        (["a", pd.NaT], "missing"),
        ([2**64, 1], "2^63"), (np.array([object()]), "object"), (np.array([1.0, 2], object), "real numbers"),
    ],
    ids=lambda value: repr(value) if "0x" not in repr(value) else "objects",  # no address: names must not change
)  # fmt: skip
def test_what_is_no_label(value, words):
    with pytest.raises(ContractError) as error:
        as_labels(value, "label")
    assert str(error.value).count("label:") == 1
    assert words in str(error.value)


def test_a_truth_may_have_gaps_where_it_says_so():
    assert as_labels(["a", None], nullable=True).tolist() == ["a", None]
    assert as_labels(np.array([1.0, np.nan]), nullable=True).tolist() == [1, None]
    assert as_labels([None, 3], nullable=True).tolist() == [None, 3]
    assert as_labels([None, None], nullable=True).tolist() == [None, None]
    with pytest.raises(ContractError, match="real numbers"):
        as_labels(np.array([0.5, np.nan]), nullable=True)


@pytest.mark.parametrize(
    "value",
    [
        ["001", "b "], np.array(["001", "b "]), pd.Index(["001", "b "]), pd.Series(["001", "b "], dtype="category"),
        pd.array(["001", "b "], dtype="string"), ("001", "b "), np.array(["001", "b "], object),
    ],
    ids=lambda v: type(v).__name__,
)  # fmt: skip
def test_ids_stay_as_they_are(value):
    assert as_ids(value) == ["001", "b "]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ([1, 2], "positions="), (np.arange(3), "positions="), (["a", None], "missing"), (["a", 1], "int"),
        ([1.5], "real numbers"), (np.array([b"a"]), "bytes"), ("abc", "give a list"), ([["a"], ["b"]], "shape"),
        (torch.tensor([1]), "positions="), (pd.Series(["a", pd.NA], dtype="string"), "missing"),
    ],
    ids=repr,
)  # fmt: skip
def test_what_is_no_id(value, words):
    with pytest.raises(ContractError, match="ids: expected") as error:
        as_ids(value)
    assert words in str(error.value)


def test_lazy_things_are_told_from_others():
    import zarr

    stored = zarr.array(np.arange(6).reshape(3, 2))
    assert is_lazy(stored)
    assert plain(stored).tolist() == [[0, 1], [2, 3], [4, 5]]
    assert not any(is_lazy(v) for v in ([1], np.zeros(2), torch.zeros(2), pd.Series([1]), "a", 1.0, np.float64(1)))


@example([-(10**18), -(2**63), 2**63 - 1])
@example(["--1"])
@given(st.lists(st.integers(-(2**70), 2**70) | st.text("0123456789-+ ._", max_size=4)))
def test_whole_numbers_only_in_their_usual_form(values):
    text = np.array([str(v) for v in values] + [None], object)[:-1]
    found = whole_numbers(text)
    usual = all(v.lstrip("-").isdigit() and str(int(v)) == v and -(2**63) <= int(v) < 2**63 for v in text if _is_int(v))
    if found is None:
        assert not (usual and all(_is_int(v) for v in text))
    else:
        assert [str(v) for v in found.tolist()] == text.tolist()


def _is_int(text):
    try:
        int(text)
    except ValueError:
        return False
    return True


@given(st.lists(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=4), max_size=6), st.data())
def test_ragged_rows_come_back(rows, data):
    ragged = Ragged.of([np.array(r).reshape(-1, 2) for r in rows])
    take = data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=5)) if rows else []
    picked = ragged.take(np.array(take, np.intp))
    parts = np.split(picked.values, picked.starts[1:-1]) if len(picked) else []
    assert [[tuple(e) for e in p.tolist()] for p in parts] == [rows[i] for i in take]


def test_ragged_refuses_entries_of_two_lengths():
    with pytest.raises(ValueError, match="different lengths"):
        Ragged.of([[[1, 2]], [[1, 2, 3]]])
