"""Runs recipes on small files of the layout of their sources; nothing is ever fetched."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from attrs import evolve

from primabench_core.discovery import names, registry
from primabench_core.spec import RecipeSpec


@pytest.fixture(scope="session")
def real() -> Path:
    """The folder of small real files."""
    folder = os.environ.get("PRIMABENCH_TEST_DATA", "")
    if not folder:
        pytest.skip("set PRIMABENCH_TEST_DATA to the folder of small real files")
    return Path(folder)


@pytest.fixture(autouse=True)
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test of a recipe dials out."""
    monkeypatch.setenv("PRIMABENCH_OFFLINE", "1")


@pytest.fixture(scope="session")
def recipe_of():
    """The recipe of a slug, without the checksums of its real sources."""

    def find(slug: str) -> RecipeSpec:
        key = next(k for k in names.names("recipe") if f"/{slug}@" in k)
        spec = registry.load("recipe", key)
        return evolve(spec, sources=[evolve(source, sha256="") for source in spec.sources])

    return find


@pytest.fixture
def run(recipe_of, monkeypatch):
    """Run a recipe on given files: artifacts by path. Pins of real sources do not apply to small ones."""
    from primabench_recipes.curation.sources_at_hand import run_recipe

    from primabench_core.store import pins

    monkeypatch.setattr(pins, "_file_of_package", lambda spec: None)

    def go(slug: str, given: dict[str, Path]) -> dict[str, object]:
        recipe = recipe_of(slug)
        found = run_recipe(recipe, given)
        audited(recipe, found)
        return {artifact.path: artifact for artifact in found}

    return go


def audited(recipe: RecipeSpec, artifacts: list) -> None:
    """The audit that a build prints runs on whatever a recipe returns, and looks at all that its plan names."""
    from primabench_recipes.curation.readme import plan_of

    lines = registry.resolve(recipe.audit)(recipe, artifacts)
    plan = plan_of(recipe)
    assert lines[0].startswith("rows: ")
    assert lines[-1].startswith("public truth: ")
    text = "\n".join(lines)
    for name in (plan.label, plan.near, *plan.groups):
        assert f"`{name}`" in text or not name
    assert "duplicates within" in text or not plan.identity
    assert "scaffolds" in text or not plan.smiles
