"""Writes what other libraries give on real cells. The tests compare with the file; they need none of the libraries.

    python plugins/primabench-task-singlecell/scripts/integration_reference.py DATA [--check]

Run in an environment of its own with scib, scib-metrics, harmonypy and scanpy; ``DATA`` is the folder of small real
data (``PRIMABENCH_TEST_DATA``). Versions are written beside the numbers. :func:`inputs` needs numpy and anndata alone,
so that the tests build the same cells: log-normalised counts, twenty components by a full singular value decomposition
as the representation before; the same less 0.6 of the mean of each batch, later components shrunk, as the one after.

R kBET is not among the peers: it draws cells at random and needs R. scib's own LISI needs a compiled helper and walks
the graph; harmonypy is what it follows.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import warnings
from collections.abc import Sequence
from importlib.metadata import distribution, version
from pathlib import Path
from typing import Any

import numpy as np

SETS = {
    "mesc": ("single_cell/mesc_two_batches/mesc_two_batches.h5ad", "cell_type", "batch"),
    "kang": ("single_cell/kang_ifnb_pbmc_donor101/kang_ifnb_donor101.h5ad", "cell_type", "condition"),
    "pbmc68k": ("", "bulk_labels", "phase"),
}
"""File, types, batches. The cells of pbmc68k_reduced (inside scanpy) are of one donor: the phase stands for a batch."""
COMPONENTS = 20
NEAR = 15
OUT = Path(__file__).parents[1] / "tests" / "reference" / "integration_peers.json"


def inputs(name: str, data: str | os.PathLike[str]) -> dict[str, Any]:
    """Cells of one set: ``before``, ``after`` (n, 20) float64, ``expression``, ``corrected``, ``label``, ``batch``."""
    import anndata

    file, label, batch = SETS[name]
    path: Any = (
        Path(data) / file if file else distribution("scanpy").locate_file("scanpy/datasets/10x_pbmc68k_reduced.h5ad")
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cells = anndata.read_h5ad(path)
    counts = cells.X if file else cells.raw.X
    dense = np.asarray(counts.toarray() if hasattr(counts, "toarray") else counts, np.float64)
    expression = np.log1p(dense / dense.sum(axis=1, keepdims=True) * 1e4) if file else dense
    labels, batches = (np.asarray(cells.obs[key].astype(str), object) for key in (label, batch))
    middled = expression - expression.mean(axis=0)
    u, s, _ = np.linalg.svd(middled, full_matrices=False)
    before = u[:, :COMPONENTS] * s[:COMPONENTS]
    return {
        "before": before,
        "after": _centred(before, batches, 0.6) / (1 + np.arange(COMPONENTS) / 5),
        "expression": expression,
        "corrected": np.tanh(expression / 2),
        "label": labels,
        "batch": batches,
        "scores": np.stack([expression[:, :50].mean(axis=1), expression[:, 50:100].mean(axis=1)], axis=1),
    }


def _centred(space: np.ndarray, batches: np.ndarray, share: float = 1.0) -> np.ndarray:
    found = space.copy()
    for batch in sorted(set(batches)):
        found[batches == batch] -= share * space[batches == batch].mean(axis=0)
    return found


def peers(name: str, data: str) -> dict[str, float]:
    """What the other libraries give on one set."""
    made = inputs(name, data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {**_scib(made), **_scib_metrics(made), **_harmonypy(made)}
        # in a batch of pbmc68k_reduced many genes have one mean: scanpy cannot cut these into bins
        return found if name == "pbmc68k" else {**found, **_variable_genes(made)}


def _scib(made: dict[str, Any]) -> dict[str, float]:
    import pandas as pd
    import scib
    from anndata import AnnData
    from sklearn.neighbors import kneighbors_graph

    obs = pd.DataFrame({"label": pd.Categorical(made["label"]), "batch": pd.Categorical(made["batch"])})
    obs[["S_score", "G2M_score"]] = made["scores"]
    obs.index = obs.index.astype(str)
    pre = AnnData(made["before"].copy(), obs=obs.copy(), obsm={"x": made["before"]})
    post = AnnData(made["after"].copy(), obs=obs.copy(), obsm={"x": made["after"]})
    graph = kneighbors_graph(made["after"], NEAR)
    post.obsp["connectivities"] = graph.maximum(graph.T).tocsr()
    post.uns["neighbors"] = {"connectivities_key": "connectivities"}
    me, found = scib.metrics, {}
    found["scib.silhouette"] = me.silhouette(post, "label", "x")
    found["scib.silhouette_batch"] = me.silhouette_batch(post, "batch", "label", "x", verbose=False)
    found["scib.graph_connectivity"] = me.graph_connectivity(post, "label")
    for side, cells in (("pre", pre), ("post", post)):
        found[f"scib.pcr_{side}"] = me.pcr(cells, "batch", embed="x", linreg_method="numpy")
    found["scib.isolated_labels_asw"] = me.isolated_labels_asw(post, "label", "batch", "x", verbose=False)
    found["scib.cell_cycle"] = me.cell_cycle(pre, post, "batch", embed="x", recompute_cc=False, organism="human")
    return {key: float(value) for key, value in found.items()}


def _variable_genes(made: dict[str, Any]) -> dict[str, float]:
    import pandas as pd
    import scib
    from anndata import AnnData

    obs = pd.DataFrame({"batch": pd.Categorical(made["batch"])})
    obs.index = obs.index.astype(str)
    whole, corrected = (AnnData(made[key].copy(), obs=obs.copy()) for key in ("expression", "corrected"))
    whole.var_names = corrected.var_names = [f"g{i}" for i in range(made["expression"].shape[1])]
    return {"scib.hvg_overlap": float(scib.metrics.hvg_overlap(whole, corrected, "batch", n_hvg=200))}


def _scib_metrics(made: dict[str, Any]) -> dict[str, float]:
    import jax

    jax.config.update("jax_enable_x64", True)
    import scib_metrics
    from scib_metrics.nearest_neighbors import NeighborsResults
    from sklearn.neighbors import NearestNeighbors

    after, label, batch = made["after"], made["label"], made["batch"]

    def near(k: int) -> Any:
        distances, indices = NearestNeighbors(n_neighbors=k).fit(after).kneighbors()
        return NeighborsResults(indices=indices, distances=distances)

    found = {
        "scib_metrics.bras": scib_metrics.bras(after, label, batch),
        "scib_metrics.silhouette_label": scib_metrics.silhouette_label(after, label),
        "scib_metrics.silhouette_batch": scib_metrics.silhouette_batch(after, label, batch),
        "scib_metrics.isolated_labels": scib_metrics.isolated_labels(after, label, batch),
        "scib_metrics.ilisi": scib_metrics.ilisi_knn(near(90), batch, perplexity=30),
        "scib_metrics.clisi": scib_metrics.clisi_knn(near(90), label, perplexity=30),
        "scib_metrics.kbet_50": scib_metrics.kbet(near(50), batch)[0],
        "scib_metrics.kbet_per_label": scib_metrics.kbet_per_label(near(50), batch, label),
        "scib_metrics.graph_connectivity": scib_metrics.graph_connectivity(near(NEAR), label),
        "scib_metrics.pcr_comparison": scib_metrics.pcr_comparison(made["before"], after, batch, categorical=True),
    }
    return {key: float(value) for key, value in found.items()}


def _harmonypy(made: dict[str, Any]) -> dict[str, float]:
    import harmonypy
    import pandas as pd

    meta = pd.DataFrame({"batch": made["batch"], "label": made["label"]})
    found = harmonypy.compute_lisi(made["after"], meta, ["batch", "label"], perplexity=30)
    return {f"harmonypy.{key}": float(np.median(found[:, i])) for i, key in enumerate(("batch", "label"))}


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the file, or with ``--check`` compare it with what is computed now."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data")
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    given = parser.parse_args(arguments)
    libraries = ("scib", "scib-metrics", "harmonypy", "scanpy", "scikit-learn", "numpy", "jax")
    record = {
        "made_by": "scripts/integration_reference.py",
        "libraries": {name: version(name) for name in libraries},
        "sets": {name: peers(name, given.data) for name in SETS},
    }
    for numbers in record["sets"].values():  # type: ignore[union-attr]
        numbers.update({key: None for key, value in numbers.items() if np.isnan(value)})
    text = json.dumps(record, indent=1, sort_keys=True) + "\n"
    if given.check:
        return int(OUT.read_text() != text)
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(text)
    sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
