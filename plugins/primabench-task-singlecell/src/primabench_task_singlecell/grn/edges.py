"""Edges as people have them (a list, or a table with regulator, target and weight), as one row a candidate edge."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from primabench_core import ContractError, EvalData
from primabench_core.contract.violations import Violation

SEPARATOR = ">"
"""Between regulator and target in the id of an edge."""
EDGES, REGULATOR, TARGET, WEIGHT, SCORE = "edges", "regulator", "target", "weight", "score"
_TABLE = (REGULATOR, TARGET, WEIGHT)
_SHOWN = 5


def edge_id(regulator: str, target: str) -> str:
    """Id of a candidate edge.

    Example:
        >>> edge_id("Sox2", "Klf4")
        'Sox2>Klf4'
    """
    return f"{regulator}{SEPARATOR}{target}"


def candidates(regulators: Iterable[str], genes: Iterable[str]) -> list[tuple[str, str]]:
    """The universe: each regulator with each gene but itself, sorted by code point.

    Example:
        >>> candidates(["B"], ["C", "B", "A"])
        [('B', 'A'), ('B', 'C')]
    """
    targets = sorted(set(genes))
    return [(a, b) for a in sorted(set(regulators)) for b in targets if a != b]


def arrange_prediction(
    ids: Any, fields: Mapping[str, Any], coords: Mapping[str, Sequence[str]]
) -> tuple[Any, dict[str, Any]]:
    """A batch of predicted edges as ids and magnitudes.

    Args:
        ids: Ids of edges for a batch that is in rows already, else None.
        fields: ``edges``, a list of (regulator, target, weight); or the columns ``regulator``, ``target`` and
            ``weight``; or ``score`` with ids.
        coords: ``genes``: every name that an edge may have. Where the truth says nothing of genes, names are not
            looked at.

    Returns:
        ``regulator>target`` of each edge, and ``score``, its absolute weight (edges are ranked by it).

    Raises:
        ContractError: an unknown gene, a weight that is no finite number, or columns that do not go together.

    Example:
        >>> ids, fields = arrange_prediction(None, {"edges": [("A", "B", -0.5)]}, {"genes": ("A", "B")})
        >>> ids, fields["score"].tolist()
        (['A>B'], [0.5])
    """
    given = [name for name in (EDGES, *_TABLE) if fields.get(name) is not None]
    known = frozenset(coords.get("genes", ()))
    if not given:
        if ids is not None and known:
            _check_ids(ids, known)
        return ids, dict(fields)
    rest = {name: value for name, value in fields.items() if name not in (EDGES, *_TABLE, "genes")}
    _check_form(given, ids, rest)
    source, target, weight = _triples(fields[EDGES]) if EDGES in given else _columns(fields)
    where = EDGES if EDGES in given else ""
    wrong = _strangers(source, known, where or REGULATOR) + _strangers(target, known, where or TARGET)
    bad = np.flatnonzero(~np.isfinite(weight))
    if len(bad):
        names = [edge_id(source[i], target[i]) for i in bad[:_SHOWN].tolist()]
        wrong.append(Violation(where or WEIGHT, "finite weights", "NaN or infinity", names, len(bad)))
    if wrong:
        raise ContractError(wrong)
    return list(map(edge_id, source, target)), {SCORE: np.abs(weight)}


def _check_form(given: Sequence[str], ids: Any, rest: Mapping[str, Any]) -> None:
    """Refuse edges in two forms at once, or in half of one."""
    if (EDGES in given and len(given) > 1) or SCORE in rest:
        raise ContractError([Violation(EDGES, "edges in one form", f"{', '.join([*given, *rest])} together")])
    absent = [name for name in _TABLE if name not in given]
    if EDGES not in given and absent:
        raise ContractError([Violation(name, f"a column {name!r} beside {given[0]!r}", "none") for name in absent])
    if ids is not None:
        found = Violation(
            "ids", f"edges named by {' and '.join(given[:2])} alone", "ids beside them", remedy="omit ids"
        )
        raise ContractError([found])
    if rest:
        raise ContractError([Violation(name, "edges and nothing else", f"the field {name!r}") for name in rest])


def _triples(edges: Any) -> tuple[list[str], list[str], NDArray[np.float64]]:
    """Regulators, targets and weights of a list of triples."""
    rows = edges.tolist() if hasattr(edges, "tolist") else list(edges)
    odd = [i for i, row in enumerate(rows) if not isinstance(row, list | tuple) or len(row) != 3]
    if odd:
        found = Violation(EDGES, "(regulator, target, weight)", "entries of another form", map(str, odd[:5]), len(odd))
        raise ContractError([found])
    source, target, weight = ([row[j] for row in rows] for j in range(3))
    return _names(source, EDGES), _names(target, EDGES), _numbers(weight, EDGES)


def _columns(fields: Mapping[str, Any]) -> tuple[list[str], list[str], NDArray[np.float64]]:
    """The same of three columns."""
    read = EvalData({name: fields[name] for name in _TABLE})
    found = {name: np.asarray(read[name]) for name in _TABLE}
    wrong = [Violation(name, "one entry an edge", f"shape {v.shape}") for name, v in found.items() if v.ndim != 1]
    sizes = {name: len(v) for name, v in found.items() if v.ndim == 1}
    if not wrong and len(set(sizes.values())) > 1:
        wrong = [Violation(WEIGHT, f"{sizes[REGULATOR]:,} rows", f"{sizes}")]
    if wrong:
        raise ContractError(wrong)
    source, target = (_names(found[name].tolist(), name) for name in (REGULATOR, TARGET))
    return source, target, _numbers(found[WEIGHT].tolist(), WEIGHT)


def _names(values: list[Any], where: str) -> list[str]:
    odd = [i for i, value in enumerate(values) if not isinstance(value, str)]
    if odd:
        found = type(values[odd[0]]).__name__
        raise ContractError([Violation(where, "names of genes as text", found, map(str, odd[:_SHOWN]), len(odd))])
    return values


def _numbers(values: list[Any], where: str) -> NDArray[np.float64]:
    odd = [i for i, v in enumerate(values) if isinstance(v, str | bool) or not hasattr(v, "__float__")]
    if odd:
        found = f"{values[odd[0]]!r}"
        raise ContractError([Violation(where, "weights as numbers", found, map(str, odd[:_SHOWN]), len(odd))])
    return np.asarray(values, np.float64)


def _strangers(names: Iterable[str], known: Collection[str], where: str) -> list[Violation]:
    if not known:
        return []
    odd = [name for name in names if name not in known]
    if not odd:
        return []
    shown = list(dict.fromkeys(odd))[:_SHOWN]
    remedy = "Names are those of the coordinate genes of the data"
    return [Violation(where, f"{len(known):,} known genes", f"unknown ones ({', '.join(shown)})", (), len(odd), remedy)]


def _check_ids(ids: Any, known: Collection[str]) -> None:
    """Refuse ids that name no edge of known genes; edges outside of the universe are ignored later, these are slips."""
    names = ids.tolist() if hasattr(ids, "tolist") else list(ids)
    odd = []
    for name in names:
        source, _, target = name.partition(SEPARATOR) if isinstance(name, str) else ("", "", "")
        if source not in known or target not in known:
            odd.append(name)
    if odd:
        remedy = f"The id of an edge is regulator{SEPARATOR}target"
        raise ContractError([Violation("ids", "edges of known genes", "others", odd[:_SHOWN], len(odd), remedy)])


def arrange_truth(truth: Mapping[str, Any]) -> Mapping[str, Any] | EvalData:
    """A network as rows: one for each regulator and gene.

    Args:
        truth: ``edges``, a list of (regulator, target), and ``genes``, those that an edge may reach; ``regulators``, by
            default those of the edges. Regulators that are no genes, edges that leave the universe, and self-loops do
            not count. A truth without ``edges`` is in rows already.

    Returns:
        ``label`` (1 for a true edge), ``regulator``, ids ``regulator>target``, and the coordinate ``genes``.

    Raises:
        ContractError: genes are missing or come twice, an edge is no pair, or a name holds the separator.

    Example:
        >>> rows = arrange_truth({"edges": [("A", "B")], "genes": ["A", "B", "C"]})
        >>> rows.ids, rows["label"].tolist()
        (('A>B', 'A>C'), [1, 0])
    """
    if EDGES not in truth:
        return truth
    if truth.get("genes") is None:
        raise ContractError([Violation("genes", "names of the genes that an edge may reach", "none")])
    genes = list(map(str, truth["genes"]))
    pairs = [tuple(row) for row in truth[EDGES]]
    if any(len(pair) != 2 or not all(isinstance(name, str) for name in pair) for pair in pairs):
        raise ContractError([Violation(EDGES, "pairs (regulator, target) of text", "entries of another form")])
    named = truth.get("regulators")
    regulators = {a for a, _ in pairs} if named is None else set(map(str, named))
    odd = sorted(name for name in {*genes, *regulators} if SEPARATOR in name)
    wrong = [Violation("genes", f"names without {SEPARATOR!r}", "others", odd[:_SHOWN], len(odd))] if odd else []
    if len(set(genes)) < len(genes):
        wrong.append(Violation("genes", "each gene once", "a gene that comes again"))
    unknown = sorted(set(truth) - {EDGES, "genes", "regulators"})
    wrong += [Violation(name, "edges, genes and regulators", f"the field {name!r}") for name in unknown]
    if wrong:
        raise ContractError(wrong, what="The truth")
    return rows_of(set(pairs), regulators & set(genes), genes, named=(*genes, *sorted(regulators - set(genes))))


def rows_of(
    edges: Collection[tuple[str, ...]], regulators: Iterable[str], genes: Iterable[str], *, named: Sequence[str]
) -> EvalData:
    """The rows of a universe.

    Args:
        edges: True ones.
        regulators: Where edges may begin.
        genes: Where they may end.
        named: Every name that a predicted edge may have, whether or not it is of the universe.
    """
    universe = candidates(regulators, genes)
    return EvalData(
        {
            "label": np.fromiter((pair in edges for pair in universe), np.int64, len(universe)),
            REGULATOR: np.asarray([a for a, _ in universe], object),
        },
        ids=[edge_id(a, b) for a, b in universe],
        coords={"genes": tuple(named)},
    )
