"""Bootstrap of accuracy, macro-F1 and AUROC on the same draws, beside resampling with scikit-learn in a loop.

Run: ``python tests/performance/bootstrap.py [--rows N] [--repeats N] [--peer-draws N]``, one thread. Ours is an
evaluation's own path from the views to the intervals: 2,000 draws of every metric, and again what stands once before
them (sorts, codes). The peer draws positions with numpy, takes the rows and calls scikit-learn, for fewer draws (40 by
default) because it is slow; the ratio is of seconds a draw. Both sides run interleaved in one process; medians are
printed. Values of single draws are compared first: the same positions through both sides.

``--panel`` instead times each metric alone at 347 rows, and a panel of nine class metrics, in microseconds a draw.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from statistics import median
from time import perf_counter

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")

import numpy as np

from primabench_core.discovery.metrics import resolve_metric
from primabench_core.evaluation.draws import Population, population
from primabench_core.evaluation.intervals import DRAWS, bootstrap, resample
from primabench_core.evaluation.plan import MetricPlan, choose_fields, derive_contract
from primabench_core.evaluation.resampled import Job
from primabench_core.evaluation.scoring import function_of, weighted_of
from primabench_core.state.rows import Column, Labels, Rows
from primabench_core.statistics.resampling import draw_below

METRICS = ["accuracy", "macro_f1", "auroc"]
PANEL = [
    "accuracy", "balanced_accuracy", "macro_f1", "weighted_f1", "micro_f1", "macro_precision", "macro_recall", "mcc",
    "cohen_kappa",
]  # fmt: skip
ALONE = [
    "accuracy", "mcc", "auroc", "average_precision", "log_loss", "brier_score", "expected_calibration_error", "mse",
    "rmse", "mae", "pearson", "spearman", "r2", "rm2",
]  # fmt: skip
BAR = 1 / 10


def columns(n: int, classes: int = 2) -> dict[str, dict[str, Column]]:
    rng = np.random.default_rng(0)
    label = (rng.random(n) < 0.3).astype(np.int64) if classes == 2 else rng.integers(0, classes, n)
    score = (rng.standard_normal(n) + label).astype(np.float32)
    called = (score > 0.7).astype(np.int64) if classes == 2 else np.where(rng.random(n) < 0.7, label, label[::-1])
    value = rng.standard_normal(n)
    names = tuple(range(classes))
    return {
        "prediction": {
            "label": Labels(called, names),
            "score": score,
            "value": value + rng.standard_normal(n),
            "probability": rng.dirichlet([1.0] * classes, n),
        },
        "truth": {"label": Labels(label, names), "value": value},
    }


def jobs_of(metrics: Sequence[str], data: dict[str, dict[str, Column]], source: Population) -> list[Job]:
    """Jobs as an evaluation makes them, over views that nothing has been prepared on."""
    resolved = [resolve_metric(name) for name in metrics]
    contract = derive_contract(resolved)
    fields = [choose_fields(resolved, contract, data[side], side) for side in ("prediction", "truth")]  # type: ignore[arg-type]
    views: dict[object, Rows] = {}
    jobs = []
    for metric, predicted, true in zip(resolved, *fields, strict=True):
        plan = MetricPlan(metric, predicted, true)
        if plan.key not in views:
            sides = [
                {f.name: data[side][f.name] for f in used}
                for side, used in (("prediction", predicted), ("truth", true))
            ]
            classes = data["truth"]["label"].classes  # type: ignore[union-attr]
            views[plan.key] = Rows(source.n_rows, sides[0], sides[1], classes=classes)
        jobs.append(Job(plan, function_of(metric), views[plan.key], source, weighted_of(metric)))
    return jobs


def rows_as_units(n: int) -> Population:
    return population(n, method="units", unit="row", groups=None, blocks=lambda: np.arange(n) % 256)


def peer(data: dict[str, dict[str, Column]], draws: Sequence[np.ndarray]) -> list[tuple[float, float, float]]:
    from sklearn.metrics import accuracy_score, f1_score, roc_auc_score

    label, called = data["truth"]["label"].codes, data["prediction"]["label"].codes  # type: ignore[union-attr]
    score = data["prediction"]["score"]
    found = []
    for at in draws:
        y, p, s = label[at], called[at], score[at]  # type: ignore[index]
        found.append((accuracy_score(y, p), f1_score(y, p, average="macro"), roc_auc_score(y, s)))
    return found


def compare(n: int, repeats: int, peer_draws: int) -> None:
    data, source = columns(n), rows_as_units(n)
    ours, _ = resample(jobs_of(METRICS, data, source), 1, 3)
    theirs = np.array(peer(data, [draw_below(1, d, n, n) for d in range(3)])).T
    print(f"largest difference of a value of a single draw: {np.abs(ours - theirs).max():.1e}")
    generator = np.random.default_rng(1)
    times: dict[str, list[float]] = {"ours": [], "scikit-learn": []}
    for _ in range(repeats):
        start = perf_counter()
        bootstrap(jobs_of(METRICS, data, source), 1)
        times["ours"].append((perf_counter() - start) / DRAWS)
        start = perf_counter()
        peer(data, [generator.integers(0, n, n) for _ in range(peer_draws)])
        times["scikit-learn"].append((perf_counter() - start) / peer_draws)
    mine, other = median(times["ours"]), median(times["scikit-learn"])
    print(f"{n:,} rows, {', '.join(METRICS)}: {DRAWS:,} draws of ours against {peer_draws} of scikit-learn, one thread")
    print(f"  ours         {mine * 1e3:8.3f} ms a draw ({mine * DRAWS:.2f} s)")
    print(f"  scikit-learn {other * 1e3:8.3f} ms a draw ({other * DRAWS:.1f} s if it went on)")
    print(f"  ratio 1/{other / mine:.1f} {'within' if mine / other <= BAR else 'ABOVE'} the bar of 1/{1 / BAR:.0f}")


def panel(n: int, repeats: int) -> None:
    for names, classes in [*(([name], 2) for name in ALONE), (PANEL, 10)]:
        data, source, took = columns(n, classes), rows_as_units(n), []
        for _ in range(repeats):
            jobs = jobs_of(names, data, source)
            start = perf_counter()
            bootstrap(jobs, 1)
            took.append((perf_counter() - start) / DRAWS * 1e6)
        print(f"{', '.join(names):<30} {median(took):7.1f} us a draw, {median(took) / len(names):6.1f} a metric")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--peer-draws", type=int, default=40)
    parser.add_argument("--panel", action="store_true")
    given = parser.parse_args()
    if given.panel:
        panel(given.rows or 347, given.repeats)
    else:
        compare(given.rows or 100_000, given.repeats, given.peer_draws)
