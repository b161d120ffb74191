"""The leak audit: what of the test data a model may have met in training, in numbers.

It counts exact duplicates (and, for DNA, reverse-complement ones) within and across splits and whether their labels
agree, near duplicates (by k-mers, of sequences) across splits, groups that stand on both sides (donors, genes,
proteins, families, chromosomes, scaffolds …), and the balance of the classes. It does not look for remote homologs; a
source that removed them says so on its card.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from primabench_core import EvalData
from primabench_recipes.curation import scaffolds
from primabench_recipes.curation.card import AuditPlan
from primabench_recipes.curation.near import LEAST, rows_of, with_a_near_one
from primabench_recipes.formats.fasta import reverse_complement

_SHOWN = 12
"""Classes that are listed one by one."""


def audit(parts: Mapping[str, EvalData], plan: AuditPlan) -> list[str]:
    """Findings as sentences, in a fixed order.

    Args:
        parts: Rows with their answers, by split; one entry named "" where the source publishes none.
        plan: What to look at.

    Example:
        >>> train = EvalData({"s": ["ACG", "TTT"], "y": [0, 1]}, ids=["a", "b"])
        >>> test = EvalData({"s": ["CGT", "TTT"], "y": [0, 1]}, ids=["c", "d"])
        >>> plan = AuditPlan(identity=["s"], label="y", reverse_complement=True)
        >>> [line for line in audit({"train": train, "test": test}, plan) if "test rows" in line]
        ['test rows identical to a train row: 1 of 2 (50.0 %)', 'test rows whose reverse complement is a train row: \
1 of 2 (50.0 %)']
    """
    lines = ["rows: " + ", ".join(f"{name or 'all'} {part.n:,}" for name, part in parts.items())]
    if plan.label:
        lines += [_balance(name, part[plan.label], plan.label) for name, part in parts.items()]
    if plan.identity:
        lines += _duplicates(parts, plan)
    if plan.near:
        lines += _near(parts, plan)
    for group in plan.groups:
        lines += _group(parts, group)
    if plan.smiles:
        lines += _scaffolds(parts, plan.smiles)
    if plan.reference:
        lines += [_reference(name, part, *plan.reference) for name, part in parts.items()]
    lines.append(f"public truth: {plan.public_truth or 'none that we know of'}")
    return lines


def _balance(name: str, values: Any, label: str) -> str:
    where = f" in {name}" if name else ""
    if hasattr(values, "counts"):
        counts = np.asarray(values.counts)
        return f"`{label}`{where}: {int(counts.sum()):,} entries, {counts.min()} to {counts.max()} a row"
    if values.ndim > 1:
        return f"`{label}`{where}: {values.shape[1]:,} columns, values {values.min():.4g} to {values.max():.4g}"
    if values.dtype.kind == "f" and len(np.unique(values)) > _SHOWN:
        low, middle, high = np.nanquantile(values, (0, 0.5, 1))
        missing = int(np.isnan(values).sum())
        common = Counter(values[~np.isnan(values)].tolist()).most_common(1)[0]
        ties = f", {common[1] / len(values):.0%} of them at {common[0]:.4g}" if common[1] > len(values) / 20 else ""
        return f"`{label}`{where}: {low:.4g} to {high:.4g}, median {middle:.4g}{ties}" + (
            f", {missing:,} missing" if missing else ""
        )
    found = Counter(str(value) for value in values.tolist())
    if len(found) > _SHOWN:
        sizes = sorted(found.values())
        return f"`{label}`{where}: {len(found):,} classes of {sizes[0]:,} to {sizes[-1]:,} rows"
    return f"`{label}`{where}: " + ", ".join(f"{key} {n:,}" for key, n in sorted(found.items()))


def keys_of(part: EvalData, fields: tuple[str, ...]) -> list[Any]:
    """What stands for a row: text or value, bytes where it is wide, a tuple where there are several fields."""
    columns = [_comparable(part[name]) for name in fields]
    return columns[0] if len(columns) == 1 else list(zip(*columns, strict=True))


def _comparable(value: Any) -> list[Any]:
    if hasattr(value, "indptr"):
        rows = [value[i] for i in range(value.shape[0])]
        return [(row.indices.tobytes(), row.data.tobytes()) for row in rows]
    return [row.tobytes() for row in value] if value.ndim > 1 else value.tolist()


def _duplicates(parts: Mapping[str, EvalData], plan: AuditPlan) -> list[str]:
    keys = {name: keys_of(part, plan.identity) for name, part in parts.items()}
    lines = []
    for name, found in keys.items():
        counts = Counter(found)
        extra = sum(n - 1 for n in counts.values())
        line = f"duplicates within {name or 'the data'}: {extra:,}"
        if plan.label and extra and getattr(parts[name][plan.label], "ndim", 0) == 1:
            answers: dict[Any, set[str]] = {}
            for key, answer in zip(found, parts[name][plan.label].tolist(), strict=True):
                answers.setdefault(key, set()).add(str(answer))
            line += f" (different `{plan.label}` in {sum(len(a) > 1 for a in answers.values()):,} cases)"
        lines.append(line)
    names = list(parts)
    for place, test in enumerate(names):
        for train in names[:place]:
            known = set(keys[train])
            lines.append(_share(f"{test} rows identical to a {train} row", [k in known for k in keys[test]]))
            if plan.reverse_complement:
                turned = {reverse_complement(k) for k in known} - known
                what = f"{test} rows whose reverse complement is a {train} row"
                lines.append(_share(what, [k in turned for k in keys[test]]))
    if len(names) == 1 and plan.reverse_complement:
        known = set(keys[names[0]])
        both = [reverse_complement(k) in known and reverse_complement(k) != k for k in keys[names[0]]]
        lines.append(_share("rows whose reverse complement is a row too", both))
    return lines


def _share(what: str, hits: list[bool]) -> str:
    return f"{what}: {sum(hits):,} of {len(hits):,}" + (f" ({sum(hits) / len(hits):.1%})".replace("%", " %"))


def _near(parts: Mapping[str, EvalData], plan: AuditPlan) -> list[str]:
    texts = {name: [str(v) for v in part[plan.near].tolist()] for name, part in parts.items()}
    names, lines = list(parts), []
    rule = f"Jaccard index of {plan.k}-mers {LEAST} or more, equal ones left out"

    def count(test: list[str], train: list[str]) -> str:
        near = with_a_near_one(test, train, plan.k, both_strands=plan.reverse_complement)
        hits = rows_of(test, near)
        return f"{len(near):,} of {len(set(test)):,}, with {hits / max(len(test), 1):.1%} of the rows".replace(
            "%", " %"
        )

    if len(names) == 1:
        lines.append(
            f"`{plan.near}` with a near one among the data ({rule}): {count(texts[names[0]], texts[names[0]])}"
        )
    for place, test in enumerate(names):
        for train in names[:place]:
            what = f"`{plan.near}` of {test} with a near one in {train} ({rule})"
            lines.append(f"{what}: {count(texts[test], texts[train])}")
    return lines


def _scaffolds(parts: Mapping[str, EvalData], smiles: str) -> list[str]:
    if not scaffolds.can_be_had():
        return [f"scaffolds of `{smiles}`: not looked at, RDKit is not installed (primabench-recipes[chem])"]
    found = {}
    for name, part in parts.items():
        texts = [str(v) for v in part[smiles].tolist()]
        known = scaffolds.scaffolds_of(texts)
        found[name] = Counter(known[text] for text in texts)
    lines = []
    for name, counts in found.items():
        where = f" in {name}" if name else ""
        ringless, unread = counts.get("", 0), counts.get(scaffolds.UNREADABLE, 0)
        kinds = {key: n for key, n in counts.items() if key not in ("", scaffolds.UNREADABLE)}
        most = max(kinds.values(), default=0)
        lines.append(
            f"scaffolds (Bemis-Murcko){where}: {len(kinds):,}, the most frequent one of {most:,} rows; "
            f"{ringless:,} rows without a ring, {unread:,} that RDKit does not read"
        )
        found[name] = Counter(kinds)
    return lines + (_shared("scaffolds", found, parts) if len(parts) > 1 else [])


def _reference(name: str, part: EvalData, allele: str, window: str) -> str:
    pairs = zip(part[allele].tolist(), part[window].tolist(), strict=True)
    hits = [letters[len(letters) // 2 :].startswith(ref) for ref, letters in pairs]
    where = f" of {name}" if name else ""
    return _share(f"reference alleles{where} that the genome has at their place", hits)


def _group(parts: Mapping[str, EvalData], group: str) -> list[str]:
    found = {name: Counter(str(v) for v in part[group].tolist()) for name, part in parts.items()}
    names = list(parts)
    if len(names) == 1:
        sizes = sorted(found[names[0]].values())
        return [f"`{group}`: {len(sizes):,}, of {sizes[0]:,} to {sizes[-1]:,} rows"]
    return _shared(f"`{group}`", found, parts)


def _shared(what: str, found: Mapping[str, Counter[str]], parts: Mapping[str, EvalData]) -> list[str]:
    names, lines = list(parts), []
    for place, test in enumerate(names):
        for train in names[:place]:
            shared = set(found[test]) & set(found[train])
            rows = sum(found[test][key] for key in shared)
            lines.append(
                f"{what} of {test} that stand in {train} too: {len(shared):,} of {len(found[test]):,}, "
                f"with {rows / max(parts[test].n, 1):.1%} of the rows".replace("%", " %")
            )
    return lines
