"""Metrics of predicted classes, from a table of counts.

Notation: TP, FP and FN of one class; n rows. Counts are Python integers, a ratio is one correctly rounded division,
and means over classes are correctly rounded sums, so neither the order of rows nor the names of classes change a bit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen

from primabench_core.contract.violations import Violation
from primabench_core.spec import Outcome
from primabench_core.state.counts import Counts, Label
from primabench_metrics.classes import names_of, positive_code, positive_problem


@frozen
class _Margins:
    """Counts of each class that occurs in truth or prediction, as Python integers."""

    classes: tuple[Label, ...]
    hits: list[int]
    """TP."""
    true: list[int]
    """TP + FN."""
    called: list[int]
    """TP + FP."""
    n: int

    @classmethod
    def of(cls, counts: Counts) -> _Margins:
        m = counts.margins
        return cls(m.classes, m.hits.tolist(), m.true.tolist(), m.called.tolist(), counts.n)

    def f1(self) -> list[float]:
        """2TP/(2TP+FP+FN) of each class; the denominator is never 0 for a class that occurs."""
        return [2 * h / (t + c) for h, t, c in zip(self.hits, self.true, self.called, strict=True)]

    def outcome(self, value: float, **more: Any) -> Outcome:
        return Outcome(value, n=self.n, **more)


_EMPTY = Outcome.undefined("too_few_items", "there are no rows", n=0)


def check_positive(
    fields: Sequence[str], classes: Sequence[Label] | None, params: Mapping[str, Any]
) -> list[Violation]:
    """Refuse a binary metric whose positive class is not one of the truth's."""
    if params.get("average", "binary") != "binary":
        return []
    problem = positive_problem(classes, params.get("positive", 1))
    return [] if problem is None else [problem]


def accuracy(state: Counts) -> Outcome:
    """Share of rows whose predicted class is the true one: ΣTP/n (Pedregosa et al. 2011).

    Args:
        state: Counts; ``table`` is (true classes, predicted classes) int64.
            A predicted class outside the vocabulary is an error.

    Returns:
        Value in [0, 1]; ``too_few_items`` without rows.
    """
    m = _Margins.of(state)
    return m.outcome(sum(m.hits) / m.n) if m.n else _EMPTY


def balanced_accuracy(state: Counts) -> Outcome:
    """Mean of TP/(TP+FN) over the classes that occur in the truth (Brodersen et al. 2010).

    A class that is only predicted adds nothing; in macro recall it counts as 0.

    Args:
        state: Counts; ``table`` is (true classes, predicted classes) int64.

    Returns:
        Value in [0, 1], recall of each class in ``per_unit``; ``too_few_items`` without rows.
    """
    m = _Margins.of(state)
    if not m.n:
        return _EMPTY
    recalls = {str(c): h / t for c, h, t in zip(m.classes, m.hits, m.true, strict=True) if t}
    return m.outcome(math.fsum(recalls.values()) / len(recalls), per_unit=recalls)


def macro_f1(state: Counts, *, labels: str = "union") -> Outcome:
    """Unweighted mean of F1 = 2TP/(2TP+FP+FN) over classes.

    The mean of F1 values, not the harmonic mean of mean precision and mean recall (Opitz & Burst 2019).

    Args:
        state: Counts; ``table`` is (true classes, predicted classes) int64.
        labels: ``union``: classes of truth or prediction, one that is only predicted has F1 0; ``truth``: classes of
            the truth alone.

    Returns:
        Value in [0, 1], F1 of each class in ``per_unit``; ``too_few_items`` without rows.
    """
    m = _Margins.of(state)
    if not m.n:
        return _EMPTY
    parts = zip(m.classes, m.f1(), m.true, strict=True)
    f1 = {str(c): f for c, f, t in parts if t or labels == "union"}
    return m.outcome(math.fsum(f1.values()) / len(f1), per_unit=f1)


def weighted_f1(state: Counts) -> Outcome:
    """Mean of F1 over classes, weighted by their number of true rows: Σ(TP+FN)·F1/n.

    As in scikit-learn (Pedregosa et al. 2011).

    Args:
        state: Counts; ``table`` is (true classes, predicted classes) int64.

    Returns:
        Value in [0, 1], F1 of each class in ``per_unit``; ``too_few_items`` without rows.
    """
    m = _Margins.of(state)
    if not m.n:
        return _EMPTY
    terms = [2 * h * t / (t + c) for h, t, c in zip(m.hits, m.true, m.called, strict=True)]
    return m.outcome(math.fsum(terms) / m.n, per_unit=dict(zip(names_of(m.classes), m.f1(), strict=True)))


def micro_f1(state: Counts) -> Outcome:
    """F1 of the counts pooled over all classes: 2ΣTP/(2ΣTP+ΣFP+ΣFN).

    With one class a row, ΣFP = ΣFN and the value is the accuracy (Pedregosa et al. 2011).

    Args:
        state: Counts; ``table`` is (true classes, predicted classes) int64.

    Returns:
        Value in [0, 1]; ``too_few_items`` without rows.
    """
    m = _Margins.of(state)
    return m.outcome(2 * sum(m.hits) / (sum(m.true) + sum(m.called))) if m.n else _EMPTY


def precision(state: Counts, *, average: str = "binary", positive: Label = 1, labels: str = "union") -> Outcome:
    """TP/(TP+FP) of the positive class, or its unweighted mean over classes (Pedregosa et al. 2011).

    Args:
        state: Counts; ``table`` is (true classes, predicted classes) int64.
        average: ``binary``: the positive class against the rest, however many classes there are; ``macro``: mean.
        positive: The positive class for ``binary``.
        labels: Classes of the mean: ``union`` of truth and prediction, or those of the ``truth``.

    Returns:
        Value in [0, 1]. A class never predicted has 0/0, counted as 0 with the flag ``zero_division``.
    """
    return _ratio(state, "called", average, positive, labels)


def recall(state: Counts, *, average: str = "binary", positive: Label = 1, labels: str = "union") -> Outcome:
    """TP/(TP+FN) of the positive class, or its unweighted mean over classes (Pedregosa et al. 2011).

    Macro recall is not balanced accuracy: over ``union``, a class that is only predicted counts as 0.

    Args:
        state: Counts; ``table`` is (true classes, predicted classes) int64.
        average: ``binary``: the positive class against the rest, however many classes there are; ``macro``: mean.
        positive: The positive class for ``binary``.
        labels: Classes of the mean: ``union`` of truth and prediction, or those of the ``truth``.

    Returns:
        Value in [0, 1]. A class without true rows has 0/0, counted as 0 with the flag ``zero_division``.
    """
    return _ratio(state, "true", average, positive, labels)


def _ratio(state: Counts, margin: str, average: str, positive: Label, labels: str) -> Outcome:
    m = _Margins.of(state)
    if average == "binary":  # also without rows: a wrong name is an error before it is a missing value
        positive_code(state.truth_classes, positive)
    if not m.n:
        return _EMPTY
    totals: list[int] = getattr(m, margin)
    if average == "binary":
        at = m.classes.index(positive) if positive in m.classes else None
        if at is None or not totals[at]:
            return m.outcome(0.0, flags=("zero_division",))
        return m.outcome(m.hits[at] / totals[at])
    parts = {c: (h, k) for c, h, k, t in zip(m.classes, m.hits, totals, m.true, strict=True) if t or labels == "union"}
    values = {str(c): h / k if k else 0.0 for c, (h, k) in parts.items()}
    flags = () if all(k for _, k in parts.values()) else ("zero_division",)
    return m.outcome(math.fsum(values.values()) / len(values), flags=flags, per_unit=values)


def mcc(state: Counts, *, mode: str = "strict") -> Outcome:
    """Matthews correlation coefficient (Matthews 1975), R_K for more classes (Gorodkin 2004).

    R_K = (c·s − Σ p_k t_k) / √((s² − Σ p_k²)(s² − Σ t_k²)) with c rows right of s, p_k calls and t_k true rows of
    class k; two classes give (TP·TN − FP·FN)/√(product of margins). Numerator and radicand are exact integers; the
    value is the root of their correctly rounded squared ratio, so a perfect prediction is exactly 1.

    Args:
        state: Counts; ``table`` is (true classes, predicted classes) int64.
        mode: Both sides constant: ``strict`` is undefined, ``sklearn`` is 0.

    Returns:
        Value in [-1, 1]; 0 with the flag ``constant_margin`` if one side is constant.
    """
    m = _Margins.of(state)
    if not m.n:
        return _EMPTY
    spread_true = m.n**2 - sum(t * t for t in m.true)
    spread_called = m.n**2 - sum(c * c for c in m.called)
    if not spread_true and not spread_called and mode == "strict":
        return Outcome.undefined("constant_truth", "truth and prediction have one class each: 0/0", n=m.n)
    if not spread_true or not spread_called:
        return m.outcome(0.0, flags=("constant_margin",))
    top = sum(m.hits) * m.n - sum(t * c for t, c in zip(m.true, m.called, strict=True))
    return m.outcome(math.copysign(math.sqrt(top * top / (spread_true * spread_called)), top))


def cohen_kappa(state: Counts) -> Outcome:
    """Cohen's kappa (p_o − p_e)/(1 − p_e) (Cohen 1960), as one ratio of exact integers.

    p_o is the share of rows predicted right, p_e = Σ t_k·p_k/n² the share expected of independent classes.

    Args:
        state: Counts; ``table`` is (true classes, predicted classes) int64.

    Returns:
        Value in [-1, 1]; ``zero_denominator`` if p_e is 1 (both sides hold one and the same class).
    """
    m = _Margins.of(state)
    if not m.n:
        return _EMPTY
    chance = sum(t * c for t, c in zip(m.true, m.called, strict=True))
    if chance == m.n**2:
        return Outcome.undefined("zero_denominator", "truth and prediction hold one and the same class", n=m.n)
    return m.outcome((m.n * sum(m.hits) - chance) / (m.n**2 - chance))


def n_unpredicted_classes(state: Counts) -> Outcome:
    """Number of classes that occur in the truth and never in the prediction.

    Args:
        state: Counts; ``table`` is (true classes, predicted classes) int64.

    Returns:
        A whole number, with the classes in ``values["classes"]``.
    """
    m = _Margins.of(state)
    absent = sorted(str(c) for c, t, k in zip(m.classes, m.true, m.called, strict=True) if t and not k)
    return m.outcome(float(len(absent)), values={"classes": absent}) if m.n else _EMPTY
