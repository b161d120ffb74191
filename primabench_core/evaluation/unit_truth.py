"""A truth whose rows belong to units: predictions bring any number of rows for each of them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import cached_property
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from primabench_core.contract.evaldata import EvalData
from primabench_core.contract.violations import Violation
from primabench_core.errors import ContractError
from primabench_core.evaluation.truth import Truth
from primabench_core.state.rows import Labels
from primabench_core.state.units import IGNORED

if TYPE_CHECKING:
    from primabench_core.contract.contract import Contract
    from primabench_core.evaluation.request import Request

ONLY = "all"
"""Name of the only unit of a truth that names none."""


class UnitTruth(Truth):
    """As :class:`Truth`: ``ids`` and ``n`` are those of the units, columns hold the rows.

    Units are the names that occur, sorted; names that the contract ignores (controls) are none.
    """

    def __init__(self, data: EvalData, contract: Contract, **options: Any) -> None:
        super().__init__(data, contract, **{**options, "independent_unit": ""})
        self.row_ids, self.n_rows = self.ids, self.n
        column = self.columns.get(contract.unit_field)
        if isinstance(column, Labels):
            column = column.values()
        names = [ONLY] * self.n_rows if column is None else list(map(str, np.asarray(column).tolist()))
        found = sorted(set(names) - set(contract.ignored_units))
        if not found:
            noun = contract.unit_field
            raise ContractError([Violation(noun, f"at least one {noun}", "none")], what=self._what)
        at = {name: i for i, name in enumerate(found)}
        self.home = np.array(list(map(at.get, names, repeat(IGNORED))), np.int64)
        """(rows,) unit of each row, -1 where it is of none."""
        self.ids, self.n = found, len(found)
        self._made: dict[tuple[str, ...], dict[Hashable, Any]] = {}

    def made(self, fields: tuple[str, ...]) -> dict[Hashable, Any]:
        """What metrics over these fields have made of the truth alone; for them to read and to add to."""
        return self._made.setdefault(fields, {})

    def __getstate__(self) -> dict[str, Any]:
        """What can be made again does not travel."""
        return {**self.__dict__, "_made": {}}

    @cached_property
    def sha256(self) -> str:
        """Fingerprint of the canonical content of all rows, salted where a salt was given."""
        from primabench_core.state.fingerprint import fingerprint

        return fingerprint(self.row_ids, self.columns, n=self.n_rows, salt=self._salt or None, coords=self.coords)


def make_truth(data: EvalData, contract: Contract, **options: Any) -> Truth:
    """The truth in the form that the contract asks for; arguments of :class:`Truth`."""
    return (UnitTruth if contract.many_rows_per_unit else Truth)(data, contract, **options)


def own_data(truth: Any, request: Request) -> EvalData:
    """A truth of the caller as EvalData, brought into the declared form where the metrics have a function for that."""
    arrange = {(m.spec.arrange, m.distribution) for m in request.metrics if m.spec.arrange}
    if isinstance(truth, Mapping) and len(arrange) == 1:
        from primabench_core.discovery.registry import resolve

        ((reference, owner),) = arrange
        truth = resolve(reference, owner=owner)(truth)
    return EvalData.of(truth, request.contract)
