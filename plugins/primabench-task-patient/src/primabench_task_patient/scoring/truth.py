"""The private side: labels, folds and patients of every task. Never shown, only scored against."""

from __future__ import annotations

import csv
import hashlib
import hmac
import os
import secrets
from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray
from primabench_metrics.folds import is_stratified, splits_of

from primabench_core import ContractError
from primabench_core.state.rows import Labels, Rows
from primabench_task_patient.scoring.inputs import FILE as INPUTS
from primabench_task_patient.scoring.inputs import SAMPLES, read_inputs, read_samples
from primabench_task_patient.scoring.registry import Registry, RegistryError, TaskEntry, read_registry
from primabench_task_patient.submission import Asked
from primabench_task_patient.submission.faults import some

LABELS, SALT = "labels.csv", "salt"
ROLES = {"train": "fit", "test": "score"}
WIDEST = 1e100
"""Size of a value, and the inverse of the least spread, whose squares are numbers."""
KNOWN = ("sample_id", "label", "value", "fold", "split", "group")


@frozen(eq=False, repr=False)
class TaskTruth:
    """Labels of one task; its repr shows none of them."""

    task: TaskEntry
    samples: tuple[str, ...]
    fields: dict[str, Any]
    """``label`` or ``value``, ``fold`` or ``role``, ``group``: what a probe reads."""
    sha256: str
    """Keyed by the salt of the truth: it fixes the labels without telling them."""

    def __repr__(self) -> str:
        return f"TaskTruth({self.task.id!r}, {len(self.samples)} samples)"

    def rows(self, embedding: NDArray[np.float64]) -> Rows:
        """What the probe is given.

        Args:
            embedding: (samples, width) float64, in the order of ``samples``.
        """
        classes = self.fields["label"].classes if "label" in self.fields else None
        return Rows(len(self.samples), {"embedding": embedding}, self.fields, classes=classes, ids=self.samples)

    @property
    def folds(self) -> dict[str, Any]:
        """How the samples are split, in words: public."""
        splits = splits_of(self.rows(np.zeros((len(self.samples), 1))))
        group, label = self.fields.get("group"), self.fields.get("label")
        even = label is None or len(splits) < 2 or is_stratified(label.codes, splits, group)
        kind = "split" if "role" in self.fields else "folds"
        return {"kind": kind, "n": len(splits), "grouped": group is not None, "stratified": bool(even)}


@frozen(eq=False, repr=False)
class Truth:
    """A registry with the samples of its data sets and the labels of its tasks."""

    registry: Registry
    datasets: dict[str, tuple[str, ...]]
    tasks: dict[str, TaskTruth]

    @property
    def asked(self) -> dict[str, Asked]:
        """What each task needs of a submission."""
        return {name: Asked(t.task.dataset, t.samples) for name, t in self.tasks.items()}

    def __repr__(self) -> str:
        return f"Truth({self.registry.name!r}, {len(self.tasks)} tasks)"


def read_truth(folder: str | Path) -> Truth:
    """Read ``tasks.yaml``, ``<task>/labels.csv`` and the ids of samples.

    Ids are those of ``<data set>/samples.txt``; where one is absent, those of the expression file that a
    ``datasets.yaml`` beside ``tasks.yaml`` names, as in PRIMO's layout. A file ``salt`` keys the hashes of labels; it
    is made where it is absent.

    Raises:
        RegistryError: something is absent, or the truth is not sound: see :func:`task_truth`.
    """
    folder = Path(folder)
    registry = read_registry(folder)
    salt = _salt(folder / SALT)
    datasets = _samples(folder, registry)
    tasks = {}
    for name, task in registry.tasks.items():
        table = _table(folder / name / LABELS)
        strange = sorted(set(table["sample_id"]) - set(datasets[task.dataset]))
        if strange:
            raise RegistryError(f"{name}: labels of samples that {task.dataset} has not: {some(strange)}")
        tasks[name] = task_truth(task, table, salt)
    return Truth(registry, datasets, tasks)


def _samples(folder: Path, registry: Registry) -> dict[str, tuple[str, ...]]:
    listed = {name: folder / name / SAMPLES for name in registry.datasets}
    has_inputs = (folder / INPUTS).is_file() and not all(path.is_file() for path in listed.values())
    found = read_inputs(folder) if has_inputs else {}
    return {name: found.get(name) or read_samples(path) for name, path in listed.items()}


def task_truth(task: TaskEntry, table: dict[str, Sequence[str]], salt: bytes) -> TaskTruth:
    """Labels of a task, checked.

    Args:
        task: Its entry.
        table: Columns of text: ``sample_id``, ``label`` or ``value``, ``fold`` or ``split``, ``group`` if there is one.
        salt: Keys the hash.

    Raises:
        RegistryError: a sample twice, empty cells, numbers that are not finite, classes that do not fit the metric,
            folds that are not sound (a patient on both sides, a class not in its share).
    """
    order = sorted(range(len(table["sample_id"])), key=lambda row: table["sample_id"][row])
    columns = {name: [column[row] for row in order] for name, column in table.items()}
    samples = tuple(columns.pop("sample_id"))
    _check_columns(task, samples, columns)
    fields: dict[str, Any] = {}
    if task.is_classes:
        fields["label"] = _labels(columns["label"])
        _check_classes(task, fields["label"])
    else:
        fields["value"] = _numbers(task, columns["value"])
    if "split" in columns:
        strange = sorted(set(columns["split"]) - set(ROLES))
        if strange:
            raise RegistryError(f"{task.id}: split is 'train' or 'test', found {some(strange)}")
        fields["role"] = _labels([ROLES[side] for side in columns["split"]])
    else:
        fields["fold"] = _labels(columns["fold"])
    if "group" in columns:
        fields["group"] = _labels(columns["group"])
    digest = hmac.new(salt, digestmod=hashlib.sha256)
    for cells in (samples, *(columns[name] for name in sorted(columns))):
        digest.update(b"\x00".join(cell.encode() for cell in cells) + b"\x01")
    found = TaskTruth(task, samples, fields, digest.hexdigest())
    _check_folds(found)
    return found


def _check_columns(task: TaskEntry, samples: tuple[str, ...], columns: dict[str, list[str]]) -> None:
    answer = "label" if task.is_classes else "value"
    wrong = "value" if task.is_classes else "label"
    if answer not in columns or wrong in columns:
        raise RegistryError(f"{task.id}: a task of metric {task.metric} needs the column {answer!r} and no {wrong!r}")
    if ("fold" in columns) == ("split" in columns):
        raise RegistryError(f"{task.id}: needs either 'fold' or 'split'")
    if not samples or len(set(samples)) < len(samples):
        raise RegistryError(f"{task.id}: {'a sample is labelled twice' if samples else 'no sample is labelled'}")
    empty = sorted(name for name, cells in columns.items() if not all(cell.strip() for cell in cells))
    if empty or not all(samples):
        raise RegistryError(f"{task.id}: empty cells in {some(empty or ['sample_id'])}; leave unlabelled samples out")


def _check_classes(task: TaskEntry, label: Labels) -> None:
    n = len(label.classes)
    if (task.metric == "auroc" and n != 2) or (task.metric == "auroc_ovr_macro" and n < 3):
        raise RegistryError(f"{task.id}: {n} classes do not fit the metric {task.metric}")


def _check_folds(truth: TaskTruth) -> None:
    try:
        folds = truth.folds
    except ContractError as error:
        raise RegistryError(f"{truth.task.id}: the folds are not sound: {error}") from None
    if not folds["stratified"] and not truth.task.allow_unstratified:
        raise RegistryError(
            f"{truth.task.id}: folds do not hold their share of each class, so pooled scores would mislead",
            remedy="make other folds, or set allow_unstratified: true",
        )


def _labels(cells: Sequence[str]) -> Labels:
    classes = tuple(sorted(set(cells)))
    code = {name: place for place, name in enumerate(classes)}
    return Labels(np.asarray([code[cell] for cell in cells], np.int64), classes)


def _numbers(task: TaskEntry, cells: Sequence[str]) -> NDArray[np.float64]:
    try:
        found = np.asarray([float(cell) for cell in cells], np.float64)
    except ValueError:
        raise RegistryError(f"{task.id}: a value is no number") from None
    if not all(isfinite(value) for value in found.tolist()):
        raise RegistryError(f"{task.id}: a value is not finite; leave unlabelled samples out")
    spread = float(np.ptp(found / 2)) * 2 if len(found) else 0.0
    if not np.abs(found).max(initial=0.0) < WIDEST or 0 < spread < 1 / WIDEST:
        raise RegistryError(f"{task.id}: values beyond {WIDEST:g}, or closer than {1 / WIDEST:g}: take another unit")
    return found


def _table(path: Path) -> dict[str, Sequence[str]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            lines = [line for line in csv.reader(file, strict=True) if line]
    except OSError as error:
        raise RegistryError(f"{path} cannot be read: {error.strerror}") from None
    except (csv.Error, UnicodeDecodeError) as error:
        raise RegistryError(f"{path} is no table: {error}") from None
    header = lines[0] if lines else []
    if "sample_id" not in header or len(set(header)) < len(header) or not set(header) <= set(KNOWN):
        raise RegistryError(f"{path}: columns are {', '.join(KNOWN)}, each once, found {some(header)}")
    if any(len(line) != len(header) for line in lines):
        raise RegistryError(f"{path}: rows of different lengths")
    return {name: [line[place] for line in lines[1:]] for place, name in enumerate(header)}


def _salt(path: Path) -> bytes:
    """32 secret bytes, made once; the file may be read by its owner alone."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        pass
    except OSError as error:
        raise RegistryError(f"{path} cannot be made: {error.strerror}", remedy="write 64 hex digits into it") from None
    else:
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(secrets.token_hex(32) + "\n")
    try:
        found = bytes.fromhex(path.read_text(encoding="ascii").strip())
    except (OSError, ValueError):
        raise RegistryError(f"{path} is no line of hex digits") from None
    if len(found) < 16:
        raise RegistryError(f"{path} is shorter than 16 bytes")
    return found
