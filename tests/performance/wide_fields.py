"""Metrics over wide fields beside torchmetrics: time, and peak memory above the inputs.

Run with one thread, on numpy arrays and on tensors of the same memory, each side in a process of its own for memory::

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python tests/performance/wide_fields.py [smaller]

The truth is prepared once, as in a training loop; its preparation is printed apart.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import threading
import time
from collections.abc import Callable

import numpy as np
import torch
from torchmetrics import MeanSquaredError, PearsonCorrCoef

from primabench_core.evaluation.evaluation import Evaluation

CASES = {
    "pearson": ("pearson{per: feature}", 10_000, "1/2"),
    "mse": ("mse", 100_000, "1/3"),
}
WIDTH = 2_000


def works(case: str, smaller: int) -> tuple[Callable[[], object], Callable[[], object]]:
    """Ours and theirs."""
    metric, n, _ = CASES[case]
    n //= smaller
    rng = np.random.default_rng(0)
    y = rng.standard_normal((n, WIDTH), np.float32)
    x = rng.standard_normal((n, WIDTH), np.float32)
    start = time.thread_time()
    run = Evaluation(metrics=[metric], truth={"value": y}, hash_predictions=False)
    len(run.truth.sha256)
    prepared = time.thread_time() - start

    def ours() -> object:
        run.reset()
        run.update(value=x, positions=slice(0, n))
        return run.compute()

    def theirs() -> object:
        peer = PearsonCorrCoef(WIDTH) if case == "pearson" else MeanSquaredError()
        peer.update(torch.from_numpy(x), torch.from_numpy(y))
        return peer.compute()

    if len(sys.argv) <= 3:
        print(f"{case}: truth of {n:,} x {WIDTH:,} prepared in {prepared:.2f} s")
    return ours, theirs


def resident() -> int:
    """Bytes of this process in memory."""
    with open("/proc/self/statm") as file:  # noqa: PTH123
        return int(file.read().split()[1]) * resource.getpagesize()


def peak(work: Callable[[], object]) -> int:
    """Bytes above what was resident before, looked at every two milliseconds."""
    before, most, done = resident(), 0, threading.Event()

    def look() -> None:
        nonlocal most
        while not done.wait(0.002):
            most = max(most, resident())

    watcher = threading.Thread(target=look)
    watcher.start()
    work()
    done.set()
    watcher.join()
    return most - before


def main() -> None:
    torch.set_num_threads(1)
    smaller = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    if len(sys.argv) > 3:
        print(peak(works(sys.argv[2], smaller)[int(sys.argv[3])]))
        return
    for case, (_, _, bar) in CASES.items():
        ours, theirs = works(case, smaller)
        ours()  # compiles
        times: tuple[list[float], list[float]] = ([], [])
        for _ in range(3):
            for side, work in zip(times, (ours, theirs), strict=True):
                start = time.thread_time()
                work()
                side.append(time.thread_time() - start)
        mine, other = min(times[0]), min(times[1])
        print(f"{case}: {mine:.3f} s / torchmetrics {other:.3f} s = {mine / other:.2f}   bar {bar}", flush=True)
        del ours, theirs
        found = [
            int(
                subprocess.run(
                    [sys.executable, __file__, str(smaller), case, str(i)], check=True, capture_output=True, text=True
                ).stdout
            )
            for i in (0, 1)
        ]
        print(f"{case}: peak above the inputs {found[0] / 2**20:.0f} MiB / {found[1] / 2**20:.0f} MiB", flush=True)


if __name__ == "__main__":
    main()
