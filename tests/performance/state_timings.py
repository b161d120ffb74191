"""Times of the states: placing a batch, exact sums, fingerprints.

Run with one thread and a quiet machine::

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python tests/performance/state_timings.py

Every line is a minimum or a median inside this one run, beside the plain numpy or hashlib call that does the inexact or
unchecked part of the same work.
"""

from __future__ import annotations

import hashlib
import time
import tracemalloc
from collections.abc import Callable

import numpy as np

from primabench_core.state.column_sums import ColumnSums
from primabench_core.state.exact import exact_column_sums, exact_moments, exact_row_sums, exact_sum
from primabench_core.state.fingerprint import fingerprint, ids_digest
from primabench_core.state.placed import PlacedRows
from primabench_core.state.rows import Labels


def best(work: Callable[[], object], repeats: int = 5) -> float:
    """Seconds of the fastest run."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def placing(n: int, column: np.ndarray, *, shuffled: bool, batch: int = 256) -> float:
    """Median microseconds of placing one batch into a truth of n units."""
    rows = min(n, 512_000)
    order = np.random.default_rng(0).permutation(n)[:rows]
    state, times = PlacedRows(n, duplicates="drop_identical"), []
    for start in range(0, rows, batch):
        where = order[start : start + batch] if shuffled else slice(start, start + batch)
        columns = {"x": column[where]}
        begin = time.perf_counter()
        state.place(where, columns)
        times.append(time.perf_counter() - begin)
    return float(np.median(times)) * 1e6


def report_placing() -> None:
    rng = np.random.default_rng(0)
    for n in (256_000, 10_000_000):
        for name, column in {
            "labels": rng.integers(0, 50, n),
            "float32": rng.normal(size=n).astype(np.float32),
            "float32 x 50": np.zeros((n, 50), np.float32) if n < 1_000_000 else None,
        }.items():
            if column is not None:
                took = [placing(n, column, shuffled=s) for s in (False, True)]
                print(
                    f"place 256 rows, {n:>10,} units, {name:<13} slice {took[0]:6.1f} us   positions {took[1]:6.1f} us"
                )


def report_one_shot(n: int = 10_000_000) -> None:
    scores = np.random.default_rng(0).normal(size=n).astype(np.float32)

    def place() -> PlacedRows:
        state = PlacedRows(n)
        state.place(slice(0, n), {"score": scores})
        return state

    plain = best(scores.copy)
    tracemalloc.start()
    place()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    took = best(place) / plain
    print(f"one shot of {n:,} float32: {took:.2f}x of a copy, peak {peak / scores.nbytes:.2f}x of the input")


def report_sums() -> None:
    rng = np.random.default_rng(0)
    vector = rng.normal(size=10_000_000)
    for name, x in {"float32": vector.astype(np.float32), "float64": vector}.items():
        plain, wide = best(lambda x=x: x.sum()), best(lambda x=x: x.sum(dtype=np.float64))
        took = best(lambda x=x: exact_sum(x))
        print(f"exact_sum 1e7 {name}: {took / plain:.1f}x of np.sum, {took / wide:.1f}x of its float64 sum")
        part, other = x[:1_000_000], x[1_000_000:2_000_000]
        took, plain = best(lambda a=part, b=other: exact_moments(a, b)), best(lambda a=part, b=other: np.corrcoef(a, b))
        print(f"exact_moments 1e6 {name}: {took / plain:.1f}x of np.corrcoef")
    matrix = rng.normal(size=(20_000, 2_000)).astype(np.float32)
    for axis, work in ((0, exact_column_sums), (1, exact_row_sums)):
        plain = best(lambda axis=axis: matrix.sum(axis=axis, dtype=np.float64), 3)
        took = best(lambda w=work: w(matrix), 3) / plain
        print(f"{work.__name__} 20,000 x 2,000 float32: {took:.1f}x of the float64 sum")
    at_rest = ColumnSums(2_000).add(matrix).to_buffers()[1]["limbs"].nbytes / 2_000
    print(f"column sums at rest: {at_rest:.0f} bytes a column")


def report_fingerprints(n: int = 10_000_000) -> None:
    rng = np.random.default_rng(0)
    scores, codes = rng.normal(size=n).astype(np.float32), rng.integers(0, 50, n)
    raw_bytes = scores.astype(np.float64)
    raw = best(lambda: hashlib.sha256(raw_bytes.data), 3)
    columns = {
        "float32": scores,
        "integer labels": Labels(codes, tuple(range(50))),
        "text labels": Labels(codes, tuple(f"class {i}" for i in range(50))),
    }
    for name, column in columns.items():
        took = best(lambda c=column: fingerprint(None, {"x": c}, n=n), 3)
        print(f"fingerprint of 1e7 {name}: {took / raw:.2f}x of SHA-256 of 80 MB, {took - raw:+.3f} s")
    ids = [f"cell-{i:08d}" for i in range(1_000_000)]
    print(f"digest of 1e6 ids: {best(lambda: ids_digest(ids, len(ids)), 3):.2f} s")


if __name__ == "__main__":
    report_placing()
    report_one_shot()
    report_sums()
    report_fingerprints()
