"""Formats that plugins bring."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from primabench_core.discovery import names

COMMAND = ("evaluate", "--task", "cell_type_annotation", "--dataset",
           "primabench_synthetic/cell_type_annotation@1.0.0", "--baseline", "majority", "--ci", "none")  # fmt: skip
HOOK = """
from primabench_core.discovery.hooks import hookimpl
@hookimpl
def exporters(): return {"fake-lines": "fake_export:write"}
"""
WRITER = """
def write(result, path): path.write_text("".join(f"{r.name} {r.value}\\n" for r in result))
"""


@pytest.fixture
def plugin(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    site = tmp_path_factory.mktemp("site")
    (site / "fake_export_hook.py").write_text(HOOK)
    (site / "fake_export.py").write_text(WRITER)
    info = site / "fake_export-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: fake-export\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[primabench.hooks]\nfake = fake_export_hook\n")
    with monkeypatch.context() as patch:
        patch.syspath_prepend(str(site))
        names.refresh()
        yield
    for module in ("fake_export", "fake_export_hook"):
        sys.modules.pop(module, None)
    names.refresh()


def test_a_result_is_written_in_the_format_of_a_plugin(plugin: None, primabench: Callable, tmp_path: Path) -> None:
    ran = primabench(*COMMAND, "--export", "fake-lines=lines.txt")
    assert ran.code == 0, ran.err
    assert "written to lines.txt" in ran.out
    assert "macro_f1_truth_labels 0." in (tmp_path / "lines.txt").read_text()
    assert primabench(*COMMAND, "--export", "fake-lines=lines.txt").code == 2
    assert primabench(*COMMAND, "--export", "fake-lines=lines.txt", "--force").code == 0


def test_an_unknown_format_is_refused_before_anything_is_scored(plugin: None, primabench: Callable) -> None:
    ran = primabench(*COMMAND, "--export", "fake-line=lines.txt")
    assert ran.code == 2
    assert "fake-lines" in ran.err
    assert primabench(*COMMAND, "--export", "lines.txt").code == 2
