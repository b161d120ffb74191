"""What a batch may be, what is refused, and that a refused batch leaves no trace."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import primabench_core as pb
from primabench_core.errors import ContractError, CoverageError, PrimaBenchError, UsageError

pytestmark = pytest.mark.usefixtures("toys")

IDS = [f"c{i}" for i in range(6)]
LABELS = ["a", "b", "b", "a", "c", "c"]


@pytest.fixture
def run():
    return pb.stream(["toy_hits"], truth={"ids": IDS, "label": LABELS})


def value_of(run):
    return run.compute()["toy_hits"].value


BAD = {
    "unknown id": {"ids": ["c0", "zz"], "label": ["a", "b"]},
    "id again": {"ids": ["c0", "c0"], "label": ["a", "b"]},
    "ids as numbers": {"ids": [0, 1], "label": ["a", "b"]},
    "one id as text": {"ids": "c0", "label": ["a"]},
    "ids with a gap": {"ids": ["c0", None], "label": ["a", "b"]},
    "too few labels": {"ids": ["c0", "c1"], "label": ["a"]},
    "too many labels": {"ids": ["c0"], "label": ["a", "b"]},
    "labels as numbers": {"ids": ["c0", "c1"], "label": [0, 1]},
    "labels as reals": {"ids": ["c0", "c1"], "label": [0.5, 1.5]},
    "labels mixed": {"ids": ["c0", "c1"], "label": ["a", 1]},
    "labels with a gap": {"ids": ["c0", "c1"], "label": ["a", None]},
    "labels in two columns": {"ids": ["c0", "c1"], "label": [["a", "b"], ["a", "b"]]},
    "labels as one text": {"ids": ["c0"], "label": "a"},
    "misspelt field": {"ids": ["c0"], "lable": ["a"]},
    "second field": {"ids": ["c0"], "label": ["a"], "score": [0.5]},
    "no field": {"ids": ["c0"]},
    "no ids": {"label": LABELS},
    "positions too large": {"positions": [5, 6], "label": ["a", "b"]},
    "positions negative": {"positions": [-1, 0], "label": ["a", "b"]},
    "positions as text": {"positions": ["0", "1"], "label": ["a", "b"]},
    "positions as reals": {"positions": [0.0, 1.0], "label": ["a", "b"]},
    "positions as bools": {"positions": np.array([True, False]), "label": ["a", "b"]},
    "positions in two columns": {"positions": np.zeros((1, 2), int), "label": ["a"]},
    "position again": {"positions": [1, 1], "label": ["a", "b"]},
    "a slice backwards": {"positions": slice(3, 1), "label": ["a", "b"]},
    "a slice beyond the end": {"positions": slice(4, 9), "label": ["a"] * 5},
    "ids and positions": {"ids": ["c0"], "positions": [0], "label": ["a"]},
}


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD.keys())
@pytest.mark.parametrize("before", [0, 2])
def test_a_bad_batch_raises_in_its_own_update_and_leaves_no_trace(run, bad, before):
    if before:
        run.update(ids=IDS[:before], label=["x", "b"])
    state = run._intake.to_buffers()
    with pytest.raises((ContractError, UsageError)) as caught:
        run.update(**bad)
    assert isinstance(caught.value, PrimaBenchError)
    assert str(caught.value)
    after = run._intake.to_buffers()
    assert repr(after) == repr(state)
    run.update(ids=IDS[before:], label=LABELS[before:])
    assert value_of(run) == (1.0 if not before else 5 / 6)


def test_every_violation_of_a_batch_is_reported_at_once():
    run = pb.stream(["toy_hits", "toy_unit"], truth={"ids": IDS, "label": LABELS})
    with pytest.raises(ContractError) as caught:
        run.update(ids=["c0", "zz"], label=["a", None], score=[0.5, float("nan")])
    assert {v.field for v in caught.value.violations} == {"ids", "label", "score"}
    assert "zz" in str(caught.value)


def test_a_refused_batch_does_not_decide_between_alternatives():
    run = pb.stream(["toy_either"], truth={"label": [0, 1], "classes": [0, 1]})
    with pytest.raises(ContractError):
        run.update(score=[0.5, float("inf")])
    run.update(probability=[[0.5, 0.5], [0.25, 0.75]])
    assert run.compute()["toy_either"].value == 2.0


def test_a_class_of_a_refused_batch_is_forgotten(run):
    with pytest.raises(ContractError):
        run.update(ids=["c0", "zz"], label=["never", "b"])
    run.update(ids=IDS, label=LABELS)
    assert run._intake.columns()["label"].classes == ("a", "b", "c")


def test_the_error_names_the_row_by_id(run):
    with pytest.raises(ContractError, match="c3"):
        run.update(positions=[2, 3], label=["a", None])
    with pytest.raises(ContractError, match="c3"):
        run.update(ids=["c2", "c3"], label=["a", None])


def test_all_ways_to_name_rows_agree():
    truth = {"ids": IDS, "label": LABELS}
    ways = [
        {"ids": IDS},
        {"ids": np.array(IDS)},
        {"ids": np.array(IDS, object)},
        {"ids": tuple(IDS)},
        {"positions": range(6)},
        {"positions": slice(0, 6)},
        {"positions": np.arange(6, dtype=np.uint8)},
        {"positions": np.arange(6, dtype=np.int32)},
        {"positions": torch.arange(6)},
        {"positions": list(range(6))},
    ]
    results = []
    for way in ways:
        run = pb.stream(["toy_hits"], truth=truth)
        run.update(label=["a", "b", "x", "a", "c", "b"], **way)
        results.append(run.compute().scores_hash)
    assert len(set(results)) == 1


def test_row_numbers_stand_for_ids_where_the_truth_has_none():
    run = pb.stream(["toy_hits"], truth={"label": [0, 1, 1]})
    run.update(ids=torch.tensor([2, 0]), label=[1, 0])
    run.update(ids=np.array([1]), label=[0])
    assert value_of(run) == 2 / 3
    with pytest.raises(ContractError, match="no ids"):
        run.update(ids=["0"], label=[1])


def test_rows_without_ids_come_all_in_one_update():
    run = pb.stream(["toy_hits"], truth={"label": [0, 1, 1]})
    with pytest.raises(ContractError, match="all 3 rows"):
        run.update(label=[0, 1])
    run.update(label=[0, 1, 0])
    assert value_of(run) == 2 / 3
    run.update(label=[0, 1, 0])  # identical content: dropped
    with pytest.raises(ContractError):
        run.update(label=[0, 1, 1])
    assert value_of(run) == 2 / 3


def test_empty_batches_are_legal_anywhere(run):
    run.update(ids=[])
    run.update(ids=[], label=[])
    run.update(positions=[], label=[])
    run.update(ids=IDS[:3], label=LABELS[:3])
    run.update(ids=[], label=np.array([], dtype=np.int64))
    run.update(ids=np.array([], dtype=object), label=np.array([], dtype=object))
    run.update(ids=IDS[3:], label=LABELS[3:])
    assert value_of(run) == 1.0


def test_an_empty_truth_has_no_value():
    result = pb.score("toy_hits", {"label": []}, {"label": []})
    assert (result.value, result.reason) == (None, "too_few_items")
    run = pb.stream(["toy_hits"], truth={"ids": [], "label": []})
    assert run.compute()["toy_hits"].value is None


def test_missing_rows_are_an_error_that_names_them(run):
    run.update(ids=IDS[:4], label=LABELS[:4])
    with pytest.raises(CoverageError, match="c4, c5"):
        run.compute()
    fresh = pb.stream(["toy_hits"], truth={"ids": IDS, "label": LABELS})
    with pytest.raises(CoverageError):
        fresh.compute()


def test_the_callers_arrays_are_not_kept_and_not_changed():
    truth = np.array([0, 1, 1, 0])
    run = pb.stream(["toy_hits"], truth={"label": truth})
    buffer = np.zeros(2, np.int64)
    for start, labels in ((0, [0, 1]), (2, [1, 0])):
        buffer[:] = labels
        run.update(positions=slice(start, start + 2), label=buffer)
        buffer[:] = 9
    truth[:] = 7
    assert value_of(run) == 1.0
    whole = np.array([0, 1, 1, 0])
    run.reset()
    run.update(label=whole)
    whole[:] = 5
    assert value_of(run) == 1.0


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "int64", "uint8"])
def test_tensors_of_every_kind(dtype):
    numbers = [0, 1, 1, 0]
    tensor = torch.tensor(numbers, dtype=getattr(torch, dtype))
    if tensor.is_floating_point():
        tensor.requires_grad_()
    result = pb.score("toy_mean", {"value": tensor}, {"value": [0.0, 1.0, 0.0, 0.0]})
    assert result.value == 0.25


def test_containers():
    pd = pytest.importorskip("pandas")
    ad = pytest.importorskip("anndata")
    xr = pytest.importorskip("xarray")
    labels = ["a", "b", "x", "a", "c", "c"]
    frame = pd.DataFrame({"label": labels}, index=pd.Index(IDS, name="id"))
    cells_only = ad.AnnData(obs=pd.DataFrame({"label": labels}, index=IDS))
    array = xr.Dataset({"label": ("id", np.array(labels, object))}, coords={"id": IDS})
    for predictions in (
        frame,
        cells_only,
        array,
        {"ids": IDS, "label": labels},
        pb.EvalData({"label": labels}, ids=IDS),
    ):
        run = pb.stream(["toy_hits"], truth={"ids": IDS, "label": LABELS})
        run.update(predictions=predictions)
        assert value_of(run) == 5 / 6
    with pytest.raises(UsageError, match="label"):
        run.update(predictions=frame, label=labels)


def test_fields_of_a_container_and_ids_beside_it():
    run = pb.stream(["toy_hits"], truth={"ids": IDS, "label": LABELS})
    run.update(predictions={"label": LABELS}, ids=IDS)
    assert value_of(run) == 1.0


@pytest.mark.parametrize(
    "options",
    [
        {"device": "cuda:99"},
        {"duplicates": "average"},
        {"seed": -1},
        {"seed": 1.5},
        {"seed": True},
        {"labels": {"step": [3]}},
    ],
)
def test_options_that_cannot_be_meant(options):
    with pytest.raises(UsageError):
        pb.stream(["toy_hits"], truth={"label": [0]}, **options)


def test_arguments_that_do_not_go_together():
    with pytest.raises(UsageError):
        pb.Evaluation()
    with pytest.raises(UsageError):
        pb.Evaluation("toy_cells", truth={"label": [0]}, metrics=["toy_hits"])
    with pytest.raises(UsageError):
        pb.Evaluation(truth={"label": [0]})
    with pytest.raises(UsageError):
        pb.stream([], truth={"label": [0]})
    with pytest.raises(UsageError, match="twice"):
        pb.stream(["toy_mean_squared", ("toy_mean", {"power": 2})], truth={"value": [0.5]})


BAD_TRUTHS = {
    "no field": {},
    "another field": {"lable": [0, 1]},
    "an extra field": {"label": [0, 1], "colour": [0, 1]},
    "NaN": {"label": [0.0, float("nan")]},
    "a gap": {"label": ["a", None]},
    "reals": {"label": [0.5, 1.5]},
    "an id again": {"ids": ["x", "x"], "label": [0, 1]},
    "ids as numbers": {"ids": [1, 2], "label": [0, 1]},
    "too few ids": {"ids": ["x"], "label": [0, 1]},
    "a class beyond its classes": {"label": ["a", "z"], "classes": ["a", "b"]},
    "two columns": {"label": [[0, 1], [1, 0]]},
}


@pytest.mark.parametrize("truth", BAD_TRUTHS.values(), ids=BAD_TRUTHS.keys())
def test_bad_truths_are_refused(truth):
    with pytest.raises(ContractError):
        pb.stream(["toy_hits"], truth=truth)
