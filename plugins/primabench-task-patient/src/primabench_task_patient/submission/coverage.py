"""What a submission covers: which tasks can be scored on which columns, and why the others are skipped.

It needs ids alone, no labels: what ``validate`` tells is what ``score`` will do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from attrs import frozen
from numpy.typing import ArrayLike, NDArray

from primabench_core import PrimaBenchError
from primabench_task_patient.submission.faults import Warned, some
from primabench_task_patient.submission.reader import Submission

MOST_UNKNOWN = 1000
"""Unknown pairs of ids that are listed."""


@frozen
class Asked:
    """What a task needs: a finite vector for each of these samples."""

    dataset: str
    labelled: tuple[str, ...]


@frozen
class TaskCoverage:
    """Whether a task can be scored."""

    status: str
    """``scored`` or ``skipped``."""
    reason: str = ""
    """``dataset_not_covered``, ``sample_missing`` or ``not_finite``; empty if it can be scored."""
    detail: str = ""


@frozen(eq=False)
class Vectors:
    """Embeddings of the known samples of one data set, in the order of the data set; padding is dropped."""

    samples: tuple[str, ...]
    columns: tuple[str, ...]
    values: NDArray[np.float64]
    """(samples, columns) float64; NaN or infinite where the submission is."""

    def of(self, samples: Sequence[str]) -> NDArray[np.float64]:
        """(len(samples), columns) vectors of these samples."""
        place = {name: row for row, name in enumerate(self.samples)}
        found: NDArray[np.float64] = self.values[[place[name] for name in samples]]
        return found


@frozen(eq=False)
class Coverage:
    """What :func:`cover` finds."""

    tasks: dict[str, TaskCoverage]
    width: dict[str, int]
    """Columns kept by data set; data sets without any are left out."""
    unknown: tuple[tuple[str, str], ...]
    """Pairs of ids that no data set has, at most 1,000."""
    warnings: tuple[Warned, ...]
    vectors: dict[str, Vectors]

    @property
    def complete(self) -> bool:
        """Whether every task can be scored."""
        return all(task.status == "scored" for task in self.tasks.values())


def cover(submission: Submission, datasets: Mapping[str, Sequence[str]], tasks: Mapping[str, Asked]) -> Coverage:
    """Compare a submission with what is asked for.

    Rows are joined on ids. A column that is blank for every known sample of a data set is dropped for that data set.
    A task needs a finite vector of each of its samples, else it is skipped and the others are not.

    Args:
        submission: What was read.
        datasets: Ids of the samples by data set.
        tasks: What each task needs.

    Raises:
        PrimaBenchError: a task asks for a data set or a sample that does not exist (a fault of the tasks).
    """
    for name, task in tasks.items():
        strange = set(task.labelled) - set(datasets.get(task.dataset, ()))
        if task.dataset not in datasets or strange:
            raise PrimaBenchError(
                f"Task {name}: {task.dataset} has no such data set or samples: {some(sorted(strange))}"
            )
    unknown, warnings = _unknown(submission, datasets)
    vectors = {}
    for dataset, samples in datasets.items():
        found, told = _vectors(submission, dataset, samples)
        warnings += told
        if found is not None:
            vectors[dataset] = found
    return Coverage(
        tasks={name: _task(task, vectors.get(task.dataset)) for name, task in tasks.items()},
        width={dataset: len(found.columns) for dataset, found in vectors.items()},
        unknown=tuple(unknown[:MOST_UNKNOWN]),
        warnings=tuple(warnings),
        vectors=vectors,
    )


def _unknown(
    submission: Submission, datasets: Mapping[str, Sequence[str]]
) -> tuple[list[tuple[str, str]], list[Warned]]:
    pairs: list[tuple[str, str]] = []
    warnings, strangers = [], {}
    for dataset, rows in submission.rows.items():
        if dataset not in datasets:
            strangers[dataset] = len(rows)
            pairs += [(dataset, sample) for sample in rows]
            continue
        known = set(datasets[dataset])
        strange = [sample for sample in rows if sample not in known]
        if strange:
            pairs += [(dataset, sample) for sample in strange]
            warnings.append(Warned("unknown_sample", f"{dataset} has no sample {some(strange)}: ignored"))
    if strangers:
        what = "is no data set" if len(strangers) == 1 else "are no data sets"
        told = f"{some(strangers)} {what} here: {sum(strangers.values())} rows are ignored"
        warnings.append(Warned("unknown_dataset", told))
    return pairs, warnings


def _vectors(submission: Submission, dataset: str, samples: Sequence[str]) -> tuple[Vectors | None, list[Warned]]:
    rows = submission.rows.get(dataset, {})
    names = tuple(sample for sample in samples if sample in rows)
    if not names:
        return None, [Warned("dataset_absent", f"no row of {dataset}")]
    values = submission.values[[rows[name] for name in names]]
    kept = np.logical_not(np.all(np.isnan(values), axis=0))
    if not kept.any():
        return None, [Warned("dataset_blank", f"every column is blank for {dataset}: it is not covered")]
    columns = tuple(_where(submission.columns, kept))
    values = values[:, kept]
    warnings = []
    if len(names) < len(samples):
        absent = sorted(set(samples) - set(names))
        warnings.append(Warned("samples_absent", f"{dataset}: no row of {some(absent)} ({len(absent)} samples)"))
    faulty = _faulty(values)
    if faulty.any():
        bad = _where(names, faulty)
        partly = _where(columns, np.isnan(values).any(axis=0))
        where = f"; blank in some rows, so no padding: {some(partly)}" if partly else ""
        warnings.append(Warned("not_finite", f"{dataset}: blank, NaN or infinite values of {some(bad)}{where}"))
    return Vectors(names, columns, values), warnings


def _where(names: Sequence[str], chosen: ArrayLike) -> list[str]:
    return [names[place] for place in np.flatnonzero(chosen).tolist()]


def _faulty(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """(rows,) whether a row has a value that is not finite."""
    found: NDArray[np.bool_] = np.any(~np.isfinite(values), axis=1)
    return found


def _task(task: Asked, vectors: Vectors | None) -> TaskCoverage:
    if vectors is None:
        return TaskCoverage("skipped", "dataset_not_covered", f"no embedding of {task.dataset}")
    absent = sorted(set(task.labelled) - set(vectors.samples))
    if absent:
        return TaskCoverage("skipped", "sample_missing", f"{len(absent)} samples have no row: {some(absent)}")
    faulty = _faulty(vectors.of(task.labelled))
    if faulty.any():
        bad = _where(task.labelled, faulty)
        return TaskCoverage(
            "skipped", "not_finite", f"{len(bad)} samples have a blank, NaN or infinite value: {some(bad)}"
        )
    return TaskCoverage("scored")
