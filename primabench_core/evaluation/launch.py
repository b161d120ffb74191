"""Ways to a Dask cluster: workers on this machine, workers on its GPUs, or a scheduler that runs already."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from primabench_core.errors import DistributedError, MissingPluginError, StoreError, UsageError

PRELOAD = "primabench_core.evaluation.preload"
_LOCAL = re.compile(r"(?P<kind>local|gpu)(?::(?P<count>[0-9]+))?")


def _distributed() -> Any:
    try:
        import distributed
    except ImportError as error:
        raise MissingPluginError(
            "a cluster needs Dask's scheduler, which is not installed", remedy='pip install "primabench-core[cluster]"'
        ) from error
    return distributed


@contextmanager
def connect(
    scheduler: str, *, tls_ca: str = "", tls_cert: str = "", tls_key: str = "", timeout: float = 30.0
) -> Iterator[Any]:
    """A client for as long as the context is open.

    Args:
        scheduler: Address of a scheduler (``tcp://host:8786``, ``tls://…``), or ``local``, ``local:4``: so many worker
            processes on this machine, or ``gpu``, ``gpu:2``: a worker for each of its GPUs.
        tls_ca: File of the authority that signed the scheduler's certificate; with it the connection is encrypted.
        tls_cert: File of this client's certificate.
        tls_key: File of its key.
        timeout: Seconds to wait for the scheduler.

    Raises:
        UsageError: files of TLS that do not go together.
        DistributedError: nobody answers at that address, or not in TLS.
        MissingPluginError: dask.distributed, or dask-cuda for GPUs, is not installed.

    Example:
        >>> with connect("local:2") as client:  # doctest: +SKIP
        ...     evaluate_many({"a": "a.zarr"}, task="clustering", client=client)
    """
    distributed = _distributed()
    here = _LOCAL.fullmatch(scheduler.strip())
    if here:
        count = int(here["count"]) if here["count"] else None
        with start(count, gpus=here["kind"] == "gpu") as cluster, distributed.Client(cluster) as client:
            yield client
        return
    security = _security(distributed, tls_ca, tls_cert, tls_key)
    try:
        client = distributed.Client(scheduler, security=security, timeout=timeout, set_as_default=False)
    except (OSError, TimeoutError, ValueError, RuntimeError, TypeError) as error:
        why = next(iter(str(error).splitlines()), type(error).__name__)
        raise DistributedError(
            f"No Dask scheduler answers at {scheduler}: {why}", remedy="dask scheduler, then give the address it prints"
        ) from error
    with client:
        yield client


def _security(distributed: Any, ca: str, cert: str, key: str) -> Any:
    named = {"tls_ca_file": ca, "tls_client_cert": cert, "tls_client_key": key}
    if not any(named.values()):
        return None
    if not all(named.values()):
        raise UsageError("TLS needs three files: of the authority, of the certificate and of the key.")
    for path in named.values():
        if not Path(path).is_file():
            raise StoreError(f"no such file: {path}", remedy="check the path")
    return distributed.Security(require_encryption=True, **named)


@contextmanager
def start(
    workers: int | None = None,
    *,
    threads: int = 1,
    gpus: bool = False,
    resources: Mapping[str, float] | None = None,
    **options: Any,
) -> Iterator[Any]:
    """Worker processes on this machine for as long as the context is open.

    Args:
        workers: Processes; by default as many as processors, or as GPUs.
        threads: Threads of each.
        gpus: One worker for each GPU, by dask-cuda; each has ``{"GPU": 1}``.
        resources: What each worker says to have.
        **options: Of ``distributed.LocalCluster`` (``security=``, ``dashboard_address=`` …).

    Raises:
        MissingPluginError: dask.distributed or dask-cuda is not installed.
        UsageError: there is no GPU.
    """
    distributed = _distributed()
    options.setdefault("dashboard_address", ":0")  # another cluster on this machine has the usual port
    if gpus:
        with _gpu_cluster(workers, options) as cluster:
            yield cluster
        return
    with distributed.LocalCluster(
        n_workers=workers, threads_per_worker=threads, resources=dict(resources or {}) or None, **options
    ) as cluster:
        yield cluster


def _gpu_cluster(workers: int | None, options: Mapping[str, Any]) -> Any:
    try:
        from dask_cuda import LocalCUDACluster
    except ImportError as error:
        raise MissingPluginError(
            "a worker for each GPU needs dask-cuda, which is not installed or cannot be imported",
            remedy='pip install "dask-cuda[cu13]" (or cu12, as your driver has it)',
        ) from error
    try:
        return LocalCUDACluster(n_workers=workers, resources={"GPU": 1}, preload=[PRELOAD], **options)
    except Exception as error:
        if "NVML" in type(error).__name__:  # pynvml is not ours to import
            raise UsageError(
                f"this machine has no NVIDIA GPU that can be used: {error}", remedy="--scheduler local"
            ) from error
        raise
