"""Spearman's correlation of each of 200 columns over 10,000 rows beside torchmetrics, on one thread.

Run: ``python tests/performance/spearman_columns.py [--repeats N] [--rows N] [--columns N] [--levels N]``. Both sides
run interleaved in one process, from arrays in memory to one number a column; ours with all checks. With ``--levels``,
values are rounded so that many tie. Medians and the ratio of each pair of runs are printed.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from statistics import median
from time import perf_counter

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np


def data(rows: int, columns: int, levels: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    truth = rng.standard_normal((rows, columns), np.float32)
    predicted = truth + rng.standard_normal((rows, columns), np.float32)
    if levels:
        truth, predicted = (np.round(x * levels / 6).astype(np.float32) for x in (truth, predicted))
    return predicted, truth


def ours(predicted: np.ndarray, truth: np.ndarray) -> np.ndarray:
    import primabench_core as pb

    genes = [str(i) for i in range(truth.shape[1])]
    found = pb.score("spearman", {"value": predicted}, {"value": truth}, per="feature").per_unit
    return np.array([found[gene] for gene in genes])


def torchmetrics(predicted: np.ndarray, truth: np.ndarray) -> np.ndarray:
    import torch
    from torchmetrics import SpearmanCorrCoef

    torch.set_num_threads(1)
    metric = SpearmanCorrCoef(num_outputs=truth.shape[1])
    metric.update(torch.from_numpy(predicted), torch.from_numpy(truth))
    return np.asarray(metric.compute().numpy(), np.float64)


def timed(side: Callable[[np.ndarray, np.ndarray], np.ndarray], *arrays: np.ndarray) -> tuple[float, np.ndarray]:
    started = perf_counter()
    found = side(*arrays)
    return perf_counter() - started, found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("repeats", 7), ("rows", 10_000), ("columns", 200), ("levels", 0)):
        parser.add_argument(f"--{name}", type=int, default=default)
    args = parser.parse_args()
    arrays = data(args.rows, args.columns, args.levels)
    mine, theirs = [], []
    for repeat in range(args.repeats + 1):
        seconds, left = timed(ours, *arrays)
        other, right = timed(torchmetrics, *arrays)
        np.testing.assert_allclose(left, right, atol=1e-4)
        if repeat:  # the first loads modules
            mine.append(seconds)
            theirs.append(other)
    ratios = sorted(a / b for a, b in zip(mine, theirs, strict=True))
    print(f"{args.rows:,} rows x {args.columns} columns{f', {args.levels} levels' if args.levels else ''}")
    print(f"ours {median(mine) * 1e3:.0f} ms, torchmetrics {median(theirs) * 1e3:.0f} ms")
    print(f"ratio {median(ratios):.2f} (from {ratios[0]:.2f} to {ratios[-1]:.2f})")


if __name__ == "__main__":
    main()
