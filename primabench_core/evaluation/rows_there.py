"""Rows on a device that no host needs to see: put in order there, and copied home where a metric asks for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from primabench_core.contract.checkers import NumberChecker
from primabench_core.evaluation.pending import clean, gathered, is_elsewhere

if TYPE_CHECKING:
    from primabench_core.evaluation.intake import Intake


def rows_there(intake: Intake) -> dict[str, Any]:
    """Predicted columns of numbers that wait on a device, as tensors in canonical order; a few bytes cross to the host.

    Returns:
        Nothing where no field has several numbers a row, rows were placed already, some are missing or come twice, or
        something is wrong: then the host takes the rows in, and says what it is.
    """
    batches, truth, checker = intake.pending.batches, intake.truth, intake.checker
    if not batches or checker is None or intake._placed.n_seen:
        return {}
    if sum(b.n for b in batches) != truth.n or all(t.ndim < 2 for t in batches[0].columns.values()):
        return {}
    wide = intake.wide.fields if intake.wide is not None else {}
    names = [n for n, check in checker.checkers.items() if isinstance(check, NumberChecker) and n not in wide]
    batch = gathered(batches)
    columns = {name: batch.columns[name] for name in names}
    if not columns or not all(clean(checker.checkers[name], column) for name, column in columns.items()):
        return {}
    first = next(iter(columns.values()))
    at = _permutation(batch.where, truth.n, first.device)
    if at is None:
        return {}
    if isinstance(at, slice):
        return columns
    return {name: column.new_empty(column.shape).index_copy_(0, at, column) for name, column in columns.items()}


def _permutation(where: Any, n: int, device: Any) -> Any:
    """Positions as a tensor of the device, or a slice where rows are in order; None unless each comes once."""
    import torch

    if is_elsewhere(where):
        met = torch.zeros(n, dtype=torch.int64, device=device)
        met.index_add_(0, where.clamp(0, n - 1), torch.ones_like(where))
        return where if bool(((where >= 0) & (where < n)).all() & (met == 1).all()) else None
    at = np.arange(n)[where] if isinstance(where, slice) else where
    if (at < 0).any() or (at >= n).any() or len(np.unique(at)) != n:
        return None
    return slice(0, n) if (at == np.arange(n)).all() else torch.from_numpy(np.ascontiguousarray(at)).to(device)
