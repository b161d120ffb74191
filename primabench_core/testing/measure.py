"""Runs a metric on a case through the public evaluation, and compares results as strictly as the metric promises."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isclose
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import evolve
from numpy.typing import NDArray

from primabench_core.discovery import registry
from primabench_core.errors import ContractError, PrimaBenchError, UsageError
from primabench_core.spec.metric import MetricSpec
from primabench_core.testing.generate import Case, N, cases_of, class_field_of, special_cases_of, take
from primabench_core.testing.report import CheckFailure

if TYPE_CHECKING:
    from primabench_core.evaluation.evaluation import Evaluation
    from primabench_core.result.metric_result import MetricResult
    from primabench_core.state.counts import Counts
    from primabench_core.state.rows import Rows
    from primabench_core.state.sums import Sums
    from primabench_core.testing.subjects import MetricSubject

Positions = Sequence[int] | NDArray[np.intp]


def usable_cases(subject: MetricSubject) -> tuple[tuple[Case, ...], str]:
    """The generated cases that the metric does not refuse, and what it said to the last one refused."""
    found, said = _tried(subject, _candidates(subject))
    if not found and not subject.spec.example:
        found, said_later = _tried(subject, special_cases_of(subject.spec))
        said = said or said_later
    return found, said


def _tried(subject: MetricSubject, cases: Iterable[Case]) -> tuple[tuple[Case, ...], str]:
    found: list[Case] = []
    said = ""
    for case in cases:
        try:
            run(subject, case)
        except (ContractError, UsageError) as error:
            said = error.message
        else:
            found.append(case)
    return tuple(found), said


def _candidates(subject: MetricSubject) -> Iterator[Case]:
    spec = subject.spec
    if not spec.example:
        yield from cases_of(spec)
        return
    made = registry.resolve(spec.example, owner=subject.distribution)(seed=20, n=N)
    truth = dict(made["truth"])
    if "ids" not in truth:
        n = len(next(value for name, value in truth.items() if name not in ("classes", "genes")))
        truth["ids"] = tuple(f"unit_{i:03d}" for i in range(n))
    fields = {
        f"{side}.{f.name}": f
        for side in ("prediction", "truth")
        for options in getattr(spec, side)
        for f in options
        if f.name in made[side]
    }
    yield Case(
        name="its own example",
        prediction={k: v for k, v in made["prediction"].items() if k != "ids"},
        truth=truth,
        params=made.get("params", {}),
        perfect=made.get("perfect"),
        class_field=class_field_of(f for key, f in fields.items() if key.startswith("truth.")),
        fields=fields,
    )


def start(
    subject: MetricSubject, case: Case, *, partial: bool = False, params: Mapping[str, Any] | None = None
) -> Evaluation:
    """An evaluation of this metric alone over the truth of a case."""
    from primabench_core.evaluation.oneshot import stream

    given = {**case.params, **(params or {})}
    return stream([(subject.qualified, given)], case.truth, partial=partial, hash_predictions=False)


def feed(
    evaluation: Evaluation, case: Case, positions: Positions, *, prediction: Mapping[str, Any] | None = None
) -> None:
    """Hand over some rows of the prediction."""
    part = take(prediction if prediction is not None else case.prediction, positions)
    evaluation.update(ids=[case.ids[i] for i in positions], **part)


def run(
    subject: MetricSubject,
    case: Case,
    *,
    prediction: Mapping[str, Any] | None = None,
    shards: Sequence[Positions] | None = None,
    params: Mapping[str, Any] | None = None,
) -> MetricResult:
    """The result of a case, in one piece or in shards.

    Raises:
        CheckFailure: the metric raised, or returned what is no result.
    """
    evaluation = start(subject, case, params=params)
    for part in [range(case.n)] if shards is None else shards:
        feed(evaluation, case, part, prediction=prediction)
    return finish(evaluation, case)


def finish(evaluation: Evaluation, case: Case) -> MetricResult:
    """Compute, and refuse a metric that could not run."""
    result = evaluation.compute().results[0]
    if result.status == "failed":
        raise CheckFailure(f"on {case.name} it failed: {result.reason}: {result.detail}")
    return result


def state_of(subject: MetricSubject, case: Case) -> tuple[Rows | Counts | Sums, dict[str, Any]]:
    """What the metric's function is called with, and its parameters."""
    evaluation = start(subject, case)
    feed(evaluation, case, range(case.n))
    intake = evaluation._intake
    plan = intake.decide()[0]
    state = intake.views(intake.columns()).state(plan)
    return state, dict(plan.metric.params)


def demand_same(spec: MetricSpec, expected: MetricResult, found: MetricResult, case: Case, what: str) -> None:
    """Refuse two results that should be one.

    Exact metrics must agree in every bit, others within the tolerance that they declare.

    Raises:
        CheckFailure: they differ.
    """
    if (
        expected.status == found.status
        and expected.reason == found.reason
        and is_same(spec, expected.value, found.value)
    ):
        return
    raise CheckFailure(f"{what} changes the value on {case.name}: {shown(expected)} became {shown(found)}")


def is_same(spec: MetricSpec, left: float | None, right: float | None) -> bool:
    """Equal as the metric promises."""
    if left is None or right is None or spec.reproducibility == "exact":
        return left == right
    return isclose(left, right, rel_tol=spec.rtol, abs_tol=spec.atol)


def shown(result: MetricResult) -> str:
    """A value with all its digits, or why there is none."""
    return repr(result.value) if result.value is not None else f"{result.status} ({result.reason})"


def degenerate(case: Case) -> Iterator[Case]:
    """The same case where a value may not exist: constants, one row, ties, a single class."""
    first = np.zeros(case.n, np.intp)
    constant_truth = {**case.truth, **{k: v for k, v in take(case.truth, first).items() if k != "ids"}}
    constant_prediction = take(case.prediction, first)
    yield evolve(case, name=f"{case.name}; constant truth", truth=constant_truth, perfect=None)
    yield evolve(case, name=f"{case.name}; constant prediction", prediction=constant_prediction, perfect=None)
    yield evolve(
        case,
        name=f"{case.name}; both constant",
        truth=constant_truth,
        prediction=constant_prediction,
        perfect=None,
    )
    for n in (1, 2):
        yield evolve(case.rows(range(n)), name=f"{case.name}; {n} row{'s' if n > 1 else ''}")
    tied = {
        k: np.round(v)
        if isinstance(v, np.ndarray)
        and case.fields.get(f"prediction.{k}")
        and case.fields[f"prediction.{k}"].kind in ("score", "value")
        and v.dtype.kind == "f"
        else v
        for k, v in case.prediction.items()
    }
    yield evolve(case, name=f"{case.name}; many ties", prediction=tied, perfect=None)


def taken(subject: MetricSubject, case: Case, **more: Any) -> MetricResult | None:
    """The result, or None where the metric or its contract refuses the input."""
    try:
        return run(subject, case, **more)
    except CheckFailure:
        raise
    except (ContractError, UsageError):
        return None
    except PrimaBenchError as error:
        raise CheckFailure(f"on {case.name}: {error.message}") from error
