"""Recipes of labelled sequences and variants, on small files of the layout of their sources."""

from __future__ import annotations

import csv
import gzip
import zipfile

import numpy as np
import pytest
from primabench_recipes.curation.audit import audit
from primabench_recipes.formats.fasta import reverse_complement
from primabench_recipes.gresova_2023_bmc_genomic_data.genomic_benchmarks import recipe as genomic
from primabench_recipes.landrum_2018_nucleic_acids_research.clinvar_missense.card import AUDIT
from primabench_recipes.landrum_2018_nucleic_acids_research.clinvar_missense.recipe import window

from primabench_core import CorruptDataError


def rows_of(path):
    with path.open() as stream:
        return list(csv.DictReader(stream))


@pytest.fixture
def promoters(real, tmp_path):
    """Real promoters and non-promoters in the layout of the revised tasks: ``>name|label``."""

    def write(header="place_{i}|{label}", rows=300):
        found = rows_of(real / "genomics/human_nontata_promoters/human_nontata_promoters.csv")
        found = found[:: len(found) // rows][:rows]
        given = {}
        for split, part in (("train", found[::2]), ("test", found[1::2])):
            path = tmp_path / f"{split}.fna"
            lines = [f">{header.format(i=i, label=row['label'])}\n{row['sequence']}" for i, row in enumerate(part)]
            path.write_text("\n".join(lines) + "\n")
            given[path.name] = path
        return given

    return write


def test_a_revised_task_keeps_its_split_and_hides_test_labels_and_names(run, promoters):
    found = run("promoter_no_tata", promoters())
    train, test = found["labelled/train/data.zarr"], found["censored/test/data.zarr"].data
    assert not train.is_private
    assert found["labelled/test/data.zarr"].is_private
    assert (train.data.n, test.n) == (150, 150)
    assert set(test["label"].tolist()) == set(test["name"].tolist()) == {None}
    solution = found["solution/test/data.zarr"].data
    assert set(solution["label"]) == {"0", "1"}
    assert solution.ids == test.ids
    assert not set(test.ids) & set(train.data.ids)


def test_the_order_of_rows_says_nothing_about_labels(run, promoters, tmp_path):
    given = promoters()
    entries = given["test.fna"].read_text().strip().split("\n>")
    by_label = sorted((e.lstrip(">") for e in entries), key=lambda e: e.partition("\n")[0].rpartition("|")[2])
    before = run("promoter_no_tata", given)["labelled/test/data.zarr"].data
    given["test.fna"].write_text("".join(f">{entry}\n" for entry in by_label))
    after = run("promoter_no_tata", given)["labelled/test/data.zarr"].data
    assert after["sequence"].tolist() == before["sequence"].tolist()
    labels = after["label"].astype(int)
    assert 0.3 < labels[:100].mean() < 0.7


@pytest.mark.parametrize("header", ["place_{i}", "place_{i}|", "place_{i}|{label}2", "place|{i}"])
def test_headers_without_the_labels_of_the_task_are_refused(run, promoters, header):
    with pytest.raises(CorruptDataError, match="labels behind"):
        run("promoter_no_tata", promoters(header))


def test_a_task_of_three_classes_is_not_built_from_two(run, promoters):
    with pytest.raises(CorruptDataError, match=r"\['0', '1', '2'\]"):
        run("enhancers_types", promoters())


def test_letters_that_are_no_bases_are_refused(run, promoters):
    given = promoters()
    given["test.fna"].write_text(given["test.fna"].read_text().replace("A", "Z", 1).replace(">plZ", ">pla"))
    with pytest.raises(CorruptDataError, match="Z"):
        run("promoter_no_tata", given)


@pytest.fixture
def intervals(tmp_path, monkeypatch):
    """A genome of two chromosomes and four interval lists, in the layout of Genomic Benchmarks."""
    rng = np.random.default_rng(0)
    genome = {name: "".join(rng.choice(list("ACGT"), 300)) for name in ("1", "X")}
    fasta = tmp_path / "human.fa.gz"
    with gzip.open(fasta, "wt") as stream:
        for name, letters in genome.items():
            stream.write(f">{name} dna:chromosome\n{letters[:100]}\n{letters[100:]}\n")
    given = {"human.fa.gz": fasta}
    for number, (split, kind) in enumerate((s, k) for s in ("train", "test") for k in ("negative", "positive")):
        path = tmp_path / f"{split}.{kind}.csv.gz"
        with gzip.open(path, "wt") as stream:
            stream.write("id,region,start,end,strand\n")
            for i in range(3):
                strand = "+-"[number % 2]
                stream.write(f"{i},chr{'1X'[i % 2]},{10 * number + i},{10 * number + i + 20},{strand}\n")
        given[path.name] = path
    classes = {"negative": "human.fa.gz", "positive": "human.fa.gz"}
    monkeypatch.setitem(genomic.SETS, "human_enhancers_cohn", (classes, 6, 6))
    return given, genome


def test_sequences_are_cut_out_on_their_own_strand(run, intervals):
    given, genome = intervals
    found = run("human_enhancers_cohn", given)
    data = found["labelled/test/data.zarr"].data
    expected = set()
    for number, kind in ((2, "negative"), (3, "positive")):
        for i in range(3):
            letters = genome["1X"[i % 2]][10 * number + i : 10 * number + i + 20]
            expected.add((letters if kind == "negative" else reverse_complement(letters), kind))
    assert set(zip(data["sequence"], data["label"], strict=True)) == expected
    hidden = found["censored/test/data.zarr"].data
    assert set(hidden["region"].tolist()) == set(hidden["label"].tolist()) == {None}


def change_list(given, old, new):
    path = given["test.positive.csv.gz"]
    text = gzip.decompress(path.read_bytes()).decode()
    assert old in text
    path.write_bytes(gzip.compress(text.replace(old, new, 1).encode()))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("chr1,30,50", "chr7,30,50", "no entry"),
        ("chr1,30,50", "chr1,290,310", "outside"),
        ("0,chr1,30,50,-\n", "", "the card says"),
        ("chr1,30,50", "chr1,thirty,50", "no number"),
    ],
)
def test_lists_that_do_not_fit_the_genome_are_refused(run, intervals, old, new, said):
    given, _ = intervals
    change_list(given, old, new)
    with pytest.raises(CorruptDataError, match=said):
        run("human_enhancers_cohn", given)


def test_a_truncated_genome_is_refused(run, intervals):
    given, _ = intervals
    given["human.fa.gz"].write_bytes(given["human.fa.gz"].read_bytes()[:-30])
    with pytest.raises(CorruptDataError, match="damaged"):
        run("human_enhancers_cohn", given)


def zipped(tmp_path, member, text):
    path = tmp_path / "uci.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(member, text)
        archive.writestr("Index", "not data")
    return path


def test_splice_junctions_keep_genes_and_drop_telling_names(run, real, tmp_path):
    rows = rows_of(real / "genomics/splice_primate_uci/splice_primate_uci.csv")[:300]
    kinds = {"ei": "DONOR", "ie": "ACCEPTOR", "n": "NEG"}
    lines = [
        f"{row['label'].upper()},   GENE{i % 7}-{kinds[row['label']]}-{i},   {row['sequence']}"
        for i, row in enumerate(rows)
    ]
    given = {"splice.zip": zipped(tmp_path, "splice.data", "\n".join(lines) + "\n")}
    found = run("primate_splice_junctions", given)
    hidden, solution = found["censored/data.zarr"].data, found["solution/data.zarr"].data
    assert set(solution["label"]) == {"EI", "IE", "N"}
    assert set(hidden["gene"]) == {f"GENE{i}" for i in range(7)}
    assert not any(word in str(hidden.ids) for word in kinds.values())
    given["splice.zip"] = zipped(tmp_path, "splice.data", "EI, A-DONOR-1, ACGT\nIE, B, ACGT\nN, C, ACGT\n")
    with pytest.raises(CorruptDataError, match="60 bases"):
        run("primate_splice_junctions", given)
    given["splice.zip"] = zipped(tmp_path, "other.data", "x")
    with pytest.raises(CorruptDataError, match=r"holds no splice\.data"):
        run("primate_splice_junctions", given)


def test_ecoli_promoters_are_the_106_of_the_repository(run, real, tmp_path):
    rows = rows_of(real / "genomics/ecoli_promoters_uci106/ecoli_promoters_uci106.csv")
    lines = [f"{'-+'[int(r['label'])]},S{i},\t\t{r['sequence'].lower()}" for i, r in enumerate(rows)]
    found = run("ecoli_promoters", {"promoters.zip": zipped(tmp_path, "promoters.data", "\n".join(lines))})
    data = found["labelled/data.zarr"].data
    assert data.n == 106
    assert sorted(data["sequence"]) == sorted(row["sequence"] for row in rows)
    assert (data["label"] == "+").sum() == 53
    assert set(found["censored/data.zarr"].data.fields) == {"sequence", "label"}


@pytest.fixture
def clinvar(real, tmp_path):
    """Real mitochondrial missense variants with the fields that ClinVar's own VCF files carry."""

    def write(change=lambda text: text):
        folder = real / "variant_effect/clinvar_mt_missense"
        text = (folder / "clinvar_mt_missense.vcf").read_text()
        text = text.replace("GENE=", "CLNREVSTAT=criteria_provided;MC=SO:0001583|missense_variant;GENEINFO=")
        path = tmp_path / "clinvar.vcf"
        path.write_text(change(text))
        return {"clinvar.vcf.gz": path, "genome.fa.gz": folder / "NC_012920.1_MT.fa"}

    return write


def test_clinvar_checks_every_reference_base_and_cuts_windows(run, clinvar, real):
    found = run("clinvar_missense", clinvar())
    data = found["labelled/data.zarr"].data
    assert data.n == 473
    assert np.bincount(data["label"]).tolist() == [430, 43]
    genome = "".join((real / "variant_effect/clinvar_mt_missense/NC_012920.1_MT.fa").read_text().split("\n")[1:])
    for i in (0, 200, 472):
        assert len(data["window"][i]) == 513
        assert data["window"][i][256] == data["ref"][i] == genome[data["pos"][i] - 1]
    said = audit({"": data}, AUDIT)
    assert "reference alleles that the genome has at their place: 473 of 473 (100.0 %)" in said
    hidden = found["censored/data.zarr"].data
    for name in ("significance", "review"):
        assert set(hidden[name].tolist()) == {None}
    assert np.isnan(hidden["label"]).all()
    assert set(hidden["gene"]) > {"MT-ND1"}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda t: t.replace("MT\t3316\t692333\tG\tA", "MT\t3316\t692333\tT\tA"), "the genome has G"),
        (lambda t: t.replace("MT\t3316\t", "chr7\t3316\t"), "no chromosome 7"),
        (lambda t: t + t.splitlines()[6] + "\n", "twice"),
        (lambda t: t.replace("Pathogenic", "Uncertain_significance").replace("pathogenic", "x"), "both classes"),
        (lambda t: t.replace("#CHROM", "CHROM"), "no variant"),
    ],
)
def test_clinvar_refuses_what_does_not_fit(run, clinvar, change, said):
    with pytest.raises(CorruptDataError, match=said):
        run("clinvar_missense", clinvar(change))


def test_only_missense_changes_of_one_base_with_a_clear_label_count(run, clinvar):
    extra = (
        "MT\t3310\t1\tC\tT\t.\t.\tCLNSIG=Uncertain_significance;MC=SO:0001583|missense_variant\n"
        "MT\t3311\t2\tC\tT\t.\t.\tCLNSIG=Benign;MC=SO:0001819|synonymous_variant\n"
        "MT\t3312\t3\tCA\tT\t.\t.\tCLNSIG=Benign;MC=SO:0001583|missense_variant\n"
    )
    assert run("clinvar_missense", clinvar(lambda t: t + extra))["labelled/data.zarr"].data.n == 473


def test_windows_end_where_chromosomes_do_and_wrap_where_they_are_circular():
    assert window("ACGT", 3, side=2) == "CGTNN"
    assert window("ACGT", 1, side=3) == "NNACGTN"
    assert window("acgt", 3, side=2, circular=True) == "CGTAC"
    assert window("AC", 0, side=3, circular=True) == "CACACAC"[:7]
