"""Two models on the same units: which differences are real."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

from attrs import evolve, frozen

from primabench_core.errors import UsageError
from primabench_core.result.eval_result import EvalResult
from primabench_core.result.identity import canonical_bytes
from primabench_core.result.json import to_dict
from primabench_core.result.metric_result import MetricResult
from primabench_core.result.numeral import numeral, span

if TYPE_CHECKING:
    from rich.console import Group

    from primabench_core.statistics.finding import Finding

_SHORT = 8
"""Letters of a model's name that fit the head of a column; longer ones are lettered."""
_NAME = 24
"""Letters of a metric's name that are kept on one line."""
_VERDICT = 7
"""Width of the last column, which would otherwise be squeezed first."""

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

        return rendered(self.__rich__())

    def __rich__(self) -> Group:
        from rich import box
        from rich.table import Table
        from rich.text import Text

        from primabench_core.result.table import titled

        how = {"holm": "Holm", "benjamini_hochberg": "Benjamini-Hochberg"}[self.correction]
        short = max(len(self.a), len(self.b)) <= _SHORT
        one, two = (self.a, self.b) if short else ("a", "b")
        notes = [f"{self.n_units:,} {self.unit}s · paired tests, corrected by {how} over the table"]
        untested: dict[str, list[str]] = {}
        for d in self.differences:
            if d.p is None:
                untested.setdefault(d.reason, []).append(d.metric)
        notes += [f"not tested: {', '.join(names)}: {reason}" for reason, names in untested.items()]
        title = f"{self.a} against {self.b}" if short else f"a: {self.a} against b: {self.b}"
        table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
        longest = max((len(d.metric) for d in self.differences), default=0)
        table.add_column("metric", overflow="fold", no_wrap=longest <= _NAME)
        for name in (one, two, "difference", "p", "p corr."):
            table.add_column(Text(name), justify="right", no_wrap=True)  # numbers stay whole
        table.add_column("better", overflow="fold", min_width=_VERDICT)
        verdicts = {"a": one, "b": two, "differs": "differs", "": "neither"}
        for d in self.differences:
            difference = numeral(d.difference, digits=3)
            if d.low is not None and d.high is not None:
                difference += f"\n{span(d.low, d.high, digits=3)}"
            cells = [numeral(d.a, digits=3), numeral(d.b, digits=3), difference, p_text(d.p), p_text(d.adjusted)]
            verdict = "" if d.p is None else verdicts[d.better(self.level)]
            table.add_row(*(Text(cell) for cell in (d.metric, *cells, verdict)))
        return titled(title, table, "\n".join(notes))


def compare(
    a: EvalResult,
    b: EvalResult,
    *,
    pairs: Iterable[Tested] = (),
    metrics: Iterable[str] | None = None,
    correction: Literal["holm", "benjamini_hochberg"] = "holm",
    level: float = 0.95,
) -> Comparison:
    """Compare two results on the same units.

    Args:
        a: Result of the first model.
        b: Result of the second, on the same truth.
        pairs: The paired tests, for the metrics that are to be tested. A result file holds no predictions: without a
            test a metric has a difference and no p.
        metrics: Keys of the metrics to compare; by default all that both results hold.
        correction: ``holm`` (no false find in the table) or ``benjamini_hochberg`` (few false finds).
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

    _check_comparable(a, b)
    tests = {pair.metric: pair for pair in pairs}
    for name in tests:
        a[name], b[name]  # an unknown name raises with a suggestion
    wanted = [key for key in a.keys() if key in b] if metrics is None else list(metrics)  # noqa: SIM118
    rows = [_difference(key, a[key], b[key], tests.get(key), _why(a, b)) for key in wanted]
    adjust = {"holm": statistics.holm, "benjamini_hochberg": statistics.benjamini_hochberg}.get(correction)
    if adjust is None:
        raise UsageError(f"correction: expected 'holm' or 'benjamini_hochberg', found {correction!r}")
    tested = {row.metric: row.p for row in rows if row.p is not None}
    adjusted = dict(zip(tested, adjust(p=list(tested.values())).values["adjusted"], strict=True))
    rows = [evolve(row, adjusted=adjusted.get(row.metric)) for row in rows]
    names = (a.model, b.model) if a.model != b.model else (f"{a.model} (a)", f"{b.model} (b)")
    return Comparison(
        a=names[0], b=names[1], task=a.task, dataset=a.dataset, n_units=a.n_units, unit=a.unit,
        correction=correction, level=level, differences=tuple(rows),
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
