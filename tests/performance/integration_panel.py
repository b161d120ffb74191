"""Times the panel of batch integration beside scib-metrics, and how it grows with the number of cells.

    python tests/performance/integration_panel.py --peer PEER/bin/python [--cells 10000 50000] [--turns 1] [--json FILE]

``--peer`` is the Python of an environment with scib-metrics (and its JAX); without it only our side runs. Each side
runs in a process of its own, in turns: ours, the peer, ours, the peer … and ours once more, so that a machine that gets
busier shows; ratios are of medians. Both get the same made cells (50 dimensions, 10 batches, 15 types; no real data),
and the threads that they take by themselves; the load of the machine is printed beside each.
 The panel is scib-metrics' own default set: isolated labels, NMI and
ARI of k-means, silhouette, cLISI, BRAS, iLISI, kBET, graph connectivity, PCR. Both sides have imported what they need
before the clock starts; from the peer's time what JAX compiled is taken off, and its neighbour search is warmed up on
few cells. CPU seconds stand beside wall seconds: on a shared machine they are the steadier number. Peaks are of the
whole process, imports included.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

import numpy as np

WIDTH, BATCHES, TYPES = 50, 10, 15
METRICS = (
    "isolated_labels_asw",
    "nmi_kmeans",
    "ari_kmeans",
    "silhouette_label",
    "clisi",
    "bras",
    "ilisi",
    "kbet",
    "graph_connectivity",
    "pcr_comparison",
)


def cells(n: int) -> dict[str, Any]:
    """Made cells: overlapping types, batch effects half taken away, one type absent from three batches."""
    rng = np.random.default_rng(n)
    label, batch = rng.integers(0, TYPES, n), rng.integers(0, BATCHES, n)
    label[(label == 0) & (batch < 3)] = 1
    types, effects = rng.standard_normal((TYPES, WIDTH)) * 0.8, rng.standard_normal((BATCHES, WIDTH)) * 0.6
    cell = rng.standard_normal((n, WIDTH))
    return {
        "before": (types[label] + effects[batch] + cell).astype(np.float32),
        "after": (types[label] + 0.3 * effects[batch] + cell).astype(np.float32),
        "label": np.asarray([f"type {c}" for c in label], object),
        "batch": np.asarray([f"batch {c}" for c in batch], object),
    }


def ours(n: int) -> dict[str, Any]:
    """Our panel through the public interface."""
    import primabench_core as pb

    def panel(made: dict[str, Any]) -> Any:
        truth = {"label": made["label"], "batch": made["batch"], "embedding": made["before"]}
        run = pb.stream(METRICS, truth)
        run.update(embedding=made["after"])
        return run.compute()

    panel(cells(300))  # imports
    made = cells(n)
    wall, cpu = perf_counter(), process_time()
    result = panel(made)
    return _record(wall, cpu, 0.0, dict(result.scores))


def theirs(n: int) -> dict[str, Any]:
    """The peer's default set."""
    import warnings

    import jax
    import pandas as pd
    from anndata import AnnData
    from scib_metrics.benchmark import Benchmarker
    from scib_metrics.nearest_neighbors import pynndescent

    warnings.simplefilter("ignore")
    compiled: list[float] = []

    def listen(event: str, seconds: float, **_: Any) -> None:
        if event.startswith("/jax/core/compile/"):
            compiled.append(seconds)

    jax.monitoring.register_event_duration_secs_listener(listen)
    made = cells(n)
    pynndescent(made["after"][:5_000], n_neighbors=90, random_state=0)
    obs = pd.DataFrame({"label": pd.Categorical(made["label"]), "batch": pd.Categorical(made["batch"])})
    obs.index = obs.index.astype(str)
    data = AnnData(made["before"], obs=obs, obsm={"before": made["before"], "after": made["after"]})
    compiled.clear()
    wall, cpu = perf_counter(), process_time()
    bench = Benchmarker(
        data, "batch", "label", ["after"], pre_integrated_embedding_obsm_key="before", progress_bar=False
    )
    bench.benchmark()
    scores = bench.get_results(min_max_scale=False, clean_names=False).loc["after"].to_dict()
    return _record(wall, cpu, sum(compiled), {key: str(value) for key, value in scores.items()})


def _record(wall: float, cpu: float, compiled: float, scores: dict[str, Any]) -> dict[str, Any]:
    return {
        "load": os.getloadavg()[0],
        "wall_s": perf_counter() - wall,
        "cpu_s": process_time() - cpu,
        "compile_s": compiled,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "scores": scores,
    }


def _child(python: str, side: str, n: int) -> dict[str, Any]:
    done = subprocess.run(
        [python, "-W", "ignore", __file__, "--side", side, "--cells", str(n)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{side} failed on {n} cells:\n{done.stderr[-2000:]}")
    record: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return record


def main(arguments: Sequence[str] | None = None) -> int:
    """Run both sides for each size and print times, peaks and ratios."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cells", type=int, nargs="+", default=[10_000, 50_000])
    parser.add_argument("--peer", default="", help="Python with scib-metrics")
    parser.add_argument("--turns", type=int, default=1, help="how often each side runs on each size")
    parser.add_argument("--json", type=Path, help="where to write everything")
    parser.add_argument("--side", choices=("ours", "theirs"), help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.side:
        sys.stdout.write(json.dumps((ours if given.side == "ours" else theirs)(given.cells[0])) + "\n")
        return 0
    found: dict[str, Any] = {}
    for n in given.cells:
        found[str(n)] = record = _in_turns(n, given.peer, given.turns)
        if given.peer:
            _ratio(record)
    first, last = (_median(found[str(given.cells[i])]["ours"]) for i in (0, -1))
    if len(given.cells) > 1:
        times, more = given.cells[-1] / given.cells[0], last["cpu_s"] / first["cpu_s"]
        sys.stdout.write(f"{times:g} times the cells: {more:.1f} times the CPU time (n^2 would be {times**2:g}), ")
        sys.stdout.write(f"{last['peak_mb'] / first['peak_mb']:.1f} times the peak\n")
    if given.json:
        given.json.write_text(json.dumps(found, indent=1))
    return 0


def _in_turns(n: int, peer: str, turns: int) -> dict[str, list[dict[str, Any]]]:
    """Records of both sides, one after the other."""
    record: dict[str, list[dict[str, Any]]] = {"ours": [], "theirs": []}
    sides = ["ours", "theirs"] * turns + ["ours"] if peer else ["ours"] * turns
    for side in sides:
        done = _child(sys.executable if side == "ours" else peer, side, n)
        record[side].append(done)
        _print(n, "ours" if side == "ours" else "scib-metrics", done)
    return record


def _median(records: list[dict[str, Any]]) -> dict[str, float]:
    return {key: median(r[key] for r in records) for key in ("wall_s", "cpu_s", "compile_s", "peak_mb")}


def _print(n: int, name: str, record: dict[str, Any]) -> None:
    text = "{wall_s:8.1f} s wall {cpu_s:8.1f} s CPU, {compile_s:6.1f} s of it compiling, peak {peak_mb:6.0f} MB, "
    text += "load {load:.1f}"
    sys.stdout.write(f"{n:7,} cells {name:13s}" + text.format(**record) + "\n")
    sys.stdout.flush()


def _ratio(record: dict[str, Any]) -> None:
    a, b = _median(record["ours"]), _median(record["theirs"])
    running = 1 - b["compile_s"] / b["wall_s"]  # compiling is timed by the clock: of CPU seconds the same share is off
    wall, cpu = (a[key] / (b[key] * running) for key in ("wall_s", "cpu_s"))
    memory = a["peak_mb"] / b["peak_mb"]
    sys.stdout.write(f"   ours over theirs: wall 1/{1 / wall:.1f}, CPU 1/{1 / cpu:.1f}, peak 1/{1 / memory:.1f}\n")


if __name__ == "__main__":
    raise SystemExit(main())
