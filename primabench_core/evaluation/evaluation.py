"""One evaluation: predictions arrive in any order and cut, and are scored as one."""

from __future__ import annotations

from collections.abc import Mapping
from time import perf_counter
from typing import TYPE_CHECKING, Any

from attrs import frozen

from primabench_core.errors import UsageError
from primabench_core.evaluation.open_intake import make_intake, read_intake
from primabench_core.evaluation.request import (
    Duplicates,
    Metrics,
    Request,
    check_options,
    open_truth,
    request_for_task,
    request_for_truth,
)
from primabench_core.evaluation.scoring import function_of
from primabench_core.evaluation.truth import Truth
from primabench_core.evaluation.unit_truth import make_truth, own_data

if TYPE_CHECKING:
    from primabench_core.evaluation.collectives import Ranks
    from primabench_core.result.eval_result import EvalResult


@frozen
class TruthSummary:
    """What may be known of a truth by anybody."""

    n: int
    """Units."""
    sha256: str
    """Fingerprint of the canonical content, salted where the truth is a dataset's."""


class Evaluation:
    """Scores of predictions that arrive in batches, in any order, with the same bits as in one piece.

    An update checks its batch, puts every row at its place and keeps nothing of the caller's arrays; a batch that
    breaks the contract raises in its own update and leaves no trace. Only :meth:`compute` runs metrics.

    Tensors on a GPU stay there, and no update waits for it: of such a batch shapes, types and text ids are checked at
    once, and its numbers by what reads the state next (:meth:`compute`, :meth:`merge`, :attr:`n_seen`, a pickle).

    Args:
        task: Name of a registered task. Its solution is opened inside and never given out.
        dataset: ``publication/slug@version``; by default the task's own.
        metrics: Names, or (name, parameters) pairs; by default the task's panel.
        device: Where numbers are reduced: ``"cuda"`` brings them there, ``"cpu"`` to the host; by default where they
            are. It changes no bit of an exact score. Text stays on the host.
        seed: Seed of intervals; recorded.
        duplicates: A row that comes again: ``"drop_identical"`` counts equal content once and refuses other content,
            ``"refuse"`` refuses both.
        partial: Allow units that were never predicted; the coverage stands beside each score.
        labels: Free pairs of text kept in the result (``model_name``, ``step`` …); numbers are kept as their text.
        hash_predictions: Fingerprint the predictions; without it the result cannot be verified.
        truth: A truth of your own instead of a task: a mapping of fields that may carry ``ids``, ``classes`` and
            ``genes``, or EvalData, a DataFrame, AnnData, an xarray Dataset. Then ``metrics`` must be named.
        store: Store to read the dataset from; by default ``PRIMABENCH_STORE``.
        process_group: A ``torch.distributed`` group, or ``"world"`` for the default one: :meth:`compute` then scores
            what all its ranks saw, and gives each of them the same result. Nothing else communicates, so that ranks
            may take different numbers of batches, or none.
        timeout: Seconds that :meth:`compute` waits for the other ranks; those missing are then named.

    Raises:
        UsageError: arguments that do not go together.
        UnknownNameError: no such task, dataset or metric.
        ContractError: the truth is not what its metrics need.

    Example:
        >>> run = Evaluation(metrics=["accuracy"], truth={"label": [0, 1, 1, 0]})  # doctest: +SKIP
        >>> run.update(positions=[2, 3], label=[1, 1])  # doctest: +SKIP
        >>> run.update(positions=[0, 1], label=[0, 1])  # doctest: +SKIP
        >>> run.compute().scores  # doctest: +SKIP
        {'accuracy': 0.75}
    """

    def __init__(
        self,
        task: str | None = None,
        *,
        dataset: str | None = None,
        metrics: Metrics | None = None,
        device: str | None = None,
        seed: int = 0,
        duplicates: Duplicates = "drop_identical",
        partial: bool = False,
        labels: Mapping[str, str | float] | None = None,
        hash_predictions: bool = True,
        truth: Any = None,
        store: str | None = None,
        process_group: Any = None,
        timeout: float = 600.0,
    ) -> None:
        check_options(device, seed, labels)
        self._ranks = None if process_group is None else _ranks_of(process_group, timeout)
        options: dict[str, Any] = {
            "seed": seed,
            "duplicates": duplicates,
            "partial": bool(partial),
            "labels": labels or {},
            "hash_predictions": bool(hash_predictions),
            "device": None if device is None else str(device),
        }
        if (task is None) == (truth is None):
            raise UsageError(
                "Name a task, or give a truth of your own: one of the two.", remedy="primabench list tasks"
            )
        self._truth: Truth | None = None
        if task is not None:
            self._request = request_for_task(task, dataset=dataset, metrics=metrics, store=store, **options)
        else:
            if metrics is None or dataset is not None:
                raise UsageError(
                    "A truth of your own needs metrics=, and no dataset.", remedy="primabench list metrics"
                )
            self._request = request_for_truth(metrics, **options)
            self._truth = make_truth(own_data(truth, self._request), self._request.contract)
        self._seconds = 0.0
        for metric in self._request.metrics:
            function_of(metric)  # a metric that cannot run is refused here, not after a thousand updates
        self._intake = make_intake(self._request, self._opened)
        _started(self._request)

    # -- state -----------------------------------------------------------------------------------------------------

    @property
    def truth(self) -> TruthSummary:
        """How large the truth is and its fingerprint; the answers themselves stay with the runner."""
        return TruthSummary(self._opened.n, self._opened.sha256)

    @property
    def _opened(self) -> Truth:
        if self._truth is None:
            self._truth = open_truth(self._request)
        return self._truth

    @property
    def n_seen(self) -> int:
        """Units with a prediction so far."""
        return self._intake.placed.n_seen

    @property
    def coverage(self) -> float:
        """Share of units with a prediction so far."""
        return self._intake.placed.coverage

    def update(self, predictions: Any = None, *, ids: Any = None, positions: Any = None, **fields: Any) -> None:
        """Take a batch.

        Args:
            predictions: EvalData, a DataFrame, AnnData, an xarray Dataset, a mapping, or the path of a prediction file
                (see :func:`primabench_core.store.prediction_files.read_predictions`), in place of fields.
            ids: (n,) the truth's ids as text; for a truth without ids, row numbers.
            positions: (n,) row numbers in the truth's own order, in place of ``ids``: integers, a slice or a range.
            **fields: Predicted fields by name, n rows each, and ``classes`` or ``genes`` to name columns. Arrays of
                numpy, torch (any device), pandas, or lists.

        Raises:
            ContractError: the batch breaks the contract; every violation is listed, and the state is as before.
            UsageError: arguments that do not go together.
        """
        started = perf_counter()
        if predictions is not None:
            ids, fields = self._intake.unpack(predictions, ids, fields)
        else:
            self._intake.source = ""
        if self._request.contract.arrange:
            ids, fields = self._intake.arranged(ids, fields)  # type: ignore[assignment]
        self._intake.take(ids, positions, fields)
        self._seconds += perf_counter() - started

    def merge(self, *others: Evaluation) -> Evaluation:
        """A new evaluation that has seen what all have seen; none of them changes.

        Raises:
            UsageError: they were asked for different things, or are over different truths.
            ContractError: two of them saw a row with different content (or at all, with ``duplicates="refuse"``).
        """
        for other in others:
            if not isinstance(other, Evaluation):
                raise UsageError(f"merge takes evaluations, got {type(other).__name__}.")
            if self._request != other._request:
                raise UsageError("These evaluations were asked for different things and cannot be merged.")
            if not self._request.dataset and self._opened.sha256 != other._opened.sha256:
                raise UsageError("These evaluations are over different truths and cannot be merged.")
        result = object.__new__(Evaluation)
        result._request, result._truth, result._ranks = self._request, self._truth, self._ranks
        result._seconds = self._seconds + sum(other._seconds for other in others)
        result._intake = self._intake.merge([other._intake for other in others])
        return result

    def reset(self) -> None:
        """Forget all predictions."""
        self._intake = make_intake(self._request, self._opened)
        self._seconds = 0.0

    def compute(self, ci: float | None = None) -> EvalResult:
        """Run every metric over what was seen. The evaluation goes on: more updates may follow.

        Args:
            ci: Level of the intervals such as 0.95; None makes none and costs nothing.

        Raises:
            CoverageError: units were never predicted, and neither the contract nor ``partial=True`` allows that.
            ContractError: a metric's own check refuses the request.
            DistributedError: with a process group: a rank is missing, or failed.
        """
        from primabench_core.evaluation.compute import compute

        if self._ranks is not None:
            from primabench_core.evaluation.ranks import compute_together

            return compute_together(self._ranks, self, ci)
        return compute(self._request, self._opened, self._intake, ci=ci, update_seconds=self._seconds)

    # -- travel ----------------------------------------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        """A dataset's truth stays behind: key and content hash travel, and the solution is opened where it is used."""
        return {
            "request": self._request,
            "truth": None if self._request.dataset else self._truth,
            "intake": self._intake.to_buffers(),
            "seconds": self._seconds,
        }

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self._request, self._truth = state["request"], state["truth"]
        self._ranks = None  # a process group belongs to its process
        self._seconds = state["seconds"]
        self._carried: Any = state["intake"]

    def __getattr__(self, name: str) -> Any:
        # only reached while a pickled evaluation has not yet opened its truth
        carried = self.__dict__.get("_carried")
        if name != "_intake" or carried is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        self._intake = read_intake(self._request, self._opened, carried)
        self._carried = None
        return self._intake

    def __deepcopy__(self, memo: dict[int, Any]) -> Evaluation:
        return self.merge()

    def __copy__(self) -> Evaluation:
        return self.merge()

    def __repr__(self) -> str:
        over = f"task={self._request.task!r}, dataset={self._request.dataset!r}" if self._request.task else "own truth"
        metrics = ", ".join(m.name for m in self._request.metrics)
        return f"Evaluation({over}, metrics=[{metrics}], seen {self.n_seen:,} of {self._opened.n:,} units)"


def _ranks_of(process_group: Any, timeout: float) -> Ranks:
    from primabench_core.evaluation.collectives import Ranks

    return Ranks(process_group, timeout)


def _started(request: Request) -> None:
    from primabench_core.discovery.hooks import evaluation_started

    evaluation_started(request.task, request.dataset, tuple(m.name for m in request.metrics))
