"""The reference in the repository is what the code says now, and the build of it survives broken plugins."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from primabench_core.cli.docs_command import find_stale
from primabench_core.cli.main import main
from primabench_core.cli.reference import MARK, build_reference
from primabench_core.cli.reference.markdown import docstring, prose, table

ROOT = Path(__file__).parents[2]


def test_committed_pages_are_up_to_date() -> None:
    """In a process of its own: tests beside this one install plugins for a while."""
    command = [sys.executable, "-m", "primabench_core.cli.main", "docs", "build", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_build_is_repeatable_and_removes_only_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "reference"
    assert main(["docs", "build", "--output", str(folder), "--check"]) == 1
    assert "absent" in capsys.readouterr().out
    assert not folder.exists()
    assert main(["docs", "build", "--output", str(folder)]) == 0
    assert main(["docs", "build", "--output", str(folder), "--check"]) == 0
    (folder / "own.md").write_text("# Mine\n")
    (folder / "gone.md").write_text(f"{MARK}\n")
    (folder / "errors.md").write_text(f"{MARK}\nold\n")
    stale = find_stale(folder, build_reference().pages)
    assert stale == {"gone.md": "not generated any more", "errors.md": "out of date"}
    capsys.readouterr()
    assert main(["docs", "build", "--output", str(folder), "--check"]) == 1
    out = capsys.readouterr().out
    assert "errors.md: out of date" in out
    assert "primabench docs build" in out
    assert main(["docs", "build", "--output", str(folder)]) == 0
    assert (folder / "own.md").exists()
    assert not (folder / "gone.md").exists()


def test_a_broken_plugin_is_named_and_harms_no_other_page(tmp_path, monkeypatch, capsys) -> None:
    from primabench_core.discovery import names

    info = tmp_path / "broken_plugin-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken-plugin\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[primabench.metrics]\nnobody = no_such_module_anywhere:nobody\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    names.refresh()
    try:
        folder = tmp_path / "reference"
        assert main(["docs", "build", "--output", str(folder)]) == 1
        index = (folder / "index.md").read_text()
        assert "broken-plugin" in index
        assert "no_such_module_anywhere" in index
        assert "accuracy" in (folder / "metrics" / "index.md").read_text()
        assert "broken-plugin" in capsys.readouterr().err
    finally:
        monkeypatch.undo()
        names.refresh()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "yes"),
        ({"supervised": False}, "none: train and test are the same data"),
        ({"test_only": True}, "none: test-"),
    ],
)
def test_a_task_card_says_whether_there_is_something_to_learn_from(options: dict[str, bool], said: str) -> None:
    from attrs import evolve

    from primabench_core.cli.reference.cards import _training_labels
    from primabench_core.discovery import registry

    assert _training_labels(evolve(registry.load("task", "cell_type_annotation"), **options)).startswith(said)


def test_everything_has_its_card() -> None:
    from primabench_core.discovery import hooks, names
    from primabench_core.spec import __all__ as declared

    pages = build_reference().pages
    everything = "\n".join(pages.values())
    for kind in ("task", "dataset", "metric", "baseline", "benchmark", "recipe"):
        for name in names.names(kind):
            assert f"`{name.rpartition('|')[2]}`" in everything, name
    for hook in ("evaluation_started", "evaluation_finished", "cli_commands", "exporters"):
        assert hasattr(hooks.Hooks, hook)
        assert f"## {hook}" in pages["hooks.md"]
    for name in declared:
        assert name in pages["specs.md"]


def test_links_between_pages_lead_somewhere() -> None:
    pages = build_reference().pages
    for path, text in pages.items():
        for address in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text):
            if "://" in address:
                continue
            target = (Path(path).parent / address).as_posix()
            parts: list[str] = []
            for part in target.split("/"):
                if part == "..":
                    parts.pop()
                elif part != ".":
                    parts.append(part)
            assert "/".join(parts) in pages, (path, address)


def test_docstrings_become_markdown() -> None:
    text = docstring(
        """One line with ``code`` and :class:`~a.b.C`.

        Args:
            x: first,
                over two lines.
            **more: others.

        Returns:
            A number < 1 * 2.

        Example:
            >>> 1  # doctest: +SKIP
            1
        """
    )
    assert "`code` and `a.b.C`" in text
    assert "- `x`: first, over two lines." in text
    assert "- `**more`: others." in text
    assert "A number &lt; 1 \\* 2." in text
    assert "```pycon\n>>> 1\n1\n```" in text
    assert prose(":data:`primabench_core.x.Y`") == "`Y`"
    assert table(("a", "b"), [("1|2", "x\ny")]).splitlines()[-1] == "| 1&#124;2 | x y |"
    assert table(("a",), [("`x|<y`",)]).endswith("| <code>x&#124;&lt;y</code> |")
    assert table(("a",), []) == ""
