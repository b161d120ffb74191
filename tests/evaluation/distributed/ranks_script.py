"""Runs in every rank: plays scenarios in one process group and writes down what happened.

FOLDER holds ``cases.pkl``, the cases of every metric.

python ranks_script.py N FOLDER      N ranks by torch.multiprocessing.spawn
torchrun … ranks_script.py FOLDER    ranks by torchrun
"""

from __future__ import annotations

import json
import os
import pickle
import sys
from datetime import timedelta
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

N = 101
RNG = np.random.default_rng(11)
TRUTH = {"ids": [f"row{i}" for i in range(N)], "label": RNG.choice(["a", "b", "c"], N)}
LABEL = RNG.choice(["a", "b", "c", "other"], N)
METRICS = ["accuracy", "macro_f1", "mcc"]


def stream(**options):
    import primabench_core as pb

    return pb.stream(METRICS, TRUTH, process_group="world", **options)


def fed(run, rows, label=LABEL):
    for batch in np.array_split(np.asarray(rows), max(1, len(rows) // 7)):
        run.update(ids=[TRUTH["ids"][r] for r in batch], label=label[batch])
    return run


def told(act):
    """What came of it, as plain values."""
    from matrix import summary

    from primabench_core.errors import PrimaBenchError
    from primabench_core.result import to_json

    try:
        result = act()
    except PrimaBenchError as error:
        ids = [i for v in getattr(error, "violations", ()) for i in v.ids]
        return {"error": type(error).__name__, "message": str(error), "ids": ids}
    return {**summary(result), "json": to_json(result)}


def uneven(rank, size):
    """All rows on the first ranks, in uneven parts, with repeats; the last rank took no batch."""
    from matrix import cut

    return stream(), cut(N, size)[rank]


def sampled(rank, size):
    """The real DistributedSampler, which pads so that all ranks have the same number of rows."""
    from torch.utils.data import DataLoader, DistributedSampler

    data = list(range(N))
    sampler = DistributedSampler(data, num_replicas=size, rank=rank, shuffle=True, seed=4)
    run = stream()
    for batch in DataLoader(data, batch_size=8, sampler=sampler):
        rows = batch.numpy()
        run.update(ids=[TRUTH["ids"][r] for r in rows], label=LABEL[rows])
    return run


def conflict(rank, size):
    rows = np.arange(rank, N, size)
    run = fed(stream(), rows)
    if rank == size - 1:
        run.update(ids=["row0"], label=["a" if LABEL[0] != "a" else "b"])
    return run


def matrix(rank, size, folder):
    """Every registered metric, each on data of its own."""
    from matrix import cut, part, summary

    import primabench_core as pb

    found = {}
    for name, metrics, case in pickle.loads(Path(folder, "cases.pkl").read_bytes()):
        run = pb.stream(metrics, case.truth, process_group="world")
        rows = cut(case.n, size)[rank]
        if len(rows):
            run.update(predictions=part(case, rows))
        found[name] = summary(run.compute())
    return found


def play(rank: int, size: int, folder: str) -> dict:
    import torch.distributed as dist

    run, rows = uneven(rank, size)
    found = {"uneven": told(lambda: fed(run, rows).compute(ci=0.9) if len(rows) else run.compute(ci=0.9))}
    found["again"] = told(run.compute)
    found["sampled"] = told(sampled(rank, size).compute)
    found["conflict"] = told(conflict(rank, size).compute)
    found["uncovered"] = told(fed(stream(), np.arange(rank + 1, N, size)[:3]).compute)
    found["raises"] = told(lambda: fed(stream(), np.arange(rank, N, size)).compute(ci=2.0 if rank == 1 else None))
    found["differs"] = told(stream(seed=rank).compute)
    group = dist.new_group(list(range(size - 1)))
    if rank < size - 1:
        import primabench_core as pb

        found["subgroup"] = told(
            fed(pb.stream(METRICS, TRUTH, process_group=group), np.arange(rank, N, size - 1)).compute
        )
    else:
        found["outside"] = told(lambda: __import__("primabench_core").stream(METRICS, TRUTH, process_group=group))
    found["matrix"] = matrix(rank, size, folder)
    late = fed(stream(timeout=5.0), np.arange(rank, N, size))
    if rank < size - 1:
        found["missing"] = told(late.compute)
        dist.barrier()
    else:
        dist.barrier()  # the others have given up by now
        found["late"] = told(late.compute)
    found["after"] = told(fed(stream(), np.arange(rank, N, size)).compute)
    return found


def main(rank: int, size: int, folder: str, init: str) -> None:
    import torch.distributed as dist

    dist.init_process_group("gloo", init_method=init, rank=rank, world_size=size, timeout=timedelta(seconds=60))
    found = play(rank, size, folder)
    Path(folder, f"rank{rank}.json").write_text(json.dumps(found))
    dist.destroy_process_group()


if __name__ == "__main__":
    if "RANK" in os.environ:
        main(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), sys.argv[1], "env://")
    else:
        import torch.multiprocessing as mp

        mp.spawn(main, (int(sys.argv[1]), sys.argv[2], f"file://{sys.argv[2]}/meet"), nprocs=int(sys.argv[1]))
