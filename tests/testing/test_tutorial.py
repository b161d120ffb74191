"""The tutorial, run as it stands: from ``primabench new`` to a wheel in a clean environment."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

TUTORIAL = Path(__file__).parents[2] / "docs" / "plugin-tutorial.md"
BLOCK = re.compile(r"^```(?P<language>\w*)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"# file: (?P<path>\S+)\n")

COMMANDS = {
    "primabench": "primabench_core.cli.main:main",
    "pytest": "pytest:console_main",
    "pip": "pip._internal.cli.main:main",
}
"""What a package installer would have put into ``bin``."""

PYTHON = """#!/bin/sh
[ "$1 $2" = "-m venv" ] && shift 2 && exec {python} -m venv --without-pip "$@"
exec {python} "$@"
"""

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the tutorial's commands are those of a POSIX shell")


def as_script(text: str) -> str:
    """The blocks as one shell script: bash as it is, Python into the file that its first line names."""
    lines = ["set -eu", "set -o pipefail"]
    for block in BLOCK.finditer(text):
        language, code = block["language"], block["code"]
        assert language in ("bash", "python"), f"a block of {language!r} would not be run"
        if language == "bash":
            lines.append(code)
            continue
        named = FILE.match(code)
        assert named, f"a block of Python names no file:\n{code}"
        lines.append(f"cat > {named['path']} <<'END_OF_FILE'\n{code}END_OF_FILE")
    return "\n".join(lines) + "\n"


def prepare_environment(folder: Path) -> None:
    """A virtual environment that also finds this interpreter's packages, so that pip needs no network.

    ``python -m venv`` in the tutorial then finds it there and leaves it as it is.
    """
    subprocess.run([sys._base_executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    packages = folder / Path(sysconfig.get_path("purelib")).relative_to(sys.prefix)
    parents = dict.fromkeys([sysconfig.get_path("purelib"), sysconfig.get_path("platlib")])
    (packages / "parent.pth").write_text("".join(f"import site; site.addsitedir({p!r})\n" for p in parents))
    for name, target in COMMANDS.items():
        module, _, function = target.partition(":")
        command = folder / "bin" / name
        command.write_text(
            f"#!{folder}/bin/python\nimport sys\nfrom {module} import {function}\nsys.exit({function}())\n"
        )
        command.chmod(0o755)


def test_the_tutorial_runs_from_new_to_a_wheel(tmp_path):
    if not importlib.util.find_spec("hatchling"):
        pytest.skip("building without an index needs hatchling: pip install hatchling")
    for name in ("env", "clean"):
        prepare_environment(tmp_path / name)
    script = tmp_path / "tutorial.sh"
    script.write_text(as_script(TUTORIAL.read_text(encoding="utf-8")))
    tools = tmp_path / "tools"
    tools.mkdir()
    python = tools / "python"  # `python -m venv` as a user has it, but for the pip that is there already
    python.write_text(PYTHON.format(python=sys._base_executable))
    python.chmod(0o755)
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PRIMABENCH_", "PYTHON", "PIP_", "VIRTUAL_ENV"))}
    environment = {
        **kept,
        "PATH": f"{tools}:/usr/bin:/bin",  # nothing of this interpreter's environment, which must stay as it is
        "PIP_REQUIRE_VIRTUALENV": "1",
        "PIP_NO_INDEX": "1",
        "PIP_NO_BUILD_ISOLATION": "0",  # pip reads it upside down: 0 means without isolation
        "PIP_NO_WARN_CONFLICTS": "0",  # so is this: it does not look through all that is installed
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_QUIET": "1",
        "COLUMNS": "100",
    }
    done = subprocess.run(
        ["bash", str(script)], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    out = done.stdout
    assert "metric.perfect_prediction_reaches_the_optimum:worst_recall" in out
    assert "metric.undefined_has_a_reason:worst_recall" in out
    assert out.count("the checks found something") == 1
    assert "doe_2026_cell_systems/my_soils@1.0.0" in out
    installed = list((tmp_path / "clean").rglob("primabench_task_soil_type/metric.py"))
    assert len(installed) == 1, "the wheel brings the package into the clean environment"
    assert list((tmp_path / "clean").rglob("primabench_task_soil_type/splits.tsv"))


def test_the_files_of_the_tutorial_are_those_that_new_writes():
    """The table of files names what is there."""
    from primabench_core.cli import scaffold

    written = {Path(name).name for name, _ in scaffold._templates("task")} | {"splits.tsv"}
    rows = [line for line in TUTORIAL.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    named = {Path(name).name for row in rows for name in re.findall(r"`([^`]+)`", row.split("|")[1])}
    assert named - {"tests"} <= written
