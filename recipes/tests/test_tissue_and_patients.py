"""Recipes of tissue and of patients: folders that are brought, and inputs without answers."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest

from primabench_core import CorruptDataError, StoreError
from primabench_core.discovery import registry
from primabench_core.store.build import build_dataset

anndata = pytest.importorskip("anndata", reason="h5ad files are read with anndata")
pytest.importorskip("scipy", reason="counts are sparse")

OCELOT = "ryu_2023_conference_on_computer_vision_and_pattern_recognition/ocelot@1.0.0"


@pytest.fixture
def ocelot(tmp_path):
    """Annotations of six images in the layout of the archive; made, as the licence forbids a real copy."""
    root = tmp_path / "ocelot"
    rng = np.random.default_rng(0)
    for split, images in (("train", 3), ("val", 1), ("test", 2)):
        folder = root / "annotations" / split / "cell"
        folder.mkdir(parents=True)
        for i in range(images):
            rows = [f"{x},{y},{1 + (x + y) % 2}" for x, y in rng.integers(0, 1024, (5 * i, 2))]
            (folder / f"{i + 1:03d}.csv").write_text("".join(f"{row}\n" for row in rows))
    return root


def test_ocelot_reads_points_and_keeps_images_without_cells(run, ocelot):
    found = run("ocelot", {"ocelot": ocelot})
    test = found["labelled/test/data.zarr"]
    assert test.is_private
    assert test.data["image"].tolist() == ["test/001", "test/002"]
    assert test.data["cells"].counts.tolist() == [0, 5]
    assert not found["labelled/val/data.zarr"].is_private
    assert len(found["censored/test/data.zarr"].data["cells"].values) == 0


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("1024,3,1", "outside"),
        ("3,4,0", "classes"),
        ("3,4", "x,y,class"),
        ("3.5,4,1", "whole numbers"),
        ("a,b,c", "x,y"),
    ],
)
def test_ocelot_refuses_points_that_cannot_be(run, ocelot, line, said):
    path = ocelot / "annotations/test/cell/002.csv"
    path.write_text(path.read_text() + line + "\n")
    with pytest.raises(CorruptDataError, match=said):
        run("ocelot", {"ocelot": ocelot})


def test_a_folder_of_another_kind_is_refused(run, ocelot, tmp_path):
    with pytest.raises(StoreError, match="holds no file like"):
        run("ocelot", {"ocelot": tmp_path / "ocelot" / "annotations"})
    shutil.rmtree(ocelot / "annotations/val")
    with pytest.raises(CorruptDataError, match="split val"):
        run("ocelot", {"ocelot": ocelot})


def test_ocelot_builds_from_the_folder_alone_and_draws_its_salt(ocelot, tmp_path):
    spec = registry.load("recipe", OCELOT)
    assert not spec.is_bundled
    with pytest.raises(StoreError, match="--raw-root"):
        build_dataset(OCELOT, tmp_path / "store")
    one = build_dataset(OCELOT, tmp_path / "store", sources={"ocelot": ocelot})
    two = build_dataset(OCELOT, tmp_path / "other", sources={"ocelot": ocelot})
    assert one.sources[0].sha256 == two.sources[0].sha256
    assert [a.root for a in one.artifacts] == [a.root for a in two.artifacts]
    assert one.solution_root != two.solution_root  # the source is not public, so the salt is drawn


def test_what_may_not_be_passed_on_is_not_pushed(ocelot, tmp_path):
    from primabench_core.errors import UsageError
    from primabench_core.store.release import check_licence

    manifest = build_dataset(OCELOT, tmp_path / "store", sources={"ocelot": ocelot})
    with pytest.raises(UsageError, match="may not be passed on"):
        check_licence(manifest)


@pytest.fixture
def hest(real, tmp_path):
    """Three real sections as three samples of a task, in the layout of HEST-Benchmark."""
    from primabench_recipes.formats.cells import open_cells

    spots = open_cells(real / "pathology/st_breast_cancer_layers123/st_breast_cancer_layers123.h5ad")
    root = tmp_path / "hest-bench" / "IDC"
    for name in ("adata", "splits"):
        (root / name).mkdir(parents=True)
    samples = {f"TENX{i}": spots[spots.obs["slice"].astype(str) == str(i)].copy() for i in (1, 2, 3)}
    for name, part in samples.items():
        part.write_h5ad(root / "adata" / f"{name}.h5ad")
    genes = [str(gene) for gene in spots.var_names[:50]]
    (root / "var_50genes.json").write_text(json.dumps({"genes": genes}))
    for fold, held_out in enumerate(samples):
        train = [name for name in samples if name != held_out]
        for side, members in (("train", train), ("test", [held_out])):
            lines = [f"{m},patches/{m}.h5,adata/{m}.h5ad" for m in members]
            path = root / "splits" / f"{side}_{fold}.csv"
            path.write_text("\n".join(["sample_id,patches_path,expr_path", *lines]) + "\n")
    return root, samples, genes


def test_hest_keeps_the_folds_and_raw_counts_of_the_source(run, hest):
    root, samples, genes = hest
    found = run("idc", {"hest_bench": root.parent})
    data = found["labelled/data.zarr"].data
    assert data.n == 769
    assert data.coords["genes"] == tuple(genes)
    first = samples["TENX1"]
    assert np.array_equal(data["counts"][: first.n_obs], first.X[:, :50].toarray())
    for fold, name in enumerate(samples):
        assert set(data["sample"][data[f"fold_{fold}"] == "test"]) == {name}
    assert np.isnan(found["censored/data.zarr"].data["counts"]).all()


def test_hest_refuses_folds_and_genes_that_do_not_fit(run, hest):
    root, _, genes = hest
    splits = root / "splits"
    text = (splits / "test_1.csv").read_text()
    (splits / "test_1.csv").write_text(text.replace("TENX2", "TENX1"))
    with pytest.raises(CorruptDataError, match="fold 1"):
        run("idc", {"hest_bench": root.parent})
    (splits / "test_1.csv").write_text(text)
    (splits / "train_0.csv").unlink()
    with pytest.raises(CorruptDataError, match="numbered from 0"):
        run("idc", {"hest_bench": root.parent})
    (root / "var_50genes.json").write_text(json.dumps({"genes": [*genes, "NOGENE"]}))
    with pytest.raises(CorruptDataError, match="NOGENE"):
        run("idc", {"hest_bench": root.parent})


@pytest.fixture
def primo(real, tmp_path):
    """Ten small cohorts of real counts in the layout of the inputs."""
    pytest.importorskip("yaml", reason="the list of data sets is YAML")
    from primabench_recipes.formats.tables import read_table

    table = read_table(real / "patient_omics/crohns_colon_rnaseq/transcript_counts.csv.gz")
    genes = [name for name in table.columns if name != "run"][:20]
    counts = np.stack([table.numbers(name) for name in genes], axis=1).astype(np.float32)
    given, lines = {}, ["datasets:"]
    for i in range(10):
        name = f"d{i + 1:03d}"
        part = anndata.AnnData(counts[i : i + 12])
        part.obs_names = [f"sample_{j}" for j in range(12)]
        part.var_names = [str(1000 + j) for j in range(20)]
        given[f"{name}.h5ad"] = tmp_path / f"{name}.h5ad"
        part.write_h5ad(given[f"{name}.h5ad"])
        lines += [f"  - id: {name}", f"    path: {name}/expression.h5ad", "    n_samples: 12", "    n_genes: 20"]
        lines += ["    gene_id_type: ncbi"]
    given["datasets.yaml"] = tmp_path / "datasets.yaml"
    given["datasets.yaml"].write_text("\n".join(lines) + "\n")
    return given


def test_primo_inputs_are_one_artifact_a_cohort_and_hide_nothing(run, primo):
    found = run("primo_inputs", primo)
    assert len(found) == 10
    assert not any(artifact.is_private for artifact in found.values())
    first = found["inputs/d001.zarr"]
    assert first.data["counts"].shape == (12, 20)
    assert first.attributes["gene_id_type"] == "ncbi"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("n_genes: 20", "n_genes: 21", "the list says"),
        ("id: d003", "id: d013", "expected d001"),
        ("datasets:", "sets:", "no list"),
    ],
)
def test_primo_files_must_be_those_of_the_list(run, primo, old, new, said):
    primo["datasets.yaml"].write_text(primo["datasets.yaml"].read_text().replace(old, new, 1))
    with pytest.raises(CorruptDataError, match=said):
        run("primo_inputs", primo)
