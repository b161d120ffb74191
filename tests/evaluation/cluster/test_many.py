"""Many evaluations on threads and on a cluster: the same bits as one, and failures that stay alone."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import primabench_core as pb
from primabench_core.errors import MissingDataError, PluginError, UnknownNameError, UsageError
from primabench_core.evaluation import folding
from primabench_core.evaluation.cluster import Cluster, Threads, Work, steps_of
from primabench_core.evaluation.many import _question
from primabench_core.evaluation.parts import grouped, partitions
from primabench_core.result import from_json


def cut(n, count, seed=0, repeats=0):
    """Uneven cuts of shuffled rows, some of them empty, with some rows in several."""
    rng = np.random.default_rng(seed)
    rows = np.concatenate([rng.permutation(n), rng.integers(0, n, repeats)])
    return np.split(rows, np.sort(rng.integers(0, len(rows) + 1, count - 1)))


def parts_of(predicted, cuts):
    ids, labels = predicted
    return [{"ids": [ids[r] for r in rows], "label": labels[rows]} for rows in cuts]


def same(found, expected):
    assert isinstance(found, pb.EvalResult), found
    assert found.scores_hash == expected.scores_hash
    assert [r.interval for r in found] == [r.interval for r in expected]
    assert found.predictions_sha256 == expected.predictions_sha256


@pytest.mark.parametrize("count", [1, 7, 1_000, pytest.param(10_000, marks=pytest.mark.slow)])
def test_any_number_of_partitions(client, predicted, expected, count):
    parts = parts_of(predicted, cut(len(predicted[0]), count, repeats=20))
    for where in (None, client):
        found = pb.evaluate_many({"model": parts}, task="crowd", client=where, progress=False)
        same(found["model"], expected)


@pytest.mark.parametrize("rows", [None, 97, 31])
def test_a_store_is_read_in_partitions(client, stored, expected, rows):
    for where in (None, client):
        found = pb.evaluate_many({"model": stored}, "crowd", client=where, partition_rows=rows, progress=False)
        same(found["model"], expected)


def _threads_of_a_task():
    """How many threads a task, where this runs, may start."""
    from primabench_core.state.threads import allowed

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("os.sched_getaffinity", lambda _: set(range(8)), raising=False)
        return folding._told(lambda: {"threads": allowed(4)})["threads"]


def test_a_worker_starts_no_threads_of_its_own(client):
    assert client.submit(_threads_of_a_task).result() == 1
    assert _threads_of_a_task() == 4


def test_one_failure_does_not_stop_the_others(client, predicted, stored, expected, tmp_path):
    ids, labels = predicted
    whole = {"ids": ids, "label": labels}
    (tmp_path / "damaged.npz").write_bytes(b"no archive")
    given = {
        "good": stored,
        "gone": str(tmp_path / "gone.zarr"),
        "misspelt": {"ids": ids, "labell": labels},
        "part": {"ids": ids[:10], "label": labels[:10]},
        "torn": str(tmp_path / "damaged.npz"),
        "two opinions": [whole, {"ids": ids[:1], "label": ["ant" if labels[0] != "ant" else "bee"]}],
        "nameless": {"label": labels},
        "also good": whole,
    }
    seen = []
    for where in (None, client):
        found = pb.evaluate_many(given, "crowd", client=where, progress=lambda *step: seen.append(step))
        assert list(found) == list(given)
        same(found["good"], expected)
        same(found["also good"], expected)
        kinds = {name: found[name].kind for name in given if "good" not in name}
        assert kinds == {
            "gone": "MissingDataError",
            "misspelt": "ContractError",
            "part": "CoverageError",
            "torn": "CorruptDataError",
            "two opinions": "ContractError",
            "nameless": "ContractError",
        }
        assert ids[0] in found["two opinions"].reason
        assert "Did you mean 'label'" in found["misspelt"].reason
        assert "id of each row" in found["nameless"].reason
        assert "gone.zarr" in str(found["gone"])
        assert json.dumps(found["gone"].to_dict())
        assert found["good"].labels["model_name"] == "good"
        assert seen[-1][1] == seen[-1][2]
        seen.clear()


def test_a_job_that_was_done_is_not_done_again(predicted, stored, expected, tmp_path, monkeypatch):
    ids, labels = predicted
    held = {"ids": ids, "label": labels}
    given = {"stored": stored, "held / 1": held}
    first = pb.evaluate_many(given, "crowd", results=tmp_path, progress=False)
    files = sorted(tmp_path.iterdir())
    assert len(files) == 2
    assert all(from_json(f.read_text()).scores_hash == expected.scores_hash for f in files)
    (tmp_path / "unrelated.txt").touch()
    monkeypatch.setattr(folding, "whole", None)  # nothing may be folded now
    monkeypatch.setattr(folding, "fold", None)
    again = pb.evaluate_many(given, "crowd", results=tmp_path, labels={"step": "9"}, progress=False)
    for name in given:
        same(again[name], expected)
        assert again[name].labels == {"model_name": name, "step": "9"}
        assert again[name].created == first[name].created
    monkeypatch.undo()
    monkeypatch.setattr(folding, "take", lambda *a: (_ for _ in ()).throw(KeyError("folded")))
    for changed in ({"ci": 0.9}, {"seed": 1}, {"metrics": ["accuracy"]}, {"partial": True}):
        found = pb.evaluate_many(given, "crowd", results=tmp_path, progress=False, **changed)
        assert all(isinstance(f, pb.EvalFailure) for f in found.values()), changed
    other = {"held / 1": {"ids": ids, "label": labels[::-1]}}
    assert isinstance(pb.evaluate_many(other, "crowd", results=tmp_path, progress=False)["held / 1"], pb.EvalFailure)
    chunk = next(p for p in Path(stored).rglob("*") if p.is_file())
    before = chunk.stat()
    import os

    os.utime(chunk, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    touched = pb.evaluate_many({"stored": stored}, "crowd", results=tmp_path, progress=False)
    os.utime(chunk, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert isinstance(touched["stored"], pb.EvalFailure)


def test_a_kept_result_that_was_edited_is_an_error(stored, tmp_path):
    pb.evaluate_many({"a": stored}, "crowd", results=tmp_path, progress=False)
    (file,) = tmp_path.iterdir()
    file.write_text(file.read_text()[:-40])
    found = pb.evaluate_many({"a": stored}, "crowd", results=tmp_path, progress=False)["a"]
    assert found.kind == "ResultError"
    assert file.name in found.reason


def test_what_is_refused_at_once(client, predicted, stored, monkeypatch):
    given = {"a": stored}
    for wrong, error in {
        "no task": ({"task": None}, UsageError),
        "no such task": ({"task": "crowds"}, UnknownNameError),
        "no such dataset": ({"task": "crowd", "dataset": "doe_2020_journal/crowd@9.0.0"}, UnknownNameError),
        "no such metric": ({"task": "crowd", "metrics": ["acuracy"]}, UnknownNameError),
        "a level": ({"task": "crowd", "ci": 3}, UsageError),
        "resources of nobody": ({"task": "crowd", "resources": {"GPU": 1}}, UsageError),
        "no metrics": ({"truth": {"label": ["a"]}}, UsageError),
        "both": ({"task": "crowd", "truth": {"label": ["a"]}}, UsageError),
    }.values():
        with pytest.raises(error):
            pb.evaluate_many(given, **wrong)
    with pytest.raises(UsageError):
        pb.evaluate_many({1: stored}, "crowd")
    with pytest.raises(UsageError, match=r"distributed\.Client"):
        pb.evaluate_many(given, "crowd", client="tcp://somewhere")
    with pytest.raises(UsageError, match=r"No worker of .* has the resources GPU=1"):
        pb.evaluate_many(given, "crowd", client=client, resources={"GPU": 1})
    monkeypatch.setenv("PRIMABENCH_STORE", "/nowhere/at/all")
    with pytest.raises(MissingDataError):
        pb.evaluate_many(given, "crowd")
    monkeypatch.undo()
    assert pb.evaluate_many({}, "crowd") == {}


def test_two_clients_at_once(client, predicted, stored, expected, tmp_path):
    from distributed import Client

    def run(number):
        with Client(client.scheduler.address, set_as_default=False) as own:
            parts = parts_of(predicted, cut(len(predicted[0]), 12, seed=number))
            given = {"parts": parts, "stored": stored}
            return pb.evaluate_many(given, "crowd", client=own, results=tmp_path, partition_rows=100, progress=False)

    with ThreadPoolExecutor(2) as pool:
        for found in pool.map(run, range(2)):
            same(found["parts"], expected)
            same(found["stored"], expected)


def test_tasks_are_few_and_each_step_is_counted(client, stored):
    question = _question("crowd", None, None, None, None, None, OPTIONS, travels=True)
    contract = question.request.contract
    cluster = Cluster(client)
    for rows, count in ((1, 1_500), (40, 38), (2_000, 1)):
        parts = tuple(partitions(stored, contract, {}, rows))
        assert len(parts) == count
        work = Work("a", question, parts)
        steps = list(cluster.run([work]))
        assert len(steps) == steps_of(work, cluster.groups(1)) <= 16 * 2
        assert "result" in steps[-1][1]
        assert [s for _, s in steps[:-1]] == [None] * (len(steps) - 1)
    many = tuple(partitions(stored, contract, {}, 1))
    for groups in (1, 2, 16, 17, 300):
        cut_up = grouped(many, groups)
        assert sum(len(p.ranges) for g in cut_up for p in g) == 1_500
        assert len(cut_up) == groups


OPTIONS = {"seed": 0, "duplicates": "drop_identical", "partial": False, "hash_predictions": True}


@pytest.mark.parametrize("kind", ["threads", "cluster"])
def test_a_repeated_row_is_folded_by_the_lowest_group(client, predicted, expected, kind, monkeypatch):
    """For states that cannot take a row out: ids are read first, and no row is folded in two groups."""
    question = _question("crowd", None, None, None, None, 0.95, OPTIONS, travels=True)
    ids, labels = predicted
    cuts = cut(len(ids), 40, repeats=60)
    parts = parts_of(predicted, cuts)
    made = tuple(partitions(parts, question.request.contract, {}, None))
    backend = Threads(6) if kind == "threads" else Cluster(client)
    state = list(backend.run([Work("a", question, made, ids_first=True)]))[-1][1]
    same(from_json(state["result"]), expected)
    groups = grouped(made, 5)
    owners = folding.own(groups, [folding.locate(question, g) for g in groups])
    assert sum(len(o.taken) for o in owners) > 5
    states = [folding.fold_owned(question, g, owners, i) for i, g in enumerate(groups)]
    assert sum(folding._merged(question, [s])[0].placed.n_seen for s in states) == len(ids)  # disjoint
    wrong = [*parts, {"ids": [ids[5]], "label": ["ant" if labels[5] != "ant" else "bee"]}]
    made = tuple(partitions(wrong, question.request.contract, {}, None))
    state = list(backend.run([Work("a", question, made, ids_first=True)]))[-1][1]
    assert state["error"]["kind"] == "ContractError"
    assert state["error"]["violations"][0]["ids"] == [ids[5]]


def test_a_truth_of_your_own(client, tmp_path):
    from primabench_core.contract.evaldata import EvalData
    from primabench_core.store.zarr_io import write

    rng = np.random.default_rng(3)
    truth = {"ids": [f"r{i}" for i in range(200)], "label": rng.integers(0, 3, 200)}
    write(EvalData({"label": truth["label"]}, ids=truth["ids"]), tmp_path / "truth.zarr")
    label = rng.integers(0, 4, 200)
    expected = pb.stream(["accuracy", "mcc"], truth)
    expected.update(ids=truth["ids"], label=label)
    expected = expected.compute(ci=0.95)
    for own in (truth, str(tmp_path / "truth.zarr")):
        for where in (None, client):
            found = pb.evaluate_many(
                {"a": {"ids": truth["ids"], "label": label}},
                truth=own,
                metrics=["accuracy", "mcc"],
                client=where,
                partition_rows=30,
                progress=False,
            )
            same(found["a"], expected)
    numbered = pb.stream(["accuracy"], {"label": truth["label"]})
    numbered.update(label=label)
    for where in (None, client):
        found = pb.evaluate_many(
            {"all": {"label": label}, "short": {"label": label[:-1]}},
            truth={"label": truth["label"]},
            metrics=["accuracy"],
            ci=None,
            client=where,
            partition_rows=30,
            progress=False,
        )
        same(found["all"], numbered.compute())
        assert found["short"].kind == "ContractError"
        assert "all 200 rows" in found["short"].reason


def test_gpu_workers_need_dask_cuda_and_say_so():
    from primabench_core.evaluation.launch import start

    with pytest.raises((PluginError, UsageError), match=r"dask-cuda|GPU"), start(gpus=True):
        pass


def test_the_preload_imports_torch_once(client):
    import subprocess
    import sys

    code = (
        "import sys; from primabench_core.evaluation.preload import dask_setup\n"
        "assert 'torch' not in sys.modules\ndask_setup(None)\nassert 'torch' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_wide_fields_are_summed_where_they_are_read(client, tmp_path):
    """Rows are not kept, and repeats in other groups are still counted once; a conflict names its row."""
    from primabench_core.contract.evaldata import EvalData
    from primabench_core.store.zarr_io import write

    rng = np.random.default_rng(8)
    n, width = 300, 40
    ids = [f"r{i}" for i in range(n)]
    write(EvalData({"value": rng.normal(size=(n, width))}, ids=ids), tmp_path / "truth.zarr")
    value = rng.normal(size=(n, width)).astype(np.float32)
    metrics = ["pearson", "mse"]
    truth = str(tmp_path / "truth.zarr")
    parts = [{"ids": [ids[r] for r in rows], "value": value[rows]} for rows in cut(n, 12, repeats=40)]
    stored = tmp_path / "predictions.zarr"
    order = rng.permutation(n)
    write(EvalData({"value": value[order]}, ids=[ids[i] for i in order]), stored, chunk_bytes=4096, shard_bytes=8192)
    wrong = [*parts, {"ids": [ids[7]], "value": value[8:9]}]
    options = {"truth": truth, "metrics": metrics, "ci": None, "progress": False}
    expected = pb.evaluate_many({"whole": {"ids": ids, "value": value}}, **options)["whole"]
    assert {r.name: r.status for r in expected} == {"pearson": "ok", "mse": "ok"}
    for where in (None, client):
        found = pb.evaluate_many({"parts": parts, "stored": str(stored), "wrong": wrong}, client=where, **options)
        same(found["parts"], expected)
        same(found["stored"], expected)
        assert found["wrong"].kind == "ContractError"
        assert "r7" in found["wrong"].reason
