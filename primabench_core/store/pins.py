"""Checksums of sources that were not known when a recipe was written: recorded at first fetch, pinned in a file.

The file is ``checksums.toml`` of the recipe's top package, one table a dataset, so that a pin is a line that somebody
reviews::

    ["luecken_2022_nature_methods/immune_human@1.0.0"]
    "Immune_ALL_human.h5ad" = "0f3c…"

An installed package cannot be written to. There the line goes into a file of the same form beside the dataset in the
store, which later builds are held to, and is shown so that it can be sent to the recipe's authors.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from importlib import util
from pathlib import Path

from attrs import frozen

from primabench_core.errors import CorruptDataError
from primabench_core.spec.dataset import RecipeSpec, Source
from primabench_core.store.faults import named
from primabench_core.store.lock import exclusive

FILE = "checksums.toml"


@frozen
class Pin:
    """A checksum that a source is held to."""

    sha256: str
    place: str
    """Where it stands, for messages."""


class Pins:
    """Pins of one recipe.

    Args:
        spec: The recipe.
        beside: Folder of the dataset in the store; None reads the package's file alone and records nothing.
        checkout: Whether the package is a working copy, whose file may be written to.

    Example:
        >>> from primabench_core.spec import RecipeSpec, Source
        >>> spec = RecipeSpec(dataset="a_2020_b/c@1.0.0", build="m:f", sources=[Source(name="s", sha256="12")])
        >>> Pins(spec).of(spec.sources[0]).place
        'the recipe'
    """

    def __init__(self, spec: RecipeSpec, beside: Path | None = None, *, checkout: bool = False) -> None:
        self._key = spec.dataset
        self._reviewed = _file_of_package(spec)
        self._beside = None if beside is None else beside / FILE
        self._checkout = checkout

    def of(self, source: Source) -> Pin | None:
        """What a source must be: the recipe's own word, then the reviewed file, then what this store recorded.

        Raises:
            CorruptDataError: a file of pins cannot be read.
        """
        if source.sha256:
            return Pin(source.sha256, "the recipe")
        for path in (self._reviewed, self._beside):
            found = read_pins(path).get(self._key, {}).get(source.name, "") if path else ""
            if found:
                return Pin(found, str(path))
        return None

    def record(self, source: Source, sha256: str) -> str:
        """Pin a source that was fetched for the first time.

        Returns:
            What to tell the user; empty where nothing is recorded.

        Raises:
            StoreError: the file cannot be written.
        """
        path = self._reviewed if self._checkout else self._beside
        if path is None:
            return ""
        with exclusive(path.with_name(f".{path.name}.lock")):
            pins = {key: dict(lines) for key, lines in read_pins(path).items()}
            pins.setdefault(self._key, {})[source.name] = sha256
            write_pins(path, pins)
        line = f'"{source.name}" = "{sha256}"'
        target = self._reviewed or "checksums.toml of the recipe's package"
        advice = f"review and commit {path}" if self._checkout else f'commit it below ["{self._key}"] in {target}'
        return f"first fetch of source {source.name!r} of {self._key}; pinned in {path}: {line} ({advice})"


def read_pins(path: Path) -> Mapping[str, Mapping[str, str]]:
    """Pins of a file: dataset key -> name of the source -> SHA-256; empty if there is no file.

    Raises:
        CorruptDataError: it is not of the form shown in the module.
        StoreError: the disk does not give it.
    """
    if not path.is_file():
        return {}
    with named("read", path):
        data = path.read_bytes()
    try:
        found = tomllib.loads(data.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CorruptDataError(f"{path} cannot be read: {error}", remedy="repair it, or take the last commit") from None
    for key, lines in found.items():
        if not isinstance(lines, dict) or not all(_is_digest(value) for value in lines.values()):
            raise CorruptDataError(
                f'{path}: below {key!r} each line must be "source name" = "64 hexadecimal digits"',
                remedy="repair it, or take the last commit",
            )
    return found


def write_pins(path: Path, pins: Mapping[str, Mapping[str, str]]) -> None:
    """Write a file of pins, sorted, in one step."""
    lines = [
        "# SHA-256 of sources, recorded at the first fetch of each. A line that changes means a changed source.",
    ]
    for key in sorted(pins):
        lines += ["", f"[{json.dumps(key)}]"]
        lines += [f"{json.dumps(name)} = {json.dumps(value)}" for name, value in sorted(pins[key].items())]
    temporary = path.with_name(f".{path.name}.new")
    with named("write", path):
        temporary.write_text("\n".join(lines) + "\n", encoding="utf-8")
        temporary.replace(path)


def _is_digest(value: object) -> bool:
    return isinstance(value, str) and len(value) == 64 and set(value) <= set("0123456789abcdef")


def _file_of_package(spec: RecipeSpec) -> Path | None:
    """The reviewed file of the top package that holds the recipe, found without importing it."""
    top = spec.build.partition(":")[0].partition(".")[0]
    try:
        found = util.find_spec(top) if top else None
    except (ImportError, ValueError):
        return None
    places = list(found.submodule_search_locations or ()) if found else []
    return Path(places[0]) / FILE if places else None
