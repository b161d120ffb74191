"""Pseudobulk, delta and discrimination metrics beside cell-eval: time, and what is kept of the prediction.

100,000 cells x 2,000 genes on both sides, 100 perturbations and controls, dense float32. cell-eval runs with its
differential expression switched off, in an interpreter that has it::

    OMP_NUM_THREADS=1 python tests/performance/perturbation.py PYTHON_WITH_CELL_EVAL [smaller]

Each side runs in a process of its own, from cells in memory to scores. Ours takes the prediction in batches of 5,000
cells with ids, with the trivial baselines and the data ceiling (which cell-eval does not compute) and without, once
against a dataset of a store, as users have it, and once against a truth in memory. The truth is hashed, which cell-eval
does not do; the seconds of that are printed apart, as are those of reading the store: cell-eval is given cells in
memory. Bar: a fifth of cell-eval's time.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

KEY, TASK = "primabench_synthetic/many_cells@1.0.0", "perturbation_prediction"
ENTRY_POINTS = f"""\
[primabench.datasets]
{KEY} = many_cells:DATASET
[primabench.recipes]
{KEY} = many_cells:RECIPE
[primabench.preparers]
{TASK}|{KEY} = many_cells:PREPARE
"""
PLUGIN = f"""\
import importlib.util, os
import numpy as np
from primabench_core import EvalData
from primabench_core.spec import DatasetSpec, PreparerSpec, RecipeSpec

KEY = {KEY!r}
DATASET = DatasetSpec(key=KEY, title="Many cells", summary="Made.", publication="Not published.", licence="CC0-1.0",
                      organism="none (synthetic)", modality="made")
RECIPE = RecipeSpec(dataset=KEY, build="many_cells:build", curator="nobody", history=("2026-11: made",))
PREPARE = PreparerSpec(task={TASK!r}, dataset=KEY, prepare="many_cells:prepare", summary="All cells are answers.")


def build(context):
    from primabench_core.store.artifact import Artifact

    few = EvalData({{"kind": ["cell"]}}, ids=["one"])
    return [Artifact(view="labelled", data=few, private=True), Artifact(view="censored", data=few)]


def prepare(data):
    from primabench_core.store.prepare import Splits

    spec = importlib.util.spec_from_file_location("bench", os.environ["BENCH"])
    bench = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(bench)
    names, true, _, genes = bench.sides(int(os.environ["SMALLER"]))
    coords = {{"genes": genes}}
    kinds, ids = sorted(set(names.tolist()) - {{"control"}}), [str(i) for i in range(len(true))]
    return Splits(
        train=EvalData({{"value": true[:4] * 0, "perturbation": ["t", "t", "control", "control"]}},
                       ids=list("abcd"), coords=coords),
        test=EvalData({{"split_class": np.array(["unseen"] * len(kinds), object)}}, ids=kinds),
        solution=EvalData({{"value": true, "perturbation": names}}, coords=coords, ids=ids),
        columns={{"value": "genes"}},
    )
"""
CELLS, GENES, KINDS, BATCH = 100_000, 2_000, 100, 5_000
METRICS = (
    "mse_pseudobulk",
    "mae_pseudobulk",
    "pearson_delta",
    "perturbation_discrimination_l1",
    "perturbation_discrimination_l2",
    "perturbation_discrimination_cosine",
)
THEIRS = (
    "mse",
    "mae",
    "pearson_delta",
    "discrimination_score_l1",
    "discrimination_score_l2",
    "discrimination_score_cosine",
)


def sides(smaller: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[str]]:
    """Names, true and predicted cells, genes. A twentieth of the cells are controls."""
    n = CELLS // smaller
    rng = np.random.default_rng(0)
    code = rng.integers(0, int(KINDS * 1.05), n) % (KINDS + 1)
    code[: KINDS + 1] = np.arange(KINDS + 1)
    effect = rng.standard_normal((KINDS + 1, GENES), np.float32)
    effect[0] = 0
    true = np.abs(rng.standard_normal((n, GENES), np.float32) + effect[code] + 2)
    predicted = np.abs(true + rng.standard_normal((n, GENES), np.float32))
    names = np.array(["control", *(f"gene{i}" for i in range(KINDS))], object)[code]
    return names, true, predicted, [f"gene{i}" for i in range(GENES)]


def ours(smaller: int, beside: str, store: str) -> dict[str, object]:
    """Seconds and scores of this project, against a store or (without one) a truth in memory."""
    import primabench_core as pb

    small = {"value": np.ones((4, 40)), "perturbation": ["control", "control", "a", "b"]}
    for name in METRICS:  # compiled loops are loaded, as after the first evaluation of a training loop
        pb.score(name, small, small)
    names, true, predicted, genes = sides(smaller)
    asked = [(name, {"baselines": beside}) for name in METRICS]
    clock = Clock()
    if store:
        run = pb.Evaluation(task=TASK, dataset=KEY, metrics=asked, store=store, hash_predictions=False)
        run.truth.n  # noqa: B018  (reads the store)
    else:
        run = pb.stream(asked, {"value": true, "perturbation": names, "genes": genes}, hash_predictions=False)
    clock.lap("truth")
    feed(run, names, predicted, genes)
    clock.lap("updates")
    result = run.compute()
    clock.lap("compute")
    kept = run._intake.to_buffers()
    arrays = [*kept["arrays"].values(), *kept["sums"]["value"]["arrays"].values()]
    run.reset()
    again = Clock()
    feed(run, names, predicted, genes)
    run.compute()
    again.lap("next evaluation of the loop")
    return {
        "laps": {**clock.laps, **again.laps},
        "digest": [0.0, 0.0] if store else hashed(true, names, genes),
        "kept MB": sum(a.nbytes for a in arrays) / 1e6,
        "prediction MB": predicted.nbytes / 1e6,
        "scores": list(result.scores.values()),
    }


class Clock:
    """Seconds of the processor and of the wall, lap by lap."""

    def __init__(self) -> None:
        self.laps: dict[str, list[float]] = {}
        self._last = (time.process_time(), time.perf_counter())

    def lap(self, name: str) -> None:
        """Note the time since the last lap."""
        now = (time.process_time(), time.perf_counter())
        self.laps[name] = [b - a for a, b in zip(self._last, now, strict=True)]
        self._last = now


def feed(run: Any, names: np.ndarray, predicted: np.ndarray, genes: list[str]) -> None:
    """The prediction in batches."""
    for a in range(0, len(names), BATCH):
        ids = [f"cell{i}" for i in range(a, min(len(names), a + BATCH))]
        run.update(ids=ids, value=predicted[a : a + BATCH], perturbation=names[a : a + BATCH], genes=genes)


def hashed(true: np.ndarray, names: np.ndarray, genes: list[str]) -> list[float]:
    """Seconds of the digest of a truth, which a result carries and cell-eval's has not."""
    import primabench_core as pb

    run = pb.stream(METRICS[:1], {"value": true, "perturbation": names, "genes": genes})
    clock = Clock()
    len(run.truth.sha256)
    clock.lap("digest")
    return clock.laps["digest"]


def stored(smaller: int, store: str) -> None:
    """Build the dataset whose answers are these cells."""
    from primabench_core.store.build import build_dataset
    from primabench_core.store.prepare import prepare

    build_dataset(KEY, store=store)
    prepare(TASK, KEY, store)


def theirs(smaller: int) -> dict[str, object]:
    """Seconds and scores of cell-eval."""
    import logging

    import anndata
    import pandas as pd
    from cell_eval import MetricsEvaluator
    from cell_eval.metrics import metrics_registry

    logging.disable(logging.WARNING)
    names, true, predicted, genes = sides(smaller)
    table = pd.DataFrame({"target": names.astype(str)}, index=[f"cell{i}" for i in range(len(names))])
    var = pd.DataFrame(index=genes)
    pair = [anndata.AnnData(x, obs=table.copy(), var=var) for x in (predicted, true)]
    skipped = [m for m in metrics_registry.list_metrics() if m not in THEIRS]
    with tempfile.TemporaryDirectory() as folder:
        clock = Clock()
        evaluator = MetricsEvaluator(
            pair[0], pair[1], control_pert="control", pert_col="target", num_threads=1, outdir=folder, skip_de=True
        )
        found, _ = evaluator.compute(profile="anndata", skip_metrics=skipped, write_csv=False)
        clock.lap("total")
    return {"laps": clock.laps, "scores": [float(found[name].mean()) for name in THEIRS]}


def run_in(python: str, *arguments: str, **more: str) -> dict[str, Any]:
    """What a process of this script says."""
    environment = {**os.environ, **more}
    done = subprocess.run([python, __file__, *arguments], capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        raise SystemExit(done.stderr[-3000:])
    return json.loads(done.stdout.splitlines()[-1])  # type: ignore[no-any-return]


def compare(python: str, smaller: str) -> None:
    """Both sides, twice, one after the other."""
    with tempfile.TemporaryDirectory() as root:
        plugin, store = Path(root, "plugin"), str(Path(root, "store"))
        facts = plugin / "many_cells-1.0.dist-info"
        facts.mkdir(parents=True)
        (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: many-cells\nVersion: 1.0\n")
        (facts / "entry_points.txt").write_text(ENTRY_POINTS)
        (plugin / "many_cells.py").write_text(PLUGIN)
        more = {"PYTHONPATH": str(plugin), "BENCH": __file__, "SMALLER": smaller}
        run_in(sys.executable, "stored", smaller, store, **more)
        for turn in (1, 2):
            peer = run_in(python, "theirs", smaller)
            told = peer["laps"]["total"]
            print(f"turn {turn}, load {os.getloadavg()[0]:.1f}; cell-eval: {told[0]:.2f} s (wall {told[1]:.2f})")
            for beside in ("none", "all"):
                for place in (store, ""):
                    mine = run_in(sys.executable, "ours", smaller, beside, place, **more)
                    show(mine, told, f"baselines={beside}, truth {'of a store' if place else 'in memory'}", bool(place))
    for name, other, a, b in zip(METRICS, THEIRS, mine["scores"], peer["scores"], strict=True):
        print(f"  {name} {a!r}, {other} {b!r}")


def show(mine: dict[str, Any], peer: list[float], what: str, is_stored: bool) -> None:
    """Seconds and ratios, of the processor and (wall)."""
    laps, digest = mine["laps"], mine["digest"]
    parts = ("updates", "compute") if is_stored else ("truth", "updates", "compute")
    total, again = [sum(laps[k][i] for k in parts) for i in (0, 1)], laps["next evaluation of the loop"]
    print(f"  {what}: " + ", ".join(f"{k} {c:.2f} ({w:.2f})" for k, (c, w) in laps.items()))
    ratios = [
        ("one evaluation" + (", read" if is_stored else ""), total),
        ("without the digest", [t - d for t, d in zip(total, digest, strict=True)]),
        ("with reading", [t + r for t, r in zip(total, laps["truth"], strict=True)] if is_stored else total),
        ("in a loop", again),
    ]
    print("    ratio " + ", ".join(f"{k} {t[0] / peer[0]:.3f} ({t[1] / peer[1]:.3f})" for k, t in ratios))
    print(f"    kept {mine['kept MB']:.0f} MB of {mine['prediction MB']:.0f}")


if __name__ == "__main__":
    if sys.argv[1] == "stored":
        stored(int(sys.argv[2]), sys.argv[3])
        print("{}")
    elif sys.argv[1] == "ours":
        print(json.dumps(ours(int(sys.argv[2]), sys.argv[3], sys.argv[4])))
    elif sys.argv[1] == "theirs":
        print(json.dumps(theirs(int(sys.argv[2]))))
    else:
        compare(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "1")
