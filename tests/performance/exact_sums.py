"""Exact sums beside the inexact ones of numpy and torch.

Run with one thread; both sides are interleaved, in processor time, and the ratio is of minima::

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python tests/performance/exact_sums.py [smaller]

``PRIMABENCH_COMPILED=0`` times numpy alone. A number divides the sizes.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np
import torch

from primabench_core.state.compiled import kernels
from primabench_core.state.exact import exact_column_sums, exact_sum
from primabench_core.state.grouped_sums import GroupedSums
from primabench_core.state.row_errors import row_errors


def ratio(name: str, bar: str, ours: Callable[[], object], peer: Callable[[], object], repeats: int = 5) -> None:
    """Prints ours over the peer."""
    ours()  # compiles
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(repeats):
        for side, work in zip(times, (ours, peer), strict=True):
            start = time.thread_time()
            work()
            side.append(time.thread_time() - start)
    mine, other = min(times[0]), min(times[1])
    print(f"{name:<64} {mine * 1e3:8.1f} ms / {other * 1e3:8.1f} ms = {mine / other:5.2f}   bar {bar}", flush=True)


def main(smaller: int) -> None:
    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    print("compiled loops" if kernels() is not None else "numpy alone")
    x = rng.standard_normal((100_000 // smaller, 2_000), np.float32)
    ratio(
        f"column sums {x.shape} float32 / np.sum(axis=0, float64)",
        "1.5, 5 without the extra",
        lambda: exact_column_sums(x),
        lambda: x.sum(axis=0, dtype=np.float64),
    )
    half = x[: len(x) // 2]
    codes = rng.integers(0, 100, len(half))
    wide, at = torch.from_numpy(half).double(), torch.from_numpy(codes)
    ratio(
        f"pseudobulk {half.shape} into 100 groups / index_add_ float64",
        "2.5",
        lambda: GroupedSums(100, 2_000).add(half, codes),
        lambda: torch.zeros(100, 2_000, dtype=torch.float64).index_add_(0, at, wide),
    )
    ratio(
        f"exact_sum of {x.size // 20:,} float32 / np.sum(dtype=float64)",
        "-",
        lambda: exact_sum(x[: len(x) // 20]),
        lambda: x[: len(x) // 20].sum(dtype=np.float64),
    )
    a, b = x[: len(x) // 20], x[-(len(x) // 20) :]
    ratio(
        f"squared errors of rows {a.shape} / float64 dot of differences",
        "-",
        lambda: row_errors(a, b, "squared_error"),
        lambda: np.vdot(*2 * (np.subtract(a, b, dtype=np.float64),)),
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
