"""The synthetic dataset of network inference: made cells in which four regulators switch their targets on."""

from __future__ import annotations

from bisect import bisect_right
from decimal import Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from primabench_core import EvalData
from primabench_task_singlecell.grn.edges import edge_id
from primabench_task_singlecell.synthetic.cells import count_table, raw_words

if TYPE_CHECKING:
    from primabench_core.store.artifact import Artifact
    from primabench_core.store.build import BuildContext

STREAM = 11
REGULATORS, TARGETS, BYSTANDERS, CELLS = 4, 12, 8, 80
"""Regulators, targets of each, genes that nobody regulates, cells."""
_ON, _OFF, _FOLD = Fraction(8), Fraction(1), 5


@frozen(eq=False)
class SyntheticNetwork:
    """Expression and the edges that made it.

    Example:
        >>> made = draw_network()
        >>> made.counts.shape, len(made.edges)
        ((80, 60), 48)
    """

    genes: tuple[str, ...]
    """(60,) names."""
    edges: tuple[tuple[str, str], ...]
    """(48,) regulator and target, sorted."""
    counts: NDArray[np.int64]
    """(80, 60)."""

    @property
    def expression(self) -> NDArray[np.float32]:
        """(80, 60) float32, log2(1 + count)."""
        context = Context(prec=30)
        two = Decimal(2).ln(context)
        table = [float((Decimal(1) + c).ln(context) / two) for c in range(int(self.counts.max()) + 1)]
        return np.asarray(table, np.float64)[self.counts].astype(np.float32)


def draw_network() -> SyntheticNetwork:
    """Each regulator is on in half of the cells; its targets then count five times as much."""
    genes = [f"regulator_{r}" for r in range(REGULATORS)]
    owner: list[int | None] = [None] * REGULATORS
    for i in range(REGULATORS * TARGETS):
        genes.append(f"gene_{i:02d}")
        owner.append(i % REGULATORS)
    genes += [f"gene_{REGULATORS * TARGETS + i:02d}" for i in range(BYSTANDERS)]
    owner += [None] * BYSTANDERS
    words = iter(raw_words(STREAM, len(genes) + CELLS * (REGULATORS + len(genes))))
    base = [Fraction(1 + next(words) % 4, 2) for _ in genes]
    counts = []
    for _ in range(CELLS):
        on = [next(words) >> 63 == 1 for _ in range(REGULATORS)]
        means = [_ON if state else _OFF for state in on]
        for gene in range(REGULATORS, len(genes)):
            own = owner[gene]
            means.append(base[gene] * (_FOLD if own is not None and on[own] else 1))
        counts.append([bisect_right(count_table(mean), next(words)) for mean in means])
    edges = sorted((genes[own], genes[gene]) for gene, own in enumerate(owner) if own is not None)
    return SyntheticNetwork(tuple(genes), tuple(edges), np.asarray(counts, np.int64))


def build(context: BuildContext) -> list[Artifact]:
    """Artifacts of ``primabench_synthetic/grn_inference@1.0.0``, in the views of the real network's recipe."""
    from primabench_core.store.artifact import Artifact

    made = draw_network()
    ids = tuple(f"synthetic_{i:04d}" for i in range(len(made.counts)))
    cells = EvalData({"expression": made.expression}, ids=ids, coords={"genes": made.genes})
    columns = np.asarray(made.edges, object)
    edges = EvalData({"regulator": columns[:, 0], "target": columns[:, 1]}, ids=[edge_id(a, b) for a, b in made.edges])
    facts = {"synthetic": True, "expression": "log2(1 + count)"}
    return [
        Artifact(view="measured", data=cells, attributes=facts, columns={"expression": "genes"}),
        Artifact(view="solution", name="edges", data=edges, private=True, attributes={"synthetic": True}),
    ]
