"""Bytes that reach the client and that move between workers, beside gathering the predictions.

    python tests/performance/cluster_traffic.py [rows]

The scheduler and two workers are processes of their own; every frame of this process, the client, is counted.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import primabench_core as pb

SERVE = """
import sys
from distributed import LocalCluster
if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
        print(cluster.scheduler_address, flush=True)
        sys.stdin.read()
"""


def write(folder: Path, rows: int) -> tuple[str, str, int]:
    """Stores of a truth and of predictions, and the bytes of the predictions."""
    from primabench_core.contract.evaldata import EvalData
    from primabench_core.store.zarr_io import write as write_zarr

    rng = np.random.default_rng(0)
    label = rng.integers(0, 2, rows).astype(np.int8)
    score = (label + rng.normal(size=rows)).astype(np.float32)
    guess = (score > 0.5).astype(np.int8)
    write_zarr(EvalData({"label": label.astype(np.int64)}), folder / "truth.zarr")
    write_zarr(EvalData({"label": guess.astype(np.int64), "score": score}), folder / "predictions.zarr")
    return str(folder / "truth.zarr"), str(folder / "predictions.zarr"), guess.nbytes + score.nbytes


def count_frames(seen: list[int]) -> None:
    """Let every frame that this process sends or receives add its length."""
    from distributed.comm import tcp

    real_to, real_from = tcp.to_frames, tcp.from_frames

    async def to_frames(*arguments, **options):
        frames = await real_to(*arguments, **options)
        seen.append(sum(map(len, frames)))
        return frames

    async def from_frames(frames, **options):
        seen.append(sum(map(len, frames)))
        return await real_from(frames, **options)

    tcp.to_frames, tcp.from_frames = to_frames, from_frames


def received(dask_worker) -> int:
    """Bytes that a worker took from others."""
    return sum(entry["total"] for entry in dask_worker.transfer_incoming_log)


def main(rows: int) -> None:
    from distributed import Client

    seen: list[int] = []
    count_frames(seen)
    with tempfile.TemporaryDirectory() as name:
        truth, predictions, gathered = write(Path(name), rows)
        program = Path(name, "serve.py")
        program.write_text(SERVE)
        server = subprocess.Popen(
            [sys.executable, str(program)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        try:
            with Client(server.stdout.readline().strip()) as client:
                client.wait_for_workers(2)
                seen.clear()
                found = pb.evaluate_many(
                    {"model": predictions},
                    truth=truth,
                    metrics=["accuracy", "auroc"],
                    ci=None,
                    client=client,
                    progress=False,
                )["model"]
                client_bytes = sum(seen)
                between = sum(client.run(received).values())
        finally:
            server.communicate(input="", timeout=60)
        print(f"{rows:,} rows: {found.scores}")
        print(f"client {client_bytes / 1e6:.2f} MB, gathering {gathered / 1e6:.1f} MB: 1/{gathered / client_bytes:.0f}")
        print(f"between workers {between / 1e6:.1f} MB: {between / gathered:.2f} of the predictions")


if __name__ == "__main__":
    main(int(float(sys.argv[1])) if len(sys.argv) > 1 else 10_000_000)
