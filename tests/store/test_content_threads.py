"""The content hash on several threads, each of which reads and hashes ranges of rows: one digest, whatever the cut."""

from __future__ import annotations

import threading
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from primabench_core.contract.evaldata import EvalData
from primabench_core.errors import CorruptDataError
from primabench_core.store import columns, content, hashing
from primabench_core.store.content import content_root
from primabench_core.store.hashing import array_root, artifact_root, span_of
from primabench_core.store.zarr_io import open_lazy, write

LEAF, SPAN = 64, 200
DTYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
)  # fmt: skip
QUIET = {2: b"\x00\x7e", 4: b"\x00\x00\xc0\x7f", 8: b"\x00\x00\x00\x00\x00\x00\xf8\x7f"}
LAYOUTS = [
    {"compress": False, "checksum": False}, {"compress": False, "checksum": True}, {"compress": True, "checksum": True},
]  # fmt: skip


def _naive():
    spec = spec_from_file_location("naive_hash_for_threads", Path(__file__).parent / "naive_hash.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


naive = _naive()


@pytest.fixture
def small():
    """Leaves and ranges so small that a few rows have many borders."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (hashing, columns):
            patch.setattr(module, "LEAF_BYTES", LEAF)
        patch.setattr(content, "_SPAN_BYTES", SPAN)
        yield


def values_of(dtype: str, shape: tuple[int, ...], seed: int) -> np.ndarray:
    """Any values; floats with NaN of several payloads, both zeros and infinities among them."""
    rng = np.random.default_rng(seed)
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if not dtype.startswith("float"):
        limits = np.iinfo(dtype)
        return rng.integers(limits.min, limits.max, shape, dtype=dtype, endpoint=True)
    found = rng.normal(size=shape).astype(dtype)
    for special in (np.nan, -np.nan, -0.0, 0.0, np.inf, -np.inf):
        found[rng.random(shape) < 0.05] = special
    return found


def canonical(values: np.ndarray) -> bytes:
    """By the definition, with nothing of the code under test: one quiet NaN, no negative zero, little-endian."""
    flat = values.ravel()
    if flat.dtype.kind == "f":
        quiet = np.frombuffer(QUIET[flat.dtype.itemsize], flat.dtype.newbyteorder("<"))
        flat = np.where(np.isnan(flat), quiet, np.where(flat == 0, flat.dtype.type(0), flat))
    return flat.astype(flat.dtype.newbyteorder("<")).tobytes()


def expected(values: np.ndarray, leaf: int = LEAF) -> bytes:
    dims = ("row", *(["x_column"] if values.ndim > 1 else []), *(f"x_axis{i}" for i in range(2, values.ndim)))
    tree = naive.tree(canonical(values), leaf)
    return artifact_root({"x": array_root("x", dims, values.dtype.name, values.shape, tree)})


BLOCKS = st.none() | st.sampled_from([1, 2, 7, 30, 100])
SHAPES = st.tuples(st.integers(0, 90), st.sampled_from([(), (1,), (3,), (5,), (8,), (13,), (40,), (3, 5)]))


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("threads", [1, 2, 3, 5])
def test_one_digest_for_all_cuts(threads):
    @settings(deadline=None, max_examples=50)
    @given(st.sampled_from(DTYPES), SHAPES, BLOCKS, st.integers(0, 2**32), st.booleans())
    def look(dtype, shape, block_rows, seed, turned):
        n, inner = shape
        values = values_of(dtype, (n, *inner), seed)
        laid = np.asfortranarray(values) if turned else values
        found = content_root(EvalData({"x": laid}), threads=threads, block_rows=block_rows)
        assert found == expected(values)

    look()


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("layout", LAYOUTS, ids=["raw", "checksum", "zstd"])
@pytest.mark.parametrize(("dtype", "width"), [("float32", 3), ("float64", 40), ("float16", 7), ("bool", 9), ("i4", 1)])
def test_one_digest_from_a_store(tmp_path, layout, dtype, width):
    values = values_of(np.dtype(dtype).name, (211, width), 5)
    write(EvalData({"x": values}), tmp_path / "x", chunk_bytes=100, shard_bytes=700, **layout)
    data = open_lazy(tmp_path / "x")
    for threads in (1, 2, 3, 5):
        for block_rows in (None, 1, 7, 50, 1000):
            assert content_root(data, threads=threads, block_rows=block_rows) == expected(values), (threads, block_rows)


@pytest.mark.parametrize(("dtype", "width"), [("float32", 1000), ("float64", 3), ("uint8", 1_500_001)])
def test_leaves_of_their_true_size(dtype, width, monkeypatch):
    monkeypatch.setattr(content, "_SPAN_BYTES", 1 << 20)
    n = 5_000_000 // (width * np.dtype(dtype).itemsize) + 1
    values = np.random.default_rng(0).integers(0, 250, (n, width)).astype(dtype)
    tree = naive.tree(values.tobytes())
    root = artifact_root({"x": array_root("x", ("row", "x_column"), dtype, values.shape, tree)})
    data = EvalData({"x": values})
    assert {content_root(data, threads=threads, block_rows=rows) for threads in (1, 2, 3) for rows in (None, 997)} == {
        root
    }


@pytest.mark.usefixtures("small")
@settings(deadline=None, max_examples=80)
@given(st.integers(0, 300), st.lists(st.integers(0, 60), max_size=6), st.lists(st.integers(1, 9), max_size=8))
def test_spans_of_any_length_join_to_the_whole(before, cuts, sizes):
    """A range may hold no border of leaves at all, or begin and end at one; blocks may be empty."""
    values = np.arange(before + sum(cuts), dtype=np.int32)
    tree = hashing.Tree()
    tree.push(values[:before])
    at = before
    for cut in cuts:
        blocks, start = [], at
        for size in sizes:
            blocks.append(values[start : min(start + size, at + cut)])
            start = min(start + size, at + cut)
        blocks.append(values[start : at + cut])
        tree.join(span_of(blocks, 4 * at))
        at += cut
    assert tree.root() == naive.tree(values.tobytes(), LEAF)


@pytest.mark.usefixtures("small")
def test_shares_come_from_the_callers_thread_and_add_up():
    asked = []
    values = EvalData({"x": values_of("float32", (500, 5), 1), "y": values_of("int64", (500,), 2)})
    content_root(values, threads=3, advance=lambda share: asked.append((threading.get_ident(), share)))
    assert {thread for thread, _ in asked} == {threading.get_ident()}
    assert sum(share for _, share in asked) == pytest.approx(1.0)
    assert all(share > 0 for _, share in asked)


@pytest.mark.usefixtures("small")
def test_threads_hold_a_bounded_part(tmp_path, monkeypatch):
    """However long the field: so many ranges are under way or wait, and a range leaves less than two leaves behind."""
    values = values_of("int32", (5000, 3), 3)
    write(EvalData({"x": values}), tmp_path / "x", chunk_bytes=100, shard_bytes=700, compress=False, checksum=False)
    alive, most = [0], [0]
    real_span, real_join = content.span_of, hashing.Tree.join
    lock = threading.Lock()

    def span_of(blocks, offset):
        with lock:
            alive[0] += 1
            most[0] = max(most[0], alive[0])
        found = real_span(blocks, offset)
        assert sum(p.nbytes for p in found.head) < LEAF
        assert sum(p.nbytes for p in found.tail) < LEAF
        return found

    def join(self, span):
        real_join(self, span)
        with lock:
            alive[0] -= 1

    monkeypatch.setattr(content, "span_of", span_of)
    monkeypatch.setattr(hashing.Tree, "join", join)
    assert content_root(open_lazy(tmp_path / "x"), threads=2) == expected(values)
    assert alive[0] == 0
    assert 1 < most[0] <= 6


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_a_damaged_range_is_named_and_ends_the_work(tmp_path, threads):
    values = values_of("int32", (2000, 3), 3)
    write(EvalData({"x": values}), tmp_path / "x", chunk_bytes=100, shard_bytes=700)
    shards = sorted((tmp_path / "x" / "x" / "c").rglob("0"))
    assert len(shards) > 10
    shards[len(shards) // 2].write_bytes(b"no shard")
    with pytest.raises(CorruptDataError, match="field 'x'"):
        content_root(open_lazy(tmp_path / "x"), threads=threads)
