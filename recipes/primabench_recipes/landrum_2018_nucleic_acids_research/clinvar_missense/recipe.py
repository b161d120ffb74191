"""Turns a VCF file and a genome into missense variants with their context, the reference base of each checked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from primabench_core import CorruptDataError, EvalData
from primabench_recipes.curation.views import three_views
from primabench_recipes.formats.fasta import iterate_fasta
from primabench_recipes.formats.vcf import Variant, read_vcf

if TYPE_CHECKING:
    from pathlib import Path

    from primabench_core.store.artifact import Artifact
    from primabench_core.store.build import BuildContext

SIDE = 256
"""Bases of context to each side of a variant."""

LABELS = {
    "Pathogenic": 1,
    "Likely_pathogenic": 1,
    "Pathogenic/Likely_pathogenic": 1,
    "Benign": 0,
    "Likely_benign": 0,
    "Benign/Likely_benign": 0,
}
"""``CLNSIG`` -> label; anything else is no clear answer and is left out."""

CIRCULAR = "M"


def build(context: BuildContext) -> list[Artifact]:
    """Three views: place, ``ref``, ``alt``, ``gene``, ``window``; answers ``label``, ``significance``, ``review``.

    Raises:
        CorruptDataError: a reference base is not the genome's, a variant stands twice, or one class is absent.
    """
    variants = sorted(chosen(context.source("clinvar.vcf.gz")), key=_order)
    labels = [LABELS[variant.info["CLNSIG"]] for variant in variants]
    if set(labels) != {0, 1}:
        raise CorruptDataError("the VCF file holds no missense variants of both classes")
    windows = read_windows(context.source("genome.fa.gz"), variants)
    texts = {
        "chrom": [short_name(v.chrom) for v in variants],
        "ref": [v.ref for v in variants],
        "alt": [v.alt for v in variants],
        "gene": [gene_of(v) for v in variants],
        "window": windows,
        "significance": [v.info["CLNSIG"] for v in variants],
        "review": [v.info.get("CLNREVSTAT", "not stated") for v in variants],
    }
    fields: dict[str, Any] = {name: np.array(values, dtype=object) for name, values in texts.items()}
    fields |= {"pos": np.array([v.pos for v in variants], np.int64), "label": np.array(labels, np.int64)}
    ids = [f"{short_name(v.chrom)}:{v.pos}:{v.ref}:{v.alt}" for v in variants]
    if len(set(ids)) != len(ids):
        raise CorruptDataError("a variant stands twice in the VCF file")
    said = {"assembly": "GRCh38", "pos": "from 1", "window": f"{SIDE} bases to each side, N beyond the ends"}
    return three_views(EvalData(fields, ids=ids), ["label", "significance", "review"], attributes=said)


def chosen(path: Path) -> Iterator[Variant]:
    """Missense changes of one base with a clear label."""
    for variant in read_vcf(path):
        single = len(variant.ref) == len(variant.alt) == 1 and {variant.ref, variant.alt} <= set("ACGT")
        if single and "missense_variant" in variant.info.get("MC", "") and variant.info.get("CLNSIG") in LABELS:
            yield variant


def gene_of(variant: Variant) -> str:
    """The first gene of ``GENEINFO``, which reads ``SYMBOL:number|…``; empty where there is none."""
    return variant.info.get("GENEINFO", "").partition(":")[0]


def short_name(chrom: str) -> str:
    """A chromosome without prefix, the mitochondrial one as M: ``chr1`` and ``1`` are one."""
    name = chrom.removeprefix("chr")
    return CIRCULAR if name == "MT" else name


def _order(variant: Variant) -> tuple[str, int, str, str]:
    return (short_name(variant.chrom), variant.pos, variant.ref, variant.alt)


def read_windows(genome: Path, variants: list[Variant]) -> list[str]:
    """The reference around each variant, one chromosome in memory at a time.

    Raises:
        CorruptDataError: a chromosome is absent, or a reference base is another one.
    """
    waiting: dict[str, list[int]] = {}
    for place, variant in enumerate(variants):
        waiting.setdefault(short_name(variant.chrom), []).append(place)
    found = [""] * len(variants)
    for entry in iterate_fasta(genome):
        name = short_name(entry.name)
        for place in waiting.pop(name, ()):
            variant = variants[place]
            base = entry.letters[variant.pos - 1 : variant.pos].upper()
            if base != variant.ref:
                raise CorruptDataError(
                    f"variant {variant.name} at {variant.chrom}:{variant.pos} says the reference is {variant.ref}, "
                    f"the genome has {base or 'nothing'}"
                )
            found[place] = window(entry.letters, variant.pos - 1, circular=name == CIRCULAR)
        if not waiting:
            break
    if waiting:
        raise CorruptDataError(f"{genome.name} has no chromosome {min(waiting)}")
    return found


def window(letters: str, centre: int, *, circular: bool = False, side: int = SIDE) -> str:
    """``side`` bases before, the base at ``centre`` (from 0), ``side`` bases behind, upper case.

    Example:
        >>> window("ACGTA", 0, side=2), window("ACGTA", 0, side=2, circular=True)
        ('NNACG', 'TAACG')
    """
    if circular:
        return "".join(letters[i % len(letters)] for i in range(centre - side, centre + side + 1)).upper()
    before, behind = letters[max(0, centre - side) : centre], letters[centre : centre + side + 1]
    return before.rjust(side, "N").upper() + behind.ljust(side + 1, "N").upper()
