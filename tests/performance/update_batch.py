"""Time of an update of 256 rows beside torchmetrics: four class metrics over 50 classes, all checks on, one thread.

Run: ``python tests/performance/update_batch.py [--large] [--repeats N]``. Both sides run interleaved in one process;
medians over repeats of (1,000 updates and one compute) / 1,000 are printed with their ratios. ``--large`` also times
the update alone against a truth of 1e7 units. Look-ups are built before the clock starts.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from statistics import median
from time import perf_counter
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import torch
import torchmetrics.classification as tm
from torchmetrics import MetricCollection

import primabench_core as pb

CLASSES, BATCH, UPDATES = 50, 256, 1000
METRICS = ["accuracy", "macro_f1", "balanced_accuracy", "mcc"]
BARS = {"positions, any order": 1 / 10, "text ids, loader's order": 1 / 10, "text ids, random order": 1 / 3}


def peer_collection() -> MetricCollection:
    return MetricCollection(
        {
            "accuracy": tm.MulticlassAccuracy(CLASSES, average="micro"),
            "macro_f1": tm.MulticlassF1Score(CLASSES, average="macro"),
            "balanced_accuracy": tm.MulticlassAccuracy(CLASSES, average="macro"),
            "mcc": tm.MulticlassMatthewsCorrCoef(CLASSES),
        }
    )


def time_peer(predicted: Sequence[Any], truth: Sequence[Any]) -> tuple[float, float]:
    collection = peer_collection()
    start = perf_counter()
    for p, t in zip(predicted, truth, strict=True):
        collection.update(p, t)
    updated = perf_counter()
    collection.compute()
    return updated - start, perf_counter() - updated


def time_ours(make: Callable[[], pb.Evaluation], batches: Sequence[dict[str, Any]]) -> tuple[float, float]:
    run = make()
    start = perf_counter()
    for batch in batches:
        run.update(**batch)
    updated = perf_counter()
    run.compute()
    return updated - start, perf_counter() - updated


def name_of(i: int) -> str:
    return f"cell-{i:09d}"


def batches_of(n: int, predicted: Any, seed: int) -> dict[str, list[dict[str, Any]]]:
    """Batches by kind of id. Text ids are objects of the loader's own, as a loader makes them, not the truth's."""
    order = np.random.default_rng(seed).permutation(n)[: BATCH * UPDATES]
    cuts = [order[i : i + BATCH] for i in range(0, len(order), BATCH)]
    runs = [np.arange(i, i + BATCH) for i in range(0, BATCH * UPDATES, BATCH)]
    return {
        "positions, any order": [{"positions": c, "label": predicted[c]} for c in cuts],
        "text ids, loader's order": [{"ids": [name_of(i) for i in r.tolist()], "label": predicted[r]} for r in runs],
        "text ids, random order": [{"ids": [name_of(i) for i in c.tolist()], "label": predicted[c]} for c in cuts],
    }


def small(repeats: int, kind: str) -> None:
    n = BATCH * UPDATES
    rng = np.random.default_rng(0)
    truth, guess = rng.integers(0, CLASSES, n), rng.integers(0, CLASSES, n)
    predicted: Any = torch.from_numpy(guess) if kind == "torch" else guess
    ids = [name_of(i) for i in range(n)]
    batches = batches_of(n, predicted, 1)
    peer_p = list(torch.from_numpy(guess).split(BATCH))
    peer_t = list(torch.from_numpy(truth).split(BATCH))
    base = pb.stream(METRICS, truth={"ids": ids, "label": truth})
    base.update(ids=[], label=[])  # builds the look-up
    _ = base.truth.sha256

    def fresh() -> pb.Evaluation:
        base.reset()
        return base

    times: dict[str, list[tuple[float, float]]] = {name: [] for name in ("torchmetrics", *BARS)}
    for _repeat in range(repeats):
        times["torchmetrics"].append(time_peer(peer_p, peer_t))
        for name in BARS:
            times[name].append(time_ours(fresh, batches[name]))
    print(f"\n256,000 units, 1,000 updates of 256 rows ({kind}) and one compute, us per update, median of {repeats}")
    peer = median(sum(t) for t in times["torchmetrics"]) * 1e6 / UPDATES
    print(f"{'torchmetrics':28s} {peer:8.1f}")
    for name, bar in BARS.items():
        total = median(sum(t) for t in times[name]) * 1e6 / UPDATES
        update = median(t[0] for t in times[name]) * 1e6 / UPDATES
        verdict = "ok" if total <= peer * bar else "OVER"
        print(f"{name:28s} {total:8.1f}  (update {update:6.1f})  1/{peer / total:4.1f}  bar 1/{1 / bar:.0f}  {verdict}")


def large(repeats: int) -> None:
    n = 10_000_000
    rng = np.random.default_rng(0)
    truth, guess = rng.integers(0, CLASSES, n), rng.integers(0, CLASSES, n)
    ids = [name_of(i) for i in range(n)]
    batches = batches_of(n, guess, 1)
    peer_p = list(torch.from_numpy(guess[: BATCH * UPDATES]).split(BATCH))
    peer_t = list(torch.from_numpy(truth[: BATCH * UPDATES]).split(BATCH))
    run = pb.stream(METRICS, truth={"ids": ids, "label": truth})
    run.update(ids=[], label=[])
    times: dict[str, list[float]] = {name: [] for name in ("torchmetrics", *BARS)}
    for _repeat in range(repeats):
        times["torchmetrics"].append(time_peer(peer_p, peer_t)[0])
        for name in BARS:
            run.reset()
            start = perf_counter()
            for batch in batches[name]:
                run.update(**batch)
            times[name].append(perf_counter() - start)
    peer = median(times["torchmetrics"]) * 1e6 / UPDATES
    print(f"\n1e7 units, update alone, us per update, median of {repeats}")
    print(f"{'torchmetrics':28s} {peer:8.1f}")
    for name, bar in BARS.items():
        ours = median(times[name]) * 1e6 / UPDATES
        verdict = "ok" if ours <= peer * bar else "OVER"
        print(f"{name:28s} {ours:8.1f}  1/{peer / ours:4.1f}  bar 1/{1 / bar:.0f}  {verdict}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--large", action="store_true")
    args = parser.parse_args()
    torch.set_num_threads(1)
    for kind in ("numpy", "torch"):
        small(args.repeats, kind)
    if args.large:
        large(args.repeats)


if __name__ == "__main__":
    main()
