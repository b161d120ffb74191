"""What integration leaves of genes, of time and of counts: against scanpy and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from integration_cells import labels, view
from primabench_task_singlecell.integration import genes, pseudotime, reconstruction, work


def test_variable_genes_are_those_of_scanpy() -> None:
    scanpy = pytest.importorskip("scanpy", reason="scanpy is the reference")
    anndata = pytest.importorskip("anndata", reason="scanpy needs it")
    rng = np.random.default_rng(0)
    matrix = np.log1p(rng.poisson(rng.gamma(1, 2, 200) * rng.gamma(2, 0.5, (60, 200)))).astype(np.float64)
    matrix = matrix[:, (matrix != 0).any(axis=0)]
    chosen = scanpy.pp.highly_variable_genes(
        anndata.AnnData(matrix), flavor="cell_ranger", n_top_genes=50, inplace=False
    )
    np.testing.assert_array_equal(genes.variable_genes(matrix, 50), np.flatnonzero(chosen["highly_variable"]))


def test_pseudotime_orders_a_line_and_leaves_lost_cells_last() -> None:
    rng = np.random.default_rng(0)
    time = np.sort(rng.random(120))
    points = np.stack([time, time**2], axis=1) * 10
    straight = view({"embedding": points}, pseudotime=time)
    assert pseudotime.trajectory_conservation(straight).value > 0.99  # type: ignore[operator]
    mixed = view({"embedding": points[rng.permutation(120)]}, pseudotime=time)
    assert pseudotime.trajectory_conservation(mixed).value < 0.75  # type: ignore[operator]
    points[100:] += 500.0
    broken = pseudotime.trajectory_conservation(view({"embedding": points}, pseudotime=time))
    assert broken.values["n_without_path"] == 20
    assert broken.value > 0.9  # type: ignore[operator]


def test_deviances_by_hand_and_only_of_held_out_cells() -> None:
    counts, rate = np.asarray([[2.0, 0.0], [1.0, 3.0], [9.0, 9.0]]), np.asarray([[1.0, 0.5], [1.0, 3.0], [1.0, 1.0]])
    state = view({"rate": rate}, counts=counts, role=labels(np.asarray(["score", "score", "fit"])))
    state.truth["role"] = work.Labels(np.asarray([1, 1, 0]), ("fit", "score"))  # type: ignore[index]
    expected = np.mean([2 * (2 * np.log(2) - 1), 0.0]) / 2 + np.mean([2 * 0.5, 0.0]) / 2
    assert reconstruction.poisson_deviance(state).value == pytest.approx(expected)
    large = reconstruction.nb_deviance(state, theta=1e9).value
    assert large == pytest.approx(expected, rel=1e-6)  # without dispersion it is Poisson
    assert reconstruction.poisson_deviance(view({"rate": rate}, counts=counts)).flags == ("not_held_out",)
    zero = reconstruction.poisson_deviance(view({"rate": rate * 0}, counts=counts))
    assert (zero.value, zero.reason) == (None, "numerical_failure")
    profile = reconstruction.reconstruction_pearson(view({"rate": counts * 7}, counts=counts))
    assert profile.value == pytest.approx(1.0)
    assert profile.coverage == pytest.approx(2 / 3)  # the third cell's profile does not vary
