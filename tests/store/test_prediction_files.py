"""Prediction files: what is read, and what is refused by name."""

from __future__ import annotations

import pickle
import sys

import anndata
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from primabench_core.contract.check import Context, ShardChecker
from primabench_core.contract.contract import Contract
from primabench_core.contract.evaldata import EvalData
from primabench_core.contract.fields import Field
from primabench_core.errors import (
    ContractError,
    CorruptDataError,
    MissingDataError,
    MissingPluginError,
    PrimaBenchError,
    StoreError,
    UsageError,
)
from primabench_core.store.prediction_files import read_predictions

LABEL = Field("label", "label", vocabulary="truth", optional=True)
CONTRACT = Contract(
    prediction=(
        LABEL,
        Field("score", "score", optional=True),
        Field("embedding", "embedding", optional=True),
        Field("cluster", "label", optional=True),
        Field("fold", "label", vocabulary=(0, 1), optional=True),
        Field("sequence", "text", optional=True),
        Field("points", "points", optional=True),
    ),
    solution=(),
)
CELLS = Contract(prediction=(Field("counts", "matrix"), Field("label", "label", optional=True)), solution=())


@pytest.fixture
def write(tmp_path):
    def _write(text, name="p.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return _write


def violations_of(data, **classes):
    checker = ShardChecker(CONTRACT.prediction, Context(classes=classes))
    return "\n".join(map(str, checker.check(data.fields, ids=data.ids)[1]))


# -- text tables ----------------------------------------------------------------------------------------------------


def test_ids_and_text_stay_as_they_stand(write):
    data = read_predictions(write('ids,sequence,score\n001," a, b ",1e-3\n 1 ,NA,-2\n'), CONTRACT)
    assert data.ids == ("001", " 1 ")
    assert data["sequence"].tolist() == [" a, b ", "NA"]
    assert data["score"].tolist() == [0.001, -2.0]


@pytest.mark.parametrize("header", ["ids", "id", "index", "", "__index_level_0__"])
def test_where_ids_are_looked_for(write, header):
    assert read_predictions(write(f"{header},score\na,1\n"), CONTRACT).ids == ("a",)


def test_the_first_of_several_id_columns_counts_and_the_other_is_kept(write):
    data = read_predictions(write("id,ids,score\na,b,1\n"), CONTRACT)
    assert data.ids == ("b",)
    assert "id" in data.fields


def test_no_id_column_means_no_ids(write):
    assert read_predictions(write("score\n1\n2\n"), CONTRACT).ids is None


@pytest.mark.parametrize("text", ["\ufeffids\tscore\r\na\t1\r\n\r\nb\t2\r\n", "ids\tscore\na\t1\n\nb\t2"])
def test_byte_order_marks_line_ends_and_blank_lines(write, text):
    data = read_predictions(write(text, "p.tsv"), CONTRACT)
    assert data.ids == ("a", "b")
    assert data["score"].tolist() == [1, 2]


def test_labels_take_the_type_of_the_truth(write):
    path = write("ids,label\na,1\nb,0\n")
    late = read_predictions(path, CONTRACT)
    assert violations_of(late, label=(0, 1)) == violations_of(late, label=("0", "1")) == ""
    assert violations_of(late.select(["b"]), label=(0, 1)) == ""
    assert read_predictions(path, CONTRACT, classes={"label": (0, 1)})["label"].tolist() == [1, 0]
    assert read_predictions(path, CONTRACT, classes={"label": ("0", "1")})["label"].tolist() == ["1", "0"]
    words = read_predictions(write("ids,label\na,T\n"), CONTRACT)
    assert "text where classes are integers" in violations_of(words, label=(0, 1))
    padded = read_predictions(write("ids,label\na,01\n"), CONTRACT)
    assert "text where classes are integers" in violations_of(padded, label=(0, 1))


def test_open_and_explicit_vocabularies_are_settled_while_reading(write):
    data = read_predictions(write("ids,cluster,fold\na,3,1\nb,12,0\n"), CONTRACT)
    assert data["cluster"].dtype == data["fold"].dtype == np.int64
    mixed = read_predictions(write("ids,cluster\na,3\nb,x\n"), CONTRACT)
    assert mixed["cluster"].tolist() == ["3", "x"]


@pytest.mark.parametrize("cell", ["", "NA", "nan", "NaN", "null"])
def test_missing_numbers_become_violations_not_gaps(write, cell):
    data = read_predictions(write(f"ids,score\na,1\nb,{cell}\n"), CONTRACT)
    assert data.n == 2
    assert "score: expected finite numbers, found NaN in 1 row (ids: b)" in violations_of(data)


def test_a_missing_label_is_named_and_the_text_nan_is_a_label(write):
    assert "missing entries in 1 row (ids: b)" in violations_of(
        read_predictions(write("ids,label\na,T\nb,\n"), CONTRACT)
    )
    assert read_predictions(write("ids,label\na,nan\n"), CONTRACT)["label"].tolist() == ["nan"]


@pytest.mark.parametrize("cell", ["abc", "1_000", "1,5", "0x1F", "1.2.3"])
def test_a_number_that_is_none_is_named(write, cell):
    with pytest.raises(ContractError, match=r"score: expected real numbers, found text .* in 1 row \(ids: b\)"):
        read_predictions(write(f'ids,score\na,1\nb,"{cell}"\n'), CONTRACT)


def test_numbered_columns_are_one_field(write):
    columns = ",".join(f"embedding_{i}" for i in range(12))
    data = read_predictions(write(f"ids,{columns}\na,{','.join(map(str, range(12)))}\n"), CONTRACT)
    assert data["embedding"].tolist() == [list(range(12))]
    with pytest.raises(ContractError, match="embedding_1"):
        read_predictions(write("ids,embedding_0,embedding_2\na,1,2\n"), CONTRACT)


def test_columns_that_nobody_named_reach_the_check(write):
    assert "did you mean 'score'" in violations_of(read_predictions(write("ids,scores\na,1\n"), CONTRACT))


def test_a_table_without_rows(write):
    data = read_predictions(write("ids,label,score\n"), CONTRACT)
    assert data.n == 0
    assert violations_of(data) == ""


# -- mapping --------------------------------------------------------------------------------------------------------


def test_a_mapping_names_columns(write):
    path = write("cell,my_type,z_0,z_1\na,T,1,2\n")
    data = read_predictions(path, CONTRACT, {"ids": "cell", "label": "my_type", "embedding": "z"})
    assert data.ids == ("a",)
    assert set(data.fields) == {"label", "embedding"}
    swapped = read_predictions(write("ids,label,cluster\na,1,2\n"), CONTRACT, {"label": "cluster", "cluster": "label"})
    assert (swapped["label"].tolist(), swapped["cluster"].tolist()) == (["2"], [1])


@pytest.mark.parametrize(
    ("mapping", "words"),
    [
        ({"label": "nope"}, "no column 'nope' to read 'label'"), ({"ids": "nope"}, "no column 'nope'"),
        ({"lable": "x"}, "no field of the contract"), ({"label": "x"}, "of its own"),
    ],
)  # fmt: skip
def test_mappings_that_cannot_be(write, mapping, words):
    with pytest.raises(UsageError, match=words):
        read_predictions(write("ids,label,x\na,T,B\n"), CONTRACT, mapping)


# -- typed files ----------------------------------------------------------------------------------------------------


def frame():
    return pd.DataFrame(
        {"label": pd.Categorical(["T", "B"]), "score": np.array([0.5, 1], "f"),
         "embedding_0": [1.0, 2], "embedding_1": [3.0, 4]},
        index=pd.Index(["001", "002"], name="ids"),
    )  # fmt: skip


def expected():
    return EvalData({"label": ["T", "B"], "score": [0.5, 1.0], "embedding": [[1, 3.0], [2, 4]]}, ids=["001", "002"])


def test_parquet(tmp_path):
    frame().to_parquet(tmp_path / "p.parquet")
    assert read_predictions(tmp_path / "p.parquet", CONTRACT) == expected()
    frame().rename_axis(None).to_parquet(tmp_path / "q.parquet")
    assert read_predictions(tmp_path / "q.parquet", CONTRACT) == expected()


def test_parquet_lists_are_rows(tmp_path):
    pd.DataFrame({"ids": ["a", "b"], "embedding": [[1.0, 2], [3.0, 4]], "label": [1, 2]}).to_parquet(
        tmp_path / "p.parquet"
    )
    data = read_predictions(tmp_path / "p.parquet", CONTRACT)
    assert data["embedding"].tolist() == [[1, 2], [3, 4]]
    assert data["label"].tolist() == [1, 2]
    pd.DataFrame({"ids": [1, 2], "score": [0.1, 0.2]}).to_parquet(tmp_path / "q.parquet")
    with pytest.raises(ContractError, match="ids: expected text ids, found integers"):
        read_predictions(tmp_path / "q.parquet", CONTRACT)


def test_parquet_nulls_are_violations(tmp_path):
    pd.DataFrame({"ids": ["a", "b"], "score": pd.array([1, None], "Int64"), "label": ["x", None]}).to_parquet(
        tmp_path / "p.parquet"
    )
    message = violations_of(read_predictions(tmp_path / "p.parquet", CONTRACT))
    assert "score: expected real numbers, found missing entries in 1 row (ids: b)" in message
    assert "label: expected integers or text, found missing entries in 1 row (ids: b)" in message


def test_npz(tmp_path):
    arrays = {
        "ids": np.array(["001", "002"]),
        "label": np.array(["T", "B"]),
        "score": np.array([0.5, 1], "f"),
        "embedding": np.array([[1, 3.0], [2, 4]]),
    }
    np.savez_compressed(tmp_path / "p.npz", **arrays, classes=np.array(["B", "T"]))
    data = read_predictions(tmp_path / "p.npz", CONTRACT)
    assert data.coords == {"classes": ("B", "T")}
    assert EvalData(data.fields, ids=data.ids) == expected()
    with pytest.raises(UsageError, match="no column 'nope'"):
        read_predictions(tmp_path / "p.npz", CONTRACT, {"label": "nope"})


def test_pickles_are_never_loaded(tmp_path):
    np.savez(tmp_path / "p.npz", label=np.array(["a", None], object))
    with pytest.raises(ContractError, match="label: expected numbers or text, found pickled"):
        read_predictions(tmp_path / "p.npz", CONTRACT)
    for name in ("p.pkl", "p.pt", "p.joblib", "p.npy"):
        (tmp_path / name).write_bytes(pickle.dumps({"label": [1]}))
        with pytest.raises(UsageError, match="pickles are never read"):
            read_predictions(tmp_path / name, CONTRACT)
    (tmp_path / "q.npz").write_bytes(pickle.dumps({"label": [1]}))
    with pytest.raises(CorruptDataError):
        read_predictions(tmp_path / "q.npz", CONTRACT)


def cells():
    adata = anndata.AnnData(
        sp.csr_matrix([[0, 1.0], [2, 0]]),
        obs=pd.DataFrame({"kind": pd.Categorical(["x", "y"]), "n": [1, 2]}, index=["001", "002"]),
        var=pd.DataFrame(index=["A", "B"]),
    )
    adata.obsm["X_pca"] = np.ones((2, 3))
    return adata


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("suffix", ["h5ad", "zarr"])
def test_anndata_files(tmp_path, suffix):
    path = tmp_path / f"p.{suffix}"
    getattr(cells(), f"write_{suffix}")(path)
    data = read_predictions(path, CELLS, {"label": "kind"})
    assert data.ids == ("001", "002")
    assert data.coords == {"genes": ("A", "B")}
    assert data["label"].tolist() == ["x", "y"]
    assert data["counts"].toarray().tolist() == [[0, 1], [2, 0]]
    assert read_predictions(path, CONTRACT, {"embedding": "X_pca"})["embedding"].shape == (2, 3)
    with pytest.raises(UsageError, match="no column 'nope'"):
        read_predictions(path, CELLS, {"label": "nope"})


@pytest.mark.filterwarnings("ignore:The data type")
def test_xarray_zarr(tmp_path):
    expected().to_xarray().to_zarr(tmp_path / "p.zarr")
    data = read_predictions(tmp_path / "p.zarr", CONTRACT)
    assert data.load() == expected()
    renamed = read_predictions(tmp_path / "p.zarr", CONTRACT, {"cluster": "label"})
    assert set(renamed.fields) == {"cluster", "score", "embedding"}


def test_our_own_zarr(tmp_path):
    from primabench_core.store.zarr_io import write as write_artifact

    data = EvalData({**expected().fields, "points": [[[1, 2, 1, 0.5]], []]}, ids=["001", "002"])
    write_artifact(data, tmp_path / "p.zarr")
    opened = read_predictions(tmp_path / "p.zarr", CONTRACT)
    assert opened.load() == data
    assert violations_of(opened, label=("B", "T")) == ""


# -- files that are no predictions ----------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "npz", "h5ad"])
def test_bytes_that_are_not_what_the_suffix_says(write, tmp_path, suffix):
    for content in (
        b"",
        b"\x00\xff\x00garbage\x80" * 50,
        b"\x89HDF\r\n\x1a\n" + b"\0" * 40,
        b"PAR1\n\0",
        b"PK\x03\x04",
    ):
        with pytest.raises(PrimaBenchError) as error:
            read_predictions(write(content, f"bad.{suffix}"), CONTRACT)
        assert "bad." in str(error.value)


@pytest.mark.parametrize("suffix", ["parquet", "npz", "h5ad"])
def test_truncated_files(tmp_path, suffix):
    whole = tmp_path / f"whole.{suffix}"
    if suffix == "parquet":
        frame().to_parquet(whole)
    elif suffix == "npz":
        np.savez(whole, score=np.zeros(1000))
    else:
        cells().write_h5ad(whole)
    short = tmp_path / f"short.{suffix}"
    short.write_bytes(whole.read_bytes()[: whole.stat().st_size // 2])
    with pytest.raises(CorruptDataError, match="short"):
        read_predictions(short, CONTRACT)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("\n\n", "no header"), ("ids,score\na,1\nb\n", "line 3"), ("ids,score\na,1,2\n", "2 cells per row"),
        ("ids,score,score\na,1,2\n", "score: expected one column"), ('ids,score\n"a,1\n', "line"),
        ("ids;score\na;1\n", "several columns"), ("ids,score\na,\xff\n".encode("latin-1"), "UTF-8"),
        ("ids,score\na,1\0\n", ""), ("ids,score\n" + "x" * (1 << 24) + "y,1\n", "line 2"),
    ],
    ids=lambda v: str(v)[:20],
)  # fmt: skip
def test_tables_that_are_broken(write, text, words):
    with pytest.raises(PrimaBenchError) as error:
        read_predictions(write(text), CONTRACT)
    assert words in str(error.value)


def test_places_without_a_file(tmp_path, write):
    with pytest.raises(MissingDataError, match="no such file"):
        read_predictions(tmp_path / "absent.csv", CONTRACT)
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(UsageError, match="is a folder"):
        read_predictions(tmp_path / "folder.csv", CONTRACT)
    with pytest.raises(UsageError, match=r"a \.zarr store is a folder"):
        read_predictions(write("x", "p.zarr"), CONTRACT)
    with pytest.raises(UsageError, match=r"known suffixes: \.zarr"):
        read_predictions(write("x", "p.xlsx"), CONTRACT)
    (tmp_path / "empty.zarr").mkdir()
    with pytest.raises(CorruptDataError, match=r"empty\.zarr"):
        read_predictions(tmp_path / "empty.zarr", CONTRACT)


def test_a_file_that_may_not_be_read(write, monkeypatch):
    path = write("ids,score\na,1\n")

    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(type(path), "open", refuse)
    with pytest.raises(StoreError, match="Permission denied"):
        read_predictions(path, CONTRACT)


@pytest.mark.parametrize(("suffix", "module"), [("parquet", "pyarrow.parquet"), ("h5ad", "anndata")])
def test_a_library_that_is_not_there(write, monkeypatch, suffix, module):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingPluginError, match=r"pip install .primabench-core\[files\]"):
        read_predictions(write("x", f"p.{suffix}"), CONTRACT)


# -- where ids stand when no column is called so --------------------------------------------------------------------


@pytest.mark.parametrize("header", ["cell", "barcode", "Unnamed: 0"])
def test_a_first_column_that_is_no_field_holds_the_ids(write, header):
    data = read_predictions(write(f"{header},score\nc1,1\nc2,2\n"), CONTRACT)
    assert data.ids == ("c1", "c2")
    assert list(data.fields) == ["score"]
    assert data.source == "p.csv"


@pytest.mark.parametrize("header", ["score,cell", "lable,score", "embedding_0,cell", "sequence,score"])
def test_a_field_a_slip_and_a_part_of_a_field_are_no_ids(write, header):
    assert read_predictions(write(f"{header}\n1,2\n3,4\n"), CONTRACT).ids is None


def test_ignored_and_mapped_first_columns_are_no_ids(write):
    ignoring = Contract(prediction=(Field("score", "score"),), solution=(), ignored=("fold",))
    path = write("fold,score\nx,1\n")
    assert read_predictions(path, ignoring).ids is None
    assert read_predictions(path, CONTRACT, {"sequence": "fold"}).ids is None


def test_numbers_in_a_first_array_are_no_ids(tmp_path):
    np.savez(tmp_path / "p.npz", other=np.arange(2), score=np.ones(2))
    assert read_predictions(tmp_path / "p.npz", CONTRACT).ids is None
    np.savez(tmp_path / "q.npz", cell=np.array(["a", "b"]), score=np.ones(2))
    assert read_predictions(tmp_path / "q.npz", CONTRACT).ids == ("a", "b")


@pytest.mark.parametrize("name", [None, "cell", "barcode"])
def test_parquet_gives_the_index_of_pandas_whatever_its_name(tmp_path, name):
    frame = pd.DataFrame({"note": ["x", "y"], "score": [1.0, 2.0]}, index=pd.Index(["a", "b"], name=name))
    frame.to_parquet(tmp_path / "p.parquet")
    data = read_predictions(tmp_path / "p.parquet", CONTRACT)
    assert data.ids == ("a", "b")
    assert set(data.fields) == {"note", "score"}


def test_parquet_row_numbers_are_no_ids(tmp_path):
    pd.DataFrame({"score": [1.0, 2.0]}).to_parquet(tmp_path / "p.parquet")
    assert read_predictions(tmp_path / "p.parquet", CONTRACT).ids is None
    pd.DataFrame({"cell": ["a", "b"], "score": [1.0, 2.0]}).to_parquet(tmp_path / "q.parquet")
    assert read_predictions(tmp_path / "q.parquet", CONTRACT).ids == ("a", "b")


def test_id_and_ids_of_a_mapping_mean_the_same(write):
    path = write("name,other,score\na,b,1\n")
    assert read_predictions(path, CONTRACT, {"id": "other"}).ids == ("b",)
    assert read_predictions(path, CONTRACT, {"ids": "other"}).ids == ("b",)
    with pytest.raises(UsageError, match="twice"):
        read_predictions(path, CONTRACT, {"id": "other", "ids": "name"})


def test_a_field_called_id_stays_a_field(write):
    contract = Contract(prediction=(Field("id", "label"), Field("score", "score")), solution=())
    data = read_predictions(write("key,name,score\na,T,1\n"), contract, {"id": "name"})
    assert (data.ids, data["id"].tolist()) == (("a",), ["T"])
