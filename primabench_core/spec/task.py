"""What a task, a baseline and a benchmark declare about themselves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from attrs import field, frozen

from primabench_core.contract.contract import Contract
from primabench_core.spec.frozen import as_mapping, as_texts


@frozen
class MetricUse:
    """A metric as a task uses it: name and parameters."""

    name: str
    params: Mapping[str, Any] = field(factory=dict, converter=as_mapping)
    always: bool = field(default=False, kw_only=True)
    """Whether it stands in every result of the task, whatever metrics are asked for: a fact that no score should be
    read without. It must be able to read every form of prediction that the contract allows."""


def _metric_uses(value: Iterable[str | MetricUse]) -> tuple[MetricUse, ...]:
    return tuple(MetricUse(item) if isinstance(item, str) else item for item in value)


@frozen(kw_only=True)
class TaskSpec:
    """A task: contract, metrics, one exact default dataset. Entry-point group ``primabench.tasks``."""

    name: str
    """Entry-point name, such as ``cell_type_annotation``."""
    title: str
    summary: str
    """One sentence: what is predicted, for what."""
    contract: Contract
    metrics: tuple[MetricUse, ...] = field(converter=_metric_uses)
    """Metrics of the task's panel; names or :class:`MetricUse`."""
    primary: str
    """Name of the metric that orders tables."""
    default_dataset: str
    """``publication/slug@version``."""
    synthetic_dataset: str = ""
    """``primabench_synthetic/slug@version``: tiny, made, for offline trials; never on a board."""
    unit: str = "row"
    """What truth is indexed by, in the singular: cell, variant, patient …"""
    independent_unit: str = ""
    """Solution field whose values are resampled for intervals (donor, patient …); by default each unit."""
    supervised: bool = True
    """Whether the task gives training labels; else train and test are the same data."""
    test_only: bool = field(default=False, kw_only=True)
    """Whether no dataset of it has a train split: nothing to learn from, and ``fetch_test`` serves the test split."""
    description: str = ""
    """Markdown for the card: protocol, pitfalls, what is held out."""
    references: tuple[str, ...] = field(default=(), converter=as_texts)
    aggregate: Literal["", "strict", "defined_only", "penalise_constant_prediction"] = ""
    """Policy of the one aggregate over the panel; empty for none."""
    version: str = "1"
    api: int = 1


@frozen(kw_only=True)
class BaselineSpec:
    """A model-free predictor. Entry-point group ``primabench.baselines``, name ``task|name``.

    ``predict`` is called as ``predict(train, test, seed=…)`` with :class:`EvalData` (``train`` is None where there
    is none) and returns EvalData. An oracle is called as ``predict(solution, seed=…)`` inside the runner; what it
    returns is scored and dropped.
    """

    name: str
    task: str
    summary: str
    predict: str
    """``package.module:function``."""
    oracle: bool = False
    requires: tuple[str, ...] = field(default=(), converter=as_texts)
    """Distributions that ``predict`` imports, named in the install line when absent."""
    api: int = 1


def _seeds(value: Iterable[int]) -> tuple[int, ...]:
    return tuple(value)


@frozen
class BenchmarkRow:
    """One line of a benchmark: which task on which dataset by which metrics with which seeds."""

    task: str
    dataset: str
    metrics: tuple[str, ...] = field(default=(), converter=as_texts)
    """Empty: the task's panel."""
    seeds: tuple[int, ...] = field(default=(0,), converter=_seeds)


def _rows(value: Iterable[BenchmarkRow]) -> tuple[BenchmarkRow, ...]:
    return tuple(value)


@frozen(kw_only=True)
class BenchmarkSpec:
    """A frozen manifest of rows. Entry-point group ``primabench.benchmarks``."""

    name: str
    title: str
    summary: str
    rows: tuple[BenchmarkRow, ...] = field(converter=_rows)
    version: str = "1"
    api: int = 1
