"""What checks look at: one thing that a distribution declares, with its spec and a bench to build data on."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from primabench_core.discovery import names, registry
from primabench_core.discovery.names import Record
from primabench_core.errors import UnknownNameError, UsageError
from primabench_core.testing.bench import Bench
from primabench_core.testing.report import NotApplicable

if TYPE_CHECKING:
    from primabench_core.discovery.metrics import ResolvedMetric
    from primabench_core.spec import (
        BaselineSpec,
        DatasetSpec,
        MetricSpec,
        PreparerSpec,
        RecipeSpec,
        TaskSpec,
    )
    from primabench_core.testing.generate import Case

KINDS = ("plugin", "metric", "task", "dataset", "preparer", "baseline", "recipe")
"""Kinds of subject, in the order of a report."""


class PluginSubject:
    """A distribution as a whole.

    Args:
        distribution: Its name.
        bench: Where data are built.
    """

    kind = "plugin"

    def __init__(self, distribution: str, bench: Bench | None = None) -> None:
        self.distribution = self.name = distribution
        self.bench = bench or Bench()

    @property
    def records(self) -> tuple[Record, ...]:
        """Its entry points."""
        own = names.normalise(self.distribution)
        return tuple(r for r in names.records() if names.normalise(r.distribution) == own)


class Subject:
    """One entry point.

    Args:
        record: The entry point.
        bench: Where data are built.
    """

    kind = ""

    def __init__(self, record: Record, bench: Bench | None = None) -> None:
        self.record, self.name, self.distribution = record, record.name, record.distribution
        self.bench = bench or Bench()

    @property
    def qualified(self) -> str:
        """``distribution:name``."""
        return self.record.qualified

    def _spec(self) -> Any:
        return registry.load_record(self.record)


class MetricSubject(Subject):
    """A metric, with data generated from the fields that it declares."""

    kind = "metric"

    @property
    def spec(self) -> MetricSpec:
        """Its declaration."""
        return self._spec()  # type: ignore[no-any-return]

    @cached_property
    def metric(self) -> ResolvedMetric:
        """Its identity with the default parameters."""
        from primabench_core.discovery.metrics import resolve_metric

        return resolve_metric(self.qualified)

    @cached_property
    def cases(self) -> tuple[Case, ...]:
        """Inputs that the metric takes, most general first.

        Raises:
            NotApplicable: it takes none of those that its fields allow; ``check_runs`` says so.
        """
        from primabench_core.testing.measure import usable_cases

        found, said = usable_cases(self)
        if not found:
            raise NotApplicable(f"no input generated from its declared fields is taken; the last answer was: {said}")
        return found


class TaskSubject(Subject):
    """A task, with its synthetic dataset."""

    kind = "task"

    @property
    def spec(self) -> TaskSpec:
        """Its declaration."""
        return self._spec()  # type: ignore[no-any-return]


class DatasetSubject(Subject):
    """The card of a dataset."""

    kind = "dataset"

    @property
    def spec(self) -> DatasetSpec:
        """Its declaration."""
        return self._spec()  # type: ignore[no-any-return]


class PreparerSubject(Subject):
    """A preparer on its dataset."""

    kind = "preparer"

    @property
    def spec(self) -> PreparerSpec:
        """Its declaration."""
        return self._spec()  # type: ignore[no-any-return]

    @property
    def task(self) -> TaskSpec:
        """The task that it prepares for."""
        return registry.load("task", self.spec.task)


class BaselineSubject(Subject):
    """A baseline on the synthetic dataset of its task."""

    kind = "baseline"

    @property
    def spec(self) -> BaselineSpec:
        """Its declaration."""
        return self._spec()  # type: ignore[no-any-return]

    @property
    def task(self) -> TaskSpec:
        """The task that it predicts for."""
        return registry.load("task", self.spec.task)


class RecipeSubject(Subject):
    """A recipe."""

    kind = "recipe"

    @property
    def spec(self) -> RecipeSpec:
        """Its declaration."""
        return self._spec()  # type: ignore[no-any-return]


_CLASSES: dict[str, type[Subject]] = {
    c.kind: c for c in (MetricSubject, TaskSubject, DatasetSubject, PreparerSubject, BaselineSubject, RecipeSubject)
}
S = TypeVar("S", bound=Subject)


def subject_of(kind: str, name: str, bench: Bench | None = None) -> Any:
    """The subject of this kind and name, to call a single check with.

    Args:
        kind: One of :data:`KINDS`.
        name: Entry-point name, or ``distribution:name``; for ``plugin`` the distribution.
        bench: Where data are built; by default a temporary store.

    Raises:
        UsageError: there is no such kind.
        UnknownNameError: there is nothing of this name.

    Example:
        >>> check_order_free(subject_of("metric", "accuracy"))  # doctest: +SKIP
    """
    if kind == "plugin":
        return PluginSubject(find_distribution(name)[0], bench)
    if kind not in _CLASSES:
        raise UsageError(f"{kind!r} is not a kind of subject; expected one of {', '.join(KINDS)}.")
    return _CLASSES[kind](registry.record_of(kind, name), bench)


def find_distribution(name: str) -> tuple[str, str]:
    """Name and version of an installed distribution that declares entry points.

    Raises:
        UnknownNameError: nothing of that name is installed, or it declares nothing.
    """
    own = names.normalise(name)
    known: dict[str, str] = {r.distribution: r.version for r in names.records()}
    for distribution, version in known.items():
        if names.normalise(distribution) == own:
            return distribution, version
    names.refresh()  # installed since the last look, perhaps
    found = {names.normalise(r.distribution): (r.distribution, r.version) for r in names.records()}
    if own in found:
        return found[own]
    raise UnknownNameError("distribution", name, known, remedy="primabench list plugins")


def subjects_of(distribution: str, bench: Bench) -> list[PluginSubject | Subject]:
    """The distribution itself and everything it declares that can be checked, in the order of a report."""
    whole = PluginSubject(distribution, bench)
    ordered: list[PluginSubject | Subject] = [whole]
    for kind in KINDS[1:]:
        ordered += [_CLASSES[kind](record, bench) for record in whole.records if record.kind == kind]
    return ordered
