"""Plugins as folders: a dist-info and modules on a temporary entry of ``sys.path``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from textwrap import dedent

import pytest

from primabench_core.discovery import names


class Site:
    """A folder of installed distributions."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir(exist_ok=True)

    def module(self, name: str, code: str) -> None:
        file = self.path.joinpath(*name.split(".")).with_suffix(".py")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(dedent(code))

    def distribution(
        self,
        name: str,
        entry_points: Mapping[str, Mapping[str, str]] | str,
        *,
        version: str = "1.0",
        requires: tuple[str, ...] = (),
        metadata: bool = True,
    ) -> Path:
        """Write a dist-info; entry points as text, or group (the part after ``primabench.``) to name to target."""
        folder = self.path / f"{name.replace('-', '_')}-{version}.dist-info"
        folder.mkdir()
        if metadata:
            needs = "".join(f"Requires-Dist: {r}\n" for r in requires)
            (folder / "METADATA").write_text(
                f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}\nName: a line of the description\n"
            )
        if not isinstance(entry_points, str):
            entry_points = "\n".join(
                f"[primabench.{group}]\n" + "".join(f"{key} = {target}\n" for key, target in lines.items())
                for group, lines in entry_points.items()
            )
        (folder / "entry_points.txt").write_text(entry_points)
        names.refresh()
        return folder


@pytest.fixture
def make_site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], Site]]:
    """Make folders of distributions; a later one comes first on ``sys.path``."""
    monkeypatch.delenv("PRIMABENCH_DISABLE", raising=False)
    monkeypatch.delenv("PRIMABENCH_STRICT", raising=False)
    before = set(sys.modules)

    def make(name: str) -> Site:
        site = Site(tmp_path / name)
        monkeypatch.syspath_prepend(str(site.path))
        names.refresh()
        return site

    yield make
    for name in set(sys.modules) - before:
        if name.startswith(("fake", "primabench_sample")):
            del sys.modules[name]
    monkeypatch.undo()
    names.refresh()


@pytest.fixture
def site(make_site: Callable[[str], Site]) -> Site:
    return make_site("site")
