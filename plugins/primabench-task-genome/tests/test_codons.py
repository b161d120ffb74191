"""Genetic codes, frames and distances against what ClinVar and the literature say."""

from __future__ import annotations

import csv
import math

import numpy as np
import pytest
from primabench_task_genome.baselines import variants
from primabench_task_genome.codons import (
    GENETIC_CODES,
    MITOCHONDRIAL_GENES,
    amino_acids,
    grantham,
    mitochondrial_frames,
    severity,
)

from primabench_core import EvalData, UsageError


def rows_of(real):
    with (real / "variant_effect/clinvar_mt_missense/clinvar_mt_missense.csv").open() as stream:
        return list(csv.DictReader(stream))


def test_protein_changes_of_all_clinvar_variants_are_found_again(real, rcrs):
    for row in rows_of(real):
        at = int(row["pos"]) - 1
        gene, _, change = row["protein_change"].partition(":")
        frame, strand = next((f, s) for g, f, s in mitochondrial_frames(at + 1) if g == gene)
        found = amino_acids(rcrs[at - 2 : at], row["alt"], rcrs[at + 1 : at + 3], row["ref"], frame, strand, 2)
        assert found == (change[0], change[-1]), row
        first, last, direction = MITOCHONDRIAL_GENES[gene]
        number = (at + 1 - first if direction == "+" else last - at - 1) // 3 + 1
        assert change[1:-1] == str(number)


def test_the_nuclear_code_would_be_wrong():
    differ = {codon for codon in GENETIC_CODES[1] if GENETIC_CODES[1][codon] != GENETIC_CODES[2][codon]}
    assert differ == {"TGA", "ATA", "AGA", "AGG"}
    assert severity("TG", "A", "AA", "G", 2, "+", 1) == 250.0  # TGG -> TGA: a stop in the nucleus
    assert severity("TG", "A", "AA", "G", 2, "+", 2) == 0.0  # tryptophan in mitochondria


def test_grantham_distances_of_the_paper():
    known = {"SR": 110, "LI": 5, "CW": 215, "DE": 45, "AV": 64, "KR": 26, "FY": 22, "GW": 184, "PL": 98, "IM": 10}
    for pair, distance in known.items():
        assert abs(grantham(*pair) - distance) < 1.2, pair
        assert grantham(*pair) == grantham(*pair[::-1])
    assert max(grantham(a, b) for a in "ARNDCQEGHILKMFPSTWYV" for b in "ARNDCQEGHILKMFPSTWYV") < 250


def test_unknown_bases_say_nothing():
    assert severity("NN", "A", "NN", "C", 1, "+", 1) == 0.0
    assert mitochondrial_frames(1) == []


@pytest.fixture
def clinvar(real, rcrs):
    rows = rows_of(real)
    pos = [int(r["pos"]) for r in rows]
    columns = {name: np.asarray([r[name] for r in rows], object) for name in ("ref", "alt")}
    columns |= {"chrom": np.full(len(rows), "M", object), "pos": np.asarray(pos)}
    columns["window"] = np.asarray([rcrs[p - 1 - 8 : p + 8] for p in pos], object)
    return EvalData(columns, ids=[f"M:{r['pos']}:{r['ref']}:{r['alt']}" for r in rows])


def test_codon_severity_reads_mitochondrial_variants_in_their_frame(clinvar, rcrs):
    found = variants.codon_severity(None, clinvar)["score"]
    assert (found > 0).all()  # all are missense
    for row in (0, 100, 472):
        at = int(clinvar["pos"][row]) - 1
        expected = max(
            severity(rcrs[at - 2 : at], clinvar["alt"][row], rcrs[at + 1 : at + 3], clinvar["ref"][row], f, s, 2)
            for _, f, s in mitochondrial_frames(at + 1)
        )
        assert math.isclose(found[row], expected)


def test_nuclear_variants_without_a_frame_get_the_worst_of_six(clinvar):
    fields = {**clinvar.fields, "chrom": np.full(clinvar.n, "1", object)}
    found = variants.codon_severity(None, EvalData(fields, ids=clinvar.ids))["score"]
    assert (found >= 0).all()
    assert len(set(found.tolist())) > 20
    longer = {**fields, "alt": np.full(clinvar.n, "AC", object)}
    assert not variants.codon_severity(None, EvalData(longer, ids=clinvar.ids))["score"].any()


def test_transversions_and_changes_of_length_score_one():
    data = EvalData({"ref": np.asarray([*list("AAGC"), "A"], object), "alt": np.asarray([*list("GCTT"), "AC"], object)})
    assert variants.transversion(None, data)["score"].tolist() == [0, 1, 1, 0, 1]
    with pytest.raises(UsageError, match="'window'"):
        variants.codon_severity(None, EvalData({"chrom": ["1"], "pos": [1], "ref": ["A"], "alt": ["C"]}))
