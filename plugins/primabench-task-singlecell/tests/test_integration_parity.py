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
    # the peers stop their search for beta once the entropy is within 1e-5, ours at 1e-13: hence 1e-5
    ilisi, clisi = value("ilisi", made, perplexity=30.0), value("clisi", made, perplexity=30.0)
    batches, labels = len(set(made["batch"])), len(set(made["label"]))
    close(ilisi, PEERS[name]["scib_metrics.ilisi"], 1e-5)
    close(clisi, PEERS[name]["scib_metrics.clisi"], 1e-5)
    close(ilisi, (PEERS[name]["harmonypy.batch"] - 1) / (batches - 1), 1e-5)
    close(clisi, (labels - PEERS[name]["harmonypy.label"]) / (labels - 1), 1e-5)


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
    assert abs(result.value - PEERS[name]["scib_metrics.kbet_per_label"]) < 0.35  # type: ignore[operator]


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
