"""Recipes whose sources lie in installed packages: pinned hashes, privacy, claims and cards."""

from __future__ import annotations

import subprocess
import sys
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from primabench_recipes.curation import readme
from primabench_recipes.curation.sources_at_hand import run_recipe

from primabench_core import CorruptDataError
from primabench_core.discovery import names, registry
from primabench_core.store.build import build_dataset
from primabench_core.store.manifest import Manifest, read_manifest
from primabench_core.store.writing import Layout
from primabench_core.store.zarr_io import open_lazy


def ours() -> list[str]:
    return [r.name for r in names.records("recipe") if r.distribution == "primabench-recipes"]


BUNDLED = [key for key in ours() if registry.load("recipe", key).is_bundled]


def built_here(key: str) -> bool:
    needed = registry.load("recipe", key).requires
    try:
        return all(metadata.version(name) for name in needed)
    except metadata.PackageNotFoundError:
        return False


def needs_package(key: str) -> None:
    if not built_here(key):
        pytest.skip(f"needs {', '.join(registry.load('recipe', key).requires)}")


@pytest.mark.parametrize("key", BUNDLED)
def test_the_pinned_hash_is_reached_in_other_folders_with_other_chunks_and_threads(key, tmp_path):
    needs_package(key)
    pinned = registry.load("dataset", key).content_hash
    assert len(pinned) == 64
    small = Layout(chunk_bytes=1 << 12, shard_bytes=1 << 15, threads=2)
    assert build_dataset(key, tmp_path / "first").content_hash == pinned
    if "pbmc68k" not in key:  # has a test of its own
        assert build_dataset(key, tmp_path / "elsewhere" / "second", layout=small).content_hash == pinned
    check_privacy(key, tmp_path / "first")


def check_privacy(key: str, store: Path) -> None:
    """No public artifact of a tested split holds an answer; the solution is private; ids are the same."""
    publication, _, rest = key.partition("/")
    folder = store / publication / "output" / rest.partition("@")[0] / "v1.0.0"
    manifest = read_manifest(Manifest, folder / "manifest.json")
    for entry in (e for e in manifest.artifacts if e.view == "censored"):
        shown = open_lazy(folder / entry.path)
        middle = f"{entry.split}/" if entry.split else ""
        solution = open_lazy(folder / "private" / "solution" / middle / "data.zarr", private=True)
        assert shown.ids == solution.ids
        for name in solution.fields:
            value = shown[name]
            if hasattr(value, "counts"):
                assert len(value.values) == 0
            elif value.dtype.kind == "f":
                assert np.isnan(value).all()
            else:
                assert set(value.tolist()) == {None}
    assert not any(entry.view == "solution" for entry in manifest.artifacts)


@pytest.mark.parametrize("key", ours())
def test_the_readme_says_what_the_card_and_the_data_say(key):
    recipe, card = registry.load("recipe", key), registry.load("dataset", key)
    text = readme.readme_of(recipe).read_text(encoding="utf-8")
    assert readme.between(text, "provenance") == readme.provenance(readme.family_of(recipe))
    assert "Leak audit" in card.notes
    if recipe.is_bundled and built_here(key):
        found = readme.audit_of(recipe, run_recipe(recipe))
        written = readme.between(text, "audit")
        if find_spec("rdkit") is None:  # then scaffolds are not looked at, and the audit says so
            found = [line for line in found if not line.startswith("scaffolds")]
            written = "\n".join(line for line in written.splitlines() if not line.startswith("- scaffolds"))
        assert written == readme.audit_text(found)
    if not recipe.is_bundled:
        assert readme.between(text, "audit") == readme.pending_text(recipe)
    for line in readme.between(text, "audit").splitlines():
        assert line in card.notes
    assert "- public truth: " in card.notes


@pytest.mark.parametrize("key", ours())
def test_every_card_is_complete(key):
    recipe, card = registry.load("recipe", key), registry.load("dataset", key)
    text = readme.readme_of(recipe).read_text(encoding="utf-8")
    for said in (card.licence, card.publication, card.summary, recipe.curator, *recipe.history):
        assert said
    assert all(source.licence for source in recipe.sources)
    assert "## What a reader must know" in text
    assert "public truth" in text or "needs the source" in text
    for source in recipe.sources:
        assert source.url.startswith("https://") or source.package
        assert source.package or source.files or not source.sha256 or len(source.sha256) == 64
    assert (readme.readme_of(recipe).parent / "explore.py").is_file()


def test_cards_are_light():
    modules = {r.target.partition(":")[0] for r in names.records("recipe") if r.distribution == "primabench-recipes"}
    code = (
        f"import importlib, sys; [importlib.import_module(m) for m in {sorted(modules)!r}];"
        "print([m for m in ('numpy', 'anndata', 'scanpy', 'scipy', 'zarr', 'torch', 'pandas') if m in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_no_package_is_imported_to_read_its_file(tmp_path):
    packages = ("sklearn", "physical_validation", "pydebiaseddta", "SQUARNA", "pybedtools", "sksurv", "tensorflow")
    keys = [key for key in BUNDLED if built_here(key) and "pbmc68k" not in key]
    code = (
        "import sys; from primabench_core.store.build import build_dataset;"
        f"[build_dataset(key, {str(tmp_path)!r}) for key in {keys!r}];"
        f"print([m for m in {packages!r} if m in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def given(tmp_path: Path, key: str, name: str, change) -> dict[str, Path]:
    """The source of a package with its text changed."""
    from primabench_core.store.sources import obtain

    spec = registry.load("recipe", key)
    path, *_ = obtain(spec, name, tmp_path, {})
    target = tmp_path / name
    target.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")
    return {name: target}


FAULTS = [
    ("wisconsin_diagnostic", "breast_cancer.csv", lambda t: t.replace("569,30", "568,30", 1), "first line"),
    ("wisconsin_diagnostic", "breast_cancer.csv", lambda t: t.replace("17.99", "-17.99", 1), "negative"),
    ("argon1000_energies", "dt_0.004.dat", lambda t: t.replace("-4335", "-9999", 1), "conserved"),
    ("argon1000_energies", "dt_0.004.dat", lambda t: "\n".join(t.splitlines()[:-1]), "length"),
    ("affinity_sample", "test.csv", lambda t: t.rstrip().rpartition(",")[0] + ",99\n", "KIBA"),
    ("squarna_sr150", "test.fas", lambda t: t.replace("(", ".", 1), "closes nothing|never closed"),
    ("squarna_sr150", "test.fas", lambda t: t.partition("\n")[2], "three lines"),
    ("ctcf_peaks_drosophila", "Kc.bed", lambda t: t + "chr2L\t65000\t66000\n", "overlap"),
    ("gse7390_metastasis", "metastasis.arff", lambda t: t.replace("7.01410950575358", "7014.1", 1), "log2"),
]


@pytest.mark.parametrize(("slug", "name", "change", "said"), FAULTS)
def test_a_source_that_breaks_a_claim_is_refused(slug, name, change, said, tmp_path):
    from attrs import evolve

    key = next(k for k in BUNDLED if f"/{slug}@" in k)
    needs_package(key)
    spec = registry.load("recipe", key)
    changed = given(tmp_path, key, name, change)
    with pytest.raises(CorruptDataError, match="not the file that the recipe was written for"):
        run_recipe(spec, changed)
    loose = evolve(spec, sources=[evolve(s, sha256="") for s in spec.sources])
    with pytest.raises(CorruptDataError, match=said):
        run_recipe(loose, changed)


def test_the_list_of_data_sets_names_every_recipe():
    text = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    for key in ours():
        publication, _, rest = key.partition("/")
        assert f"`{publication}/{rest.partition('@')[0]}`" in text or f"`{publication}/…`" in text, key


def test_all_bundled_builds_what_is_installed_and_says_what_is_not(tmp_path, monkeypatch, capsys):
    from primabench_core.cli import build_command
    from primabench_core.cli.main import main

    monkeypatch.setenv("PRIMABENCH_STORE", str(tmp_path))
    some = [key for key in BUNDLED if "wisconsin" in key or "pasilla" in key]
    monkeypatch.setattr(build_command, "bundled", lambda: some)
    assert main(["build", "--all-bundled"]) == 0
    said = capsys.readouterr().out
    if built_here(next(key for key in some if "wisconsin" in key)):
        assert "leak audit\n  - rows: all 569" in said
        assert main(["verify", "--dataset", next(key for key in some if "wisconsin" in key)]) == 0
    if not built_here(next(key for key in some if "pasilla" in key)):
        assert "skipped colange_2025_scientific_reports/pasilla@1.0.0" in said
        assert "primabench-recipes[gpl]" in said
