"""Runs a recipe without a store, on files of installed packages or on copies that are given."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from primabench_core import EvalData
from primabench_core.spec import RecipeSpec

if TYPE_CHECKING:
    from primabench_core.store.artifact import Artifact


def run_recipe(spec: RecipeSpec, given: Mapping[str, Path] | None = None) -> list[Artifact]:
    """What a recipe returns; nothing is written or fetched that is not in the end removed.

    Args:
        spec: The recipe.
        given: Copies of sources at hand, by name.

    Raises:
        PrimaBenchError: a source cannot be had or is not what it claims to be.
    """
    from primabench_core.discovery.registry import resolve
    from primabench_core.store.build import BuildContext

    with tempfile.TemporaryDirectory() as folder:
        context = BuildContext(spec, Path(folder), dict(given or {}))
        return [_in_memory(artifact) for artifact in resolve(spec.build)(context)]


def _in_memory(artifact: Artifact) -> Artifact:
    from attrs import evolve

    return evolve(artifact, data=artifact.data.load())


def labelled_parts(artifacts: list[Artifact]) -> dict[str, EvalData]:
    """Rows with their answers, by split; of data without answers all rows."""
    found = {a.split: a.data for a in artifacts if a.view == "labelled" and a.name == "data"}
    return found or {a.split: a.data for a in artifacts if a.name == "data"}  # nothing to predict, nothing to hide


def parse_given(spec: RecipeSpec, words: list[str]) -> dict[str, Path]:
    """Copies at hand as a command line names them: ``NAME=FILE``, or ``FILE`` alone where there is one source."""
    names = {source.name for source in spec.sources}
    found: dict[str, Path] = {}
    for word in words:
        name, equals, path = word.partition("=")
        if equals and name in names:
            found[name] = Path(path)
        elif len(names) == 1:
            found[next(iter(names))] = Path(word)
        else:
            raise SystemExit(f"{word!r}: say which source it is, NAME=FILE; names are {', '.join(sorted(names))}")
    return found
