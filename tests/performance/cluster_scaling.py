"""Folding a compressed store on one and on two warm workers of one thread.

    python tests/performance/cluster_scaling.py [rows]

64 columns of float32 and a label; the time is that of the folds alone, without the final score.
"""

from __future__ import annotations

import os
import sys
import tempfile
import warnings
from pathlib import Path
from time import perf_counter

import numpy as np

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("BLOSC_NTHREADS", "1")
COLUMNS = 64


def main(rows: int) -> None:
    from distributed import Client, wait

    from primabench_core.contract.evaldata import EvalData
    from primabench_core.evaluation import folding
    from primabench_core.evaluation.launch import start
    from primabench_core.evaluation.many import _question
    from primabench_core.evaluation.parts import grouped, partitions
    from primabench_core.store.zarr_io import write

    options = {"seed": 0, "duplicates": "drop_identical", "partial": False, "hash_predictions": False}
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as name:
        truth, path = str(Path(name, "truth.zarr")), str(Path(name, "predictions.zarr"))
        value = np.round(rng.normal(size=(rows, COLUMNS)), 2).astype(np.float32)
        label = rng.integers(0, 5, rows)
        write(EvalData({"value": value, "label": label}), Path(truth))
        write(EvalData({"value": value[::-1], "label": label[::-1]}), Path(path))
        question = _question(None, truth, None, ["mse", "accuracy"], None, None, options, travels=True)
        cut = grouped(partitions(path, question.request.contract, {}, None), 8)
        print(f"{rows:,} rows x {COLUMNS}, {value.nbytes / 1e9:.2f} GB, {len(cut)} groups")
        seconds = {}
        for workers in (1, 2):
            with start(workers) as cluster, Client(cluster) as client:
                client.run(folding.truth_of, question)  # warm: the truth is open, modules are imported
                best = float("inf")
                for _ in range(3):
                    started = perf_counter()
                    futures = [client.submit(folding.fold, question, group, pure=False) for group in cut]
                    wait(futures)
                    best = min(best, perf_counter() - started)
                    del futures
                seconds[workers] = best
            print(f"{workers} workers: {best:.2f} s")
        print(f"2 workers are {seconds[1] / seconds[2]:.2f} x one (bar 1.6 where two processors are free)")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(int(float(sys.argv[1])) if len(sys.argv) > 1 else 10_000_000)
