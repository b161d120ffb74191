"""Pseudobulk, delta and discrimination metrics beside cell-eval: time, and what is kept of the prediction.

100,000 cells x 2,000 genes on both sides, 100 perturbations and controls, dense float32. cell-eval runs with its
differential expression switched off, in an interpreter that has it::

    OMP_NUM_THREADS=1 python tests/performance/perturbation.py PYTHON_WITH_CELL_EVAL [smaller]

Each side runs in a process of its own, from cells in memory to scores; seconds are of the processor. Ours takes the
prediction in batches of 5,000 cells with ids, with the trivial baselines and the data ceiling (which cell-eval does not
compute) and without. The truth's part, which a training loop pays once, and the digest of the truth, which cell-eval
does not take, are also printed apart. Bar: a fifth of cell-eval's time.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time

import numpy as np

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


def ours(smaller: int, beside: str) -> dict[str, object]:
    """Seconds and scores of this project."""
    import primabench_core as pb

    small = {"value": np.ones((4, 40)), "perturbation": ["control", "control", "a", "b"]}
    for name in METRICS:  # compiled loops are loaded, as after the first evaluation of a training loop
        pb.score(name, small, small)
    names, true, predicted, genes = sides(smaller)
    asked = [(name, {"baselines": beside}) for name in METRICS]
    start = time.process_time()
    run = pb.stream(asked, {"value": true, "perturbation": names, "genes": genes}, hash_predictions=False)
    opened = time.process_time()
    for a in range(0, len(names), BATCH):
        ids = [f"cell{i}" for i in range(a, min(len(names), a + BATCH))]
        run.update(ids=ids, value=predicted[a : a + BATCH], perturbation=names[a : a + BATCH], genes=genes)
    updated = time.process_time()
    result = run.compute()
    done = time.process_time()
    digest = hashed(true, names, genes)
    kept = run._intake.to_buffers()
    arrays = [*kept["arrays"].values(), *kept["sums"]["value"]["arrays"].values()]
    run.reset()
    again = time.process_time()
    for a in range(0, len(names), BATCH):
        ids = [f"cell{i}" for i in range(a, min(len(names), a + BATCH))]
        run.update(ids=ids, value=predicted[a : a + BATCH], perturbation=names[a : a + BATCH], genes=genes)
    run.compute()
    return {
        "total": done - start,
        "truth": opened - start,
        "updates": updated - opened,
        "compute": done - updated,
        "of it the digest of the truth": digest,
        "next evaluation of the loop": time.process_time() - again,
        "kept MB": sum(a.nbytes for a in arrays) / 1e6,
        "prediction MB": predicted.nbytes / 1e6,
        "scores": list(result.scores.values()),
    }


def hashed(true: np.ndarray, names: np.ndarray, genes: list[str]) -> float:
    """Seconds of the digest of a truth, which a result carries and cell-eval's has not."""
    import primabench_core as pb

    run = pb.stream(METRICS[:1], {"value": true, "perturbation": names, "genes": genes})
    start = time.process_time()
    len(run.truth.sha256)
    return time.process_time() - start


def theirs(smaller: int) -> dict[str, object]:
    """Seconds and scores of cell-eval."""
    import logging
    import tempfile

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
        start = time.process_time()
        evaluator = MetricsEvaluator(
            pair[0], pair[1], control_pert="control", pert_col="target", num_threads=1, outdir=folder, skip_de=True
        )
        found, _ = evaluator.compute(profile="anndata", skip_metrics=skipped, write_csv=False)
        seconds = time.process_time() - start
    return {"total": seconds, "scores": [float(found[name].mean()) for name in THEIRS]}


def run_in(python: str, *arguments: str) -> dict[str, object]:
    """What a process of this script says."""
    done = subprocess.run([python, __file__, *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr[-3000:])
    return json.loads(done.stdout.splitlines()[-1])  # type: ignore[no-any-return]


if __name__ == "__main__":
    if sys.argv[1] in ("ours", "theirs"):
        smaller = int(sys.argv[2])
        print(json.dumps(ours(smaller, sys.argv[3]) if sys.argv[1] == "ours" else theirs(smaller)))
        raise SystemExit
    smaller = sys.argv[2] if len(sys.argv) > 2 else "1"
    peer = run_in(sys.argv[1], "theirs", smaller)
    print("cell-eval:", {k: v for k, v in peer.items() if k != "scores"})
    for beside in ("none", "all"):
        mine = run_in(sys.executable, "ours", smaller, beside)
        print(f"ours, baselines={beside}:", {k: round(v, 3) for k, v in mine.items() if k != "scores"})  # type: ignore[call-overload]
        whole, digest, again = (
            mine[k] for k in ("total", "of it the digest of the truth", "next evaluation of the loop")
        )
        print(f"  ratio {whole / peer['total']:.3f}")  # type: ignore[operator]
        print(f"  without the digest {(whole - digest) / peer['total']:.3f}, in a loop {again / peer['total']:.3f}")  # type: ignore[operator]
    for name, other, a, b in zip(METRICS, THEIRS, mine["scores"], peer["scores"], strict=True):  # type: ignore[arg-type]
        print(f"  {name} {a!r}, {other} {b!r}")
