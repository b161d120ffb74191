"""What is resampled, and the draws: they depend on nothing but the task, the data and the number of a draw.

Draw ``d`` is the raw Philox stream with key (SHA-256 of task, data and seed; ``d``). Words become positions over the
canonical order by multiply-shift, so no order of arrival, no sharding and no thread count enters.

Source: Salmon et al. 2011, doi:10.1145/2063384.2063405 (Philox); Lemire 2019, doi:10.1145/3230636 (multiply-shift).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cached_property
from hashlib import sha256

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from primabench_core.evaluation.plan import MetricPlan
from primabench_core.state.multiplicity import Groups, Multiplicities
from primabench_core.state.rows import Labels, Rows
from primabench_core.statistics.resampling import draws_below

BLOCKS = 256
MAX_UNITS = 200_000
"""Above this many independent units, blocks of units are resampled instead."""

Positions = NDArray[np.int64]


def draw_seed(task: str, data: str, seed: int = 0) -> int:
    """The 64-bit seed of all draws over these data.

    Args:
        task: Name of the task, empty for a truth of the caller.
        data: Content hash of the dataset, or ``truth_sha256``.
        seed: The caller's seed.

    Example:
        >>> draw_seed("t", "00") == draw_seed("t", "00", 0) != draw_seed("t", "01")
        True
    """
    text = json.dumps({"data": data, "purpose": "bootstrap", "seed": seed, "task": task}, sort_keys=True)
    return int.from_bytes(sha256(text.encode()).digest()[:8], "big")


@frozen(eq=False)
class Strata:
    """Units by class: a draw takes as many of each class as there are.

    Place ``i`` of a draw holds a unit of the class of unit ``i``, so that names and order of classes do not enter.
    """

    order: Positions
    """(n,) units, class after class."""
    starts: Positions
    """(n,) where the class of each unit begins in ``order``."""
    sizes: Positions
    """(n,) units of its class."""

    @classmethod
    def of(cls, codes: NDArray[np.int64]) -> Strata:
        """Strata of units with these class codes."""
        counts = np.bincount(codes)
        starts = np.cumsum(counts) - counts
        return cls(np.argsort(codes, kind="stable"), starts[codes], counts[codes])

    def draws(self, seed: int, numbers: range) -> Positions:
        """(draws, n) units drawn."""
        n = len(self.order)
        return self.order.take(self.starts + draws_below(seed, numbers, n, self.sizes))


@frozen(eq=False)
class Population:
    """What is resampled: rows by themselves, or groups of rows (donors, blocks)."""

    n_rows: int
    n_units: int
    method: str
    """``units`` or ``blocks``."""
    unit: str
    """What one unit is, for the reader."""
    groups: Groups | None = None
    """None if every row is a unit."""
    strata: Strata | None = None
    """Classes that units are drawn inside of; None where there are none."""


def classes_of(plan: MetricPlan, rows: object) -> NDArray[np.int64] | None:
    """(n,) class of each row where the metric reads the class label of the truth, else None."""
    if not isinstance(rows, Rows) or all(f.name != "label" for f in plan.truth):
        return None
    column = rows.truth["label"]
    return column.codes if isinstance(column, Labels) else None


def population(
    n: int,
    *,
    method: str,
    unit: str,
    groups: NDArray[np.int64] | None,
    blocks: Callable[[], NDArray[np.int64]],
    classes: NDArray[np.int64] | None = None,
) -> Population:
    """Choose what to resample.

    Args:
        n: Rows.
        method: What the metric declares, ``units`` or ``blocks``.
        unit: Name of the independent unit, for the reader.
        groups: (n,) independent unit of each row, None if each row is one.
        blocks: Gives the hashed block, 0 to 255, of each row; only called if blocks are needed.
        classes: (n,) class of each row. Rows that are units of their own are drawn inside their class, so that each
            resample has the class sizes of the truth; donors and blocks hold many classes and are drawn whole.
    """
    together = None if groups is None else _grouped(groups)
    n_units = n if together is None else together.n
    if method == "units" and n_units <= MAX_UNITS:
        strata = Strata.of(classes) if classes is not None and together is None else None
        return Population(n, n_units, "units", unit if strata is None else f"{unit} within its class", together, strata)
    together = _grouped(blocks())
    return Population(n, together.n, "blocks", f"block of {unit}", together)


def _grouped(names: NDArray[np.int64]) -> Groups:
    found, codes = np.unique(names, return_inverse=True)
    return Groups(codes, len(found))


@frozen(eq=False, slots=False)
class Drawn:
    """A run of resamples of one population."""

    population: Population
    seed: int
    numbers: range
    """Numbers of the draws."""

    @cached_property
    def units(self) -> Positions:
        """(draws, units) which units were drawn, in the order of drawing."""
        if self.population.strata is not None:
            return self.population.strata.draws(self.seed, self.numbers)
        n = self.population.n_units
        return draws_below(self.seed, self.numbers, n, n)

    @cached_property
    def multiplicities(self) -> Multiplicities:
        """How often each unit was drawn."""
        return Multiplicities(self.tally(None, self.population.n_units), self.population.groups)

    def tally(self, codes: NDArray[np.integer] | None, n_codes: int) -> NDArray[np.int64]:
        """(draws, n_codes) how often units of each code were drawn; without codes, each unit itself."""
        found = np.empty((len(self.numbers), n_codes), np.int64)
        for row, units in zip(found, self.units, strict=True):
            row[:] = np.bincount(units if codes is None else codes.take(units), minlength=n_codes)
        return found

    def rows(self, draw: int) -> Positions:
        """Rows of one resample, in the order of drawing, repeats included."""
        groups = self.population.groups
        return self.units[draw] if groups is None else groups.rows_of(self.units[draw])
