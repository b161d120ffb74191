"""Windows of the circular genome: all ClinVar missense variants, and made ones at every awkward place."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from primabench_task_genome import Genome, get_sequences, read_variants
from slow_windows import slow_windows

import primabench_core as pb

LENGTHS = (9, 1_000, 16_001)
PLACES = (1, 2, 3106, 3107, 3108, 16_568, 16_569)


@pytest.fixture(scope="module")
def clinvar(real):
    rows = []
    for name in ("clinvar_mt_missense", "clinvar_mt_missense_unlabelled"):
        with (real / f"variant_effect/clinvar_mt_missense/{name}.csv").open() as stream:
            rows += list(csv.DictReader(stream))
    assert len(rows) == 819
    return {
        "chrom": [r["chrom"] for r in rows],
        "pos": [int(r["pos"]) for r in rows],
        "ref": [r["ref"] for r in rows],
        "alt": [r["alt"] for r in rows],
    }


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("circular", [True, False])
def test_all_819_windows_are_slices_of_the_doubled_sequence(clinvar, mitochondrion, rcrs, length, circular):
    found = get_sequences(clinvar, mitochondrion, length, circular=circular)
    around = rcrs * 3 if circular else "N" * len(rcrs) + rcrs + "N" * len(rcrs)
    centre = length // 2
    assert found.n == 819
    for i in range(found.n):
        start = len(rcrs) + clinvar["pos"][i] - 1 - centre
        plain = around[start : start + length]
        assert found.ref_seq[i] == plain
        assert plain[centre] == clinvar["ref"][i]
        assert found.alt_seq[i] == plain[:centre] + clinvar["alt"][i] + plain[centre + 1 :]
    assert set(found.variant_index.tolist()) == {centre}


def made(rcrs, circular):
    """Substitutions, insertions and deletions at the awkward places."""
    rows = []
    for pos in PLACES:
        base = rcrs[pos - 1]
        other = "A" if base != "A" else "C"
        rows += [(pos, base, other), (pos, base, base + "TTGA"), (pos, base, other + "TTGA")]
        for size in (2, 5):
            ref = (rcrs + rcrs)[pos - 1 : pos - 1 + size]
            if circular or pos - 1 + size <= len(rcrs):
                rows += [(pos, ref, ref[0] if ref[0] != "N" else "A"), (pos, ref, ref[-1] if ref[-1] != "N" else "A")]
    return [row for row in rows if row[1] != row[2]]


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("circular", [True, False])
@pytest.mark.parametrize("strand", ["+", "-"])
def test_made_variants_at_the_origin_and_at_the_placeholder(mitochondrion, rcrs, length, circular, strand):
    rows = made(rcrs, circular)
    pos, ref, alt = map(list, zip(*rows, strict=True))
    genome = Genome(mitochondrion, circular=circular)
    table = {"chrom": ["chrM"] * len(rows), "pos": pos, "ref": ref, "alt": alt}
    found = get_sequences(table, genome, length, strand=strand)
    some = range(len(rows)) if length < 5_000 else range(0, len(rows), 5)
    for i in some:
        expected = slow_windows(rcrs, *rows[i], length, strand=strand, circular=circular)
        assert (found.ref_seq[i], found.alt_seq[i], found.variant_index[i]) == expected


def test_a_deletion_through_the_origin_needs_a_circle(mitochondrion, rcrs):
    table = {"chrom": ["MT"], "pos": [16_569], "ref": [rcrs[-1] + rcrs[0]], "alt": [rcrs[-1]]}
    assert get_sequences(table, mitochondrion, 6, circular=["MT"]).alt_seq[0] == rcrs[-4:] + rcrs[1:3]
    with pytest.raises(pb.ContractError, match="beyond its end"):
        get_sequences(table, mitochondrion, 6)


def test_the_placeholder_is_n_and_only_n(mitochondrion, rcrs):
    assert rcrs[3106] == "N"
    table = {"chrom": ["MT"], "pos": [3107], "ref": ["C"], "alt": ["T"]}
    with pytest.raises(pb.ContractError, match="masked"):
        get_sequences(table, mitochondrion, 9)


def test_zero_based_positions_are_noticed(clinvar, mitochondrion):
    shifted = {**clinvar, "pos": [p - 1 for p in clinvar["pos"]]}
    with pytest.raises(pb.ContractError, match="counted from 1"):
        get_sequences(shifted, mitochondrion, 9)


def test_the_vcf_file_says_the_same_as_the_table(real, mitochondrion):
    folder = real / "variant_effect/clinvar_mt_missense"
    with (folder / "clinvar_mt_missense.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    from_file = get_sequences(folder / "clinvar_mt_missense.vcf", mitochondrion, 101, encoding="codes")
    table = {name: [r[name] for r in rows] for name in ("chrom", "ref", "alt")} | {"pos": [int(r["pos"]) for r in rows]}
    by_id = dict(zip(from_file.ids, from_file.alt_seq, strict=True))
    from_table = get_sequences(table, mitochondrion, 101, encoding="codes")
    assert len(by_id) == 473
    assert all(np.array_equal(by_id[i], w) for i, w in zip(from_table.ids, from_table.alt_seq, strict=True))
    assert read_variants(folder / "clinvar_mt_missense.vcf").n == 473
