"""A store of its own for a run of checks: synthetic datasets are built once and thrown away at the end."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from primabench_core.errors import MissingPluginError, PrimaBenchError, StoreError
from primabench_core.testing.report import CheckFailure, NotApplicable

if TYPE_CHECKING:
    from primabench_core.contract.evaldata import EvalData
    from primabench_core.discovery.metrics import ResolvedMetric
    from primabench_core.spec.task import TaskSpec
    from primabench_core.store.manifest import Manifest

T = TypeVar("T")


class Bench:
    """A temporary store, and what was built in it.

    Args:
        root: Folder to use; by default a temporary one that goes away with this object.
    """

    def __init__(self, root: Path | None = None) -> None:
        self._root = root
        self._memo: dict[Any, Any] = {}

    @property
    def root(self) -> Path:
        """The folder, made when it is first needed."""
        if self._root is None:
            self._root = Path(tempfile.mkdtemp(prefix="primabench-check-"))
            weakref.finalize(self, shutil.rmtree, self._root, ignore_errors=True)
        return self._root

    def once(self, key: Any, make: Callable[[], T]) -> T:
        """The value of ``make()``, made once; what it raises is raised again each time."""
        if key not in self._memo:
            try:
                self._memo[key] = (make(), None)
            except (PrimaBenchError, NotApplicable) as error:
                self._memo[key] = (None, error)
        value, fault = self._memo[key]
        if fault is not None:
            raise fault
        return value  # type: ignore[no-any-return]

    def build(self, key: str) -> Manifest:
        """The manifest of a dataset, built here if it can be built without a network.

        Raises:
            NotApplicable: it needs a network, or a library or recipe that is not installed.
            PrimaBenchError: the build failed.
        """
        return self.once(("build", key), lambda: self._build(key))

    def _build(self, key: str) -> Manifest:
        from primabench_core.discovery import names, registry
        from primabench_core.store.build import build_dataset

        if key not in names.names("recipe"):
            raise NotApplicable(f"no installed distribution has a recipe of {key}")
        recipe = registry.load("recipe", key)
        if not recipe.is_bundled:
            raise NotApplicable(f"the recipe of {key} needs a network")
        try:
            return build_dataset(key, store=self.root, exist_ok=True)
        except MissingPluginError as error:
            raise NotApplicable(error.message) from error

    def prepare(self, task: str, key: str) -> None:
        """Build a dataset and make the splits of a task.

        Raises:
            NotApplicable, PrimaBenchError: as :meth:`build`, and what preparing says.
        """
        from primabench_core.store.prepare import prepare

        self.build(key)
        self.once(("prepare", task, key), lambda: prepare(task, key, self.root))

    def panel(self, task: TaskSpec) -> tuple[ResolvedMetric, ...]:
        """The metrics of a task, resolved, with the fields that they read.

        Raises:
            PrimaBenchError: a metric is unknown or does not take its parameters, or its fields are not there.
        """
        from primabench_core.evaluation.plan import choose_fields, resolve_all

        def resolve() -> tuple[ResolvedMetric, ...]:
            panel, contract = resolve_all(task.metrics), task.contract
            choose_fields(panel, contract, [f.name for f in contract.prediction], "prediction")
            choose_fields(panel, contract, [f.name for f in contract.solution], "truth")
            return panel

        return self.once(("panel", task.name), resolve)

    def require_panel(self, task: TaskSpec) -> None:
        """For checks that score, so that a panel at fault is one finding and not one of each of them.

        Raises:
            NotApplicable: the panel does not resolve; a check of its own says so.
        """
        try:
            self.panel(task)
        except PrimaBenchError as error:
            raise NotApplicable(f"the panel of task {task.name!r} does not resolve: {error.message}") from error

    def task_data(self, task: TaskSpec) -> str:
        """Key of the task's synthetic dataset, built and prepared.

        Raises:
            NotApplicable: it has none, or it does not build; a check of its own says so.
        """
        key = task.synthetic_dataset
        if not key:
            raise NotApplicable(f"task {task.name!r} names no synthetic dataset")
        try:
            self.prepare(task.name, key)
        except PrimaBenchError as error:
            raise NotApplicable(
                f"the synthetic dataset of task {task.name!r} cannot be used: {error.message}"
            ) from error
        return key

    def splits(self, task: str, key: str) -> tuple[EvalData | None, EvalData]:
        """Train (None where there is none) and test, opened lazily."""
        from primabench_core.errors import MissingDataError
        from primabench_core.store.access import fetch_test, fetch_train, load

        test = load(fetch_test(task, dataset=key, store=self.root), task=task, split="test")
        try:
            train_path = fetch_train(task, dataset=key, store=self.root)
        except MissingDataError:
            return None, test
        return load(train_path, task=task, split="train"), test

    def solution(self, task: str, key: str) -> EvalData:
        """The answers; the kit stands where the runner stands."""
        from primabench_core.store.access import open_solution

        return self.once(("solution", task, key), lambda: open_solution(task, key, store=self.root))


def refused(what: str, error: PrimaBenchError) -> CheckFailure:
    """A failure that passes on what core said."""
    hint = "" if isinstance(error, StoreError) else error.remedy
    return CheckFailure(f"{what}: {error.message}", remedy=hint)
