"""Clusterings of the representation against types: k-means, Leiden over resolutions, and connectivity of the graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from primabench_metrics import clustering

from primabench_core.spec import Outcome
from primabench_core.state.counts import Counts
from primabench_core.state.exact import exact_sum
from primabench_core.state.rows import Labels, Rows
from primabench_task_singlecell.baselines.features import one_thread
from primabench_task_singlecell.integration.defined import defined
from primabench_task_singlecell.integration.pairs import Ints
from primabench_task_singlecell.integration.silhouettes import isolated_labels
from primabench_task_singlecell.integration.work import Panel, panel_of

RESOLUTIONS = tuple(step / 10 for step in range(1, 21))
"""0.1, 0.2 … 2.0, as scib."""
CYCLES = 2
"""Leiden runs again from what it found, as leidenalg and scanpy do by default for igraph."""
SEED = 0
STARTS = 10


@defined
def graph_connectivity(state: Rows, *, k: int = 15, include_self: bool = False, search: str = "exact") -> Outcome:
    """Mean over types of the share of cells in the largest connected part of the type (Luecken et al. 2022).

    The graph has an edge where either cell is among the k nearest of the other. Directed edges and strong components,
    as in scib-metrics, give much lower values.

    Args:
        state: Rows with a representation of cells and ``label``.
        k: Neighbours.
        include_self: Let the cell itself be one of the k.
        search: ``exact`` neighbours, or ``approximate`` ones (flagged in the result).

    Returns:
        Value in (0, 1], each type in ``per_unit``; ``too_few_items`` for k cells or fewer, ``not_applicable`` for a
        graph with fewer neighbours.
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    panel = panel_of(state)
    label = panel.labels("label")
    edges = panel.graph(k - 1 if include_self else k, search).tocoo()
    inside = label.codes[edges.row] == label.codes[edges.col]
    kept = coo_matrix((edges.data[inside], (edges.row[inside], edges.col[inside])), shape=edges.shape)
    _, part = connected_components(kept, directed=False)
    sizes = np.bincount(part)
    largest = np.zeros(len(label.classes), np.int64)
    np.maximum.at(largest, label.codes, sizes[part])
    shares = largest / np.bincount(label.codes)
    per_label = {str(name): float(share) for name, share in zip(label.classes, shares, strict=True)}
    return Outcome(exact_sum(shares) / len(shares), n=panel.n, per_unit=per_label, **panel.marks(search))


@defined
def nmi_kmeans(state: Rows, *, starts: int = STARTS) -> Outcome:
    """NMI of types and k-means with as many clusters as types, the best of ten seeded starts by inertia.

    Args:
        state: Rows with coordinates of cells and ``label``.
        starts: Starts; one alone carries the noise of its start.

    Returns:
        Value in [0, 1]; ``single_label`` for one type, ``not_applicable`` for a graph.
    """
    panel = panel_of(state)
    return clustering.nmi(_table(panel.label(), _kmeans(panel, starts)))


@defined
def ari_kmeans(state: Rows, *, starts: int = STARTS) -> Outcome:
    """ARI of the same clustering as :func:`nmi_kmeans`.

    Args:
        state: Rows with coordinates of cells and ``label``.
        starts: Starts of k-means.

    Returns:
        Value in [-0.5, 1]; undefined as :func:`nmi_kmeans`.
    """
    panel = panel_of(state)
    return clustering.ari(_table(panel.label(), _kmeans(panel, starts)))


def _kmeans(panel: Panel, starts: int) -> Ints:
    """(n,) clusters; cells go in by the order of their ids, which the seeded starts depend on."""
    points, k = panel.points, len(panel.label().classes)

    def build() -> Ints:
        from sklearn.cluster import KMeans

        order = np.argsort(panel.ranks)
        middled = points[order]
        for column in middled.T:  # in place: the array is as large as the points
            column -= np.median(column)
        largest = max(-middled.min(initial=0.0), middled.max(initial=0.0))
        small = np.ldexp(middled, -int(np.frexp(largest)[1]), out=middled).astype(np.float32)
        del middled
        distinct = len(np.unique(small, axis=0)) if panel.n < 1_000 else k
        with one_thread():
            model = KMeans(min(k, distinct), n_init=starts, random_state=SEED, copy_x=False).fit(small)
        found = np.empty(panel.n, np.int64)
        found[order] = model.labels_
        return found

    clusters: Ints = panel.made(("k-means", starts), build)
    return clusters


@defined
def nmi_leiden(state: Rows, *, k: int = 15, search: str = "exact") -> Outcome:
    """NMI of types and Leiden clusters at the resolution, of 0.1 to 2.0, that has the largest NMI.

    Leiden (Traag et al. 2019) runs on the symmetric graph of k neighbours, unweighted, by modularity, seeded, at
    twenty resolutions; the chosen one is named in ``values``. Chosen with the types at hand, the value is an upper end
    and is not comparable with that of a clustering with a given number of clusters.

    Args:
        state: Rows with a representation of cells and ``label``.
        k: Neighbours of the graph.
        search: ``exact`` neighbours, or ``approximate`` ones (flagged in the result).

    Returns:
        Value in [0, 1]; ``single_label`` for one type, else undefined as :func:`graph_connectivity`.
    """
    return _at_best(panel_of(state), k, search, clustering.nmi)


@defined
def ari_leiden(state: Rows, *, k: int = 15, search: str = "exact") -> Outcome:
    """ARI of types and Leiden clusters at the resolution that :func:`nmi_leiden` chose.

    Args:
        state: Rows with a representation of cells and ``label``.
        k: Neighbours of the graph.
        search: As in :func:`nmi_leiden`.

    Returns:
        Value in [-0.5, 1]; undefined as :func:`nmi_leiden`.
    """
    return _at_best(panel_of(state), k, search, clustering.ari)


def _at_best(panel: Panel, k: int, search: str, metric: Any) -> Outcome:
    label = panel.label()
    sweep = leiden_sweep(panel, k, search)
    scores = panel.made(("nmi", k, search), lambda: [clustering.nmi(_table(label, c)).value or 0.0 for c in sweep])
    best = int(np.argmax(scores))
    found: Outcome = metric(_table(label, sweep[best]))
    marks = panel.marks(search)
    values = {
        **found.values,
        "resolution": RESOLUTIONS[best],
        "n_clusters": int(sweep[best].max()) + 1,
        **marks.get("values", {}),
    }
    return Outcome(found.value, n=panel.n, flags=(*found.flags, *marks.get("flags", ())), values=values)


@defined
def isolated_labels_f1(state: Rows, *, k: int = 15, iso_threshold: int | None = None, search: str = "exact") -> Outcome:
    """Mean over isolated types of the best F1 of any Leiden cluster at any resolution (Luecken et al. 2022).

    Args:
        state: Rows with a representation of cells, ``label`` and ``batch``.
        k: Neighbours of the graph.
        iso_threshold: A type is isolated in so many batches or fewer; by default in the smallest number that occurs.
        search: As in :func:`nmi_leiden`.

    Returns:
        Value in [0, 1], each isolated type in ``per_unit``; ``no_isolated_label`` if all types are in every batch, else
        undefined as :func:`nmi_leiden`.
    """
    panel = panel_of(state)
    isolated = isolated_labels(panel, iso_threshold)
    label = panel.label()
    best = dict.fromkeys(isolated, 0.0)
    for clusters in leiden_sweep(panel, k, search):
        sizes = np.bincount(clusters)
        for code in isolated:
            members = label.codes == code
            both = np.bincount(clusters[members], minlength=len(sizes))
            best[code] = max(best[code], float((2 * both / (sizes + members.sum())).max()))
    per_label = {str(label.classes[c]): value for c, value in best.items()}
    used = int(np.isin(label.codes, isolated).sum())
    mean = exact_sum(np.asarray(list(best.values()))) / len(best)
    return Outcome(mean, n=used, per_unit=per_label, **panel.marks(search))


def leiden_sweep(panel: Panel, k: int, search: str) -> list[Ints]:
    """Clusters at every resolution, made once for all metrics that read them."""

    def build() -> list[Ints]:
        graph = panel.graph(k, search)
        order = np.argsort(panel.ranks)  # nodes in the order of ids: the seeded walk depends on it
        ordered = graph[order][:, order].tocsr()
        ordered.sort_indices()
        return [leiden(ordered, resolution)[panel.ranks] for resolution in RESOLUTIONS]

    sweep: list[Ints] = panel.made(("leiden", k, search), build)
    return sweep


def leiden(graph: Any, resolution: float, *, seed: int = SEED) -> Ints:
    """Leiden communities by modularity (Traag, Waltman and van Eck 2019, doi:10.1038/s41598-019-41695-z).

    Args:
        graph: (n, n) symmetric CSR of weights, with at least one edge.
        resolution: Larger values give more communities.
        seed: Of the random order of nodes.

    Returns:
        (n,) int64 communities from 0; a node without edges is one of its own.

    Example:
        >>> from scipy.sparse import csr_matrix
        >>> pairs = csr_matrix(np.kron(np.eye(2), 1 - np.eye(3)))
        >>> leiden(pairs, 1.0).tolist() in ([0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0])
        True
    """
    from graspologic_native import leiden_csr  # type: ignore[import-untyped]

    n = graph.shape[0]
    _, found = leiden_csr(
        graph.indptr.astype(np.int64),
        graph.indices.astype(np.int32),
        graph.data.astype(np.float64),
        n,
        resolution=resolution,
        iterations=CYCLES,
        seed=seed,
    )
    clusters = np.full(n, -1, np.int64)
    clusters[np.fromiter(found.keys(), np.int64, len(found))] = np.fromiter(found.values(), np.int64, len(found))
    alone = np.flatnonzero(clusters < 0)
    clusters[alone] = clusters.max(initial=-1) + 1 + np.arange(len(alone))
    return np.unique(clusters, return_inverse=True)[1].astype(np.int64)


def _table(label: Labels, clusters: Ints) -> Counts:
    return Counts.of(label.codes, clusters, label.classes, tuple(range(int(clusters.max(initial=0)) + 1)))
