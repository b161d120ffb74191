"""Fixtures for tests of plugins; import those that you use, or name this module in ``pytest_plugins``.

::

    from primabench_core.testing.fixtures import fake_distribution, spy_store  # noqa: F401
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import dedent
from typing import Any, Protocol

import pytest

from primabench_core.discovery import names
from primabench_core.testing.spy import watch_chunks


class FakeDistribution(Protocol):
    """What the fixture ``fake_distribution`` is called like."""

    def __call__(
        self,
        name: str,
        entry_points: Mapping[str, Mapping[str, str]],
        modules: Mapping[str, str] | None = None,
        *,
        version: str = "1.0",
        requires: tuple[str, ...] = ("primabench-core",),
    ) -> Path:
        """Install a distribution into a folder on ``sys.path``.

        Args:
            name: Its name.
            entry_points: Group (the part after ``primabench.``) to name to ``module:attribute``.
            modules: Dotted module name to source code.
            version: Its version.
            requires: Its requirements.

        Returns:
            The folder.
        """


@pytest.fixture
def fake_distribution(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeDistribution]:
    """Installs distributions for one test: a dist-info and modules in a temporary folder, taken away afterwards."""
    monkeypatch.delenv("PRIMABENCH_DISABLE", raising=False)
    monkeypatch.delenv("PRIMABENCH_STRICT", raising=False)
    root = tmp_path / "fake-site"
    root.mkdir()
    monkeypatch.syspath_prepend(str(root))

    def install(
        name: str,
        entry_points: Mapping[str, Mapping[str, str]],
        modules: Mapping[str, str] | None = None,
        *,
        version: str = "1.0",
        requires: tuple[str, ...] = ("primabench-core",),
    ) -> Path:
        for module, code in (modules or {}).items():
            file = root.joinpath(*module.split(".")).with_suffix(".py")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(dedent(code), encoding="utf-8")
        folder = root / f"{name.replace('-', '_')}-{version}.dist-info"
        folder.mkdir()
        needed = "".join(f"Requires-Dist: {text}\n" for text in requires)
        (folder / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needed}", encoding="utf-8"
        )
        lines = [
            f"[primabench.{group}]\n" + "".join(f"{key} = {target}\n" for key, target in found.items())
            for group, found in entry_points.items()
        ]
        (folder / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")
        importlib.invalidate_caches()
        names.refresh()
        return root

    yield install
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None) or "").startswith(str(root)):
            del sys.modules[name]
    monkeypatch.undo()
    names.refresh()


@pytest.fixture
def spy_store() -> Iterator[list[str]]:
    """Keys of all chunks that are read from local stores during the test, in order; metadata do not count."""
    with watch_chunks() as seen:
        yield seen


@pytest.fixture(scope="session")
def local_cluster() -> Iterator[Any]:
    """A ``distributed.Client`` with two worker processes of one thread each, for the whole session.

    Workers inherit the environment and ``sys.path`` of the moment when the first test asks for it.
    """
    pytest.importorskip("distributed", reason='a cluster needs pip install "primabench-core[cluster]"')
    from distributed import Client

    from primabench_core.evaluation.launch import start

    with start(2) as cluster, Client(cluster, set_as_default=False) as client:
        yield client
