"""Every Python block of the README and of the pages runs, top to bottom, in an empty folder with the bundled data."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    # the tutorial has a test of its own, which goes as far as a wheel
    *sorted(p for p in (ROOT / "docs").rglob("*.md") if p.name != "plugin-tutorial.md"),
]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NEEDS = re.compile(r"^# needs: (\w+)$", re.MULTILINE)
REAL = "wolf_2018_genome_biology/pbmc68k_reduced@1.0.0"
SYNTHETIC = "primabench_synthetic/cell_type_annotation@1.0.0"


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(tmp_path_factory.mktemp("examples"))


def build(key: str, store: Path) -> None:
    from primabench_core.errors import VersionExistsError
    from primabench_core.store.build import build_dataset

    try:
        build_dataset(key, store=str(store))
    except VersionExistsError:
        return


@pytest.mark.parametrize("page", [p for p in PAGES if BLOCK.search(p.read_text())], ids=lambda p: p.name)
def test_blocks_run(page: Path, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = page.read_text()
    monkeypatch.setenv("PRIMABENCH_STORE", str(store))
    monkeypatch.chdir(tmp_path)
    if "primabench_synthetic" in text:
        build(SYNTHETIC, store)
    elif "cell_type_annotation" in text:
        if importlib.util.find_spec("scanpy") is None:
            pytest.skip("the bundled data lie inside scanpy, which is not installed")
        build(REAL, store)
    names: dict[str, object] = {"__name__": "example"}
    for match in BLOCK.finditer(text):
        block = match[1]
        absent = [n for n in NEEDS.findall(block) if importlib.util.find_spec(n) is None]
        if absent:
            continue
        line = text[: match.start(1)].count("\n")
        exec(compile("\n" * line + block, str(page), "exec"), names)


def test_examples_of_public_names_run() -> None:
    """Those that need no data; the others are marked and stand in the pages above."""
    import doctest

    import primabench_core as pb

    values = [getattr(pb, name) for name in pb.__all__]
    values += [getattr(module, name) for module in values if hasattr(module, "__all__") for name in module.__all__]
    runner = doctest.DocTestRunner()
    for value in values:
        for example in doctest.DocTestFinder(recurse=False).find(value, name=getattr(value, "__name__", "?")):
            runner.run(example)
    assert runner.summarize(verbose=False).failed == 0
    assert runner.tries > 20


def test_the_readme_keeps_its_two_commands() -> None:
    """Each on one line, loud enough to be seen working; CI takes the second out of the page."""
    lines = [line for line in (ROOT / "README.md").read_text().splitlines() if line.startswith("python3 -m venv ")]
    assert len(lines) == 2
    assert lines[0].endswith("primabench demo")
    assert re.fullmatch(r"python3 -m venv .*nox -s tests", lines[1])
    assert not any(re.search(r"pip install.* -q\b|--quiet", line) for line in lines)


def test_every_page_with_python_is_run() -> None:
    """A block in another spelling (```py) would never run."""
    for page in PAGES:
        assert not re.search(r"^```(py|python3|Python)\b(?!thon\n)", page.read_text(), re.MULTILINE), page


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_commands_and_names_exist(page: Path) -> None:
    """Commands of shell blocks are commands, and every `pb.name` is public."""
    import primabench_core as pb
    from primabench_core.cli.main import COMMANDS
    from primabench_core.discovery.hooks import cli_commands

    text = page.read_text()
    later = {"evaluate_many"}
    assert set(re.findall(r"(?:^|`|\n)primabench ([a-z]+)", text)) <= {*COMMANDS, *cli_commands()}
    assert set(re.findall(r"\bpb\.([A-Za-z_]+)", text)) - later <= set(pb.__all__)
