"""Readers and the audit: what they find, and what they refuse."""

from __future__ import annotations

import zipfile
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from primabench_recipes.curation import exploring, readme, scaffolds
from primabench_recipes.curation.audit import audit
from primabench_recipes.curation.card import AuditPlan
from primabench_recipes.curation.near import LEAST, Sketch, jaccard, with_a_near_one
from primabench_recipes.curation.views import blind_order, censored, published_splits, three_views
from primabench_recipes.formats.archives import read_members
from primabench_recipes.formats.arff import read_arff
from primabench_recipes.formats.fasta import read_fasta, reverse_complement
from primabench_recipes.formats.intervals import read_bed
from primabench_recipes.formats.rna_structures import crossing, parse_dot_bracket
from primabench_recipes.formats.tables import join_tables, read_table

from primabench_core import CorruptDataError, EvalData
from primabench_core.contract.ragged import Ragged


def rows(sequences, labels, **more):
    return EvalData(
        {"s": list(sequences), "y": list(labels), **more}, ids=[f"{id(sequences)}{i}" for i in range(len(labels))]
    )


PLAN = AuditPlan(identity=["s"], label="y", reverse_complement=True, groups=["g"], public_truth="here")


def test_the_audit_counts_what_was_planted():
    train = rows(["ACG", "ACG", "TTT", "GGC"], [0, 1, 0, 1], g=["a", "a", "b", "c"])
    test = rows(["ACG", "CGT", "AAA", "GGG"], [0, 1, 1, 0], g=["a", "d", "d", "c"])
    found = audit({"train": train, "test": test}, PLAN)
    assert "rows: train 4, test 4" in found
    assert "duplicates within train: 1 (different `y` in 1 cases)" in found
    assert "test rows identical to a train row: 1 of 4 (25.0 %)" in found
    assert "test rows whose reverse complement is a train row: 2 of 4 (50.0 %)" in found
    assert "`g` of test that stand in train too: 2 of 3, with 50.0 % of the rows" in found
    assert "public truth: here" in found


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text("ACGT", min_size=1, max_size=3), min_size=1, max_size=20), st.randoms())
def test_the_audit_does_not_depend_on_the_order_of_rows(sequences, random):
    shuffled = sequences[:]
    random.shuffle(shuffled)
    one, two = (rows(s, [len(x) for x in s], g=s) for s in (sequences, shuffled))
    base = rows(["A", "CG"], [1, 2], g=["A", "CG"])
    assert audit({"train": base, "test": one}, PLAN) == audit({"train": base, "test": two}, PLAN)


def test_every_kind_of_field_can_be_audited():
    sparse = pytest.importorskip("scipy.sparse", reason="a sparse identity")
    data = EvalData(
        {
            "x": sparse.csr_matrix(np.array([[1.0, 0], [1, 0], [0, 2]])),
            "pairs": Ragged(np.zeros((3, 2), np.int32), np.array([1, 0, 2])),
            "wide": np.arange(6.0).reshape(3, 2),
            "many": np.arange(3.0),
        }
    )
    assert "duplicates within the data: 1" in audit({"": data}, AuditPlan(identity=["x"]))
    assert any("3 entries, 0 to 2" in line for line in audit({"": data}, AuditPlan(label="pairs")))
    assert any("2 columns" in line for line in audit({"": data}, AuditPlan(label="wide", identity=["wide"])))


def planted(seed, n, letters="ACGT"):
    return "".join(np.random.default_rng(seed).choice(list(letters), n))


def mutated(sequence, places):
    found = list(sequence)
    for place in places:
        found[place] = {"A": "C", "C": "G", "G": "T", "T": "A"}[found[place]]
    return "".join(found)


def test_near_duplicates_are_found_on_both_strands_and_far_ones_are_not():
    one, two, other = (planted(seed, 300) for seed in range(3))
    turned = reverse_complement(mutated(two, [40]))
    train = EvalData({"s": [one, two]}, ids=["a", "b"])
    test = EvalData({"s": [mutated(one, [150]), turned, other, one, mutated(one, range(0, 300, 9))]}, ids=list("cdefg"))
    plan = AuditPlan(identity=["s"], near="s", reverse_complement=True)
    found = audit({"train": train, "test": test}, plan)
    assert any("`s` of test with a near one in train" in x and ": 2 of 5, with 40.0 % of the rows" in x for x in found)
    one_strand = audit({"train": train, "test": test}, AuditPlan(near="s"))
    assert any(": 1 of 5, with 20.0 % of the rows" in line for line in one_strand)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 12), st.integers(60, 200), st.sampled_from([5, 8, 12]))
def test_near_is_the_jaccard_index_of_kmers(seed, changes, n, k):
    """Against sets of text: sketches only choose whom to compare."""
    one = planted(seed, n)
    two = mutated(one, np.random.default_rng(seed + 1).choice(n, changes, replace=False))
    a, b = ({s[i : i + k] for i in range(len(s) - k + 1)} for s in (one, two))
    index = len(a & b) / len(a | b)
    assert jaccard(Sketch.of(one, k), Sketch.of(two, k)) == index
    assert with_a_near_one([two], [one], k) == ({two} if index >= LEAST and one != two else set())


def test_short_sequences_are_near_nobody():
    assert with_a_near_one(["ACG", ""], ["ACGA", "ACG"], 12) == set()


def test_scaffolds_tie_molecules_together():
    pytest.importorskip("rdkit", reason="scaffolds")
    train = EvalData({"smiles": ["CCc1ccccc1", "CCO", "C1CCNCC1"]}, ids=["a", "b", "c"])
    test = EvalData({"smiles": ["Oc1ccccc1", "c1ccc2ccccc2c1", "CC", "not a molecule"]}, ids=["d", "e", "f", "g"])
    found = audit({"train": train, "test": test}, AuditPlan(smiles="smiles"))
    said = "scaffolds (Bemis-Murcko) in test: 2, the most frequent one of 1 rows; 1 rows without a ring, 1 that RDKit"
    assert any(said in line for line in found)
    assert "scaffolds of test that stand in train too: 1 of 2, with 25.0 % of the rows" in found


def test_without_rdkit_the_audit_says_that_it_did_not_look(monkeypatch):
    monkeypatch.setattr(scaffolds, "can_be_had", lambda: False)
    data = EvalData({"smiles": ["CC"]}, ids=["a"])
    assert any("not looked at" in line for line in audit({"": data}, AuditPlan(smiles="smiles")))


@given(st.text("ACGTRYKMSWBDHVN", max_size=30))
def test_two_turns_are_none(letters):
    assert reverse_complement(reverse_complement(letters)) == letters


@given(st.lists(st.text("ACGT", min_size=1, max_size=4), max_size=30), st.randoms())
def test_the_blind_order_follows_from_content_alone(words, random):
    shuffled = words[:]
    random.shuffle(shuffled)
    assert [words[i] for i in blind_order(words)] == [shuffled[i] for i in blind_order(shuffled)]
    digests = [sha256(words[i].encode()).digest() for i in blind_order(words)]
    assert digests == sorted(digests)


@given(st.text("()[]{}.", max_size=24))
def test_dot_brackets_are_balanced_or_refused(brackets):
    try:
        found = parse_dot_bracket("N" * len(brackets), brackets, "x")
    except CorruptDataError:
        kinds = [brackets.count(a) - brackets.count(b) for a, b in ("()", "[]", "{}")]
        prefix = [brackets[:i].count(b) > brackets[:i].count(a) for a, b in ("()", "[]", "{}") for i in range(25)]
        assert any(kinds) or any(prefix)
        return
    assert 2 * len(found.pairs) == len(brackets) - brackets.count(".")
    assert len(set(found.pairs.ravel().tolist())) == 2 * len(found.pairs)
    assert (found.pairs[:, 0] < found.pairs[:, 1]).all()
    if "[" not in brackets and "{" not in brackets:
        assert crossing(found.pairs) == 0


def test_each_kind_of_answer_has_a_missing_value():
    data = EvalData(
        {
            "text": ["a", "b"],
            "whole": [1, 2],
            "real": np.array([1, 2], np.float32),
            "wide": np.ones((2, 3)),
            "ragged": Ragged(np.ones((3, 2)), np.array([1, 2])),
            "kept": [5, 6],
        },
        ids=["r", "s"],
    )
    hidden = censored(data, ["text", "whole", "real", "wide", "ragged"])
    assert hidden["text"].tolist() == [None, None]
    assert np.isnan(hidden["whole"]).all()
    assert hidden["real"].dtype == np.float32
    assert np.isnan(hidden["wide"]).all()
    assert hidden["ragged"].counts.tolist() == [0, 0]
    assert hidden["kept"].tolist() == [5, 6]
    assert three_views(data, ["text"])[0].is_private


def test_an_id_in_two_splits_is_refused():
    data = EvalData({"y": [1]}, ids=["a"])
    with pytest.raises(ValueError, match="two splits"):
        published_splits({"train": data, "test": data}, ["y"])


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("text", "said"),
    [("a,a\n1,2\n", "twice"), ("a,b\n1\n", "row 1 has 1 fields"), ("a,b\n1,2,3\n", "has 3 fields")],
)
def test_tables_that_are_no_tables_are_refused(tmp_path, text, said):
    with pytest.raises(CorruptDataError, match=said):
        read_table(write(tmp_path / "t.csv", text))


def test_columns_are_what_they_are_asked_to_be(tmp_path):
    table = read_table(write(tmp_path / "t.csv", "a,b,c\n1,1.0,x\n2,,y\n"))
    assert table.integers("a").tolist() == [1, 2]
    assert np.isnan(table.numbers("b", missing=[""])[1])
    for wrong in (
        lambda: table.numbers("b"),
        lambda: table.text("b"),
        lambda: table.integers("c"),
        lambda: table.text("d"),
    ):
        with pytest.raises(CorruptDataError):
            wrong()
    assert join_tables([table, table]).n == 4
    with pytest.raises(CorruptDataError, match="other columns"):
        join_tables([table, read_table(write(tmp_path / "u.csv", "a,b\n1,2\n"))])


def test_damaged_files_are_named(tmp_path):
    (tmp_path / "latin.csv").write_bytes(b"a,b\n\xe9,1\n")
    with pytest.raises(CorruptDataError, match=r"latin\.csv is damaged"):
        read_table(tmp_path / "latin.csv")
    with pytest.raises(CorruptDataError, match="no FASTA"):
        read_fasta(write(tmp_path / "x.fa", "ACGT\n"))
    with pytest.raises(CorruptDataError, match="no letters"):
        read_fasta(write(tmp_path / "x.fa", ">a\n>b\nACGT\n"))
    for line in ("chr1\t5\t5", "chr1\tx\t7", "chr1 1 2", "chr1\t9\t2"):
        with pytest.raises(CorruptDataError, match="no interval"):
            read_bed(write(tmp_path / "x.bed", f"track name=x\n{line}\n"))
    with pytest.raises(CorruptDataError, match="declared levels"):
        read_arff(write(tmp_path / "x.arff", "@attribute a {x, y}\n@data\nz\n"))
    with pytest.raises(CorruptDataError, match="unpacked"):
        list(read_members(write(tmp_path / "x.tar.gz", "no archive"), "*"))


def test_narrow_peaks_keep_their_columns(real):
    found = read_bed(real / "epigenomics/ctcf_chipseq_chr22/macs3_narrow0_peaks.narrowPeak")
    assert len(found.start) == 405
    summits = found.column(10).astype(int)
    assert ((summits >= 0) & (summits < found.end - found.start)).all()
    with pytest.raises(CorruptDataError, match="column 11"):
        found.column(11)


def test_a_bomb_in_an_archive_is_not_unpacked(tmp_path):
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("x.data", "w") as member:
        for _ in range(300):
            member.write(b"\0" * (1 << 20))
    with pytest.raises(CorruptDataError, match="unpacks to"):
        list(read_members(path, "x.data"))


def test_generated_parts_are_replaced_and_nothing_else():
    text = "a\n<!-- generated: x -->\nold\n<!-- end: x -->\nb"
    assert readme.replace(text, "x", r"new \1") == "a\n<!-- generated: x -->\nnew \\1\n<!-- end: x -->\nb"
    assert readme.between(readme.replace(text, "x", "new"), "x") == "new"
    with pytest.raises(ValueError, match="no <!--"):
        readme.replace("a", "x", "new")


def test_a_curator_sees_everything_and_the_audit():
    from primabench_recipes.pedregosa_2011_journal_of_machine_learning_research.wisconsin_diagnostic.card import (
        AUDIT,
        RECIPE,
    )

    pytest.importorskip("sklearn", reason="carries the file")
    text = exploring.report(RECIPE, AUDIT)
    for said in (
        "labelled/data.zarr (private): 569 rows",
        "float64 (569, 30)",
        "leak audit",
        "benign 357, malignant 212",
    ):
        assert said in text
