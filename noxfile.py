"""Every check of the project. `nox -s tests` is what CI runs; the other sessions are its parts and the slow ones."""

from __future__ import annotations

import os
import sys
import tempfile
import tomllib
from pathlib import Path

import nox

ROOT = Path(__file__).parent


def _test_extra(folder: str) -> str:
    """``[test]`` where a plugin declares what its tests need besides what all tests need."""
    project = tomllib.loads((ROOT / folder / "pyproject.toml").read_text())["project"]
    return "[test]" if "test" in project.get("optional-dependencies", {}) else ""


PLUGINS = sorted(p.parent.relative_to(ROOT).as_posix() for p in ROOT.glob("plugins/*/pyproject.toml"))
DISTRIBUTIONS = [".[report,files,test,lint,docs]", *(f"{folder}{_test_extra(folder)}" for folder in PLUGINS)]
RECIPES = "recipes[scanpy,fetched,chem]"
BUILD = ["hatchling>=1.26", "editables"]
CARRIERS = ["SQUARNA", "physical-validation", "pybedtools", "pydebiaseddta"]  # packages whose files recipes read
PYTHON_SOURCES = ["primabench_core", "plugins", "recipes", "tests", "noxfile.py"]

nox.options.sessions = ["tests"]
nox.options.error_on_external_run = True


def _install(session: nox.Session) -> None:
    """Install everything in editable form.

    torch comes first and alone, so that the pinned build is taken and no other package pulls in another one. One build
    backend serves all of ours, and bytecode is made of what is imported alone: that saves minutes.
    """
    session.env["PIP_NO_COMPILE"] = "1"
    session.install("-c", "constraints.txt", "torch", *BUILD)
    editable = [part for target in [*DISTRIBUTIONS, RECIPES] for part in ("-e", target)]
    session.install("--no-build-isolation", "-c", "constraints.txt", *editable)
    session.install("--no-deps", *CARRIERS)
    # Bytecode makes every start of the command line about three times faster.
    session.env["PYTHONDONTWRITEBYTECODE"] = ""


def _lint(session: nox.Session) -> None:
    session.run("ruff", "format", "--check", *PYTHON_SOURCES)
    session.run("ruff", "check", *PYTHON_SOURCES)
    session.run("mypy")
    session.run("lint-imports")


def _wheels(session: nox.Session) -> None:
    """Build all wheels, install them where nothing else is, and evaluate once: editable installs hide faults."""
    with tempfile.TemporaryDirectory() as folder:
        wheels, clean = Path(folder, "wheels"), Path(folder, "clean")
        session.run("python", "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(wheels), ".", *PLUGINS, "recipes")
        session.run("python", "-m", "venv", str(clean))
        scripts = clean / ("Scripts" if os.name == "nt" else "bin")
        python = str(scripts / "python")
        pip = [python, "-m", "pip", "install", "-q", "-c", "constraints.txt"]
        session.run(*pip, "torch", external=True)
        found = [str(w) for w in sorted(wheels.glob("*.whl"))]
        session.run(*pip, *found, external=True)
        store = str(Path(folder, "store"))
        session.run(
            str(scripts / "primabench"),
            "evaluate",
            "--task",
            "cell_type_annotation",
            "--dataset",
            "primabench_synthetic/cell_type_annotation@1.0.0",
            "--baseline",
            "logistic",
            "--build",
            "--require",
            "macro_f1_truth_labels>=0.8",
            env={"PRIMABENCH_STORE": store, "PYTHONDONTWRITEBYTECODE": ""},
            external=True,
        )


@nox.session
def tests(session: nox.Session) -> None:
    """All checks: format, lint, types, import rules, tests, wheels in a clean environment."""
    _install(session)
    _lint(session)
    session.run(
        "pytest", "-q", "-n", "2", "--dist", "loadfile", "--no-loadscope-reorder", "--durations=10", *session.posargs
    )
    _wheels(session)


@nox.session
def lint(session: nox.Session) -> None:
    """Format, lint, types and import rules alone."""
    _install(session)
    _lint(session)


@nox.session
def wheels(session: nox.Session) -> None:
    """Build and install the wheels alone."""
    _wheels(session)


@nox.session
def slow(session: nox.Session) -> None:
    """The tests that take minutes."""
    _install(session)
    session.run("pytest", "-q", "-m", "slow", *session.posargs)


@nox.session
def docs(session: nox.Session) -> None:
    """Build the site into site/; a dead link is an error. `primabench docs build` writes its reference before."""
    session.install("-c", "constraints.txt", "mkdocs-material")
    session.run("mkdocs", "build", "--strict", "-f", ".mkdocs.yml", env={"NO_MKDOCS_2_WARNING": "1"})


@nox.session(name="recipes-3.12", python="3.12")
def recipes_on_newer_libraries(session: nox.Session) -> None:
    """Recipes with the newest libraries of Python 3.12: every pinned content hash must be reached there too.

    No constraints, and no torch: building data needs none.
    """
    needed = ["numpy", "xarray", "zarr", "attrs", "cattrs", "pluggy", "importlib-metadata<10", "fsspec", "rich"]
    readers = ["pandas", "anndata", "scipy", "scikit-learn", "pyyaml", "matplotlib", "rdkit"]
    session.install(*needed, *readers, "pytest", "hypothesis")
    plugins = [part for target in PLUGINS for part in ("-e", target)]
    session.install("--no-deps", "-e", ".", *plugins, "-e", "recipes", *CARRIERS, "scanpy", "scikit-survival")
    # anndata sets options of pandas that warn from pandas 3 on; they are not ours
    options = ("future.infer_string", "mode.chained_assignment")
    quiet = [word for name in options for word in ("-W", f"ignore:The '{name}' option is deprecated")]
    session.run("pytest", "-q", *quiet, "recipes", *session.posargs)


@nox.session
def coverage(session: nox.Session) -> None:
    """Tests with a report of lines and branches that no test reaches."""
    _install(session)
    session.run("pytest", "-q", "--cov", "--cov-report=term-missing:skip-covered", *session.posargs)


if __name__ == "__main__":
    sys.exit("run: nox -s tests")
