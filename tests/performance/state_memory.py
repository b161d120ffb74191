"""Bytes that a state keeps of a summed field, by the number of items and by the width of a row.

Run: ``python tests/performance/state_memory.py [--most 10_000_000]``. Batches are scored and forgotten, as in a
training loop, and the state is then asked for all that it would send elsewhere. Printed are bytes an item, of what is
kept for each row, and bytes a column of the sums themselves; the raw tail (64 MiB at most) stands apart.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from primabench_core.evaluation.evaluation import Evaluation

METRICS = {"pearson": ["pearson{per: feature}"], "mse": ["mse"], "mse, mae": ["mse", "mae"]}


def leaves(value: Any, path: str = "") -> list[tuple[str, int]]:
    """(path, bytes) of every array inside nested plain parts."""
    if isinstance(value, np.ndarray):
        return [(path, value.nbytes)]
    if isinstance(value, dict):
        return [leaf for key, part in value.items() for leaf in leaves(part, f"{path}/{key}")]
    if isinstance(value, list | tuple):
        return [leaf for i, part in enumerate(value) for leaf in leaves(part, f"{path}/{i}")]
    return [(path, len(value))] if isinstance(value, bytes) else []


def kept(metrics: list[str], n: int, width: int, *, hashed: bool, batch: int = 50_000) -> tuple[float, float, float]:
    """Bytes an item, bytes a column, MiB of the tail after n rows."""
    rng = np.random.default_rng(0)
    truth = np.empty((n, width), np.float32)
    for start in range(0, n, batch):
        truth[start : start + batch] = rng.standard_normal((min(batch, n - start), width), np.float32)
    run = Evaluation(metrics=metrics, truth={"value": truth}, hash_predictions=hashed)
    for start in range(0, n, batch):
        rows = truth[start : start + batch] + np.float32(0.5)
        run.update(value=rows, positions=slice(start, start + len(rows)))
    parts = leaves(run.__getstate__()["intake"])
    tail = sum(size for path, size in parts if "tail/" in path)
    sums = sum(size for path, size in parts if "moments/" in path)
    return (sum(size for _, size in parts) - tail - sums) / n, sums / width, tail / 2**20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=int, default=10_000_000, help="items of the longest run")
    most = parser.parse_args().most
    print("metrics    hash        items  columns  bytes/item  bytes/column  tail MiB")
    for name, metrics in METRICS.items():
        for hashed in (True, False):
            sizes = [(most // 10, 40), (most // 100, 40), (most // 100, 2_000)]
            for n, width in [*([(most, 40)] if hashed and name == "mse" else []), *sizes]:
                item, column, tail = kept(metrics, n, width, hashed=hashed)
                print(
                    f"{name:10} {hashed!s:5} {n:>11,} {width:>8,} {item:>11.1f} {column:>13.0f} {tail:>9.1f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
