"""Boards from many results: recomputed and exported in at most 10 s on two cores, twice the same bytes.

The ledger holds 10,000 results (rows of task and model) and the registry gives 50 boards. With ``--submissions`` there
are that many submissions instead, each with a score in every task.

    python tests/performance/boards.py
    python tests/performance/boards.py --submissions 10000

The time is that of ``primabench board export`` in a process of its own: start, reading of registry and ledger, ranks,
files.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BAR_SECONDS = 10.0
MODALITIES, AREAS, CATEGORIES = 5, 6, 3  # 5 x (1 + 6 + 3) = 50 boards


def registry_text() -> str:
    """Five modalities with six areas and three families each; every area has a task, every family two."""
    lines = ["name: many", "datasets:"]
    lines += [f"  - {{id: d{m}, modality: modality-{m}}}" for m in range(MODALITIES)]
    lines += ["categories:"]
    lines += [f"  - {{id: family-{c}, metric: {'pearson' if c == 1 else 'auroc'}}}" for c in range(CATEGORIES)]
    lines += ["tasks:"]
    for m in range(MODALITIES):
        for a in range(AREAS):
            c = a % CATEGORIES
            metric = "pearson" if c == 1 else "auroc"
            lines.append(f"  - {{id: t{m}{a}, dataset: d{m}, area: area-{a}, category: family-{c}, metric: {metric}}}")
    return "\n".join(lines) + "\n"


def result(registry, name: str, rng: random.Random):
    """A submission with a score in every task."""
    from primabench_board.result_file import parse_result

    scores = []
    for task in sorted(registry.tasks.values(), key=lambda t: t.id):
        value = rng.random()
        scores.append(
            {
                "dataset": task.dataset, "task": task.id, "metric": task.metric, "status": "scored", "reason": None,
                "detail": None, "value": value, "pooled": value, "fold_mean": value, "pooled_centered": None,
                "per_fold": {str(k): rng.random() for k in range(5)}, "flags": ["interval_without_refit"],
                "interval": {
                    "low": max(0.0, value - 0.1), "high": min(1.0, value + 0.1), "level": 0.95, "method": "percentile",
                    "draws": 2000, "dropped": 0, "unit": "patient", "n_units": 80,
                },
                "n": 80, "n_units": 80, "class_counts": {"A": 40, "B": 40}, "classes_left_out": [], "resolvable": True,
                "chance": 0.0 if task.metric == "pearson" else 0.5, "width": 512,
                "folds": {"kind": "folds", "n": 5, "grouped": True, "stratified": True},
                "probe": {"id": "linear-probe/1", "sha256": "0" * 64, "chosen": {str(k): 0.1 for k in range(5)}},
                "hashes": {"labels_sha256": "1" * 64, "embedding_sha256": "2" * 64},
            }
        )  # fmt: skip
    document = {
        "format": "primabench-patient-scores", "schema_version": 1, "submitted_at": "2025-03-01T19:30:00Z",
        "model": {"name": name, "organisation": "Lab", "owner": "one", "family": None, "is_baseline": False},
        "submission_sha256": "a" * 64, "registry_sha256": "b" * 64, "synthetic": False, "complete": True,
        "submission": {"format": "parquet", "bytes": 1, "rows": 1, "width": {"d0": 512}, "warnings": []},
        "counts": {"scored": len(scores), "skipped": 0, "failed": 0}, "scores": scores, "versions": {"numpy": "2.4"},
    }  # fmt: skip
    return parse_result(json.dumps(document))


def fill(address: str, registry, count: int) -> float:
    """Add submissions; the seconds it took."""
    from primabench_board.ledger import Ledger

    rng = random.Random(0)
    start = time.perf_counter()
    with Ledger(address) as ledger:
        for number in range(count):
            ledger.add(result(registry, f"model {number}", rng), registry)
    return time.perf_counter() - start


def digest(folder: Path) -> str:
    """SHA-256 over names and bytes of all files."""
    found = hashlib.sha256()
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        found.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes())
    return found.hexdigest()


def main() -> int:
    """Measure, print, and leave with 1 where the bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--submissions", type=int, help="default: as many as give 10,000 results")
    asked = parser.parse_args()

    from primabench_board.derive import derive_boards
    from primabench_board.registry import load_registry

    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        (root / "tasks.yaml").write_text(registry_text(), encoding="utf-8")
        registry = load_registry(root / "tasks.yaml")
        tasks, boards = len(registry.tasks), len(derive_boards(registry))
        count = asked.submissions or -(-10_000 // tasks)
        seconds = fill(str(root / "results.sqlite"), registry, count)
        print(f"{count:,} submissions, {count * tasks:,} results, {boards} boards; adding took {seconds:.1f} s")
        digests, times = [], []
        for turn in ("one", "two"):
            command = [sys.executable, "-m", "primabench_core.cli.main", "board", "export", str(root / turn)]
            start = time.perf_counter()
            subprocess.run(command, cwd=root, check=True, stdout=subprocess.DEVNULL)
            times.append(time.perf_counter() - start)
            digests.append(digest(root / turn))
        size = sum(p.stat().st_size for p in (root / "one").rglob("*") if p.is_file())
        page = (root / "one" / "index.html").stat().st_size
        print(f"export {times[0]:.2f} s and {times[1]:.2f} s (bar {BAR_SECONDS:.0f} s)")
        print(f"{size / 1e6:.1f} MB in all, the page {page / 1e6:.2f} MB; same bytes: {digests[0] == digests[1]}")
        passed = max(times) <= BAR_SECONDS and digests[0] == digests[1] and boards == 50
    print("passed" if passed else "MISSED")
    return 0 if passed else 1


if __name__ == "__main__":
    raise SystemExit(main())
