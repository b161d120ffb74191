"""The plan of an evaluation: which metrics, which fields each of them reads, and the contract that follows.

A metric lists alternatives (``auroc`` takes ``score`` or ``probability``). Over a task the contract decides; over a
truth of the caller, the fields that the truth and the first batch carry do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Literal

from attrs import evolve, frozen

from primabench_core.advice import LEAVE_OUT
from primabench_core.contract.contract import Contract
from primabench_core.contract.fields import Field
from primabench_core.contract.plain import short
from primabench_core.contract.violations import Violation
from primabench_core.errors import ContractError, UsageError
from primabench_core.spec.task import MetricUse

if TYPE_CHECKING:
    from primabench_core.discovery.metrics import ResolvedMetric

Side = Literal["prediction", "truth"]
MetricLike = "str | MetricUse | tuple[str, Mapping[str, Any]]"


@frozen
class MetricPlan:
    """A metric and the fields it reads."""

    metric: ResolvedMetric
    prediction: tuple[Field, ...]
    truth: tuple[Field, ...]

    @property
    def key(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Names of the fields read; metrics with one key share their view."""
        return tuple(f.name for f in self.prediction), tuple(f.name for f in self.truth)

    @property
    def label_pair(self) -> tuple[str, str] | None:
        """(truth, prediction) names of the label fields that a table of counts is made of."""
        truth = next((f.name for f in self.truth if f.kind == "label"), None)
        predicted = next((f.name for f in self.prediction if f.kind == "label"), None)
        return None if truth is None or predicted is None else (truth, predicted)


def resolve_all(
    metrics: Iterable[str | MetricUse | ResolvedMetric | tuple[str, Mapping[str, Any]]],
) -> tuple[ResolvedMetric, ...]:
    """Resolve names, ``MetricUse`` values or (name, params) pairs; the same metric twice is refused.

    A value that is resolved already, such as those of :mod:`primabench_core.evaluation.foreign`, is taken as it is.

    Raises:
        UnknownNameError, ParameterError: as the registry says.
        UsageError: no metric at all, one metric with the same parameters twice, or something that names no metric.
    """
    from primabench_core.discovery.metrics import ResolvedMetric, resolve_metric

    resolved: list[ResolvedMetric] = []
    seen: dict[tuple[str, str], str] = {}
    if not isinstance(metrics, Iterable | str | MetricUse | ResolvedMetric):
        raise _no_metric(metrics)
    items = [metrics] if isinstance(metrics, str | MetricUse | ResolvedMetric) else list(metrics)
    for item in items:
        params: Mapping[str, Any] = {}
        if isinstance(item, ResolvedMetric):
            name = item.name
        elif isinstance(item, str):
            name = item
        elif isinstance(item, MetricUse):
            name, params = item.name, dict(item.params)
        elif isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], str) and isinstance(item[1], Mapping):
            name, params = item[0], dict(item[1])
        else:
            raise _no_metric(item)
        metric = item if isinstance(item, ResolvedMetric) else resolve_metric(name, params)
        identity = (metric.name, repr(sorted(metric.params.items())))
        if identity in seen:
            raise UsageError(
                f"Metric {metric.name!r} is asked for twice ({seen[identity]!r} and {name!r} are the same).",
                remedy="name each metric once",
            )
        seen[identity] = name
        resolved.append(metric)
    if not resolved:
        raise UsageError("No metric was named.", remedy="primabench list metrics")
    return tuple(resolved)


def _no_metric(given: object) -> UsageError:
    remedy = 'metrics=["accuracy", ("recall", {"average": "macro"})]'
    if callable(given):
        remedy = "a function of your own: pb.foreign.from_sklearn(function, …)"
    return UsageError(f"{short(given)} names no metric: give names, or (name, parameters) pairs.", remedy=remedy)


def derive_contract(metrics: Sequence[ResolvedMetric], **rules: Any) -> Contract:
    """The contract that metrics imply over a truth of the caller: every field that one of them can read, optional.

    Raises:
        UsageError: two metrics read fields of one name as different kinds.
    """
    sides: dict[Side, dict[str, Field]] = {"prediction": {}, "truth": {}}
    for metric in metrics:
        for side, fields in sides.items():
            for alternatives in getattr(metric.spec, side):
                for candidate in alternatives:
                    known = fields.get(candidate.name)
                    fields[candidate.name] = _together(known, candidate, metric.name) if known else candidate
    first, *others = [dict(metric.spec.rules) for metric in metrics] or [{}]
    odd = next((m.name for m, other in zip(metrics[1:], others, strict=True) if other != first), None)
    if odd is not None:
        raise UsageError(
            f"Metrics {metrics[0].name!r} and {odd!r} read rows by different rules.", remedy="evaluate them apart"
        )
    return Contract(
        prediction=tuple(evolve(f, optional=True) for f in sides["prediction"].values()),
        solution=tuple(evolve(f, optional=True) for f in sides["truth"].values()),
        **{**first, **rules},
    )


def _together(left: Field, right: Field, metric: str) -> Field:
    """One field that satisfies both declarations."""
    if left.kind != right.kind:
        raise UsageError(
            f"Metric {metric!r} reads {left.name!r} as {right.kind}, another metric as {left.kind}.",
            remedy="evaluate them apart",
        )
    lows = [f.low for f in (left, right) if f.low is not None]
    highs = [f.high for f in (left, right) if f.high is not None]
    return evolve(
        left,
        vocabulary=right.vocabulary if left.vocabulary == "open" else left.vocabulary,
        low=max(lows, default=None),
        high=min(highs, default=None),
        coord=left.coord or right.coord,
        nullable=left.nullable and right.nullable,
        state=left.state or right.state,
    )


def choose_fields(
    metrics: Sequence[ResolvedMetric], contract: Contract, present: Iterable[str], side: Side
) -> tuple[tuple[Field, ...], ...]:
    """For each metric, the first alternative present, in the contract's own words.

    Args:
        metrics: The metrics.
        contract: Where the fields are declared.
        present: Names that the truth (or the batch) carries.
        side: Which side.

    Raises:
        ContractError: a metric finds none of its alternatives; all metrics are looked at first.
        UsageError: the contract declares a field of that name as another kind.
    """
    declared = {f.name: f for f in (contract.prediction if side == "prediction" else contract.solution)}
    names = [name for name in present if name in declared]
    chosen: list[tuple[Field, ...]] = []
    lacking: dict[tuple[str, ...], list[str]] = {}
    for metric in metrics:
        fields: list[Field] = []
        for alternatives in getattr(metric.spec, side):
            match = next((a for a in alternatives if a.name in names), None)
            if match is not None:
                fields.append(_agreeing(declared[match.name], match, metric.name))
            elif not any(a.optional for a in alternatives):
                lacking.setdefault(tuple(a.name for a in alternatives), []).append(metric.name)
        chosen.append(tuple(fields))
    if lacking:
        raise ContractError(
            [missing_field(options, needed_by, present) for options, needed_by in lacking.items()],
            what="The prediction" if side == "prediction" else "The truth",
        )
    return tuple(chosen)


def _agreeing(declared: Field, asked: Field, metric: str) -> Field:
    if declared.kind != asked.kind:
        raise UsageError(
            f"Metric {metric!r} reads {asked.name!r} as {asked.kind}, the contract declares it as {declared.kind}.",
            remedy="choose a metric that reads this field",
        )
    return declared


def missing_field(options: tuple[str, ...], needed_by: Sequence[str], present: Iterable[str]) -> Violation:
    """The violation of a field that never came."""
    given = sorted(present)
    close = [c for name in options for c in get_close_matches(name, given, n=1, cutoff=0.6)]
    by = f" for {', '.join(sorted(set(needed_by)))}" if needed_by else ""
    return Violation(
        options[0],
        f"a field {' or '.join(repr(o) for o in options)}{by}",
        f"the fields {', '.join(repr(g) for g in given)}" if given else "no fields",
        remedy=f"Is {close[0]!r} meant to be {options[0]!r}?" if close else "",
    )


def unknown_fields(given: Iterable[str], contract: Contract, side: Side = "prediction") -> list[Violation]:
    """One violation for each field that the contract does not name and does not ignore."""
    fields = contract.prediction if side == "prediction" else contract.solution
    known = [f.name for f in fields]
    violations = []
    for name in given:
        if name in known or (side == "prediction" and name in contract.ignored):
            continue
        close = get_close_matches(name, known, n=1, cutoff=0.6)
        violations.append(
            Violation(
                name,
                f"one of the fields {', '.join(repr(k) for k in known)}",
                f"the field {name!r}",
                remedy=f"Did you mean {close[0]!r}?" if close else LEAVE_OUT.text(column=name),
            )
        )
    return violations
