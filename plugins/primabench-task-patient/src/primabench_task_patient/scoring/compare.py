"""Two models on the same samples: paired tests task by task, corrected for their number."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray
from primabench_metrics.linear_probe import OutOfFold

from primabench_core import UsageError, statistics
from primabench_core.state.rows import Labels, Rows
from primabench_core.statistics.bootstrap import difference_finding
from primabench_task_patient.scoring.probe import DRAWS, LEVEL, run_patient_probe
from primabench_task_patient.scoring.resampled import multiplicities, resampled_scores, seed_of, units_of
from primabench_task_patient.scoring.truth import TaskTruth, Truth
from primabench_task_patient.submission import Submission, cover, read_submission


@frozen
class Difference:
    """One pair of models on one task."""

    task: str
    a: str
    b: str
    difference: float | None
    """Score of a minus score of b."""
    low: float | None
    high: float | None
    """95 % percentile interval of the difference: paired bootstrap over patients, or samples where none repeat."""
    p: float | None
    """Two-sided, of ``test``; None where the two never differ."""
    adjusted: float | None
    """Holm's adjustment over all pairs and tasks of the comparison."""
    test: str
    """``delong`` for the AUROC of two classes without repeated patients, else ``paired_bootstrap``."""
    resolvable: bool
    """False below 30 units or 10 of a class: no difference can be told, whatever p says."""

    @property
    def is_tied(self) -> bool:
        """Whether the two cannot be told apart at 5 % after the adjustment."""
        return not self.resolvable or self.adjusted is None or self.adjusted > 1 - LEVEL

    @property
    def better(self) -> str | None:
        """Name of the model that is better; None where the two are tied. Higher is better in every task."""
        if self.is_tied or not self.difference:
            return None
        return self.a if self.difference > 0 else self.b


@frozen(eq=False)
class _Probed:
    state: Rows
    found: OutOfFold
    value: float
    resolvable: bool


def compare(
    submissions: Mapping[str, Submission | str | Path], truth: Truth, *, draws: int = DRAWS
) -> list[Difference]:
    """Every pair of models on every task that both cover.

    DeLong's test needs independent rows; where patients repeat, or the score is another than the AUROC of two classes,
    the paired bootstrap over patients gives p. Predictions out of fold are made and dropped here.

    Args:
        submissions: File (or what was read) by name of the model; at least two.
        truth: Registry, samples and labels.
        draws: Resamples.

    Raises:
        UsageError: fewer than two models.
        SubmissionError: a file is refused.
    """
    if len(submissions) < 2:
        raise UsageError("A comparison needs at least two submissions.")
    probed = {name: _probe(given, truth) for name, given in submissions.items()}
    found = []
    for a, b in combinations(probed, 2):
        for task in sorted(set(probed[a]) & set(probed[b])):
            found.append(_difference(truth.tasks[task], a, b, probed[a][task], probed[b][task], draws))
    told = [i for i, d in enumerate(found) if d["p"] is not None]
    adjusted = statistics.holm(p=[found[i]["p"] for i in told]).values["adjusted"] if told else ()
    for i, p in zip(told, adjusted, strict=True):
        found[i]["adjusted"] = float(p)
    return [Difference(**d) for d in found]


def _probe(given: Submission | str | Path, truth: Truth) -> dict[str, _Probed]:
    submission = given if isinstance(given, Submission) else read_submission(given)
    coverage = cover(submission, truth.datasets, truth.asked)
    probed = {}
    for name, task in truth.tasks.items():
        if coverage.tasks[name].status != "scored":
            continue
        state = task.rows(coverage.vectors[task.task.dataset].of(task.samples))
        outcome, found = run_patient_probe(
            state, task=name, allow_unstratified=task.task.allow_unstratified, draws=0, minimum_n=task.task.minimum_n
        )
        if found is not None and outcome.value is not None:
            probed[name] = _Probed(state, found, outcome.value, bool(outcome.values["resolvable"]))
    return probed


def _difference(task: TaskTruth, a: str, b: str, one: _Probed, two: _Probed, draws: int) -> dict[str, Any]:
    rows = one.found.rows
    times, groups = multiplicities(*units_of(one.state, rows), draws=draws, seed=seed_of(task.task.id, one.state))
    on_draws = resampled_scores(one.state, one.found, times) - resampled_scores(two.state, two.found, times)
    kept = on_draws[~np.isnan(on_draws)]
    drawn = difference_finding(one.value, two.value, kept, draws=draws, groups=groups, level=LEVEL)
    p, test = drawn.value, "paired_bootstrap"
    label = one.state.truth.get("label")
    if isinstance(label, Labels) and len(label.classes) == 2 and "group" not in one.state.truth:
        p, test = _delong(label.codes[rows], one.found.values[rows, 0], two.found.values[rows, 0]), "delong"
    return {
        "task": task.task.id, "a": a, "b": b, "difference": drawn.values.get("difference"),
        "low": drawn.values.get("low"), "high": drawn.values.get("high"), "p": p, "adjusted": None, "test": test,
        "resolvable": one.resolvable and two.resolvable,
    }  # fmt: skip


def _delong(label: NDArray[np.int64], a: NDArray[np.float64], b: NDArray[np.float64]) -> float | None:
    found = statistics.delong(label=label, score_a=a, score_b=b)
    value = found.values.get("p", found.value)
    return None if value is None else float(value)
