"""EvalData and its ways to and from other containers."""

from __future__ import annotations

import pickle

import anndata
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import torch
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from primabench_core.contract.contract import Contract
from primabench_core.contract.evaldata import EvalData
from primabench_core.contract.fields import Field
from primabench_core.contract.ragged import Ragged
from primabench_core.errors import ContractError, PrimaBenchError, UsageError

words = st.text("abcXYZ é_0", min_size=1, max_size=5).filter(str.strip)


@st.composite
def datasets(draw, ragged=True):
    n = draw(st.integers(0, 5))
    fields = {
        "score": draw(
            hnp.arrays(st.sampled_from([np.float32, np.float64]), n, elements={"min_value": -4, "max_value": 4})
        ),
        "label": np.array([*draw(st.lists(words, min_size=n, max_size=n)), None], object)[:-1],
        "fold": draw(hnp.arrays(np.int64, n, elements=st.integers(-5, 5))),
        "embedding": draw(
            hnp.arrays(np.float32, (n, draw(st.integers(1, 12))), elements=st.integers(-4, 4).map(float))
        ),
    }
    coords = {}
    if draw(st.booleans()):
        genes = draw(st.lists(words, min_size=1, max_size=4, unique=True))
        coords["genes"] = genes
        fields["value"] = draw(hnp.arrays(np.float64, (n, len(genes)), elements=st.integers(-4, 4).map(float)))
    if ragged and draw(st.booleans()):
        counts = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
        fields["points"] = Ragged(np.arange(4.0 * sum(counts)).reshape(-1, 4), np.array(counts, np.int64))
    ids = draw(st.none() | st.lists(words, min_size=n, max_size=n, unique=True))
    return EvalData(fields, ids=ids, coords=coords)


@given(datasets())
def test_xarray_and_numpy_give_back_what_they_got(data):
    assert EvalData.of(data.to_xarray()) == data
    assert EvalData.of(data.to_numpy()) == data
    assert pickle.loads(pickle.dumps(data)) == data
    assert data.load() == data


@given(datasets(ragged=False))
def test_pandas_gives_back_what_it_got(data):
    if data.n:  # a table without rows has no types
        assert EvalData.of(data.to_pandas()) == data


@given(datasets(ragged=False))
def test_anndata_gives_back_what_it_got(data):
    if data.n and data.ids is not None:
        main = "value" if "value" in data else ""
        assert EvalData.from_anndata(data.to_anndata(main), main) == data


@given(datasets(), st.data())
def test_selecting_rows_by_number_and_by_id(data, draw):
    at = draw.draw(st.lists(st.integers(0, data.n - 1), max_size=6)) if data.n else []
    picked = data.select(np.array(at, int))
    assert picked.n == len(at) or not at
    assert picked["label"].tolist() == [data["label"][i] for i in at]
    if data.ids is not None and at:
        assert data.select([data.ids[i] for i in at]) == picked
    assert data.select(slice(None)) == data


def test_selecting_what_is_not_there():
    data = EvalData({"score": [1.0, 2.0]}, ids=["a", "b"])
    assert data.select([-1]).ids == ("b",)
    for wrong in ([2], [-3], ["c"]):
        with pytest.raises(UsageError, match=r"position|not in these data"):
            data.select(wrong)
    with pytest.raises(UsageError, match="no ids"):
        EvalData({"score": [1.0]}).select(["a"])


def test_the_repr_shows_no_value():
    data = EvalData({"label": ["secret"], "score": [0.123], "points": [[[1, 2, 3, 4]]]}, ids=["hidden"])
    shown = repr(data)
    assert not any(word in shown for word in ("secret", "0.123", "hidden"))
    assert shown == "EvalData(1 ids; label: text (1,), score: float64 (1,), points: Ragged(1 rows, 1 entries))"


def test_rows_that_do_not_match_are_all_named():
    data = EvalData({"score": [1.0], "label": ["a", "b"]}, ids=["x", "y", "z"])
    with pytest.raises(ContractError, match=r"(?s)score: expected 3 rows.*label: expected 3 rows"):
        _ = data.n


def test_equality_looks_at_content():
    left = EvalData({"score": np.array([1.0, np.nan], "f")}, ids=["a", "b"])
    assert left == EvalData({"score": [1.0, float("nan")]}, ids=["a", "b"])
    assert left != EvalData({"score": [1.0, 2.0]}, ids=["a", "b"])
    assert left != EvalData({"score": [1.0, float("nan")]}, ids=["b", "a"])
    assert left != EvalData({"score": [1.0, float("nan")]})
    assert EvalData({"label": [1]}) != EvalData({"label": ["1"]})
    assert EvalData({"x": sp.csr_array([[0, 1.0]])}) == EvalData({"x": [[0, 1.0]]})
    assert left != "something else"


def test_tensors_and_lists_become_arrays():
    data = EvalData({"a": torch.tensor([1.0, 2.0], dtype=torch.bfloat16), "b": [1, 2], "c": [[[1, 2]], []]})
    assert data["a"].dtype == np.float32
    assert data["b"].dtype == np.int64
    assert isinstance(data["c"], Ragged)


# -- lazy -----------------------------------------------------------------------------------------------------------


class Unread:
    """An array-like that says when it is read."""

    def __init__(self, values):
        self.values, self.shape, self.dtype, self.reads = values, values.shape, values.dtype, 0

    def __getitem__(self, key):
        self.reads += 1
        return self.values[key]


def test_lazy_fields_stay_unread_until_used():
    field = Unread(np.arange(12.0).reshape(4, 3))
    data = EvalData({"value": field, "label": list("abcd")}, ids=list("wxyz"))
    assert data.n == 4
    assert "unread" in repr(data)
    assert field.reads == 0
    assert data.select(["x", "y"])["value"].tolist() == [[3, 4, 5], [6, 7, 8]]
    assert field.reads == 1
    assert data["value"].sum() == 66


@pytest.mark.filterwarnings("ignore:The data type")
def test_xarray_on_disk_is_read_late(tmp_path):
    xr.Dataset({"score": ("cell", np.arange(3.0))}, coords={"cell": ["a", "b", "c"]}).to_zarr(tmp_path / "x.zarr")
    with xr.open_zarr(tmp_path / "x.zarr", chunks=None) as opened:
        data = EvalData.of(opened)
        assert data.ids == ("a", "b", "c")
        assert "unread" in repr(data)
        assert data["score"].tolist() == [0, 1, 2]


# -- pandas ---------------------------------------------------------------------------------------------------------

CONTRACT = Contract(prediction=(Field("label", "label"), Field("embedding", "embedding", optional=True)), solution=())


def test_where_pandas_ids_come_from():
    assert EvalData.of(pd.DataFrame({"label": ["a"]})).ids is None
    assert EvalData.of(pd.DataFrame({"label": ["a", "b"]}, index=[0, 1])).ids is None
    assert EvalData.of(pd.DataFrame({"label": ["a"]}, index=["x"])).ids == ("x",)
    assert EvalData.of(pd.DataFrame({"ids": ["y"], "id": ["z"]}, index=["x"])).ids == ("y",)
    assert EvalData.of(pd.DataFrame({"id": ["z"]}, index=["x"])).ids == ("z",)
    for index in ([5, 6], [1, 0], [0.5, 1.5]):
        with pytest.raises(ContractError, match="ids: expected text ids"):
            EvalData.of(pd.DataFrame({"label": ["a", "b"]}, index=index))
    with pytest.raises(ContractError, match="positions="):
        EvalData.of(pd.DataFrame({"id": [1]}))
    with pytest.raises(ContractError, match="2 levels"):
        EvalData.of(pd.DataFrame({"label": ["a"]}, index=pd.MultiIndex.from_tuples([("a", "b")])))


def test_ten_columns_stay_in_number_order():
    frame = pd.DataFrame({f"embedding_{i}": [float(i)] for i in range(11)[::-1]})
    assert EvalData.of(frame)["embedding"].tolist() == [list(range(11))]


def test_gaps_and_twins_in_columns_are_named():
    with pytest.raises(ContractError, match="found no embedding_1"):
        EvalData.of(pd.DataFrame({"embedding_0": [1.0], "embedding_2": [1.0]}), CONTRACT)
    with pytest.raises(ContractError, match="score: expected one column"):
        EvalData.of(pd.DataFrame([[1, 2]], columns=["score", "score"]))
    assert "batch_2" in EvalData.of(pd.DataFrame({"batch_2": ["x"]})).fields


def test_categories_are_text_and_gaps_stay_gaps():
    frame = pd.DataFrame({"label": pd.Categorical(["b", None, "a"], categories=["unused", "a", "b"])})
    assert EvalData.of(frame)["label"].tolist() == ["b", None, "a"]


# -- AnnData --------------------------------------------------------------------------------------------------------


def cells(**obs):
    adata = anndata.AnnData(
        sp.csr_matrix(np.eye(2, 3, dtype="f")),
        obs=pd.DataFrame({"n_counts": [5.0, 6.0], **obs}, index=["c1", "c2"]),
        var=pd.DataFrame(index=["A", "B", "C"]),
    )
    adata.obsm["embedding"] = np.ones((2, 4))
    return adata


def test_a_contract_picks_its_fields_out_of_an_anndata():
    data = EvalData.of(cells(label=pd.Categorical(["x", "y"])), CONTRACT)
    assert set(data.fields) == {"label", "embedding"}
    assert data.ids == ("c1", "c2")
    assert data.coords == {}


def test_where_a_field_is_absent_everything_is_shown_to_the_checks():
    assert {"n_counts", "labels"} <= set(EvalData.of(cells(labels=["x", "y"]), CONTRACT).fields)


def test_the_one_matrix_field_is_x():
    contract = Contract(prediction=(Field("counts", "matrix"),), solution=())
    data = EvalData.of(cells(), contract)
    assert data.coords["genes"] == ("A", "B", "C")
    assert sp.issparse(data.fields["counts"])
    layered = cells()
    layered.layers["counts"] = np.zeros((2, 3))
    assert not sp.issparse(EvalData.of(layered, contract).fields["counts"])


def test_what_anndata_and_tables_cannot_hold():
    ragged = EvalData({"points": [[[1, 2, 3, 4]], []]})
    for convert in (ragged.to_pandas, ragged.to_anndata):
        with pytest.raises(UsageError, match="ragged field 'points'"):
            convert()
    with pytest.raises(UsageError, match="cannot be X"):
        EvalData({"score": [1.0]}).to_anndata("score")


# -- of -------------------------------------------------------------------------------------------------------------


def test_a_bare_array_serves_a_contract_of_one_field():
    assert EvalData.of(np.array(["a", "b"]), CONTRACT)["label"].tolist() == ["a", "b"]
    assert EvalData.of(pd.Series(["a"], index=["x"]), CONTRACT).ids == ("x",)
    assert EvalData.of(torch.tensor([1, 2]), CONTRACT)["label"].tolist() == [1, 2]
    for wrong in (np.zeros(2), "file.csv", 3, None):
        with pytest.raises(UsageError):
            EvalData.of(wrong)


def test_a_mapping_carries_ids_and_names_beside_its_fields():
    data = EvalData.of({"ids": ["a"], "genes": ["A", "B"], "classes": [0, 1], "value": [[1.0, 2.0]]})
    assert data.coords == {"genes": ("A", "B"), "classes": (0, 1)}
    assert set(data.fields) == {"value"}
    with pytest.raises(UsageError, match="positions="):
        EvalData.of({"positions": [0], "score": [1.0]})


@pytest.mark.parametrize(
    "make",
    [
        lambda: EvalData({"score": 3}), lambda: EvalData({"score": None}), lambda: EvalData({"score": "abc"}),
        lambda: EvalData({"score": [1.0]}, ids=[1]), lambda: EvalData({}, coords={"genes": [1, 2]}),
        lambda: EvalData({"score": [[1], [1, 2]]}),
        lambda: EvalData.of(xr.Dataset({"a": 3.0})).n,
    ],
)  # fmt: skip
def test_what_is_no_data(make):
    with pytest.raises(PrimaBenchError):
        make()


def test_an_unknown_field_is_named_with_those_there_are():
    data = EvalData({"expression": [1.0], "label": ["a"]}, ids=["c"], coords={"classes": ["a"]})
    with pytest.raises(KeyError) as caught:
        data["expresion"]
    text = str(caught.value)
    assert "Did you mean 'expression'?" in text
    assert "'expression', 'label'" in text
    assert ".coords['classes']" in text
