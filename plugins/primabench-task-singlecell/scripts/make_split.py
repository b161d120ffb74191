"""Writes the frozen id lists of the annotation task (kept in the repository; run again only to check them).

    python plugins/primabench-task-singlecell/scripts/make_split.py [--check]

``annotation_pbmc68k_reduced.tsv``: cells of each type in the order of SHA-256("20181:" + barcode); the first half
(rounded down) tests, the rest trains. Stratified by type; one donor only, so nothing coarser than a cell can be held
out. No cell may have a twin with the same expression on the other side.
``annotation_synthetic.tsv``: donor d3 tests, d1 and d2 train.

Each line is ``id<TAB>split``, sorted by id. The SHA-256 of each file stands in its PreparerSpec.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import warnings
from collections.abc import Sequence
from importlib.metadata import distribution
from pathlib import Path

from primabench_task_singlecell.synthetic.cells import draw

SEED = 20181
SPLITS = Path(__file__).parents[1] / "src" / "primabench_task_singlecell" / "splits"


def stratified(ids: Sequence[str], types: Sequence[str], seed: int = SEED) -> dict[str, str]:
    """Split for each id: half of each type (rounded down) tests."""
    splits = {}
    for kind in sorted(set(types)):
        members = [i for i, t in zip(ids, types, strict=True) if t == kind]
        members.sort(key=lambda i: hashlib.sha256(f"{seed}:{i}".encode()).digest())
        n_test = len(members) // 2
        splits |= {i: "test" if rank < n_test else "train" for rank, i in enumerate(members)}
    return splits


def pbmc68k_reduced() -> dict[str, str]:
    """Split of each barcode of the file inside the scanpy package."""
    import anndata

    path = distribution("scanpy").locate_file("scanpy/datasets/10x_pbmc68k_reduced.h5ad")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # anndata says at length that the file is of an old version
        data = anndata.read_h5ad(path)
    splits = stratified(list(data.obs_names), list(data.obs["bulk_labels"].astype(str)))
    seen: dict[bytes, str] = {}
    for barcode, row in zip(data.obs_names, data.raw.X.toarray(), strict=True):
        twin = seen.setdefault(row.tobytes(), barcode)
        if splits[twin] != splits[barcode]:
            raise SystemExit(f"{twin} and {barcode} have the same expression and lie in different splits")
    return splits


def synthetic() -> dict[str, str]:
    """Split of each synthetic cell, by donor."""
    cells = draw(1)
    return {i: "test" if donor == "d3" else "train" for i, donor in zip(cells.ids, cells.donors, strict=True)}


def main(arguments: Sequence[str] | None = None) -> int:
    """Write both lists, or with ``--check`` compare them with what is there."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    check = parser.parse_args(arguments).check
    lists = {"annotation_pbmc68k_reduced.tsv": pbmc68k_reduced(), "annotation_synthetic.tsv": synthetic()}
    changed = 0
    for name, splits in lists.items():
        text = "".join(f"{i}\t{splits[i]}\n" for i in sorted(splits)).encode()
        if check:
            changed += (SPLITS / name).read_bytes() != text
        else:
            (SPLITS / name).write_bytes(text)
        sys.stdout.write(f"{name}: {len(splits)} ids, sha256 {hashlib.sha256(text).hexdigest()}\n")
    return 1 if changed else 0


if __name__ == "__main__":
    raise SystemExit(main())
