"""The one identity of a metric and its parameters, however it was spelled.

A canonical name is a base metric with fixed parameters: ``macro_recall`` is ``recall{average: macro}``. Both spellings,
with or without the defaults written out, give equal :class:`ResolvedMetric` values that carry the canonical name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from attrs import evolve, field, frozen

from primabench_core.discovery import names, registry
from primabench_core.discovery.metric_text import parse, write
from primabench_core.discovery.origin import renewal
from primabench_core.discovery.parameters import checked, full_parameters, is_same
from primabench_core.errors import ParameterError, PluginError, UsageError
from primabench_core.spec.frozen import FrozenMapping
from primabench_core.spec.metric import MetricSpec


@frozen
class ResolvedMetric:
    """A metric with every parameter settled."""

    spec: MetricSpec
    """The spec under the canonical name: the base metric, or its variant where the parameters have a name."""
    name: str
    """Canonical name where one exists, else the name of the base metric."""
    params: Mapping[str, Any] = field(converter=FrozenMapping)
    """Every parameter of the base metric, defaults included; what ``compute`` is called with."""
    distribution: str
    """Distribution that brings the metric."""
    version: str
    """Version of that distribution; the metric's own is ``spec.version``."""
    function: Callable[..., Any] | None = field(default=None, eq=False, kw_only=True)
    """The function itself, for a metric of another library (:mod:`primabench_core.evaluation.foreign`); else
    ``spec.compute`` names it."""

    @property
    def foreign(self) -> bool:
        """Whether it is an adapter around another library, which no plugin declares."""
        return self.function is not None

    @property
    def base(self) -> str:
        """Name of the base metric."""
        return self.spec.base or self.spec.name

    @property
    def qualified(self) -> str:
        """``distribution:name``, which works even if two distributions claim the name."""
        return f"{self.distribution}:{self.name}"

    @property
    def text(self) -> str:
        """Name with the parameters that neither it nor a default fixes; reads back as the same identity."""
        return write(
            self.name,
            {
                parameter.name: self.params[parameter.name]
                for parameter in self.spec.parameters
                if parameter.name not in self.spec.fixed and not is_same(self.params[parameter.name], parameter.default)
            },
        )


def resolve_metric(name: str, params: Mapping[str, Any] | None = None) -> ResolvedMetric:
    """Find a metric and settle its parameters.

    Args:
        name: A metric's name, canonical or base, also as ``distribution:name`` or with parameters in braces:
            ``recall{average: macro}``.
        params: Parameters by name; scalars of numpy are taken as Python numbers.

    Returns:
        The identity: equal for every spelling of the same thing.

    Raises:
        UnknownNameError: no installed plugin has this metric; close names are suggested.
        ParameterError: parameters that the metric has not or does not allow, or that contradict its name.
        PluginError: the metric's plugin is broken, disabled or in conflict.

    Example:
        >>> resolve_metric("recall{average: macro}").name  # doctest: +SKIP
        'macro_recall'
    """
    if not isinstance(name, str):
        raise UsageError(f"A metric is named by text, got a {type(name).__name__}.", remedy="primabench list metrics")
    if params is not None and not isinstance(params, Mapping):
        raise UsageError(f"Parameters of {name!r} come as a mapping, got a {type(params).__name__}.")
    bare, given = parse(name)
    for key, value in (params or {}).items():
        if key in given:
            raise ParameterError(f"Metric {name!r} gives {key!r} in its text and again as an argument.")
        given[key] = value
    spec = registry.load("metric", bare)
    record = registry.record_of("metric", bare)
    base = _base_of(spec, record)
    full = full_parameters(spec, {**spec.fixed, **given})
    _refuse_contradiction(spec, base, full, given)
    canonical = _canonical_name(base, full)
    return ResolvedMetric(
        _named(base, canonical, record), canonical, full, record.distribution, record.version
    )  # fmt: skip


def _refuse_contradiction(
    spec: MetricSpec, base: MetricSpec, full: Mapping[str, Any], given: Mapping[str, Any]
) -> None:
    settled = full_parameters(base, spec.fixed)
    wrong = [key for key in spec.fixed if not is_same(full[key], settled[key])]
    if wrong:
        fixes = " and ".join(f"{key} = {settled[key]!r}" for key in wrong)
        kept = {key: full[key] for key in {**spec.fixed, **given} if key in full}
        raise ParameterError(
            f"Metric {spec.name!r} stands for {fixes}; it cannot be given another value.",
            remedy=f"ask for {write(base.name, kept)}",
        )


def _owned(record: names.Record, name: str) -> bool:
    """Whether the distribution of this record has a usable metric of that name."""
    return any(
        r.name == name and r.distribution == record.distribution and r.status in ("ok", "conflict")
        for r in names.records("metric")
    )


def _base_of(spec: MetricSpec, record: names.Record) -> MetricSpec:
    """The base metric of a variant; looked for in its own distribution only, so that nobody else can change it."""
    if not spec.base:
        return spec
    if not _owned(record, spec.base):
        return evolve(spec, name=spec.base, base="", fixed={})
    base = registry.load("metric", f"{record.distribution}:{spec.base}")
    if base.parameters != spec.parameters or dict(base.canonical) != dict(spec.canonical):
        raise PluginError(
            f"The metrics {spec.name!r} and {base.name!r} of {record.distribution} {record.version} declare different "
            "parameters or canonical names.",
            remedy=renewal(record.distribution),
        )
    return base


def _canonical_name(base: MetricSpec, full: Mapping[str, Any]) -> str:
    """The name that fixes most of these parameters; among equals the one declared first."""
    parameters = {parameter.name: parameter for parameter in base.parameters}
    best, most = base.name, -1
    for name, fixed in base.canonical.items():
        agrees = all(is_same(full[key], checked(parameters[key], value)) for key, value in fixed.items())
        if agrees and len(fixed) > most:
            best, most = name, len(fixed)
    return best


def _named(base: MetricSpec, name: str, record: names.Record) -> MetricSpec:
    """The spec under this canonical name, as its own entry point declares it where there is one."""
    if name == base.name:
        return base
    if not _owned(record, name):  # disabled; the identity must not depend on that
        return base.variant(name)
    variant = registry.load("metric", f"{record.distribution}:{name}")
    if variant.base != base.name:
        raise PluginError(
            f"{base.name!r} of {record.distribution} {record.version} declares {name!r} as a canonical name, but the "
            f"metric {name!r} is not its variant.",
            remedy=renewal(record.distribution),
        )
    return variant
