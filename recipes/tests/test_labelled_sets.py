"""Recipes of GUE, of two promoter sets, of Oct4 against Mafk and of ProteinGym, on small files of their layouts."""

from __future__ import annotations

import csv
import io
import zipfile

import numpy as np
import pytest

from primabench_core import CorruptDataError


def rows_of(path):
    with path.open() as stream:
        return list(csv.DictReader(stream))


@pytest.fixture
def gue(real, tmp_path):
    def write(change=lambda text: text):
        found = rows_of(real / "genomics/human_nontata_promoters/human_nontata_promoters.csv")
        given = {}
        for i, split in enumerate(("train", "dev", "test")):
            lines = ["sequence,label", *(f"{r['sequence']},{r['label']}" for r in found[i::30])]
            path = tmp_path / f"{split}.csv"
            path.write_text(change("\n".join(lines) + "\n") if split == "test" else "\n".join(lines) + "\n")
            given[path.name] = path
        return given

    return write


def test_gue_keeps_three_splits_and_hides_labels_of_the_test(run, gue):
    found = run("prom_300_notata", gue())
    assert [found[f"labelled/{s}/data.zarr"].data.n for s in ("train", "dev", "test")] == [50, 50, 50]
    assert not found["labelled/dev/data.zarr"].is_private
    assert found["labelled/test/data.zarr"].is_private
    assert set(found["censored/test/data.zarr"].data["label"].tolist()) == {None}
    assert set(found["solution/test/data.zarr"].data["label"]) == {"0", "1"}


@pytest.mark.parametrize(
    ("slug", "change", "said"),
    [
        ("splice_reconstructed", lambda t: t, "expected"),
        ("prom_300_notata", lambda t: t.replace(",1\n", ",2\n"), "labels are"),
        ("prom_300_notata", lambda t: t.replace(",1\n", ",x\n"), "no number"),
        ("prom_300_notata", lambda t: t.replace("label", "class"), "no column 'label'"),
    ],
)
def test_gue_refuses_other_classes(run, gue, slug, change, said):
    with pytest.raises(CorruptDataError, match=said):
        run(slug, gue(change))


def fasta(path, rows):
    path.write_text("".join(f">{name}\n{letters}\n" for name, letters in rows))
    return path


@pytest.mark.parametrize(("slug", "length"), [("ecoli_sigma70_promoters", 81), ("mouse_tata_promoters", 251)])
def test_promoters_and_others_of_the_right_length(run, real, tmp_path, slug, length):
    rows = rows_of(real / f"genomics/{slug}/{slug}.csv")[::7]
    by_class = {label: [(r["id"], r["sequence"]) for r in rows if r["label"] == label] for label in "01"}
    given = {
        "promoters.fa": fasta(tmp_path / "p.fa", [*by_class["1"], ("short", "ACGT")]),
        "others.fa": fasta(tmp_path / "o.fa", by_class["0"]),
    }
    found = run(slug, given)
    data = found["labelled/data.zarr"].data
    expected = {(r["sequence"], "promoter" if r["label"] == "1" else "other") for r in rows}
    assert set(zip(data["sequence"], data["label"], strict=True)) == expected
    assert {len(s) for s in data["sequence"]} == {length}
    given["others.fa"] = fasta(tmp_path / "o.fa", [("short", "ACGT")])
    with pytest.raises(CorruptDataError, match="no sequence of"):
        run(slug, given)


def test_oct4_against_mafk_keeps_its_splits(run, real, tmp_path):
    rows = rows_of(real / "genomics/tfbs_oct4_vs_mafk/tfbs_oct4_vs_mafk.csv")
    given = {}
    for split, part in (("train", rows[::20]), ("test", rows[1::20])):
        for factor in ("Oct4", "Mafk"):
            name = f"{split}.{factor.lower()}.fa"
            given[name] = fasta(tmp_path / name, [(r["interval"], r["sequence"]) for r in part if r["tf"] == factor])
    found = run("oct4_vs_mafk", given)
    train, test = found["labelled/train/data.zarr"].data, found["labelled/test/data.zarr"].data
    assert (train.n, test.n) == (100, 100)
    assert set(test["label"]) == {"Oct4", "Mafk"}
    assert all(c.startswith("chr") for c in found["censored/test/data.zarr"].data["chrom"])
    given["test.oct4.fa"] = fasta(tmp_path / "x.fa", [("peak_1", rows[0]["sequence"])])
    with pytest.raises(CorruptDataError, match="no place"):
        run("oct4_vs_mafk", given)


WILD = {"A_HUMAN": "MKTAYIAKQR", "B_ECOLI": "GSHMWYLLKE"}
ASSAYS = [
    ("A_HUMAN_One_2020", "A_HUMAN", "Activity", "high", "Human"),
    ("A_HUMAN_Two_2021", "A_HUMAN", "Stability", "High", "Human"),
    ("B_ECOLI_One_2019", "B_ECOLI", "Binding", "Low", "Prokaryote"),
]


@pytest.fixture
def proteingym(tmp_path):
    def write(change=lambda text: text, *, indels=False, table=lambda text: text):
        lines = ["DMS_id,DMS_filename,UniProt_ID,coarse_selection_type,MSA_Neff_L_category,taxon,target_seq,title"]
        lines += [f'{a},{a}.csv,{u},{s},{d},{t},{WILD[u]},"One, two"' for a, u, s, d, t in ASSAYS]
        (tmp_path / "assays.csv").write_text(table("\n".join(lines) + "\n"))
        with zipfile.ZipFile(tmp_path / "scans.zip", "w") as archive:
            for assay, protein, *_ in ASSAYS:
                wild, out = WILD[protein], io.StringIO()
                out.write("mutant,mutated_sequence,DMS_score,DMS_score_bin\n")
                for i in range(6):
                    names = [f"{wild[j]}{j + 1}{'A' if wild[j] != 'A' else 'G'}" for j in range(i, i + 1 + i % 3)]
                    letters = wild[: i + 1] + "C" + wild[i + 1 :] if indels else wild
                    out.write(f"{':'.join(names)},{letters},{i / 7 - 0.3},{i % 2}\n")
                archive.writestr(f"folder/{assay}.csv", change(out.getvalue()))
        return {name: tmp_path / name for name in ("assays.csv", "scans.zip")}

    return write


def test_scans_carry_what_assays_are_grouped_by(run, proteingym):
    found = run("proteingym_substitutions", proteingym())
    data = found["labelled/data.zarr"].data
    assert data.n == 18
    assert set(data["selection"]) == {"Activity", "Stability", "Binding"}
    assert set(data["msa_depth"]) == {"High", "Low"}
    assert data["mutation_depth"].tolist()[:6] == ["1", "2", "3"] * 2
    assert "sequence" not in data
    hidden = found["censored/data.zarr"].data
    assert np.isnan(hidden["value"]).all()
    assert np.isnan(hidden["label"]).all()
    assert set(found["solution/data.zarr"].data.fields) == {"value", "label"}


def test_indels_carry_their_sequence(run, proteingym):
    data = run("proteingym_indels", proteingym(indels=True))["labelled/data.zarr"].data
    assert data["sequence"].tolist() == data["mutant"].tolist()
    assert set(data["mutation_depth"]) == {"indel"}


@pytest.mark.parametrize(
    ("change", "table", "said"),
    [
        (lambda t: t.replace("M1A", "K1A"), str, "does not fit"),
        (lambda t: t.replace("M1A", "M99A"), str, "does not fit"),
        (lambda t: t.replace(",0\n", ",2\n"), str, "class 2"),
        (lambda t: t.replace("-0.3,", "nan,"), str, "score nan"),
        (lambda t: t.replace("mutant,", "variant,"), str, "no mutant"),
        (lambda t: t + t.splitlines()[1] + "\n", str, "twice"),
        (str, lambda t: t.replace("Binding", "Affinity"), "Affinity"),
        (str, lambda t: t.replace("B_ECOLI_One_2019.csv", "lost.csv"), "holds no lost.csv"),
        (str, lambda t: t.replace("Two_2021,", "One_2020,"), "twice"),
    ],
)
def test_scans_that_do_not_fit_are_refused(run, proteingym, change, table, said):
    with pytest.raises(CorruptDataError, match=said):
        run("proteingym_substitutions", proteingym(change, table=table))
