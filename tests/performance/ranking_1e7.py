"""AUROC and average precision of 1e7 float32 scores beside torchmetrics and scikit-learn, on one thread.

Run: ``python tests/performance/ranking_1e7.py [--repeats N] [--rows N]``. All sides run interleaved in one process,
from arrays in memory to two scores; ours with all checks and both fingerprints. Medians, ratios to the faster peer,
and peak memory above the inputs (each side in a process of its own) are printed.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

METRICS = ["auroc", "average_precision"]
Scores = tuple[float, float]


def data(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    label = (rng.random(n, np.float32) < 0.3).astype(np.int64)
    score = rng.standard_normal(n, np.float32)
    score += np.float32(0.5) * label.astype(np.float32)
    return score, label


def ours(updates: int) -> Callable[[np.ndarray, np.ndarray], Scores]:
    import primabench_core as pb

    def run(score: np.ndarray, label: np.ndarray) -> Scores:
        stream = pb.stream(METRICS, truth={"label": label})
        step = -(-len(score) // updates)
        for start in range(0, len(score), step):
            stop = min(start + step, len(score))
            stream.update(positions=slice(start, stop), score=score[start:stop])
        found = stream.compute().scores
        return found["auroc"] or 0.0, found["average_precision"] or 0.0

    return run


def torchmetrics(updates: int) -> Callable[[np.ndarray, np.ndarray], Scores]:
    import torch
    from torchmetrics import MetricCollection
    from torchmetrics.classification import BinaryAUROC, BinaryAveragePrecision

    torch.set_num_threads(1)

    def run(score: np.ndarray, label: np.ndarray) -> Scores:
        collection = MetricCollection({"auroc": BinaryAUROC(), "average_precision": BinaryAveragePrecision()})
        step = -(-len(score) // updates)
        for p, t in zip(torch.from_numpy(score).split(step), torch.from_numpy(label).split(step), strict=True):
            collection.update(p, t)
        found = collection.compute()
        return float(found["auroc"]), float(found["average_precision"])

    return run


def scikit_learn(_updates: int) -> Callable[[np.ndarray, np.ndarray], Scores]:
    from sklearn.metrics import average_precision_score, roc_auc_score

    def run(score: np.ndarray, label: np.ndarray) -> Scores:
        return float(roc_auc_score(label, score)), float(average_precision_score(label, score))

    return run


SIDES = {"ours": ours, "torchmetrics": torchmetrics, "scikit-learn": scikit_learn}


def resident(which: str) -> int:
    return int(re.search(rf"{which}:\s+(\d+) kB", Path("/proc/self/status").read_text())[1])  # type: ignore[index]


def measure_memory(side: str, n: int, updates: int) -> None:
    """Print the peak in MiB above what the process held with its inputs and its libraries loaded."""
    score, label = data(n)
    run = SIDES[side](updates)
    run(score[:1000], label[:1000])
    before = resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak of making the inputs
    run(score, label)
    print((resident("VmHWM") - before) // 1024)


def peak_of(side: str, n: int, updates: int) -> int:
    command = [sys.executable, __file__, "--memory-of", side, "--rows", str(n), "--updates", str(updates)]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[-1])


def compare(n: int, updates: int, repeats: int) -> None:
    score, label = data(n)
    runs = {name: make(updates) for name, make in SIDES.items()}
    times: dict[str, list[float]] = {name: [] for name in runs}
    found: dict[str, Scores] = {}
    for run in runs.values():
        run(score[:1000], label[:1000])
    for _repeat in range(repeats):
        for name, run in runs.items():
            start = perf_counter()
            found[name] = run(score, label)
            times[name].append(perf_counter() - start)
    peaks = {name: peak_of(name, n, updates) for name in runs}
    fastest = min(median(times[name]) for name in runs if name != "ours")
    smallest = min(peaks[name] for name in runs if name != "ours")
    print(f"\n{n:,} rows, {updates} update(s), median of {repeats}")
    for name in runs:
        area, precision = found[name]
        print(f"{name:14s} {median(times[name]):7.3f} s   peak {peaks[name]:6,d} MiB   {area:.12f}  {precision:.12f}")
    mine = median(times["ours"])
    verdict = "ok" if mine <= fastest / 8 else "OVER"
    print(f"time 1/{fastest / mine:.1f} of the faster peer, bar 1/8: {verdict}")
    verdict = "ok" if peaks["ours"] <= smallest / 2 else "OVER"
    print(f"memory {peaks['ours'] / smallest:.2f} of the smaller peer, bar 0.50: {verdict}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--updates", type=int, default=0, help="only this many updates (default: 1 and 100)")
    parser.add_argument("--memory-of", choices=SIDES)
    args = parser.parse_args()
    if args.memory_of:
        measure_memory(args.memory_of, args.rows, args.updates or 1)
        return
    for updates in [args.updates] if args.updates else [1, 100]:
        compare(args.rows, updates, args.repeats)


if __name__ == "__main__":
    main()
