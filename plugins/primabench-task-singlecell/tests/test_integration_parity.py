"""Values of other libraries on real cells (mESC, Kang by condition, pbmc68k_reduced).

They agree to 1e-6 where definitions are one. Where a definition is not the same, the test says what is different and
shows it. The numbers were made by ``scripts/integration_reference.py``, which also builds the cells.
"""

from __future__ import annotations

import json
import os
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import primabench_core as pb

ANNDATA_REASON = "the fixtures are AnnData files"
FOLDER = Path(__file__).parent
PEERS = json.loads((FOLDER / "reference" / "integration_peers.json").read_text())["sets"]
SETS = tuple(sorted(PEERS))


@pytest.fixture(scope="module")
def script() -> Any:
    """The script that made the numbers, for its inputs."""
    path = FOLDER.parent / "scripts" / "integration_reference.py"
    if not path.exists():
        pytest.skip("only the wheel is installed")
    spec = spec_from_file_location("integration_reference", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module", params=SETS)
def real(request: pytest.FixtureRequest, script: Any) -> tuple[str, dict[str, Any]]:
    """One set of real cells."""
    pytest.importorskip("anndata", reason=ANNDATA_REASON)
    name: str = request.param
    data = os.environ.get("PRIMABENCH_TEST_DATA", "")
    if name == "pbmc68k":
        pytest.importorskip("scanpy", reason="the cells of pbmc68k_reduced are a file of the scanpy package")
    elif not data:
        pytest.skip("PRIMABENCH_TEST_DATA names no folder with the small real data")
    return name, script.inputs(name, data)


def value(metric: str, made: dict[str, Any], **params: Any) -> float | None:
    """A metric through the public interface."""
    truth = {"label": made["label"], "batch": made["batch"], "embedding": made["before"]}
    needed = {
        "ilisi": ("batch",), "kbet_fixed_k": ("batch",), "clisi": ("label",), "silhouette_label": ("label",),
        "graph_connectivity": ("label",), "pcr_comparison": ("batch", "embedding"),
    }  # fmt: skip
    fields = needed.get(metric, ("label", "batch"))
    return pb.score(metric, {"embedding": made["after"]}, {k: truth[k] for k in fields}, **params).value


def close(found: float | None, expected: float | None, tolerance: float = 1e-6) -> None:
    assert (found is None) == (expected is None)
    assert found is None or abs(found - expected) <= tolerance, (found, expected)  # type: ignore[operator]


def test_silhouettes(real: tuple[str, dict[str, Any]]) -> None:
    name, made = real
    close(value("silhouette_label", made), PEERS[name]["scib.silhouette"])
    close(value("silhouette_label", made), PEERS[name]["scib_metrics.silhouette_label"])
    close(value("silhouette_batch", made), PEERS[name]["scib.silhouette_batch"])
    close(value("silhouette_batch", made), PEERS[name]["scib_metrics.silhouette_batch"])
    close(value("bras", made), PEERS[name]["scib_metrics.bras"])


def test_isolated_labels(real: tuple[str, dict[str, Any]]) -> None:
    name, made = real
    # where every label is in every batch scib has no value and warns; scib-metrics then scores all labels
    found = value("isolated_labels_asw", made)
    close(found, PEERS[name]["scib.isolated_labels_asw"])
    if found is None:
        assert PEERS[name]["scib_metrics.isolated_labels"] is not None
    else:
        close(found, PEERS[name]["scib_metrics.isolated_labels"])


def test_graph_connectivity(real: tuple[str, dict[str, Any]]) -> None:
    name, made = real
    found = value("graph_connectivity", made)
    close(found, PEERS[name]["scib.graph_connectivity"])
    # scib-metrics takes strong components of the directed graph, which are smaller or equal
    assert PEERS[name]["scib_metrics.graph_connectivity"] <= found + 1e-12  # type: ignore[operator]


def test_lisi(real: tuple[str, dict[str, Any]]) -> None:
    name, made = real
    # the peers stop their search for beta once the entropy is within 1e-5, ours at 1e-13: hence 1e-5, see the next test
    ilisi, clisi = value("ilisi", made, perplexity=30.0), value("clisi", made, perplexity=30.0)
    batches, labels = len(set(made["batch"])), len(set(made["label"]))
    close(ilisi, PEERS[name]["scib_metrics.ilisi"], 1e-5)
    close(clisi, PEERS[name]["scib_metrics.clisi"], 1e-5)
    close(ilisi, (PEERS[name]["harmonypy.batch"] - 1) / (batches - 1), 1e-5)
    close(clisi, (labels - PEERS[name]["harmonypy.label"]) / (labels - 1), 1e-5)


def searched(made: dict[str, Any], tolerance: float) -> dict[str, float]:
    """Median LISI by the peers' search in plain loops: double or halve beta, then bisect, until the entropy is near."""
    codes = {field: np.unique(made[field].astype(str), return_inverse=True)[1] for field in ("batch", "label")}
    distance = np.sqrt(np.maximum(((made["after"][:, None] - made["after"][None]) ** 2).sum(axis=2), 0.0))
    np.fill_diagonal(distance, np.inf)
    near = np.argsort(distance, axis=1, kind="stable")[:, :90]
    found: dict[str, list[float]] = {field: [] for field in codes}
    for i, row in enumerate(near):
        gaps, beta, low, high = distance[i, row], 1.0, 0.0, np.inf
        for _ in range(50 if tolerance > 1e-9 else 500):
            p = np.exp(-beta * gaps)
            over = np.log(p.sum()) + beta * (gaps * p).sum() / p.sum() - np.log(30.0)
            if abs(over) <= tolerance:
                break
            low, high = (beta, high) if over > 0 else (low, beta)
            beta = beta * 2 if np.isinf(high) else beta / 2 if low == 0 else (low + high) / 2
        for field, values in found.items():
            share = np.bincount(codes[field][row], p / p.sum())
            values.append(1 / (share**2).sum())
    return {field: float(np.median(values)) for field, values in found.items()}


def test_lisi_differs_by_where_the_search_ends_and_by_nothing_else(real: tuple[str, dict[str, Any]]) -> None:
    name, made = real
    truth = {"batch": made["batch"], "label": made["label"]}
    early, late = searched(made, 1e-5), searched(made, 1e-12)
    for metric, field in (("ilisi", "batch"), ("clisi", "label")):
        ours = pb.score(metric, {"embedding": made["after"]}, {field: truth[field]}, perplexity=30.0)
        close(early[field], PEERS[name][f"harmonypy.{field}"])
        close(late[field], ours.values["median_lisi"])


def test_pcr(real: tuple[str, dict[str, Any]]) -> None:
    name, made = real
    truth = {"batch": made["batch"], "embedding": made["before"]}
    result = pb.score("pcr_comparison", {"embedding": made["after"]}, truth)
    pre, post = PEERS[name]["scib.pcr_pre"], PEERS[name]["scib.pcr_post"]
    close(result.values["pcr_pre"], pre)
    close(result.values["pcr_post"], post)
    close(result.value, max(0.0, (pre - post) / pre))
    close(result.value, max(0.0, PEERS[name]["scib_metrics.pcr_comparison"]))


def test_kbet(real: tuple[str, dict[str, Any]]) -> None:
    name, made = real
    close(value("kbet_fixed_k", made), PEERS[name]["scib_metrics.kbet_50"])
    # per label the neighbourhoods differ: scib-metrics takes neighbours by diffusion distance on the graph's part of a
    # label, ours are the nearest ones by Euclidean distance, and the cell itself is one of the k0 as in R kBET
    result = pb.score("kbet", {"embedding": made["after"]}, {"label": made["label"], "batch": made["batch"]})
    assert "exact Euclidean" in result.values["definition"]
    close(result.value, PEERS[name]["scib_metrics.kbet_per_label"], 0.05)


def rejected(made: dict[str, Any], kind: str) -> float | None:
    """Share of rejected cells of a type by scib's rule for k0 and components, in plain loops; None for no value."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import connected_components
    from scipy.stats import chisquare

    points = made["after"]
    distance = ((points[:, None] - points[None]) ** 2).sum(axis=2)
    np.fill_diagonal(distance, -1.0)
    order = np.argsort(distance, axis=1, kind="stable")
    rows = np.flatnonzero(made["label"] == kind)
    names, batch = np.unique(made["batch"][rows].astype(str), return_inverse=True)
    if len(rows) < 10 or len(names) < 2:
        return None
    k0 = min(70, max(10, len(rows) // len(names) // 4))
    graph = np.zeros(distance.shape, bool)
    np.put_along_axis(graph, order[:, 1:51], True, axis=1)
    count, part = connected_components(csr_matrix((graph | graph.T)[np.ix_(rows, rows)]), directed=False)
    kept = np.bincount(part)[part] >= (3 * k0 if count > 1 else 0)
    if kept.mean() < 0.75:
        return 1.0
    rows, batch = rows[kept], batch[kept]
    share = np.bincount(batch) / len(batch)
    if (share == 1).any():
        return None
    place = np.full(len(points), -1)
    place[rows] = batch
    near = [order[i][place[order[i]] >= 0][:k0] for i in rows]
    seen = np.stack([np.bincount(place[inside], minlength=len(share)) for inside in near])[:, share > 0]
    expected = share[share > 0] * len(near[0])
    return float(np.mean(chisquare(seen, np.broadcast_to(expected, seen.shape), axis=1).pvalue < 0.05))


def test_kbet_is_the_rule_of_scib_with_exact_neighbours(real: tuple[str, dict[str, Any]]) -> None:
    _, made = real
    result = pb.score("kbet", {"embedding": made["after"]}, {"label": made["label"], "batch": made["batch"]})
    for kind in sorted(set(made["label"])):
        share = rejected(made, kind)
        close(result.per_unit[kind], None if share is None else 1 - share)


def test_cell_cycle(real: tuple[str, dict[str, Any]]) -> None:
    name, made = real
    truth = {"batch": made["batch"], "embedding": made["before"], "cell_cycle": made["scores"]}
    found = pb.score("cell_cycle_conservation", {"embedding": made["after"]}, truth).value
    close(found, PEERS[name]["scib.cell_cycle"])


def test_variable_genes(real: tuple[str, dict[str, Any]]) -> None:
    name, made = real
    if "scib.hvg_overlap" not in PEERS[name]:
        assert name == "pbmc68k"  # scanpy cannot bin genes of equal mean, scib has no value
        return
    names = tuple(f"g{i}" for i in range(made["expression"].shape[1]))
    prediction = {"corrected": made["corrected"], "genes": names}
    truth = {"batch": made["batch"], "expression": made["expression"], "genes": names}
    close(pb.score("hvg_overlap", prediction, truth, n_genes=200).value, PEERS[name]["scib.hvg_overlap"])


def test_clusters_agree_with_scikit_learn(real: tuple[str, dict[str, Any]]) -> None:
    from primabench_task_singlecell.integration import clusters, work
    from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

    from primabench_core.state.rows import Labels, Rows

    _, made = real
    classes, codes = np.unique(made["label"].astype(str), return_inverse=True)
    state = Rows(len(codes), {"embedding": made["after"]}, {"label": Labels(codes, tuple(classes.tolist()))})
    found = clusters._kmeans(work.panel_of(state), 10)
    close(value("ari_kmeans", made), adjusted_rand_score(codes, found))
    close(value("nmi_kmeans", made), normalized_mutual_info_score(codes, found))
    sweep = clusters.leiden_sweep(work.panel_of(state), 15, "exact")
    scores = np.asarray([normalized_mutual_info_score(codes, c) for c in sweep])
    close(value("nmi_leiden", made), float(scores.max()))
    chosen = pb.score("ari_leiden", {"embedding": made["after"]}, {"label": made["label"], "batch": made["batch"]})
    at = clusters.RESOLUTIONS.index(chosen.values["resolution"])
    assert scores[at] == pytest.approx(scores.max(), abs=1e-12)
    close(chosen.value, adjusted_rand_score(codes, sweep[at]))


def test_best_f1_of_isolated_labels_is_that_of_scikit_learn_over_the_same_clusters(
    real: tuple[str, dict[str, Any]],
) -> None:
    from primabench_task_singlecell.integration import clusters, work
    from sklearn.metrics import f1_score

    from primabench_core.state.rows import Labels, Rows

    _, made = real
    classes, codes = np.unique(made["label"].astype(str), return_inverse=True)
    state = Rows(len(codes), {"embedding": made["after"]}, {"label": Labels(codes, tuple(classes.tolist()))})
    found = pb.score("isolated_labels_f1", {"embedding": made["after"]}, {k: made[k] for k in ("label", "batch")})
    batches = {kind: len(set(made["batch"][made["label"] == kind])) for kind in classes.tolist()}
    if min(batches.values()) == len(set(made["batch"])):
        assert (found.value, found.reason) == (None, "no_isolated_label")  # as scib, which has none either
        return
    isolated = [kind for kind, n in batches.items() if n == min(batches.values())]
    assert sorted(found.per_unit) == sorted(isolated)
    for kind in isolated:
        best = max(
            f1_score(made["label"] == kind, sweep == cluster)
            for sweep in clusters.leiden_sweep(work.panel_of(state), 15, "exact")
            for cluster in np.unique(sweep[made["label"] == kind])
        )
        close(found.per_unit[kind], best)
