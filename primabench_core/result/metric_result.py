"""What one metric found: a value with what belongs beside it, or a reason why there is none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import isfinite
from typing import Any, Literal, SupportsFloat, cast

from attrs import evolve, field, frozen, validators

from primabench_core.errors import MetricError
from primabench_core.result.interval import Interval
from primabench_core.result.numeral import numeral
from primabench_core.result.plain import frozen_plain, plain
from primabench_core.spec.frozen import FrozenMapping
from primabench_core.spec.metric import MetricSpec
from primabench_core.spec.outcome import REASONS, Outcome

Status = Literal["ok", "undefined", "failed"]


def _plain_mapping(value: Mapping[str, Any]) -> FrozenMapping[Any]:
    frozen_value: FrozenMapping[Any] = frozen_plain(plain(value, "values"))
    return frozen_value


def _texts(value: Iterable[str]) -> tuple[str, ...]:
    return tuple(value)


def _counts(value: Mapping[str, int]) -> FrozenMapping[int]:
    return FrozenMapping(value)


def _parts(value: Mapping[str, float | None]) -> FrozenMapping[float | None]:
    return FrozenMapping(value)


def _versions(value: Mapping[str, str]) -> FrozenMapping[str]:
    return FrozenMapping(value)


@frozen(kw_only=True)
class MetricResult:
    """The result of one metric. An undefined value is None with a reason: never 0, 0.5, 1 or NaN.

    Example:
        >>> r = MetricResult(name="accuracy", value=0.75, n=4)
        >>> r.status, r.value
        ('ok', 0.75)
    """

    name: str = field(validator=validators.min_len(1))
    """Canonical name of the metric."""
    version: str = "1"
    """Version of the metric's definition."""
    params: Mapping[str, Any] = field(factory=dict, converter=_plain_mapping)
    """All parameters, defaults included."""
    value: float | None
    status: Status = field(validator=validators.in_(("ok", "undefined", "failed")))
    """``ok``: there is a value; ``undefined``: the metric has none on this input; ``failed``: it could not run."""
    reason: str = ""
    """Code for why there is no value (``single_class`` …); empty if there is one."""
    detail: str = ""
    """One sentence that makes the reason concrete."""
    flags: tuple[str, ...] = field(default=(), converter=_texts)
    """Remarks on a defined value, such as ``zero_division``."""
    n: int | None = None
    """Items used."""
    n_excluded: Mapping[str, int] = field(factory=dict, converter=_counts)
    """Items left out, by reason."""
    coverage: float | None = None
    """Share of units that were predicted. The share of parts with a value is ``values["parts_coverage"]``."""
    n_undefined: int | None = None
    """Parts of an aggregate that have no value."""
    mean_over_defined: float | None = None
    """Mean over the parts that have a value; stands beside ``value``, never instead of it."""
    per_unit: Mapping[str, float | None] = field(factory=dict, converter=_parts)
    """Values of the parts (classes, genes …)."""
    values: Mapping[str, Any] = field(factory=dict, converter=_plain_mapping)
    """Several named results that belong to the value."""
    interval: Interval | None = None
    """Interval around the value; None if none was asked for."""
    direction: Literal["higher", "lower", "info"] = field(
        default="higher", validator=validators.in_(("higher", "lower", "info"))
    )
    """Which way is better; ``info`` is never ranked."""
    reproducibility: Literal["exact", "tolerance"] = field(
        default="exact", validator=validators.in_(("exact", "tolerance"))
    )
    """``exact``: the same bits everywhere; ``tolerance``: within ``rtol`` and ``atol``."""
    rtol: float = 0.0
    atol: float = 0.0
    libraries: Mapping[str, str] = field(factory=dict, converter=_versions)
    """Versions of the libraries that the value depends on."""
    distribution: str = ""
    """Distribution that brings the metric."""
    foreign: bool = False
    """The formula comes from another library through an adapter."""

    @status.default
    def _status(self) -> Status:
        return "undefined" if self.value is None else "ok"

    def __attrs_post_init__(self) -> None:
        where = f"metric {self.name!r}"
        if self.status == "ok":
            if not isinstance(self.value, float) or not isfinite(self.value):
                raise ValueError(f"{where}: an ok result has a finite float, got {self.value!r}")
            if self.reason:
                raise ValueError(f"{where}: an ok result has no reason, got {self.reason!r}")
        else:
            if self.value is not None:
                raise ValueError(f"{where}: a result that is {self.status} has no value, got {self.value!r}")
            if not self.reason or (self.status == "undefined" and self.reason not in REASONS):
                raise ValueError(f"{where}: no value needs one of the reasons {sorted(REASONS)}, got {self.reason!r}")
        if self.n is not None and self.n < 0:
            raise ValueError(f"{where}: n must not be negative, got {self.n}")
        if self.coverage is not None and not 0 <= self.coverage <= 1:
            raise ValueError(f"{where}: coverage lies between 0 and 1, got {self.coverage}")
        for name, part in [("mean_over_defined", self.mean_over_defined), *self.per_unit.items()]:
            if part is not None and not isfinite(part):
                raise ValueError(f"{where}: {name} must be a finite number or None, got {part!r}")

    @classmethod
    def from_outcome(
        cls,
        outcome: Outcome | float,
        spec: MetricSpec,
        *,
        params: Mapping[str, Any] | None = None,
        n: int | None = None,
        n_excluded: Mapping[str, int] | None = None,
        coverage: float | None = None,
        interval: Interval | None = None,
        libraries: Mapping[str, str] | None = None,
        distribution: str = "",
        foreign: bool = False,
    ) -> MetricResult:
        """What a metric function returned, with what its spec declares.

        Args:
            outcome: A float, or an :class:`~primabench_core.spec.outcome.Outcome`, whose own ``n`` goes first and
                whose ``n_excluded`` is merged with the one given here. Its ``coverage``, which counts parts, becomes
                ``values["parts_coverage"]``.
            spec: The metric, under its canonical name.
            params: All its parameters.
            n: Rows of the state.
            n_excluded: Rows left out before the metric ran, by reason.
            coverage: Share of units that were predicted.
            interval: Interval around the value.
            libraries: Name to version of what the value depends on.
            distribution: Distribution that brings the metric.
            foreign: The metric is an adapter around another library.

        Raises:
            MetricError: The function returned something that is not a result: NaN, an infinity, text …
        """
        found = outcome if isinstance(outcome, Outcome) else Outcome(_real(outcome, spec.name))
        try:
            values = dict(found.values)
            if found.coverage is not None:
                values["parts_coverage"] = float(found.coverage)
            return cls(
                name=spec.name,
                version=spec.version,
                params=params or {},
                value=None if found.value is None else _real(found.value, spec.name),
                reason="" if found.value is not None else found.reason,
                detail=found.detail,
                flags=found.flags,
                n=n if found.n is None else int(found.n),
                n_excluded={**(n_excluded or {}), **{k: int(v) for k, v in found.n_excluded.items()}},
                coverage=coverage,
                n_undefined=None if found.n_undefined is None else int(found.n_undefined),
                mean_over_defined=None if found.mean_over_defined is None else float(found.mean_over_defined),
                per_unit={str(k): None if v is None else float(v) for k, v in found.per_unit.items()},
                values=values,
                interval=interval,
                direction=spec.direction,
                reproducibility=spec.reproducibility,
                rtol=float(spec.rtol),
                atol=float(spec.atol),
                libraries=libraries or {},
                distribution=distribution,
                foreign=foreign,
            )
        except (ValueError, TypeError) as error:
            raise MetricError(f"metric {spec.name!r} returned what is not a result: {error}") from error

    @classmethod
    def failed(cls, spec: MetricSpec, reason: str, detail: str = "", **more: Any) -> MetricResult:
        """A metric that could not run, for this reason."""
        return cls(
            name=spec.name,
            version=spec.version,
            value=None,
            status="failed",
            reason=reason,
            detail=detail,
            direction=spec.direction,
            reproducibility=spec.reproducibility,
            rtol=float(spec.rtol),
            atol=float(spec.atol),
            **more,
        )

    def with_interval(self, interval: Interval | None) -> MetricResult:
        """The same result with this interval."""
        return evolve(self, interval=interval)

    def to_dict(self) -> dict[str, Any]:
        """Plain dicts and lists, as they stand in a result file."""
        from primabench_core.result.json import to_dict

        return to_dict(self)

    def __str__(self) -> str:
        if self.value is None:
            return f"{self.name}: {self.status} ({self.reason}{': ' + self.detail if self.detail else ''})"
        beside = f" {self.interval}" if self.interval is not None else ""
        return f"{self.name}: {numeral(self.value)}{beside}" + (f" (n={self.n:,})" if self.n is not None else "")

    def __repr__(self) -> str:
        return f"MetricResult({self})"


def _real(value: object, name: str) -> float:
    """A Python float of a real number; anything else is not a score."""
    if isinstance(value, bool | str | bytes | complex) or not hasattr(value, "__float__"):
        raise MetricError(f"metric {name!r} returned a {type(value).__name__}; it must return a float or an Outcome")
    number = float(cast(SupportsFloat, value))
    if not isfinite(number):
        raise MetricError(
            f"metric {name!r} returned {number!r}; a value that does not exist is Outcome.undefined(reason)"
        )
    return number
