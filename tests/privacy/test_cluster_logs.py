"""What worker processes of a Dask cluster log and print, at any level, holds nothing of the solution."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

import primabench_core as pb
from primabench_core.evaluation.launch import start

distributed = pytest.importorskip("distributed", reason='a cluster needs pip install "primabench-core[cluster]"')

ASKED = [
    ("vault_types", None),
    ("vault_types", "vault_raises"),
    ("vault_types", "vault_talks"),
    ("vault_types", "vault_refuses"),
    ("vault_types", "vault_checks"),
    ("vault_values", None),
    ("vault_values", "vault_counts"),
    ("vault_values", "vault_misuses"),
]
"""Tasks with their panel, and with metrics that raise, refuse, quote and log on purpose."""


@pytest.fixture
def cluster(vault, tmp_path, caplog):
    """(client, folder of logs): two worker processes that log at level DEBUG; scheduler and client log here."""
    own = logging.getLogger("distributed")
    own.addHandler(caplog.handler)  # it does not hand its records on
    folder = tmp_path / "heard"
    folder.mkdir()
    try:
        with start(2) as here, distributed.Client(here, set_as_default=False) as client:
            client.wait_for_workers(2, timeout=30)
            client.run(vault.module.listen, str(folder))
            yield client, folder
    finally:
        own.removeHandler(caplog.handler)


def heard(client, folder: Path) -> str:
    """Files of the workers, and what Dask keeps of its own logs on workers, nannies and the scheduler."""
    texts = [path.read_text() for path in sorted(folder.iterdir())]
    kept = [client.get_scheduler_logs()]
    for nanny in (False, True):
        kept += client.get_worker_logs(nanny=nanny).values()
    return "\n".join(texts + [text for lines in kept for _, text in lines])


def scored(vault, client):
    """Every question; rows in three parts, so that workers fold, merge and score."""
    for task, metric in ASKED:
        given = vault.labels() if task == "vault_types" else vault.values()
        metrics = None if metric is None else [metric]
        options = {"client": client, "metrics": metrics, "partition_rows": 20, "progress": False}
        yield metric or task, pb.evaluate_many({"a": given}, task, **options)["a"]


def test_workers_log_and_print_no_answer(vault, cluster, caplog):
    client, folder = cluster
    found = dict(scored(vault, client))
    for item in vault.search.reachable(found):
        vault.needles.clean(item, vault.search.pickled(item))
    assert found["vault_raises"]["vault_raises"].status == "failed"
    assert found["vault_refuses"].kind == "ContractError"
    assert found["vault_misuses"].kind == "UsageError"
    assert found["vault_counts"]["vault_counts"].reason == "not_applicable"

    before = heard(client, folder)
    client.run(vault.module.let_errors_out)
    escaped = dict(scored(vault, client))
    assert escaped["vault_misuses"].kind == "DistributedError"
    everything = heard(client, folder)
    assert "Compute Failed" not in before
    assert "Compute Failed" in everything  # what Dask says itself about a task that raises: arguments and error
    assert everything.count("\nlistening") >= 2  # both workers' prints
    assert "vault DEBUG scored 60 units" in everything
    assert "distributed.worker" in everything
    vault.needles.clean(everything, everything.encode())
    assert len(everything) > 5000
    assert "test-unit-" not in everything  # ids of the solution's rows

    client.run(vault.module.whisper)  # the net is fine enough to catch one word
    found = vault.needles.in_text(heard(client, folder))
    assert {vault.module.SECRET_CLASS, repr(vault.module.SECRET_VALUES[0])} <= set(found)


def test_workers_that_bring_answers_from_a_remote_store_log_no_address_of_them(vault, cluster):
    client, folder = cluster
    servers = vault.load_beside("store/servers.py")
    server = servers.FileServer(vault.store)
    try:
        client.run(vault.module.read_from, server.url)
        given = {"a": vault.labels()}
        options = {"client": client, "partition_rows": 20, "progress": False, "ci": None}
        result = pb.evaluate_many(given, "vault_types", **options)["a"]
    finally:
        server.stop()
    assert result.scores == pb.evaluate("vault_types", given["a"], ci=None).scores
    asked = [path for path, _ in server.asked if "/private/" in path]
    assert any("/c/" in path for path in asked)  # workers fetched answers
    everything = heard(client, folder)
    assert "fsspec" in everything
    vault.needles.clean(everything)
    assert not [path for path in asked if path in everything]
