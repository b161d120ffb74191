"""What a curator looks at before trusting the file: ``python -m …pbmc68k_reduced.explore [picture.png]``."""

from __future__ import annotations

import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from primabench_core import CorruptDataError
from primabench_recipes.wolf_2018_genome_biology.pbmc68k_reduced.recipe import (
    LABEL,
    check_log_values,
    open_file,
    read_cells,
)


def find_file() -> Path:
    """The file inside the installed scanpy, found without importing it."""
    return Path(str(metadata.distribution("scanpy").locate_file("scanpy/datasets/10x_pbmc68k_reduced.h5ad")))


def report(path: Path) -> str:
    """Everything worth knowing, as text.

    Args:
        path: ``10x_pbmc68k_reduced.h5ad``.
    """
    stored = open_file(path)
    cells = read_cells(path)
    expression = np.asarray(cells["expression"].toarray())
    lines = [
        f"file              {path.name}, {path.stat().st_size:,} bytes",
        f"cells x genes     {expression.shape[0]} x {expression.shape[1]}",
        f"ids unique        {len(set(cells.ids or ())) == cells.n}",
        f"genes unique      {len(set(cells.coords['genes'])) == expression.shape[1]}",
        f"raw (used)        {_range(expression)}; zeros {np.mean(expression == 0):.0%}; "
        f"three decimals: {bool(np.allclose(expression, np.round(expression, 3), atol=1e-6))}",
        f"X (not used)      {_range(np.asarray(stored.X))}: {_verdict(stored)}",
        f"counts per cell   {_range(cells['n_counts'])}; genes per cell {_range(cells['n_genes'])}",
        f"identical cells   {len(expression) - len(np.unique(expression, axis=0))}",
        "",
        "cells of a type:",
    ]
    types, counts = np.unique(cells["label"].astype(str), return_counts=True)
    lines += [f"  {n:>4}  {name}" for n, name in sorted(zip(counts, types, strict=True), reverse=True)]
    lines += ["", "why louvain is left out (largest type in each cluster):"]
    clusters = stored.obs["louvain"].astype(str).to_numpy()
    labels = stored.obs[LABEL].astype(str).to_numpy()
    for cluster in sorted(set(clusters), key=int):
        inside = labels[clusters == cluster]
        name, n = max(((t, int(np.sum(inside == t))) for t in set(inside)), key=lambda pair: (pair[1], pair[0]))
        lines.append(f"  {cluster:>2}: {n / len(inside):>4.0%} of {len(inside)} cells are {name}")
    return "\n".join(lines)


def _range(values: np.ndarray) -> str:
    return f"{values.min():.3f} to {values.max():.3f}"


def _verdict(stored: Any) -> str:
    try:
        check_log_values(stored.X, np.asarray(stored.obs["n_counts"], np.float64))
    except CorruptDataError as error:
        return error.message
    return "log values"


def draw(path: Path, picture: Path) -> None:
    """Draw class sizes and the depth of the cells of each type.

    Args:
        path: ``10x_pbmc68k_reduced.h5ad``.
        picture: File to write.
    """
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    cells = read_cells(path)
    types, counts = np.unique(cells["label"].astype(str), return_counts=True)
    order = np.argsort(counts)
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(11, 4), sharey=True, layout="constrained")
    left.barh(range(len(order)), counts[order], color="#4c78a8")
    left.set_xlabel("cells")
    for place, i in enumerate(order):
        depth = cells["n_counts"][cells["label"] == types[i]]
        right.scatter(depth, np.full(len(depth), place), s=6, alpha=0.3, color="#4c78a8")
        right.plot(np.median(depth), place, "|", color="black", markersize=14)
    left.set_yticks(range(len(order)), types[order])
    right.set_xlabel("molecules per cell (bar: median)")
    figure.savefig(picture, dpi=120)
    pyplot.close(figure)


if __name__ == "__main__":
    source = find_file()
    sys.stdout.write(report(source) + "\n")
    if len(sys.argv) > 1:
        draw(source, Path(sys.argv[1]))
        sys.stdout.write(f"\npicture: {sys.argv[1]}\n")
