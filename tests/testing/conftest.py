"""Wrong plugins: the distribution that ``primabench new task`` writes, with one thing changed."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from primabench_core.cli import scaffold
from primabench_core.testing import subject_of
from primabench_core.testing.bench import Bench
from primabench_core.testing.fixtures import FakeDistribution, fake_distribution, spy_store  # noqa: F401

NAME, DISTRIBUTION, PACKAGE = "wrong", "primabench-task-wrong", "primabench_task_wrong"
KEY = f"primabench_synthetic/{NAME}@1.0.0"

ENTRY_POINTS = {
    "tasks": {NAME: f"{PACKAGE}.specs:TASK"},
    "datasets": {KEY: f"{PACKAGE}.specs:SYNTHETIC"},
    "recipes": {KEY: f"{PACKAGE}.specs:RECIPE"},
    "preparers": {f"{NAME}|{KEY}": f"{PACKAGE}.specs:PREPARE"},
    "baselines": {f"{NAME}|{b}": f"{PACKAGE}.specs:{b.upper()}" for b in ("perfect", "majority", "nearest_centroid")},
}


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package that ``primabench new task wrong`` writes."""
    folder = tmp_path_factory.mktemp("written") / "wrong"
    values = {"name": NAME, "title": "Wrong", "distribution": DISTRIBUTION, "package": PACKAGE, "key": KEY}
    scaffold.write("task", folder, values, split=True)
    return folder / "src" / PACKAGE


Install = Callable[..., None]


@pytest.fixture
def wrong_task(written: Path, fake_distribution: FakeDistribution) -> Install:  # noqa: F811
    """Install the package with texts of its modules replaced: ``wrong_task(recipe={old: new}, …)``.

    ``pinned=False`` takes the pinned content hash away, for a recipe that makes something else.
    """

    def install(
        entry_points: Mapping[str, Mapping[str, str]] = ENTRY_POINTS,
        *,
        pinned: bool = True,
        requires: tuple[str, ...] = ("primabench-core",),
        **changes: Mapping[str, str],
    ) -> None:
        modules = {}
        for file in written.glob("*.py"):
            code = file.read_text()
            for old, new in changes.get(file.stem, {}).items():
                assert old in code, f"{old!r} is not in {file.name}"
                code = code.replace(old, new)
            if not pinned:
                code = re.sub(r'content_hash="[0-9a-f]{64}"', 'content_hash=""', code)
            modules[f"{PACKAGE}.{file.stem}"] = code
        root = fake_distribution(DISTRIBUTION, entry_points, modules, requires=requires)
        (root / PACKAGE / "splits.tsv").write_bytes((written / "splits.tsv").read_bytes())

    return install


@pytest.fixture
def subject(tmp_path: Path) -> Callable[[str, str], Any]:
    """Subjects that share a bench."""
    bench = Bench(tmp_path / "bench")
    return lambda kind, name: subject_of(kind, name, bench)
