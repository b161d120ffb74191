"""Predictions on a GPU: the same bits as on the CPU, and time and memory beside torchmetrics on the same GPU.

Run: ``python tests/performance/gpu_check.py`` where there is a CUDA device; a few minutes, one table. Both sides of a
timing run interleaved in one process; medians, and the largest memory above the inputs. Where a number differs that
must not, it ends with status 1. Without a GPU: ``--device cpu --small``, which says what it leaves out.
"""

from __future__ import annotations

import argparse
import gc
import importlib.util
import math
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
import torch

import primabench_core as pb
from primabench_core.state import compiled
from primabench_core.state.check_digests import check_digests
from primabench_core.state.column_moments import ColumnMoments
from primabench_core.state.column_sums import ColumnSums
from primabench_core.state.grouped_sums import GroupedSums
from primabench_core.state.row_errors import row_errors
from primabench_core.state.torch_rows import check_digests_on_device, row_errors_on_device

HERE = Path(__file__).resolve().parent
FOUR = ["accuracy", "macro_f1", "balanced_accuracy", "mcc"]
failures: list[str] = []


class Place:
    """The device under test."""

    def __init__(self, device: str, small: bool) -> None:
        self.device, self.small = torch.device(device), small
        self.is_gpu = self.device.type == "cuda"

    def put(self, values: Any) -> Any:
        return torch.from_numpy(np.ascontiguousarray(values)).to(self.device)

    def wait(self) -> None:
        if self.is_gpu:
            torch.cuda.synchronize()

    def size(self, full: int, small: int) -> int:
        return small if self.small else full


def say(*cells: Any) -> None:
    print("  ".join(str(c) for c in cells), flush=True)


def check(name: str, good: bool, detail: str = "") -> None:
    if not good:
        failures.append(name)
    say(f"{'ok  ' if good else 'FAIL'} {name}", detail)


# -- the same bits -----------------------------------------------------------------------------------------------------


def every_metric(place: Place) -> None:
    """Each registered metric on generated inputs, fields on the device in three batches, beside the CPU in one."""
    path = HERE.parent / "evaluation" / "matrix.py"
    spec = importlib.util.spec_from_file_location("gpu_matrix", path)
    assert spec is not None
    assert spec.loader is not None
    matrix = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(matrix)
    exact = tolerance = there = 0
    worst = 0.0
    for name, metrics, case in matrix.cases(every=True):
        truth = {"ids": list(case.ids), **case.truth}
        host = pb.stream(metrics, truth, partial=True)
        run = pb.stream(metrics, truth, partial=True, device=str(place.device))
        names = {k: case.prediction[k] for k in ("classes", "genes") if k in case.prediction}
        host.update(ids=list(case.ids), **case.prediction)
        for rows in np.array_split(np.arange(len(case.ids)), 3):
            part = matrix.part(case, rows)
            numeric = [k for k, v in part.items() if isinstance(v, np.ndarray) and v.dtype.kind in "fiub"]
            run.update(**{**{k: place.put(v) if k in numeric else v for k, v in part.items()}, **names})
        found, expected = run.compute(), host.compute()
        there += found.device != "cpu"
        one, other = found.results[0], expected.results[0]
        if one.reproducibility == "exact":
            exact += 1
            if found.scores_hash != expected.scores_hash or dict(one.per_unit) != dict(other.per_unit):
                check(f"bits of {name}", False, f"{one.value!r} and {other.value!r}")
        else:
            tolerance += 1
            declared = run._request.metrics[0].spec
            if (one.value is None) != (other.value is None):
                check(f"value of {name}", False, f"{one.value!r} and {other.value!r}")
            elif one.value is not None and other.value is not None:
                gap = abs(one.value - other.value)
                worst = max(worst, gap)
                if not gap <= declared.atol + declared.rtol * abs(other.value):
                    check(f"value of {name}", False, f"{one.value!r} and {other.value!r}")
        if found.predictions_sha256 != expected.predictions_sha256:
            check(f"fingerprint of {name}", False)
    detail = f"{exact} exact cases, {tolerance} within tolerance (largest gap {worst:.1e}), {there} reduced there"
    check("every registered metric", not failures, detail)


def panels(place: Place) -> None:
    """Whole evaluations: scores_hash and fingerprint, with and without the hash of predictions."""
    rng = np.random.default_rng(0)
    n = place.size(20_000, 2_000)
    y, p = rng.integers(0, 20, (2, n))
    s = rng.random(n).astype(np.float32)
    w = rng.standard_normal((n, 64), np.float32) + 1e4
    v = w + rng.standard_normal((n, 64), np.float32)
    sums = ["mse", "mae", "r2", "pearson", "pearson{per: feature}"]
    for title, metrics, truth, fields in (
        ("labels", FOUR, {"label": y}, {"label": p}),
        ("scores", ["auroc", "average_precision"], {"label": y % 2}, {"score": s}),
        ("wide values", sums, {"value": w}, {"value": v}),
        ("wide values, float64", sums, {"value": w.astype(float)}, {"value": v * 1.1}),
    ):
        for hashed in (True, False):
            host = pb.stream(metrics, truth, hash_predictions=hashed)
            host.update(positions=slice(0, n), **fields)
            run = pb.stream(metrics, truth, hash_predictions=hashed)
            order = rng.permutation(n)
            for i in range(0, n, 777):
                rows = order[i : i + 777]
                run.update(positions=place.put(rows), **{k: place.put(f[rows]) for k, f in fields.items()})
            one, other = run.compute(), host.compute()
            same = one.scores_hash == other.scores_hash and one.predictions_sha256 == other.predictions_sha256
            check(f"evaluation of {title}, {'hashed' if hashed else 'not hashed'}", same, one.scores_hash[:16])


def states(place: Place) -> None:
    """Sums, products, groups, errors and digests of numbers that are hard to add."""
    rng = np.random.default_rng(3)
    normal = rng.normal(size=(3_000, 40))
    kinds = {
        "offset": 1e8 + normal,
        "decades": normal * 10.0 ** rng.integers(-30, 30, normal.shape),
        "cancels": 1e15 * np.where(np.arange(3_000)[:, None] % 2, normal, -normal) + 1e-3,
        "denormal": rng.integers(-50, 50, normal.shape) * 1.4e-45,
    }
    codes = rng.integers(0, 9, 3_000)

    def raw(state: Any) -> tuple[Any, dict[str, bytes]]:
        meta, arrays = state.to_buffers()
        return meta, {k: np.ascontiguousarray(a).tobytes() for k, a in arrays.items()}

    for kind, values in kinds.items():
        for dtype in (np.float32, np.float64):
            x, y = values.astype(dtype), normal.astype(dtype)
            a, b = place.put(x), place.put(y)
            good = raw(ColumnSums(40).add(a)) == raw(ColumnSums(40).add(x))
            good &= raw(ColumnSums(40).add_product(a, b)) == raw(ColumnSums(40).add_product(x, y))
            good &= raw(ColumnMoments(40).add(a, b)) == raw(ColumnMoments(40).add(x, y))
            good &= raw(GroupedSums(9, 40).add(a, codes)) == raw(GroupedSums(9, 40).add(x, codes))
            good &= check_digests_on_device(a).cpu().numpy().tobytes() == check_digests(x).tobytes()
            errors, odd = row_errors_on_device(a, b, "squared_error")
            good &= bool(odd) or errors.cpu().numpy().tobytes() == row_errors(x, y, "squared_error").tobytes()
            check(f"states of {kind} {np.dtype(dtype).name}", good, "errors of rows on the host" if odd else "")


# -- groups of processes -----------------------------------------------------------------------------------------------


def one_rank(place: Place) -> None:
    """A process group of one rank: nccl on a GPU, gloo on a CPU."""
    import torch.distributed as dist

    backend = "nccl" if place.is_gpu else "gloo"
    rng = np.random.default_rng(0)
    y, p = rng.integers(0, 5, (2, 4_000))
    alone = pb.stream(FOUR, {"label": y})
    alone.update(label=p)
    with tempfile.TemporaryDirectory() as folder:
        dist.init_process_group(backend, init_method=f"file://{folder}/meet", rank=0, world_size=1)
        try:
            run = pb.stream(FOUR, {"label": y}, process_group="world", timeout=60)
            run.update(positions=place.put(np.arange(4_000)), label=place.put(p))
            found = run.compute()
        finally:
            dist.destroy_process_group()
    expected = alone.compute()
    same = found.scores_hash == expected.scores_hash and found.predictions_sha256 == expected.predictions_sha256
    check(f"one rank of {backend}", same)


def dask_worker(place: Place) -> None:
    """A worker with the resource GPU, told to reduce on its device."""
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        say("skip a Dask worker: distributed is not installed")
        return
    rng = np.random.default_rng(0)
    w = rng.standard_normal((4_000, 64), np.float32)
    v = w + rng.standard_normal((4_000, 64), np.float32)
    ids = [f"row-{i}" for i in range(4_000)]
    truth = {"ids": ids, "value": w}
    metrics = ["mse", "pearson{per: feature}"]
    host = pb.stream(metrics, truth)
    host.update(ids=ids, value=v)
    parts = [{"ids": ids[i : i + 1_000], "value": v[i : i + 1_000]} for i in range(0, 4_000, 1_000)]
    with (
        LocalCluster(
            n_workers=1, threads_per_worker=1, resources={"GPU": 1}, dashboard_address=None, memory_limit=0
        ) as cluster,
        Client(cluster) as client,
    ):
        found = pb.evaluate_many(
            {"model": parts},
            metrics=metrics,
            truth=truth,
            client=client,
            resources={"GPU": 1},
            device=str(place.device),
            ci=None,
            progress=False,
        )["model"]
    same = isinstance(found, pb.EvalResult) and found.scores_hash == host.compute().scores_hash
    check("a Dask worker with GPU=1", same, "" if same else str(found)[:200])


def cuda_tests(place: Place) -> None:
    """The tests that need a CUDA device."""
    root = HERE.parents[1]
    files = ["tests/evaluation/device", "tests/contract/test_check.py"]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "filterwarnings=default"]
    command += ["-k", "cuda or device or elsewhere", "--no-header", *files]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=240, check=False)
    lines = [line for line in done.stdout.splitlines() if line.strip()]
    for line in lines:
        if line.startswith(("FAILED", "ERROR", "E   ")):
            say("    ", line[:200])
    check("tests that need a device", done.returncode == 0, lines[-1] if lines else done.stderr[-300:])
    if not place.is_gpu:
        say("skip the tests marked 'needs a CUDA device': there is none")


# -- time and memory ---------------------------------------------------------------------------------------------------


@contextmanager
def waits(place: Place) -> Iterator[list[int]]:
    """How often something waited for the device."""
    found = [0]
    if not place.is_gpu:
        yield found
        return
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        torch.cuda.set_sync_debug_mode("warn")
        try:
            yield found
        finally:
            torch.cuda.set_sync_debug_mode("default")
    found[0] = sum("synchroniz" in str(w.message) for w in told)


def time_of(place: Place, work: Callable[[], Any]) -> tuple[float, float]:
    """Seconds, and bytes of the device above what was there before."""
    gc.collect()
    place.wait()
    before = 0
    if place.is_gpu:
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
    start = perf_counter()
    work()
    place.wait()
    seconds = perf_counter() - start
    return seconds, (torch.cuda.max_memory_allocated() - before) if place.is_gpu else math.nan


def compare(place: Place, name: str, ours: Callable[[], Any], theirs: Callable[[], Any], repeats: int) -> None:
    """One row of the table."""
    for work in (ours, theirs):  # first runs compile, and bring truths to the device
        work()
    with waits(place) as waited:
        ours()
    pairs = [(time_of(place, ours), time_of(place, theirs)) for _ in range(repeats)]
    (a, memory), (b, other) = (
        (median(pair[side][0] for pair in pairs), max(pair[side][1] for pair in pairs)) for side in (0, 1)
    )
    ratio = f"1/{b / a:.2f}" if a < b else f"{a / b:.2f}x"
    mib = [f"{m / 2**20:8.0f}" if not math.isnan(m) else "       -" for m in (memory, other)]
    say(f"{name:<66} {1e3 * a:10.2f} {1e3 * b:10.2f} {ratio:>9} {mib[0]} {mib[1]} {waited[0]:6d}")


def timings(place: Place, repeats: int) -> None:
    try:
        import torchmetrics  # noqa: F401
    except ImportError:
        say("skip timings: torchmetrics is not installed")
        return
    say()
    say(f"{f'ms, median of {repeats}':<66} {'PrimaBench':>10} {'peer':>10} {'ratio':>9} {'MiB':>8} {'MiB':>8}  waits")
    for part in (time_batches, time_ranks, time_wide, time_groups):
        part(place, repeats)


def time_batches(place: Place, repeats: int) -> None:
    import torchmetrics.classification as tm
    from torchmetrics import MetricCollection

    rng = np.random.default_rng(0)
    updates, k = place.size(1_000, 50), 50
    n = 256 * updates
    y, p = rng.integers(0, k, (2, n))
    starts = range(0, n, 256)
    batches = [(place.put(np.arange(i, i + 256)), place.put(p[i : i + 256])) for i in starts]
    truths = [place.put(y[i : i + 256]) for i in starts]
    peer = MetricCollection(
        {
            "accuracy": tm.MulticlassAccuracy(k, average="micro"),
            "f1": tm.MulticlassF1Score(k, average="macro"),
            "balanced": tm.MulticlassAccuracy(k, average="macro"),
            "mcc": tm.MulticlassMatthewsCorrCoef(k),
        }
    ).to(place.device)

    def ours(hashed: bool, compute: bool) -> Callable[[], Any]:
        run = pb.stream(FOUR, {"label": y}, hash_predictions=hashed)

        def work() -> Any:
            run.reset()
            for at, labels in batches:
                run.update(positions=at, label=labels)
            return run.compute() if compute else None

        return work

    def theirs(compute: bool) -> Callable[[], Any]:
        def work() -> Any:
            peer.reset()
            for (_, labels), true in zip(batches, truths, strict=True):
                peer.update(labels, true)
            return {name: float(v) for name, v in peer.compute().items()} if compute else None

        return work

    compare(place, f"{updates:,} updates of 256 rows, four class metrics", ours(False, False), theirs(False), repeats)
    compare(place, "  and compute, without the hash", ours(False, True), theirs(True), repeats)
    compare(place, "  and compute, with the hash", ours(True, True), theirs(True), repeats)


def time_ranks(place: Place, repeats: int) -> None:
    import torchmetrics.classification as tm
    from torchmetrics import MetricCollection

    rng = np.random.default_rng(0)
    n = place.size(10_000_000, 100_000)
    y, s = rng.integers(0, 2, n), rng.random(n, np.float32)
    score, target = place.put(s), place.put(y)
    run = pb.stream(["auroc", "average_precision"], {"label": y}, hash_predictions=False)

    def ours() -> Any:
        run.reset()
        run.update(positions=slice(0, n), score=score)
        return run.compute()

    def theirs() -> Any:
        both = MetricCollection([tm.BinaryAUROC(), tm.BinaryAveragePrecision()]).to(place.device)
        both.update(score, target)
        return {name: float(v) for name, v in both.compute().items()}

    compare(place, f"AUROC and AP of {n:,}, ranked on the host", ours, theirs, min(repeats, 3))


def time_wide(place: Place, repeats: int) -> None:
    from torchmetrics import MeanSquaredError, PearsonCorrCoef

    rng = np.random.default_rng(0)
    for name, metric, n, make in (
        ("Pearson of each gene", "pearson{per: feature}", place.size(10_000, 1_000), lambda: PearsonCorrCoef(2_000)),
        ("mean squared error", "mse", place.size(100_000, 2_000), MeanSquaredError),
    ):
        w, v = (rng.standard_normal((n, 2_000), np.float32) for _ in range(2))
        there, true = place.put(v), place.put(w)
        run = pb.stream([metric], {"value": w}, hash_predictions=False)

        def ours(run: Any = run, there: Any = there, n: int = n) -> Any:
            run.reset()
            run.update(positions=slice(0, n), value=there)
            return run.compute()

        def theirs(make: Any = make, there: Any = there, true: Any = true) -> Any:
            metric = make().to(place.device)
            metric.update(there, true)
            return metric.compute().cpu()

        compare(place, f"{name}, {n:,} x 2,000", ours, theirs, repeats)
    compare(
        place,
        f"exact column sums, {n:,} x 2,000 (peer: float64 sum)",
        lambda: ColumnSums(2_000).add(there).values(),
        lambda: there.sum(0, dtype=torch.float64).cpu(),
        repeats,
    )


def time_groups(place: Place, repeats: int) -> None:
    rng = np.random.default_rng(0)
    n = place.size(50_000, 2_000)
    there, codes = place.put(rng.random((n, 2_000), np.float32)), rng.integers(0, 100, n)
    at = place.put(codes)

    def theirs() -> Any:
        sums = torch.zeros(100, 2_000, dtype=torch.float64, device=place.device)
        return sums.index_add_(0, at, there.double()).cpu()

    compare(
        place,
        f"exact pseudobulk, {n:,} x 2,000 in 100 (peer: index_add_, float64)",
        lambda: GroupedSums(100, 2_000).add(there, codes).values(),
        theirs,
        repeats,
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--skip", nargs="*", default=[], help="parts by name")
    options = parser.parse_args()
    if options.device.startswith("cuda") and not torch.cuda.is_available():
        say("no CUDA device here: run with --device cpu --small")
        return 2
    place = Place(options.device, options.small)
    named = torch.cuda.get_device_name(place.device) if place.is_gpu else f"{os.cpu_count()} cores"
    numba = "compiled loops" if compiled.kernels() is not None else "numpy loops"
    say(f"{named}, torch {torch.__version__}, numpy {np.__version__}, python {sys.version.split()[0]}, {numba}")
    parts: dict[str, Callable[[], None]] = {
        "states": lambda: states(place),
        "panels": lambda: panels(place),
        "metrics": lambda: every_metric(place),
        "rank": lambda: one_rank(place),
        "timings": lambda: timings(place, options.repeats),
        "tests": lambda: cuda_tests(place),
        "dask": lambda: dask_worker(place),
    }
    for name, part in parts.items():
        if name in options.skip:
            say(f"skip {name}")
            continue
        start = perf_counter()
        try:
            part()
        except Exception as error:  # noqa: BLE001  (the other parts are still worth their time on a device)
            import traceback

            traceback.print_exc()
            check(name, False, f"{type(error).__name__}: {error}")
        say(f"     {name}: {perf_counter() - start:.1f} s")
    say(f"{len(failures)} failed: {', '.join(failures)}" if failures else "all bits agree")
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
