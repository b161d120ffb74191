"""Turns the refusals of shared work into outcomes, and keeps outcomes for the means that read them again."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from primabench_core.spec import Outcome
from primabench_core.state.rows import Rows
from primabench_task_singlecell.integration.work import UndefinedError


def defined(metric: Callable[..., Outcome]) -> Callable[..., Outcome]:
    """A metric that is computed once a view, and has no value where shared work says that there is none."""
    kwdefaults = getattr(metric, "__kwdefaults__", None) or {}

    @wraps(metric)
    def guarded(state: Rows, **params: Any) -> Outcome:
        if not state.n:
            return Outcome.undefined("too_few_items", "there are no cells", n=0)
        given = {**kwdefaults, **params}
        key = (metric.__module__, metric.__name__, *sorted(given.items()))
        return state.shared(key, lambda: _tried(metric, state, params))

    return guarded


def _tried(metric: Callable[..., Outcome], state: Rows, params: dict[str, Any]) -> Outcome:
    try:
        return metric(state, **params)
    except UndefinedError as error:
        return error.outcome
