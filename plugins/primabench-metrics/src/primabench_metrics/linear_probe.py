"""``linear-probe/1``: a penalised linear model on frozen embeddings, its penalty chosen inside the fitted rows."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from primabench_core.contract.violations import Violation
from primabench_core.errors import ContractError
from primabench_core.spec import Outcome
from primabench_core.state.rows import Labels, Rows
from primabench_metrics.correlation import pearson_of
from primabench_metrics.folds import Split, is_stratified, row_names, splits_of
from primabench_metrics.knn_probe import probe_identity
from primabench_metrics.logistic import GRADIENT, probabilities
from primabench_metrics.logistic_nests import Nest, logistic_nests
from primabench_metrics.penalties import (
    INNER_FOLDS,
    PENALTIES,
    SAME,
    STRENGTHS,
    SkippedError,
    ridge_in_folds,
    ridge_left_out,
)
from primabench_metrics.ranking import label_column, one_vs_rest
from primabench_metrics.runs import area, rank_counts

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Names = tuple[str, ...]

GAP = 0.05
"""Difference of pooled score and mean of folds that is flagged."""
PROBE = "linear-probe/1"


@frozen(eq=False)
class OutOfFold:
    """What the folds predicted, placed at the scored rows."""

    values: Floats
    """(n, outputs); NaN where a row was not scored."""
    choices: dict[str, float]
    """The penalty that each fold chose."""
    centred: Floats
    """Ridge: predictions less the mean truth of the rows that were fitted."""
    flags: tuple[str, ...]
    splits: tuple[Split, ...]

    @property
    def rows(self) -> Ints:
        """Rows that were scored, ascending."""
        return np.sort(np.concatenate([s.score for s in self.splits]))


def linear_probe(state: Rows, *, task: str = "", allow_unstratified: bool = False, inner: str = "folds") -> Outcome:
    """Score of a linear model on embeddings, out of fold, pooled over folds.

    In each fold: standardise on the fitted rows (a column without variance keeps scale 1), choose the penalty by an
    inner cross-validation on them, fit, predict the scored rows. Classes: L2 logistic regression, C from 1e-4 to 1e4,
    at most five stratified inner folds, inner score AUROC for two classes and log loss for more. Numbers: ridge
    regression, alpha from 1e-3 to 1e6, five inner folds, squared error. Inner scores within 1e-9 take the stronger
    penalty. The fit that scores is converged to a gradient norm of 1e-8, those that choose as far as the choice hangs
    on them, so that neither is that of a solver.

    The pooled score is the value. Each fold's intercept follows its training mean, which moves against the held-out
    mean; pooled ranks pick that up, so the mean over folds stands beside it (Airola et al. 2011; flag
    ``pooled_differs_from_folds`` beyond 0.05), and for numbers the correlation of centred predictions.

    Args:
        state: ``embedding`` (n, width) against ``label`` (n,) or ``value`` (n,), with ``role`` (``fit``, ``score``)
            or ``fold``, and ``group`` if rows are not independent.
        task: Seeds the inner folds; the name of the task.
        allow_unstratified: Accept folds that do not hold their share of each class.
        inner: ``folds``, or for numbers ``leave_one_out``: the penalty with the least squared error of each fitted
            row by the others, mean and scale of columns being those of all fitted rows. It changes the probe's hash.

    Returns:
        AUROC, one-against-rest AUROC over classes, or Pearson's r; each fold in ``per_unit``; ``fold_mean``, chosen
        penalties, probe and its SHA-256 in ``values``. ``too_few_items`` if an inner fold cannot be made;
        ``constant_prediction`` if numbers are predicted alike within every fold.

    Raises:
        ContractError: The roles, folds or groups do not make a sound split, or folds are not stratified.
    """
    return run_linear_probe(state, task=task, allow_unstratified=allow_unstratified, inner=inner)[0]


def run_linear_probe(
    state: Rows, *, task: str = "", allow_unstratified: bool = False, inner: str = "folds"
) -> tuple[Outcome, OutOfFold | None]:
    """:func:`linear_probe` with the predictions it was made of; they tell the truth's labels to whoever holds both.

    Returns:
        The outcome, and the predictions out of fold (None if there are none).

    Raises:
        ContractError: As :func:`linear_probe`.
    """
    if not state.n:
        return Outcome.undefined("too_few_items", "there are no rows", n=0), None
    splits = splits_of(state)
    points = np.asarray(state.prediction["embedding"], np.float64)
    identity = probe_identity(_settings(task, inner))
    try:
        if "label" in state.truth:
            truth = label_column(state)
            _check_stratified(state, truth, splits, allow_unstratified)
            found = _classify(points, truth, splits, row_names(state), task)
        else:
            found = _regress(points, _numbers(state), splits, row_names(state), task, inner)
    except SkippedError as skipped:
        return Outcome.undefined(*skipped.args, values=identity), None
    return _outcome(state, splits, found, scorer(state, found), identity), found


def scorer(state: Rows, found: OutOfFold) -> Callable[[Ints], Outcome]:
    """The score of some of the scored rows, repeats included: what an interval resamples.

    Args:
        state: Rows that were probed.
        found: What came out of fold.
    """
    if "label" in state.truth:
        return _class_score(found.values, label_column(state))
    return _number_score(found.values[:, 0], _numbers(state))


def _settings(task: str, inner: str) -> dict[str, Any]:
    settings = {
        "probe": PROBE, "strengths": STRENGTHS, "penalties": PENALTIES, "inner_folds": INNER_FOLDS, "same": SAME,
        "gradient": GRADIENT, "task": task,
    }  # fmt: skip
    return settings if inner == "folds" else {**settings, "inner": inner}


def _outcome(
    state: Rows,
    splits: tuple[Split, ...],
    found: OutOfFold,
    score: Callable[[Ints], Outcome],
    identity: dict[str, str],
) -> Outcome:
    rows = np.sort(np.concatenate([s.score for s in splits]))
    pooled = score(rows)
    of_folds = {s.name: score(s.score) for s in splits}
    per_fold = {name: outcome.value for name, outcome in of_folds.items()}
    defined = [v for v in per_fold.values() if v is not None]
    mean = float(np.mean(defined)) if defined else None
    values: dict[str, Any] = {
        **identity, "pooled": pooled.value, "fold_mean": mean, "folds_without_value": len(per_fold) - len(defined),
        "chosen": found.choices,
    }  # fmt: skip
    if "label" not in state.truth:
        values["pooled_centered"] = pearson_of(found.centred[rows], _numbers(state)[rows]).value
    if pooled.value is not None and all(o.reason == "constant_prediction" for o in of_folds.values()):
        detail = "within each fold all predictions are alike: what is left are the means of the fitted rows"
        return Outcome.undefined("constant_prediction", detail, n=len(rows), per_unit=per_fold, values=values)
    if pooled.value is None:
        return Outcome.undefined(pooled.reason, pooled.detail, n=len(rows), per_unit=per_fold, values=values)
    flags = found.flags
    if mean is not None and len(splits) > 1 and abs(pooled.value - mean) > GAP:
        flags = (*flags, "pooled_differs_from_folds")
    return Outcome(pooled.value, n=len(rows), flags=flags, per_unit=per_fold, values=values)


def _numbers(state: Rows) -> Floats:
    target = np.asarray(state.truth["value"], np.float64)
    if target.ndim != 1:
        raise ContractError([Violation("value", "one number a row", f"{target.shape[1]} features")], what="The truth")
    return target


def _check_stratified(state: Rows, truth: Labels, splits: tuple[Split, ...], allowed: bool) -> None:
    group = state.truth.get("group")
    if len(splits) < 2 or allowed or is_stratified(truth.codes, splits, group if isinstance(group, Labels) else None):
        return
    raise ContractError(
        [
            Violation(
                "fold",
                "folds that hold their share of each class",
                "folds that do not",
                remedy="Pooled AUROC misleads on such folds; pass allow_unstratified=True to have it nevertheless.",
            )
        ],
        what="The truth",
    )


def _class_score(values: Floats, truth: Labels) -> Callable[[Ints], Outcome]:
    """AUROC of some rows: of the log-odds for two classes, else the mean of one against the rest."""

    def score(rows: Ints) -> Outcome:
        if values.shape[1] > 1:
            columns = [np.ascontiguousarray(values[rows, c]) for c in range(values.shape[1])]
            return one_vs_rest([str(c) for c in truth.classes], columns, truth.codes[rows])
        found = area(rank_counts(np.ascontiguousarray(values[rows, 0]), truth.codes[rows], 1))
        return Outcome.undefined("single_class", "one class is absent") if found is None else Outcome(found)

    return score


def _number_score(values: Floats, target: Floats) -> Callable[[Ints], Outcome]:
    """Pearson's correlation of some rows."""

    def score(rows: Ints) -> Outcome:
        return pearson_of(values[rows], target[rows])

    return score


def _classify(points: Floats, truth: Labels, splits: tuple[Split, ...], names: Names, task: str) -> OutOfFold:
    classes = len(truth.classes)
    if classes < 2:
        raise SkippedError("single_class", "the truth has one class")
    values = np.full((len(points), 1 if classes == 2 else classes), np.nan)
    choices, flags = {}, set()
    for held, of_kind in _by_classes(truth.codes, splits).items():
        present = np.asarray(held, np.int64)
        if len(present) < classes:
            flags.add("class_absent_in_fit")
        codes = np.searchsorted(present, truth.codes)
        nests = [_nest(codes, len(present), split, names, task) for split in of_kind]
        for split, found in zip(of_kind, logistic_nests(points, codes, len(present), nests), strict=True):
            choices[split.name] = found.strength
            if not found.gradient <= GRADIENT or found.in_doubt:
                flags.add("not_converged")
            if classes == 2:
                values[split.score] = found.decision
            else:
                values[split.score] = 0.0
                values[np.ix_(split.score, present)] = probabilities(found.decision)
    choices = {split.name: choices[split.name] for split in splits}
    return OutOfFold(values, choices, np.empty(0), tuple(sorted(flags)), splits)


def _by_classes(codes: Ints, splits: tuple[Split, ...]) -> dict[tuple[int, ...], list[Split]]:
    """Splits by the classes among the rows that they fit on."""
    found: dict[tuple[int, ...], list[Split]] = {}
    for split in splits:
        found.setdefault(tuple(np.unique(codes[split.fit]).tolist()), []).append(split)
    return found


def _nest(codes: Ints, classes: int, split: Split, names: Names, task: str) -> Nest:
    inner = _class_folds(codes[split.fit], classes, _named(names, split.fit), _seed(task, split, names))
    return Nest(split.fit, split.score, inner)


def _class_folds(codes: Ints, classes: int, names: Names, seed: str) -> list[Ints]:
    """Rows of each inner fold, every class dealt out evenly."""
    smallest = int(np.bincount(codes, minlength=classes).min())
    if classes < 2 or smallest < 2:
        raise SkippedError("too_few_items", "a class has fewer than two rows to fit on: no inner cross-validation")
    strata = [np.flatnonzero(codes == c) for c in range(classes)]
    return _inner_folds(strata, names, min(INNER_FOLDS, smallest), seed)


def _named(names: Names, rows: Ints) -> Names:
    return tuple(names[row] for row in rows.tolist())


def _seed(task: str, split: Split, names: Names) -> str:
    """Seed of the inner folds of a split; its first scored row stands for it, so that names of folds do not matter."""
    return f"{task}|{min(names[row] for row in split.score.tolist())}"


def _inner_folds(strata: list[Ints], names: Names, folds: int, seed: str) -> list[Ints]:
    """Rows of each inner fold: every stratum in an order that seed and row name draw, dealt out in turn.

    Strata go by their first draw, so that neither names of classes nor the order of rows matter.

    Args:
        strata: Rows of each class.
        names: Name of each row.
        folds: Number of folds.
        seed: Whatever the draw depends on besides the names.
    """
    draws = [hashlib.sha256(f"{PROBE}|{seed}|{name}".encode()).digest() for name in names]
    drawn = [sorted(rows.tolist(), key=draws.__getitem__) for rows in strata]
    drawn.sort(key=lambda rows: draws[rows[0]])
    members: list[list[int]] = [[] for _ in range(folds)]
    for dealt, row in enumerate(row for rows in drawn for row in rows):
        members[dealt % folds].append(row)
    return [np.sort(np.asarray(m, np.int64)) for m in members]


def _regress(
    points: Floats, target: Floats, splits: tuple[Split, ...], names: Names, task: str, inner: str
) -> OutOfFold:
    values = np.full((len(points), 1), np.nan)
    centred = np.full(len(points), np.nan)
    choices = {}
    for split in splits:
        fit_points, fit_target = points[split.fit], target[split.fit]
        if len(fit_target) < 2:
            raise SkippedError("too_few_items", "fewer than two rows to fit on: no inner cross-validation")
        if inner == "folds":
            everyone, few = [np.arange(len(fit_target))], min(INNER_FOLDS, len(fit_target))
            folds = _inner_folds(everyone, _named(names, split.fit), few, _seed(task, split, names))
            choice, predicted = ridge_in_folds(fit_points, fit_target, points[split.score], folds)
        else:
            choice, predicted = ridge_left_out(fit_points, fit_target, points[split.score])
        choices[split.name] = choice
        values[split.score, 0] = predicted
        centred[split.score] = predicted - fit_target.mean()
    return OutOfFold(values, choices, centred, (), splits)
