"""Columns that a reader leaves out, in every kind of file; columns that end in the name of a class."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from primabench_core.contract.contract import Contract
from primabench_core.contract.evaldata import EvalData
from primabench_core.contract.fields import Field
from primabench_core.errors import ContractError, UsageError
from primabench_core.store.prediction_files import read_predictions

SCORE = Field("score", "score")
PROBABILITY = Field("probability", "probability", coord="classes", optional=True)
EMBEDDING = Field("embedding", "embedding", optional=True)
CONTRACT = Contract(prediction=(SCORE, PROBABILITY, EMBEDDING), solution=(SCORE,), ignored=("remark",))
COLUMNS = {"ids": ["a", "b"], "score": [0.5, 0.25], "note": ["x", "y"], "extra": [1.0, 2.0]}


def written(folder: Path, suffix: str) -> Path:
    path = folder / f"p.{suffix}"
    if suffix in ("csv", "tsv"):
        sign = "," if suffix == "csv" else "\t"
        rows = zip(*COLUMNS.values(), strict=True)
        path.write_text("\n".join(sign.join(map(str, row)) for row in [tuple(COLUMNS), *rows]) + "\n")
    elif suffix == "npz":
        np.savez(path, **{n: np.asarray(c) for n, c in COLUMNS.items()}, extra_single=np.float64(3))
    elif suffix == "parquet":
        parquet = pytest.importorskip("pyarrow.parquet")
        parquet.write_table(pytest.importorskip("pyarrow").table(COLUMNS), path)
    else:
        anndata, pandas = pytest.importorskip("anndata"), pytest.importorskip("pandas")
        frame = pandas.DataFrame(COLUMNS).set_index("ids")
        anndata.AnnData(obs=frame).write_h5ad(path)
    return path


@pytest.mark.parametrize("ignore", [("*",), ("extra", "*"), ("extra", "note", "extra_single")])
@pytest.mark.parametrize("suffix", ["csv", "tsv", "npz", "parquet", "h5ad"])
def test_what_is_left_out_is_not_read(tmp_path: Path, suffix: str, ignore: tuple[str, ...]) -> None:
    there = tuple(name for name in ignore if suffix == "npz" or name != "extra_single")
    data = read_predictions(written(tmp_path, suffix), CONTRACT, ignore=there)
    assert set(data.fields) == {"score"}
    assert data.ids == ("a", "b")
    with pytest.raises(UsageError, match="no column 'absent' to ignore"):
        read_predictions(written(tmp_path, suffix), CONTRACT, ignore=["absent"])


def test_fields_their_parts_and_what_the_contract_ignores_are_no_strangers(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_text("ids,score,embedding_0,embedding_1,probability_B cell,probability_T,remark,zz,score_2\n")
    with path.open("a") as file:
        file.write("a,1,2,3,0.25,0.75,x,9,8\n")
    data = read_predictions(path, CONTRACT, ignore=["*"])
    assert set(data.fields) == {"score", "embedding", "probability", "remark"}
    assert data.coords == {"classes": ("B cell", "T")}
    assert data["probability"].tolist() == [[0.25, 0.75]]


# -- columns by the name of a class ---------------------------------------------------------------------------------


def test_numbers_are_places_and_names_beside_them_are_refused_as_before(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_text("ids,score,probability_0,probability_1,probability_T\na,1,0.5,0.25,0.25\n")
    data = read_predictions(path, CONTRACT)
    assert data.coords == {}
    assert set(data.fields) == {"score", "probability", "probability_T"}


def test_two_fields_over_the_same_classes_stand_in_one_order(tmp_path: Path) -> None:
    other = Field("probability_late", "probability", coord="classes", optional=True)
    contract = Contract(prediction=(SCORE, PROBABILITY, other), solution=(SCORE,))
    path = tmp_path / "p.csv"
    header = "ids,score,probability_T,probability_B,probability_late_B,probability_late_T"
    path.write_text(header + "\na,1,0.25,0.75,0.5,0.125\n")
    data = read_predictions(path, contract)
    assert data.coords == {"classes": ("T", "B")}
    assert data["probability"].tolist() == [[0.25, 0.75]]
    assert data["probability_late"].tolist() == [[0.125, 0.5]]


def test_a_data_frame_and_an_archive_name_classes_likewise(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    columns = {"score": [1.0], "probability_T": [0.25], "probability_B": [0.75]}
    frame = pandas.DataFrame(columns, index=["a"])
    np.savez(tmp_path / "p.npz", ids=["a"], **columns)
    for data in (EvalData.from_pandas(frame, CONTRACT), read_predictions(tmp_path / "p.npz", CONTRACT)):
        assert data.coords == {"classes": ("T", "B")}
        assert data["probability"].tolist() == [[0.25, 0.75]]


def test_text_in_such_a_column_is_named_with_its_row(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_text("ids,score,probability_T,probability_B\na,1,x,0.75\n")
    with pytest.raises(ContractError, match="probability: expected real numbers"):
        read_predictions(path, CONTRACT)
