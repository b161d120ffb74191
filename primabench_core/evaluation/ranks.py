"""One score of what several ranks saw: states go to rank 0 once, and the result comes back to all.

Rank 0 alone computes: every other rank then holds neither the others' predictions nor different last bits of a metric
whose matrix products depend on the machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from primabench_core.errors import ContractError, DistributedError, PrimaBenchError, UsageError
from primabench_core.evaluation.intervals import as_level
from primabench_core.evaluation.open_intake import make_intake, read_intake
from primabench_core.evaluation.travel import error_from_plain, error_to_plain, pack, unpack
from primabench_core.result.identity import digest

if TYPE_CHECKING:
    from primabench_core.evaluation.collectives import Meeting, Ranks
    from primabench_core.evaluation.evaluation import Evaluation
    from primabench_core.evaluation.request import Request
    from primabench_core.result.eval_result import EvalResult


def asked(request: Request, truth_sha: str, ci: float | None) -> dict[str, Any]:
    """What must be the same on all ranks, part by part, as text."""
    metrics = [(m.name, m.spec.version, m.text) for m in request.metrics]
    return {
        "task": request.task,
        "dataset": request.dataset,
        "metrics": metrics,
        "content of the truth": request.dataset_hash or truth_sha,
        "duplicates": request.duplicates,
        "partial": request.partial,
        "seed": request.seed,
        "hash_predictions": request.hash_predictions,
        "ci": ci,
    }


def compute_together(ranks: Ranks, run: Evaluation, ci: float | None) -> EvalResult:
    """The result over what all ranks saw; the same value on each of them.

    Args:
        ranks: The process group.
        run: What this rank saw.
        ci: Level of intervals.

    Raises:
        DistributedError: a rank is missing or failed; it is named.
        PrimaBenchError: what the joint evaluation raises is raised on every rank.
    """
    failure: BaseException | None = None
    payload = bytearray()
    status: dict[str, Any] = {}
    try:
        request, truth, intake = run._request, run._opened, run._intake
        level = as_level(ci)
        status["asked"] = {k: digest(v)[:16] for k, v in asked(request, truth.sha256, level).items()}
        if ranks.rank:
            payload = pack({"intake": intake.to_buffers(), "seconds": run._seconds})
        status["size"] = len(payload)
    except Exception as error:  # noqa: BLE001  (raised below, once the other ranks know)
        failure = error
        status["error"] = error_to_plain(error)
    meeting = ranks.meet(status)
    if failure is not None:
        raise failure
    _refuse_failed(ranks, meeting)
    if ranks.rank:
        ranks.send(payload, 0)
        return _read(meeting.listen())
    raised: list[BaseException] = []

    def work() -> bytearray:
        try:
            return pack({"result": _joint(ranks, meeting, run, ci)})
        except Exception as error:  # noqa: BLE001  (raised below, on every rank)
            raised.append(error)
            return pack({"error": error_to_plain(error)})

    answer = meeting.announce(work)
    if raised:
        raise raised[0]
    return _read(answer)


def _refuse_failed(ranks: Ranks, meeting: Meeting) -> None:
    failed = [(r, s["error"]) for r, s in enumerate(meeting.statuses) if "error" in s]
    if failed:
        r, told = failed[0]
        raise DistributedError(
            f"Rank {r} of {ranks.size} failed in compute(): {told['kind']}: {told['message']}", remedy=told["remedy"]
        )
    first = meeting.statuses[0]["asked"]
    for r, status in enumerate(meeting.statuses):
        differ = [name for name, value in status["asked"].items() if value != first.get(name)]
        if differ:
            raise UsageError(
                f"Rank {r} was asked for something else than rank 0: {', '.join(differ)} differ.",
                remedy="make the same Evaluation, and call compute() in the same order, on every rank",
            )


def _joint(ranks: Ranks, meeting: Meeting, run: Evaluation, ci: float | None) -> str:
    """On rank 0: take the states in, one rank after the other, and score them."""
    from primabench_core.evaluation.compute import compute
    from primabench_core.result.json import to_json

    request, truth, seconds = run._request, run._opened, run._seconds
    whole = make_intake(request, truth)
    whole._absorb(run._intake)
    refused: PrimaBenchError | None = None
    for r in range(1, ranks.size):
        parts = unpack(ranks.receive(meeting.statuses[r]["size"], r))
        seconds = max(seconds, parts["seconds"])
        if refused is None:  # later ranks are still received: they must not wait for a receiver that left
            try:
                whole._absorb(read_intake(request, truth, parts["intake"]))
            except ContractError as error:
                what = f"The prediction of rank {r}, beside those of the ranks before it,"
                refused = ContractError(error.violations, what=what, remedy=error.remedy)
            except PrimaBenchError as error:
                refused = error
    if refused is not None:
        raise refused
    return to_json(compute(request, truth, whole, ci=ci, update_seconds=seconds))


def _read(answer: bytearray) -> EvalResult:
    from primabench_core.result.eval_result import EvalResult
    from primabench_core.result.json import from_json

    told = unpack(answer)
    if "error" in told:
        raise error_from_plain(told["error"])
    result = from_json(told["result"])
    if not isinstance(result, EvalResult):
        raise DistributedError(f"rank 0 gave a {type(result).__name__} in place of a result")
    return result
