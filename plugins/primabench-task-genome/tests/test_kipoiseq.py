"""Indel windows equal kipoiseq's where kipoiseq is right; runs where it is installed, or in an interpreter that has it.

Its known faults are left out: it takes the end of a variant from the alternative allele (kipoiseq #104), so that a
deletion whose reference allele reaches over the anchor is parted in the wrong place; it cannot reach the last base of a
chromosome, and refuses windows that begin before the first one. Reference alleles are never compared there.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest
from primabench_task_genome import get_sequences

PEER = os.environ.get("PRIMABENCH_KIPOISEQ_PYTHON", sys.executable if find_spec("kipoiseq") else "")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not PEER, reason="kipoiseq is in no interpreter: set PRIMABENCH_KIPOISEQ_PYTHON to one that has it"
    ),
]

SCRIPT = """
import json, sys, warnings
warnings.simplefilter("ignore")
from kipoiseq import Interval, Variant
from kipoiseq.extractors import VariantSeqExtractor
question = json.load(sys.stdin)
cutter, found = VariantSeqExtractor(fasta_file=question["fasta"]), []
for pos, ref, alt, anchor, strand in question["rows"]:
    start = anchor - 1 - question["length"] // 2
    interval = Interval("chr1", start, start + question["length"], strand=strand)
    found.append(cutter.extract(interval, [Variant("chr1", pos, ref, alt)], anchor=anchor - 1, fixed_len=True))
print(json.dumps(found))
"""


@pytest.mark.parametrize("length", [20, 21, 64])
@pytest.mark.parametrize("anchored", [False, True])
def test_windows_are_those_of_kipoiseq(tmp_path, length, anchored):
    rng = np.random.default_rng(length)
    genome = "".join(rng.choice(list("ACGT"), 2_000))
    fasta = tmp_path / "g.fa"
    fasta.write_text(">chr1\n" + "\n".join(genome[i : i + 60] for i in range(0, 2_000, 60)) + "\n")
    rows = []
    while len(rows) < 400:
        pos, size = int(rng.integers(200, 1_800)), int(rng.integers(1, 8))
        ref = genome[pos - 1 : pos - 1 + size]
        alt = "".join(rng.choice(list("ACGT"), int(rng.integers(1, 8))))
        anchor = pos + int(rng.integers(-12, 13)) if anchored else pos
        spans = pos < anchor < pos + max(len(ref), len(alt))
        if alt != ref and not spans:
            rows.append((pos, ref, alt, anchor, "+-"[int(rng.integers(2))]))
    question = json.dumps({"fasta": str(fasta), "rows": rows, "length": length})
    done = subprocess.run([PEER, "-c", SCRIPT], input=question, capture_output=True, text=True, check=True)
    pos, ref, alt, anchor, strand = map(list, zip(*rows, strict=True))
    table = {"chrom": ["chr1"] * len(rows), "pos": pos, "ref": ref, "alt": alt}
    ours = get_sequences(table, fasta, length, strand=strand, anchor=anchor if anchored else None)
    assert ours.alt_seq.tolist() == json.loads(done.stdout)
