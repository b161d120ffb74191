"""100,000 windows of 1,000 bases around single-base variants, beside kipoiseq and beside plain slicing.

    python tests/performance/variant_windows.py [python of an environment with kipoiseq]

The genome is made here from a seed: one sequence of 100 Mb in lines of 60, indexed before anything is timed. Each side
gives the window with the reference base and the one with the alternative base of every variant. Slicing reads codes of
the same genome out of a memory-mapped file, a window at a time, without a look at any allele; kipoiseq runs in the
interpreter that is given. Everybody runs three times, the best counts.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np

LENGTH, ROWS, BASES, LINE = 1_000, 100_000, 100_000_000, 60
RUNS = 3

PEER = """
import sys
from time import perf_counter
import numpy as np
from kipoiseq import Interval, Variant
from kipoiseq.extractors import FastaStringExtractor, VariantSeqExtractor

fasta, table, length, rows = sys.argv[1], np.load(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
pos, ref, alt = table["pos"][:rows].tolist(), table["ref"][:rows].tolist(), table["alt"][:rows].tolist()
reference, variants = FastaStringExtractor(fasta, use_strand=False), VariantSeqExtractor(fasta_file=fasta)
started = perf_counter()
letters = 0
for p, r, a in zip(pos, ref, alt):
    start = p - 1 - length // 2
    interval = Interval("chr1", start, start + length)
    before = reference.extract(interval)
    after = variants.extract(interval, [Variant("chr1", p, r, a)], anchor=p - 1, fixed_len=True)
    assert len(before) == len(after) == length
    letters += ord(before[length // 2]) - ord(r)
print(perf_counter() - started, letters)
"""


def make_genome(folder: Path) -> tuple[Path, Path]:
    """A FASTA file, and its codes as a file to map."""
    codes = np.random.default_rng(20_240_601).integers(0, 4, BASES, dtype=np.uint8)
    np.save(folder / "codes.npy", codes)
    lines = np.full((-(-BASES // LINE), LINE + 1), ord("\n"), np.uint8)
    letters = np.frombuffer(b"ACGT", np.uint8)[codes]
    whole = BASES // LINE
    lines[:whole, :LINE] = letters[: whole * LINE].reshape(whole, LINE)
    lines[whole:, : BASES - whole * LINE] = letters[whole * LINE :]
    tail = b"" if BASES % LINE == 0 else lines[-1, : BASES % LINE].tobytes() + b"\n"
    with (folder / "genome.fa").open("wb") as stream:
        stream.write(b">chr1\n")
        stream.write(lines[:whole].tobytes() + tail)
    return folder / "genome.fa", folder / "codes.npy"


def make_variants(codes: np.ndarray) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(7)
    pos = rng.integers(LENGTH, BASES - LENGTH, ROWS)
    ref = np.asarray(codes[pos - 1], np.int64)
    alt = (ref + rng.integers(1, 4, ROWS)) % 4
    letters = np.asarray(list("ACGT"))
    return {"chrom": np.full(ROWS, "chr1"), "pos": pos, "ref": letters[ref], "alt": letters[alt]}


def slices(codes_file: Path, pos: np.ndarray, alt: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Windows as plain slices of a memory-mapped array of codes."""
    codes = np.load(codes_file, mmap_mode="r")
    before = np.empty((ROWS, LENGTH), np.uint8)
    for row, start in enumerate((pos - 1 - LENGTH // 2).tolist()):
        before[row] = codes[start : start + LENGTH]
    after = before.copy()
    after[:, LENGTH // 2] = alt
    return before, after


def main(peer: str) -> None:
    from primabench_task_genome import Genome, get_sequences

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        fasta, codes_file = make_genome(folder)
        variants = make_variants(np.load(codes_file, mmap_mode="r"))
        np.savez(folder / "variants.npz", **variants)
        table = {key: column.tolist() for key, column in variants.items()}
        alt = np.searchsorted(np.asarray(list("ACGT")), variants["alt"]).astype(np.uint8)
        Genome(fasta)  # makes the index

        times: dict[str, list[float]] = {"codes": [], "text": [], "slices": [], "kipoiseq": []}
        for _ in range(RUNS):
            started = perf_counter()
            before, after = slices(codes_file, variants["pos"], alt)
            times["slices"].append(perf_counter() - started)
            started = perf_counter()
            found = get_sequences(table, str(fasta), LENGTH, encoding="codes")
            times["codes"].append(perf_counter() - started)
            assert np.array_equal(found.ref_seq, before)
            assert np.array_equal(found.alt_seq, after)
            del found, before, after
            started = perf_counter()
            get_sequences(table, str(fasta), LENGTH)
            times["text"].append(perf_counter() - started)
            if peer:
                command = [peer, "-c", PEER, str(fasta), str(folder / "variants.npz"), str(LENGTH), str(ROWS)]
                said = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
                assert said[1] == "0"
                times["kipoiseq"].append(float(said[0]))
    best = {side: min(runs) for side, runs in times.items() if runs}
    for side, seconds in best.items():
        print(f"{side:>9}: {seconds:7.3f} s   (runs: {', '.join(f'{s:.3f}' for s in times[side])})")
    print(f"codes against slices: {best['codes'] / best['slices']:.2f} x (bar 3)")
    if peer:
        print(f"codes against kipoiseq: 1/{best['kipoiseq'] / best['codes']:.0f} (bar 1/5)")
        print(f"text against kipoiseq: 1/{best['kipoiseq'] / best['text']:.0f} (bar 1/5)")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
