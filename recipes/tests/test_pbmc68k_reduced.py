"""The recipe of real cells: its claims, its hash, and what it must not let through."""

from __future__ import annotations

import subprocess
import sys
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

from primabench_core import CorruptDataError, EvalData
from primabench_core.contract.check import Context, check_shard
from primabench_core.contract.fields import Field
from primabench_core.spec import DatasetKey
from primabench_core.store.access import open_solution, verify_dataset
from primabench_core.store.build import build_dataset
from primabench_core.store.writing import Layout
from primabench_core.store.zarr_io import open_lazy

pytest.importorskip("anndata", reason="the recipe reads an h5ad file")
pytest.importorskip("scipy", reason="the file holds a sparse matrix")

from primabench_recipes.wolf_2018_genome_biology.pbmc68k_reduced import explore, recipe
from primabench_recipes.wolf_2018_genome_biology.pbmc68k_reduced.card import DATASET, KEY, RECIPE


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("store")
    build_dataset(KEY, root)
    return root


@pytest.fixture(scope="module")
def stored():
    return recipe.open_file(explore.find_file())


def version(store: Path) -> Path:
    return store / "wolf_2018_genome_biology" / "output" / "pbmc68k_reduced" / "v1.0.0"


def test_the_pinned_hash_is_reached_with_any_chunks_and_threads(store, tmp_path):
    assert len(DATASET.content_hash) == 64
    small = Layout(chunk_bytes=1 << 12, shard_bytes=1 << 15, threads=2)
    assert build_dataset(KEY, tmp_path, layout=small).content_hash == DATASET.content_hash
    for place in (store, tmp_path):
        assert verify_dataset(KEY, place).passed


def test_stored_values_are_those_of_the_file(store, stored):
    cells = open_lazy(version(store) / "censored" / "data.zarr")
    assert cells.n == 700
    assert cells.ids == tuple(stored.obs_names)
    assert cells.coords["genes"] == tuple(stored.raw.var_names)
    assert (cells["expression"] != stored.raw.X).nnz == 0
    for name in recipe.INPUTS:
        assert cells[name].tolist() == stored.obs[name].tolist()
    private = open_lazy(version(store) / "private" / "labelled" / "data.zarr", private=True)
    assert private["label"].tolist() == stored.obs["bulk_labels"].tolist()


def test_what_is_public_holds_no_answer(store, stored):
    cells = open_lazy(version(store) / "censored" / "data.zarr")
    assert cells["label"].tolist() == [None] * 700
    assert set(cells.fields) == {"expression", "label", *recipe.INPUTS}
    assert "louvain" not in cells.fields


def test_raw_holds_logarithms_of_whole_molecules(stored):
    recipe.check_log_values(stored.raw.X, np.asarray(stored.obs["n_counts"], float))


def test_the_scaled_matrix_is_rejected_by_the_recipe(stored):
    counts = np.asarray(stored.obs["n_counts"], float)
    with pytest.raises(CorruptDataError, match="negative"):
        recipe.check_log_values(stored.X, counts)
    with pytest.raises(CorruptDataError, match="whole number"):
        recipe.check_log_values(stored.raw.X * 1.01, counts)


@pytest.mark.parametrize(("state", "raw_passes"), [("counts", False), ("log", True)])
def test_a_contract_rejects_the_scaled_matrix_and_tells_counts_from_logarithms(stored, state, raw_passes):
    field = Field("expression", "matrix", coord="genes", state=state)
    genes = tuple(stored.raw.var_names)
    for matrix, passes in ((stored.raw.X, raw_passes), (stored.X, False)):
        _, violations = check_shard([field], {"expression": matrix}, Context(coords={"genes": genes}))
        assert (not violations) is passes, violations


def test_the_classes_are_those_of_the_card(store):
    solution = open_solution("clustering", KEY, store)
    classes, counts = np.unique(solution["label"].astype(str), return_counts=True)
    assert len(classes) == 10
    assert (counts.min(), counts.max()) == (8, 240)
    assert solution.coords["classes"] == tuple(classes)


def test_a_file_that_lost_a_label_is_refused(stored, monkeypatch):
    changed = stored.copy()
    changed.obs["bulk_labels"] = changed.obs["bulk_labels"].astype(object)
    changed.obs.loc[changed.obs_names[3], "bulk_labels"] = None
    monkeypatch.setattr(recipe, "open_file", lambda path: changed)
    with pytest.raises(CorruptDataError, match="bulk_labels"):
        recipe.read_cells(Path("x"))


def test_the_card_says_what_a_reader_must_know():
    assert DatasetKey.parse(DATASET.key).publication == "wolf_2018_genome_biology"
    assert DATASET.doi == "10.1186/s13059-017-1382-0"
    assert "10.1038/ncomms14049" in DATASET.origin
    assert "BSD-3-Clause" in DATASET.licence
    assert RECIPE.is_bundled
    for word in ("louvain", "public", "annotation"):
        assert word in DATASET.notes


def test_the_card_is_light():
    code = (
        "import sys; import primabench_recipes.wolf_2018_genome_biology.pbmc68k_reduced.card as c;"
        "print([m for m in ('numpy', 'anndata', 'scanpy', 'scipy', 'zarr', 'torch') if m in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_building_does_not_import_scanpy(tmp_path):
    code = (
        "import sys; from primabench_core.store.build import build_dataset;"
        f"build_dataset({KEY!r}, {str(tmp_path)!r}); print('scanpy' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"


def test_the_source_is_the_pinned_file():
    from primabench_core.store.hashing import file_sha256

    assert metadata.version("scanpy")
    assert file_sha256(explore.find_file()) in (RECIPE.sources[0].sha256, *RECIPE.sources[0].equivalent)


def test_explore_prints_and_draws(tmp_path):
    pytest.importorskip("matplotlib", reason="the picture needs matplotlib")
    text = explore.report(explore.find_file())
    assert "700 x 765" in text
    assert "neither counts nor log values" in text
    explore.draw(explore.find_file(), tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 1000


def test_eval_data_is_what_the_recipe_gives():
    assert isinstance(recipe.read_cells(explore.find_file()), EvalData)
