"""Wide rows that metrics read stay on their device until one asks for them on the host; the values are the same."""

from __future__ import annotations

import numpy as np
import pytest

from primabench_core.errors import ContractError, CoverageError
from primabench_core.evaluation.evaluation import Evaluation
from primabench_core.evaluation.rows_there import rows_there
from primabench_core.state.rows import OnDemand, Rows

torch = pytest.importorskip("torch")

METRICS = ["silhouette", "calinski_harabasz"]


def made(n=60, width=40, dtype=np.float32, seed=0):
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 3, n)
    return label, (np.eye(3, width)[label] * 4 + rng.normal(size=(n, width))).astype(dtype)


def evaluation(label, **options):
    return Evaluation(metrics=METRICS, truth={"label": label}, **options)


def on_host(label, x, **options):
    run = evaluation(label, **options)
    run.update(embedding=x)
    return run.compute()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("form", ["whole", "host positions", "device positions"])
def test_rows_come_home_once_and_only_when_asked_for(gpu, form, dtype):
    label, x = made(dtype=dtype)
    run = evaluation(label, hash_predictions=False)
    order = np.random.default_rng(1).permutation(60)
    for rows in [np.arange(60)] if form == "whole" else np.array_split(order, 4):
        run.update(positions=gpu.put(rows) if form == "device positions" else rows, embedding=gpu.put(x[rows]))
    assert gpu.looks == []
    there = rows_there(run._intake)["embedding"]
    assert max(size for _, size in gpu.looks) <= 8  # whether all is there, and in range
    np.testing.assert_array_equal(there.cpu().numpy(), x)
    gpu.looks.clear()
    found = run.compute()
    assert found.device == "cuda:0"
    assert [size for name, size in gpu.looks if name == "cpu"] == [x.nbytes]  # both metrics ask
    assert found.scores_hash == on_host(label, x, hash_predictions=False).scores_hash
    assert run.n_seen == 60
    assert run.compute().scores_hash == found.scores_hash


def test_a_fingerprint_is_that_of_the_host(gpu):
    label, x = made()
    run = evaluation(label)
    run.update(embedding=gpu.put(x))
    found, expected = run.compute(), on_host(label, x)
    assert (found.predictions_sha256, found.scores_hash) == (expected.predictions_sha256, expected.scores_hash)
    assert [size for name, size in gpu.looks if name == "cpu"] == [x.nbytes]


def test_what_is_not_whole_is_taken_in_by_the_host(gpu):
    label, x = made()
    run = evaluation(label, hash_predictions=False)
    run.update(positions=np.arange(50), embedding=gpu.put(x[:50]))
    assert rows_there(run._intake) == {}
    with pytest.raises(CoverageError):
        run.compute()
    run.update(positions=np.arange(40, 60), embedding=gpu.put(x[40:]))  # ten of them again
    assert rows_there(run._intake) == {}
    assert run.compute().scores_hash == on_host(label, x, hash_predictions=False).scores_hash


@pytest.mark.parametrize("where", [[0, 1, 1], [0, 1, 3], [0, 1, -1]])
def test_positions_that_are_no_order_are_not_one(gpu, where):
    label, x = made(3)
    run = evaluation(label, hash_predictions=False)
    run.update(positions=gpu.put(np.asarray(where)), embedding=gpu.put(x))
    assert rows_there(run._intake) == {}
    with pytest.raises((ContractError, CoverageError)):
        run.compute()


def test_numbers_that_are_none_are_named_as_on_the_host(gpu):
    label, x = made()
    x[5, 1] = np.inf
    told = []
    for value in (x, gpu.put(x)):
        with pytest.raises(ContractError) as caught:
            on_host(label, value, hash_predictions=False)
        told.append([(v.field, v.found, v.ids, v.count) for v in caught.value.violations])
    assert told[0] == told[1]


def test_rows_without_an_answer_are_left_out_there(gpu):
    rng = np.random.default_rng(0)
    stage, place, velocity = np.repeat([0.0, 1.0, 2.0], 20), rng.normal(size=(60, 5)), rng.normal(size=(60, 5))
    stage[[3, 30]] = np.nan
    truth = {"stage": stage, "expression": place, "genes": tuple("abcde")}
    pytest.importorskip("primabench_task_singlecell", reason="its metrics read a nullable field beside wide rows")
    results = []
    for value in (velocity, gpu.put(velocity)):
        run = Evaluation(metrics=["iccoh"], truth=truth, hash_predictions=False)
        run.update(velocity=value, genes=tuple("abcde"))
        results.append(run.compute())
    assert results[1]["iccoh"].n_excluded == {"no_truth": 2}
    assert results[0]["iccoh"].value == results[1]["iccoh"].value is not None


def test_a_column_is_a_tensor_where_the_rows_are(gpu):
    x = np.arange(6.0).reshape(3, 2)
    x.flags.writeable = False
    here = Rows(3, {"embedding": x}, {}).tensor("embedding")
    assert here.is_cpu
    assert here.tolist() == x.tolist()
    sent = Rows(3, {"embedding": x}, {}, device="cuda:0").tensor("embedding")
    assert not sent.is_cpu
    kept = Rows(3, OnDemand({}), {}, device="cuda:0", there={"embedding": sent})
    assert kept.tensor("embedding") is sent
    assert kept.device != kept.take(np.asarray([], np.intp)).device == "cpu"
