"""Where the tasks of a parallel evaluation run: threads of this process, or the workers of a Dask cluster.

Tasks are pure and few: one folds a group of partitions, some merge, one scores. Nothing is scattered and there are no
actors, because both are lost with a worker; what a dead worker held is computed again from (store, rows).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from secrets import token_hex
from typing import Any, Protocol

from attrs import frozen

from primabench_core.errors import DistributedError, UsageError
from primabench_core.evaluation import folding
from primabench_core.evaluation.folding import Question, State
from primabench_core.evaluation.parts import Part, grouped
from primabench_core.evaluation.travel import error_to_plain

GROUPS_PER_THREAD = 4
"""Folds for each thread of the workers when one evaluation has them all: enough to even out, few to schedule."""
GROUPS_PER_WORKER = 7
"""Bounds the folds where workers have many threads: with the tasks around them at most 16 for each worker."""
FAN_IN = 16
"""States that one task merges."""


@frozen(eq=False)
class Work:
    """One evaluation to be run."""

    name: str
    question: Question
    parts: tuple[Part, ...]
    ids_first: bool = False
    """Settle which group folds a repeated row before any field is read: for states that cannot take a row out."""


class Backend(Protocol):
    """Runs evaluations."""

    def run(self, works: Sequence[Work]) -> Iterator[tuple[str, State | None]]:
        """(name, what came of it) as evaluations end; (name, None) for each step before."""


def steps_of(work: Work, groups: int) -> int:
    """How often :meth:`Backend.run` gives this name."""
    count = len(grouped(work.parts, groups))
    if count == 1:
        return 1
    merges, width = 0, count
    while width > FAN_IN:
        width = -(-width // FAN_IN)
        merges += width
    return count + merges + 1


class Threads:
    """This process.

    Args:
        workers: Threads; by default as many as processors.
    """

    def __init__(self, workers: int | None = None) -> None:
        self.workers = workers or os.cpu_count() or 1

    def groups(self, works: int) -> int:
        """Groups for each of so many evaluations."""
        return max(1, self.workers // max(1, works))

    def run(self, works: Sequence[Work]) -> Iterator[tuple[str, State | None]]:
        """See :class:`Backend`."""
        groups = self.groups(len(works))
        with ThreadPoolExecutor(self.workers) as outer, ThreadPoolExecutor(self.workers) as inner:
            running: dict[Future[State], str] = {}
            waiting = iter(works)
            try:
                while True:
                    for work in waiting:  # as many at once as there are threads: their states stay in memory
                        running[outer.submit(self._one, work, groups, inner)] = work.name
                        if len(running) >= self.workers:
                            break
                    if not running:
                        return
                    for future in wait(running, return_when=FIRST_COMPLETED).done:
                        yield running.pop(future), future.result()
            finally:
                for future in running:
                    future.cancel()

    def _one(self, work: Work, groups: int, pool: ThreadPoolExecutor) -> State:
        cut = grouped(work.parts, groups)
        if len(cut) == 1:
            return folding.whole(work.question, cut[0])
        if not work.ids_first:
            return folding.finish(work.question, list(pool.map(lambda g: folding.fold(work.question, g), cut)))
        owners = folding.own(cut, list(pool.map(lambda g: folding.locate(work.question, g), cut)))
        states = list(pool.map(lambda g: folding.fold_owned(work.question, cut[g], owners, g), range(len(cut))))
        return folding.finish(work.question, states)


class Cluster:
    """The workers of a Dask scheduler.

    Args:
        client: A ``distributed.Client``.
        resources: What each task needs of a worker's resources, such as ``{"GPU": 1}``.
        patience: Seconds to wait for the first worker.

    Raises:
        UsageError: the client cannot be used, or no worker has the resources.
        DistributedError: there is no worker.
    """

    def __init__(self, client: Any, resources: Mapping[str, float] | None = None, patience: float = 60.0) -> None:
        if not hasattr(client, "submit") or not hasattr(client, "scheduler_info"):
            raise UsageError(f"client is a distributed.Client, got a {type(client).__name__}.")
        if getattr(client, "asynchronous", False):
            raise UsageError("an asynchronous client cannot be waited for.", remedy="make it with asynchronous=False")
        self.client, self.resources = client, dict(resources or {})
        workers = client.scheduler_info()["workers"]
        if not workers:
            try:
                client.wait_for_workers(1, timeout=patience)
            except TimeoutError as error:
                raise DistributedError(
                    f"The scheduler {client.scheduler.address} has no worker after {patience:g} s.",
                    remedy=f"dask worker {client.scheduler.address}",
                ) from error
            workers = client.scheduler_info()["workers"]
        able = [w for w in workers.values() if _has(w, self.resources)]
        if not able:
            asked = ", ".join(f"{name}={amount:g}" for name, amount in self.resources.items())
            there = {f"{n}={a:g}" for w in workers.values() for n, a in w.get("resources", {}).items()}
            raise UsageError(
                f"No worker of {client.scheduler.address} has the resources {asked}; "
                f"{len(workers)} workers have {', '.join(sorted(there)) or 'none'}.",
                remedy=f'dask worker … --resources "{asked}"',
            )
        self.workers, self.threads = len(able), sum(int(w.get("nthreads", 1)) for w in able)

    def groups(self, works: int) -> int:
        """Groups for each of so many evaluations."""
        most = min(GROUPS_PER_THREAD * self.threads, GROUPS_PER_WORKER * self.workers)
        return max(1, -(-max(most, self.threads) // max(1, works)))

    def run(self, works: Sequence[Work]) -> Iterator[tuple[str, State | None]]:
        """See :class:`Backend`."""
        import dask
        from distributed import as_completed

        groups = self.groups(len(works))
        token = token_hex(8)  # keys are of this call alone: an old answer is never taken for a new one
        ends: dict[str, str] = {}
        names: dict[str, str] = {}
        # rows in memory travel with their tasks, and the caller chose that; a store would be read by the workers
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
            futures: list[Any] = []
            for rank, work in enumerate(works):
                *before, end = self._submit(work, grouped(work.parts, groups), f"{token}-{rank}", -rank)
                names |= {future.key: work.name for future in (*before, end)}
                ends[end.key] = work.name
                futures += [*before, end]
        completed = as_completed(futures, loop=self.client.loop)
        del before, end, futures  # a state is let go on its worker as soon as it was merged
        try:
            for future in completed:
                name = names.pop(future.key)
                yield name, self._gathered(future) if future.key in ends else None
                future.release()
        finally:
            if names:
                self.client.cancel(list(completed.futures), force=True)

    def _submit(self, work: Work, cut: list[tuple[Part, ...]], token: str, priority: int) -> list[Any]:
        """Futures of all steps of one evaluation; the last is its end."""

        def submit(what: Any, step: str, *arguments: Any) -> Any:
            return self.client.submit(
                what,
                *arguments,
                key=f"primabench-{what.__name__}-{token}-{step}",
                pure=False,
                priority=priority,
                resources=self.resources or None,
            )

        question = work.question
        if len(cut) == 1:
            return [submit(folding.whole, "0", question, cut[0])]
        if work.ids_first:
            located = [submit(folding.locate, str(g), question, parts) for g, parts in enumerate(cut)]
            owners = submit(folding.own, "0", cut, located)
            states = [submit(folding.fold_owned, str(g), question, parts, owners, g) for g, parts in enumerate(cut)]
        else:
            states = [submit(folding.fold, str(g), question, parts) for g, parts in enumerate(cut)]
        steps = list(states)
        level = 0
        while len(states) > FAN_IN:
            pieces = [states[i : i + FAN_IN] for i in range(0, len(states), FAN_IN)]
            states = [submit(folding.combine, f"{level}-{i}", question, piece) for i, piece in enumerate(pieces)]
            steps += states
            level += 1
        return [*steps, submit(folding.finish, "0", question, states)]

    def _gathered(self, future: Any) -> State:
        """A result as the worker told it; of a task that Dask gave up, why."""
        if future.status == "finished":
            found: State = future.result()
            return found
        if future.status == "cancelled":
            return {"error": error_to_plain(DistributedError("the scheduler was lost, or the task was cancelled"))}
        error = future.exception()
        if type(error).__name__ == "KilledWorker":
            told = DistributedError(
                "its task ended every worker that tried it", remedy="more memory for a worker, or smaller partitions"
            )
            return {"error": error_to_plain(told)}
        return {"error": error_to_plain(DistributedError(f"Dask gave up: {type(error).__name__}"))}


def _has(worker: Mapping[str, Any], resources: Mapping[str, float]) -> bool:
    held = worker.get("resources") or {}
    return all(float(held.get(name, 0)) >= amount for name, amount in resources.items())
