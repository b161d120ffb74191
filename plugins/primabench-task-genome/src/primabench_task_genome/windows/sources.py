"""Reads variants: VCF files, tables, mappings, EvalData, Zarr stores."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from primabench_core import CorruptDataError, EvalData, MissingDataError, UsageError
from primabench_task_genome.windows.variants import Variants

if TYPE_CHECKING:
    import pandas as pd

Readable: TypeAlias = "Variants | str | Path | pd.DataFrame | Mapping[str, Any] | EvalData"
"""What :func:`read_variants` takes."""

COLUMNS = ("chrom", "pos", "ref", "alt")


def read_variants(variants: Readable, *, strand: Any = "+", anchor: Any = None) -> Variants:
    """Variants of anything that holds them.

    Args:
        variants: A VCF file (``.vcf``, ``.vcf.gz``, ``.bcf``; path or URL), a Zarr store with the columns ``chrom``,
            ``pos``, ``ref``, ``alt`` or in the layout of VCF Zarr, a pandas table, a mapping of columns, an EvalData.
        strand: ``+`` or ``-``, one for all or one a row.
        anchor: Positions from 1, one a row.

    Raises:
        UsageError: a column is absent, or this is nothing of the kind.
        MissingDataError: there is no such file.
        CorruptDataError: it is no VCF file or holds no variants.

    Example:
        >>> read_variants({"chrom": ["MT"], "pos": [3243], "ref": ["A"], "alt": ["G"]}).name(0)
        'MT:3243:A:G'
    """
    if isinstance(variants, Variants):
        if strand != "+" or anchor is not None:
            raise UsageError("variants that were read already have their strand and anchor")
        return variants
    columns = _columns(variants)
    if isinstance(strand, str) and strand in columns:
        strand = columns[strand]
    return Variants.of(*(columns[name] for name in COLUMNS), strand=strand, anchor=anchor)


def _columns(variants: Any) -> Mapping[str, Any]:
    if isinstance(variants, str | Path):
        text = str(variants)
        bare = text.rstrip("/")
        if bare.endswith((".vcf", ".vcf.gz", ".vcf.bgz", ".bcf")):
            return _vcf(text)
        if bare.endswith(".zarr") or Path(text, "zarr.json").is_file() or Path(text, ".zgroup").is_file():
            return _zarr(bare)
        raise UsageError(f"{text} is neither a VCF file (.vcf, .vcf.gz, .bcf) nor a Zarr store")
    if isinstance(variants, EvalData):
        return _checked({name: variants[name] for name in variants.fields}, "the EvalData")
    if isinstance(variants, Mapping):
        return _checked(variants, "the mapping")
    if type(variants).__module__.partition(".")[0] == "pandas" and hasattr(variants, "columns"):
        return _checked({str(name): variants[name].tolist() for name in variants.columns}, "the table")
    raise UsageError(f"variants are a VCF file, a table or a Zarr store, not {type(variants).__name__}")


def _checked(columns: Mapping[str, Any], what: str) -> Mapping[str, Any]:
    absent = [name for name in COLUMNS if name not in columns]
    if absent:
        known = ", ".join(map(repr, columns))
        raise UsageError(f"{what} has no column {absent[0]!r}; it has {known or 'none'}")
    return columns


def _vcf(place: str) -> dict[str, list[Any]]:
    """Columns of a VCF file; ``alt`` is a list of alleles."""
    import pysam

    with tempfile.TemporaryDirectory() as folder:
        path = place
        if "://" in place or "::" in place:
            import fsspec

            path = str(Path(folder, place.rsplit("/", 1)[-1]))
            try:
                with fsspec.open(place, "rb") as remote, Path(path).open("wb") as local:
                    while piece := remote.read(1 << 22):
                        local.write(piece)
            except (ValueError, ImportError) as error:
                raise UsageError(f"{place} is no URL that fsspec can read: {error}") from error
            except OSError as error:
                raise MissingDataError(f"{place} cannot be read: {error}") from error
        elif not Path(path).is_file():
            raise MissingDataError(f"there is no VCF file {path}")
        columns: dict[str, list[Any]] = {name: [] for name in COLUMNS}
        level = pysam.set_verbosity(0)  # a header without contigs is legal, and said on stderr otherwise
        try:
            with pysam.VariantFile(path) as stream:
                for record in stream:
                    columns["chrom"].append(record.chrom)
                    columns["pos"].append(record.pos)
                    columns["ref"].append(record.ref)
                    columns["alt"].append(record.alts or ("",))
        except (OSError, ValueError) as error:
            raise CorruptDataError(f"{place} cannot be read as a VCF file: {error}") from error
        finally:
            pysam.set_verbosity(level)
    return columns


def _zarr(place: str) -> Mapping[str, Any]:
    """Columns of a Zarr store: one array a column, an EvalData, or the layout of VCF Zarr."""
    import zarr

    try:
        group = zarr.open_group(place, mode="r")
    except (FileNotFoundError, OSError) as error:
        raise MissingDataError(f"there is no Zarr store {place}") from error
    if "variant_position" in group and "variant_allele" in group:
        return _vcf_zarr(group)
    from primabench_core import load

    if all(name in group for name in COLUMNS) and all(hasattr(group[name], "dtype") for name in COLUMNS):
        found = {name: np.asarray(group[name][:]) for name in COLUMNS}
        if found["chrom"].dtype.kind in "OUT":
            return found
    opened = load(place)
    return _checked({name: opened[name] for name in opened.fields}, f"the store {place}")


def _vcf_zarr(group: Any) -> dict[str, Any]:
    """VCF Zarr: contigs by number, alleles as a table whose first column is the reference."""
    contigs = [str(c) for c in np.asarray(group["contig_id"][:]).tolist()]
    alleles = np.asarray(group["variant_allele"][:]).tolist()
    return {
        # -1 stands for no contig: such a row is refused, not read as the last one
        "chrom": [
            contigs[i] if 0 <= i < len(contigs) else None for i in np.asarray(group["variant_contig"][:]).tolist()
        ],
        "pos": np.asarray(group["variant_position"][:]),
        "ref": [str(row[0]) for row in alleles],
        "alt": [[str(a) for a in row[1:] if a not in ("", ".", None)] for row in alleles],
    }
