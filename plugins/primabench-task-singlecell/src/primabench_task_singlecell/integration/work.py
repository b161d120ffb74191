"""What the metrics of the panel share: the representation, one scan over all pairs, one graph.

Every metric of the panel reads the same fields, so that all of them are handed one view; what is made here is kept in
that view (:meth:`primabench_core.state.rows.Rows.shared`) and made once.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from primabench_core.contract.violations import Violation
from primabench_core.errors import ContractError, ParameterError
from primabench_core.spec import Outcome
from primabench_core.state.rows import Labels, Rows
from primabench_task_singlecell.integration.components import leading
from primabench_task_singlecell.integration.pairs import Floats, Ints, Neighbours, Scan, on_device, scan

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

T = TypeVar("T")
HOST = ("cpu", "mps")
"""Devices whose cells are scanned by the host: the second one has no double precision."""
PANEL_K = 200
"""Neighbours that the one scan looks for: the most that a metric of the panel asks for by default."""
PANEL_LENGTHS = 90
"""Of so many it keeps distances, likewise."""
EMBEDDING, CORRECTED, GRAPH, LENGTHS = "embedding", "corrected", "neighbours", "neighbour_distances"


class UndefinedError(Exception):
    """A metric has no value on this view; carries the outcome that says why."""

    def __init__(self, reason: str, detail: str, n: int) -> None:
        super().__init__(reason, detail)
        self.outcome = Outcome.undefined(reason, detail, n=n)


class Panel:
    """One view of predicted cells; see :func:`panel_of`.

    Args:
        state: Rows with ``embedding``, ``corrected`` or ``neighbours``, and what the truth has of ``label`` and
            ``batch``.
    """

    def __init__(self, state: Rows) -> None:
        self.state = state
        self.n = state.n
        self.kind = next(name for name in (EMBEDDING, CORRECTED, GRAPH) if name in state.prediction)
        self._made: dict[Hashable, Any] = {}
        self._scan: Scan | None = None
        self._k = self._lengths = 0
        self.scans = 0
        """Passes over all pairs so far."""

    # -- what is given ------------------------------------------------------------------------------------------------

    @property
    def points(self) -> Floats:
        """(n, width) float64: the embedding, or the leading components of a corrected matrix.

        Raises:
            UndefinedError: the prediction is a graph.
        """
        if self.kind == GRAPH:
            raise UndefinedError("not_applicable", "a graph of neighbours has no coordinates", self.n)
        return self.made("points", self._points)

    def _points(self) -> Floats:
        given = np.asarray(self.state.prediction[self.kind], np.float64)
        return given if self.kind == EMBEDDING else leading(given)

    @property
    def cloud(self) -> Any:
        """(n, width) what is scanned: the embedding where it was handed in, or :attr:`points` brought there.

        Raises:
            UndefinedError: the prediction is a graph.
        """
        device = device_of(self.state)
        if device == "cpu":
            return self.points
        if self.kind == EMBEDDING:
            return self.made("cloud", lambda: self.state.tensor(EMBEDDING))
        points = self.points
        return self.made("cloud", lambda: on_device(points, device))

    def part(self, rows: Ints) -> Any:
        """(len(rows), width) some rows of :attr:`cloud`, where it is."""
        cloud = self.cloud
        return cloud[rows] if isinstance(cloud, np.ndarray) else cloud.index_select(0, on_device(rows, cloud.device))

    @property
    def ranks(self) -> Ints:
        """(n,) the place of each cell in the order of ids: what breaks ties, whatever the order of the rows."""
        return self.made("ranks", lambda: order_of(self.state.ids, self.n))

    def labels(self, name: str) -> Labels:
        """A label field of the truth with the classes that occur."""
        return self.made(("labels", name), lambda: occurring(self.state.truth[name], name))

    def label(self) -> Labels:
        """Types, at least two.

        Raises:
            UndefinedError: there are no cells, or all are of one type.
        """
        found = self.labels("label")
        self._demand_cells()
        if len(found.classes) < 2:
            raise UndefinedError("single_label", "every cell has the same label", self.n)
        return found

    def batch(self) -> Labels:
        """Batches, at least two.

        Raises:
            UndefinedError: there are no cells, or all are of one batch.
        """
        found = self.labels("batch")
        self._demand_cells()
        if len(found.classes) < 2:
            raise UndefinedError("single_batch", "every cell is of the same batch", self.n)
        return found

    def _demand_cells(self) -> None:
        if not self.n:
            raise UndefinedError("too_few_items", "there are no cells", 0)

    def made(self, key: Hashable, build: Callable[[], T]) -> T:
        """What ``build`` gives, made once."""
        if key not in self._made:
            self._made[key] = build()
        return self._made[key]  # type: ignore[no-any-return]

    # -- one scan -----------------------------------------------------------------------------------------------------

    @property
    def groups(self) -> Ints | None:
        """(n,) codes of the occurring pairs of type and batch (or types alone); None if the truth has no types."""
        return self.made("groups", self._groups)

    def _groups(self) -> Ints | None:
        if "label" not in self.state.truth:
            return None
        codes = self.labels("label").codes
        if "batch" in self.state.truth:
            codes = codes * len(self.labels("batch").classes) + self.labels("batch").codes
        return np.unique(codes, return_inverse=True)[1].astype(np.int64)

    def scanned(self, k: int = 0, lengths: int = 0) -> Scan:
        """The pass over all pairs, with at least ``k`` neighbours and distances to ``lengths`` of them.

        It is repeated only if more are asked for than before.
        """
        k = min(max(k, PANEL_K), max(self.n - 1, 0))
        lengths = min(max(lengths, PANEL_LENGTHS), k)
        if self._scan is None or self._k < k or self._lengths < lengths:
            k, lengths = max(k, self._k), max(lengths, self._lengths)
            self._scan = scan(self.cloud, k, groups=self.groups, ranks=self.ranks, lengths=lengths)
            self._k, self._lengths = k, lengths
            self.scans += 1
        return self._scan

    def neighbours(self, k: int, search: str = "exact", *, lengths: bool = False) -> Neighbours:
        """The k nearest other cells.

        Args:
            k: Neighbours.
            search: ``exact``, or ``approximate`` (then the result has to say so, see :meth:`marks`).
            lengths: Distances are needed, too.

        Raises:
            UndefinedError: there are not more than k cells, or the predicted graph holds fewer.
        """
        if search not in ("exact", "approximate"):
            raise ParameterError(f"search={search!r} is neither 'exact' nor 'approximate'.", remedy="search='exact'")
        if self.n <= k:
            raise UndefinedError("too_few_items", f"{k} neighbours need more than {k} cells", self.n)
        if self.kind == GRAPH:
            graph: Neighbours = self.made("given", self._given)
            if graph.k < k or (graph.index[:, :k] < 0).any():
                short = self.n if graph.k < k else int((graph.index[:, :k] < 0).any(1).sum())
                raise UndefinedError(
                    "not_applicable", f"{short} cells of the graph have fewer than {k} neighbours", self.n
                )
            return graph.first(k)
        if search == "approximate":
            found: Neighbours = self.made(("approximate", k), lambda: approximate(self.points, k))
            return found
        return self.scanned(k, k if lengths else 0).neighbours.first(k)

    def _given(self) -> Neighbours:
        index = np.atleast_2d(np.asarray(self.state.prediction[GRAPH], np.float64).T).T
        whole = np.floor(index) == index
        itself = index == np.arange(self.n)[:, None]
        if not whole.all() or (index < -1).any() or (index >= self.n).any() or itself.any():
            expected = f"row numbers from 0 to {self.n - 1} of other cells, or -1 for none"
            raise ContractError([Violation(GRAPH, expected, "other numbers")], what="The prediction")
        lengths = self.state.prediction.get(LENGTHS)
        distance = None if lengths is None else np.atleast_2d(np.asarray(lengths, np.float64).T).T
        if distance is not None and distance.shape != index.shape:
            expected = f"the shape of {GRAPH!r}, {index.shape}"
            raise ContractError([Violation(LENGTHS, expected, str(distance.shape))], what="The prediction")
        if distance is not None and (np.diff(np.where(index < 0, np.inf, distance), axis=1) < 0).any():
            raise ContractError([Violation(LENGTHS, "nearest first", "another order")], what="The prediction")
        return Neighbours(index.astype(np.int32), distance)

    def graph(self, k: int, search: str = "exact") -> csr_matrix:
        """(n, n) CSR of ones: an edge where either cell is among the k nearest of the other."""
        return self.made(("graph", k, search), lambda: symmetric(self.neighbours(k, search).index))

    def marks(self, search: str) -> dict[str, Any]:
        """What a result says about its neighbours: nothing if they are exact."""
        if search != "approximate" or self.kind == GRAPH:
            return {}
        from importlib.metadata import version

        return {
            "flags": ("approximate_neighbours",),
            "values": {"neighbours_by": f"pynndescent {version('pynndescent')}"},
        }


def device_of(state: Rows) -> str:
    """Where pairs of cells are looked at: where the prediction was handed in, if it is a device that can."""
    return "cpu" if state.device.partition(":")[0] in HOST else state.device


def panel_of(state: Rows) -> Panel:
    """The shared work of this view."""
    return state.shared("batch_integration", lambda: Panel(state))


def order_of(ids: Any, n: int) -> Ints:
    """(n,) rank of each row by id; by position where there are no ids."""
    if ids is None:
        return np.arange(n)
    ranks = np.empty(n, np.int64)
    ranks[np.argsort(np.asarray(list(ids), dtype=object), kind="stable")] = np.arange(n)
    return ranks


def occurring(column: Any, name: str) -> Labels:
    """The labels without the classes that no row has."""
    if not isinstance(column, Labels):
        raise TypeError(f"the truth field {name!r} holds no labels")
    present, codes = np.unique(column.codes, return_inverse=True)
    return Labels(codes.astype(np.int64), tuple(column.classes[c] for c in present))


def symmetric(index: NDArray[np.int32]) -> csr_matrix:
    """(n, n) CSR of ones from neighbour lists, edges both ways; -1 is no neighbour."""
    from scipy.sparse import csr_matrix

    n, k = index.shape
    rows, columns = np.repeat(np.arange(n, dtype=np.int32), k), index.ravel()
    there = columns >= 0
    one_way = csr_matrix((np.ones(int(there.sum()), np.int8), (rows[there], columns[there])), shape=(n, n))
    both = one_way.maximum(one_way.T).tocsr()
    both.sort_indices()
    return both


def approximate(points: Floats, k: int) -> Neighbours:
    """The k nearest others by nearest-neighbour descent; some are missed."""
    from pynndescent import NNDescent  # type: ignore[import-untyped]

    index, distance = NNDescent(points.astype(np.float32), n_neighbors=k + 1, random_state=0).neighbor_graph
    found, lengths = np.empty((len(points), k), np.int32), np.empty((len(points), k))
    for row, (near, far) in enumerate(zip(index, distance, strict=True)):
        others = np.flatnonzero(near != row)[:k]  # itself goes by its number, not by its distance
        found[row], lengths[row] = near[others], far[others]
    return Neighbours(found, lengths, "pynndescent")
