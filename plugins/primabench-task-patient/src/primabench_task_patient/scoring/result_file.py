"""The result file of a submission: one JSON document, without a label, an out-of-fold prediction or a path."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from primabench_core import ResultError, UsageError
from primabench_core.spec import Outcome
from primabench_task_patient.scoring.probe import DRAWS, run_patient_probe
from primabench_task_patient.scoring.truth import TaskTruth, Truth
from primabench_task_patient.submission import Coverage, Submission, TaskCoverage, cover, read_submission

FORMAT, SCHEMA = "primabench-patient-scores", 1
LIBRARIES = ("numpy", "scipy", "primabench-core", "primabench-metrics", "primabench-task-patient")


def score_submission(
    submission: Submission | str | Path,
    truth: Truth,
    *,
    model: str,
    organisation: str | None = None,
    owner: str | None = None,
    family: str | None = None,
    is_baseline: bool = False,
    submitted_at: datetime | None = None,
    draws: int = DRAWS,
) -> dict[str, Any]:
    """Score a submission on every task of a truth.

    Args:
        submission: What was read, or the file.
        truth: Registry, samples and labels.
        model: Name of the model.
        organisation: Shown beside the model.
        owner: Account that the name belongs to; never shown.
        family: Family of models that it belongs to.
        is_baseline: Rendered as "name (baseline)".
        submitted_at: Now, if not given; an aware time.
        draws: Resamples of each interval; 0 for none.

    Returns:
        The document that the README describes, ready for :func:`to_json`.

    Raises:
        SubmissionError: the file is refused.
        UsageError: the model has no name, or the time has no zone.
    """
    if not model.strip():
        raise UsageError("A model needs a name.")
    for text in (model, organisation, owner, family):
        if any("\ud800" <= char <= "\udfff" for char in text or ""):  # what a shell gives for bytes that are not UTF-8
            raise UsageError(f"{text!a} is not UTF-8 text.", remedy="write names as UTF-8")
    when = submitted_at or datetime.now(UTC)
    if when.tzinfo is None:
        raise UsageError("submitted_at needs a time zone.", remedy="write it as 2026-11-29T19:30:00Z")
    given = submission if isinstance(submission, Submission) else read_submission(submission)
    coverage = cover(given, truth.datasets, truth.asked)
    scores = [_score(truth.tasks[name], coverage, draws) for name in sorted(truth.tasks)]
    counts = {kind: sum(s["status"] == kind for s in scores) for kind in ("scored", "skipped", "failed")}
    return {
        "format": FORMAT,
        "schema_version": SCHEMA,
        "model": {
            "name": model, "organisation": organisation, "owner": owner, "family": family, "is_baseline": is_baseline,
        },
        "submitted_at": when.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "submission_sha256": given.sha256,
        "submission": {
            "format": given.format, "bytes": given.bytes, "rows": given.n_rows, "width": coverage.width,
            "warnings": [{"code": w.code, "message": w.message} for w in coverage.warnings],
        },
        "registry_sha256": truth.registry.sha256,
        "synthetic": truth.registry.synthetic,
        "complete": counts["scored"] == len(scores),
        "counts": counts,
        "scores": scores,
        "versions": {"python": platform.python_version(), **{name: version(name) for name in LIBRARIES}},
    }  # fmt: skip


def to_json(document: Mapping[str, Any]) -> str:
    """The document as strict JSON with sorted keys: the same document, the same bytes."""
    return json.dumps(document, sort_keys=True, ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def read_result(path: str | Path) -> dict[str, Any]:
    """Read a result file.

    Raises:
        ResultError: it cannot be read, is of another format or of another version.
    """
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"), parse_constant=_refuse_constant)
    except (OSError, ValueError) as error:
        raise ResultError(f"{path} cannot be read: {error}") from None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise ResultError(f"{path} is no result of 'primabench patient score'")
    if found.get("schema_version") != SCHEMA:
        raise ResultError(f"{path} has schema version {found.get('schema_version')!r}; this version reads {SCHEMA}")
    return found


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not strict JSON")


def _score(truth: TaskTruth, coverage: Coverage, draws: int) -> dict[str, Any]:
    covered = coverage.tasks[truth.task.id]
    if covered.status != "scored":
        return _record(truth, covered)
    vectors = coverage.vectors[truth.task.dataset].of(truth.samples)
    try:
        outcome, _ = run_patient_probe(
            truth.rows(vectors),
            task=truth.task.id,
            allow_unstratified=truth.task.allow_unstratified,
            draws=draws,
            minimum_n=truth.task.minimum_n,
        )
    except Exception as error:  # noqa: BLE001 - no task is lost by another; the message may hold labels
        failed = TaskCoverage("failed", "failed", f"scoring raised {type(error).__name__}")
        return _record(truth, failed, vectors)
    if outcome.value is None:
        return _record(truth, TaskCoverage("skipped", outcome.reason, outcome.detail), vectors, outcome)
    return _record(truth, covered, vectors, outcome)


def _record(
    truth: TaskTruth,
    covered: TaskCoverage,
    vectors: NDArray[np.float64] | None = None,
    outcome: Outcome | None = None,
) -> dict[str, Any]:
    values: Mapping[str, Any] = outcome.values if outcome is not None else {}
    counts = values.get("class_counts")
    chosen = values.get("chosen") or {}
    return {
        "dataset": truth.task.dataset,
        "task": truth.task.id,
        "metric": truth.task.metric,
        "status": covered.status,
        "reason": covered.reason or None,
        "detail": covered.detail or None,
        "value": outcome.value if outcome is not None else None,
        "pooled": values.get("pooled"),
        "fold_mean": values.get("fold_mean"),
        "pooled_centered": values.get("pooled_centered"),
        "per_fold": dict(outcome.per_unit) if outcome is not None else {},
        "flags": list(outcome.flags) if outcome is not None else [],
        "interval": _plain(values.get("interval")),
        "n": outcome.n if outcome is not None else None,
        "n_units": values.get("n_units"),
        "class_counts": _plain(counts),
        "classes_left_out": sorted(name for name, n in (counts or {}).items() if not n),
        "resolvable": values.get("resolvable"),
        "chance": truth.task.chance,
        "width": int(vectors.shape[1]) if vectors is not None else None,
        "folds": truth.folds,
        "probe": {"id": values.get("probe"), "sha256": values.get("probe_sha256"), "chosen": dict(chosen)},
        "hashes": {
            "labels_sha256": truth.sha256,
            "embedding_sha256": None if vectors is None else _embedding_digest(truth.samples, vectors),
        },
    }


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else value


def _embedding_digest(samples: tuple[str, ...], vectors: NDArray[np.float64]) -> str:
    digest = hashlib.sha256("\x00".join(samples).encode())
    digest.update(np.ascontiguousarray(vectors + 0.0, "<f8").tobytes())  # -0.0 is 0.0
    return digest.hexdigest()
