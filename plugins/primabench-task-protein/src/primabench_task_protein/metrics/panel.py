"""Metrics of all assays together: each assay by itself, then the tree of ProteinGym, then slices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from primabench_metrics import correlation, ranking

from primabench_core.spec import Outcome
from primabench_core.state.rows import Labels, Rows
from primabench_task_protein.metrics import assay
from primabench_task_protein.metrics.tree import TYPES, mean, refuse_repeats, tree_mean

Ints = NDArray[np.int64]
AssayMetric = Callable[[Rows], Outcome]
BY_VARIANT = "mutation_depth"
SLICES = ("msa_depth", "taxon", BY_VARIANT)
"""Optional fields of the truth by which values are given apart."""


def proteingym_average(state: Rows, *, round_first: bool = False) -> Outcome:
    """The tree of ProteinGym over one value an assay: assays of a protein and selection, proteins, selection types.

    Args:
        state: ``value`` (assays,) against ``assay``, ``uniprot`` and ``selection`` (assays,).
        round_first: Round to three decimals before, as the script of ProteinGym does.

    Returns:
        The average with that of each selection type in ``per_unit``; ``too_few_items`` without assays.

    Raises:
        ContractError: an assay stands twice.
    """
    if not state.n:
        return Outcome.undefined("too_few_items", "there are no assays", n=0)
    names, proteins, kinds = (_texts(state, name) for name in ("assay", "uniprot", "selection"))
    refuse_repeats(names)
    values = np.asarray(state.prediction["value"], np.float64).reshape(state.n)
    tree = tree_mean(values.tolist(), proteins, kinds, round_first=round_first)
    about = _about(len(names), proteins, kinds)
    return Outcome(tree.value, flags=_flags(kinds), per_unit=tree.by_type, values=about)


def fitness_spearman(state: Rows, *, policy: str = "strict") -> Outcome:
    """Spearman correlation within each assay, averaged by the tree of ProteinGym.

    Args:
        state: ``score`` (n,) against ``value``, ``assay``, ``uniprot`` and ``selection`` (n,).
        policy: What an assay without a value does (metrics.md 0.2): ``strict``, ``defined_only`` or
            ``penalise_constant_prediction``.

    Returns:
        Value in [-1, 1]; ``per_unit``: each assay; ``values``: each selection type and slice.
    """
    return _panel(state, policy, _spearman)


def fitness_auroc(state: Rows, *, policy: str = "strict") -> Outcome:
    """AUROC of fit against unfit variants within each assay, averaged by the tree of ProteinGym.

    Args:
        state: ``score`` (n,) against ``label``, ``assay``, ``uniprot`` and ``selection`` (n,).
        policy: As in ``fitness_spearman``.

    Returns:
        Value in [0, 1]; otherwise as ``fitness_spearman``.
    """
    return _panel(state, policy, ranking.auroc)


def fitness_mcc(state: Rows, *, policy: str = "strict") -> Outcome:
    """Matthews correlation at the median score within each assay, averaged by the tree of ProteinGym.

    Args:
        state: ``score`` (n,) against ``label``, ``assay``, ``uniprot`` and ``selection`` (n,).
        policy: As in ``fitness_spearman``.

    Returns:
        Value in [-1, 1]; otherwise as ``fitness_spearman``.
    """
    return _panel(state, policy, assay.mcc_at_median)


def fitness_ndcg_at_10_percent(state: Rows, *, policy: str = "strict") -> Outcome:
    """NDCG over the top tenth within each assay, averaged by the tree of ProteinGym.

    Args:
        state: ``score`` (n,) against ``value``, ``assay``, ``uniprot`` and ``selection`` (n,).
        policy: As in ``fitness_spearman``.

    Returns:
        Value in [0, 1]; otherwise as ``fitness_spearman``.
    """
    return _panel(state, policy, assay.ndcg_at_10_percent)


def fitness_top_recall_10_percent(state: Rows, *, policy: str = "strict") -> Outcome:
    """Recall of the best tenth within each assay, averaged by the tree of ProteinGym.

    Args:
        state: ``score`` (n,) against ``value``, ``assay``, ``uniprot`` and ``selection`` (n,).
        policy: As in ``fitness_spearman``.

    Returns:
        Value in [0, 1]; otherwise as ``fitness_spearman``.
    """
    return _panel(state, policy, assay.top_recall_10_percent)


def _spearman(state: Rows) -> Outcome:
    return correlation.spearman(Rows(state.n, {"value": state.prediction["score"]}, {"value": state.truth["value"]}))


def _panel(state: Rows, policy: str, metric: AssayMetric) -> Outcome:
    if not state.n:
        return Outcome.undefined("too_few_items", "there are no variants", n=0)
    rows = _rows_by(state, "assay")
    found = {name: metric(_narrowed(state, some)) for name, some in rows.items()}
    proteins, kinds = ({n: _only(state, f, n, some) for n, some in rows.items()} for f in ("uniprot", "selection"))
    used: dict[str, float] = {}
    undefined: dict[str, str] = {}
    for name, outcome in found.items():
        if outcome.value is not None:
            used[name] = outcome.value
            continue
        undefined[name] = outcome.reason
        counted = _counted(outcome, policy)
        if counted is not None:
            used[name] = counted
    blocking = {
        "strict": undefined,
        "defined_only": {},
        "penalise_constant_prediction": {
            n: r for n, r in undefined.items() if r not in ("constant_prediction", "constant_truth")
        },
    }[policy]
    more: dict[str, Any] = {
        "per_unit": {name: outcome.value for name, outcome in found.items()},
        "n_undefined": len(undefined),
        "coverage": 1 - len(undefined) / len(found),
    }
    about = _about(len(found), [proteins[n] for n in rows], [kinds[n] for n in rows])
    if blocking or not used:
        detail = ", ".join(f"{name}: {reason}" for name, reason in list(undefined.items())[:3])
        return Outcome.undefined("component_undefined", f"{len(undefined)} assays ({detail})", values=about, **more)
    tree = tree_mean(list(used.values()), [proteins[n] for n in used], [kinds[n] for n in used])
    about |= {f"selection={kind}": value for kind, value in tree.by_type.items()}
    about |= _slices(state, rows, proteins, kinds, used, metric, policy)
    flags = _flags(kinds.values())
    if len(used) > len(found) - len(undefined):
        flags = (*flags, "constant_predictions_count_0")
    return Outcome(tree.value, values=about, flags=flags, **more)


def _counted(outcome: Outcome, policy: str) -> float | None:
    """What enters means: the value, or 0 for a constant prediction where the policy says so."""
    if outcome.value is None and policy == "penalise_constant_prediction" and outcome.reason == "constant_prediction":
        return 0.0
    return outcome.value


def _narrowed(state: Rows, rows: Ints) -> Rows:
    """Rows of one assay, with the fields that metrics of an assay read."""
    part = state.take(rows)
    truth = {name: column for name, column in part.truth.items() if name in ("value", "label")}
    return Rows(part.n, part.prediction, truth)


def _slices(
    state: Rows,
    rows: dict[str, Ints],
    proteins: dict[str, str],
    kinds: dict[str, str],
    used: dict[str, float],
    metric: AssayMetric,
    policy: str,
) -> dict[str, float]:
    """Values apart for each value of each slicing field, as the tables of ProteinGym give them.

    Depth of MSA and taxon belong to assays: mean over proteins of the mean over their assays. Mutation depth belongs to
    variants: the metric is taken anew within each depth, over the assays that have a value there, then the mean over
    their proteins and selection types. Where constant predictions count as 0, they do within a depth too; assays that
    are left out of a slice are counted beside it.
    """
    found: dict[str, float] = {}
    left_out: Counter[str] = Counter()
    for field in SLICES:
        if field not in state.truth:
            continue
        parts: dict[str, dict[tuple[str, ...], list[float]]] = {}
        column = state.truth[field]
        assert isinstance(column, Labels)
        for name, some in rows.items():
            unit = (proteins[name], kinds[name]) if field == BY_VARIANT else (proteins[name],)
            codes = np.unique(column.codes[some]).tolist()
            for code in codes:
                if len(codes) == 1:
                    value = used.get(name)
                else:
                    value = _counted(metric(_narrowed(state, some[column.codes[some] == code])), policy)
                if value is not None:
                    parts.setdefault(str(column.classes[code]), {}).setdefault(unit, []).append(value)
                else:
                    left_out[f"n_undefined {field}={column.classes[code]}"] += 1
        for kind, members in sorted(parts.items()):
            found[f"{field}={kind}"] = mean([mean(values) for values in members.values()])
    return found | dict(sorted(left_out.items()))


def _about(assays: int, proteins: list[str], kinds: list[str]) -> dict[str, Any]:
    absent = len(set(TYPES) - set(kinds))
    return {"n_assays": assays, "n_proteins": len(set(proteins)), "n_types": len(set(kinds)), "n_types_absent": absent}


def _flags(kinds: Iterable[str]) -> tuple[str, ...]:
    """A mean over types of other names is not that of ProteinGym: perhaps a misspelling made two of one."""
    return () if set(kinds) <= set(TYPES) else ("unknown_selection_type",)


def _rows_by(state: Rows, field: str) -> dict[str, Ints]:
    column = state.truth[field]
    assert isinstance(column, Labels)
    order = np.argsort(column.codes, kind="stable")
    edges = np.cumsum(np.bincount(column.codes, minlength=len(column.classes)))[:-1]
    found = zip(column.classes, np.split(order, edges), strict=True)
    return {str(name): rows for name, rows in found if len(rows)}


def _only(state: Rows, field: str, assay_name: str, rows: Ints) -> str:
    """What all rows of an assay say.

    Raises:
        ContractError: they say different things.
    """
    from primabench_core.contract.violations import Violation
    from primabench_core.errors import ContractError

    column = state.truth[field]
    assert isinstance(column, Labels)
    codes = np.unique(column.codes[rows])
    if len(codes) > 1:
        names = ", ".join(str(column.classes[code]) for code in codes[:3].tolist())
        found = f"{len(codes)} in assay {assay_name} ({names}{', …' if len(codes) > 3 else ''})"
        raise ContractError([Violation(field, "one for each assay", found)], what="The truth")
    return str(column.classes[int(codes[0])])


def _texts(state: Rows, field: str) -> list[str]:
    column = state.truth[field]
    assert isinstance(column, Labels)
    return [str(column.classes[code]) for code in column.codes.tolist()]
