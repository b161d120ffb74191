"""The tasks of a parallel evaluation: pure functions from values to plain values, whatever runs them and how often.

Nothing here talks to a scheduler. What a task gives back is a mapping: a state in plain buffers, a result as JSON, or
an error as text. States hold positions and predictions, never an answer of the truth.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from time import perf_counter
from typing import Any

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import NDArray

from primabench_core.contract.contract import Contract
from primabench_core.contract.evaldata import EvalData
from primabench_core.errors import ContractError, DistributedError, PrimaBenchError, StoreError
from primabench_core.evaluation.intake import Intake
from primabench_core.evaluation.open_intake import make_intake, read_intake
from primabench_core.evaluation.parts import Block, Part, blocks
from primabench_core.evaluation.request import Request, open_truth
from primabench_core.evaluation.travel import error_to_plain
from primabench_core.evaluation.truth import Truth
from primabench_core.evaluation.unit_truth import make_truth
from primabench_core.state.threads import one_thread
from primabench_core.state.unit_samples import row_keys

State = dict[str, Any]
"""``intake`` (plain buffers), ``seconds``; or ``error``."""

_KEPT = 8
"""Truths that a process keeps open."""
_opened: OrderedDict[Any, Truth] = OrderedDict()
_lock = threading.Lock()


@frozen(eq=False)
class Question:
    """What is asked of predictions: names and rules, and of a dataset's solution its key and content hash only."""

    request: Request
    ci: float | None = None
    truth: EvalData | str | None = None
    """A truth of the caller, or the path of one; None for a dataset's."""
    token: str = field(default="")
    """Tells truths of the caller apart."""


def truth_of(question: Question) -> Truth:
    """The truth, opened once in this process.

    Raises:
        StoreError: this process cannot open it; says in which store, and what to do.
    """
    from primabench_core.store.address import ENVIRONMENT
    from primabench_core.store.settings import setting

    request = question.request
    store = request.store or setting(ENVIRONMENT)
    key = (question.token, request.task, request.dataset, request.dataset_hash, store, repr(request.contract))
    with _lock:
        if key in _opened:
            _opened.move_to_end(key)
            return _opened[key]
        try:
            found = _own_truth(question) if question.truth is not None else open_truth(request)
        except StoreError as error:
            raise _explained(error, request, store) from None
        _opened[key] = found
        while len(_opened) > _KEPT:
            _opened.popitem(last=False)
        return found


def _own_truth(question: Question) -> Truth:
    contract, truth = question.request.contract, question.truth
    if isinstance(truth, str):
        from primabench_core.store.prediction_files import read_predictions

        truth = read_predictions(truth, Contract(prediction=contract.solution, solution=contract.solution))
    assert truth is not None
    return make_truth(truth, contract)


def _explained(error: StoreError, request: Request, store: str) -> StoreError:
    """The same error, saying where this process looked."""
    from primabench_core.store.address import ENVIRONMENT
    from primabench_core.store.location import default_root

    what = f"dataset {request.dataset}" if request.dataset else "the truth"
    told = type(error).__new__(type(error))
    PrimaBenchError.__init__(
        told,
        f"{place()} cannot open {what} in its store {store or default_root()}: {error.message}",
        remedy=f"{error.remedy}, and set {ENVIRONMENT} of that worker to the store".removeprefix(", and "),
    )
    return told


def place() -> str:
    """Where this code runs, for messages."""
    address = _worker_address()
    return f"worker {address}" if address else "this process"


def _worker_address() -> str:
    """Address of the Dask worker that this code runs on; empty where it is none."""
    import sys

    if "distributed" in sys.modules:
        from distributed import get_worker

        try:
            return str(get_worker().address)
        except ValueError:  # no worker
            pass
    return ""


# -- tasks -------------------------------------------------------------------------------------------------------------


def fold(question: Question, parts: Sequence[Part], own: Ownership | None = None) -> State:
    """The state of a group of partitions."""
    return _told(lambda: _packed(*_folded(question, parts, own)))


def combine(question: Question, states: Sequence[State]) -> State:
    """One state of several."""
    return _first_error(states) or _told(lambda: _packed(*_merged(question, states)))


def finish(question: Question, states: Sequence[State]) -> State:
    """The result over all states, as JSON."""
    return _first_error(states) or _told(lambda: _scored(question, *_merged(question, states)))


def whole(question: Question, parts: Sequence[Part]) -> State:
    """The result over all parts, as JSON, where one task does everything."""
    return _told(lambda: _scored(question, *_folded(question, parts, None)))


def _told(act: Any) -> State:
    """What it gives, or its error as text: an exception could carry more than its words to the client."""
    try:
        # a worker has the threads that its cluster gave it; they do not start others
        with one_thread() if _worker_address() else nullcontext():
            found: State = act()
    except MemoryError:
        return {"error": error_to_plain(DistributedError(f"{place()} ran out of memory"))}
    except Exception as error:  # noqa: BLE001  (reported as the failure of this evaluation)
        told = error_to_plain(error)
        if not isinstance(error, PrimaBenchError):
            told["message"] = f"{place()}: {told['message']}"
        return {"error": told}
    return found


def _first_error(states: Sequence[State]) -> State | None:
    return next(({"error": state["error"]} for state in states if "error" in state), None)


def _packed(intake: Intake, seconds: float) -> State:
    return {"intake": intake.to_buffers(), "seconds": seconds}


def _folded(question: Question, parts: Sequence[Part], own: Ownership | None) -> tuple[Intake, float]:
    started = perf_counter()
    truth = truth_of(question)
    intake = make_intake(question.request, truth)
    contract = question.request.contract
    if own is None:
        for block in blocks(parts, contract):
            take(intake, block)
    else:
        for number, block in enumerate(blocks(parts, contract)):
            rows = own.skipped.get(number)
            take(intake, block if rows is None else evolve(block, data=_without(block.data, rows)))
        for block in own.repeats(contract):
            take(intake, block)
    return intake, perf_counter() - started


def take(intake: Intake, block: Block) -> None:
    """Place the rows of a block."""
    ids, fields = intake.arranged(*intake.unpack(block.data, None, {}))
    n = block.data.n
    if not n:
        return
    positions = None
    if ids is None:
        is_open = intake.request.contract.many_rows_per_unit  # its rows have numbers of their own
        if not block.total or (not is_open and (intake.truth.ids is not None or block.total != intake.truth.n)):
            _refuse_nameless(intake, block)
        positions = slice(block.start, block.start + n)
    intake.take(ids, positions, fields)


def _refuse_nameless(intake: Intake, block: Block) -> None:
    from primabench_core.contract.violations import Violation

    truth = intake.truth
    if truth.ids is not None or not block.total:
        expected, found = "the id of each row", f"{block.data.n:,} rows without ids"
    else:
        expected, found = f"all {truth.n:,} rows where they have no ids", f"{block.total:,} rows"
    raise ContractError([Violation("ids", expected, found, remedy="write the predictions with the truth's ids")])


def _merged(question: Question, states: Sequence[State]) -> tuple[Intake, float]:
    truth = truth_of(question)
    intake = make_intake(question.request, truth)
    for state in states:
        intake._absorb(read_intake(question.request, truth, state["intake"]))
    return intake, max((s["seconds"] for s in states), default=0.0)


def _scored(question: Question, intake: Intake, seconds: float) -> State:
    from primabench_core.discovery.hooks import evaluation_started
    from primabench_core.evaluation.compute import compute
    from primabench_core.result.json import to_json

    request = question.request
    evaluation_started(request.task, request.dataset, tuple(m.name for m in request.metrics))
    return {"result": to_json(compute(request, intake.truth, intake, ci=question.ci, update_seconds=seconds))}


# -- rows that come in several groups ----------------------------------------------------------------------------------


@frozen(eq=False)
class Ownership:
    """What a group leaves to a lower one, and what it takes over from higher ones.

    A repeated row belongs to the lowest partition that has it, and the copies in other groups are folded there too, so
    that states which cannot take a row out again never meet it twice and its content is compared in one place.
    """

    skipped: dict[int, NDArray[np.int64]] = field(factory=dict)
    """Number of a block of the group, rows of it that a lower group folds."""
    taken: tuple[tuple[tuple[Part, ...], int, NDArray[np.int64]], ...] = ()
    """(parts of another group, number of a block of it, rows of that block)."""

    def repeats(self, contract: Contract) -> Iterator[Block]:
        """The rows that are taken over."""
        for parts, number, rows in self.taken:
            for i, block in enumerate(blocks(parts, contract)):
                if i == number:
                    yield evolve(block, data=block.data.select(rows))
                    break


def locate(question: Question, parts: Sequence[Part]) -> State:
    """Positions of the rows of each block of a group, from their ids alone; -1 for ids that the truth does not have."""

    def read() -> State:
        truth = truth_of(question)
        found: list[NDArray[np.int64]] = []
        is_open = question.request.contract.many_rows_per_unit
        for block in blocks(parts, question.request.contract, ids_only=True):
            ids = block.data.ids
            if ids is None or truth.ids is None:
                return {"positions": None}  # numbered rows come once
            if is_open:  # no truth lists these rows: two of one hash are folded in one place, and compared by id there
                found.append(row_keys(ids, 0).astype(np.int64))
            else:
                found.append(truth.index.lookup(list(ids)))
        return {"positions": found, "hashed": is_open}

    return _told(read)


def own(groups: Sequence[Sequence[Part]], located: Sequence[State]) -> list[Ownership | State]:
    """For each group, what it leaves out and takes over."""
    failed = _first_error(located)
    if failed is not None:
        return [failed for _ in groups]
    if any(state["positions"] is None for state in located):
        return [Ownership() for _ in groups]
    rows = [(g, b, len(p)) for g, state in enumerate(located) for b, p in enumerate(state["positions"])]
    if not rows:
        return [Ownership() for _ in groups]
    positions = np.concatenate([p for state in located for p in state["positions"]])
    if any(state["hashed"] for state in located):
        positions = np.unique(positions, return_inverse=True)[1].reshape(-1).astype(np.int64)
    sizes = np.array([n for _, _, n in rows])
    block = np.repeat(np.arange(len(rows)), sizes)
    within = np.arange(len(positions)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    group = np.array([g for g, _, _ in rows])[block]
    lowest = np.full(int(positions.max(initial=-1)) + 1, len(groups), np.int64)
    known = np.flatnonzero(positions >= 0)
    np.minimum.at(lowest, positions[known], group[known])
    moved = known[group[known] != lowest[positions[known]]]
    owners: list[tuple[dict[int, NDArray[np.int64]], list[Any]]] = [({}, []) for _ in groups]
    for at in np.unique(block[moved]).tolist():
        here = moved[block[moved] == at]
        g, number, _ = rows[at]
        owners[g][0][number] = within[here]
        takers = lowest[positions[here]]
        for taker in np.unique(takers).tolist():
            owners[taker][1].append((tuple(groups[g]), number, within[here][takers == taker]))
    return [Ownership(skipped, tuple(taken)) for skipped, taken in owners]


def fold_owned(question: Question, parts: Sequence[Part], owners: Sequence[Ownership | State], group: int) -> State:
    """As :func:`fold`, with what :func:`own` said about the group."""
    owner = owners[group]
    return owner if isinstance(owner, dict) else fold(question, parts, owner)


def _without(data: EvalData, rows: NDArray[np.int64]) -> EvalData:
    keep = np.ones(data.n, bool)
    keep[rows] = False
    return data.select(np.flatnonzero(keep))
