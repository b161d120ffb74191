"""Predictions on a device are reduced there: the same bits, no look of the host in an update, few afterwards."""

from __future__ import annotations

import gc
import importlib.util
import pickle
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from primabench_core.errors import ContractError, CoverageError, UsageError
from primabench_core.evaluation import pending
from primabench_core.evaluation.evaluation import Evaluation
from primabench_core.evaluation.oneshot import score
from primabench_core.state import torch_rows
from primabench_core.state.column_moments import ColumnMoments
from primabench_core.state.column_sums import ColumnSums
from primabench_core.state.grouped_sums import GroupedSums

torch = pytest.importorskip("torch")

CLASSES = ["accuracy", "macro_f1", "mcc", "balanced_accuracy"]
SUMS = ["mse", "mae", "r2", "pearson", "pearson{per: feature}"]
WIDTH = 40


def matrix():
    path = Path(__file__).parents[1] / "matrix.py"
    spec = importlib.util.spec_from_file_location("device_matrix", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def labels(n=500, k=7, seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(0, k, n), rng.integers(0, k, n)


def wide(n=90, m=WIDTH, dtype=np.float32, seed=0):
    rng = np.random.default_rng(seed)
    y = (rng.normal(size=(n, m)) * 10.0 ** rng.integers(-2, 3, m)).astype(dtype)
    x = (y + rng.normal(size=(n, m))).astype(dtype)
    y[:, 3], x[:, 5] = 0.1, 0.25
    return x, y


def bits(result):
    return [(r.name, r.value, r.status, r.n, dict(r.per_unit)) for r in result], result.scores_hash


def fed(gpu, metrics, truth, batches, *, forbid=True, **options):
    """An evaluation that was given (positions, fields) on the device, where no update may look."""
    run = Evaluation(metrics=metrics, truth=truth, **options)
    gpu.forbidden = forbid
    for positions, fields in batches:
        run.update(positions=positions, **{name: gpu.put(values) for name, values in fields.items()})
    gpu.forbidden = False
    return run


def cut(n, size=64, seed=0):
    order = np.random.default_rng(seed).permutation(n)
    return [order[i : i + size] for i in range(0, n, size)]


# -- the same bits, and how often the host looks ----------------------------------------------------------------------


def test_labels_cross_once_for_the_hash(gpu):
    y, p = labels()
    host = Evaluation(metrics=CLASSES, truth={"label": y})
    host.update(label=p)
    run = fed(gpu, CLASSES, {"label": y}, [(rows, {"label": p[rows]}) for rows in cut(len(y))])
    assert gpu.looks == []
    found, expected = run.compute(), host.compute()
    assert bits(found) == bits(expected)
    assert found.predictions_sha256 == expected.predictions_sha256
    assert gpu.looks == [("cpu", p.nbytes)]
    assert (found.device, expected.device) == ("cuda:0", "cpu")
    assert bits(run.compute()) == bits(found)
    assert len(gpu.looks) == 1


def test_without_the_hash_only_a_table_crosses(gpu):
    y, p = labels()
    batches = [(gpu.put(rows), {"label": p[rows]}) for rows in cut(len(y))]
    run = fed(gpu, CLASSES, {"label": y}, batches, hash_predictions=False)
    found = run.compute()
    assert gpu.looks == [("cpu", 8 * (1 + 7 * 7))]
    host = Evaluation(metrics=CLASSES, truth={"label": y}, hash_predictions=False)
    host.update(label=p)
    assert bits(found) == bits(host.compute())
    assert found.coverage == 1.0
    assert bits(run.compute(ci=0.9))[1] == bits(found)[1]  # an interval needs the rows
    assert run.n_seen == len(y)


@pytest.mark.parametrize("hashed", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sums_of_wide_fields(gpu, hashed, dtype):
    x, y = wide(dtype=dtype)
    host = Evaluation(metrics=SUMS, truth={"value": y}, hash_predictions=hashed)
    host.update(value=x)
    expected = host.compute()
    batches = [(rows, {"value": x[rows]}) for rows in cut(len(y), 16)]
    run = fed(gpu, SUMS, {"value": y}, batches, hash_predictions=hashed, forbid=not hashed)
    in_updates, gpu.looks = gpu.looks, []
    found = run.compute()
    assert bits(found) == bits(expected)
    assert found.predictions_sha256 == expected.predictions_sha256
    sizes = [size for name, size in in_updates]
    assert sizes == ([16 * WIDTH * x.itemsize] * 5 + [10 * WIDTH * x.itemsize] if hashed else [])
    crossed = sum(size for name, size in gpu.looks if name == "cpu")
    assert all(name in ("cpu", "__bool__") for name, _ in gpu.looks)
    a_row = 8 * (2 + (0 if hashed else 2))  # two errors, two words of a digest
    of_sums = 8 * WIDTH * (5 * 2 * 3 * 2 + 4) * 2 + 200
    assert crossed <= len(x) * a_row + of_sums
    assert crossed < x.nbytes * 4


def test_rows_of_a_field_that_a_metric_reads(gpu):
    rng = np.random.default_rng(1)
    y, s = rng.integers(0, 2, 300), rng.random(300).astype(np.float32)
    run = fed(gpu, ["auroc", "average_precision"], {"label": y}, [(r, {"score": s[r]}) for r in cut(300)])
    host = Evaluation(metrics=["auroc", "average_precision"], truth={"label": y})
    host.update(score=s)
    assert bits(run.compute()) == bits(host.compute())
    assert gpu.looks == [("cpu", s.nbytes)]


def test_every_registered_metric(gpu):
    alike, there = 0, 0
    for name, metrics, case in matrix().cases(every=True):
        truth = {"ids": list(case.ids), **case.truth}
        host = Evaluation(metrics=metrics, truth=truth, partial=True)
        run = Evaluation(metrics=metrics, truth=truth, partial=True)
        fields = dict(case.prediction)
        host.update(ids=list(case.ids), **fields)
        moved = {
            k: gpu.put(v)
            if isinstance(v, np.ndarray) and v.dtype.kind in "fiub" and k not in ("classes", "genes")
            else v
            for k, v in fields.items()
        }
        run.update(ids=list(case.ids), **moved)
        found, expected = run.compute(), host.compute()
        assert bits(found) == bits(expected), name
        assert found.predictions_sha256 == expected.predictions_sha256, name
        alike += 1
        there += found.device != "cpu"
    assert alike > 20
    assert there > 10


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sums_cross_in_one_copy(gpu, dtype):
    x, y = wide(300, dtype=dtype)
    a, b, codes = gpu.put(x), gpu.put(y), np.arange(300) % 7
    for add, looks in (
        (lambda: ColumnSums(WIDTH).add(a), 1),
        (lambda: ColumnSums(WIDTH).add_product(a, b), 1),
        (lambda: GroupedSums(7, WIDTH).add(a, codes), 1),
        (lambda: ColumnMoments(WIDTH).add(a, b), 1 if dtype == np.float32 else 6),
    ):
        gpu.looks = []
        add()
        assert [name for name, _ in gpu.looks] == ["cpu"] * looks


@pytest.mark.parametrize("kept", [True, False])
def test_a_truth_that_is_too_large_to_stay(gpu, monkeypatch, kept):
    monkeypatch.setattr(torch_rows, "_KEPT_BYTES", 1 << 32 if kept else 10)
    before = len(torch_rows._copies)
    x, y = wide()
    run = fed(gpu, SUMS, {"value": y}, [(r, {"value": x[r]}) for r in cut(90, 16)], hash_predictions=False)
    host = Evaluation(metrics=SUMS, truth={"value": y}, hash_predictions=False)
    host.update(value=x)
    assert bits(run.compute()) == bits(host.compute())
    assert len(torch_rows._copies) == before + kept
    del run, host
    gc.collect()
    assert len(torch_rows._copies) == before


@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.permutations(range(24)), st.lists(st.integers(0, 24), max_size=4), st.sets(st.integers(0, 23)), st.booleans())
def test_any_cut_order_and_side(gpu, order, cuts, again, hashed):
    x, y = wide(24)
    host = Evaluation(metrics=SUMS, truth={"value": y}, hash_predictions=hashed)
    host.update(value=x)
    run = Evaluation(metrics=SUMS, truth={"value": y}, hash_predictions=hashed)
    cuts = [0, *sorted(cuts), 24]
    parts = [np.array(order[a:b], np.int64) for a, b in pairwise(cuts)]
    for i, rows in enumerate([*parts, np.array(sorted(again), np.int64)]):
        if len(rows):  # every third batch comes from the host
            run.update(positions=rows, value=x[rows] if i % 3 == 2 else gpu.put(x[rows]))
    found, expected = run.compute(), host.compute()
    assert bits(found) == bits(expected)
    assert found.predictions_sha256 == expected.predictions_sha256


# -- forms -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
def test_types(gpu, dtype):
    y, s = np.array([0, 1, 1, 0]), torch.tensor([0.25, 0.5, 0.75, 1.0], dtype=dtype, requires_grad=True)
    run = Evaluation(metrics=["auroc"], truth={"label": y})
    run.update(positions=[0, 1], score=s[:2].detach().to("cuda"))
    run.update(positions=gpu.put(np.array([3, 2])), score=gpu.put(np.float32([1.0, 0.75])))
    host = Evaluation(metrics=["auroc"], truth={"label": y})
    host.update(score=s)
    assert run.compute().predictions_sha256 == host.compute().predictions_sha256


def test_a_device_can_be_asked_for(gpu):
    y, p = labels(60)
    run = Evaluation(metrics=CLASSES, truth={"label": y}, device="cuda")
    run.update(positions=range(30), label=p[:30])
    run.update(positions=range(30, 60), label=torch.from_numpy(p[30:]))
    assert run.compute().device == "cuda:0"
    at_home = Evaluation(metrics=CLASSES, truth={"label": y}, device="cpu")
    at_home.update(label=gpu.put(p))
    assert not at_home._intake.pending
    assert bits(at_home.compute()) == bits(run.compute())
    assert score("accuracy", {"label": gpu.put(p)}, {"label": y}).value == (y == p).mean()
    assert score("accuracy", {"label": p}, {"label": y}, device="cuda").value == (y == p).mean()


def test_columns_in_another_order(gpu):
    x, y = wide()
    names = [f"g{i}" for i in range(WIDTH)]
    order = np.random.default_rng(0).permutation(WIDTH)
    truth = {"value": y, "genes": names}
    run, host = (Evaluation(metrics=SUMS, truth=truth, hash_predictions=False) for _ in range(2))
    gpu.forbidden = True
    for rows in np.array_split(np.arange(len(x)), 3):
        run.update(positions=rows, value=gpu.put(x[rows][:, order]), genes=[names[i] for i in order])
    gpu.forbidden = False
    host.update(value=x)
    assert bits(run.compute()) == bits(host.compute())


def test_the_callers_tensor_may_be_used_again(gpu):
    y, p = labels(64)
    run = Evaluation(metrics=CLASSES, truth={"label": y})
    buffer, places = gpu.put(p[:32]), gpu.put(np.arange(32))
    run.update(positions=places, label=buffer)
    buffer[:], places[:] = gpu.put(p[32:]), gpu.put(np.arange(32, 64))
    run.update(positions=places, label=buffer)
    assert run.compute()["accuracy"].value == (y == p).mean()


def test_text_stays_on_the_host(gpu):
    run = Evaluation(metrics=["accuracy"], truth={"label": ["a", "b"]}, device="cuda")
    run.update(label=["a", "a"])
    assert not run._intake.pending
    result = run.compute()
    assert (result["accuracy"].value, result.device, gpu.looks) == (0.5, "cpu", [])


def test_batches_of_both_kinds(gpu):
    y, p = labels(64)
    run = Evaluation(metrics=CLASSES, truth={"label": y})
    run.update(positions=range(20), label=gpu.put(p[:20]))
    run.update(positions=range(10, 40), label=p[10:40])
    run.update(positions=range(30, 64), label=gpu.put(p[30:]))
    assert run.n_seen == 64
    host = Evaluation(metrics=CLASSES, truth={"label": y})
    host.update(label=p)
    assert bits(run.compute()) == bits(host.compute())


def test_nothing_waits_for_ever(gpu, monkeypatch):
    monkeypatch.setattr(pending, "LIMIT", 5 * 16 * WIDTH * 4)
    x, y = wide(400)
    batches = [(r, {"value": x[r]}) for r in cut(400, 16)]
    run = fed(gpu, SUMS, {"value": y}, batches, hash_predictions=False, forbid=False)
    assert run._intake.pending.bytes <= 5 * 16 * WIDTH * 4
    assert run._intake._placed.n_seen > 200
    host = Evaluation(metrics=SUMS, truth={"value": y}, hash_predictions=False)
    host.update(value=x)
    assert bits(run.compute()) == bits(host.compute())
    assert bits(pickle.loads(pickle.dumps(run)).compute()) == bits(host.compute())


def test_merged_and_pickled(gpu):
    x, y = wide()
    parts = []
    for rows in (slice(0, 50), slice(45, 90)):  # five rows in both
        part = Evaluation(metrics=SUMS, truth={"value": y})
        part.update(positions=rows, value=gpu.put(x[rows]))
        parts.append(part)
    host = Evaluation(metrics=SUMS, truth={"value": y})
    host.update(value=x)
    assert bits(parts[0].merge(parts[1]).compute()) == bits(host.compute())
    parts = [pickle.loads(pickle.dumps(part)) for part in parts]
    assert bits(parts[1].merge(parts[0]).compute()) == bits(host.compute())


# -- what is wrong -----------------------------------------------------------------------------------------------------


def test_bad_numbers_are_told_at_compute_with_their_ids(gpu):
    ids = [f"cell-{i}" for i in range(6)]
    for bad, word in ((np.nan, "NaN"), (np.inf, "infinite")):
        run = Evaluation(metrics=["auroc"], truth={"ids": ids, "label": [0, 1, 0, 1, 0, 1]})
        gpu.forbidden = True
        run.update(ids=ids[:3], score=gpu.put(np.float32([0.1, 0.2, 0.3])))
        run.update(ids=ids[3:], score=gpu.put(np.float32([0.1, bad, 0.3])))
        gpu.forbidden = False
        with pytest.raises(ContractError, match=rf"{word}(.|\n)*cell-4"):
            run.compute()
        assert run.n_seen == 3  # the bad batch left no trace
        run.update(ids=ids[3:], score=gpu.put(np.float32([0.1, 0.5, 0.3])))
        assert run.compute().coverage == 1.0


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("hashed", [True, False])
def test_bad_numbers_of_wide_rows(gpu, bad, hashed):
    x, y = wide()
    x[70, 2] = bad
    run = Evaluation(metrics=SUMS, truth={"value": y}, hash_predictions=hashed)
    for rows in np.array_split(np.arange(90), 3):
        run.update(positions=rows, value=gpu.put(x[rows]))
    with pytest.raises(ContractError, match=r"value(.|\n)*70"):
        run.compute()
    assert run.n_seen == 60
    with pytest.raises(CoverageError):
        run.compute()


@pytest.mark.parametrize("hashed", [True, False])
def test_repeats(gpu, hashed):
    y, p = labels(64)
    for rule in ("drop_identical", "refuse"):
        run = Evaluation(metrics=CLASSES, truth={"label": y}, duplicates=rule, hash_predictions=hashed)
        run.update(positions=range(64), label=gpu.put(p))
        run.update(positions=gpu.put(np.array([5, 9])), label=gpu.put(p[[5, 9]]))
        if rule == "refuse":
            with pytest.raises(ContractError, match=r"(?s)again.*5, 9"):
                run.compute()
        assert run.compute()["accuracy"].value == (y == p).mean()
    run = Evaluation(metrics=CLASSES, truth={"label": y}, hash_predictions=hashed)
    run.update(positions=range(64), label=gpu.put(p))
    run.update(positions=gpu.put(np.array([5, 9])), label=gpu.put((p[[5, 9]] + 1) % 7))
    with pytest.raises(ContractError, match=r"(?s)different content.*5, 9"):
        run.compute()


@pytest.mark.parametrize("hashed", [True, False])
def test_places_on_the_device_that_are_none(gpu, hashed):
    y, p = labels(8)
    for wrong in (8, -1):
        run = Evaluation(metrics=["accuracy"], truth={"label": y}, hash_predictions=hashed)
        run.update(positions=gpu.put(np.array([0, wrong])), label=gpu.put(p[:2]))
        with pytest.raises(ContractError, match=rf"row numbers from 0 to 7.*(.|\n)*{wrong}"):
            run.compute()
    run = Evaluation(metrics=["accuracy"], truth={"label": y}, hash_predictions=hashed)
    run.update(positions=range(7), label=gpu.put(p[:7]))
    with pytest.raises(CoverageError):
        run.compute()


def test_classes_that_the_truth_does_not_have(gpu):
    y, p = labels(40)
    p[4] = 99
    run, host = (Evaluation(metrics=CLASSES, truth={"label": y}, hash_predictions=False) for _ in range(2))
    run.update(label=gpu.put(p))
    host.update(label=p)
    found = run.compute()
    assert bits(found) == bits(host.compute())
    assert found["accuracy"].values["n_unknown_labels"] == 1


def test_what_a_tensor_says_of_itself_is_checked_at_once(gpu):
    y, _ = labels(8)
    run = Evaluation(metrics=["accuracy"], truth={"label": y})
    for wrong in (np.zeros(8), np.zeros((8, 2), np.int64), np.zeros(7, np.int64)):
        with pytest.raises(ContractError):
            run.update(label=gpu.put(wrong))
    with pytest.raises(ContractError):
        run.update(positions=range(3), label=gpu.put(np.zeros(2, np.int64)))
    with pytest.raises(ContractError):
        run.update(positions=[0, 8], label=gpu.put(np.zeros(2, np.int64)))
    assert not run._intake.pending


@pytest.mark.parametrize("device", ["meta", "gpu", "cuda:99", 3.5])
def test_no_such_device(device):
    with pytest.raises(UsageError, match="device"):
        Evaluation(metrics=["accuracy"], truth={"label": [0, 1]}, device=device)


def test_many_rows_of_one_unit_come_to_the_host(gpu):
    pytest.importorskip("primabench_task_perturbation", reason="metrics over units are those of that plugin")
    x, y = wide()
    expected = score("l2_pseudobulk", {"value": x}, {"value": y}).value
    for how in ({}, {"positions": np.arange(len(x))}, {"ids": [f"c{i}" for i in range(len(x))]}):
        run = Evaluation(metrics=["l2_pseudobulk"], truth={"value": y})
        run.update(value=gpu.put(x), **how)
        assert run.compute().scores == {"l2_pseudobulk": expected}
