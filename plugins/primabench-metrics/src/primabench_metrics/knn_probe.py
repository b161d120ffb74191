"""k nearest neighbours as a probe: what the neighbourhood of an embedding knows about the classes."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from primabench_core.spec import Outcome
from primabench_core.state.counts import Counts
from primabench_core.state.exact import exact_row_sums
from primabench_core.state.rows import Rows
from primabench_metrics import classification
from primabench_metrics.folds import row_names, splits_of
from primabench_metrics.ranking import label_column

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

BLOCK_BYTES = 1 << 23
SPARE = 16
"""Candidates beyond k whose distances are taken exactly, so that rounding in the search cannot decide a tie."""
PROBE = "knn-probe/1"


def knn_probe(state: Rows, *, k: int = 15, distance: str = "euclidean", score: str = "accuracy") -> Outcome:
    """Predict each scored row by the k nearest fitted rows, and score the predictions together (Cover & Hart 1967).

    Neighbours are found exactly; equal distances are taken in the order of ids. The most frequent class wins, and
    among equally frequent ones that of the nearest neighbour, so the names of classes do not matter.

    Args:
        state: ``embedding`` (n, width) against ``label`` (n,) with ``role`` (``fit``, ``score``) or ``fold``.
        k: Neighbours; all fitted rows where there are fewer (flag ``k_capped``).
        distance: ``euclidean`` or ``cosine``.
        score: Metric of the predictions: ``accuracy``, ``balanced_accuracy``, ``macro_f1`` or ``mcc``.

    Returns:
        The metric over all scored rows, its value for each fold in ``per_unit``, and the probe with the SHA-256 of
        its settings in ``values``.

    Raises:
        ContractError: The roles, folds or groups do not make a sound split.
    """
    truth = label_column(state)
    if not state.n:
        return Outcome.undefined("too_few_items", "there are no rows", n=0)
    splits = splits_of(state)
    points = np.asarray(state.prediction["embedding"], np.float64)
    if distance == "cosine":
        norms = np.sqrt(exact_row_sums(points * points))[:, None]
        points = points / np.where(norms > 0, norms, 1.0)
    called = np.full(state.n, -1, np.int64)
    names = row_names(state)
    for split in splits:
        fit = np.asarray(sorted(split.fit.tolist(), key=names.__getitem__))  # equal distances go by name
        near = nearest(points[split.score], points[fit], k)
        called[split.score] = _vote(truth.codes[fit][near], len(truth.classes))
    metric = getattr(classification, score)

    def value(rows: Ints) -> Outcome:
        table = Counts.of(truth.codes[rows], called[rows], truth.classes, truth.classes)
        outcome: Outcome = metric(table)
        return outcome

    pooled = value(np.concatenate([s.score for s in splits]))
    settings = {"probe": PROBE, "k": k, "distance": distance, "score": score, "spare": SPARE}
    per_fold = {s.name: value(s.score).value for s in splits}
    capped = any(len(s.fit) < k for s in splits)
    flags = (*pooled.flags, "k_capped") if capped else pooled.flags
    values = probe_identity(settings)
    if pooled.value is None:
        return Outcome.undefined(pooled.reason, pooled.detail, n=pooled.n, per_unit=per_fold, values=values)
    return Outcome(pooled.value, n=pooled.n, flags=flags, per_unit=per_fold, values=values)


def probe_identity(settings: dict[str, Any]) -> dict[str, str]:
    """Name of a probe and the SHA-256 of everything it fixes."""
    text = json.dumps(settings, sort_keys=True)
    return {"probe": str(settings["probe"]), "probe_sha256": hashlib.sha256(text.encode()).hexdigest()}


def nearest(queries: Floats, points: Floats, k: int) -> Ints:
    """Rows of the k nearest points of each query, nearest first, equal distances by row number.

    A matrix product finds k + 16 candidates; their squared distances are then taken from differences.

    Args:
        queries: (m, width) float64.
        points: (n, width) float64.
        k: Neighbours, at most n are given.

    Returns:
        (m, min(k, n)) int64.
    """
    n = len(points)
    k, width = min(k, n), min(n, k + SPARE)
    centre = points.mean(axis=0)
    left, right = queries - centre, points - centre
    squares = np.einsum("ij,ij->i", right, right)
    noise = 1e-12 * (float(squares.max()) + float(np.einsum("ij,ij->i", left, left).max(initial=0.0)))
    result = np.empty((len(queries), k), np.int64)
    step = max(1, min(BLOCK_BYTES // (8 * n), BLOCK_BYTES // (8 * width * max(1, points.shape[1]))))
    for start in range(0, len(queries), step):
        rows = np.arange(start, min(len(queries), start + step))
        rough = squares - 2.0 * (left[rows] @ right.T)
        found = np.argpartition(rough, width - 1, axis=1)[:, :width]
        found.sort(axis=1)
        result[rows], clear = _by_exact_distance(queries[rows], points, found, k, noise)
        for row in rows[~clear] if width < n else ():  # more equals than candidates: look at every point
            result[row] = _by_exact_distance(queries[row : row + 1], points, np.arange(n)[None], k, noise)[0]
    return result


def _by_exact_distance(
    queries: Floats, points: Floats, found: Ints, k: int, noise: float
) -> tuple[Ints, NDArray[np.bool_]]:
    """The k nearest among candidates, and whether the farthest candidate lies clearly beyond them."""
    gaps = points[found] - queries[:, None, :]
    exact = exact_row_sums((gaps * gaps).reshape(-1, gaps.shape[2])).reshape(found.shape)
    order = np.argsort(exact, axis=1, kind="stable")[:, :k]
    edge = np.take_along_axis(exact, order[:, -1:], axis=1)[:, 0]
    return np.take_along_axis(found, order, axis=1), exact.max(axis=1) > edge + noise


def _vote(classes: Ints, count: int) -> Ints:
    """(m,) winning class of (m, k) classes of neighbours, nearest first."""
    m = len(classes)
    votes = np.zeros((m, count), np.int64)
    np.add.at(votes, (np.arange(m)[:, None], classes), 1)
    won = votes[np.arange(m)[:, None], classes]  # votes of each neighbour's class
    winner: Ints = classes[np.arange(m), won.argmax(axis=1)]  # argmax takes the nearest of equals
    return winner
