"""What Dask costs for each shard, and how many tasks there are.

    python tests/performance/cluster_scheduling.py [workers]

Shards are small and lie in one store, so that nearly all of the time is reading and scheduling; the same folds in this
process, without Dask, are timed beside it. Where others use the processors too, wall time says little; client and
scheduler are this process, and the processor time that they take is what scheduling costs.
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from pathlib import Path
from time import perf_counter, process_time

import numpy as np

import primabench_core as pb


def main(workers: int) -> None:
    from distributed import Client

    from primabench_core.contract.evaldata import EvalData
    from primabench_core.evaluation import folding
    from primabench_core.evaluation.cluster import Cluster
    from primabench_core.evaluation.launch import start
    from primabench_core.evaluation.many import _question
    from primabench_core.evaluation.parts import grouped, partitions
    from primabench_core.store.zarr_io import write

    options = {"seed": 0, "duplicates": "drop_identical", "partial": False, "hash_predictions": True}
    rows, rng = 100_000, np.random.default_rng(0)
    label = rng.integers(0, 5, rows)
    with tempfile.TemporaryDirectory() as name, start(workers) as cluster, Client(cluster) as client:
        truth, path = str(Path(name, "truth.zarr")), str(Path(name, "predictions.zarr"))
        write(EvalData({"label": label}), Path(truth))
        write(EvalData({"label": rng.integers(0, 5, rows)}), Path(path))
        question = _question(None, truth, None, ["accuracy"], None, None, options, travels=True)
        groups = Cluster(client).groups(1)
        for shards in (1_000, 1_000, 10_000):  # the first one warms up
            steps: list[int] = []
            started, busy = perf_counter(), process_time()
            found = pb.evaluate_many(
                {"a": path},
                truth=truth,
                metrics=["accuracy"],
                ci=None,
                client=client,
                partition_rows=rows // shards,
                progress=lambda name, done, total, steps=steps: steps.append(total),
            )["a"]
            wall, busy = perf_counter() - started, process_time() - busy
            cut = grouped(partitions(path, question.request.contract, {}, rows // shards), groups)
            started = perf_counter()
            states = [folding.fold(question, group) for group in cut]
            alone = perf_counter() - started
            folding.finish(question, states)
            overhead = wall - alone / workers
            print(
                f"{shards:,} shards, {workers} workers: {steps[-1]} tasks (bar {16 * workers}); {wall:.2f} s in all, "
                f"{1e3 * wall / shards:.3f} ms a shard; folds alone {alone:.2f} s; scheduling and merging "
                f"{1e3 * overhead / shards:.3f} ms a shard; processor time of client and scheduler "
                f"{1e3 * busy / shards:.3f} ms a shard (bar 0.5); accuracy {found.scores['accuracy']:.4f}"
            )


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2)
