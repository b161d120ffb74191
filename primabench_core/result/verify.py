"""Does a result say the truth? Recompute every hash that can be, and every score from the predictions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from attrs import field, frozen, validators

from primabench_core.errors import ContractError, ParameterError, ResultError, UnknownNameError
from primabench_core.result.eval_result import EvalResult
from primabench_core.result.identity import (
    SCORED,
    canonical_bytes,
    record_hash,
    request_hash_of,
    scores_hash,
)
from primabench_core.result.json import to_dict
from primabench_core.result.metric_result import MetricResult
from primabench_core.result.numeral import numeral

if TYPE_CHECKING:
    from rich.table import Table

Status = Literal["passed", "failed", "skipped", "note"]

_COUNTED = ("status", "reason", "flags", "n", "n_excluded", "coverage", "n_undefined")
"""Parts that agree exactly even where numbers agree within a tolerance."""
_MEASURED = ("value", "mean_over_defined", "per_unit", "values")


@frozen
class Check:
    """One thing that was checked."""

    name: str
    status: Status = field(validator=validators.in_(("passed", "failed", "skipped", "note")))
    """``skipped``: it cannot be checked here; ``note``: a difference that is no fault."""
    detail: str = ""


@frozen
class Verification:
    """Everything that was checked about a result."""

    checks: tuple[Check, ...]

    @property
    def passed(self) -> bool:
        """Nothing that could be checked disagrees."""
        return all(check.status != "failed" for check in self.checks)

    @property
    def failures(self) -> tuple[Check, ...]:
        """The checks that failed."""
        return tuple(check for check in self.checks if check.status == "failed")

    def require(self) -> None:
        """Raise if anything failed.

        Raises:
            ResultError: Names every check that failed.
        """
        if not self.passed:
            lines = [f"  - {c.name}: {c.detail}" for c in self.failures]
            raise ResultError("\n".join(["The result does not verify:", *lines]))

    def __str__(self) -> str:
        return "\n".join(f"{c.status:8}{c.name}{': ' + c.detail if c.detail else ''}" for c in self.checks)

    def __rich__(self) -> Table:
        from rich.table import Table
        from rich.text import Text

        colours = {"passed": "green", "failed": "bold red"}
        table = Table(box=None, padding=(0, 2, 0, 0))
        for column in ("check", "status", "detail"):
            table.add_column(column, overflow="fold")
        for c in self.checks:
            table.add_row(Text(c.name), Text(c.status, style=colours.get(c.status, "dim")), Text(c.detail))
        return table


def verify(
    result: EvalResult, predictions: Any = None, *, evaluate: Callable[..., EvalResult] | None = None
) -> Verification:
    """Check what a result claims.

    Without predictions the three hashes are recomputed from the record: they find a score, interval, parameter,
    seed or version that was edited afterwards. With predictions everything is evaluated again: exact metrics and
    their intervals must agree bit for bit, ``tolerance`` metrics within their tolerance.

    Args:
        result: What was claimed.
        predictions: The predictions that were scored, in any form that ``evaluate`` takes.
        evaluate: Scores them again: called as ``evaluate(task, predictions, dataset=…, metrics=[(name, params), …],
            ci=…, seed=…, partial=…, duplicates="drop_identical")``; usually ``pb.evaluate``. For a truth of your own,
            a function that knows it.

    Returns:
        One check a claim; ``.passed``, ``.failures``, ``.require()``.

    Raises:
        UsageError: Predictions without ``evaluate``.
        StoreError: The dataset is not in the store.

    Example:
        >>> from primabench_core.result import MetricResult
        >>> result = EvalResult.make(results=[MetricResult(name="accuracy", value=0.75)], n_units=4)
        >>> verify(result).passed
        True
    """
    checks = [
        _equal("request_hash", result.request_hash, request_hash_of(result), "task, data, metrics, seeds or versions"),
        _equal("scores_hash", result.scores_hash, scores_hash(result.request_hash, result.results), "an exact score"),
        _equal("record_hash", result.record_hash, record_hash(result), "the record"),
    ]
    if predictions is None:
        return Verification((*checks, Check("scores", "skipped", "needs the predictions that were scored")))
    if evaluate is None:
        from primabench_core.errors import UsageError

        raise UsageError("verify needs a function that scores the predictions", remedy="pass evaluate=pb.evaluate")
    if all(r.foreign for r in result):
        return Verification((*checks, Check("scores", "skipped", "only metrics of other libraries")))
    try:
        again = evaluate(result.task, predictions, **_request(result))
    except (ContractError, ParameterError, UnknownNameError) as error:
        return Verification((*checks, Check("evaluation", "failed", str(error))))
    checks += _same_data(result, again)
    found = {(r.name, canonical_bytes(to_dict(r)["params"])): r for r in again}
    for key, claimed in zip(result.keys(), result, strict=True):
        if claimed.foreign:
            checks.append(Check(key, "skipped", "another library's metric, which no name finds; evaluate it again"))
            continue
        other = found.get((claimed.name, canonical_bytes(to_dict(claimed)["params"])))
        if other is None:
            checks.append(Check(key, "failed", "the evaluation gives no such metric with these parameters"))
        else:
            checks += [_metric(key, claimed, other), *_interval(key, claimed, other)]
    return Verification(tuple(checks))


def _request(result: EvalResult) -> dict[str, Any]:
    levels = [r.interval.level for r in result if r.interval]
    return {
        "dataset": result.dataset or None,
        # an aggregate over the panel has no distribution of its own and follows from the others
        "metrics": [
            (r.name, dict(r.params)) for r in result if not r.foreign and (r.distribution or r.name != "aggregate")
        ],
        "ci": levels[0] if levels else None,
        "seed": result.seeds.get("bootstrap", 0),
        "partial": result.coverage < 1,
        "duplicates": "drop_identical",
    }


def _equal(name: str, claimed: str, found: str, what: str) -> Check:
    if claimed == found:
        return Check(name, "passed", found[:16])
    return Check(name, "failed", f"{what} is not what was written: {claimed[:16]}… claimed, {found[:16]}… found")


def _same_data(result: EvalResult, again: EvalResult) -> list[Check]:
    checks = []
    for name in ("dataset_hash", "truth_sha256", "predictions_sha256"):
        claimed, found = getattr(result, name), getattr(again, name)
        if not claimed:
            checks.append(Check(name, "skipped", result.predictions_reason if "pred" in name else "not recorded"))
        else:
            checks.append(_equal(name, claimed, found, "the content"))
    for name in ("n_units", "coverage", "unit", "synthetic"):
        claimed, found = getattr(result, name), getattr(again, name)
        if claimed != found:
            checks.append(Check(name, "failed", f"{claimed!r} claimed, {found!r} found"))
    if dict(result.packages) != dict(again.packages):
        changed = [
            f"{name} {result.packages.get(name, 'absent')} → {again.packages.get(name, 'absent')}"
            for name in sorted({*result.packages, *again.packages})
            if result.packages.get(name) != again.packages.get(name)
        ]
        checks.append(Check("packages", "note", f"verified with other versions: {', '.join(changed)}"))
    return checks


def _metric(key: str, claimed: MetricResult, found: MetricResult) -> Check:
    left, right = to_dict(claimed), to_dict(found)
    if claimed.version != found.version:
        return Check(key, "failed", f"version {claimed.version} claimed, {found.version} is installed")
    if found.reproducibility == "exact":
        differ = [part for part in SCORED if canonical_bytes(left[part]) != canonical_bytes(right[part])]
        agreed = "the same bits"
    else:
        differ = [part for part in _COUNTED if canonical_bytes(left[part]) != canonical_bytes(right[part])]
        differ += [part for part in _MEASURED if not _close(left[part], right[part], found.rtol, found.atol)]
        agreed = f"within rtol {found.rtol:g}, atol {found.atol:g}"
    if not differ:
        return Check(key, "passed", agreed)
    shown = [f"{p}: {_short(left[p])} claimed, {_short(right[p])} found" for p in differ]
    return Check(key, "failed", "; ".join(shown))


def _interval(key: str, claimed: MetricResult, found: MetricResult) -> list[Check]:
    if claimed.interval is None:
        return []
    name = f"{key} interval"
    if found.interval is None:
        return [Check(name, "failed", f"{claimed.interval} claimed, none found")]
    left, right = to_dict(claimed.interval), to_dict(found.interval)
    exact = found.reproducibility == "exact"
    rtol, atol = (0.0, 0.0) if exact else (found.rtol, found.atol)
    if _close(left, right, rtol, atol):
        return [Check(name, "passed", str(found.interval))]
    differ = [part for part in left if not _close(left[part], right[part], rtol, atol)]
    shown = [f"{p}: {_short(left[p])} claimed, {_short(right[p])} found" for p in differ]
    return [Check(name, "failed", "; ".join(shown))]


def _close(left: Any, right: Any, rtol: float, atol: float) -> bool:
    """Plain values that agree, their floats within a tolerance; an edge that is met exactly counts as inside."""
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(_close(left[k], right[k], rtol, atol) for k in left)
    if isinstance(left, Sequence) and not isinstance(left, str) and isinstance(right, Sequence):
        return len(left) == len(right) and all(_close(a, b, rtol, atol) for a, b in zip(left, right, strict=True))
    if isinstance(left, float) and isinstance(right, float):
        slack = 1e-12 * max(abs(left), abs(right)) if rtol or atol else 0.0
        return abs(left - right) <= atol + rtol * abs(right) + slack
    return type(left) is type(right) and bool(left == right)


def _short(value: Any) -> str:
    if isinstance(value, float):
        return repr(value) if numeral(value) == "0.0000" or len(repr(value)) > 6 else numeral(value)
    text = str(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
