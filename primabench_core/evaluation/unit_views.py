"""The views of metrics over units of which a prediction holds any number of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import define, field

from primabench_core.contract.sparse_rows import SparseRows
from primabench_core.evaluation.plan import MetricPlan
from primabench_core.evaluation.views import Positions, Views
from primabench_core.state.rows import Rows
from primabench_core.state.units import IGNORED, NOT_SCORED, Units

if TYPE_CHECKING:
    from primabench_core.evaluation.open_intake import OpenIntake
    from primabench_core.evaluation.unit_truth import UnitTruth


@define(eq=False)
class UnitViews(Views):
    """One view for all metrics that read the same fields; units that were not predicted are not in it."""

    intake: OpenIntake | None = None
    _units: dict[object, Units] = field(factory=dict, init=False)

    def rows(self, plan: MetricPlan) -> Rows:
        """No rows: how many units there are, and their names."""
        units = self.sums(plan)
        return Rows(units.n, {}, {}, self.truth.coords, n_excluded=units.n_excluded, ids=units.ids)

    def is_summed(self, plan: MetricPlan) -> bool:
        """Always: no metric gets rows that stand beside true ones."""
        return True

    def gaps(self, plan: MetricPlan) -> tuple[str, ...]:
        """None: an answer is there or is not a row."""
        return ()

    def positions(self, gaps: tuple[str, ...]) -> Positions | None:
        """Units that are scored, None for all."""
        return self.seen

    def state(self, plan: MetricPlan) -> Any:
        """What the metric function is called with."""
        return self.sums(plan)

    def unknown_labels(self, plan: MetricPlan) -> int | None:
        """Predicted rows carry no classes."""
        return None

    def sums(self, plan: MetricPlan) -> Any:
        """The units; made once for all metrics of these fields."""
        if plan.key not in self._units:
            self._units[plan.key] = self._build(plan)
        return self._units[plan.key]

    def _build(self, plan: MetricPlan) -> Units:
        intake = self.intake
        assert intake is not None
        truth: UnitTruth = self.truth  # type: ignore[assignment]
        assert truth.ids is not None
        counts = np.bincount(intake.placed.units, minlength=truth.n)
        seen = np.flatnonzero(counts)  # those of a whole prediction are all
        place = np.full(truth.n + 1, NOT_SCORED, np.int64)
        place[seen], place[-1] = np.arange(len(seen)), IGNORED  # home -1 is the last place
        placed, fields = intake.placed, tuple(f.name for f in plan.truth)
        kept = {f.name: self.prediction[f.name] for f in plan.prediction if f.name in intake.kept and placed.n_rows}
        kept = {name: c.csr() if isinstance(c, SparseRows) else c for name, c in kept.items()}
        return Units(
            n=len(seen),
            ids=[truth.ids[i] for i in seen.tolist()],
            counts=counts[seen],
            truth={name: truth.columns[name] for name in fields},
            home=place[truth.home],
            truth_ids=truth.row_ids,
            prediction=kept,  # type: ignore[arg-type]
            predicted_home=place[placed.units],
            coords=truth.coords,
            means=lambda name: intake.means(name)[seen],
            sample=lambda name, k, seed: intake.sample(name, k, seed, place),
            of_truth=truth.made(fields) if len(seen) == truth.n else None,
        )
