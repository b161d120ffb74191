"""Paired tests of two models over the same rows, by the test that each metric declares."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import evolve, frozen
from numpy.typing import NDArray

from primabench_core.evaluation.draws import Population, classes_of, draw_seed, population
from primabench_core.evaluation.intervals import resample
from primabench_core.evaluation.plan import MetricPlan
from primabench_core.evaluation.resampled import Job
from primabench_core.evaluation.scoring import MetricFunction, function_of, weighted_of
from primabench_core.evaluation.views import Views
from primabench_core.result.compare import Test, Tested
from primabench_core.spec.outcome import Outcome
from primabench_core.state.rows import Labels, Rows
from primabench_core.statistics import Finding, delong, mcnemar_exact, wilcoxon_paired
from primabench_core.statistics.bootstrap import difference_finding

if TYPE_CHECKING:
    from primabench_core.evaluation.evaluation import Evaluation
    from primabench_core.evaluation.truth import Truth

MOST_ROWS = 20_000
"""Rows up to which a metric is asked for its value on each of them."""
EXACT_PAIRS = 200
"""Pairs up to which Wilcoxon's p is that of all sign patterns."""


@frozen(eq=False)
class Placed:
    """The predictions of one model in canonical order, ready to be read by metrics."""

    plans: tuple[MetricPlan, ...]
    views: Views
    fingerprint: str

    @classmethod
    def of(cls, run: Evaluation) -> Placed:
        """What an evaluation has seen; it covers every unit."""
        intake = run._intake
        columns = intake.columns()
        return cls(intake.decide(), Views(run._opened, columns), intake.fingerprint(columns))

    @property
    def truth(self) -> Truth:
        """What the predictions are about."""
        return self.views.truth


@frozen(eq=False)
class _Two:
    """One metric over two models."""

    key: str
    plan_a: MetricPlan
    plan_b: MetricPlan
    rows_a: Rows
    rows_b: Rows
    function: MetricFunction
    source: Population
    is_grouped: bool

    def __call__(self, which: str, rows: Rows) -> Outcome:
        plan = self.plan_a if which == "a" else self.plan_b
        pair = plan.label_pair
        state: Any = rows.counts(*pair) if plan.metric.spec.state == "counts" and pair is not None else rows
        found = self.function(state, **dict(plan.metric.params))
        return found if isinstance(found, Outcome) else Outcome(found)


def paired_tests(
    places: Mapping[str, int],
    a: Placed,
    b: Placed,
    *,
    task: str,
    data: str,
    unit: str,
    level: float,
    draws: int,
    seed: int,
) -> list[Tested]:
    """Test every metric on which both models have a value.

    DeLong, McNemar and Wilcoxon take rows as independent. Where the truth names an independent unit (donors), those
    units are resampled instead. The interval of a difference comes from paired resampling, for DeLong from its
    variance.

    Args:
        places: Name of each metric in the table, and the place of its plan.
        a: First model.
        b: Second model, with the same metrics.
        task: Name of the task, for the draws.
        data: Content hash of the dataset, or the fingerprint of the truth, for the draws.
        unit: What a row is.
        level: Of the intervals.
        draws: Resamples.
        seed: Of the resamples.
    """
    sources: dict[Any, Population] = {}
    twos = [_two(key, i, a, b, unit, sources) for key, i in places.items()]
    drawn = [two for two in twos if two.plan_a.metric.spec.interval.method != "none"]
    jobs = [
        Job(plan, two.function, rows, two.source, weighted_of(plan.metric))
        for two in drawn
        for plan, rows in ((two.plan_a, two.rows_a), (two.plan_b, two.rows_b))
    ]
    found, errors = resample(jobs, draw_seed(task, data, seed), draws)
    differences = {}
    for i, two in enumerate(drawn):
        if 2 * i not in errors and 2 * i + 1 not in errors:
            values = found[2 * i] - found[2 * i + 1]
            differences[two.key] = values[~np.isnan(values)]
    return [_test(two, differences.get(two.key), level, draws) for two in twos]


def _two(key: str, place: int, a: Placed, b: Placed, unit: str, sources: dict[Any, Population]) -> _Two:
    plan = a.plans[place]
    gaps = a.views.gaps(plan)
    chosen = a.views.positions(gaps)
    truth = a.truth
    groups = truth.groups if chosen is None or truth.groups is None else truth.groups[chosen]
    rows_a, rows_b = a.views.rows(plan), b.views.rows(b.plans[place])
    classes = classes_of(plan, rows_a)
    same = (gaps, plan.metric.spec.interval.method, classes is not None)
    if same not in sources:  # metrics with one population share its draws
        sources[same] = population(
            rows_a.n,
            method=plan.metric.spec.interval.method,
            unit=truth.unit or unit,
            groups=groups,
            blocks=lambda: truth.blocks if chosen is None else truth.blocks[chosen],
            classes=classes,
        )
    function = function_of(plan.metric)
    return _Two(key, plan, b.plans[place], rows_a, rows_b, function, sources[same], groups is not None)


def _test(two: _Two, differences: NDArray[np.float64] | None, level: float, draws: int) -> Tested:
    spec = two.plan_a.metric.spec
    whole = two("a", two.rows_a), two("b", two.rows_b)
    if any(o.value is None or not isfinite(o.value) for o in whole):
        missing = next(o for o in whole if o.value is None or not isfinite(o.value))
        return Tested(two.key, spec.paired_test, Finding.undefined("compare", "not_applicable", missing.reason))
    drawn = None
    if differences is not None and two.source.n_units > 1:
        one, other = float(whole[0].value or 0), float(whole[1].value or 0)
        drawn = difference_finding(one, other, differences, draws=draws, groups=two.source.n_units, level=level)
    found: Finding | None = None
    test: Test = spec.paired_test
    if test == "delong" and not two.is_grouped:
        found = _delong(two, level)
    elif test == "mcnemar" and not two.is_grouped:
        found = _mcnemar(two)
    elif test == "wilcoxon":
        found = _wilcoxon(two, *whole)
    if found is not None:
        if drawn is not None and "low" not in found.values:
            ends = {name: drawn.values.get(name) for name in ("low", "high")}
            found = evolve(found, values={**found.values, **ends})
        return Tested(two.key, test, found)
    if drawn is None:
        why = spec.interval.reason or "fewer than two independent units"
        drawn = Finding.undefined("paired_bootstrap", "not_applicable", f"no resampling: {why}")
    return Tested(two.key, "bootstrap", drawn)


def _delong(two: _Two, level: float) -> Finding | None:
    """DeLong where both models give one number a row for one positive class."""
    label = two.rows_a.truth.get(next((f.name for f in two.plan_a.truth if f.kind == "label"), ""))
    positive = two.plan_a.metric.params.get("positive", 1)
    scores = [_score_of(rows, plan, positive) for rows, plan in ((two.rows_a, two.plan_a), (two.rows_b, two.plan_b))]
    if not isinstance(label, Labels) or positive not in label.classes or any(s is None for s in scores):
        return None
    is_positive = (label.codes == label.classes.index(positive)).astype(np.int64)
    found = delong(score_a=scores[0], score_b=scores[1], label=is_positive, positive=1)
    if found.p is None:
        return found
    half = NormalDist().inv_cdf((1 + level) / 2) * float(found.values["standard_error"])
    middle = float(found.values["difference"])
    return evolve(found, values={**found.values, "low": middle - half, "high": middle + half})


def _score_of(rows: Rows, plan: MetricPlan, positive: object) -> Any:
    read = plan.prediction[0]
    column = rows.prediction[read.name]
    if read.kind == "score":
        return column
    if read.kind == "probability" and rows.classes is not None and positive in rows.classes:
        return np.asarray(column)[:, rows.classes.index(positive)]
    return None


def _mcnemar(two: _Two) -> Finding | None:
    pairs = two.plan_a.label_pair, two.plan_b.label_pair
    if pairs[0] is None or pairs[1] is None:
        return None
    truth = two.rows_a.truth[pairs[0][0]]
    predicted = two.rows_a.prediction[pairs[0][1]], two.rows_b.prediction[pairs[1][1]]
    if not isinstance(truth, Labels) or not all(isinstance(p, Labels) for p in predicted):
        return None
    # codes beyond the truth's classes stand for unknown labels: never right, in either model
    codes = [p.codes for p in predicted if isinstance(p, Labels)]
    return mcnemar_exact(label_a=codes[0], label_b=codes[1], label=truth.codes)


def _wilcoxon(two: _Two, whole_a: Outcome, whole_b: Outcome) -> Finding | None:
    """Over the parts of the metric (assays, genes) where it has parts, else over rows."""
    parts = [k for k, v in whole_a.per_unit.items() if v is not None and whole_b.per_unit.get(k) is not None]
    if parts:
        a = [float(whole_a.per_unit[k] or 0) for k in parts]
        b = [float(whole_b.per_unit[k] or 0) for k in parts]
    else:
        if two.is_grouped or two.rows_a.n > MOST_ROWS:
            return None
        found = [_each(two, "a", two.rows_a), _each(two, "b", two.rows_b)]
        if found[0] is None or found[1] is None:
            return None
        a, b = found[0], found[1]
    return wilcoxon_paired(value_a=a, value_b=b, method="exact" if len(a) <= EXACT_PAIRS else "normal")


def _each(two: _Two, which: str, rows: Rows) -> list[float] | None:
    """The metric on each row alone, None if it is not defined there."""
    values: list[float] = []
    for row in range(rows.n):
        value = two(which, rows.take(np.asarray([row]))).value
        if value is None or not isfinite(value):
            return None
        values.append(float(value))
    return values
