"""Nested cross-validation of the linear probe beside scikit-learn, on one thread.

    python tests/performance/nested_probe.py [--repeats N] [--sizes 200x512,2000x1024] [--skip-converged]
                                            [--outer N] [--only TEXT]

Five outer folds; 17 values of alpha, 7 of C, five inner folds. All sides run interleaved in one process on the same
folds. Printed: medians of processor time, ratios, and whether the same penalties were chosen. scikit-learn stands there
with its defaults (logistic: tolerance 1e-4, at most 100 steps, which is not its optimum) and, once, run to convergence
(1e-10): LogisticRegressionCV, whose inner folds share one standardiser, and GridSearchCV, whose inner folds have each
their own as ours have. Choices can be compared with the latter.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Callable
from statistics import median
from time import process_time
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

ALPHAS = tuple(float(a) for a in 10.0 ** np.linspace(6, -3, 17))
STRENGTHS = tuple(float(c) for c in 10.0 ** np.linspace(-4, 4, 7))
Fold = tuple[np.ndarray, list[np.ndarray]]


def data(n: int, width: int, kind: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, numbers and classes; ``correlated`` columns have a spectrum that falls as 1/j, like an embedding's."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((n, width))
    if kind == "correlated":
        x = x / np.arange(1, width + 1) @ rng.standard_normal((width, width)) + 0.05 * rng.standard_normal((n, width))
    standard = (x - x.mean(0)) / x.std(0)
    target = standard @ rng.standard_normal(width) / np.sqrt(width) + rng.standard_normal(n)
    return x, target, (target > 0).astype(np.int64)


def folds(n: int) -> list[Fold]:
    """Held-out rows of each outer fold, and of its inner folds (positions among the fitted rows)."""
    rng = np.random.default_rng(1)
    outer = np.array_split(rng.permutation(n), 5)
    return [(held, np.array_split(rng.permutation(n - len(held)), 5)) for held in outer]


def sides(x: np.ndarray, target: np.ndarray, label: np.ndarray) -> dict[str, Callable[[list[Fold]], list[float]]]:
    """What runs on outer folds: fits on the rows of each, predicts its held ones, gives the penalties."""
    from primabench_metrics.logistic_nests import Nest, logistic_nests
    from primabench_metrics.penalties import ridge_in_folds, ridge_left_out
    from sklearn.linear_model import LogisticRegression, LogisticRegressionCV, Ridge, RidgeCV
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    def cut(fit: np.ndarray, fold: Fold) -> list[tuple[np.ndarray, np.ndarray]]:
        return [(np.setdiff1d(np.arange(len(fit)), held), held) for held in fold[1]]

    def ours_left_out(fit: np.ndarray, fold: Fold) -> float:
        return ridge_left_out(x[fit], target[fit], x[fold[0]], ALPHAS)[0]

    def ours_folds(fit: np.ndarray, fold: Fold) -> float:
        return ridge_in_folds(x[fit], target[fit], x[fold[0]], fold[1], ALPHAS)[0]

    def ours_logistic(cuts: list[Fold]) -> list[float]:
        nests = [Nest(np.setdiff1d(np.arange(len(x)), held), held, inner) for held, inner in cuts]
        return [found.strength for found in logistic_nests(x, label, 2, nests, STRENGTHS)]

    def ridge_cv(fit: np.ndarray, fold: Fold) -> float:
        model = make_pipeline(StandardScaler(), RidgeCV(ALPHAS)).fit(x[fit], target[fit])
        model.predict(x[fold[0]])
        return float(model[-1].alpha_)

    def grid_search(fit: np.ndarray, fold: Fold) -> float:
        pipeline = make_pipeline(StandardScaler(), Ridge())
        grid = {"ridge__alpha": ALPHAS}
        model = GridSearchCV(pipeline, grid, cv=cut(fit, fold), scoring="neg_mean_squared_error")
        model.fit(x[fit], target[fit]).predict(x[fold[0]])
        return float(model.best_params_["ridge__alpha"])

    def logistic(fit: np.ndarray, fold: Fold, **more: Any) -> float:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it says that it did not converge
            chooser = LogisticRegressionCV(Cs=STRENGTHS, cv=cut(fit, fold), scoring="roc_auc", **more)
            model = make_pipeline(StandardScaler(), chooser).fit(x[fit], label[fit])
        model.decision_function(x[fold[0]])
        return float(np.ravel(model[-1].C_)[0])

    def converged(fit: np.ndarray, fold: Fold) -> float:
        """Every fit to its optimum, columns standardised inside each inner fold, as ours are."""
        pipeline = make_pipeline(StandardScaler(), LogisticRegression(tol=1e-10, max_iter=100_000))
        grid = {"logisticregression__C": STRENGTHS}
        model = GridSearchCV(pipeline, grid, cv=cut(fit, fold), scoring="roc_auc").fit(x[fit], label[fit])
        model.decision_function(x[fold[0]])
        return float(model.best_params_["logisticregression__C"])

    def each(run: Callable[..., float], **more: Any) -> Callable[[list[Fold]], list[float]]:
        return lambda cuts: [run(np.setdiff1d(np.arange(len(x)), fold[0]), fold, **more) for fold in cuts]

    return {
        "ridge, leave one out: ours": each(ours_left_out),
        "ridge, leave one out: RidgeCV": each(ridge_cv),
        "ridge, same folds: ours": each(ours_folds),
        "ridge, same folds: GridSearchCV": each(grid_search),
        "logistic: ours": ours_logistic,
        "logistic: LogisticRegressionCV": each(logistic),
        "logistic: LogisticRegressionCV, converged": each(logistic, tol=1e-10, max_iter=100_000),
        "logistic: GridSearchCV, converged": each(converged),
    }


def measure(n: int, width: int, kind: str, options: argparse.Namespace) -> None:
    """Time every side on the same folds and print."""
    x, target, label = data(n, width, kind)
    cuts = folds(n)[: options.outer]
    running = {name: run for name, run in sides(x, target, label).items() if options.only in name}
    seconds: dict[str, list[float]] = {name: [] for name in running}
    chosen: dict[str, list[float]] = {}
    for repeat in range(options.repeats):
        for name, run in running.items():
            if name.endswith("converged") and (options.skip_converged or repeat):
                continue
            started = process_time()
            chosen[name] = run(cuts)
            seconds[name].append(process_time() - started)
    print(f"{n} x {width}, {kind} columns, {len(cuts)} outer folds")
    for name, times in seconds.items():
        if not times:
            continue
        head, _, who = name.partition(": ")
        mine = median(seconds[f"{head}: ours"])
        told = ""
        if who != "ours":
            same = sum(a == b for a, b in zip(chosen[name], chosen[f"{head}: ours"], strict=True))
            told = f"  ours is {mine / median(times):.2f} of it; same choice in {same} of {len(cuts)} folds"
        print(f"  {name:45} {median(times):8.3f} s{told}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--sizes", default="200x512,2000x1024")
    parser.add_argument("--kinds", default="independent,correlated")
    parser.add_argument("--skip-converged", action="store_true")
    parser.add_argument("--outer", type=int, default=5, help="outer folds that are run, of five")
    parser.add_argument("--only", default="", help="sides whose name holds this text")
    options = parser.parse_args()
    for size in options.sizes.split(","):
        for columns in options.kinds.split(","):
            measure(*map(int, size.split("x")), columns, options)
