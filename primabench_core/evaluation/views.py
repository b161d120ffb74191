"""The views that metrics receive, each built once and shared by all metrics that read the same fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import define, field
from numpy.typing import NDArray

from primabench_core.contract.fields import Field
from primabench_core.contract.ragged import Ragged
from primabench_core.evaluation.plan import MetricPlan
from primabench_core.state.counts import Counts
from primabench_core.state.fingerprint import RowDigests
from primabench_core.state.placed import PlacedRows
from primabench_core.state.rows import Column, Labels, OnDemand, Rows
from primabench_core.state.sums import Sums

if TYPE_CHECKING:
    from primabench_core.evaluation.truth import Truth
    from primabench_core.evaluation.wide import WideState

Positions = NDArray[np.int64]


@define(eq=False)
class Views:
    """Rows and counts over one set of predictions.

    A metric sees the fields that it declared and no others, so that what else is evaluated cannot change its value.
    Work that metrics share (a sort, a table of counts) is kept in the view of their fields.
    """

    truth: Truth
    prediction: Mapping[str, Column | RowDigests]
    """Canonical columns of all ``truth.n`` positions."""
    seen: Positions | None = None
    """Positions that were predicted, None for all."""
    wide: WideState | None = None
    """What is kept of fields of which rows are not."""
    placed: PlacedRows | None = None
    """With ``wide``: where its numbers a row lie."""
    counted: Mapping[tuple[str, str], Counts] | None = None
    """Tables of (truth, prediction) that were counted where the predictions are; then no rows are here."""
    device: str = "cpu"
    """Where predictions were handed in."""
    there: Mapping[str, Any] = field(factory=dict)
    """Predicted columns that lie there, all positions; where ``prediction`` lacks them they come home on demand."""
    _sums: dict[object, Sums] = field(factory=dict, init=False)
    _positions: dict[tuple[str, ...], Positions | None] = field(factory=dict, init=False)
    _rows: dict[object, Rows] = field(factory=dict, init=False)
    _counts: dict[object, Counts] = field(factory=dict, init=False)
    _columns: dict[object, Column] = field(factory=dict, init=False)

    def gaps(self, plan: MetricPlan) -> tuple[str, ...]:
        """Truth fields of the metric in which some answer is missing."""
        return tuple(f.name for f in plan.truth if f.name in self.truth.missing)

    def positions(self, gaps: tuple[str, ...]) -> Positions | None:
        """Positions that a metric with these gaps uses, None for all."""
        if gaps not in self._positions:
            chosen = self.seen
            if gaps:
                missing = np.logical_or.reduce([self.truth.missing[g] for g in gaps])
                chosen = np.flatnonzero(~missing) if self.seen is None else self.seen[~missing[self.seen]]
            self._positions[gaps] = chosen
        return self._positions[gaps]

    def rows(self, plan: MetricPlan) -> Rows:
        """The rows that this metric reads."""
        gaps = self.gaps(plan)
        key = (gaps, plan.key)
        if key not in self._rows:
            chosen = self.positions(gaps)
            available = self.truth.n if self.seen is None else len(self.seen)
            n = self.truth.n if chosen is None else len(chosen)
            bare = self.counted is not None or self.is_summed(plan)
            self._rows[key] = Rows(
                n=n,
                prediction={} if bare else self._columns_of("prediction", plan.prediction, gaps),
                device=self.device,
                there={} if bare else self._tensors_of(plan.prediction, chosen),
                truth={} if bare else self._columns_of("truth", plan.truth, gaps),
                coords=self.truth.coords,
                classes=self.truth.classes,
                n_excluded={"no_truth": available - n} if gaps and available > n else {},
                ids=self._ids(chosen),
            )
        return self._rows[key]

    def _ids(self, chosen: Positions | None) -> Sequence[str] | None:
        ids = self.truth.ids
        return ids if ids is None or chosen is None else [ids[p] for p in chosen.tolist()]

    def counts(self, plan: MetricPlan) -> Counts:
        """The table that this metric reads."""
        pair = plan.label_pair
        if pair is None:
            raise TypeError(f"metric {plan.metric.name!r} asks for counts but reads no pair of label fields")
        if self.counted is not None:
            return self.counted[pair]
        key = (self.gaps(plan), pair)
        if key not in self._counts:
            self._counts[key] = self.rows(plan).counts(*pair)
        return self._counts[key]

    def is_summed(self, plan: MetricPlan) -> bool:
        """Whether the metric reads a field of which there are sums and no rows."""
        return self.wide is not None and any(f.name in self.wide.fields for f in plan.prediction)

    def sums(self, plan: MetricPlan) -> Sums:
        """The sums that this metric reads; made once for all metrics of the field."""
        assert self.wide is not None
        assert self.placed is not None
        name = plan.prediction[0].name
        if name not in self._sums:
            rows, wide = self.rows(plan), self.wide.fields[name]
            chosen = self.positions(self.gaps(plan))
            errors = self.wide.errors(self.placed, name)
            self._sums[name] = Sums(
                n=rows.n,
                width=wide.width,
                columns=self.wide.sums[name].total(wide.truth, wide.usable) if name in self.wide.sums else None,
                errors=errors if chosen is None else {kind: values[chosen] for kind, values in errors.items()},
                coords=rows.coords,
                n_excluded=rows.n_excluded,
                ids=rows.ids,
            )
        return self._sums[name]

    def state(self, plan: MetricPlan) -> Rows | Counts | Sums:
        """What the metric function is called with."""
        if self.is_summed(plan):
            return self.sums(plan)
        return self.counts(plan) if plan.metric.spec.state == "counts" else self.rows(plan)

    def _columns_of(self, side: str, fields: Sequence[Field], gaps: tuple[str, ...]) -> Mapping[str, Column]:
        if side == "prediction" and isinstance(self.prediction, OnDemand):
            return OnDemand({f.name: partial(self._column, side, f.name, gaps) for f in fields})
        return {f.name: self._column(side, f.name, gaps) for f in fields}

    def _tensors_of(self, fields: Sequence[Field], chosen: Positions | None) -> dict[str, Any]:
        found = {f.name: self.there[f.name] for f in fields if f.name in self.there}
        if chosen is None or not found:
            return found
        import torch

        at = torch.from_numpy(chosen).to(next(iter(found.values())).device)
        return {name: tensor.index_select(0, at) for name, tensor in found.items()}

    def _column(self, side: str, name: str, gaps: tuple[str, ...]) -> Column:
        key = (side, name, gaps)
        if key not in self._columns:
            column = self.prediction[name] if side == "prediction" else self.truth.columns[name]
            if isinstance(column, RowDigests):
                raise TypeError(f"rows of {name!r} were not kept")
            chosen = self.positions(gaps)
            if chosen is not None:
                column = column.take(chosen) if isinstance(column, Labels | Ragged) else column[chosen]
            self._columns[key] = column
        return self._columns[key]

    def unknown_labels(self, plan: MetricPlan) -> int | None:
        """Predicted labels outside the vocabulary of the truth, None if the metric reads no such field."""
        known = [self.truth.vocabulary(f) for f in plan.prediction if f.kind == "label" and f.vocabulary != "open"]
        if not known:
            return None
        if self.counted is not None:
            return 0  # else the host would have counted
        rows = self.rows(plan)
        total = 0
        for declared, classes in zip(
            (f for f in plan.prediction if f.kind == "label" and f.vocabulary != "open"), known, strict=True
        ):
            column = rows.prediction[declared.name]
            if isinstance(column, Labels) and len(column.classes) > len(classes):
                total += int(np.count_nonzero(column.codes >= len(classes)))
        return total
