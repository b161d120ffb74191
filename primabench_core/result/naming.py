"""Names that tell results apart, by what differs between them: the same on a report, in a comparison, in a command."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from primabench_core.result.eval_result import EvalResult

File = str | PathLike[str] | None

_NAMING = ("model_name", "baseline", "oracle")
"""Labels that a name is made of, or that stand beside it."""
_FIRST = ("step", "adapter_mode", "preprocessing_version", "model_family", "artifact_id")
"""Labels in the order in which they are tried; others follow by name."""


def tell_apart(
    names: Sequence[str],
    *,
    labels: Sequence[Mapping[str, str]] = (),
    files: Sequence[File] = (),
    unnamed: Sequence[bool] = (),
) -> list[str]:
    """Names of which no two are the same.

    A name that occurs once stays as it is. Where names coincide, labels that differ are added (as few as suffice);
    then what differs in the paths of the files: stem, suffix, folders; only what both leave alike is numbered.

    Args:
        names: Of the models.
        labels: Of each; none by default.
        files: Where each was read from, or None.
        unnamed: Whether the name only stands for the lack of one; its file then takes its place.

    Example:
        >>> tell_apart(["net", "net", "base"], labels=[{"step": "5"}, {"step": "10"}, {}])
        ['net step=5', 'net step=10', 'base']
        >>> tell_apart(["net", "net"], files=["runs/a.json", "runs/b.json"])
        ['net (a)', 'net (b)']
        >>> tell_apart(["net", "net"])
        ['net', 'net (2)']
    """
    found = list(names)
    lone = {name for name in names if names.count(name) == 1}  # these stay, whatever others come to be called
    for alike in _coinciding(found):
        added = _by_labels([labels[i] for i in alike] if labels else [])
        for i, more in zip(alike, added, strict=False):
            found[i] = f"{found[i]} {more}" if more else found[i]
    for together in _coinciding(found):
        alike = [i for i in together if names[i] not in lone]
        paths = [Path(file) for i in alike if files and (file := files[i])]
        if len(paths) < len(alike):
            continue
        for i, path, part in zip(alike, paths, _by_path(paths), strict=True):
            stands_for_file = found[i] == names[i] and (found[i] == path.stem or bool(unnamed and unnamed[i]))
            found[i] = part if stands_for_file else f"{found[i]} ({part})"
    return _numbered(found, [name in lone for name in names])


def names_of(results: Sequence[EvalResult], files: Sequence[File] = ()) -> list[str]:
    """A name for each result that no other of them has; see :func:`tell_apart`.

    Args:
        results: Of whatever models.
        files: Where each result (or its predictions) was read from, or None.
    """
    return tell_apart(
        [r.model for r in results],
        labels=[r.labels for r in results],
        files=files,
        unnamed=[not (r.labels.get("model_name") or r.labels.get("baseline")) for r in results],
    )


def names_by_data(results: Sequence[EvalResult], files: Sequence[File] = ()) -> list[str]:
    """Like :func:`names_of`, for results of many data: those that are never ranked together may share a name."""
    together: dict[tuple[str, ...], list[int]] = {}
    for i, result in enumerate(results):
        together.setdefault(data_key(result), []).append(i)
    found = [""] * len(results)
    for members in together.values():
        told = names_of([results[i] for i in members], [files[i] for i in members] if files else ())
        for i, name in zip(members, told, strict=True):
            found[i] = name
    return found


def data_key(result: EvalResult) -> tuple[str, ...]:
    """The same for results on the same truth."""
    return result.task, result.dataset, result.dataset_hash, result.truth_sha256


def _coinciding(names: Sequence[str]) -> list[list[int]]:
    places: dict[str, list[int]] = {}
    for i, name in enumerate(names):
        places.setdefault(name, []).append(i)
    return [found for found in places.values() if len(found) > 1]


def _by_labels(labels: Sequence[Mapping[str, str]]) -> list[str]:
    """What to add to each name: the one label that tells all apart, else all that are needed for as many as can be."""
    keys = {key for found in labels for key in found} - set(_NAMING)
    differ = [key for key in keys if len({found.get(key) for found in labels}) > 1]
    differ.sort(key=lambda key: (_FIRST.index(key) if key in _FIRST else len(_FIRST), key))

    def kinds(chosen: Sequence[str]) -> int:
        return len({tuple(found.get(key) for key in chosen) for found in labels})

    alone = [[key] for key in differ if kinds([key]) == len(labels)]
    chosen: list[str] = alone[0] if alone else []
    if not chosen:
        for key in differ:
            if not chosen or kinds([*chosen, key]) > kinds(chosen):
                chosen.append(key)
    return [" ".join(f"{key}={found[key]}" for key in chosen if key in found) for found in labels]


def _by_path(paths: Sequence[Path]) -> list[str]:
    """The shortest end of each path that tells as many of them apart as whole paths do."""
    most = len({path.resolve() for path in paths})
    found = [path.stem for path in paths]
    for end in _ends(max(len(path.resolve().parts) for path in paths)):
        found = [end(path) for path in paths]
        if len(set(found)) == most:
            break
    return found


def _ends(depth: int) -> Iterator[Callable[[Path], str]]:
    for folders in range(depth):
        yield lambda path, n=folders: "/".join([*_last(path, n), path.stem])  # type: ignore[misc]
        yield lambda path, n=folders: "/".join([*_last(path, n), path.name])  # type: ignore[misc]


def _last(path: Path, n: int) -> tuple[str, ...]:
    """The last folders that hold a file."""
    parts = path.resolve().parts[1:-1]
    return parts[len(parts) - n :] if 0 < n < len(parts) else parts if n else ()


def _numbered(names: Sequence[str], stay: Sequence[bool]) -> list[str]:
    """Numbers behind names that have been given already; those that stay are given first."""
    taken, given = set(names), {name for name, stays in zip(names, stay, strict=True) if stays}
    found: list[str] = []
    for name, stays in zip(names, stay, strict=True):
        if not stays and name in given:
            name = next(other for i in count(2) if (other := f"{name} ({i})") not in taken)
            taken.add(name)
        given.add(name)
        found.append(name)
    return found
