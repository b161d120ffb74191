"""Stored data come back as they were, lazily, from chunks of any size, and damage is found when it is read."""

from __future__ import annotations

import pickle
import shutil

import numpy as np
import pytest
import zarr
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from zarr.storage import LocalStore

from primabench_core.contract.evaldata import EvalData
from primabench_core.contract.ragged import Ragged
from primabench_core.errors import CorruptDataError, MissingDataError, StoreError, UsageError
from primabench_core.store.content import content_root
from primabench_core.store.zarr_io import open_lazy, stored_attributes, write


def everything(n: int = 11) -> EvalData:
    """One field of each kind."""
    rng = np.random.default_rng(1)
    counts = rng.integers(0, 3, n)
    x = sparse.random(n, 5, density=0.4, format="csr", random_state=2, dtype=np.float32)
    return EvalData(
        {
            "f2": rng.normal(size=n).astype(np.float16),
            "f4": rng.normal(size=(n, 3)).astype(np.float32),
            "f8": np.where(rng.random(n) < 0.3, np.nan, rng.normal(size=n)),
            "whole": rng.integers(-5, 5, n).astype(np.int16),
            "flag": rng.random(n) < 0.5,
            "cube": rng.normal(size=(n, 2, 2)),
            "word": np.array([["aa", "b", None][i % 3] for i in range(n)], object),
            "sequence": np.array([f"ACGT{i}µ" for i in range(n)], object),
            "sparse": x,
            "points": Ragged(rng.normal(size=(int(counts.sum()), 2)), counts),
        },
        ids=[f"r{i}" for i in range(n)],
        coords={"genes": tuple("abcde"), "classes": (0, 7)},
    )


@pytest.mark.parametrize("n", [0, 1, 11])
@pytest.mark.parametrize(("chunk", "shard"), [(1, 1), (16, 64), (1 << 20, 1 << 22)])
def test_what_was_written_comes_back(tmp_path, n, chunk, shard):
    data = everything(n)
    write(data, tmp_path / "a.zarr", attributes={"units": "x"}, chunk_bytes=chunk, shard_bytes=shard)
    opened = open_lazy(tmp_path / "a.zarr")
    assert opened == data
    assert opened.n == n
    assert {name: value.dtype for name, value in opened.fields.items() if name != "word"} == {
        name: getattr(value, "dtype", np.dtype(float)) for name, value in data.fields.items() if name != "word"
    }
    attributes, columns = stored_attributes(tmp_path / "a.zarr")
    assert (attributes, columns) == ({"units": "x"}, {})
    assert content_root(opened) == content_root(data)


MASKS = st.lists(st.booleans(), min_size=11, max_size=11).map(np.array)
POSITIONS = st.lists(st.integers(-11, 10), max_size=14).map(lambda rows: np.array(rows, np.intp))
KINDS = ("f8", "cube", "word", "sequence", "sparse", "points")
"""A field of each reader: narrow, wide, categories, text, sparse, ragged."""


@settings(deadline=None, max_examples=40)
@given(st.one_of(st.slices(11), POSITIONS, MASKS))
def test_rows_are_taken_as_numpy_takes_them(tmp_path_factory, rows):
    path = tmp_path_factory.getbasetemp() / "rows.zarr"
    data = everything()
    if not path.exists():
        write(data, path, chunk_bytes=16, shard_bytes=48)
    opened = open_lazy(path)
    for name in KINDS:
        assert_taken(opened.fields[name], data[name], rows)


@pytest.mark.parametrize("rows", [slice(1, 9), slice(9, None, -3), np.array([4, 0, -1, 4]), np.arange(11) % 3 == 1])
def test_fields_of_every_dtype_are_taken_alike(tmp_path, rows):
    data = everything()
    write(data, tmp_path / "a.zarr", chunk_bytes=8, shard_bytes=16)
    for name, stored in open_lazy(tmp_path / "a.zarr").fields.items():
        assert_taken(stored, data[name], rows)


def assert_taken(stored, memory, rows) -> None:
    """Rows out of the store are those out of memory."""
    found, at = stored[rows], np.arange(11)[rows]
    if isinstance(found, Ragged):
        expected = memory.take(at)
        assert np.array_equal(found.counts, expected.counts)
        assert np.array_equal(found.values, expected.values)
    elif sparse.issparse(found):
        assert np.array_equal(found.toarray(), memory.toarray()[at])
    else:
        np.testing.assert_array_equal(found, memory[at])


def test_positions_outside_are_an_index_error(tmp_path):
    write(everything(), tmp_path / "a.zarr")
    opened = open_lazy(tmp_path / "a.zarr")
    for name in opened.fields:
        with pytest.raises(IndexError):
            opened.fields[name][np.array([11])]


def test_opening_reads_metadata_only_and_a_row_reads_one_shard(tmp_path, monkeypatch):
    data = EvalData(
        {"x": np.zeros((1000, 8), np.float32)}, ids=[f"r{i}" for i in range(1000)], coords={"genes": tuple("abcdefgh")}
    )
    write(data, tmp_path / "a.zarr", chunk_bytes=320, shard_bytes=3200)
    keys = []
    real = LocalStore.get

    async def get(self, key, prototype=None, byte_range=None):
        keys.append(key)
        return await real(self, key, prototype, byte_range)

    monkeypatch.setattr(LocalStore, "get", get)
    opened = open_lazy(tmp_path / "a.zarr")
    assert (opened.n, opened.fields["x"].shape) == (1000, (1000, 8))
    assert keys
    assert all(key.endswith("zarr.json") for key in keys)
    keys.clear()
    assert opened.fields["x"][500].tolist() == [0.0] * 8
    assert {key for key in keys if "/c/" in key} == {"x/c/5/0"}


def test_ids_and_coordinates_are_read_when_asked_for(tmp_path, monkeypatch):
    write(everything(), tmp_path / "a.zarr")
    opened = open_lazy(tmp_path / "a.zarr")
    shutil.rmtree(tmp_path / "a.zarr" / "ids" / "c")
    assert opened.coords["classes"] == (0, 7)
    with pytest.raises(CorruptDataError, match="chunk"):
        opened.ids  # noqa: B018


def test_the_same_data_give_the_same_bytes(tmp_path):
    for name in "ab":
        write(everything(), tmp_path / name, chunk_bytes=16, shard_bytes=64)
    files = sorted(p.relative_to(tmp_path / "a") for p in (tmp_path / "a").rglob("*") if p.is_file())
    assert files
    for file in files:
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()


def test_sparse_is_stored_canonically_and_anndata_reads_it(tmp_path):
    import anndata

    doubled = sparse.csr_matrix((np.array([1.0, 2.0, 0.0]), np.array([3, 3, 0]), np.array([0, 2, 3])), shape=(2, 4))
    write(EvalData({"x": doubled}), tmp_path / "a.zarr")
    found = anndata.io.read_elem(zarr.open_group(tmp_path / "a.zarr", mode="r")["x"])
    assert found.toarray().tolist() == [[0, 0, 0, 3.0], [0, 0, 0, 0]]
    assert found.nnz == 1


def test_xarray_reads_dense_artifacts(tmp_path):
    import xarray

    data = EvalData({"x": np.arange(6.0).reshape(3, 2)}, ids=["a", "b", "c"], coords={"genes": ("g", "h")})
    write(data, tmp_path / "a.zarr")
    with xarray.open_zarr(tmp_path / "a.zarr", chunks=None) as found:
        assert dict(found.sizes) == {"row": 3, "genes": 2}
        assert found["x"].values.tolist() == data["x"].tolist()
        assert found["genes"].values.tolist() == ["g", "h"]


def test_columns_of_a_field_take_the_named_coordinate(tmp_path):
    data = EvalData(
        {"x": np.zeros((2, 3)), "y": np.zeros((2, 3))}, coords={"genes": tuple("abc"), "other": tuple("xyz")}
    )
    assert content_root(data, columns={"x": "genes"}) != content_root(data)
    with pytest.raises(UsageError, match="do not have"):
        write(data, tmp_path / "a.zarr", columns={"x": "nothing"})


@pytest.mark.parametrize(
    "fields",
    [
        {"x": np.zeros(2, complex)},
        {"x": np.array(["2020-01-01", "2020-01-02"], "datetime64[D]")},
        {"x": np.array([["a", "b"], ["c", "d"]], object)},
        {"x": np.array([1, "a"], object)},
        {"x": np.zeros(3), "y": np.zeros(2)},
    ],
)
def test_what_cannot_be_stored_is_refused(tmp_path, fields):
    with pytest.raises(ValueError, match=r"x|y"):
        write(EvalData(fields, ids=None), tmp_path / "a.zarr")


def test_a_field_called_like_a_coordinate_is_refused(tmp_path):
    with pytest.raises(UsageError, match="both a coordinate and a field"):
        write(EvalData({"genes": np.zeros(2)}, coords={"genes": ("a", "b")}), tmp_path / "a.zarr")


def first_chunk(path):
    return sorted(p for p in (path / "f4" / "c").rglob("*") if p.is_file())[0]


def delete(path):
    first_chunk(path).unlink()


def flip(path):
    file = first_chunk(path)
    data = bytearray(file.read_bytes())
    data[3] ^= 1
    file.write_bytes(data)


def truncate(path):
    file = first_chunk(path)
    file.write_bytes(file.read_bytes()[:-7])


def empty(path):
    first_chunk(path).write_bytes(b"")


@pytest.mark.parametrize("damage", [delete, flip, truncate, empty])
@pytest.mark.parametrize("private", [False, True])
def test_damage_is_found_when_read_and_named(tmp_path, damage, private):
    path = tmp_path / "a.zarr"
    write(everything(), path)
    damage(path)
    opened = open_lazy(path, private=private)
    with pytest.raises(CorruptDataError) as caught:
        opened["f4"]
    shown = str(caught.value)
    assert (str(path) in shown) is not private
    assert "primabench verify" in shown
    if private:
        assert caught.value.__cause__ is None
        assert caught.value.__suppress_context__ or caught.value.__context__ is None


@pytest.mark.parametrize("text", ["", "{", "{}", '{"zarr_format": 3, "node_type": "group", "attributes": {}}', "[]"])
def test_damaged_metadata_are_named(tmp_path, text):
    path = tmp_path / "a.zarr"
    write(everything(), path)
    (path / "zarr.json").write_text(text)
    with pytest.raises(StoreError) as caught:
        open_lazy(path)
    assert str(path) in str(caught.value)


def test_nothing_there_is_missing(tmp_path):
    with pytest.raises(MissingDataError, match=r"a\.zarr"):
        open_lazy(tmp_path / "a.zarr")
    with pytest.raises(MissingDataError) as caught:
        open_lazy(tmp_path / "a.zarr", private=True)
    assert "a.zarr" not in str(caught.value)


def test_open_fields_are_not_pickled_and_say_what_to_do(tmp_path):
    write(everything(), tmp_path / "a.zarr")
    opened = open_lazy(tmp_path / "a.zarr")
    with pytest.raises(TypeError, match="load"):
        pickle.dumps(opened.fields["f4"])
    assert pickle.loads(pickle.dumps(opened.load())) == opened


def test_whole_rows_are_read_straight_however_they_are_asked_for(tmp_path, monkeypatch):
    values = np.random.default_rng(0).normal(size=(50, 4))
    write(EvalData({"x": values}), tmp_path / "x")
    field = open_lazy(tmp_path / "x").fields["x"]
    with pytest.raises(IndexError):
        field[:, :, :]
    assert field[3:40, 1:3].tolist() == values[3:40, 1:3].tolist()
    monkeypatch.setattr(field, "_array", None)  # zarr is not asked
    for key in (np.s_[:], np.s_[...], np.s_[:, :]):
        assert field[key].tolist() == values.tolist()
    assert field[3:40, :].tolist() == values[3:40].tolist()
