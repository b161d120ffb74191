"""Strict reading of the file that ``primabench patient score`` writes.

Nothing is guessed and nothing is converted: an unknown or absent key, a number for a text, a value beside a status that
has none, is a fault. All faults are reported at once, with the path inside the document.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from functools import cache
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args, get_origin

import attrs

from primabench_board.metrics import METRICS
from primabench_board.submission import Submission, TaskScore, is_utc
from primabench_core.errors import ResultError

if TYPE_CHECKING:
    from cattrs import Converter

FORMAT = "primabench-patient-scores"
SCHEMA_VERSION = 1
LARGEST = 64_000_000
"""Most bytes of a result file."""
MOST = 2**53 - 1
"""Largest count: JSON of other programs holds no larger whole number."""
LEVEL = 0.95
"""Level of every interval: boards draw them side by side."""

_SHA256 = re.compile(r"[0-9a-f]{64}")
_STATUSES = ("scored", "skipped", "failed")
_MOST_SHOWN = 50


def read_result(path: str | Path) -> Submission:
    """Read a result file.

    Args:
        path: JSON, UTF-8.

    Returns:
        The submission.

    Raises:
        ResultError: It is not exactly a result file; all faults are named.
    """
    file = Path(path)
    try:
        size = file.stat().st_size
        if size > LARGEST:
            raise ResultError(f"{path} has {size:,} bytes; a result file has at most {LARGEST:,}.")
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise ResultError(
            f"{path} cannot be read: {error.strerror}.", remedy="primabench patient score FILE"
        ) from error
    except UnicodeDecodeError as error:
        raise ResultError(f"{path} is not UTF-8.") from error
    return parse_result(text, source=str(path))


def parse_result(text: str, *, source: str = "the result") -> Submission:
    """The submission that a JSON text describes.

    Args:
        text: JSON.
        source: What messages call it.

    Raises:
        ResultError: It is not exactly a result; all faults are named.
    """
    document = _parsed(text, source)
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ResultError(
            f"{source} is no result of patient embeddings: its format is not {FORMAT!r}.",
            remedy="give the file that primabench patient score wrote",
        )
    version = document.get("schema_version")
    if version != SCHEMA_VERSION or isinstance(version, bool):
        newer = isinstance(version, int) and not isinstance(version, bool) and version > SCHEMA_VERSION
        raise ResultError(
            f"{source} has the schema version {version!r}; this version of primabench-board reads {SCHEMA_VERSION}.",
            remedy="pip install --upgrade primabench-board" if newer else "score the submission again",
        )
    try:
        submission = _converter().structure(document, Submission)
    except Exception as error:
        raise _refused(source, _messages(error)) from error
    faults = list(_faults(submission))
    if faults:
        raise _refused(source, faults)
    return submission


def to_document(submission: Submission) -> str:
    """Canonical JSON of a submission; its owner is left out, because documents may be shown."""
    plain = attrs.asdict(submission)
    plain["model"]["owner"] = None
    return json.dumps(plain, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _refused(source: str, faults: list[str]) -> ResultError:
    shown = faults[:_MOST_SHOWN]
    more = [f"  - and {len(faults) - len(shown)} more"] if len(faults) > len(shown) else []
    count = f"{len(faults)} {'fault' if len(faults) == 1 else 'faults'}"
    return ResultError("\n".join([f"{source} has {count}:", *(f"  - {fault}" for fault in shown), *more]))


def _parsed(text: str, source: str) -> Any:
    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        twice = [key for key, count in Counter(key for key, _ in items).items() if count > 1]
        if twice:
            raise ResultError(f"{source}: the key {twice[0]!r} stands twice in one object.")
        return dict(items)

    def constant(name: str) -> Any:
        raise ResultError(f"{source}: {name} is no JSON number.")

    try:
        return json.loads(text, object_pairs_hook=pairs, parse_constant=constant)
    except (ValueError, RecursionError) as error:  # no JSON, or a number of thousands of digits
        remedy = (
            ""
            if text.lstrip()[:1] == "{"
            else "results are wanted: primabench patient score FILE --truth FOLDER --model NAME --out RESULT.json"
        )
        raise ResultError(f"{source} is not JSON, or it is cut off: {error}.", remedy=remedy) from error


@cache
def _converter() -> Converter:
    """Structures exactly: no key more or less, no number from a text, no text from a number."""
    from cattrs import Converter

    made = Converter(forbid_extra_keys=True, detailed_validation=True)

    def exact(kind: type, *others: type) -> None:
        def hook(value: Any, _: Any) -> Any:
            if type(value) is kind or type(value) in others:
                return _sound(kind(value))
            raise TypeError(f"expected {kind.__name__}, found {type(value).__name__}")

        made.register_structure_hook(kind, hook)

    for kind in (str, bool, int):
        exact(kind)
    exact(float, int)

    def listed(value: Any, kind: Any) -> Any:  # a text is a sequence of texts to cattrs
        if type(value) is not list:
            raise TypeError(f"expected list, found {type(value).__name__}")
        inner: Any = list[get_args(kind)[0]]  # type: ignore[misc]
        return tuple(made.structure(value, inner))

    def is_listed(kind: Any) -> bool:
        return get_origin(kind) is tuple

    made.register_structure_hook_func(is_listed, listed)
    return made


def _sound(value: Any) -> Any:
    """The value, unless no ledger can hold it: a number that is none, a count below zero, half a character."""
    if isinstance(value, float) and not isfinite(value):
        raise ValueError("expected a number, found one that is not finite")
    if isinstance(value, int) and not isinstance(value, bool) and not 0 <= value <= MOST:
        raise ValueError(f"expected a count from 0 to {MOST}")
    if isinstance(value, str) and any(c == "\0" or "\ud800" <= c <= "\udfff" for c in value):
        raise ValueError("expected text, found a zero byte or half a character in it")
    return value


def _messages(error: Exception) -> list[str]:
    from cattrs import transform_error

    def words(found: BaseException, _: Any) -> str:
        if isinstance(found, KeyError):
            return f"the key {found.args[0]!r} is missing"
        keys = getattr(found, "extra_fields", None)
        if keys:
            return f"unknown keys: {', '.join(sorted(map(str, keys)))}"
        if isinstance(found, AttributeError | TypeError | ValueError) and "expected" not in str(found):
            return "the value has the wrong kind"
        return str(found)

    return [m.replace(" @ $.", " at ").replace(" @ $", "") for m in transform_error(error, format_exception=words)]


def _faults(found: Submission) -> list[str]:
    faults = []
    if not is_utc(found.submitted_at):
        faults.append(f"submitted_at: expected UTC such as 2026-11-29T19:30:00Z, found {found.submitted_at!r}")
    for key in ("submission_sha256", "registry_sha256"):
        if not _SHA256.fullmatch(getattr(found, key)):
            faults.append(f"{key}: expected 64 hexadecimal digits")
    if not found.scores:
        faults.append("scores: empty")
    tasks = [score.task for score in found.scores]
    twice = sorted({task for task, count in Counter(tasks).items() if count > 1})
    if twice:
        faults.append(f"scores: a task stands twice: {', '.join(twice[:5])}")
    elif tasks != sorted(tasks):
        faults.append("scores: not sorted by task")
    counted = Counter(score.status for score in found.scores)
    if dict(found.counts) != {status: counted[status] for status in _STATUSES}:
        faults.append(f"counts: {dict(found.counts)} is not what the scores say")
    if found.complete != all(score.status == "scored" for score in found.scores):
        faults.append(f"complete: {found.complete} is not what the scores say")
    for number, score in enumerate(found.scores):
        faults += [f"scores[{number}] ({score.task}): {fault}" for fault in _score_faults(score)]
    return faults


def _score_faults(score: TaskScore) -> list[str]:
    faults = []
    if score.status not in _STATUSES:
        faults.append(f"status: unknown {score.status!r}")
    if score.metric not in METRICS:
        faults.append(f"metric: unknown {score.metric!r}")
    has_value = score.value is not None
    if has_value != (score.status == "scored"):
        faults.append(f"value: {score.value} beside the status {score.status}")
    if score.value != score.pooled:
        faults.append("value: not equal to pooled")
    if (score.reason is None) != (score.status == "scored"):
        faults.append(f"reason: {score.reason!r} beside the status {score.status}")
    faults += _range_faults(score)
    if has_value and score.n is None:
        faults.append("n: missing beside a score")
    for key in ("labels_sha256", "embedding_sha256"):
        digest = getattr(score.hashes, key)
        if digest is None and has_value:
            faults.append(f"hashes.{key}: missing beside a score")
        if digest is not None and not _SHA256.fullmatch(digest):
            faults.append(f"hashes.{key}: expected 64 hexadecimal digits")
    faults += _probe_faults(score)
    if score.folds.kind not in ("folds", "split"):
        faults.append(f"folds.kind: unknown {score.folds.kind!r}")
    return faults


def _probe_faults(score: TaskScore) -> list[str]:
    faults = []
    if score.probe.sha256 is not None and not _SHA256.fullmatch(score.probe.sha256):
        faults.append("probe.sha256: expected 64 hexadecimal digits")
    for key in ("id", "sha256"):
        if score.status == "scored" and getattr(score.probe, key) is None:
            faults.append(f"probe.{key}: missing beside a score")
    return faults


def _range_faults(score: TaskScore) -> list[str]:
    """Numbers beyond the range of the metric, intervals the wrong way round, numbers that are none."""
    faults = []
    numbers = {"value": score.value, "pooled": score.pooled, "fold_mean": score.fold_mean}
    numbers |= {"pooled_centered": score.pooled_centered, **{f"per_fold.{k}": v for k, v in score.per_fold.items()}}
    ends = score.interval
    if ends is not None:
        numbers |= {"interval.low": ends.low, "interval.high": ends.high}
        if (ends.low is None) != (ends.high is None):
            faults.append("interval: it has one end")
        elif ends.low is not None and ends.high is not None and ends.low > ends.high:
            faults.append("interval: the lower end lies above the upper")
        if ends.level != LEVEL:
            faults.append(f"interval.level: expected {LEVEL}, found {ends.level}")
        if score.status != "scored":
            faults.append(f"interval: given beside the status {score.status}")
    metric = METRICS.get(score.metric)
    if metric and score.chance != metric.chance:
        faults.append(f"chance: {score.chance}, that of {metric.name} is {metric.chance}")
    for key, number in numbers.items():
        if number is not None and metric and not metric.low - 1e-9 <= number <= metric.high + 1e-9:
            faults.append(f"{key}: {number} lies outside {metric.low} to {metric.high} of {metric.name}")
    return faults
