"""Metrics of two partitions of the same rows, from their contingency table.

Notation: n_ij rows of class i in cluster j, a_i and b_j its margins, n rows. All depend on the counts alone, so
neither row order nor the names of classes and clusters change a bit. A noise label -1 is a cluster like any other;
how many rows carry it stands in ``values["n_noise"]``.
"""

from __future__ import annotations

from math import comb, fsum
from typing import Any

from attrs import frozen

from primabench_core.spec import Outcome
from primabench_core.state.counts import Counts
from primabench_metrics.chance import expected_information
from primabench_metrics.logarithms import terms_k_log_k

NOISE = frozenset({-1, "-1"})
"""The label by which density clusterings mark rows that belong to no cluster."""


@frozen
class Partitions:
    """Sizes of classes, clusters and their intersections, as Python integers without zeros."""

    cells: list[int]
    classes: list[int]
    clusters: list[int]
    n: int
    noise: int

    @classmethod
    def of(cls, counts: Counts) -> Partitions:
        """Margins and cells of a table of truth x prediction."""
        columns = counts.called.tolist()
        noise = sum(k for c, k in zip(counts.predicted_classes, columns, strict=True) if c in NOISE)
        return cls(
            counts.times.tolist(),
            [k for k in counts.true.tolist() if k],
            [k for k in columns if k],
            counts.n,
            noise,
        )

    @property
    def is_trivial(self) -> bool:
        """Both sides are one block, or both are all single rows."""
        return len(self.classes) == len(self.clusters) and len(self.classes) in (1, self.n)

    def outcome(self, value: float, *flags: str, **values: Any) -> Outcome:
        """A value with the number of noise rows beside it, if there are any."""
        if self.noise:
            values["n_noise"] = self.noise
        return Outcome(value, n=self.n, flags=flags, values=values)


_EMPTY = Outcome.undefined("too_few_items", "there are no rows", n=0)


def ari(state: Counts) -> Outcome:
    """Adjusted Rand index (Hubert & Arabie 1985), as one ratio of exact integers.

    ARI = (S − ab/T) / ((a+b)/2 − ab/T) with S = ΣC(n_ij,2), a = ΣC(a_i,2), b = ΣC(b_j,2), T = C(n,2).

    Args:
        state: Counts; ``table`` is (true classes, predicted clusters) int64.

    Returns:
        Value in [-0.5, 1], below 0 for less agreement than by chance; 1 with the flag ``trivial_partition`` if both
        sides are the same trivial partition (0/0 in the formula).
    """
    p = Partitions.of(state)
    if not p.n:
        return _EMPTY
    if p.is_trivial:
        return p.outcome(1.0, "trivial_partition")
    same, a, b = (sum(comb(k, 2) for k in sizes) for sizes in (p.cells, p.classes, p.clusters))
    pairs = comb(p.n, 2)
    return p.outcome(2 * (same * pairs - a * b) / ((a + b) * pairs - 2 * a * b))


def nmi(state: Counts) -> Outcome:
    """Normalised mutual information I/((H(class)+H(cluster))/2) (Vinh et al. 2010).

    n·I = n·ln n + Σn_ij·ln n_ij − Σa_i·ln a_i − Σb_j·ln b_j; equal partitions give exactly 1.

    Args:
        state: Counts; ``table`` is (true classes, predicted clusters) int64.

    Returns:
        Value in [0, 1]; 1 with the flag ``trivial_partition`` if both sides are the same trivial partition; 0 if one
        side is constant and the other is not.
    """
    p = Partitions.of(state)
    if not p.n:
        return _EMPTY
    if p.is_trivial:
        return p.outcome(1.0, "trivial_partition")
    information, h_class, h_cluster = scaled_entropies(p)
    return p.outcome(information / ((h_class + h_cluster) / 2))


def ami(state: Counts) -> Outcome:
    """Adjusted mutual information (I − E[I])/((H(class)+H(cluster))/2 − E[I]) (Vinh et al. 2010).

    E[I] is taken over random partitions with the same sizes of classes and clusters.

    Args:
        state: Counts; ``table`` is (true classes, predicted clusters) int64.

    Returns:
        Value up to 1, near 0 by chance; 1 with the flag ``trivial_partition`` if both sides are the same trivial
        partition; 0 if one side is constant or all single rows and the other is not.
    """
    p = Partitions.of(state)
    if not p.n:
        return _EMPTY
    if p.is_trivial:
        return p.outcome(1.0, "trivial_partition")
    if 1 in (len(p.classes), len(p.clusters)) or p.n in (len(p.classes), len(p.clusters)):
        return p.outcome(0.0)  # I is the same for every random partition
    information, h_class, h_cluster = scaled_entropies(p)
    expected = expected_information(p.classes, p.clusters, p.n)
    if len(p.cells) == len(p.classes) == len(p.clusters):
        return p.outcome(1.0, expected_information=expected / p.n)
    value = (information - expected) / ((h_class + h_cluster) / 2 - expected)
    return p.outcome(value, expected_information=expected / p.n)


def homogeneity(state: Counts) -> Outcome:
    """Homogeneity I/H(class): 1 if every cluster holds one class only (Rosenberg & Hirschberg 2007).

    Args:
        state: Counts; ``table`` is (true classes, predicted clusters) int64.

    Returns:
        Value in [0, 1]; 1 with the flag ``trivial_partition`` if the truth has one class (0/0).
    """
    return _share(state, 1)


def completeness(state: Counts) -> Outcome:
    """Completeness I/H(cluster): 1 if every class lies in one cluster only (Rosenberg & Hirschberg 2007).

    Args:
        state: Counts; ``table`` is (true classes, predicted clusters) int64.

    Returns:
        Value in [0, 1]; 1 with the flag ``trivial_partition`` if there is one cluster (0/0).
    """
    return _share(state, 2)


def _share(state: Counts, side: int) -> Outcome:
    p = Partitions.of(state)
    if not p.n:
        return _EMPTY
    entropies = scaled_entropies(p)
    if not entropies[side]:
        return p.outcome(1.0, "trivial_partition")
    return p.outcome(entropies[0] / entropies[side])


def v_measure(state: Counts) -> Outcome:
    """V-measure: harmonic mean of homogeneity and completeness (Rosenberg & Hirschberg 2007).

    It equals the normalised mutual information with the arithmetic mean.

    Args:
        state: Counts; ``table`` is (true classes, predicted clusters) int64.

    Returns:
        Value in [0, 1]; 1 with the flag ``trivial_partition`` if both sides are the same trivial partition.
    """
    p = Partitions.of(state)
    if not p.n:
        return _EMPTY
    if p.is_trivial:
        return p.outcome(1.0, "trivial_partition")
    information, h_class, h_cluster = scaled_entropies(p)
    h = information / h_class if h_class else 1.0
    c = information / h_cluster if h_cluster else 1.0
    return p.outcome(2 * h * c / (h + c) if h + c else 0.0, homogeneity=h, completeness=c)


def scaled_entropies(p: Partitions) -> tuple[float, float, float]:
    """n·I(class, cluster), n·H(class), n·H(cluster) in nats.

    Each is one correctly rounded sum of k·ln k terms. Terms that cancel do so exactly: equal partitions have
    I = H to the bit.
    """
    top = terms_k_log_k([p.n])
    classes = [-t for t in terms_k_log_k(p.classes)]
    clusters = [-t for t in terms_k_log_k(p.clusters)]
    h_class, h_cluster = fsum(top + classes), fsum(top + clusters)
    information = fsum(top + classes + clusters + terms_k_log_k(p.cells))
    return min(max(information, 0.0), h_class, h_cluster), h_class, h_cluster
