"""Predicted labels that are codes where the truth has names: no class is meant by any of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from primabench_core.contract.violations import Violation
from primabench_core.errors import ContractError
from primabench_core.state.rows import Labels

if TYPE_CHECKING:
    from primabench_core.evaluation.intake import Intake

_CODE = re.compile(r"[+-]?\d+(\.0*)?")
_SHOWN = 3


def refuse_codes(intake: Intake, columns: Mapping[str, Any]) -> None:
    """Refuse labels that are whole numbers, written as text, where every class of the truth is a name.

    A class that the truth does not have counts as an error, but integers against names are refused; text tables, which
    have no types, are held to that too. One label that is a class of the truth, or a class that is a number, and
    nothing is refused.

    Args:
        intake: What was taken in.
        columns: Its columns over all positions.

    Raises:
        ContractError: with some labels of both sides, those of the truth only where they are public.
    """
    wrong = []
    for name, vocabulary in intake.vocabularies.items():
        known, others = vocabulary.classes[: vocabulary.n_known], vocabulary.classes[vocabulary.n_known :]
        column = columns.get(name)
        if not known or not others or vocabulary.kind is not str or not isinstance(column, Labels):
            continue
        if not all(map(_is_code, others)) or any(map(_is_code, known)):
            continue
        codes = np.asarray(column.codes)
        if (codes >= 0).any() and not ((codes >= 0) & (codes < vocabulary.n_known)).any():
            hidden = "classes" in intake.hidden
            theirs = "" if hidden else f" ({_some(known)})"
            remedy = (
                "Codes are not names: map class numbers to names, for a task through coords['classes'] of the test data"
            )
            found = f"codes ({_some(others)}), none of them a class,"
            wrong.append(
                Violation(
                    name, f"names of classes, as the truth has{theirs}", found, (), int((codes >= 0).sum()), remedy
                )
            )
    if wrong:
        raise ContractError(wrong)


def _is_code(label: object) -> bool:
    return _CODE.fullmatch(str(label).strip()) is not None


def _some(labels: Sequence[object]) -> str:
    shown = sorted(map(str, labels))
    return ", ".join(map(repr, shown[:_SHOWN])) + (", …" if len(shown) > _SHOWN else "")
