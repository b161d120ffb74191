"""What a metric declares about itself: a frozen value, importable without any array library."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from attrs import evolve, field, frozen, validators

from primabench_core.contract.fields import Field
from primabench_core.spec.frozen import as_mapping, as_texts

RESERVED_PARAMETERS = frozenset({"shards", "duplicates", "ci", "seed", "partial", "device"})
"""Arguments of ``pb.score``; no metric parameter may be called so."""

SUMS = frozenset({"moments", "squared_error", "absolute_error"})
"""What a metric over a wide field may ask for in place of its rows."""
UNITS = frozenset({"means", "sample", "rows"})
"""What a metric over units with many rows may ask for of the predicted rows."""


def _alternatives(value: tuple[Field | tuple[Field, ...], ...]) -> tuple[tuple[Field, ...], ...]:
    return tuple((item,) if isinstance(item, Field) else tuple(item) for item in value)


@frozen
class Parameter:
    """A parameter of a metric: its default and what it may be."""

    name: str = field()
    default: Any = field()
    doc: str = ""
    choices: tuple[Any, ...] = field(default=(), kw_only=True)
    """Allowed values; empty if any value of a kind in ``kinds`` is allowed."""
    kinds: tuple[type, ...] = field(default=(), kw_only=True)
    """Allowed types when ``choices`` is empty; an int passes where float is named, a bool only where bool is."""
    low: float | None = field(default=None, kw_only=True)
    high: float | None = field(default=None, kw_only=True)

    @name.validator
    def _check_name(self, _: object, value: str) -> None:
        if value in RESERVED_PARAMETERS or not value.isidentifier():
            raise ValueError(f"parameter name {value!r} is reserved or not an identifier")


@frozen
class Interval:
    """How an interval is made for a metric."""

    method: Literal["units", "blocks", "none"] = field(
        default="units", validator=validators.in_(("units", "blocks", "none"))
    )
    """``units``: resample independent units; ``blocks``: resample 256 hashed blocks; ``none``: see ``reason``."""
    reason: str = ""
    """Why there is no interval; required with ``none``."""

    def __attrs_post_init__(self) -> None:
        if self.method == "none" and not self.reason:
            raise ValueError("an interval of method 'none' needs a reason")


def _parameters(value: Iterable[Parameter]) -> tuple[Parameter, ...]:
    return tuple(value)


@frozen(kw_only=True)
class MetricSpec:
    """A metric: name, version, direction, inputs, parameters, and where its function lives.

    The function named by ``compute`` is called as ``compute(state, **params)`` and returns a float or an
    :class:`~primabench_core.spec.outcome.Outcome`. ``state`` is a
    :class:`~primabench_core.state.rows.Rows`, a :class:`~primabench_core.state.counts.Counts`, a
    :class:`~primabench_core.state.sums.Sums` or a :class:`~primabench_core.state.units.Units`.
    """

    name: str
    """Canonical name; the entry-point name in group ``primabench.metrics``."""
    summary: str
    """One line for tables and cards."""
    compute: str
    """``package.module:function``, resolved when the metric runs."""
    prediction: tuple[tuple[Field, ...], ...] = field(converter=_alternatives)
    """Fields needed of the prediction; a tuple in a place lists alternatives, the first one present is used."""
    truth: tuple[tuple[Field, ...], ...] = field(converter=_alternatives)
    """Fields needed of the solution."""
    version: str = "1"
    """Changes with the formula, a default, or the behaviour of a reference library."""
    direction: Literal["higher", "lower", "info"] = "higher"
    low: float | None = None
    """Smallest possible value, None if unbounded."""
    high: float | None = None
    """Largest possible value, None if unbounded."""
    optimum: float | None = None
    """Value of a perfect prediction; by default the better end of the range."""
    state: Literal["rows", "counts", "sums", "units"] = field(
        default="rows", validator=validators.in_(("rows", "counts", "sums", "units"))
    )
    """``counts``: a table of truth label x predicted label; ``rows``: aligned arrays, which for a field of m columns
    takes 4·m to 8·m bytes an item; ``sums``: where one predicted field has more than 32 columns, the function gets what
    ``sums`` names, and no row is kept (at most 48 bytes an item); it gets rows where the field is narrow, or where
    another metric reads its rows. Both have to give the same bits; ``units``: units of which a prediction holds any
    number of rows (``rules`` says so); the function gets what ``units`` names."""
    sums: tuple[str, ...] = field(default=(), converter=as_texts)
    """With state ``sums``: ``moments`` (exact Σx, Σy, Σx², Σy², Σxy and the range of each column), ``squared_error``,
    ``absolute_error`` (the error summed inside each row, one number an item)."""
    units: tuple[str, ...] = field(default=(), converter=as_texts)
    """With state ``units``: ``means`` (the exact mean of each unit's rows: only sums are kept), ``sample`` (at most so
    many rows of each unit as ``sample`` says, drawn by a hash of seed and row id), ``rows`` (all rows are kept:
    4 or 8 bytes a number; 8 or 12 for each that is not zero, where fewer than three in ten are)."""
    sample: tuple[str, ...] = field(default=(), converter=as_texts)
    """With ``units=("sample",)``: names of the integer parameters that give the most rows of a unit and the seed."""
    rules: Mapping[str, Any] = field(factory=dict, converter=as_mapping)
    """Rules of :class:`~primabench_core.contract.contract.Contract` that hold where the metric scores a truth of the
    caller, such as ``many_rows_per_unit``; a task's own contract has its own."""
    arrange: str = ""
    """``package.module:function``, called with a truth of the caller that is a mapping, before anything is read of it;
    returns a mapping of the declared fields. For answers that come in a handier form than one row after the other."""
    parameters: tuple[Parameter, ...] = field(default=(), converter=_parameters)
    canonical: Mapping[str, Mapping[str, Any]] = field(factory=dict, converter=as_mapping)
    """Canonical names that mean this metric with fixed parameters: ``{"macro_recall": {"average": "macro"}}``."""
    fixed: Mapping[str, Any] = field(factory=dict, converter=as_mapping)
    """Set by :meth:`variant`: the parameters that ``name`` fixes."""
    base: str = ""
    """Set by :meth:`variant`: name of the metric that this one is a variant of."""
    check: str = ""
    """``package.module:function``, called as ``check(fields, classes, params)`` before any row is scored, with the
    names of the chosen fields and the classes (or None); returns violations."""
    example: str = ""
    """``package.module:function``, called as ``example(seed=…, n=…)`` by the conformance kit where the declared fields
    do not say enough to make an input; returns a mapping of ``prediction`` and ``truth`` (fields by name), and if known
    ``perfect`` (a prediction that reaches the optimum) and ``params``."""
    weighted: str = ""
    """``package.module:function`` that gives the values of many resamples at once, from how often each row occurs;
    optional, it makes intervals fast. Called as ``weighted(state, drawn, **params)`` with the state of all rows and a
    :class:`~primabench_core.state.multiplicity.Multiplicities` (for ``counts`` a
    :class:`~primabench_core.state.tables.Tables`), it returns (draws,) float64, NaN where the metric is undefined,
    each value with the bits of ``compute`` on the rows repeated as often; or None where it cannot say."""
    interval: Interval = Interval()
    paired_test: Literal["bootstrap", "delong", "mcnemar", "wilcoxon"] = "bootstrap"
    """Test that ``pb.compare`` uses for two models on the same units."""
    reproducibility: Literal["exact", "tolerance"] = "exact"
    rtol: float = 0.0
    """Relative tolerance of a ``tolerance`` metric."""
    atol: float = 0.0
    references: tuple[str, ...] = field(default=(), converter=as_texts)
    """Papers and DOIs of the formula."""
    libraries: tuple[str, ...] = field(default=(), converter=as_texts)
    """Distributions whose version enters the result because the value depends on them."""
    api: int = 1
    """Plugin API version that this value was written for."""

    def __attrs_post_init__(self) -> None:
        if (self.state == "sums") != bool(self.sums) or not set(self.sums) <= SUMS:
            raise ValueError(f"metric {self.name!r}: state 'sums' and sums out of {sorted(SUMS)} go together")
        if (self.state == "units") != bool(self.units) or not set(self.units) <= UNITS:
            raise ValueError(f"metric {self.name!r}: state 'units' and units out of {sorted(UNITS)} go together")
        if ("sample" in self.units) != (len(self.sample) == 2):
            raise ValueError(f"metric {self.name!r}: a sample needs the names of two parameters, and only a sample")
        if self.reproducibility == "tolerance" and not (self.rtol or self.atol):
            raise ValueError(f"metric {self.name!r} is of tolerance kind and must give rtol or atol")

    def variant(self, name: str, **changes: Any) -> MetricSpec:
        """The metric under one of its canonical names, with the parameters fixed that the name stands for.

        Raises:
            KeyError: the name is not declared in ``canonical``.
        """
        return evolve(self, name=name, base=self.base or self.name, fixed=dict(self.canonical[name]), **changes)

    @property
    def best(self) -> float | None:
        """Value of a perfect prediction, None if unknown."""
        if self.optimum is not None:
            return self.optimum
        return {"higher": self.high, "lower": self.low, "info": None}[self.direction]
