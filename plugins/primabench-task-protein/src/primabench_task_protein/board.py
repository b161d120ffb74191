"""The board of ProteinGym: models in order of their average, each with the error of its distance from the best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from attrs import frozen

from primabench_core import UsageError
from primabench_task_protein.metrics.tree import refuse_repeats, tree_mean

DRAWS = 10_000


@frozen
class BoardRow:
    """One model."""

    model: str
    average: float
    """The tree's mean, full precision."""
    standard_error: float | None
    """Of the difference to the best model; 0 for that one, None if no selection type has two proteins."""
    by_type: Mapping[str, float]


def proteingym_board(
    values: Mapping[str, Sequence[float]],
    assay: Sequence[str],
    uniprot: Sequence[str],
    selection: Sequence[str],
    *,
    draws: int = DRAWS,
    seed: int = 0,
    round_first: bool = False,
) -> list[BoardRow]:
    """Rank models by the tree of ProteinGym from a table of values for each assay.

    The standard error is that of the difference to the best model: within each selection type the proteins are drawn
    anew, differences are averaged as in the tree, and the sample deviation over the draws is taken (Notin et al. 2023).

    Args:
        values: For each model one value an assay.
        assay: Names, each once.
        uniprot: Protein of each assay.
        selection: Selection type of each assay.
        draws: Resamples.
        seed: Of the draws.
        round_first: Round values to three decimals before, as the script of ProteinGym does.

    Returns:
        Models by falling average; equal ones by name.

    Raises:
        ContractError: an assay stands twice.
        UsageError: columns have different lengths, a model lacks a value, or there are fewer than two draws.

    Example:
        >>> rows = proteingym_board({"a": [0.5, 0.3], "b": [0.6, 0.4]}, ["x", "y"], ["P", "Q"], ["Binding"] * 2)
        >>> [(row.model, round(row.average, 3)) for row in rows]
        [('b', 0.5), ('a', 0.4)]
    """
    refuse_repeats(list(assay))
    if not len(assay) == len(uniprot) == len(selection):
        raise UsageError(f"{len(assay)} assays, {len(uniprot)} proteins and {len(selection)} selection types")
    if isinstance(draws, bool) or not isinstance(draws, int) or draws < 2:
        raise UsageError(f"draws is a whole number from 2, not {draws!r}")
    for model, numbers in values.items():
        if len(numbers) != len(assay):
            raise UsageError(f"model {model!r} has {len(numbers)} values for {len(assay)} assays")
        odd = np.flatnonzero(~np.isfinite(np.asarray(numbers, np.float64))).tolist()
        if odd:
            more = f" and {len(odd) - 1} more" if len(odd) > 1 else ""
            raise UsageError(f"model {model!r} has no finite value of assay {assay[odd[0]]!r}{more}")
    if not values or not len(assay):
        raise UsageError("a board needs models and assays")
    trees = {model: tree_mean(v, uniprot, selection, round_first=round_first) for model, v in values.items()}
    order = sorted(trees, key=lambda model: (-trees[model].value, model))
    best = trees[order[0]]
    kinds: dict[str, list[tuple[str, str]]] = {}
    for key in best.by_protein:
        kinds.setdefault(key[0], []).append(key)
    drawn = _drawn({kind: len(keys) for kind, keys in kinds.items()}, draws, seed)
    rows = []
    for model in order:
        tree = trees[model]
        parts = []
        for kind, keys in kinds.items():
            gaps = np.asarray([tree.by_protein[key] - best.by_protein[key] for key in keys])
            parts.append(drawn[kind] @ gaps / len(keys))
        error = float(np.std(np.mean(parts, axis=0), ddof=1)) if max(map(len, kinds.values())) > 1 else None
        rows.append(BoardRow(model, tree.value, error, tree.by_type))
    return rows


def _drawn(sizes: Mapping[str, int], draws: int, seed: int) -> dict[str, np.ndarray]:
    """For each selection type (draws, proteins) how often each protein is drawn; one set of draws for all models."""
    rng = np.random.Generator(np.random.Philox(key=seed))
    return {
        kind: rng.multinomial(n, np.full(n, 1 / n), size=draws).astype(np.float64) for kind, n in sorted(sizes.items())
    }
