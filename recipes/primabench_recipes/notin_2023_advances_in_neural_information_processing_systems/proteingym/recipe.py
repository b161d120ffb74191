"""Joins the table of assays with the scans, one file an assay, into labelled, censored and solution bytes."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from primabench_core import CorruptDataError, EvalData
from primabench_recipes.curation.views import three_views
from primabench_recipes.formats.archives import read_members
from primabench_recipes.formats.tables import read_table

if TYPE_CHECKING:
    from pathlib import Path

    from primabench_core.store.artifact import Artifact
    from primabench_core.store.build import BuildContext

TYPES = {"Activity", "Binding", "Expression", "OrganismalFitness", "Stability"}
DEPTHS = {"Low", "Medium", "High"}
DEEPEST = 5
"""Substitutions from which on a variant counts as ``5+``."""
_MUTATION = re.compile(r"^([A-Z])(\d+)([A-Z])$")
Row = dict[str, Any]


def build(context: BuildContext) -> list[Artifact]:
    """Three views: assay and what it is grouped by, wild type, ``mutant``; answers ``value`` and ``label``.

    Variants with indels carry their ``sequence``; that of substitutions follows from wild type and mutant.

    Raises:
        CorruptDataError: an assay has no scan, a selection type is unknown, a substitution does not fit its wild type,
            or a class is neither 0 nor 1.
    """
    indels = context.key.slug.endswith("indels")
    rows: list[Row] = []
    for assay in _assays(context.source("assays.csv")):
        rows += list(_scan(context.source("scans.zip"), assay, indels=indels))
    names = ("assay", "uniprot", "selection", "msa_depth", "taxon", "mutation_depth", "wild_type", "mutant")
    fields: dict[str, Any] = {name: np.array([row[name] for row in rows], object) for name in names}
    if indels:
        fields["sequence"] = np.array([row["sequence"] for row in rows], object)
    fields["value"] = np.array([row["value"] for row in rows])
    fields["label"] = np.array([row["label"] for row in rows], np.int64)
    ids = [f"{row['assay']}:{row['mutant']}" for row in rows]
    if len(set(ids)) != len(ids):
        raise CorruptDataError(f"{len(ids) - len(set(ids))} variants stand twice in their assay")
    return three_views(EvalData(fields, ids=ids), ["value", "label"])


def _assays(path: Path) -> list[Row]:
    table = read_table(path)
    columns = {
        "assay": "DMS_id",
        "file": "DMS_filename",
        "uniprot": "UniProt_ID",
        "selection": "coarse_selection_type",
        "msa_depth": "MSA_Neff_L_category",
        "taxon": "taxon",
        "wild_type": "target_seq",
    }
    texts = {name: [str(v) for v in table.text(column)] for name, column in columns.items()}
    found = [dict(zip(texts, values, strict=True)) for values in zip(*texts.values(), strict=True)]
    for row in found:
        row["msa_depth"] = row["msa_depth"].capitalize()
        if row["selection"] not in TYPES or row["msa_depth"] not in DEPTHS:
            raise CorruptDataError(f"{path.name}, {row['assay']}: {row['selection']!r}, {row['msa_depth']!r}")
    if len({row["assay"] for row in found}) != len(found):
        raise CorruptDataError(f"{path.name} names an assay twice")
    return sorted(found, key=lambda row: row["assay"])


def _scan(archive: Path, assay: Row, *, indels: bool) -> Iterator[Row]:
    shared = {name: value for name, value in assay.items() if name != "file"}
    for _, text in read_members(archive, assay["file"]):
        for number, line in enumerate(csv.DictReader(io.StringIO(text)), 1):
            where = f"{assay['file']}, row {number}"
            try:
                value, label = float(line["DMS_score"]), int(float(line["DMS_score_bin"]))
                mutant = line["mutated_sequence"] if indels else line["mutant"]
            except (KeyError, TypeError, ValueError) as error:
                raise CorruptDataError(f"{where} has no mutant, score or class: {error}") from None
            if not np.isfinite(value) or label not in (0, 1):
                raise CorruptDataError(f"{where}: score {value}, class {label}")
            row = {**shared, "mutant": mutant, "value": value, "label": label}
            row |= {"sequence": mutant, "mutation_depth": "indel"} if indels else _substitutions(mutant, assay, where)
            yield row


def _substitutions(mutant: str, assay: Row, where: str) -> Row:
    """Depth of a variant, each substitution compared with the wild type."""
    parts = mutant.split(":")
    for part in parts:
        found, wild = _MUTATION.match(part), assay["wild_type"]
        if not found or not 1 <= int(found[2]) <= len(wild) or wild[int(found[2]) - 1] != found[1]:
            raise CorruptDataError(f"{where}: {part!r} does not fit the wild type")
    return {"mutation_depth": str(len(parts)) if len(parts) < DEEPEST else f"{DEEPEST}+"}
