"""Arguments that mean nothing are refused in words: never an exception of Python, numpy or torch."""

from __future__ import annotations

import numpy as np
import pytest

import primabench_core as pb
from primabench_core.errors import ContractError, UsageError
from primabench_core.evaluation.intake import Intake

TRUTH = {"label": [0, 1, 1, 0]}
HALF = "\ud800"


@pytest.mark.parametrize(
    "metrics", [[None], [5], [len], [("accuracy",)], [("accuracy", 3)], [lambda s: 1.0], 5, len, ("accuracy", {}), [{}]]
)
def test_what_names_no_metric(metrics):
    with pytest.raises(UsageError, match="names no metric") as caught:
        pb.stream(metrics, truth=TRUTH)
    assert caught.value.remedy


@pytest.mark.parametrize("labels", [5, ["a"], "model", {"a": HALF}, {HALF: "a"}])
def test_labels_that_are_none(labels):
    with pytest.raises(UsageError, match="labels are"):
        pb.stream(["accuracy"], truth=TRUTH, labels=labels)


@pytest.mark.parametrize("positions", [slice("a", None), slice(0, 1.5), slice(0, 2, "x")])
def test_slices_of_no_integers(positions):
    run = pb.stream(["accuracy"], truth=TRUTH)
    with pytest.raises(UsageError, match="positions: a slice is made of integers"):
        run.update(positions=positions, label=[0, 1])
    run.update(positions=slice(np.int64(0), np.int32(2)), label=[0, 1])
    assert run.n_seen == 2


@pytest.mark.parametrize(
    ("positions", "found"),
    [
        (np.array([0, 1], object), r"Python objects of type int. give integers of numpy"),
        (np.array([0, 1.5], object), "Python objects of type float, int"),
        (np.array(["0", "1"]), "text"),
        (np.array(["0", "1"], object), "text"),
    ],
)
def test_positions_are_called_what_they_are(positions, found):
    with pytest.raises(ContractError, match=f"positions: expected row numbers, found {found}"):
        pb.stream(["accuracy"], truth=TRUTH).update(positions=positions, label=[0, 1])


def tensors():
    torch = pytest.importorskip("torch", reason="tensors need torch")
    return {
        "float8": torch.tensor([1.0, 2.0]).to(torch.float8_e4m3fn),
        "meta": torch.empty(2, device="meta"),
        "nested": torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=torch.jagged),
    }


@pytest.mark.parametrize("kind", ["float8", "meta", "nested"])
@pytest.mark.parametrize("field", ["score", "positions", "predictions", "truth"])
def test_tensors_that_numpy_cannot_hold(kind, field):
    tensor = tensors()[kind]
    run = pb.stream(["auroc"], truth=TRUTH)
    calls = {
        "score": lambda: run.update(positions=[0, 1], score=tensor),
        "positions": lambda: run.update(positions=tensor, score=[0.1, 0.2]),
        "predictions": lambda: run.update(positions=[0, 1], predictions={"score": tensor}),
        "truth": lambda: pb.stream(["accuracy"], truth={"label": tensor}),
    }
    name = {"predictions": "score", "truth": "label"}.get(field, field)
    with pytest.raises(ContractError, match=f"{name}: expected a tensor that numpy can hold, found a .*{kind}"):
        calls[field]()
    assert run.n_seen == 0


def test_a_field_of_none_is_said_to_be_none():
    run = pb.stream(["auroc", "accuracy"], truth=TRUTH)
    with pytest.raises(ContractError, match="label: expected a field of kind label, found None") as caught:
        run.update(positions=[0, 1], score=[0.1, 0.2], label=None)
    assert len(caught.value.violations) == 1
    with pytest.raises(ContractError, match="found None"):
        pb.stream(["accuracy"], truth=TRUTH).update(positions=[0, 1], label=None)


def test_a_misspelt_field_is_one_violation():
    with pytest.raises(ContractError) as caught:
        pb.stream(["auroc"], truth=TRUTH).update(positions=[0, 1], scor=[0.1, 0.2])
    assert [v.field for v in caught.value.violations] == ["scor"]


def test_a_missing_field_of_a_contract_is_missed_once(solutions):
    intake = pb.Evaluation("toy_cells")._intake
    assert isinstance(intake, Intake)
    with pytest.raises(ContractError) as caught:
        intake.take([f"cell{i}" for i in range(2)], None, {"zzz": [0.1, 0.2]})
    assert sorted(v.field for v in caught.value.violations) == ["label", "zzz"]


@pytest.mark.parametrize("label", [["a", HALF], np.array(["a", HALF]), np.array(["a", HALF], object), ("a", HALF)])
def test_text_that_utf8_cannot_encode_is_refused_in_its_update(label):
    run = pb.stream(["accuracy"], truth={"label": ["a", "b"]})
    with pytest.raises(ContractError, match="label: expected text that UTF-8 can encode") as caught:
        run.update(positions=[0, 1], label=label)
    assert str(caught.value).encode()
    assert run.n_seen == 0
    with pytest.raises(ContractError, match="UTF-8"):
        pb.stream(["accuracy"], truth={"label": label})


@pytest.mark.parametrize("ids", [["a", HALF], np.array(["a", HALF]), ("a", HALF)])
def test_ids_that_utf8_cannot_encode(ids):
    run = pb.stream(["accuracy"], truth={"label": ["a", "b"], "ids": ["a", "b"]})
    with pytest.raises(ContractError, match="ids: expected text that UTF-8 can encode") as caught:
        run.update(ids=ids, label=["a", "b"])
    assert str(caught.value).encode()
    with pytest.raises(ContractError, match="UTF-8"):
        pb.stream(["accuracy"], truth={"label": ["a", "b"], "ids": ids})


def test_names_of_columns_that_utf8_cannot_encode():
    with pytest.raises(ContractError, match="genes: expected text that UTF-8 can encode"):
        pb.EvalData({"value": [[1.0]]}, coords={"genes": (HALF,)})
