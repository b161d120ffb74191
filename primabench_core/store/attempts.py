"""Asks a remote store again after a passing fault, and turns a lasting one into an error that names the remedy.

Errors of the libraries below are never passed on: their texts may hold signed addresses and names of keys.
"""

from __future__ import annotations

import asyncio
import random
import time
import zipfile
from collections.abc import Callable
from typing import Any, Literal, TypeVar

from primabench_core.errors import CorruptDataError, MissingDataError, PrimaBenchError, StoreError
from primabench_core.store.faults import PRIVATE

T = TypeVar("T")

ATTEMPTS = 4
"""Times that a request is sent."""

FIRST_WAIT = 0.25
"""Seconds before the second attempt; each further wait is four times as long, at most ``LONGEST_WAIT``."""

LONGEST_WAIT = 8.0

Fault = Literal["missing", "forbidden", "exists", "transient", "slow", "corrupt", "permanent"]

_STATUS: dict[int, Fault] = {
    401: "forbidden",
    403: "forbidden",
    404: "missing",
    408: "transient",
    409: "transient",
    410: "missing",
    412: "exists",
    416: "corrupt",
    425: "transient",
    429: "transient",
}

_REMEDY = {
    "forbidden": "check PRIMABENCH_S3_KEY_ID and _SECRET, or PRIMABENCH_GCS_TOKEN, and what they may read",
    "missing": "check PRIMABENCH_STORE and the name; the store may have moved",
    "exists": "a published object is never written over; give changed data a new version",
    "transient": "try again later; what arrived is kept, and PRIMABENCH_OFFLINE=1 uses what is in the cache",
    "slow": "try again on a better connection; what arrived is kept",
    "corrupt": "the copy in that store is damaged; use another store or build the dataset",
    "permanent": "check PRIMABENCH_STORE and the settings of its endpoint",
}


class ObjectExistsError(StoreError):
    """An object that was to be created is there already."""


def attempt(action: str, shown: str, function: Callable[[], T], *, private: bool = False) -> T:
    """Run a request, again after passing faults with longer and longer waits.

    Args:
        action: What is tried, such as ``"read"``.
        shown: Address of the object; not shown if ``private``.
        function: The request.
        private: Nothing may say what was asked for.

    Raises:
        MissingDataError: the store has no such object.
        ObjectExistsError: it is there already.
        CorruptDataError: it cannot be what was stored.
        StoreError: access is refused, or the store does not answer.
    """
    place = PRIVATE if private else shown
    kind: Fault = "permanent"
    status = tries = 0
    for tries in range(1, ATTEMPTS + 1):
        try:
            return function()
        except PrimaBenchError:
            raise
        except Exception as error:  # noqa: BLE001  (many libraries, many errors: all are classified and raised as ours)
            kind, status = classify(error)
            name = type(error).__name__
        if kind not in ("transient", "slow") or tries == ATTEMPTS:
            break
        wait = min(FIRST_WAIT * 4 ** (tries - 1), LONGEST_WAIT)
        time.sleep(wait * random.uniform(0.75, 1.25))
    raise _error(action, place, kind, status, tries, name)  # outside of the handler: no context holds the original


def _error(action: str, place: str, kind: Fault, status: int, tries: int, name: str) -> StoreError:
    code = f" (status {status})" if status else f" ({name})"
    remedy = _REMEDY[kind]
    if kind == "missing":
        return MissingDataError(f"cannot {action} {place}: it is not there{code}", remedy=remedy)
    if kind == "forbidden":
        return StoreError(f"cannot {action} {place}: access is refused{code}", remedy=remedy)
    if kind == "exists":
        return ObjectExistsError(f"cannot {action} {place}: it exists{code}", remedy=remedy)
    if kind == "corrupt":
        return CorruptDataError(f"cannot {action} {place}: it is not what was stored{code}", remedy=remedy)
    if kind == "slow":
        return StoreError(f"cannot {action} {place}: no answer in time, {tries} times{code}", remedy=remedy)
    if kind == "transient":
        return StoreError(f"cannot {action} {place}: the store failed {tries} times{code}", remedy=remedy)
    return StoreError(f"cannot {action} {place}: the request is refused or cannot be sent{code}", remedy=remedy)


def classify(error: BaseException) -> tuple[Fault, int]:
    """What kind of fault an error of fsspec, gcsfs, s3fs, aiohttp or botocore is, and its HTTP status (0: none)."""
    status = _status(error)
    if status:
        return _of_status(status), status
    kind = _by_type(error)
    seen = error.__cause__
    while kind == "permanent" and seen is not None:  # s3fs wraps what botocore raised
        status = _status(seen)
        if status:
            return _of_status(status), status
        kind, seen = _by_type(seen), seen.__cause__
    return kind, 0


def _of_status(status: int) -> Fault:
    return _STATUS.get(status, "transient" if status >= 500 else "permanent")


def _by_type(error: BaseException) -> Fault:
    if isinstance(error, FileNotFoundError | KeyError):
        return "missing"
    if isinstance(error, FileExistsError):
        return "exists"
    if isinstance(error, PermissionError):
        return "forbidden"
    if isinstance(error, zipfile.BadZipFile):
        return "corrupt"
    if isinstance(error, TimeoutError | asyncio.TimeoutError) or "Timeout" in type(error).__name__:
        return "slow"
    return _by_name(error)


def _by_name(error: BaseException) -> Fault:
    """Libraries that are not imported here are known by their names."""
    names = {kind.__name__ for kind in type(error).__mro__}
    library = {kind.__module__.split(".")[0] for kind in type(error).__mro__}
    if isinstance(error, ConnectionError) or names & {"ClientConnectionError", "ClientPayloadError"}:
        return "transient"
    if "botocore" in library and names & {"HTTPClientError", "ConnectionError", "IncompleteReadError"}:
        return "transient"
    if names & {"NoCredentialsError", "PartialCredentialsError", "DefaultCredentialsError", "RefreshError"}:
        return "forbidden"
    if names & {"TransportError", "ChecksumError"}:
        return "transient"
    return "permanent"


def _status(error: BaseException) -> int:
    answer: Any = getattr(error, "response", None)
    if isinstance(answer, dict):  # botocore
        found = answer.get("ResponseMetadata", {}).get("HTTPStatusCode")
    else:
        found = getattr(error, "status", None) or getattr(error, "code", None)
    try:
        status = int(found)
    except (TypeError, ValueError):
        return 0
    return status if 400 <= status < 600 else 0
