"""Two models on the same units: which differences are real."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Literal

from attrs import evolve, frozen

from primabench_core.errors import UsageError
from primabench_core.result.corrections import Correction, correction_of
from primabench_core.result.eval_result import EvalResult
from primabench_core.result.identity import canonical_bytes
from primabench_core.result.json import to_dict
from primabench_core.result.metric_result import MetricResult
from primabench_core.result.naming import names_of, tell_apart

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, Group

    from primabench_core.statistics.finding import Finding

Test = Literal["delong", "mcnemar", "wilcoxon", "bootstrap"]


@frozen
class Tested:
    """The paired test of one metric."""

    metric: str
    """Key of the metric in both results."""
    test: Test
    finding: Finding


@frozen(kw_only=True)
class Difference:
    """One metric of both models, and what its test says."""

    metric: str
    direction: Literal["higher", "lower", "info"]
    a: float | None
    b: float | None
    difference: float | None
    """a - b; None if either has no value."""
    low: float | None = None
    """Interval of the difference, where the test gives one."""
    high: float | None = None
    test: str = ""
    p: float | None = None
    adjusted: float | None = None
    """p after the correction over all tests of the table."""
    reason: str = ""
    """Why there is no p."""

    def better(self, level: float) -> Literal["", "a", "b", "differs"]:
        """Which model is better at this level after correction; empty if that is not shown."""
        if self.adjusted is None or self.adjusted > 1 - level + 1e-12 or not self.difference:
            return ""
        if self.direction == "info":
            return "differs"
        return "a" if (self.difference > 0) == (self.direction == "higher") else "b"


@frozen(kw_only=True, repr=False)
class Comparison:
    """Two models, metric by metric."""

    a: str
    b: str
    task: str
    dataset: str
    n_units: int
    unit: str
    correction: Literal["holm", "benjamini_hochberg"]
    level: float
    differences: tuple[Difference, ...]

    def __getitem__(self, metric: str) -> Difference:
        for found in self.differences:
            if found.metric == metric:
                return found
        from primabench_core.errors import UnknownNameError

        names = [d.metric for d in self.differences]
        raise UnknownNameError("metric", metric, names, remedy=f"compared: {', '.join(names)}")

    def verdict(self, difference: Difference) -> str:
        """One phrase for the table."""
        if difference.p is None:
            return difference.reason
        better = difference.better(self.level)
        return {"a": f"{self.a} better", "b": f"{self.b} better", "differs": "differs", "": "not shown"}[better]

    def __repr__(self) -> str:
        found = [d.better(self.level) for d in self.differences]
        shown = f"{found.count('a')} for {self.a}, {found.count('b')} for {self.b}, {found.count('differs')} neither"
        return f"Comparison({self.a} against {self.b}; of {len(found)} metrics differ: {shown})"

    def __str__(self) -> str:
        from primabench_core.result.table import rendered

        return rendered(self)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Group]:
        from primabench_core.result.comparison_table import comparison_table

        yield comparison_table(self, options.max_width)


def compare(
    a: EvalResult,
    b: EvalResult,
    *,
    pairs: Iterable[Tested] = (),
    metrics: Iterable[str] | None = None,
    names: tuple[str, str] | None = None,
    correction: Correction = "holm",
    level: float = 0.95,
) -> Comparison:
    """Compare two results on the same units.

    Args:
        a: Result of the first model.
        b: Result of the second, on the same truth.
        pairs: The paired tests, for the metrics that are to be tested. A result file holds no predictions: without a
            test a metric has a difference and no p.
        metrics: Keys of the metrics to compare; by default all that both results hold.
        names: Of the two models; by default those of the results, and what tells them apart where they coincide.
        correction: ``holm`` (no false find in the table) or ``benjamini_hochberg``, ``bh`` for short (few false finds).
        level: Confidence level of the verdicts.

    Returns:
        A value with one row a metric, in the order of ``a``; prints as a table.

    Raises:
        UsageError: The results are not comparable: another truth, dataset, or metric definition.

    Example:
        >>> a, b = (
        ...     EvalResult.make(results=[MetricResult(name="accuracy", value=v)], n_units=6, labels={"model_name": n})
        ...     for n, v in (("a", 1.0), ("b", 0.0))
        ... )
        >>> from primabench_core.statistics import mcnemar_exact
        >>> found = mcnemar_exact(label_a=[1, 1, 0, 0, 1, 0], label_b=[0, 0, 1, 1, 0, 1], label=[1, 1, 0, 0, 1, 0])
        >>> compare(a, b, pairs=[Tested("accuracy", "mcnemar", found)])["accuracy"].p
        0.03125
    """
    from primabench_core import statistics

    chosen = correction_of(correction)
    _check_comparable(a, b)
    tests = {pair.metric: pair for pair in pairs}
    for name in tests:
        a[name], b[name]  # an unknown name raises with a suggestion
    wanted = [key for key in a.keys() if key in b] if metrics is None else list(metrics)  # noqa: SIM118
    rows = [_difference(key, a[key], b[key], tests.get(key), _why(a, b)) for key in wanted]
    adjust = {"holm": statistics.holm, "benjamini_hochberg": statistics.benjamini_hochberg}[chosen]
    tested = {row.metric: row.p for row in rows if row.p is not None}
    adjusted = dict(zip(tested, adjust(p=list(tested.values())).values["adjusted"], strict=True))
    rows = [evolve(row, adjusted=adjusted.get(row.metric)) for row in rows]
    one, two = tell_apart(names) if names else names_of((a, b))
    return Comparison(
        a=one, b=two, task=a.task, dataset=a.dataset, n_units=a.n_units, unit=a.unit,
        correction=chosen, level=level, differences=tuple(rows),
    )  # fmt: skip


def _check_comparable(a: EvalResult, b: EvalResult) -> None:
    for what in ("task", "dataset", "dataset_hash", "truth_sha256", "n_units"):
        left, right = getattr(a, what), getattr(b, what)
        if left != right:
            raise UsageError(f"The results are not comparable: {what} is {left!r} in one and {right!r} in the other.")
    for key in a.keys():  # noqa: SIM118  (iterating a result gives values)
        if key not in b:
            continue
        left, right = a[key], b[key]
        if left.version != right.version or canonical_bytes(to_dict(left)["params"]) != canonical_bytes(
            to_dict(right)["params"]
        ):
            raise UsageError(f"The results are not comparable: they define {key!r} differently.")


def _why(a: EvalResult, b: EvalResult) -> str:
    if a.predictions_sha256 and a.predictions_sha256 == b.predictions_sha256:
        return "the predictions are identical"
    return "needs the predictions"


def _difference(key: str, a: MetricResult, b: MetricResult, pair: Tested | None, why: str) -> Difference:
    value = None if a.value is None or b.value is None else a.value - b.value
    row = Difference(metric=key, direction=a.direction, a=a.value, b=b.value, difference=value, reason=why)
    if value is None:
        return evolve(row, reason=f"undefined: {a.reason or b.reason}")
    if pair is None:
        return row
    found = pair.finding
    row = evolve(
        row, test=pair.test, low=found.values.get("low"), high=found.values.get("high"), p=found.p, reason=found.reason
    )
    return row if row.p is not None else evolve(row, reason=found.detail or found.reason)


def p_text(value: float | None) -> str:
    """A p-value for a table."""
    if value is None:
        return "–"
    return "<0.0001" if value < 1e-4 else f"{value:.4f}"
