"""Memory of differential expression on sparse predictions: all cells are kept, without their zeros.

100,000 predicted cells x 2,000 genes as CSR float32, one number in ten not zero, 100 perturbations, batches of 5,000;
a truth of 4,000 cells. Prints what is kept, and how far the resident memory rises above what the inputs take::

    OMP_NUM_THREADS=1 python tests/performance/perturbation_memory.py [CELLS]

Dense rows would be kept in 0.8 GB, and put in order in as much again.
"""

from __future__ import annotations

import resource
import sys
import time

import numpy as np
from scipy import sparse

GENES, KINDS, BATCH, DENSITY = 2_000, 100, 5_000, 0.1


def drawn(n: int, seed: int) -> sparse.csr_matrix:
    """Log values of n cells, each gene in a tenth of them."""
    rng = np.random.default_rng(seed)
    counts = np.full(n, int(GENES * DENSITY))
    columns = np.concatenate([np.sort(rng.choice(GENES, k, replace=False)) for k in counts]).astype(np.int32)
    data = np.log1p(rng.poisson(2, len(columns)) + 1).astype(np.float32)
    return sparse.csr_matrix((data, columns, np.append(0, np.cumsum(counts))), shape=(n, GENES))


def peak() -> float:
    """Largest resident memory so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def main(cells: int) -> None:
    """Score and print."""
    import primabench_core as pb

    names = [f"p{i}" for i in range(KINDS)]
    true = drawn(4_000, 0).toarray()
    truth_names = np.array(["control", *names], object)[np.arange(4_000) % (KINDS + 1)]
    small = {"value": np.abs(true[:40, :40]), "perturbation": np.array(["control", "a"], object)[np.arange(40) % 2]}
    pb.score("de_recall", small, small)
    predicted = drawn(cells, 1)
    run = pb.stream(["de_recall", "de_auroc"], {"value": true, "perturbation": truth_names})
    before, start = peak(), time.perf_counter()
    for a in range(0, cells, BATCH):
        ids = [f"cell{i}" for i in range(a, min(cells, a + BATCH))]
        here = np.array(names, object)[np.arange(a, a + len(ids)) % KINDS]
        run.update(ids=ids, value=predicted[a : a + BATCH], perturbation=here)
    updated, seconds = peak(), time.perf_counter() - start
    kept = sum(chunk.nbytes for chunk in run._intake.placed.chunks("value"))
    result = run.compute()
    print(f"{cells:,} cells: CSR {predicted.data.nbytes * 2 / 1e6:.0f} MB, dense {cells * GENES * 4 / 1e6:.0f} MB")
    print(f"kept {kept / 1e6:.0f} MB; above the inputs {updated - before:.0f} MB after updates ({seconds:.0f} s),")
    print(f"{peak() - before:.0f} MB at the end ({time.perf_counter() - start:.0f} s); {result.scores}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
