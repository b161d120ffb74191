"""The aggregation tree of ProteinGym: assays of one protein and selection, proteins, selection types."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from attrs import frozen

from primabench_core import UsageError
from primabench_core.contract.violations import Violation
from primabench_core.errors import ContractError

Number = float
TYPES = ("Activity", "Binding", "Expression", "OrganismalFitness", "Stability")
"""Selection types of ProteinGym."""


@frozen
class Tree:
    """Means at each level."""

    value: float
    """Mean over selection types."""
    by_type: Mapping[str, float]
    """Mean over proteins of each selection type."""
    by_protein: Mapping[tuple[str, str], float]
    """Mean over assays of each (selection type, protein)."""


def tree_mean(
    value: Sequence[float], uniprot: Sequence[str], selection: Sequence[str], *, round_first: bool = False
) -> Tree:
    """Mean over assays of a protein and selection type, then over proteins, then over selection types.

    A plain mean over assays is another number: proteins with many assays would weigh more. Sums are correctly rounded,
    so that the order of assays does not matter (Notin et al. 2023, NeurIPS, doi:10.1101/2023.12.07.570727).

    Args:
        value: One value an assay.
        uniprot: Its protein.
        selection: Its selection type.
        round_first: Round every value to three decimals before, as the script of ProteinGym does.

    Raises:
        UsageError: there is no assay, columns have different lengths, or a value is not finite.

    Example:
        >>> tree_mean([0.5, 0.3, 0.6], ["P1", "P1", "P2"], ["Activity"] * 3).value
        0.5
    """
    if not len(value):
        raise UsageError("there is no assay")
    if not len(value) == len(uniprot) == len(selection):
        raise UsageError(f"{len(value)} values, {len(uniprot)} proteins and {len(selection)} selection types")
    odd = next((i for i, number in enumerate(value) if not math.isfinite(number)), None)
    if odd is not None:
        raise UsageError(
            f"the value of row {odd} ({uniprot[odd]}, {selection[odd]}) is {value[odd]}: no mean holds without it"
        )
    leaves: dict[tuple[str, str], list[float]] = {}
    for number, protein, kind in zip(value, uniprot, selection, strict=True):
        leaves.setdefault((str(kind), str(protein)), []).append(
            round(float(number), 3) if round_first else float(number)
        )
    by_protein = {key: mean(numbers) for key, numbers in sorted(leaves.items())}
    kinds: dict[str, list[float]] = {}
    for (kind, _), number in by_protein.items():
        kinds.setdefault(kind, []).append(number)
    by_type = {kind: mean(numbers) for kind, numbers in kinds.items()}
    return Tree(mean(list(by_type.values())), by_type, by_protein)


def mean(numbers: Sequence[float]) -> float:
    """The mean, of a correctly rounded sum."""
    return math.fsum(numbers) / len(numbers)


def refuse_repeats(assays: Sequence[str]) -> None:
    """Refuse assays that stand twice: their values would count twice, or multiply in a join.

    Raises:
        ContractError: one does.
    """
    seen: set[str] = set()
    repeated = [name for name in assays if name in seen or seen.add(name)]  # type: ignore[func-returns-value]
    if repeated:
        raise ContractError(
            [
                Violation(
                    "assay", "each assay once", "assays that stand twice", repeated[:5], len(repeated), noun="assay"
                )
            ],
            what="The truth",
        )
