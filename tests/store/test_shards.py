"""Rows read straight from shards are those that zarr reads; damage of any kind is an error, never a number."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import pytest
import zarr
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from primabench_core.contract.evaldata import EvalData
from primabench_core.errors import CorruptDataError
from primabench_core.state.threads import one_thread
from primabench_core.store import lazy, shards
from primabench_core.store.content import content_root
from primabench_core.store.zarr_io import open_lazy, write

CODECS = [{"compress": c, "checksum": s} for c in (False, True) for s in (False, True)]


@pytest.fixture(scope="module", params=CODECS, ids=lambda c: "-".join(name for name, on in c.items() if on) or "none")
def stored(request, tmp_path_factory):
    """103 rows of 3 numbers; 4 rows a chunk, 12 a shard."""
    folder = tmp_path_factory.mktemp("shards") / "x"
    values = np.random.default_rng(0).normal(size=(103, 3)).astype(np.float32)
    values[5, 1], values[7, 0] = np.nan, -0.0
    write(EvalData({"x": values}), folder, chunk_bytes=48, shard_bytes=144, **request.param)
    return folder, values, request.param


@given(start=st.integers(0, 103), length=st.integers(0, 103), reuse=st.booleans())
@settings(max_examples=60, deadline=None)
def test_any_slice_is_the_same(stored, start, length, reuse):
    folder, values, _ = stored
    field, stop = open_lazy(folder).fields["x"], min(103, start + length)
    assert shards._layout(field._array, folder) is not None
    out = np.full((stop - start, 3), 9, np.float32) if reuse else None
    found = field.read(start, stop, out)
    assert found.tobytes() == values[start:stop].tobytes()
    assert found is out or not reuse
    assert field[start:stop].tobytes() == values[start:stop].tobytes()


def test_a_walk_in_small_steps_and_a_stream_give_all_rows(stored):
    folder, values, _ = stored
    field = open_lazy(folder).fields["x"]
    assert b"".join(field[i : i + 3].tobytes() for i in range(0, 103, 3)) == values.tobytes()
    assert b"".join(block.tobytes() for block in field.stream(5)) == values.tobytes()


def test_the_content_hash_knows_no_codec_nor_threads(stored):
    folder, values, _ = stored
    data = open_lazy(folder)
    assert content_root(data) == content_root(data, threads=3) == content_root(EvalData({"x": values}))


@pytest.mark.parametrize("where", ["first byte", "index", "end cut", "all cut", "empty"])
def test_damage_is_an_error(stored, tmp_path, where):
    folder, values, codecs = stored
    shutil.copytree(folder, tmp_path / "x")
    file = tmp_path / "x" / "x" / "c" / "2" / "0"
    data = bytearray(file.read_bytes())
    if where == "first byte":
        data[0] ^= 1
    elif where == "index":
        data[-30] ^= 1
    else:
        data = data[: {"end cut": -1, "all cut": 10, "empty": 0}[where]]
    file.write_bytes(data)
    field = open_lazy(tmp_path / "x").fields["x"]
    if where == "first byte" and codecs == {"compress": False, "checksum": False}:
        assert (field[24:28] != values[24:28]).any()  # which only verification finds
        return
    with pytest.raises(CorruptDataError):
        field[24:28]
    assert field[0:24].tobytes() == values[:24].tobytes()


def test_a_shard_that_is_gone_and_a_chunk_that_was_never_written_are_errors(stored, tmp_path):
    folder, _, _ = stored
    shutil.copytree(folder, tmp_path / "x")
    (tmp_path / "x" / "x" / "c" / "2" / "0").unlink()
    with pytest.raises(CorruptDataError, match="missing"):
        open_lazy(tmp_path / "x").fields["x"][24:28]
    array = zarr.create_array(tmp_path / "y", shape=(8,), chunks=(2,), shards=(8,), dtype="f4", fill_value=0)
    array[0:2] = 1  # the other chunks hold nothing but fill values, and are not stored
    rows = shards.Rows(zarr.open_array(tmp_path / "y", mode="r"), tmp_path / "y")
    assert rows.read(0, 2).tolist() == [1, 1]
    with pytest.raises(ValueError, match="missing"):
        rows.read(0, 4)


@pytest.mark.parametrize(
    "options",
    [
        {"chunks": (2, 3)},
        {"chunks": (2, 1), "shards": (4, 3)},
        {"chunks": (2, 3), "shards": (4, 3), "compressors": zarr.codecs.GzipCodec()},
        {"chunks": (2, 3), "shards": (4, 3), "filters": zarr.codecs.TransposeCodec(order=(1, 0))},
    ],
)
def test_other_layouts_are_left_to_zarr(tmp_path, options):
    array = zarr.create_array(tmp_path / "a", shape=(9, 3), dtype="f4", **options)
    array[...] = np.arange(27, dtype=np.float32).reshape(9, 3)
    opened = zarr.open_array(tmp_path / "a", mode="r")
    assert shards._layout(opened, tmp_path / "a") is None
    assert shards.Rows(opened, tmp_path / "a").read(3, 8).tolist() == array[3:8].tolist()


def test_sparse_and_categorical_fields_read_the_same_way(tmp_path, monkeypatch):
    matrix = sparse.random(200, 30, density=0.2, format="csr", random_state=0, dtype=np.float32)
    words = np.array([None if i % 7 == 0 else f"w{i % 5}" for i in range(200)], object)
    write(EvalData({"m": matrix, "w": words}), tmp_path / "x", chunk_bytes=64, shard_bytes=256)
    direct = open_lazy(tmp_path / "x").load()
    monkeypatch.setattr(shards, "_layout", lambda *arguments: None)
    assert open_lazy(tmp_path / "x").load() == direct
    assert (direct["m"] != matrix).nnz == 0
    assert direct["w"].tolist() == words.tolist()


def test_a_block_is_whole_chunks_of_one_shard(tmp_path):
    write(
        EvalData({"x": np.zeros((4096, 4096), np.float32)}), tmp_path / "x", chunk_bytes=1 << 20, shard_bytes=12 << 20
    )
    field = open_lazy(tmp_path / "x").fields["x"]
    assert field.block_rows % field._array.chunks[0] == 0
    assert field._array.shards[0] % field.block_rows == 0
    assert field.block_rows * 4 * 4096 <= lazy._BLOCK_BYTES


def test_opening_reads_no_chunk(tmp_path, monkeypatch):
    write(EvalData({"x": np.zeros((100, 4), np.float32)}, ids=[f"r{i}" for i in range(100)]), tmp_path / "x")
    opened = []
    real = Path.open
    from zarr.storage import LocalStore

    get = LocalStore.get

    async def spy(self, key, *rest, **more):
        opened.append(key)
        return await get(self, key, *rest, **more)

    monkeypatch.setattr(LocalStore, "get", spy)
    monkeypatch.setattr(Path, "open", lambda self, *a, **k: opened.append(str(self)) or real(self, *a, **k))
    data = open_lazy(tmp_path / "x")
    assert data.n == 100
    assert opened
    assert not [key for key in opened if "/c/" in key or "/c" in key.split("/x/")[-1:]]


def test_rows_of_many_shards_keep_few_files_open(tmp_path, monkeypatch):
    values = np.arange(400, dtype=np.float64).reshape(100, 4)
    write(EvalData({"x": values}), tmp_path / "a", chunk_bytes=64, shard_bytes=128)
    seen, most = set(), []
    real_open, real_close = shards.os.open, shards.os.close

    def opened(*arguments, **options):
        handle = real_open(*arguments, **options)
        seen.add(handle)
        most.append(len(seen))
        return handle

    def closed(handle):
        seen.discard(handle)
        real_close(handle)

    field = open_lazy(tmp_path / "a").fields["x"]
    monkeypatch.setattr(shards.os, "open", opened)
    monkeypatch.setattr(shards.os, "close", closed)
    assert np.array_equal(field[:], values)
    assert len(most) == 25
    assert max(most) <= shards._OPEN
    assert not seen


@pytest.mark.parametrize("compress", [False, True])
def test_what_was_verified_when_it_came_is_not_summed_again(tmp_path, monkeypatch, compress):
    """The same values, any rows of a chunk without the rest of it, and no checksum on the way."""
    values = np.random.default_rng(0).normal(size=(64, 8))
    write(EvalData({"x": values}), tmp_path / "a", chunk_bytes=512, shard_bytes=1024, compress=compress)
    summed = []
    real = shards.google_crc32c
    monkeypatch.setattr(
        shards,
        "google_crc32c",
        type("Spy", (), {
            "value": staticmethod(lambda data: summed.append(len(data)) or real.value(data)),
            "extend": staticmethod(lambda total, data: summed.append(len(data)) or real.extend(total, data)),
        }),
    )  # fmt: skip
    field = open_lazy(tmp_path / "a", trusted=True).fields["x"]
    for rows in (slice(0, 64), slice(3, 11), slice(9, 10), slice(31, 33)):
        assert np.array_equal(field[rows], values[rows])
    assert max(summed) < 64  # the indices of shards alone
    summed.clear()
    checked = open_lazy(tmp_path / "a").fields["x"]
    assert np.array_equal(checked[3:11], values[3:11])
    assert max(summed) > 64


@pytest.mark.parametrize("compress", [False, True])
def test_a_shard_that_ends_too_early_is_an_error_even_where_it_was_verified_once(tmp_path, compress):
    values = np.zeros((64, 8))
    write(EvalData({"x": values}), tmp_path / "a", chunk_bytes=512, shard_bytes=1024, compress=compress)
    file = tmp_path / "a" / "x" / "c" / "0" / "0"
    file.write_bytes(file.read_bytes()[:40])
    with pytest.raises(CorruptDataError):
        open_lazy(tmp_path / "a", trusted=True).fields["x"][0:8]


@pytest.mark.parametrize(
    ("rows", "chunk", "shard"), [(1000, 8, 64), (1000, 1 << 12, 1 << 13), (7, 8, 8), (5000, 64, 640)]
)
def test_blocks_are_whole_chunks_of_one_shard(tmp_path, rows, chunk, shard):
    write(EvalData({"x": np.zeros(rows)}), tmp_path / "a", chunk_bytes=chunk, shard_bytes=shard)
    field = open_lazy(tmp_path / "a").fields["x"]
    array = zarr.open_group(tmp_path / "a", mode="r")["x"]
    assert field.block_rows % array.chunks[0] == 0
    assert array.shards[0] % field.block_rows == 0


def test_one_of_many_callers_decodes_by_itself(tmp_path, monkeypatch):
    values = np.random.default_rng(0).normal(size=(4_000, 128)).astype(np.float32)
    write(EvalData({"x": values}), tmp_path / "x", chunk_bytes=1 << 18, shard_bytes=1 << 20, compress=True)
    started = []
    pool = shards._pool
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1}, raising=False)
    monkeypatch.setattr(shards, "_pool", lambda process: started.append(process) or pool(process))
    with one_thread():
        assert open_lazy(tmp_path / "x").fields["x"][:].tobytes() == values.tobytes()
    assert not started
    assert open_lazy(tmp_path / "x").fields["x"][:].tobytes() == values.tobytes()
    assert started


@pytest.mark.parametrize("compress", [False, True])
def test_a_stream_opens_each_shard_once_and_closes_it_even_if_it_is_left(tmp_path, monkeypatch, compress):
    values = np.arange(6000, dtype=np.float32).reshape(2000, 3)
    write(EvalData({"x": values}), tmp_path / "x", chunk_bytes=120, shard_bytes=1200, compress=compress)
    opened, closed = [], []
    real_open, real_close = os.open, os.close

    def watched(path, *arguments):
        handle = real_open(path, *arguments)
        if "/c/" in str(path):
            opened.append((handle, str(path)))
        return handle

    def watched_close(handle):
        closed.append(handle)
        real_close(handle)

    monkeypatch.setattr(shards.os, "open", watched)
    monkeypatch.setattr(shards.os, "close", watched_close)
    field = open_lazy(tmp_path / "x").fields["x"]
    assert b"".join(block.tobytes() for block in field.stream(37, 5, 1990)) == values[5:1990].tobytes()
    assert len({path for _, path in opened}) == len(opened) == 20
    assert sorted(closed) == sorted(handle for handle, _ in opened)
    left = field.stream(10)
    next(left)
    left.close()
    assert len(closed) == len(opened) == 21
    assert list(field.stream(10, 7, 7)) == []
