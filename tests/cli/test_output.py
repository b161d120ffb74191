"""Where the output goes may be full, closed, or too old for our letters: that is no fault of ours, and no traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = [sys.executable, "-m", "primabench_core.cli.main", "list", "metrics"]


def run(redirect: str, **environment: str) -> subprocess.CompletedProcess[str]:
    line = " ".join([*COMMAND, redirect])
    return subprocess.run(line, shell=True, capture_output=True, text=True, env={**os.environ, **environment})


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full, a device that is always full")
def test_a_full_disk_behind_the_output_is_told() -> None:
    ran = run("> /dev/full")
    assert ran.returncode == 2
    assert "cannot be written" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_a_closed_output_is_no_fault() -> None:
    ran = run(">&-")
    assert ran.returncode == 0, ran.stderr


def test_a_terminal_without_our_letters_shows_others() -> None:
    command = [sys.executable, "-m", "primabench_core.cli.main", "show", "mcc"]
    plain = {**os.environ, "PYTHONIOENCODING": "ascii", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    ran = subprocess.run(command, capture_output=True, text=True, env=plain)
    assert ran.returncode == 0, ran.stderr
    assert "mcc" in ran.stdout


def test_a_reader_who_leaves_is_no_fault() -> None:
    ran = subprocess.run(f"{' '.join(COMMAND)} | head -1", shell=True, capture_output=True, text=True)
    assert "Traceback" not in ran.stderr
    assert "Broken" not in ran.stderr
