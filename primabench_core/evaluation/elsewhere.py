"""Predictions on a device: how an intake lets them wait there, and takes them in later."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from primabench_core.contract.arrays import as_ids
from primabench_core.contract.violations import Violation
from primabench_core.errors import ContractError
from primabench_core.evaluation.pending import Batch, as_rows, brought_home, clean, fitting, gathered, is_elsewhere
from primabench_core.evaluation.positions import as_positions
from primabench_core.evaluation.row_names import RowNames
from primabench_core.state.counts import Counts
from primabench_core.state.rows import Labels
from primabench_core.state.torch_rows import kept_on

if TYPE_CHECKING:
    from primabench_core.evaluation.intake import Intake
    from primabench_core.evaluation.plan import MetricPlan

_TABLE = 1 << 22
"""Cells of the largest table that is counted on a device."""


def queue(
    intake: Intake, ids: Any, positions: Any, fields: Mapping[str, Any], coords: Mapping[str, Any] | None
) -> bool:
    """Let a batch of tensors wait on its device.

    Shapes, types, names and text ids are checked now, numbers later.

    Returns:
        False, and nothing is kept, if the host has to read the batch, or to say what is wrong with it.
    """
    checker, device = intake.checker, intake.request.device
    assert checker is not None
    if fields.keys() != checker.checkers.keys() or (positions is not None and ids is not None):
        return False
    tensors = {name: fitting(checker.checkers[name], value, device) for name, value in fields.items()}
    if any(t is None for t in tensors.values()) or len({(t.device, len(t)) for t in tensors.values()}) != 1:
        return False
    orders, wrong = checker.orders(coords, fields) if coords else ({}, [])
    if wrong:
        return False
    first = next(iter(tensors.values()))
    at: Any = positions if positions is not None else ids if intake.truth.ids is None else None
    where: Any
    keep = None
    if is_elsewhere(at) and at.ndim == 1 and str(at.dtype) in ("torch.int64", "torch.int32"):
        where, n = at.detach().to(first.device).long(), len(at)
    else:
        where, n, keep, violation = intake.locate(ids, positions, fields)
        if violation is not None:
            return False
    if (n if keep is None else len(keep)) != len(first):
        return False
    for name, order in orders.items():
        tensors[name] = tensors[name].index_select(1, _sent(order, first.device))
    if keep is not None:
        rows = _sent(np.flatnonzero(keep), first.device)
        tensors = {name: t.index_select(0, rows) for name, t in tensors.items()}
        texts = as_ids(ids)
        intake.outside.update(texts[i] for i in np.flatnonzero(~keep))
    hashed = intake.wide.fields if intake.wide is not None and intake.wide.hashed else ()
    if n:
        intake.pending.add(where, n, tensors, hashed=hashed)
        intake.device = str(first.device)
    if intake.pending.is_full:
        settle(intake)
    return True


def _sent(numbers: NDArray[np.int64], device: Any) -> Any:
    """Numbers on a device, without waiting for it."""
    import torch

    return torch.from_numpy(numbers).to(device, non_blocking=True)


def settle(intake: Intake) -> None:
    """Check and place the batches that wait: all together, or, if something is wrong, one by one.

    Raises:
        ContractError: every violation of all of them. Wrong batches leave no trace, the others are placed.
    """
    batches = intake.pending.take()
    try:
        _place(intake, gathered(batches))
        return
    except ContractError as error:
        violations = list(error.violations)
    if len(batches) > 1:
        told: list[Violation] = []
        for batch in batches:
            try:
                _place(intake, batch)
            except ContractError as error:
                told += error.violations
        violations = told or violations
    raise ContractError(violations)


def _place(intake: Intake, batch: Batch) -> None:
    """Place what waited, wholly or not at all; this waits for the device."""
    checker, wide, truth = intake.checker, intake.wide, intake.truth
    assert checker is not None
    marks = [(c, c.mark()) for c in checker.checkers.values()]
    try:
        given = brought_home(batch.where) if is_elsewhere(batch.where) else batch.where
        where = as_positions(given, truth.n)
        names = RowNames(truth, where, None, batch.n)
        columns: dict[str, Any] = {}
        violations: list[Violation] = []
        for name, check in checker.checkers.items():
            wrong: list[Violation] = []
            if wide is not None and name in wide.fields:
                columns[name] = as_rows(batch, name)
                if not clean(check, batch.columns[name]):
                    wrong = check.explain(columns[name].at_home(), names)[1]
            else:
                home = brought_home(batch.columns[name])
                columns[name] = check.fast(home)
                if columns[name] is None:
                    columns[name], wrong = check.explain(home, names)
            violations += wrong
        if violations:
            raise ContractError(violations)
        if wide is None:
            intake._placed.place(where, columns)
        else:
            wide.place(intake._placed, where, columns)
    except BaseException:
        for check, mark in marks:
            check.revert(mark)
        raise


def counts_there(intake: Intake, plans: Sequence[MetricPlan]) -> dict[tuple[str, str], Counts] | None:
    """Tables of counts of labels that wait on a device: only the tables cross to the host.

    Returns:
        None where rows have to come to the host: they are hashed, a metric reads more than a table, some were placed
        already, some are missing, or something is wrong or unusual (a repeat that differs, an unknown class).
    """
    if not intake.pending or intake.request.hash_predictions or intake._placed.n_seen:
        return None
    if any(plan.metric.spec.state != "counts" or plan.label_pair is None for plan in plans):
        return None
    batch = gathered(intake.pending.batches)
    found = {}
    for pair in {plan.label_pair for plan in plans if plan.label_pair is not None}:
        counts = _count_there(intake, batch, *pair)
        if counts is None:
            return None
        found[pair] = counts
    return found


def _count_there(intake: Intake, batch: Batch, truth: str, prediction: str) -> Counts | None:
    """One table, read in one copy."""
    import torch

    true, labels, n = intake.truth.columns[truth], batch.columns[prediction], intake.truth.n
    vocabulary = intake.vocabularies[prediction]
    if not isinstance(true, Labels) or truth in intake.truth.missing or vocabulary.kind is not int or not n:
        return None
    if len(vocabulary) > vocabulary.n_known or len(true.classes) * len(vocabulary) > _TABLE:
        return None
    device = labels.device
    given = batch.where
    if isinstance(given, slice):
        given = np.arange(given.start, given.stop, given.step or 1)
    given = given if is_elsewhere(given) else torch.from_numpy(given).to(device)
    inside = (given >= 0) & (given < n)
    at, values = given.clamp(0, n - 1), labels.to(torch.int64)
    placed = torch.zeros(n, dtype=torch.int64, device=device).index_copy_(0, at, values)
    met = torch.zeros(n, dtype=torch.int64, device=device).index_add_(0, at, torch.ones_like(at))
    good = inside.all() & (met > 0).all() & (placed[at] == values).all()
    if intake.request.duplicates == "refuse":
        good &= (met == 1).all()
    known = torch.tensor(vocabulary.classes, dtype=torch.int64, device=device)
    ascending, order = known.sort()
    place = torch.searchsorted(ascending, placed).clamp(max=len(known) - 1)
    good &= (ascending[place] == placed).all()
    cells = kept_on(true.codes, device) * len(known) + order[place]
    table = torch.zeros(len(true.classes) * len(known), dtype=torch.int64, device=device)
    table.index_add_(0, cells, torch.ones_like(cells))
    read = brought_home(torch.cat([good.to(torch.int64)[None], table]))
    if not read[0]:
        return None
    return Counts(read[1:].reshape(len(true.classes), len(known)), true.classes, vocabulary.classes)
