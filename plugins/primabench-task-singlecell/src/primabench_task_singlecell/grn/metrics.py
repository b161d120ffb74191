"""Metrics of regulatory networks over a fixed universe of candidate edges; no value depends on how ties are listed."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from primabench_metrics.ranking import average_precision
from primabench_metrics.weighted.ranking import average_precision as weighted_average_precision

from primabench_core.spec import Outcome
from primabench_core.state.multiplicity import Multiplicities, Selection, running_sums, take_columns
from primabench_core.state.rows import Labels, Rows

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def auprc_ratio(state: Rows) -> Outcome:
    """Average precision over the density of the network (Pratapa et al. 2020, doi:10.1038/s41592-019-0690-6).

    Args:
        state: ``score`` (n,), the magnitude of each candidate edge, against ``label`` (n,), 1 for a true one.

    Returns:
        Value in (0, 1/density]; 1 is chance. ``values`` holds ``average_precision``, ``density`` and
        ``n_true_edges``. ``no_positives`` without true edges.
    """
    found = average_precision(state)
    density = found.values.get("prevalence")
    values = {"density": density, "n_true_edges": int(_true(state).sum())}
    if found.value is None or density is None:
        return Outcome.undefined(
            found.reason, "the universe has no true edge" if state.n else found.detail, values=values
        )
    return Outcome(found.value / density, values={"average_precision": found.value, **values})


def weighted_auprc_ratio(state: Rows, drawn: Multiplicities) -> Floats | None:
    """:func:`auprc_ratio` of many resamples."""
    found = weighted_average_precision(state, drawn)
    if found is None:
        return None
    density = _quotient(drawn.of_rows(np.flatnonzero(_true(state))).sum(axis=1), drawn.n)
    ratio: Floats = np.divide(found, density, out=np.full(len(drawn), np.nan), where=density > 0)
    return ratio


def early_precision_ratio(state: Rows) -> Outcome:
    """Precision of the k heaviest edges over the density, k the number of true edges (BEELINE's EPR).

    All edges that weigh as much as the k-th are selected, so that their order does not matter; edges of weight 0 never
    are. The precision is over those selected, which may be fewer or more than k.

    Args:
        state: ``score`` (n,) not negative, against ``label`` (n,).

    Returns:
        Value in [0, 1/density]; ``values`` holds ``early_precision``, ``n_selected``, ``density``. ``no_positives``
        without true edges, ``constant_prediction`` if every edge weighs 0.
    """
    true = _true(state)
    if not state.n:
        return Outcome.undefined("too_few_items", "there are no candidate edges")
    k, density = int(true.sum()), int(true.sum()) / state.n
    if not k:
        return Outcome.undefined("no_positives", "the universe has no true edge", values={"density": density})
    weight = np.asarray(state.prediction["score"])
    cut = np.partition(weight, state.n - k)[state.n - k]
    selected = weight >= cut if cut > 0 else weight > 0
    n_selected, hits = int(selected.sum()), int(true[selected].sum())
    values = {"n_selected": n_selected, "density": density, "n_true_edges": k}
    if not n_selected:
        return Outcome.undefined("constant_prediction", "every edge weighs 0, so that none is selected", values=values)
    precision = hits / n_selected
    return Outcome(precision / density, values={"early_precision": precision, **values})


def weighted_early_precision_ratio(state: Rows, drawn: Multiplicities) -> Floats:
    """:func:`early_precision_ratio` of many resamples: edges are sorted once."""

    def build() -> tuple[Selection, Ints, Ints]:
        weight = np.asarray(state.prediction["score"])
        kept = np.flatnonzero(weight > 0)
        order = kept[np.argsort(-weight[kept], kind="stable")]
        ends = np.flatnonzero(np.append(weight[order][1:] != weight[order][:-1], True)) + 1 if len(order) else order
        return Selection(order), ends, _true(state)[order].astype(np.int64)

    order, ends, true = state.shared("primabench_task_singlecell.grn.weighted", build)
    k = drawn.of_rows(np.flatnonzero(_true(state))).sum(axis=1)
    result = np.full(len(drawn), np.nan)
    if not len(ends):
        return result
    times = order.times(drawn)
    reached, hits = (take_columns(running_sums(part), ends) for part in (times, times * true))
    at = np.minimum((reached < k[:, None]).sum(axis=1), len(ends) - 1)
    rows = np.arange(len(drawn))
    selected = reached[rows, at]
    defined = (k > 0) & (selected > 0)
    precision, density = _quotient(hits[rows, at], selected), _quotient(k, drawn.n)
    np.divide(precision, density, out=result, where=defined)
    return result


def mean_regulator_average_precision(state: Rows, *, min_edges: int = 10) -> Outcome:
    """Mean over regulators of the average precision among their own candidate edges.

    A regulator with many targets does not outweigh the others, and weights need not compare between regulators.

    Args:
        state: ``score`` (n,) against ``label`` and ``regulator`` (n,).
        min_edges: True edges that a regulator needs to count.

    Returns:
        Value in (0, 1] with the value of each regulator in ``per_unit``; ``values`` holds ``mean_density`` (chance of
        the mean) and the number of regulators left out. ``no_positives`` if no edge is true, ``too_few_items`` if no
        regulator has enough.
    """
    true, regulator = _true(state), state.truth["regulator"]
    if not isinstance(regulator, Labels):
        raise TypeError("the truth field 'regulator' holds no labels")
    if not state.n or not true.any():
        reason = "no_positives" if state.n else "too_few_items"
        return Outcome.undefined(reason, "the universe has no true edge")
    order = np.argsort(regulator.codes, kind="stable")
    bounds = np.cumsum(np.bincount(regulator.codes, minlength=len(regulator.classes)))
    found: dict[str, float] = {}
    density: list[float] = []
    for name, rows in zip(regulator.classes, np.split(order, bounds[:-1]), strict=True):
        if int(true[rows].sum()) >= min_edges:
            own = average_precision(state.take(rows))
            assert own.value is not None
            found[str(name)] = own.value
            density.append(own.values["prevalence"])
    values: dict[str, float] = {
        "n_regulators": len(found),
        "n_regulators_left_out": int((np.diff(bounds, prepend=0) > 0).sum()) - len(found),
    }
    if not found:
        detail = f"no regulator has {min_edges} true edges"
        return Outcome.undefined("too_few_items", detail, values=values)
    values["mean_density"] = math.fsum(density) / len(density)
    return Outcome(math.fsum(found.values()) / len(found), per_unit=found, values=values)


def _true(state: Rows) -> NDArray[np.bool_]:
    """(n,) which candidate edges are true."""
    label = state.truth["label"]
    if not isinstance(label, Labels):
        raise TypeError("the truth field 'label' holds no labels")
    code = label.classes.index(1) if 1 in label.classes else -1
    return np.asarray(label.codes == code)


def _quotient(above: Ints, below: Ints) -> Floats:
    found: Floats = np.divide(above, below, out=np.full(len(above), np.nan), where=below > 0)
    return found
