"""Windows agree with a base-by-base oracle for every kind of variant, place, strand, genome and encoding."""

from __future__ import annotations

import pickle
from time import perf_counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from primabench_task_genome import Genome, Variants, get_sequences, iter_sequences, left_normalise, par_to_x
from primabench_task_genome.windows import cutting, sequences
from primabench_task_genome.windows.variants import Problems
from slow_windows import slow_windows

import primabench_core as pb

LETTERS = "ACGT"


@st.composite
def questions(draw):
    genome = draw(st.text("ACGTNacgt", min_size=3, max_size=40))
    length = draw(st.integers(1, 60))
    circular, anchored = draw(st.booleans()), draw(st.booleans())
    rows = []
    for _ in range(draw(st.integers(1, 8))):
        pos = draw(st.integers(1, len(genome)))
        most = len(genome) - 1 if circular else len(genome) - pos + 1
        size = draw(st.integers(1, max(1, min(6, most))))
        ref = "".join(genome[(pos - 1 + i) % len(genome)] for i in range(size)).upper()
        alt = draw(st.text(LETTERS, min_size=1, max_size=6).filter(lambda a, ref=ref: a != ref))
        rows.append((pos, ref, alt, draw(st.sampled_from("+-")), draw(st.integers(1, len(genome)))))
    return genome, length, circular, anchored, rows


@settings(max_examples=200, deadline=None)
@given(questions())
def test_windows_are_those_of_the_oracle(question):
    genome, length, circular, anchored, rows = question
    pos, ref, alt, strand, anchor = map(list, zip(*rows, strict=True))
    table = {"chrom": ["7"] * len(rows), "pos": pos, "ref": ref, "alt": alt}
    found = get_sequences(
        table, {"chr7": genome}, length, strand=strand, circular=circular, anchor=anchor if anchored else None
    )
    for i, row in enumerate(rows):
        expected = slow_windows(
            genome.upper(), *row[:3], length, strand=row[3], circular=circular, anchor=row[4] if anchored else None
        )
        assert (found.ref_seq[i], found.alt_seq[i], found.variant_index[i]) == expected


@settings(max_examples=30, deadline=None)
@given(questions(), st.integers(1, 9))
def test_encodings_batches_and_blocks_say_the_same(question, batch_size):
    genome, length, circular, _, rows = question
    pos, ref, alt, strand, _ = map(list, zip(*rows, strict=True))
    table = {"chrom": ["7"] * len(rows), "pos": pos, "ref": ref, "alt": alt}
    options = {"strand": strand, "circular": circular}
    text = get_sequences(table, {"7": genome}, length, **options)
    codes = get_sequences(table, {"7": genome}, length, encoding="codes", **options)
    hot = get_sequences(table, {"7": genome}, length, encoding="one_hot", **options)
    for side in ("ref_seq", "alt_seq"):
        spelt = [["ACGTN".index(c) for c in window] for window in getattr(text, side)]
        assert getattr(codes, side).tolist() == spelt
        expected = np.eye(5, dtype=np.uint8)[np.asarray(spelt).reshape(len(rows), length)][..., :4]
        assert np.array_equal(getattr(hot, side), expected)
    batches = iter_sequences(table, {"7": genome}, length, batch_size=batch_size, encoding="text", **options)
    assert [w for b in batches for w in b.alt_seq] == text.alt_seq.tolist()
    assert [r for b in batches for r in b.row.tolist()] == list(range(len(rows)))
    assert len(batches) == -(-len(rows) // batch_size)


def test_blocks_along_a_chromosome_are_seamless(monkeypatch):
    rng = np.random.default_rng(0)
    genome = "".join(rng.choice(list("ACGTacgt"), 5000))
    pos = rng.integers(1, 4990, 300)
    ref = [genome[p - 1 : p - 1 + 1 + int(n)].upper() for p, n in zip(pos, rng.integers(0, 4, 300), strict=True)]
    alt = ["".join(rng.choice(list("ACGT"), 1 + int(n))) for n in rng.integers(0, 4, 300)]
    alt = [a if a != r else a + "A" for a, r in zip(alt, ref, strict=True)]
    table = {"chrom": ["1"] * 300, "pos": pos, "ref": ref, "alt": alt}
    whole = get_sequences(table, {"1": genome}, 101)
    monkeypatch.setattr(cutting, "BLOCK", 97)
    parts = get_sequences(table, {"1": genome}, 101)
    assert whole.ref_seq.tolist() == parts.ref_seq.tolist()
    assert whole.alt_seq.tolist() == parts.alt_seq.tolist()


def test_several_chromosomes_in_mixed_order():
    genome = {"chr1": "ACGTACGTAC", "2": "TTTTGGGGCC", "chrM": "GATCACAGGT"}
    table = {"chrom": ["MT", "2", "1", "chr2"], "pos": [1, 5, 3, 9], "ref": list("GGGC"), "alt": list("AAAA")}
    found = get_sequences(table, genome, 4, circular=["chrMT"])
    assert found.ref_seq.tolist() == ["GTGA", "TTGG", "ACGT", "GGCC"]
    assert found.alt_seq.tolist() == ["GTAA", "TTAG", "ACAT", "GGAC"]


def test_an_exact_name_wins_over_its_alias():
    found = get_sequences({"chrom": ["1", "chr1"], "pos": [1, 1], "ref": ["A", "C"], "alt": ["T", "T"]},
                          {"1": "AA", "chr1": "CC"}, 2)  # fmt: skip
    assert found.ref_seq.tolist() == ["NA", "NC"]


def test_alternatives_in_one_row_become_rows():
    table = {"chrom": ["1", "1"], "pos": [2, 3], "ref": ["C", "G"], "alt": ["A,CT", ["T"]]}
    found = get_sequences(table, {"1": "ACGTA"}, 4)
    assert found.row.tolist() == [0, 0, 1]
    assert found.alt_seq.tolist() == ["NAAG", "NACT", "ACTT"]
    assert found.ids == ("1:2:C:A", "1:2:C:CT", "1:3:G:T")


def test_reported_mismatches_keep_their_alleles_and_are_never_swapped():
    genome = {"1": "AAACGTAAA"}
    table = {"chrom": ["1"] * 3, "pos": [4, 4, 5], "ref": ["T", "CG", "TT"], "alt": ["C", "A", "GT"]}
    with pytest.raises(pb.ContractError, match="alternative one in 2 rows"):
        get_sequences(table, genome, 6)
    found = get_sequences(table, genome, 6, on_ref_mismatch="report")
    assert found.alt_is_genome.tolist() == [True, False, True]
    assert found.ref_seq.tolist() == ["AAATGT", "AAACGT", "AACTTA"]
    assert found.alt_seq.tolist() == ["AAACGT", "AAAATA", "AACGTA"]
    worse = {**table, "ref": ["T", "CT", "TT"]}
    with pytest.raises(pb.ContractError, match=r"1:4:CT:A") as caught:
        get_sequences(worse, genome, 6, on_ref_mismatch="report")
    assert len(caught.value.violations) == 1


BAD = {
    "chrom": ["1", "9", "1", "1", "1", "1", "1", "1", "1", None, "1"],
    "pos": [2, 2, 0, 99, 2, 2, 2, 2, 2.5, 2, 8],
    "ref": ["C", "C", "C", "C", "C", "R", "C", "C", "C", "C", "TAC"],
    "alt": ["T", "T", "T", "T", "<DEL>", "T", "*", ".", "T", "T", "T"],
}


def test_every_kind_of_fault_is_named_at_once_with_its_rows():
    with pytest.raises(pb.ContractError) as caught:
        get_sequences(BAD, {"1": "ACGTACGTA"}, 4)
    fields = [v.field for v in caught.value.violations]
    assert sorted(fields) == ["alt", "alt", "chrom", "chrom", "pos", "pos", "pos", "ref"]
    assert sum(v.count for v in caught.value.violations) == 10
    assert "1:2:C:<DEL>" in str(caught.value)
    assert "1:2:C:* in row 6" in str(caught.value)
    assert "None:2:C:T in row 9). Give names as text" in str(caught.value)


def test_what_cannot_be_read_is_named_by_its_row_of_the_input():
    table = {"chrom": ["1", 1, "1"], "pos": [1, 2, "3"], "ref": ["A", "C", "G"], "alt": ["C,G", "A", "A"]}
    with pytest.raises(pb.ContractError) as caught:
        get_sequences(table, {"1": "ACGT"}, 3)
    assert "no text in 1 row (ids: 1:2:C:A in row 1)" in str(caught.value)
    assert "(ids: 1:'3':G:A in row 2). Give numbers, not text" in str(caught.value)


def test_refused_rows_can_be_left_out_and_are_listed():
    found = get_sequences(BAD, {"1": "ACGTACGTA"}, 4, on_refused="report")
    assert found.n == 1
    assert found.row.tolist() == [0]
    assert set(found.refused) == set(range(1, 11))
    assert found.refused[6] == ("alt", "a symbolic allele, which has no sequence")


@pytest.mark.parametrize("alt", ["<INS>", "*", "G]2:5]", "[2:5[G", "", ".", "GX", None, 5, float("nan")])
def test_alleles_without_a_sequence_are_refused(alt):
    with pytest.raises(pb.ContractError, match="alt"):
        get_sequences({"chrom": ["1"], "pos": [2], "ref": ["C"], "alt": [alt]}, {"1": "ACGT"}, 4)


def test_lower_case_alleles_are_the_same_alleles():
    found = get_sequences({"chrom": ["1"], "pos": [2], "ref": ["c"], "alt": ["g"]}, {"1": "AcGT"}, 3)
    assert (found.ref_seq[0], found.alt_seq[0]) == ("ACG", "AGG")
    with pytest.raises(pb.ContractError, match="the same one"):
        get_sequences({"chrom": ["1"], "pos": [2], "ref": ["c"], "alt": ["C"]}, {"1": "AcGT"}, 3)


def test_masked_regions_of_y_are_named_and_found_on_x():
    genome = {"chrX": "N" * 10_000 + "ACGTACGT", "chrY": "N" * 20_000}
    table = {"chrom": ["chrY"], "pos": [10_002], "ref": ["C"], "alt": ["T"]}
    with pytest.raises(pb.ContractError, match="pseudo-autosomal"):
        get_sequences(table, genome, 4)
    assert get_sequences(par_to_x(table), genome, 4).alt_seq[0] == "NATG"
    assert par_to_x({**table, "pos": [60_000]}, "GRCh37").pos.tolist() == [110_000]
    assert par_to_x({**table, "chrom": ["chr1"]}).chrom == ("chr1",)
    with pytest.raises(pb.UsageError, match="assembly"):
        par_to_x(table, "hg17")


@settings(max_examples=80, deadline=None)
@given(st.text("AC", min_size=4, max_size=20), st.data())
def test_left_normalised_variants_make_the_same_genome(genome, data):
    pos = data.draw(st.integers(1, len(genome)))
    ref = genome[pos - 1 : pos - 1 + data.draw(st.integers(1, 5))]
    alt = data.draw(st.text("AC", min_size=1, max_size=5).filter(lambda a: a != ref))

    def changed(pos, ref, alt):
        assert genome[pos - 1 : pos - 1 + len(ref)] == ref
        return genome[: pos - 1] + alt + genome[pos - 1 + len(ref) :]

    moved = left_normalise({"chrom": ["1"], "pos": [pos], "ref": [ref], "alt": [alt]}, {"1": genome})
    new = (int(moved.pos[0]), moved.ref[0], moved.alt[0])
    assert changed(*new) == changed(pos, ref, alt)
    assert new[1][-1] != new[2][-1] or (min(len(new[1]), len(new[2])) == 1 and new[0] == 1)
    assert new[1][0] != new[2][0] or min(len(new[1]), len(new[2])) == 1
    # every way to write this change ends in the same place
    again = left_normalise(moved, {"1": genome})
    assert (int(again.pos[0]), again.ref[0], again.alt[0]) == new
    found = get_sequences(moved, {"1": genome}, 9)
    assert (found.ref_seq[0], found.alt_seq[0], 4) == slow_windows(genome, *new, 9)


@pytest.mark.parametrize(("ref", "alt"), [("GA", "CA"), ("AG", "AC"), ("GTT", "GT")])
def test_a_wrong_reference_is_not_hidden_by_normalising(ref, alt):
    table = {"chrom": ["1"], "pos": [3], "ref": [ref], "alt": [alt]}
    moved = left_normalise(table, {"1": "ACGTACGT"})
    assert moved.name(0) == f"1:3:{ref}:{alt}"
    with pytest.raises(pb.ContractError, match=f"1:3:{ref}:{alt} in row 0"):
        get_sequences(moved, {"1": "ACGTACGT"}, 4)


def test_anchors_move_to_x_with_their_variants():
    table = Variants.of(["Y", "Y"], [56_887_910, 9], ["A", "A"], ["C", "C"], anchor=[56_887_905, 9])
    moved = par_to_x(table)
    assert (moved.anchor - moved.pos).tolist() == [-5, 0]
    assert moved.pos.tolist() == [155_701_390, 9]


def test_indels_of_a_repeat_meet_on_the_left():
    genome = {"1": "T" + "GGGCACACACAGGG" + "A" * 300 + "C"}
    written = {
        "chrom": ["1"] * 4,
        "pos": [4, 6, 8, 10],
        "ref": ["GCA", "ACA", "ACA", "ACA"],
        "alt": ["G", "A", "A", "A"],
    }
    moved = left_normalise(written, genome)
    assert {(p, r, a) for p, r, a in zip(moved.pos.tolist(), moved.ref, moved.alt, strict=True)} == {(4, "GCA", "G")}
    far = left_normalise({"chrom": ["1"], "pos": [314], "ref": ["AA"], "alt": ["A"]}, genome)
    assert (far.pos.tolist(), far.ref, far.alt) == ([15], ("GA",), ("G",))
    kept = left_normalise({"chrom": ["9"], "pos": [3], "ref": ["AA"], "alt": ["A"]}, genome)
    assert kept.name(0) == "9:3:AA:A"


def test_batches_shuffle_repeat_and_travel():
    table = {"chrom": ["1"] * 10, "pos": list(range(1, 11)), "ref": list("ACGTACGTAC"), "alt": list("CAACCAACCA")}
    batches = iter_sequences(table, {"1": "ACGTACGTAC"}, 5, batch_size=4, seed=3, encoding="one_hot")
    copy = pickle.loads(pickle.dumps(batches))
    first, second = ([r for b in batches for r in b.row.tolist()] for _ in range(2))
    assert sorted(first) == sorted(second) == list(range(10))
    assert first != second
    assert [r for b in copy for r in b.row.tolist()] == first
    assert [len(b) for b in batches] == [4, 4, 2]
    assert len(iter_sequences(table, {"1": "ACGTACGTAC"}, 5, batch_size=4, drop_last=True)) == 2
    assert batches[2].row.tolist() == [8, 9]
    with pytest.raises(IndexError):
        batches[3]


def test_a_bad_row_is_refused_with_its_batch():
    table = {"chrom": ["1"] * 3, "pos": [1, 2, 3], "ref": list("ACT"), "alt": list("CAA")}
    batches = iter(iter_sequences(table, {"1": "ACGT"}, 3, batch_size=2))
    assert next(batches).n == 2
    with pytest.raises(pb.ContractError, match="1:3:T:A"):
        next(batches)


@pytest.mark.parametrize("seed", [None, 0, 1])
def test_rows_left_out_of_batches_are_named_by_their_place_among_all(seed):
    table = {"chrom": ["1"] * 8, "pos": list(range(1, 9)), "ref": list("ACGTACGA"), "alt": ["C", *"A" * 6, "*"]}
    table["ref"][2] = "T"
    table["alt"][4] = "<DEL>"
    batches = iter_sequences(table, {"1": "ACGTACGT"}, 3, batch_size=3, seed=seed, on_refused="report")
    refused = [i for batch in batches for i in batch.refused]
    assert sorted(refused) == sorted(get_sequences(table, {"1": "ACGTACGT"}, 3, on_refused="report").refused)
    assert sorted(refused) == [2, 4, 7]


def test_many_sequences_are_not_searched_for_every_row():
    n = 40_000
    genome = Genome({f"scaffold_{i}": "ACGTA" for i in range(n)})
    order = np.random.default_rng(0).permutation(n)
    table = Variants.of([f"scaffold_{i}" for i in order], [3] * n, ["G"] * n, ["T"] * n)
    started = perf_counter()
    names, codes = sequences._chromosomes(table, genome, Problems(n))
    assert perf_counter() - started < 5  # a search through names for every row takes minutes
    assert [names[code] for code in codes[:9].tolist()] == [f"scaffold_{i}" for i in order[:9]]


def test_rows_of_sequences_in_any_order_come_back_in_their_own():
    order = np.random.default_rng(0).permutation(np.repeat(np.arange(50), 3))
    genome = {f"s{i}": LETTERS[i % 4] * 3 + "G" + LETTERS[i // 4 % 4] * 3 for i in range(50)}
    names, n = [f"s{i}" for i in order], len(order)
    found = get_sequences({"chrom": names, "pos": [4] * n, "ref": ["G"] * n, "alt": ["T"] * n}, genome, 7)
    assert found.alt_seq.tolist() == [genome[name][:3] + "T" + genome[name][4:] for name in names]


def test_no_variants_are_no_windows():
    found = get_sequences({"chrom": [], "pos": [], "ref": [], "alt": []}, {"1": "ACGT"}, 7, encoding="one_hot")
    assert found.ref_seq.shape == (0, 7, 4)
    assert get_sequences({"chrom": [], "pos": [], "ref": [], "alt": []}, {"1": "A"}, 7).to_pandas().shape == (0, 9)


@pytest.mark.parametrize(
    "change",
    [{"length": 0}, {"length": 2.5}, {"length": True}, {"encoding": "bits"}, {"strand": "x"}, {"strand": ["+", "-"]},
     {"on_ref_mismatch": "ignore"}, {"on_refused": "drop"}, {"circular": ["chr9"]}, {"anchor": [1, 2]},
     {"genome": 5}, {"variants": 5}, {"variants": {"chrom": ["1"]}}, {"strand": 1}, {"strand": None}, {"anchor": 1},
     {"circular": 1}, {"circular": None}, {"circular": [1]}, {"genome": {"1": 5}}, {"genome": {1: "A"}},
     {"genome": {"1": b"A"}}, {"genome": "nothing://g.fa"}, {"genome": "nothing://g.fa.gz"},
     {"variants": "nothing://v.vcf"}, {"variants": {"chrom": ["1"], "pos": 1, "ref": ["A"], "alt": ["C"]}},
     {"variants": {"chrom": ["1"], "pos": [1, 2], "ref": ["A"], "alt": ["C"]}}],
)  # fmt: skip
def test_arguments_that_make_no_sense_are_refused(change):
    arguments = {
        "variants": {"chrom": ["1"], "pos": [1], "ref": ["A"], "alt": ["C"]},
        "genome": {"1": "A"},
        "length": 3,
    }
    with pytest.raises(pb.UsageError):
        get_sequences(**{**arguments, **change})


@pytest.mark.parametrize("seed", [-1, "a", 1.5, True])
def test_seeds_are_whole_numbers(seed):
    with pytest.raises(pb.UsageError, match="seed"):
        iter_sequences({"chrom": ["1"], "pos": [1], "ref": ["A"], "alt": ["C"]}, {"1": "A"}, 3, seed=seed)


@pytest.mark.parametrize("letters", ["AC-T", "AC\u00c7T", "AC T", "AC*T"])
def test_sequences_with_other_characters_are_named(letters):
    with pytest.raises(pb.CorruptDataError, match=r"'chr7' holds .* no letter .*: 2\)"):
        Genome({"chr7": letters})


def test_anchors_must_be_on_their_sequence():
    table = {"chrom": ["1"], "pos": [1], "ref": ["A"], "alt": ["C"]}
    with pytest.raises(pb.ContractError, match="anchor"):
        get_sequences(table, {"1": "ACGT"}, 3, anchor=[5])


def test_the_facade_forwards():
    found = pb.get_sequences({"chrom": ["1"], "pos": [1], "ref": ["A"], "alt": ["C"]}, Genome({"1": "AG"}), 3)
    assert found.alt_seq[0] == "NCG"
    assert repr(found) == "Sequences(1 variants, text)"


@pytest.mark.parametrize(
    ("given", "shown"),
    [(["12a", 2], "1:'12a':C:T"), ([0, 2], "1:0:C:T"), ([-7, 2], "1:-7:C:T"), ([2.5, 2], "1:2.5:C:T"),
     ([None, 2], "1:None:C:T"), ([True, 2], "1:True:C:T"), ([float("nan"), 2.0], "1:nan:C:T"),
     (["9" * 99, 2], f"1:'{'9' * 29}:C:T"),
     (["\x1b[2J", 2], r"1:'\x1b[2J':C:T"),
     ([np.int64(-3), 2], "1:-3:C:T"), ([10**30, 2], f"1:{10**30!s:.30}:C:T")],
)  # fmt: skip
def test_a_position_that_is_none_is_shown_as_it_was_given(given, shown):
    table = {"chrom": ["1", "1"], "pos": given, "ref": ["C", "C"], "alt": ["T,G", "T"]}
    with pytest.raises(pb.ContractError, match="pos: expected a whole number from 1") as caught:
        get_sequences(table, {"1": "ACGT"}, 3)
    assert f"{shown} in row 0, {shown[:-1]}G in row 0)" in str(caught.value)
    found = get_sequences(table, {"1": "ACGT"}, 3, on_refused="report")
    assert (found.ids, set(found.refused)) == (("1:2:C:T",), {0, 1})


@pytest.mark.parametrize(("length", "encoding", "said"), [
    (10**12, "codes", "2,000,000,000,000 bytes"), (10**12, "one_hot", "8,000,000,000,000 bytes"),
    (10**12, "text", "iter_sequences"), (10**30, "text", "2e[+]30 bytes"),
])  # fmt: skip
def test_a_length_beyond_all_memory_is_refused(length, encoding, said):
    table = {"chrom": ["1"], "pos": [2], "ref": ["C"], "alt": ["T"]}
    for circular in (False, True):
        with pytest.raises(pb.UsageError, match=said):
            get_sequences(table, {"1": "ACGT"}, length, encoding=encoding, circular=circular)
    with pytest.raises(pb.UsageError, match="bytes"):
        next(iter(iter_sequences(table, {"1": "ACGT"}, length)))


def test_memory_that_runs_out_is_no_bare_error(monkeypatch):
    def cut_windows(*_, **__):
        raise MemoryError

    monkeypatch.setattr(sequences, "cut_windows", cut_windows)
    monkeypatch.setattr(sequences, "memory", lambda: 0)  # a machine that does not say
    with pytest.raises(pb.UsageError, match="5,000 bases around 1 variants take 10,000 bytes"):
        get_sequences({"chrom": ["1"], "pos": [2], "ref": ["C"], "alt": ["T"]}, {"1": "ACGT"}, 5000)
