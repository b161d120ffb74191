"""Made registries and results, and a PostgreSQL server of its own where one is installed."""

from __future__ import annotations

import copy
import getpass
import json
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from primabench_board.ledger import Ledger
from primabench_board.metrics import METRICS
from primabench_board.registry import Registry, parse_registry
from primabench_board.result_file import parse_result
from primabench_board.submission import Submission

REGISTRY = """
name: immune
title: Immune boards
organisation: {name: Example Institute, url: "https://example.org", location: London, contact: boards@example.org}
modalities:
  - {id: bulk-rna, title: Bulk RNA-seq, about: RNA of whole tissue samples.}
  - {id: proteomics, title: Proteomics}
areas:
  - {id: dermatology, title: Dermatology}
  - {id: rheumatology, title: Rheumatology}
  - {id: oncology, title: Oncology}
categories:
  - {id: treatment-outcome, title: Treatment outcome, metric: auroc}
  - {id: clinical-scores, title: Clinical scores, metric: pearson}
  - {id: endotype, title: Endotype, metric: auroc}
datasets:
  - {id: d001, modality: bulk-rna}
  - {id: d002, modality: bulk-rna}
  - {id: d003, modality: proteomics}
tasks:
  - {id: t1, dataset: d001, area: dermatology, category: treatment-outcome, metric: auroc, title: Response}
  - {id: t2, dataset: d001, area: dermatology, category: clinical-scores, metric: pearson, title: Severity}
  - {id: t3, dataset: d002, area: rheumatology, category: endotype, metric: auroc, title: Endotype}
  - {id: t4, dataset: d002, area: rheumatology, category: clinical-scores, metric: pearson, title: Joints}
  - {id: t5, dataset: d003, area: dermatology, category: clinical-scores, metric: pearson, title: Extent}
open:
  - {modality: bulk-rna, area: oncology}
  - {modality: proteomics, area: dermatology}
  - {modality: single-cell}
"""

SHA = "a" * 64
AT = "2025-03-01T19:30:00Z"
"""When submissions of the tests were submitted, if they do not say another time."""
SCORED: dict[str, Any] = {
    "chance": 0.5,
    "class_counts": {"A": 40, "B": 40},
    "classes_left_out": [],
    "detail": None,
    "flags": ["interval_without_refit"],
    "folds": {"grouped": False, "kind": "folds", "n": 5, "stratified": True},
    "hashes": {"embedding_sha256": "2" * 64, "labels_sha256": "1" * 64},
    "interval": {
        "draws": 2000, "dropped": 0, "high": 0.9, "level": 0.95, "low": 0.7, "method": "percentile", "n_units": 78,
        "unit": "patient",
    },
    "n": 80,
    "n_units": 78,
    "per_fold": {"0": 0.5, "1": None},
    "pooled_centered": None,
    "probe": {"chosen": {"0": 0.01}, "id": "linear-probe/1", "sha256": "0" * 64},
    "reason": None,
    "resolvable": True,
    "status": "scored",
    "width": 16,
}  # fmt: skip
NOTHING = {
    "value": None, "pooled": None, "fold_mean": None, "interval": None, "n": None, "n_units": None, "width": None,
    "class_counts": None, "resolvable": None, "per_fold": {},
}  # fmt: skip

Make = Callable[..., Submission]


def document(
    registry: Registry,
    name: str,
    scores: Mapping[str, float | str],
    *,
    half: float = 0.05,
    at: str = AT,
    **model: Any,
) -> dict[str, Any]:
    """A result as plain values: a number is a score, a text the reason of a task that was skipped."""
    found = []
    for task in sorted(registry.tasks.values(), key=lambda t: t.id):
        if task.id not in scores:
            continue
        value = scores[task.id]
        one = copy.deepcopy(SCORED) | {"task": task.id, "dataset": task.dataset, "metric": task.metric}
        one["chance"] = METRICS[task.metric].chance
        if isinstance(value, str):
            one |= NOTHING | {"status": "skipped", "reason": value, "detail": "sample s99 is missing"}
            one["hashes"] = {"embedding_sha256": None, "labels_sha256": None}
        else:
            one |= {"value": value, "pooled": value, "fold_mean": value}
            low = 0.0 if task.metric == "auroc" else -1.0
            one["interval"] |= {"low": max(low, value - half), "high": min(1.0, value + half)}
        found.append(one)
    scored = sum(one["status"] == "scored" for one in found)
    return {
        "format": "primabench-patient-scores",
        "schema_version": 1,
        "model": {"name": name, "organisation": None, "owner": "ann", "family": None, "is_baseline": False} | model,
        "submitted_at": at,
        "submission_sha256": SHA,
        "submission": {
            "format": "csv", "bytes": 10, "rows": 80, "width": {"d001": 16},
            "warnings": [{"code": "unknown_sample", "message": "s77 is not of d001"}],
        },
        "registry_sha256": SHA,
        "synthetic": registry.synthetic,
        "complete": scored == len(found),
        "counts": {"scored": scored, "skipped": len(found) - scored, "failed": 0},
        "scores": found,
        "versions": {"primabench-core": "0.1.0"},
    }  # fmt: skip


def submission(registry: Registry, name: str, scores: Mapping[str, float | str], **more: Any) -> Submission:
    return parse_result(json.dumps(document(registry, name, scores, **more)))


ALL = {"t1": 0.8, "t2": 0.4, "t3": 0.7, "t4": 0.3}
"""Scores that cover every board of bulk RNA and none of proteomics."""


@pytest.fixture(scope="session")
def registry() -> Registry:
    return parse_registry(REGISTRY)


@pytest.fixture
def make(registry: Registry) -> Make:
    """A submission to the registry of the tests."""
    return lambda name, scores=ALL, **more: submission(registry, name, scores, **more)


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """URL of a PostgreSQL server: PRIMABENCH_TEST_POSTGRES, or one that is started here and taken away again."""
    given = os.environ.get("PRIMABENCH_TEST_POSTGRES")
    if given:
        yield given
        return
    pytest.importorskip("psycopg", reason="the extra 'postgresql' is not installed")
    if not (shutil.which("initdb") and shutil.which("postgres")):
        pytest.skip("no PostgreSQL server is installed (initdb, postgres), and PRIMABENCH_TEST_POSTGRES is not set")
    as_user = _unprivileged()
    folder = Path(tempfile.mkdtemp(prefix="pg"))
    if as_user:
        shutil.chown(folder, "postgres")
    data = folder / "data"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    start = [*as_user, "initdb", "-D", str(data), "-A", "trust", "-U", "tester", "-E", "UTF8", "--locale=C", "-N"]
    subprocess.run(start, check=True, capture_output=True, timeout=120, cwd="/")
    options = ["-D", str(data), "-p", str(port), "-k", str(folder), "-h", "127.0.0.1", "-c", "fsync=off"]
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen([*as_user, "postgres", *options], stdout=log, stderr=log, cwd="/")
    try:
        url = f"postgresql://tester@127.0.0.1:{port}/postgres"
        _wait(url, server)
        yield url
    finally:
        server.terminate()
        server.wait(timeout=60)
        shutil.rmtree(folder, ignore_errors=True)


def _unprivileged() -> list[str]:
    """What goes before a command that root must not run."""
    if getpass.getuser() != "root" and os.geteuid() != 0:
        return []
    try:
        pwd.getpwnam("postgres")
    except KeyError:
        pytest.skip("PostgreSQL does not run as root, and there is no user postgres")
    if not shutil.which("setpriv"):
        pytest.skip("PostgreSQL does not run as root, and setpriv is not installed")
    return ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]


def _wait(url: str, server: subprocess.Popen[bytes]) -> None:
    import psycopg

    for _ in range(300):
        assert server.poll() is None, "the server stopped"
        try:
            psycopg.connect(url, connect_timeout=2).close()
        except psycopg.OperationalError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError("the server did not answer in 30 s")


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Address of an empty ledger."""
    if request.param == "sqlite":
        return str(tmp_path / "results.sqlite")
    return str(request.getfixturevalue("database"))


@pytest.fixture
def database(postgres: str) -> Iterator[str]:
    """URL of an empty database on the server, dropped afterwards."""
    import psycopg

    name = f"primabench_test_{os.getpid()}_{time.monotonic_ns()}"
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
        yield f"{postgres.rsplit('/', 1)[0]}/{name}"
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def ledger(address: str) -> Iterator[Ledger]:
    with Ledger(address) as made:
        yield made
