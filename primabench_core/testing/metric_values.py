"""Values of metrics: finite, in range, best for a perfect prediction, and a reason where there is none."""

from __future__ import annotations

import contextlib
import io
import json
import logging
import re
import warnings
from collections.abc import Iterator, Sequence
from math import isclose
from typing import Any

import numpy as np

from primabench_core.discovery import registry
from primabench_core.errors import ContractError, PrimaBenchError, UsageError
from primabench_core.result.metric_result import MetricResult
from primabench_core.spec.outcome import Outcome
from primabench_core.state.counts import Counts
from primabench_core.testing.generate import Case, take
from primabench_core.testing.measure import degenerate, run, shown, state_of, taken
from primabench_core.testing.report import CheckFailure, NotApplicable
from primabench_core.testing.subjects import MetricSubject

_RUN = 8
"""So many answers in a row, in the order of the truth, are no coincidence."""


def check_runs(subject: MetricSubject) -> None:
    """It gives a value on at least one input made from its declared fields."""
    try:
        cases = subject.cases
    except NotApplicable as error:
        raise CheckFailure(
            str(error),
            remedy="declare ranges and vocabularies in its fields, or name a function in MetricSpec(example=…)",
        ) from error
    results = [run(subject, case) for case in cases]
    if all(result.value is None for result in results):
        raise CheckFailure(f"it has no value on any generated input; on {cases[0].name}: {shown(results[0])}")


def check_finite_and_in_range(subject: MetricSubject) -> None:
    """Every value is in the declared range: on ordinary and degenerate input, for every choice of a parameter."""
    for case in subject.cases:
        _demand_in_range(subject, run(subject, case), case)
        for params in _settings(subject):
            result = taken(subject, case, params=params)
            if result is not None:
                _demand_in_range(subject, result, case, params)
    for case in degenerate(subject.cases[0]):
        result = taken(subject, case)
        if result is not None:
            _demand_in_range(subject, result, case)


def _settings(subject: MetricSubject) -> Iterator[dict[str, Any]]:
    """Each choice of each parameter that the name does not fix, the others at their defaults."""
    for parameter in subject.spec.parameters:
        if parameter.name not in subject.spec.fixed:
            for choice in parameter.choices:
                if choice != parameter.default and not _has_own_name(subject, {parameter.name: choice}):
                    yield {parameter.name: choice}


def _has_own_name(subject: MetricSubject, params: dict[str, Any]) -> bool:
    return any(dict(fixed) == params for fixed in subject.spec.canonical.values())


def _demand_in_range(subject: MetricSubject, result: MetricResult, case: Case, params: Any = None) -> None:
    if result.value is None:
        return
    spec = subject.spec
    slack = max(spec.atol, spec.rtol)
    low = -np.inf if spec.low is None else spec.low - slack
    high = np.inf if spec.high is None else spec.high + slack
    if not low <= result.value <= high:
        given = f" with {params}" if params else ""
        raise CheckFailure(
            f"{result.value!r} on {case.name}{given} lies outside of its declared range [{spec.low}, {spec.high}]",
            remedy="mend the formula, or declare low and high as they are",
        )


def check_perfect_prediction_reaches_the_optimum(subject: MetricSubject) -> None:
    """A prediction that is never wrong reaches the declared optimum, and no other prediction is better.

    Where the input itself bounds the value (more positives than the k rows that are looked at), the perfect prediction
    must still be the best one; the optimum must be reached on at least one input.
    """
    spec = subject.spec
    if spec.best is None:
        raise NotApplicable("it declares no optimum")
    missed: list[str] = []
    reached = False
    for case in subject.cases:
        if case.perfect is None:
            continue
        result = run(subject, case, prediction=case.perfect)
        if result.value is None:
            raise CheckFailure(f"a perfect prediction has no value on {case.name}: {shown(result)}")
        _demand_best(subject, case, result.value)
        if isclose(result.value, spec.best, rel_tol=max(spec.rtol, 1e-12), abs_tol=max(spec.atol, 1e-12)):
            reached = True
        else:
            missed.append(f"{result.value!r} on {case.name}")
    if missed and not reached:
        raise CheckFailure(
            f"a perfect prediction has {missed[0]}, the declared optimum is {spec.best!r}",
            remedy="mend the formula, or declare the optimum",
        )
    if not reached:
        raise NotApplicable("its fields do not say what a perfect prediction is; MetricSpec(example=…) can")


def _demand_best(subject: MetricSubject, case: Case, best: float) -> None:
    """Neither the ordinary prediction of the case nor the perfect one for other rows may be better."""
    sign = {"higher": 1.0, "lower": -1.0, "info": 0.0}[subject.spec.direction]
    rng = np.random.default_rng(4)
    assert case.perfect is not None
    others = [case.prediction, *(take(case.perfect, rng.permutation(case.n)) for _ in range(4))]
    slack = max(subject.spec.atol, subject.spec.rtol * abs(best), 1e-12)
    for other in others:
        value = run(subject, case, prediction=other).value
        if value is not None and sign * (value - best) > slack:
            raise CheckFailure(
                f"an imperfect prediction on {case.name} has {value!r}, better than the {best!r} of a perfect one"
            )


def check_undefined_has_a_reason(subject: MetricSubject) -> None:
    """Where no value exists there is a reason: no exception, no NaN turned into a number, nothing out of no rows."""
    for case in [*subject.cases, *degenerate(subject.cases[0])]:
        with np.errstate(invalid="raise"), warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                taken(subject, case)
            except CheckFailure as error:
                raise CheckFailure(
                    f"{error.message}. Under this check invalid operations and warnings of array libraries are errors, "
                    "because a NaN that arises inside must not become a number",
                    remedy="test for the case first and return Outcome.undefined(reason)",
                ) from error
    _demand_nothing_of_nothing(subject)


def _demand_nothing_of_nothing(subject: MetricSubject) -> None:
    if subject.spec.direction == "info":
        return
    state, params = state_of(subject, subject.cases[0])
    none = (
        Counts(np.zeros_like(state.table), state.truth_classes, state.predicted_classes)
        if isinstance(state, Counts)
        else state.take(np.arange(0))
    )
    function = registry.resolve(subject.spec.compute, owner=subject.distribution)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = function(none, **params)
    except PrimaBenchError:  # refusing is an answer
        return
    except Exception as error:
        raise CheckFailure(
            f"without any row it raised {type(error).__name__}: {error}",
            remedy='return Outcome.undefined("too_few_items")',
        ) from error
    value = found.value if isinstance(found, Outcome) else found
    if value is not None:
        raise CheckFailure(
            f"it made {float(value)!r} out of no rows; a value that does not exist is not a number",
            remedy='return Outcome.undefined("too_few_items")',
        )


def check_truth_stays_private(subject: MetricSubject) -> None:
    """No answer of a single row stands in the result, in a refusal, in what is printed or logged, or in a warning."""
    for case in subject.cases:
        for each in (case, *degenerate(case)):
            _demand_silence(subject, each)


def _demand_silence(subject: MetricSubject, case: Case) -> None:
    said = io.StringIO()
    handler = logging.StreamHandler(said)
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said), warnings.catch_warnings():
            warnings.simplefilter("always")
            texts = _said_of(subject, case)
    finally:
        root.removeHandler(handler)
        root.setLevel(level)
    texts["what it prints or logs"] = said.getvalue()
    for place, text in texts.items():
        for name, value in case.truth.items():
            if f"truth.{name}" in case.fields and _tells(text, value):
                raise CheckFailure(
                    f"{place} shows the answers of single rows (field {name!r}) on {case.name}",
                    remedy="report counts and classes, never rows of the truth",
                )


def _said_of(subject: MetricSubject, case: Case) -> dict[str, str]:
    """What a caller gets to read: the parts of the result, or the refusal, which the runner passes on as it is."""
    try:
        parts = run(subject, case).to_dict()
    except CheckFailure:
        raise
    except (ContractError, UsageError) as refusal:
        return {"its refusal": str(refusal)}
    except PrimaBenchError as error:
        raise CheckFailure(f"on {case.name}: {error.message}") from error
    return {f"its {name}": json.dumps(parts[name]) for name in ("detail", "flags", "values", "per_unit", "n_excluded")}


def _tells(text: str, values: Any) -> bool:
    """Whether a text holds answers: full digits of numbers, or a run of labels (or their codes) in order."""
    array = np.asarray(getattr(values, "values", values)) if not isinstance(values, np.ndarray) else values
    if not text or array.size < _RUN:
        return False
    if array.dtype.kind == "f":
        digits = {repr(abs(float(v)))[:10] for v in array.ravel() if np.isfinite(v) and len(repr(float(v))) > 12}
        return sum(d in text for d in digits) >= min(_RUN, max(len(digits), 1))
    words = [str(v) for v in array.tolist()]
    classes = sorted(set(words))
    if len(classes) < 2:
        return False  # one class for all rows is no secret of a row
    codes = [str(classes.index(w)) for w in words]
    return any(_has_run(text, row) for row in (words, codes))


def _has_run(text: str, words: Sequence[str]) -> bool:
    """Whether the text names these words one after the other, with nothing but punctuation between."""
    gap = r"[\s,;:\[\]\(\)'\"]+"
    starts = range(0, len(words) - _RUN + 1, _RUN)
    return any(re.search(gap.join(map(re.escape, words[i : i + _RUN])), text) for i in starts)
