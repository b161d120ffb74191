"""A list of bad inputs: each one is an error of ours that names the place, what was found, and what to do."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import torch

from primabench_core.contract.align import IdIndex, unknown_ids
from primabench_core.contract.check import Context, ShardChecker
from primabench_core.contract.contract import Contract
from primabench_core.contract.evaldata import EvalData
from primabench_core.contract.fields import Field
from primabench_core.errors import ContractError, PrimaBenchError

IDS = ("c1", "c2", "c3")
CONTRACT = Contract(
    prediction=(
        Field("label", "label", vocabulary="truth", optional=True),
        Field("score", "score", low=-10, high=10, optional=True),
        Field("probability", "probability", optional=True),
        Field("embedding", "embedding", optional=True),
        Field("counts", "matrix", state="counts", optional=True),
        Field("pairs", "pairs", optional=True),
    ),
    solution=(),
)
CONTEXT = Context(
    classes={"label": ("B", "T")},
    coords={"classes": ("B", "T"), "genes": ("G1", "G2")},
    lengths=np.array([5, 5, 5]),
)


def submit(given):
    """What an update does before rows are placed: read, align, check; raise everything at once."""
    data = EvalData.of(given, CONTRACT)
    violations = []
    positions = np.arange(3)
    if data.ids is not None:
        positions = IdIndex(list(IDS)).lookup(list(data.ids))
        violations += [v for v in [unknown_ids(data.ids, positions, IDS)] if v]
    checker = ShardChecker(CONTRACT.prediction, CONTEXT)
    _, wrong = checker.check(data.fields, ids=data.ids, coords=data.coords, positions=positions)
    if violations + wrong:
        raise ContractError(violations + wrong)


def frame(index=IDS, **columns):
    return pd.DataFrame(columns, index=list(index))


HALF = [0.5, 0.5]
BAD = [
    # name, input, words that the error must hold
    ("nothing", {}, None),
    ("a path", "predictions.csv", ["path", "pb.evaluate"]),
    ("a path object", Path("x.h5ad"), ["path", "pb.evaluate"]),
    ("a number", 3.5, ["float"]),
    ("None", None, ["NoneType"]),
    ("a bare array for six fields", np.zeros(3), ["ndarray", "dict"]),
    ("a misspelt field", {"lable": ["B", "T", "B"]}, ["lable", "did you mean 'label'"]),
    ("a field nobody knows", {"zzz": [1, 2, 3]}, ["zzz", "not in the contract"]),
    ("ids as numbers", {"ids": [1, 2, 3], "score": [1, 2, 3]}, ["ids", "integers", "positions="]),
    ("ids with a gap", {"ids": ["c1", None, "c3"], "score": [1, 2, 3]}, ["ids", "missing", "row 1"]),
    ("ids as bytes", {"ids": [b"c1", b"c2", b"c3"], "score": [1, 2, 3]}, ["ids", "bytes"]),
    ("ids in a matrix", {"ids": [["c1"], ["c2"]], "score": [1, 2]}, ["ids", "one id per row"]),
    ("one text for all ids", {"ids": "c1", "score": [1]}, ["ids", "list"]),
    ("an unknown id", {"ids": ["c1", "c2", "c9"], "score": [1, 2, 3]}, ["ids", "unknown", "c9"]),
    ("an id in capitals", {"ids": ["C1", "c2", "c3"], "score": [1, 2, 3]}, ["'C1' is not 'c1'"]),
    ("an id with a blank", {"ids": ["c1 ", "c2", "c3"], "score": [1, 2, 3]}, ["'c1 ' is not 'c1'"]),
    ("more ids than scores", {"ids": IDS, "score": [1, 2]}, ["score", "3 rows", "2 rows"]),
    ("a table indexed by numbers", pd.DataFrame({"score": [1.0]}, index=[7]), ["ids", "reset_index"]),
    ("two columns of one name", pd.DataFrame([[1, 2]], columns=["score", "score"]), ["score", "one column"]),
    ("a gap in numbered columns", frame(embedding_0=[1, 2, 3], embedding_2=[1, 2, 3]), ["embedding", "embedding_1"]),
    ("scores as text", {"score": ["0.1", "0.2", "0.3"]}, ["score", "text"]),
    ("a score missing", frame(score=pd.array([1, None, 3], dtype="Int64")), ["score", "missing", "c2"]),
    ("NaN", {"ids": IDS, "score": [0.1, np.nan, 0.3]}, ["score", "NaN", "c2"]),
    ("infinite", {"ids": IDS, "score": torch.tensor([0.1, 0.2, torch.inf])}, ["score", "infinite", "c3"]),
    ("too large for half precision", {"score": torch.tensor([1, 2, 7e4]).half()}, ["score", "infinite"]),
    ("out of range", {"ids": IDS, "score": [0, 11, -11]}, ["at most 10", "c2", "at least -10", "c3"]),
    ("complex scores", {"score": np.array([1j, 0, 0])}, ["score", "complex"]),
    ("long double scores", {"score": np.zeros(3, np.longdouble)}, ["score", "64 bits"]),
    ("dates as scores", {"score": np.zeros(3, "M8[s]")}, ["score", "dates"]),
    ("objects as scores", {"score": [1.0, object(), 2.0]}, ["score", "objects"]),
    ("two columns of scores", {"score": np.zeros((3, 2))}, ["score", "one number per row", "(3, 2)"]),
    ("a single score", {"score": np.float64(1)}, ["score"]),
    ("rows of two lengths", {"embedding": [[1, 2], [1], [1, 2]]}, ["embedding", "lengths 1, 2", "row 1"]),
    ("an embedding without columns", {"embedding": np.zeros((3, 0))}, ["embedding", "at least one column"]),
    ("a flat embedding", {"embedding": np.zeros(3)}, ["embedding", "a row of numbers"]),
    ("labels as numbers", {"label": [0, 1, 0]}, ["label", "integers where classes are text"]),
    ("labels as floats", {"label": [0.0, 1.0, 0.0]}, ["label", "real numbers", ".astype(int)"]),
    ("a label missing", {"ids": IDS, "label": ["B", None, "T"]}, ["label", "missing", "c2"]),
    ("a category missing", frame(label=pd.Categorical(["B", None, "T"])), ["label", "missing", "c2"]),
    ("a blank label", {"ids": IDS, "label": ["B", "", "T"]}, ["label", "blank", "c2"]),
    ("text and numbers", {"label": ["B", 1, "T"]}, ["label", "mixture"]),
    ("one-hot labels", {"label": np.eye(3, dtype=int)}, ["label", "one label per row"]),
    ("rows that sum to 0.9", {"ids": IDS, "probability": [HALF, [0.4, 0.5], HALF]}, ["probability", "0.9", "c2"]),
    ("logits", {"probability": [[2.0, -1.0]] * 3}, ["probability", "at least 0", "at most 1"]),
    ("probabilities of one class", {"probability": [[1.0]] * 3}, ["probability", "2 columns", "1 column"]),
    ("classes of another vocabulary", {"probability": [HALF] * 3, "classes": ["B", "NK"]}, ["classes", "NK", "T"]),
    ("classes as numbers", {"probability": [HALF] * 3, "classes": [0, 1]}, ["classes", "text", "integers"]),
    ("genes twice", {"counts": np.zeros((3, 2)), "genes": ["G1", "G1"]}, ["genes", "again", "G2"]),
    ("a gene in small letters", {"counts": np.zeros((3, 2)), "genes": ["g1", "G2"]}, ["genes", "did you mean 'G1'"]),
    ("scaled values as counts", {"counts": [[-0.3, 1.2]] * 3}, ["counts", "at least 0", "whole"]),
    ("sparse counts with NaN", {"counts": sp.csr_array([[0, np.nan]] * 3)}, ["counts", "NaN"]),
    ("a pair beyond the end", {"ids": IDS, "pairs": [[[0, 4]], [[0, 5]], []]}, ["pairs", "beyond the end", "c2"]),
    ("a base paired twice", {"ids": IDS, "pairs": [[[0, 4], [0, 3]], [], []]}, ["pairs", "paired twice", "c1"]),
    ("numbers in place of pairs", {"pairs": [1, 2, 3]}, ["pairs", "list of entries"]),
]  # fmt: skip


@pytest.mark.parametrize(("given_input", "words"), [b[1:] for b in BAD if b[2]], ids=[b[0] for b in BAD if b[2]])
def test_bad_input(given_input, words):
    with pytest.raises(PrimaBenchError) as error:
        submit(given_input)
    message = str(error.value)
    assert [word for word in words if word not in message] == []
    assert "Traceback" not in message


def test_the_list_is_long_enough():
    assert len(BAD) >= 40


def test_a_good_submission_passes():
    submit({"ids": ["c3", "c1"], "label": ["T", "NK"], "score": [1, 2], "probability": [HALF, [1, 0]]})
    submit(frame(label=pd.Categorical(["B", "T", "B"]), embedding_0=[1.0, 2, 3], embedding_1=[0.0, 0, 0]))


def test_a_hundred_faults_in_one_error_stay_readable():
    rng = np.random.default_rng(0)
    with pytest.raises(ContractError) as error:
        submit({"ids": [f"x{i}" for i in range(5000)], "score": np.full(5000, np.nan), "label": [None] * 5000,
                "probability": rng.random((4999, 2)) * 3})  # fmt: skip
    assert len(str(error.value)) < 1500
    assert {v.field for v in error.value.violations} == {"ids", "score", "label", "probability"}
