"""The table of models and metrics: values, intervals, ranks on exact values, and why a value is missing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from attrs import frozen

from primabench_core.result.eval_result import EvalResult
from primabench_core.result.metric_result import MetricResult
from primabench_core.result.numeral import span
from primabench_core.result.table import remarks

Role = Literal["model", "baseline", "oracle"]
ROLES: tuple[Role, ...] = ("model", "baseline", "oracle")


@frozen(eq=False)
class Cell:
    """One model by one metric."""

    result: MetricResult
    rank: int | None
    """1 is best; equal values share a rank; None where nothing is ranked."""
    shared: bool
    """Another model has the same value."""

    @property
    def best(self) -> bool:
        """No ranked model is better."""
        return self.rank == 1

    @property
    def interval(self) -> str:
        """The interval as text, empty without one."""
        ends = self.result.interval
        if ends is None or ends.low is None or ends.high is None:
            return ""
        return span(ends.low, ends.high, digits=3)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What must be known beside the value."""
        return tuple(part.replace("_", " ") for part in remarks(self.result, digits=3))


@frozen(eq=False)
class Column:
    """One metric over all models."""

    key: str
    direction: str
    cells: tuple[Cell | None, ...]

    @property
    def n(self) -> str:
        """Items used, if all models agree."""
        counts = {cell.result.n for cell in self.cells if cell is not None}
        only = counts.pop() if len(counts) == 1 else None
        return "" if only is None else f"{only:,}"

    @property
    def note(self) -> str:
        """Why the metric has no interval, said once where it holds for every value."""
        held = [set(cell.remarks) for cell in self.cells if cell is not None and cell.result.value is not None]
        shared = set.intersection(*held) if held else set()
        return next((part for part in sorted(shared) if part.startswith("no interval")), "")

    def remark(self, place: int) -> str:
        """What must be known beside the value of one model, but for the note."""
        cell = self.cells[place]
        return "" if cell is None else "; ".join(part for part in cell.remarks if part != self.note)


@frozen(eq=False)
class Matrix:
    """All models by all metrics of one truth."""

    names: tuple[str, ...]
    roles: tuple[Role, ...]
    """What each of them is."""
    competes: tuple[bool, ...]
    """Which are ranked: models; where there are none, baselines; an oracle only among its like."""
    columns: tuple[Column, ...]
    level: float | None
    """Level of the intervals, None without any."""

    @property
    def n(self) -> str:
        """Items used, if all metrics and models agree."""
        counts = {column.n for column in self.columns}
        return counts.pop() if len(counts) == 1 else ""

    @property
    def shown_roles(self) -> tuple[Role, ...]:
        """Roles that occur, for a legend; empty if all are models."""
        found = tuple(role for role in ROLES if role in self.roles)
        return () if found == ("model",) else found

    @property
    def metrics_down(self) -> bool:
        """Metrics are the rows: where there are more of them than models, that is the narrower table."""
        return len(self.columns) > len(self.names)


def by_rank(results: Sequence[MetricResult | None], direction: str) -> list[int]:
    """Places of the results that have a value, best first."""
    sign = -1.0 if direction == "higher" else 1.0
    held = [(sign * r.value, i) for i, r in enumerate(results) if r is not None and r.value is not None]
    return [place for _, place in sorted(held)]


def summarise(names: Sequence[str], results: Sequence[EvalResult]) -> Matrix:
    """Put results on the same truth side by side; the primary metric comes first."""
    tables = [dict(zip(result.keys(), result, strict=True)) for result in results]
    keys = list(dict.fromkeys(key for table in tables for key in table))
    primary = next((r.primary for r in results if r.primary in keys), None)
    if primary is not None:
        keys.remove(primary)
        keys.insert(0, primary)
    roles = tuple(role_of(result) for result in results)
    first = next(role for role in ROLES if role in roles)  # with nothing better there, baselines compete
    competes = tuple(role == first for role in roles)
    columns = [_column(key, [table.get(key) for table in tables], competes) for key in keys]
    level = next((m.interval.level for r in results for m in r if m.interval), None)
    return Matrix(tuple(names), roles, competes, tuple(columns), level)


def role_of(result: EvalResult) -> Role:
    """Whether a model of somebody, a baseline, or an oracle predicted."""
    return "oracle" if result.is_oracle else "baseline" if result.is_baseline else "model"


def _column(key: str, found: Sequence[MetricResult | None], competes: Sequence[bool]) -> Column:
    direction = next(r.direction for r in found if r is not None)
    # models are ranked among themselves: a baseline is what they must beat, no competitor
    ranked = [r if competing else None for r, competing in zip(found, competes, strict=True)]
    values = [r.value for r in ranked if r is not None and r.value is not None]
    contest = direction != "info" and len(values) > 1
    cells: list[Cell | None] = []
    for whole, part in zip(found, ranked, strict=True):
        if whole is None:
            cells.append(None)
            continue
        rank = None
        if contest and part is not None and part.value is not None:
            own = part.value
            rank = 1 + sum(v > own if direction == "higher" else v < own for v in values)
        cells.append(Cell(whole, rank, rank is not None and values.count(whole.value) > 1))  # type: ignore[arg-type]
    return Column(key, direction, tuple(cells))
