"""Workers that die, tasks that run again, disks that are full: the result has the same bits, or the reason is told."""

from __future__ import annotations

import os
import signal
import threading
import time

import numpy as np
import pytest

import primabench_core as pb
from primabench_core.evaluation import folding
from primabench_core.evaluation.many import _question
from primabench_core.evaluation.parts import grouped, partitions
from primabench_core.evaluation.travel import pack
from primabench_core.result import from_json

OPTIONS = {"seed": 0, "duplicates": "drop_identical", "partial": False, "hash_predictions": True}


def killed_meanwhile(client, step, folder, act):
    """What comes of it when the first worker that reaches this step is killed there."""
    client.run(pb_disturb("linger"), step, str(folder), 1.0)
    victims = []

    def kill():
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not victims:
            for marker in folder.iterdir():
                victims.append(int(marker.name.rpartition("-")[2]))
                os.kill(victims[0], signal.SIGKILL)
                return
            time.sleep(0.02)

    thread = threading.Thread(target=kill)
    thread.start()
    found = act()
    thread.join()
    assert victims, "nobody reached the step"
    return found, victims[0]


def pb_disturb(name):
    import crowd_plugin

    return getattr(crowd_plugin, name)


@pytest.mark.parametrize("step", ["take", "_merged"])
def test_a_worker_is_killed_during(client, stored, expected, tmp_path, step):
    before = set(client.scheduler_info()["workers"])
    found, _ = killed_meanwhile(
        client,
        step,
        tmp_path,
        lambda: pb.evaluate_many(
            {"a": stored, "b": stored}, "crowd", client=client, partition_rows=400, progress=False
        ),
    )
    for result in found.values():
        assert isinstance(result, pb.EvalResult), result
        assert result.scores_hash == expected.scores_hash
    client.wait_for_workers(2, timeout=60)
    assert set(client.scheduler_info()["workers"]) != before


def test_completion_in_any_order(client, stored, expected):
    for seed in range(3):
        client.run(pb_disturb("shuffle"), seed)
        found = pb.evaluate_many({"a": stored}, "crowd", client=client, partition_rows=50, progress=False)
        assert found["a"].scores_hash == expected.scores_hash


def test_a_task_that_runs_twice_gives_the_same_state(stored, expected):
    question = _question("crowd", None, None, None, None, None, OPTIONS, travels=False)
    groups = grouped(partitions(stored, question.request.contract, {}, 100), 4)
    once = [folding.fold(question, g) for g in groups]
    twice = [folding.fold(question, g) for g in groups]
    for a, b in zip(once, twice, strict=True):
        assert pack(a["intake"]) == pack(b["intake"])
    merged = [folding.combine(question, once[:2]), folding.combine(question, twice[2:])]
    for states in (once, twice, once[::-1], merged, [*once, *twice]):  # the last as if a state had been delivered twice
        assert from_json(folding.finish(question, states)["result"]).scores_hash == expected.scores_hash


def test_a_full_disk_is_the_reason_and_nothing_stays_broken(client, stored, expected):
    client.run(pb_disturb("fill_disk"))
    found = pb.evaluate_many({"a": stored}, "crowd", client=client, progress=False)["a"]
    assert isinstance(found, pb.EvalFailure)
    assert "No space left on device" in found.reason
    assert "worker tcp://" in found.reason
    client.run(pb_disturb("heal"))
    assert pb.evaluate_many({"a": stored}, "crowd", client=client, progress=False)["a"].scores_hash == (
        expected.scores_hash
    )


def test_a_task_that_ends_every_worker_is_told(stored, crowd):
    import dask
    from distributed import Client

    from primabench_core.evaluation.cluster import Cluster, Work
    from primabench_core.evaluation.launch import start

    question = _question("crowd", None, None, None, None, None, OPTIONS, travels=True)

    class Deadly(Cluster):
        def _submit(self, work, cut, token, priority):
            return [self.client.submit(crowd.die, key=f"deadly-{token}", pure=False)]

    work = Work("a", question, tuple(partitions(stored, question.request.contract, {}, None)))
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        start(1) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        state = list(Deadly(client).run([work]))[-1][1]
    assert "ended every worker" in state["error"]["message"]


def test_a_worker_with_another_store_says_which(client, stored, crowd, tmp_path):
    store = os.environ["PRIMABENCH_STORE"]
    client.run(crowd.move_store, str(tmp_path / "elsewhere"))
    try:
        found = pb.evaluate_many({"a": stored}, "crowd", client=client, progress=False)["a"]
    finally:
        client.run(crowd.move_store, store)
    assert found.kind == "MissingDataError"
    for told in ("worker tcp://", crowd.KEY, str(tmp_path / "elsewhere")):
        assert told in found.reason
    assert "PRIMABENCH_STORE" in found.remedy
    assert "private" not in str(found)


def test_a_store_that_holds_other_bytes_under_the_key_is_refused(client, stored, crowd, tmp_path, monkeypatch):
    import json
    import shutil
    from pathlib import Path

    store = Path(os.environ["PRIMABENCH_STORE"])
    other = tmp_path / "other"
    shutil.copytree(store, other)
    manifest = next(other.glob("*/output/*/v1.0.0/manifest.json"))
    document = json.loads(manifest.read_text())
    document["content_hash"] = "f" * 64
    manifest.write_text(json.dumps(document))
    client.run(crowd.move_store, str(other))
    try:
        found = pb.evaluate_many({"a": stored}, "crowd", client=client, progress=False)["a"]
    finally:
        client.run(crowd.move_store, str(store))
    assert found.kind == "CorruptDataError"


def test_each_worker_opens_the_solution_once(client, stored, crowd):
    client.run(crowd.forget)
    pb.evaluate_many({str(i): stored for i in range(5)}, "crowd", client=client, partition_rows=200, progress=False)
    assert set(client.run(crowd.opened).values()) == {1}


def test_threads_open_it_once_too(stored, crowd, monkeypatch):
    from primabench_core.store import access

    crowd.forget()
    opened = []
    real = access.open_solution
    monkeypatch.setattr(access, "open_solution", lambda *a, **k: opened.append(a) or real(*a, **k))
    pb.evaluate_many({str(i): stored for i in range(6)}, "crowd", partition_rows=100, progress=False)
    assert len(opened) == 1
    assert np.size(opened) > 0
