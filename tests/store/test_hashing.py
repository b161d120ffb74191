"""Content hash v1: pinned vectors, an independent naive implementation, and the laws that make it worth having."""

from __future__ import annotations

import importlib.util
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from primabench_core.errors import UsageError
from primabench_core.store import hashing

_spec = importlib.util.spec_from_file_location("naive_hash", Path(__file__).parent / "naive_hash.py")
naive = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(naive)

VECTORS = {
    "empty": "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "three floats": "8f51fbc153122cfb490dfe3038edc1d1dc48703d07e704a57625b8a71869e3fe",
    "float32": "14b8910d732292cc2ecfe8d9a7f986d2f6379e2c4b3988577d78229d2167354c",
    "float16": "a9cecb15892d1c5ae2538425ddfe6ebd1adeefb31026ce020df21fd72c39120b",
    "three leaves": "239ac0e39eb375cb710441bf6b02fc19381ee153794cfb26d42281ba770afa0e",
    "bool": "faee935763044f124d7526755a5058a33f9402a595994d59eddd4be8546ff201",
    "int16": "e42cca7054c7977d40bb3086181e90eaaf067bc7f6f81abebb5fad3dc5ff43e6",
    "text": "4a3f1f198d70934772214ffc773a383ff9ceb34991c4a03c77a7ad8066d93071",
    "csr": "5c5d04ab6b4f3ac2509bbb1f338a2d812985a4d858f907438195507267ad0c31",
    "ragged": "752ab239ed4d1bbc2c8377d12a406a3532ce2cd0c723a2fdd81fe4386f0ecb19",
    "array": "b329aed1cd1a878f7e762b2449321892dfc53c0acd6cd4c622bea1775e47f2d1",
    "artifact": "806079a488686b5bfc8c4d445117bb7daf6eb69c1378040fe903a8f55fcf9bbe",
    "dataset": "39703a440324ce7f76a6af28d0c9d8091b19c3da9212f355da2a33332932c70c",
    "salted": "5576ce645abbf23973c63a02b3cdb0efc8ed3c9bd7dac3845f6b9ad6820b4bde",
}


def vector(name: str) -> str:
    """The value that stands for ``name`` in VECTORS, made by the real implementation."""
    rng = np.arange(300_000, dtype=np.float64)
    made = {
        "empty": lambda: hashing.numeric_root([np.zeros(0)]),
        "three floats": lambda: hashing.numeric_root([np.array([0.0, -0.0, np.nan])]),
        "float32": lambda: hashing.numeric_root([np.array([[1.5, -2.0], [np.inf, 0.1]], np.float32)]),
        "float16": lambda: hashing.numeric_root([np.array([1.5, -0.0, np.nan], np.float16)]),
        "three leaves": lambda: hashing.numeric_root([rng]),
        "bool": lambda: hashing.numeric_root([np.array([True, False])]),
        "int16": lambda: hashing.numeric_root([np.array([1, -1], np.int16)]),
        "text": lambda: hashing.text_root([["a", "", None, "µm", "𝄞"]]),
        "csr": lambda: hashing.csr_root([csr_parts([[0.0, 2.0], [0.0, 0.0], [-1.5, 0.5]])]),
        "ragged": lambda: hashing.ragged_root([(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([2, 0]))]),
        "array": lambda: hashing.array_root("x", ["row"], "float64", [3], bytes(32)),
        "artifact": lambda: hashing.artifact_root({"b": bytes(32), "a": bytes([1]) * 32}, {"units": "log1p", "n": 3}),
        "dataset": lambda: bytes.fromhex(
            hashing.dataset_hash([("v", "", "b", bytes(32)), ("v", "", "a", bytes(32))], bytes([7]) * 32)
        ),
        "salted": lambda: hashing.salted_root(bytes(range(32)), bytes(32)),
    }
    return made[name]().hex()


def csr_parts(dense):
    matrix = sparse.csr_matrix(np.asarray(dense))
    return matrix.data, matrix.indices, matrix.indptr


def reference(name: str) -> str:
    """The same by the naive implementation."""
    big = naive.floats(range(300_000), 8)
    made = {
        "empty": lambda: naive.tree(b""),
        "three floats": lambda: naive.tree(naive.floats([0.0, 0.0, float("nan")], 8)),
        "float32": lambda: naive.tree(naive.floats([1.5, -2.0, float("inf"), 0.1], 4)),
        "float16": lambda: naive.tree(bytes.fromhex("003e0000007e")),
        "three leaves": lambda: naive.tree(big),
        "bool": lambda: naive.tree(b"\x01\x00"),
        "int16": lambda: naive.tree(naive.integers([1, -1], "<h")),
        "text": lambda: naive.tree(naive.text(["a", "", None, "µm", "𝄞"])),
        "csr": lambda: naive.csr([[0.0, 2.0], [0.0, 0.0], [-1.5, 0.5]]),
        "ragged": lambda: naive.join([naive.tree(naive.integers([2, 0])), naive.tree(naive.floats([1, 2, 3, 4], 8))]),
        "array": lambda: naive.array("x", ["row"], "float64", [3], bytes(32)),
        "artifact": lambda: naive.artifact({"a": bytes([1]) * 32, "b": bytes(32)}, {"n": 3, "units": "log1p"}),
        "dataset": lambda: bytes.fromhex(
            naive.dataset(
                [("solution", "", "solution", bytes([7]) * 32), ("v", "", "a", bytes(32)), ("v", "", "b", bytes(32))]
            )
        ),
        "salted": lambda: sha256(bytes(range(32)) + bytes(32)).digest(),
    }
    return made[name]().hex()


NAMES = (
    "empty", "three floats", "float32", "float16", "three leaves", "bool", "int16", "text", "csr", "ragged", "array",
    "artifact", "dataset", "salted",
)  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_known_vector(name):
    assert vector(name) == VECTORS[name] == reference(name)


def test_every_vector_is_looked_at():
    assert set(NAMES) == set(VECTORS)


@settings(deadline=None)
@given(st.lists(st.floats(width=64, allow_nan=True), max_size=40), st.lists(st.integers(1, 7), max_size=8))
def test_floats_in_any_blocks_equal_the_naive_hash(values, sizes):
    array = np.array(values, np.float64)
    blocks, start = [], 0
    for size in sizes:
        blocks.append(array[start : start + size])
        start += size
    blocks.append(array[start:])
    assert hashing.numeric_root(blocks) == naive.tree(naive.floats(values, 8))


@settings(deadline=None)
@given(st.lists(st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=6), max_size=20))
def test_text_equals_the_naive_hash(values):
    assert hashing.text_root([values[:3], values[3:]]) == naive.tree(naive.text(values))


@settings(deadline=None)
@given(
    st.integers(0, 5).flatmap(
        lambda rows: st.lists(
            st.lists(st.sampled_from([0.0, -0.0, 1.0, -2.5, 3e300]), min_size=4, max_size=4),
            min_size=rows,
            max_size=rows,
        )
    ),
    st.integers(1, 3),
)
def test_sparse_in_any_blocks_equals_the_naive_hash(dense, step):
    matrix = sparse.csr_matrix(np.array(dense).reshape(-1, 4))
    parts = [matrix[i : i + step] for i in range(0, matrix.shape[0], step)]
    assert hashing.csr_root([(p.data, p.indices, p.indptr) for p in parts]) == naive.csr(dense)


def test_sparse_with_explicit_zeros_unsorted_and_doubled_entries_is_its_dense_form():
    data = np.array([5.0, 0.0, 1.0, 2.0, -0.0])
    indices = np.array([3, 1, 2, 2, 0])
    indptr = np.array([0, 2, 5])
    assert hashing.csr_root([(data, indices, indptr)]) == naive.csr([[0, 0, 0, 5.0], [0, 0, 3.0, 0]])


def test_entries_that_cancel_are_dropped():
    found = hashing.canonical_csr(np.array([1.0, -1.0]), np.array([0, 0]), np.array([0, 2]))
    assert [part.tolist() for part in found] == [[], [], [0]]


def test_a_stored_nan_in_a_sparse_matrix_stays():
    data, columns, counts = hashing.canonical_csr(np.array([np.nan, 0.0]), np.array([1, 0]), np.array([0, 2]))
    assert np.isnan(data).tolist() == [True]
    assert (columns.tolist(), counts.tolist()) == ([1], [1])


def test_all_nans_are_one_nan():
    payloads = np.array([0x7FF8000000000001, 0xFFF8000000000000, 0x7FF0000000000001], np.uint64).view(np.float64)
    assert hashing.numeric_root([payloads]) == naive.tree(naive.floats([float("nan")] * 3, 8))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32", "uint8", "bool"])
def test_byte_order_and_memory_order_do_not_matter(dtype):
    array = np.arange(12).reshape(3, 4).astype(dtype)
    swapped = array.astype(array.dtype.newbyteorder(">"))
    strided = np.repeat(array, 2, axis=1)[:, ::2]
    expected = hashing.numeric_root([array])
    for same in (swapped, strided, np.asfortranarray(array)):
        assert hashing.numeric_root([same]) == expected


def test_blocks_that_straddle_leaves_and_threads_give_one_root():
    array = np.random.default_rng(0).normal(size=(3, 200_001))
    expected = naive.tree(array.tobytes())
    rows = [array.reshape(-1)[i : i + 77_777] for i in range(0, array.size, 77_777)]
    with ThreadPoolExecutor(2) as pool:
        for blocks in ([array], rows):
            assert hashing.numeric_root(blocks) == expected
            assert hashing.numeric_root(blocks, pool) == expected


def test_name_dims_dtype_shape_and_attributes_all_enter():
    base = hashing.array_root("x", ["row"], "float64", [2], bytes(32))
    others = [
        hashing.array_root("y", ["row"], "float64", [2], bytes(32)),
        hashing.array_root("x", ["cell"], "float64", [2], bytes(32)),
        hashing.array_root("x", ["row"], "float32", [2], bytes(32)),
        hashing.array_root("x", ["row"], "float64", [1], bytes(32)),
        hashing.array_root("x", ["row"], "float64", [2], bytes([1]) * 32),
    ]
    assert base not in others
    assert len(set(others)) == len(others)
    assert hashing.artifact_root({"x": base}, {"a": 1}) != hashing.artifact_root({"x": base}, {"a": 2})


@pytest.mark.parametrize("dtype", ["complex128", "datetime64[s]", "timedelta64[s]", "V4"])
def test_dtypes_without_a_canonical_form_are_refused(dtype):
    with pytest.raises(UsageError, match="cannot be stored"):
        hashing.numeric_root([np.zeros(2, dtype)])


@pytest.mark.parametrize("value", [float("nan"), {1: "a"}, {"a": [{2: 3}]}, "\ud800", {1, 2}, np.float32(1)])
def test_canonical_json_refuses_what_has_no_one_spelling(value):
    with pytest.raises(UsageError):
        hashing.canonical_json(value)


def test_a_file_is_one_array_of_bytes_named_like_it(tmp_path):
    (tmp_path / "seq.fa").write_bytes(b">a\nACGT\n")
    expected = naive.array("seq.fa", ["byte"], "uint8", [8], naive.tree(b">a\nACGT\n"))
    assert hashing.file_root(tmp_path / "seq.fa") == expected
