"""Writes the frozen folds of GSE7390 (kept in the repository; run again only to check them).

    python plugins/primabench-task-patient/scripts/make_folds.py [--check] [--source metastasis.arff]

Patients whose state at five years is known, five folds stratified by class; each line is ``id<TAB>fold``, sorted by id.
The SHA-256 of the file stands in its PreparerSpec.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from primabench_task_patient.folds import make_folds
from primabench_task_patient.preparers.representation import five_years
from primabench_task_patient.specs.representation import GSE7390, PREPARE_GSE7390

from primabench_core.store.build import build_dataset
from primabench_core.store.location import Store
from primabench_core.store.prepare import DatasetReader

TARGET = Path(__file__).parents[1] / "src" / "primabench_task_patient" / "splits" / "gse7390_five_years.tsv"


def gse7390() -> bytes:
    """The list, made from the dataset."""
    with tempfile.TemporaryDirectory() as folder:
        build_dataset(GSE7390, store=folder)
        known = five_years(DatasetReader(Store.at(folder), PREPARE_GSE7390).artifact("solution"))
    ids = sorted(known)
    folds = make_folds(ids, labels=[known[i] for i in ids], folds=5, seed="gse7390_five_years")
    return "".join(f"{i}\t{fold}\n" for i, fold in zip(ids, folds, strict=True)).encode()


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the list, or with ``--check`` compare it with what is there."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    check = parser.parse_args(arguments).check
    text = gse7390()
    sys.stdout.write(f"{TARGET.name}: {len(text.splitlines())} ids, sha256 {hashlib.sha256(text).hexdigest()}\n")
    if check:
        return int(TARGET.read_bytes() != text)
    TARGET.write_bytes(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
