"""Writes the frozen id lists of the synthetic datasets (kept in the repository; run again only to check them).

    python plugins/primabench-task-genome/scripts/make_splits.py [--check]

``sequences_synthetic.tsv``: every third sequence tests. ``tracks_synthetic.tsv``: regions from 24 on test.
Each line is ``id<TAB>split``, sorted by id. The SHA-256 of each file stands in its PreparerSpec.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections.abc import Sequence
from pathlib import Path

SPLITS = Path(__file__).parents[1] / "src" / "primabench_task_genome" / "splits"


def lists() -> dict[str, dict[str, str]]:
    """Split of each id, by file."""
    sequences = {f"sequence_{i:04d}": "test" if i % 3 == 2 else "train" for i in range(300)}
    bins = {f"region_{r:02d}:{b}": "test" if r >= 24 else "train" for r in range(40) for b in range(8)}
    return {"sequences_synthetic.tsv": sequences, "tracks_synthetic.tsv": bins}


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the lists, or with ``--check`` compare them with what is there."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    check = parser.parse_args(arguments).check
    changed = 0
    for name, splits in lists().items():
        text = "".join(f"{i}\t{splits[i]}\n" for i in sorted(splits)).encode()
        if check:
            changed += (SPLITS / name).read_bytes() != text
        else:
            (SPLITS / name).write_bytes(text)
        sys.stdout.write(f"{name}: {len(splits)} ids, sha256 {hashlib.sha256(text).hexdigest()}\n")
    return 1 if changed else 0


if __name__ == "__main__":
    raise SystemExit(main())
