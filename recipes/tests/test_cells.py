"""Recipes of cells, on small h5ad files of the layout of their sources."""

from __future__ import annotations

import numpy as np
import pytest
from primabench_recipes.formats.cells import as_counts, as_log_values, open_cells
from primabench_recipes.peidli_2024_nature_methods.norman_2019.recipe import normalised

from primabench_core import CorruptDataError

anndata = pytest.importorskip("anndata", reason="h5ad files are read with anndata")
pytest.importorskip("scipy", reason="counts are sparse")


def logged(counts):
    """log(1 + counts per 10,000), sparse."""
    return counts.multiply(1e4 / np.asarray(counts.sum(1))).tocsr().log1p()


@pytest.fixture
def two_batches(real, tmp_path):
    """Cells of two batches in the layout of scIB's file."""

    def write(**changes):
        cells = open_cells(real / "single_cell/mesc_two_batches/mesc_two_batches.h5ad")
        cells.obs = cells.obs.rename(columns={"cell_type": "final_annotation"})
        cells.layers["counts"] = cells.X.copy()
        cells.X = logged(cells.X)
        cells.obs["dpt_pseudotime"] = np.where(cells.obs["batch"] == "batch2", 0.5, np.nan)
        for change in changes.values():
            change(cells)
        path = tmp_path / "Immune_ALL_human.h5ad"
        cells.write_h5ad(path)
        return {"Immune_ALL_human.h5ad": path}

    return write


def test_immune_human_gives_counts_log_values_batches_and_hides_types(run, two_batches):
    found = run("immune_human", two_batches())
    hidden, labelled = found["censored/data.zarr"].data, found["labelled/data.zarr"].data
    assert hidden.n == 200
    assert set(hidden["label"].tolist()) == {None}
    assert np.isnan(hidden["pseudotime"]).all()
    assert set(labelled["label"]) == {"2i", "a2i", "lif"} == set(labelled.coords["classes"])
    assert set(labelled["batch"]) == {"batch2", "batch3"}
    assert labelled["whole_counts"].tolist() == [1] * 200
    assert (labelled["counts"].data == np.round(labelled["counts"].data)).all()
    assert found["solution/data.zarr"].data.ids == hidden.ids
    assert np.isnan(found["solution/data.zarr"].data["pseudotime"]).sum() == (labelled["batch"] == "batch3").sum()


def test_a_batch_without_whole_counts_is_marked_and_all_of_them_are_refused(run, two_batches):
    def one(cells):
        other = (cells.obs["batch"] == "batch3").to_numpy()
        matrix = cells.layers["counts"].tolil()
        matrix[other] = matrix[other] * 0.37
        cells.layers["counts"] = matrix.tocsr()

    labelled = run("immune_human", two_batches(one=one))["labelled/data.zarr"].data
    assert set(labelled["whole_counts"][labelled["batch"] == "batch3"]) == {0}
    assert set(labelled["whole_counts"][labelled["batch"] == "batch2"]) == {1}

    def all_of_them(cells):
        cells.layers["counts"] = cells.layers["counts"] * 0.37

    with pytest.raises(CorruptDataError, match="fractions in every batch"):
        run("immune_human", two_batches(all=all_of_them))


def exchange(cells):
    cells.X, cells.layers["counts"] = cells.layers["counts"].copy(), cells.X.copy()


def negative(cells):
    cells.layers["counts"] = -cells.layers["counts"]


def no_layer(cells):
    del cells.layers["counts"]


def no_type(cells):
    cells.obs["final_annotation"] = cells.obs["final_annotation"].astype(object)
    cells.obs.loc[cells.obs_names[0], "final_annotation"] = None


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (exchange, "fractions|log-normalised"),
        (negative, "negative"),
        (no_layer, "no layer 'counts'"),
        (no_type, "final_annotation"),
    ],
)
def test_immune_human_refuses_what_is_not_what_it_claims(run, two_batches, change, said):
    with pytest.raises(CorruptDataError, match=said):
        run("immune_human", two_batches(change=change))


@pytest.fixture
def kang(real, tmp_path):
    """Cells of one donor in the layout of the file on figshare; half of them become a second donor."""

    def write(change=lambda cells: None):
        cells = open_cells(real / "single_cell/kang_ifnb_pbmc_donor101/kang_ifnb_donor101.h5ad")
        cells.obs = cells.obs.rename(columns={"condition": "label", "donor": "replicate"})
        cells.obs["replicate"] = ["patient_101" if i % 2 else "patient_107" for i in range(cells.n_obs)]
        change(cells)
        path = tmp_path / "kang_2018.h5ad"
        cells.write_h5ad(path)
        return {"kang_2018.h5ad": path}

    return write


def test_ifnb_hides_expression_and_types(run, kang):
    found = run("ifnb_pbmc", kang())
    hidden, labelled = found["censored/data.zarr"].data, found["labelled/data.zarr"].data
    assert set(found) == {"censored/data.zarr", "labelled/data.zarr"}
    assert "counts" not in hidden.fields
    assert set(hidden["cell_type"].tolist()) == {None}
    assert set(hidden["condition"]) == {"control", "stimulated"}
    isg15 = labelled["counts"][:, labelled.coords["genes"].index("ISG15")].toarray().ravel()
    treated = labelled["condition"] == "stimulated"
    assert isg15[treated].mean() > 5 * isg15[~treated].mean()


def test_ifnb_refuses_a_donor_in_one_condition_and_log_values(run, kang):
    def alone(cells):
        cells.obs["replicate"] = np.where(cells.obs["label"] == "stim", "patient_101", "patient_107")

    with pytest.raises(CorruptDataError, match="both conditions"):
        run("ifnb_pbmc", kang(alone))

    def log(cells):
        cells.X = logged(cells.X)

    with pytest.raises(CorruptDataError, match="fractions"):
        run("ifnb_pbmc", kang(log))


@pytest.fixture
def norman(real, tmp_path):
    def write(names, parts):
        cells = open_cells(real / "single_cell/kang_ifnb_pbmc_donor101/kang_ifnb_donor101.h5ad")[: len(names)].copy()
        cells.obs["perturbation"], cells.obs["nperts"] = names, parts
        path = tmp_path / "NormanWeissman2019_filtered.h5ad"
        cells.write_h5ad(path)
        return {path.name: path}

    return write


def test_norman_normalises_names_and_hides_counts(run, norman):
    found = run("norman_2019", norman(["control", "KLF1_CEBPA", "CEBPA_KLF1", "TP53"], [0, 2, 2, 1]))
    hidden = found["censored/data.zarr"].data
    assert hidden["perturbation"].tolist() == ["control", "CEBPA+KLF1", "CEBPA+KLF1", "TP53"]
    assert set(hidden.fields) == {"perturbation", "n_perturbed"}
    assert found["labelled/data.zarr"].is_private
    assert found["labelled/data.zarr"].attributes["cell_line"] == "K562"


@pytest.mark.parametrize(
    ("names", "parts", "said"),
    [
        (["control", "A_B_C"], [0, 2], "3 parts, the source says 2"),
        (["control", "A_A"], [0, 2], "A_A"),
        (["TP53", "KLF1"], [1, 1], "no control"),
    ],
)
def test_norman_refuses_names_that_do_not_add_up(run, norman, names, parts, said):
    with pytest.raises(CorruptDataError, match=said):
        run("norman_2019", norman(names, parts))


@pytest.mark.parametrize(
    ("name", "parts", "found"),
    [("A+B", 2, "A+B"), ("B,A", 2, "A+B"), ("A_ctrl", 1, "A"), ("ctrl_ctrl", 0, "control"), ("NegCtrl", 0, "control")],
)
def test_synonyms_are_one_name(name, parts, found):
    assert normalised(name, parts) == found


class Reader:
    """What a preparer asks of a dataset."""

    def __init__(self, found):
        self.labelled = found["labelled/data.zarr"].data

    def artifact(self, view):
        assert view == "labelled"
        return self.labelled


def test_ifnb_becomes_a_task_of_donors(run, kang):
    """From the layout of the source to splits: donors are held out, and are the replicates of the test."""
    treatments = pytest.importorskip(
        "primabench_task_perturbation.preparers.treatments", reason="splits are made by the perturbation plugin"
    )

    def eight(cells):
        cells.obs["replicate"] = [f"patient_{i % 8}" for i in range(cells.n_obs)]

    found = treatments.prepare(Reader(run("ifnb_pbmc", kang(eight))))
    assert found.solution.coords["de_method"] == ("pseudobulk-moderated-t-bh/1",)
    assert not set(found.train["replicate"]) & (set(found.solution["replicate"]) - {"none"})
    assert {"target_genes", "split_class", "replicates"} == set(found.test.fields)
    assert "ISG15" in found.solution.coords["genes"]


def test_norman_becomes_gears_classes(run, norman):
    screens = pytest.importorskip(
        "primabench_task_perturbation.preparers.screens", reason="splits are made by the perturbation plugin"
    )
    single = [f"G{i}" for i in range(8)]
    pairs = [f"{b}_{a}" for i, a in enumerate(single) for b in single[i + 1 :]]  # not in alphabetical order
    names = ["control", *single, *pairs] * 12
    parts = [0 if n == "control" else n.count("_") + 1 for n in names]
    found = screens.prepare_simulation(Reader(run("norman_2019", norman(names, parts))))
    classes = dict(zip(found.test.ids, found.test["split_class"], strict=True))
    assert set(classes.values()) == {"unseen_single", "combo_seen0", "combo_seen1", "combo_seen2"}
    assert all("+".join(sorted(name.split("+"))) == name for name in classes)
    assert found.solution.coords["de_method"] == ("wilcoxon-bh/1",)
    unseen = {name for name, kind in classes.items() if kind == "unseen_single"}
    assert not [name for name in found.train["perturbation"] if unseen & set(name.split("+"))]


@pytest.fixture
def pancreas(real, tmp_path):
    def write(stages):
        cells = open_cells(real / "single_cell/scvelo_pancreas/pancreas_50obs.h5ad")
        if stages:
            cells.obs["clusters"] = [stages[i % len(stages)] for i in range(cells.n_obs)]
        path = tmp_path / "endocrinogenesis_day15.h5ad"
        cells.write_h5ad(path)
        return {path.name: path}

    return write


def test_pancreas_gives_both_layers(run, pancreas):
    found = run("pancreas", pancreas(["Ductal", "Alpha"]))
    data = found["censored/data.zarr"].data
    assert data["spliced"].shape == data["unspliced"].shape == (50, 27998)
    assert set(data["label"].tolist()) == {None}
    assert found["solution/data.zarr"].data.coords["classes"] == ("Alpha", "Ductal")


def test_pancreas_refuses_files_without_stages_or_with_others(run, pancreas):
    with pytest.raises(CorruptDataError, match="clusters"):
        run("pancreas", pancreas([]))
    with pytest.raises(CorruptDataError, match="unknown stage 'Gamma'"):
        run("pancreas", pancreas(["Gamma"]))


def test_states_are_told_apart():
    counts = np.array([[0, 3.0], [1, 2]])
    assert as_counts(counts, "x").nnz == 3
    for wrong in (np.log1p(counts), -counts, counts + np.inf, counts * 2.0**24):
        with pytest.raises(CorruptDataError):
            as_counts(wrong, "x")
    assert as_log_values(np.log1p(counts), "x").nnz == 3
    for wrong in (counts, -np.log1p(counts), counts * 0.5 + 40):
        with pytest.raises(CorruptDataError):
            as_log_values(wrong, "x")


@pytest.fixture
def airway(real, tmp_path):
    def write(change=lambda cells: None):
        from primabench_recipes.formats.tables import read_table

        folder = real / "statistics/airway_counts"
        table, samples = read_table(folder / "counts.csv.gz"), read_table(folder / "samples.csv")
        ids = samples.text("sample")
        cells = anndata.AnnData(np.stack([table.numbers(name) for name in ids]).astype(np.float32))
        cells.obs_names, cells.var_names = list(ids), list(table.text("gene_id"))
        for name in ("cell", "dex"):
            cells.obs[name] = list(samples.text(name))
        cells.obs["avgLength"] = samples.integers("avgLength")
        change(cells)
        path = tmp_path / "airway.h5ad"
        cells.write_h5ad(path)
        return {"airway.h5ad": path}

    return write


def test_airway_is_counts_of_pairs(run, airway):
    data = run("airway", airway())["measured/data.zarr"].data
    assert sorted(data["treated"].tolist()) == [0] * 4 + [1] * 4
    assert len(set(data["donor"])) == 4
    fkbp5 = data["counts"][:, data.coords["genes"].index("ENSG00000096060")].toarray().ravel()
    assert fkbp5[data["treated"] == 1].mean() > 5 * fkbp5[data["treated"] == 0].mean()


def test_airway_refuses_a_donor_without_its_pair(run, airway):
    def alone(cells):
        cells.obs["dex"] = ["trt"] * 2 + list(cells.obs["dex"])[2:]

    with pytest.raises(CorruptDataError, match="with and without"):
        run("airway", airway(alone))


@pytest.fixture
def pasilla(real, tmp_path):
    def write(samples=None):
        import gzip

        folder = real / "statistics/pasilla_counts"
        text = gzip.decompress((folder / "counts.csv.gz").read_bytes()).decode()
        counts, annotation = tmp_path / "counts.tsv", tmp_path / "samples.csv"
        counts.write_text(text.replace(",", "\t"))
        rows = (folder / "samples.csv").read_text().splitlines()
        rows = [rows[0].replace("sample", "file", 1), *sorted(row.replace(",", "fb,", 1) for row in rows[1:])]
        annotation.write_text("\n".join(rows if samples is None else rows[:samples]) + "\n")
        return {"counts.tsv": counts, "samples.csv": annotation}

    return write


def test_pasilla_joins_its_tables_by_name(run, pasilla):
    data = run("pasilla", pasilla())["measured/data.zarr"].data
    assert data.ids[0] == "untreated1"
    assert data["treated"].tolist() == [int(name.startswith("treated")) for name in data.ids]
    assert data["library"].tolist()[0] == "single-read"
    target = data["counts"][:, data.coords["genes"].index("FBgn0261552")].toarray().ravel()
    assert target[data["treated"] == 1].max() < target[data["treated"] == 0].min()


def test_pasilla_refuses_tables_of_different_samples(run, pasilla):
    with pytest.raises(CorruptDataError, match="same samples"):
        run("pasilla", pasilla(samples=5))


@pytest.mark.parametrize(
    ("slug", "file"),
    [
        ("adamson_2016", "AdamsonWeissman2016_GSM2406681_10X010.h5ad"),
        ("replogle_2022_k562_essential", "ReplogleWeissman2022_K562_essential.h5ad"),
    ],
)
def test_screens_of_single_genes(run, real, tmp_path, slug, file):
    def build(names):
        cells = open_cells(real / "single_cell/kang_ifnb_pbmc_donor101/kang_ifnb_donor101.h5ad")[: len(names)].copy()
        cells.obs["perturbation"] = names
        cells.write_h5ad(tmp_path / file)
        return run(slug, {file: tmp_path / file})

    found = build(["control", "CREB1_pDS269", "CREB1_pDS270", "*", "non-targeting", "HLA-A"])
    hidden, labelled = found["censored/data.zarr"].data, found["labelled/data.zarr"]
    assert hidden["perturbation"].tolist() == ["control", "CREB1", "CREB1", "control", "HLA-A"]
    assert set(hidden.fields) == {"perturbation"}
    assert labelled.is_private
    assert labelled.attributes["cells_without_a_guide"] == 1
    assert labelled.data["counts"].shape[0] == 5
    with pytest.raises(CorruptDataError, match="no single gene"):
        build(["control", "A+B"])
    with pytest.raises(CorruptDataError, match="control"):
        build(["CREB1", "ATF4"])
