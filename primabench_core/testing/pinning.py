"""Hashes that a plugin's specs pin, brought up to date in its own source files."""

from __future__ import annotations

from hashlib import sha256
from importlib import resources
from pathlib import Path

from attrs import frozen

from primabench_core.discovery import names, registry
from primabench_core.discovery.origin import checkout_of
from primabench_core.errors import UsageError
from primabench_core.testing.subjects import PluginSubject

_TEXT = (".py", ".toml", ".json", ".yaml", ".yml")
_PASSED_OVER = {"build", "dist", "__pycache__", "node_modules"}


@frozen
class Pin:
    """A hash that is not the one of what it stands for."""

    subject: str
    """Key of the dataset, or ``task|key`` of the preparer."""
    name: str
    """The attribute of the spec: ``content_hash`` or ``id_list_sha256``."""
    old: str
    new: str
    file: str = ""
    """Source file where it was put right, relative to the distribution's folder."""


def stale_pins(distribution: str) -> list[Pin]:
    """Hashes of id lists and of bundled recipes that differ from the pinned ones.

    Each recipe that needs no network is run once, into a temporary folder.

    Args:
        distribution: Name of an installed distribution.

    Raises:
        UsageError: no such distribution.
        PrimaBenchError: a recipe does not build.

    Example:
        >>> stale_pins("primabench-metrics")
        []
    """
    from primabench_core.store.build import hash_of_build

    found: list[Pin] = []
    for record in PluginSubject(distribution).records:
        if record.kind == "preparer" and (spec := registry.load_record(record)).id_list:
            package, _, inside = spec.id_list.partition(":")
            data = resources.files(package).joinpath(*inside.split("/")).read_bytes()
            found.append(Pin(record.name, "id_list_sha256", spec.id_list_sha256, sha256(data).hexdigest()))
        if record.kind == "dataset" and _is_buildable(key := record.name):
            card = registry.load_record(record)
            found.append(Pin(key, "content_hash", card.content_hash, hash_of_build(key)))
    return [pin for pin in found if pin.old != pin.new]


def _is_buildable(key: str) -> bool:
    return key in names.names("recipe") and registry.load("recipe", key).is_bundled


def write_pins(distribution: str, pins: list[Pin]) -> list[Pin]:
    """Put new hashes in the place of old ones in the source files of an editable install.

    All are found before the first file is written.

    Args:
        distribution: Name of an installed distribution.
        pins: What :func:`stale_pins` found.

    Returns:
        The pins with their files.

    Raises:
        UsageError: it is not installed from a folder, or a hash stands in no file of it.
    """
    if not pins:
        return []
    folder = checkout_of(distribution)
    if folder is None:
        raise UsageError(
            f"{distribution} is not installed from a folder, so there are no files to write hashes into.",
            remedy="pip install -e FOLDER",
        )
    texts = {path: path.read_text(encoding="utf-8") for path in _sources(folder)}
    placed: list[Pin] = []
    lost: list[str] = []
    for pin in pins:
        holders = [path for path, text in texts.items() if pin.old and pin.old in text]
        for path in holders:
            texts[path] = texts[path].replace(pin.old, pin.new)
            placed.append(Pin(pin.subject, pin.name, pin.old, pin.new, str(path.relative_to(folder))))
        if not holders:
            lost.append(f'{pin.subject}: {pin.name}="{pin.new}"')
    if lost:
        raise UsageError(
            f"The hash to replace stands in no source file under {folder}; write it by hand: {'; '.join(lost)}",
            remedy=f"primabench check {distribution} --pin",
        )
    for name in dict.fromkeys(pin.file for pin in placed):
        (folder / name).write_text(texts[folder / name], encoding="utf-8")
    return placed


def _sources(folder: Path) -> list[Path]:
    found: list[Path] = []
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or path.name in _PASSED_OVER or (path / "pyvenv.cfg").exists():
            continue
        found += _sources(path) if path.is_dir() else [path] if path.suffix in _TEXT else []
    return found
