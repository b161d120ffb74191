"""Reading from the store beside its peers: readinto, zarr-python, anndata, xarray, hashlib; all in this run, in turns.

Run on a quiet machine; the files are read once before, so that all find them in the page cache::

    python tests/performance/store_reading.py [GIGABYTES]

Ratios are of the fastest of several rounds, in which every peer has one turn.
"""

from __future__ import annotations

import hashlib
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import zarr
from scipy import sparse

from primabench_core.contract.evaldata import EvalData
from primabench_core.store.content import content_root
from primabench_core.store.zarr_io import open_lazy, write

warnings.filterwarnings("ignore", category=UserWarning)
MIB = 1 << 20
CPU: dict[str, float] = {}
"""Seconds of processor time of the cheapest turn of each peer, all threads together; steady where others work too."""
ROWS = 4096
"""Columns of the dense matrix; a row has 16 KiB."""


def rounds(peers: dict[str, Callable[[], object]], repeats: int = 9) -> dict[str, float]:
    """Seconds of the fastest turn of each peer; turns alternate."""
    CPU.clear()
    for peer in peers.values():
        peer()
    found = dict.fromkeys(peers, float("inf"))
    for _ in range(repeats):
        for name, peer in peers.items():
            start = time.perf_counter(), time.process_time()
            peer()
            found[name] = min(found[name], time.perf_counter() - start[0])
            CPU[name] = min(CPU.get(name, float("inf")), time.process_time() - start[1])
    return found


def shards(folder: Path, name: str) -> list[Path]:
    """Files of an array, in order."""
    return sorted((p for p in (folder / name / "c").rglob("*") if p.is_file()), key=lambda p: int(p.parent.name))


def dense(folder: Path, gigabytes: float) -> None:
    """A dense float32 matrix: chunks of 8 MiB with and without codecs, and the layout that builds write by default."""
    n = int(gigabytes * 1e9 / 4 / ROWS) // 512 * 512
    values = np.random.default_rng(0).random((n, ROWS), dtype=np.float32)
    data = EvalData({"x": values})
    large = {"chunk_bytes": 8 * MIB, "shard_bytes": 64 * MIB}
    for label, layout in {
        "no codec": {**large, "compress": False, "checksum": False},
        "checksum": {**large, "compress": False},
        "zstd and checksum": large,
        "default layout": {},
    }.items():
        path = folder / "dense"
        write(data, path, **layout)
        read_dense(path, label)
        if label == "no codec":
            verify(path)
            opening(path)
        shutil.rmtree(path)


def read_dense(path: Path, label: str) -> None:
    """Contiguous slices of 1024 rows (16 MiB), reduced to nothing."""
    field, cached = open_lazy(path).fields["x"], open_lazy(path, trusted=True).fields["x"]
    array = zarr.open_group(path, mode="r")["x"]
    n, step = field.shape[0], 1024
    buffer = np.empty((step, ROWS), np.float32)
    flat = memoryview(buffer).cast("B")

    def readinto() -> None:
        for file in shards(path, "x"):
            with file.open("rb", buffering=0) as stream:
                while stream.readinto(flat):
                    pass

    def ours() -> None:
        for start in range(0, n, step):
            field[start : start + step]

    def into_buffer(source: Any) -> None:
        for start in range(0, n, step):
            stop = min(start + step, n)
            source.read(start, stop, buffer[: stop - start])

    def ours_into_one_buffer() -> None:
        into_buffer(field)

    def verified_cache() -> None:
        for start in range(0, n, step):
            cached[start : start + step]

    def verified_cache_into_one_buffer() -> None:
        into_buffer(cached)

    def zarr_python() -> None:
        for start in range(0, n, step):
            array[start : start + step]

    peers = (readinto, ours, ours_into_one_buffer, verified_cache, verified_cache_into_one_buffer, zarr_python)
    found = rounds({f.__name__: f for f in peers})
    size = n * ROWS * 4 / 1e9
    print(f"dense {size:.2f} GB, {label}: readinto {size / found['readinto']:.2f} GB/s")
    for name in (f.__name__ for f in peers[1:]):
        print(
            f"  {name:<31} {found['readinto'] / found[name]:.2f} of readinto, "
            f"{found['zarr_python'] / found[name]:.1f}x zarr, "
            f"{CPU[name] / CPU['zarr_python']:.2f} of its processor time"
        )


def verify(path: Path) -> None:
    """Content hash of the values, beside reading the same bytes and hashing them."""
    data = open_lazy(path)
    files = shards(path, "x")
    for threads in (1, 2):

        def content(threads: int = threads) -> None:
            content_root(data, threads=threads)

        def hashlib_files(threads: int = threads) -> None:
            def one(file: Path) -> bytes:
                digest = hashlib.sha256()
                buffer = bytearray(MIB)
                view = memoryview(buffer)
                with file.open("rb", buffering=0) as stream:
                    while got := stream.readinto(buffer):
                        digest.update(view[:got])
                return digest.digest()

            with ThreadPoolExecutor(threads) as pool:
                list(pool.map(one, files))

        found = rounds({"content": content, "hashlib": hashlib_files}, 7)
        ratio = found["hashlib"] / found["content"]
        cpu = CPU["hashlib"] / CPU["content"]
        print(
            f"verify --content, {threads} threads: {ratio:.2f} of read + hashlib ({found['content']:.2f} s), "
            f"{cpu:.2f} by processor time"
        )


def opening(path: Path) -> None:
    """Opening reads metadata only; beside xarray's own open."""
    import xarray

    found = rounds(
        {
            "ours": lambda: open_lazy(path),
            "xarray": lambda: xarray.open_zarr(path, consolidated=True, chunks=None, zarr_format=3),
        }
    )
    print(f"opening: {1e3 * found['ours']:.1f} ms, xarray {1e3 * found['xarray']:.1f} ms")


def csr(folder: Path) -> None:
    """Rows of a sparse matrix as dense batches of 256."""
    import anndata

    n, genes, batch = 20_000, 3000, 256
    matrix = sparse.random(n, genes, density=0.1, format="csr", random_state=0, dtype=np.float32)
    write(EvalData({"x": matrix}), folder / "csr")
    anndata.settings.zarr_write_format = 3
    anndata.AnnData(matrix).write_zarr(folder / "anndata.zarr")
    field = open_lazy(folder / "csr").fields["x"]
    backed = anndata.io.sparse_dataset(zarr.open_group(folder / "anndata.zarr", mode="r")["X"])

    def ours() -> None:
        for start in range(0, n, batch):
            field[start : start + batch].toarray()

    def anndata_zarr() -> None:
        for start in range(0, n, batch):
            backed[start : start + batch].toarray()

    found = rounds({"ours": ours, "anndata": anndata_zarr}, 3)
    print(f"CSR to dense batches: {found['ours'] / found['anndata']:.2f} of anndata's time ({found['ours']:.2f} s)")


def main() -> None:
    """Print every ratio."""
    gigabytes = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    with tempfile.TemporaryDirectory() as folder:
        csr(Path(folder))
        dense(Path(folder), gigabytes)


if __name__ == "__main__":
    main()
