"""Metrics of how rows are ranked by a score: AUROC and average precision."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from primabench_core.contract.violations import Violation
from primabench_core.errors import ParameterError
from primabench_core.spec import Outcome
from primabench_core.state.rows import Labels, Rows
from primabench_metrics.classes import Label, names_of, positive_code, positive_problem
from primabench_metrics.runs import RankCounts, area, rank_counts


def check_ranking(
    fields: Collection[str], classes: Sequence[Label] | None, params: Mapping[str, Any]
) -> list[Violation]:
    """Refuse, before a row is scored, a question that the fields cannot answer.

    Probabilities of more than two classes need ``multi_class``, a single score has no columns for it, and the
    positive class must be one of the truth's.
    """
    ovr = params.get("multi_class", "") == "ovr"
    if ovr and "probability" not in fields:
        return [Violation("probability", "one column a class for multi_class='ovr'", "a single score")]
    if ovr:
        return []
    if "probability" in fields and classes is not None and len(classes) > 2:
        return [
            Violation(
                "probability",
                "two classes, or multi_class='ovr'",
                f"{len(classes)} classes",
                remedy="Nothing switches by the number of classes: ask for auroc_ovr_macro",
            )
        ]
    problem = positive_problem(classes, params.get("positive", 1))
    return [] if problem is None else [problem]


def auroc(state: Rows, *, positive: Label = 1, multi_class: str = "", average: str = "macro") -> Outcome:
    """Area under the ROC curve, P(s⁺ > s⁻) + ½·P(s⁺ = s⁻) (Mann & Whitney 1947; Hanley & McNeil 1982).

    Pairs are counted in doubled integers and divided once, so the value is exact for the order of the scores.
    Scores are used as they are; a value below one half is not flipped.

    Args:
        state: ``score`` (n,) or ``probability`` (n, classes) against ``label`` (n,).
        positive: The positive class; all others are the rest (flag ``one_vs_rest`` if there are several).
        multi_class: ``ovr``: the mean over classes of each column against the rest.
        average: How classes are joined; ``macro`` is the plain mean.

    Returns:
        Value in [0, 1]; constant scores give 0.5. ``single_class`` if one side has no rows. With ``ovr``, classes
        without both sides are left out and listed in ``values["dropped_classes"]``.
    """
    if multi_class == "ovr":
        return _one_vs_rest(state)
    counts, flags = _binary(state, positive)
    if not state.n:
        return Outcome.undefined("too_few_items", "there are no rows")
    value = area(counts)
    if value is None:
        side = "positive" if counts.positives else "negative"
        return Outcome.undefined("single_class", f"every row is {side}", values={"positive": str(positive)})
    return Outcome(value, flags=flags)


def average_precision(state: Rows, *, positive: Label = 1) -> Outcome:
    """Average precision Σ(R_k − R_{k−1})·P_k over distinct thresholds, tied rows entering together.

    The step-wise area under the precision-recall curve ("AUPRC"); a trapezoid would be optimistic (Davis & Goadrich
    2006). Its chance level is the prevalence. Terms are (positives of the run)·(precision), summed exactly and divided
    by the number of positives.

    Args:
        state: ``score`` (n,) or ``probability`` (n, 2) against ``label`` (n,).
        positive: The positive class; all others are the rest (flag ``one_vs_rest`` if there are several).

    Returns:
        Value in (0, 1] with ``values["prevalence"]``; ``no_positives`` if there are none.
    """
    counts, flags = _binary(state, positive)
    if not state.n:
        return Outcome.undefined("too_few_items", "there are no rows")
    values = {"prevalence": counts.positives / state.n}
    if not counts.positives:
        return Outcome.undefined("no_positives", f"no row is of class {positive!r}", values=values)
    return Outcome(counts.precision_sum / counts.positives, flags=flags, values=values)


def _binary(state: Rows, positive: Label) -> tuple[RankCounts, tuple[str, ...]]:
    """Counts of one class against the rest, and the flag for several classes in the rest."""
    truth = label_column(state)
    code = positive_code(truth.classes, positive)
    if "score" in state.prediction:
        return _counts_of(state, None, code), ("one_vs_rest",) if len(truth.classes) > 2 else ()
    classes = state.classes or ()
    if len(classes) > 2:
        raise ParameterError(f"probabilities of {len(classes)} classes have no single score; use auroc_ovr_macro")
    return _counts_of(state, classes.index(positive) if positive in classes else 0, code), ()


def _counts_of(state: Rows, column: int | None, code: int) -> RankCounts:
    """Counts of a score, or of a column of probabilities, made once for all metrics that ask for the same."""

    def build() -> RankCounts:
        field = np.asarray(state.prediction["score" if column is None else "probability"])
        scores = field if column is None else np.ascontiguousarray(field[:, column])
        return rank_counts(scores, label_column(state).codes, code)

    return state.shared(("primabench_metrics.ranking", column, code), build)


def label_column(state: Rows) -> Labels:
    """The true classes."""
    column = state.truth["label"]
    if not isinstance(column, Labels):
        raise TypeError("the truth field 'label' holds no labels")
    return column


def _one_vs_rest(state: Rows) -> Outcome:
    truth, classes = label_column(state), state.classes or ()
    codes = [truth.classes.index(name) if name in truth.classes else -1 for name in classes]
    return _mean_area(names_of(classes), [_counts_of(state, j, code) for j, code in enumerate(codes)])


def one_vs_rest(names: Sequence[str], columns: Sequence[NDArray[np.float64]], codes: NDArray[np.int64]) -> Outcome:
    """Mean of one-against-rest AUROC of arrays: column j scores the rows of class code j.

    Args:
        names: Name of each class.
        columns: Scores (n,) of each class.
        codes: (n,) class code of each row.
    """
    return _mean_area(names, [rank_counts(column, codes, j) for j, column in enumerate(columns)])


def _mean_area(names: Sequence[str], counts: Sequence[RankCounts]) -> Outcome:
    areas = {name: area(c) for name, c in zip(names, counts, strict=True)}
    defined = [a for a in areas.values() if a is not None]
    dropped = sorted(name for name, a in areas.items() if a is None)
    parts: dict[str, Any] = {
        "per_unit": areas,
        "values": {"dropped_classes": dropped},
        "n_undefined": len(dropped),
        "coverage": len(defined) / len(areas) if areas else 0.0,
    }
    if not defined:
        return Outcome.undefined("single_class", "no class has both positives and negatives", **parts)
    mean = math.fsum(defined) / len(defined)
    return Outcome(mean, flags=("dropped_classes",) if dropped else (), mean_over_defined=mean, **parts)
