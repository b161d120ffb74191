"""Recipes of molecules, structures, alignments and networks, on small files of the layout of their sources."""

from __future__ import annotations

import csv
import gzip
import json
import tarfile

import numpy as np
import pytest
from primabench_recipes.edgar_2022_nature_communications.balifam import recipe as balifam
from primabench_recipes.formats.rna_structures import crossing, parse_bpseq, parse_ct, parse_dot_bracket
from primabench_recipes.peracha_2024_biotechniques.netsurfp_sets import recipe as secondary

from primabench_core import CorruptDataError


def gzipped_rows(path):
    return list(csv.DictReader(gzip.decompress(path.read_bytes()).decode().splitlines()))


@pytest.fixture
def davis(real, tmp_path):
    """Real constants of 68 inhibitors and 20 kinases in DeepDTA's layout."""
    folder = real / "drug_discovery/davis_dti"
    pairs = gzipped_rows(folder / "davis_affinities.csv.gz")
    proteins = {row["target"]: row["sequence"] for row in gzipped_rows(folder / "proteins.csv.gz")[:20]}
    with (folder / "ligands.csv").open() as stream:
        ligands = {row["pubchem_cid"]: row["smiles"] for row in csv.DictReader(stream)}
    kd = {(row["pubchem_cid"], row["target"]): row["kd_nM"] for row in pairs}
    given = {}

    def write(name, text):
        given[name] = tmp_path / name
        given[name].write_text(text)

    write("ligands.txt", json.dumps(ligands))
    write("proteins.txt", json.dumps(proteins))
    write("affinities.txt", "\n".join(" ".join(kd[drug, target] for target in proteins) for drug in ligands))
    order = np.random.default_rng(0).permutation(len(ligands) * len(proteins))
    folds = [part.tolist() for part in np.array_split(order, 6)]
    for setting in (1, 2, 3):
        write(f"test_fold_setting{setting}.txt", json.dumps(folds[0]))
        write(f"train_fold_setting{setting}.txt", json.dumps(folds[1:]))
    return given, pairs


def test_davis_puts_each_constant_to_its_pair(run, davis):
    given, pairs = davis
    found = run("davis", given)
    data = found["labelled/data.zarr"].data
    assert data.n == 68 * 20
    known = {f"{row['pubchem_cid']}:{row['target']}": row for row in pairs}
    for i in range(0, data.n, 97):
        assert data["kd"][i] == float(known[data.ids[i]]["kd_nM"])
        assert data["pkd"][i] == pytest.approx(float(known[data.ids[i]]["pkd"]), abs=1e-6)
    assert np.bincount(data["fold_setting1"]).sum() == data.n
    assert np.isnan(found["censored/data.zarr"].data["kd"]).all()
    folds = json.loads(given["train_fold_setting2.txt"].read_text())
    assert np.flatnonzero(data["fold_setting2"] == 3).tolist() == sorted(folds[2])


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("affinities.txt", lambda t: t.replace("10000.0", "-1", 1), "positive"),
        ("affinities.txt", lambda t: t.rpartition("\n")[0], "matrix of 68"),
        ("test_fold_setting1.txt", lambda t: json.dumps(json.loads(t)[:-1]), "in no fold"),
        ("test_fold_setting3.txt", lambda t: json.dumps([*json.loads(t), json.loads(t)[0]]), "two folds"),
        ("ligands.txt", lambda t: t[:-1], "no JSON"),
    ],
)
def test_davis_refuses_files_that_do_not_fit(run, davis, name, change, said):
    given, _ = davis
    given[name].write_text(change(given[name].read_text()))
    with pytest.raises(CorruptDataError, match=said):
        run("davis", given)


@pytest.fixture
def biosnap(real, tmp_path):
    folder = real / "drug_discovery/biosnap_dti"
    pairs = gzipped_rows(folder / "pairs.csv.gz")
    smiles = {row["drugbank_id"]: row["smiles"] for row in gzipped_rows(folder / "drugs.csv.gz")}
    sequences = {row["uniprot"]: row["sequence"] for row in gzipped_rows(folder / "proteins.csv.gz")}
    given = {}
    for number, part in enumerate(("train", "val", "test")):
        given[f"{part}.csv"] = tmp_path / f"{part}.csv"
        with given[f"{part}.csv"].open("w", newline="") as stream:
            writer = csv.writer(stream)
            writer.writerow(["", "Unnamed: 0", "DrugBank ID", "Gene", "Label", "SMILES", "Target Sequence"])
            for i, row in enumerate(pairs[number : 300 + number : 3]):
                drug, protein = row["drugbank_id"], row["uniprot"]
                writer.writerow([i, i, drug, protein, f"{row['label']}.0", smiles[drug], sequences[protein]])
    return given


@pytest.mark.parametrize("slug", ["biosnap_random", "biosnap_unseen_drug", "biosnap_unseen_protein"])
def test_biosnap_keeps_three_splits_and_hides_the_last(run, biosnap, slug):
    found = run(slug, biosnap)
    assert {path for path, artifact in found.items() if not artifact.is_private} == {
        "labelled/train/data.zarr",
        "labelled/val/data.zarr",
        "censored/test/data.zarr",
    }
    hidden = found["censored/test/data.zarr"].data
    assert np.isnan(hidden["label"]).all()
    assert hidden.n == 100
    assert set(found["solution/test/data.zarr"].data["label"]) == {0, 1}


def test_biosnap_refuses_other_labels(run, biosnap):
    path = biosnap["test.csv"]
    path.write_text(path.read_text().replace(",1.0,", ",0.5,", 1))
    with pytest.raises(CorruptDataError, match="no integer"):
        run("biosnap_random", biosnap)


def test_bbbp_keeps_every_row_even_those_that_do_not_parse(run, real, tmp_path):
    with (real / "drug_discovery/bbbp/bbbp.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    path = tmp_path / "BBBP.csv"
    path.write_text("BBBP,smiles\n" + "".join(f"{row['label']},{row['smiles']}\n" for row in rows))
    found = run("bbbp", {"BBBP.csv": path})
    data = found["labelled/data.zarr"].data
    assert data["smiles"].tolist() == [row["smiles"] for row in rows]
    assert data["label"].sum() == 1014
    path.write_text(path.read_text().replace("\n1,", "\n2,", 1))
    with pytest.raises(CorruptDataError, match="expected 0 and 1"):
        run("bbbp", {"BBBP.csv": path})


def test_archive_ii_agrees_with_its_own_dot_brackets(run, real):
    folder = real / "structure/archiveII_rna"
    found = run("archive_ii", {"archiveII.tar.gz": folder / "bpseq.tar.gz"})
    data = found["labelled/data.zarr"].data
    known = {row["sequence_id"]: row for row in gzipped_rows(folder / "archiveII.csv.gz")}
    assert set(data.ids) == set(known)
    starts = data["pairs"].starts
    for i, name in enumerate(data.ids):
        pairs = data["pairs"].values[starts[i] : starts[i + 1]]
        expected = parse_dot_bracket(known[name]["sequence"], known[name]["dot_bracket"], name)
        assert np.array_equal(pairs, expected.pairs), name
        assert (crossing(pairs) > 0) == (int(known[name]["pseudoknot_pairs"]) > 0)
        assert data["family"][i] == known[name]["family"]
    assert found["labelled/data.zarr"].attributes["left_out"] == []
    assert len(found["censored/data.zarr"].data["pairs"].values) == 0


def archive(tmp_path, files):
    path = tmp_path / "archiveII.tar.gz"
    with tarfile.open(path, "w:gz") as tar:
        for name, text in files.items():
            member = tmp_path / "member"
            member.write_text(text)
            tar.add(member, name)
    return {"archiveII.tar.gz": path}


GOOD = "1 G 4\n2 A 0\n3 A 0\n4 C 1\n"
LIAR = "1 G 4\n2 A 0\n3 A 0\n4 C 2\n"


def test_files_that_contradict_themselves_are_left_out_and_named(run, tmp_path):
    files = {f"x/5s_{i}.bpseq": GOOD for i in range(150)}
    found = run("archive_ii", archive(tmp_path, {**files, "x/5s_liar.bpseq": LIAR}))
    assert found["labelled/data.zarr"].data.n == 150
    assert found["labelled/data.zarr"].attributes["left_out"] == ["5s_liar"]
    with pytest.raises(CorruptDataError, match="contradict"):
        run("archive_ii", archive(tmp_path, {"a/5s_1.bpseq": GOOD, "a/5s_2.bpseq": LIAR}))
    with pytest.raises(CorruptDataError, match="two files named"):
        run("archive_ii", archive(tmp_path, {"a/5s_1.bpseq": GOOD, "b/5s_1.bpseq": GOOD}))


def test_ct_and_bpseq_say_the_same():
    ct = "4 a title\n1 G 0 2 4 1\n2 A 1 3 0 2\n3 A 2 4 0 3\n4 C 3 0 1 4\n"
    one, other = parse_ct(ct.splitlines(), "x"), parse_bpseq(GOOD.splitlines(), "x")
    assert one.sequence == other.sequence
    assert one.pairs.tolist() == other.pairs.tolist() == [[0, 3]]
    with pytest.raises(CorruptDataError, match="promises"):
        parse_ct(ct.splitlines()[:-1], "x")


@pytest.fixture
def ts115(real, tmp_path):
    with (real / "structure/protein_ss_ts115/ts115.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    names = {"input": "sequence", "dssp3": "q3", "dssp8": "q8", "disorder": "ordered_mask", "cb513_mask": "eval_mask"}

    def write(change=lambda row: row, n=None):
        path = tmp_path / "TS115_HHblits.csv"
        with path.open("w", newline="") as stream:
            writer = csv.writer(stream)
            writer.writerow(names)
            for row in map(change, rows[:n]):
                masks = ("ordered_mask", "eval_mask")
                values = [[f"{c}.0" if key in masks else c for c in row[key]] for key in names.values()]
                writer.writerow([" ".join(value) + " " for value in values])
        return {"chains.csv": path}

    return write, rows


def test_ts115_gives_states_and_masks(run, ts115):
    write, rows = ts115
    found = run("ts115", write())
    data = found["labelled/data.zarr"].data
    for name, column in (("sequence", "sequence"), ("q3", "q3"), ("q8", "q8"), ("ordered", "ordered_mask")):
        assert data[name].tolist() == [row[column] for row in rows]
    hidden = found["censored/data.zarr"].data
    assert set(hidden["q3"].tolist()) == set(hidden["q8"].tolist()) == {None}
    assert hidden["ordered"].tolist() == data["ordered"].tolist()


def test_chains_whose_parts_do_not_fit_are_refused(run, ts115):
    write, _ = ts115
    with pytest.raises(CorruptDataError, match="114 chains"):
        run("ts115", write(n=114))
    with pytest.raises(CorruptDataError, match="differ in length"):
        run("ts115", write(lambda row: {**row, "q3": row["q3"][:-1]}))
    with pytest.raises(CorruptDataError, match="does not follow"):
        run("ts115", write(lambda row: {**row, "q3": row["q3"].replace("H", "E")}))
    assert secondary.TO_THREE == {"H": "H", "G": "H", "I": "H", "E": "E", "B": "E", "S": "C", "T": "C", "C": "C"}


@pytest.fixture
def families(real, tmp_path, monkeypatch):
    """The 28 real families in an archive of the layout of GitHub's."""

    def write(change=lambda name, text: text):
        path = tmp_path / "balifam.tar.gz"
        monkeypatch.setitem(balifam.SIZES, "balifam100", 28)
        with tarfile.open(path, "w:gz") as tar:
            for part in ("in", "ref"):
                for file in sorted((real / "alignment/balifam100" / part).iterdir()):
                    member = tmp_path / "member"
                    member.write_text(change(f"{part}/{file.name}", file.read_text()))
                    tar.add(member, f"balifam-f2a46ac/balifam100/{part}/{file.name}")
        return {"balifam.tar.gz": path}

    return write


def test_balifam_aligns_only_members_of_the_reference(run, families):
    found = run("balifam100", families())
    data = found["labelled/data.zarr"].data
    aligned = data["aligned"].tolist()
    assert len(set(data["family"])) == 28
    assert 0 < sum(value is not None for value in aligned) < data.n
    for sequence, value in zip(data["sequence"], aligned, strict=True):
        assert value is None or value.replace("-", "").replace(".", "").upper() == sequence.upper()
    assert set(found["censored/data.zarr"].data["aligned"].tolist()) == {None}


def test_a_reference_that_is_no_alignment_of_its_input_is_refused(run, families):
    def cut(name, text):
        return text.replace("CVDCGVC", "CVDCGV-") if name == "ref/PF00037.100" else text

    def swap(name, text):
        return (
            text.replace("YIDPDVC", "YIDPDVW").replace("yidpDVC", "yidpDVW") if name.startswith("ref/PF00037") else text
        )

    with pytest.raises(CorruptDataError, match="not its input sequence"):
        run("balifam100", families(swap))

    def shorter(name, text):
        return text.replace("VI\n", "V\n", 1) if name == "ref/PF00037.100" else text

    with pytest.raises(CorruptDataError, match=r"differ in length|not its input"):
        run("balifam100", families(shorter))


@pytest.fixture
def grn(real):
    folder = real / "single_cell/grn_mesc_semrau"
    return {
        "expression.tsv.gz": folder / "semrau_rna_filtered_log2.tsv.gz",
        "edges.tsv": folder / "mESC_ground_truth.tsv",
        "regulators.tsv": folder / "mESC_Semrau_TFs.tsv",
        "genes.tsv": folder / "mESC_Semrau_Genes.tsv",
    }


def test_the_network_has_the_edges_that_the_card_counts(run, grn):
    pytest.importorskip("scipy", reason="expression is stored sparse")
    found = run("mesc_semrau", grn)
    edges, cells = found["solution/edges.zarr"], found["measured/data.zarr"].data
    assert edges.is_private
    assert (edges.data.n, int(edges.data["self_loop"].sum())) == (11634, 15)
    assert len(set(edges.data["regulator"])) == 47
    assert cells["expression"].shape == (384, 10243)
    regulators = found["universe/regulators.zarr"].data
    assert len(set(regulators.ids or ()) & set(edges.data["regulator"])) == 25


def test_the_pinned_sources_of_the_network_are_these_files(grn):
    from primabench_recipes.mccalla_2023_g3_genes_genomes_genetics.mesc_semrau.card import RECIPE

    from primabench_core.store.hashing import file_sha256

    for source in RECIPE.sources:
        assert file_sha256(grn[source.name]) == source.sha256


def test_expression_that_is_not_log2_of_counts_is_refused(run, grn, tmp_path):
    text = gzip.decompress(grn["expression.tsv.gz"].read_bytes()).decode().splitlines()
    changed = tmp_path / "expression.tsv"
    changed.write_text("\n".join([text[0], *(line.replace("\t1\t", "\t-1\t") for line in text[1:50])]))
    with pytest.raises(CorruptDataError):
        run("mesc_semrau", {**grn, "expression.tsv.gz": changed})
    changed.write_text("\n".join([text[0], text[1] + "\t0"]))
    with pytest.raises(CorruptDataError, match="385 values"):
        run("mesc_semrau", {**grn, "expression.tsv.gz": changed})
