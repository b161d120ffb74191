"""Baselines of network inference: a weight for each candidate edge."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from primabench_core import EvalData, UsageError
from primabench_task_singlecell.baselines.features import draw_by_id, expression, one_thread

Floats = NDArray[np.float64]
TREES = 50
LEAF = 5
_DRAWS = 1 << 53


def perfect(solution: EvalData, *, seed: int = 0) -> EvalData:
    """1 for each true edge; runs inside the runner."""
    return EvalData({"score": np.asarray(solution["label"], np.float64)}, ids=solution.ids)


def random(train: EvalData, test: EvalData, *, seed: int = 0) -> EvalData:
    """A uniform weight by a hash of seed and edge."""
    ids = _ids(test)
    return EvalData({"score": (draw_by_id(ids, _DRAWS, seed=seed) + 1.0) / _DRAWS}, ids=ids)


def correlation(train: EvalData, test: EvalData, *, seed: int = 0) -> EvalData:
    """Absolute Pearson correlation of regulator and target over cells; 0 where one of them does not vary."""
    task = _Candidates(train, test)
    with one_thread():
        X = task.X - task.X.mean(axis=0)
        length = np.sqrt((X * X).sum(axis=0))
        X = np.divide(X, length, out=np.zeros_like(X), where=length > 0)
        found = np.abs(X[:, task.regulators].T @ X[:, task.targets])
    return task.weighed(np.minimum(found, 1.0))


def forest(train: EvalData, test: EvalData, *, seed: int = 0) -> EvalData:
    """Importances of regulators for each target, GENIE3's scheme (Huynh-Thu 2010, doi:10.1371/journal.pone.0012776).

    For each target, extremely randomised trees predict its standardised expression from that of all other regulators;
    the share of variance that a regulator explains is the weight of its edge.
    """
    from sklearn.ensemble import ExtraTreesRegressor

    task = _Candidates(train, test)
    found = np.zeros((len(task.regulators), len(task.targets)))
    inputs = task.X[:, task.regulators].astype(np.float32)
    with one_thread():
        for j, gene in enumerate(task.targets.tolist()):
            y = task.X[:, gene]
            spread = y.std()
            others = np.flatnonzero(task.regulators != gene)
            if not spread or not len(others):
                continue
            trees = ExtraTreesRegressor(TREES, min_samples_leaf=LEAF, max_features="sqrt", random_state=seed)
            trees.fit(inputs[:, others], (y - y.mean()) / spread)
            found[others, j] = np.maximum(trees.feature_importances_, 0.0)  # rounding leaves some below 0
    return task.weighed(found)


class _Candidates:
    """Expression of the genes that candidate edges name."""

    def __init__(self, train: EvalData, test: EvalData) -> None:
        matrix: Any = expression(train)
        place = {str(gene): i for i, gene in enumerate(train.coords.get("genes", ()))}
        if not place:
            raise UsageError("This baseline needs the names of genes.", remedy="primabench list baselines")
        self.ids = _ids(test)
        source, target = ([str(name) for name in np.asarray(test[f], object)] for f in ("regulator", "target"))
        self._regulators, self._targets = sorted(set(source)), sorted(set(target))
        names = sorted({*self._regulators, *self._targets})
        columns = matrix[:, [place[name] for name in names]]
        self.X: Floats = np.asarray(columns.toarray() if hasattr(columns, "toarray") else columns, np.float64)
        at = {name: i for i, name in enumerate(names)}
        self.regulators = np.asarray([at[name] for name in self._regulators], np.int64)
        self.targets = np.asarray([at[name] for name in self._targets], np.int64)
        rows, columns_at = ({name: i for i, name in enumerate(found)} for found in (self._regulators, self._targets))
        self._rows = np.asarray([rows[name] for name in source], np.int64)
        self._columns = np.asarray([columns_at[name] for name in target], np.int64)

    def weighed(self, weight: Floats) -> EvalData:
        """The candidate edges with their entries of a table of regulators by targets."""
        return EvalData({"score": weight[self._rows, self._columns]}, ids=self.ids)


def _ids(test: EvalData) -> list[str]:
    if test.ids is None:
        raise UsageError("Candidate edges need ids.", remedy="primabench list baselines")
    return [str(i) for i in test.ids]
