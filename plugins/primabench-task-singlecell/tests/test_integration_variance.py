"""What batches and the cell cycle explain, against regressions of scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from integration_cells import cells, made_view
from primabench_task_singlecell.integration import variance
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression

from primabench_core.errors import ParameterError


def test_pcr_is_the_regression_on_all_components() -> None:
    made = cells(90, batches=3)
    onehot = np.eye(3)[made["batch"]]

    def pcr(space: np.ndarray, components: int) -> float:
        scores = PCA(components, svd_solver="full").fit_transform(space)
        r2 = [LinearRegression().fit(onehot, column).score(onehot, column) for column in scores.T]
        return float(np.average(r2, weights=scores.var(axis=0)))

    for components, number in (("all", 5), (2, 2)):
        pre, post = (pcr(made[side], number) for side in ("before", "embedding"))
        outcome = variance.pcr_comparison(made_view(made), components=components)
        assert outcome.values["pcr_pre"] == pytest.approx(pre, abs=1e-10)
        assert outcome.values["pcr_post"] == pytest.approx(post, abs=1e-10)
        assert outcome.value == pytest.approx(max(0.0, (pre - post) / pre), abs=1e-9)
    harmed = made_view({**made, "embedding": made["before"], "before": made["embedding"]})
    worse = variance.pcr_comparison(harmed)
    assert worse.value == 0.0
    assert worse.values["pcr_comparison_unclipped"] == variance.pcr_comparison(harmed, clip=False).value < 0


def test_pcr_takes_no_other_number_of_components() -> None:
    for wrong in ("some", 0, True):
        with pytest.raises(ParameterError, match="components"):
            variance.pcr_comparison(made_view(cells()), components=wrong)


def test_a_collapsed_embedding_has_no_pcr() -> None:
    made = cells()
    outcome = variance.pcr_comparison(made_view({**made, "embedding": np.full_like(made["embedding"], 1 / 3)}))
    assert (outcome.value, outcome.reason) == (None, "constant_prediction")


def test_cell_cycle_by_linear_regression() -> None:
    made = cells(80)
    rng = np.random.default_rng(0)
    scores = made["before"][:, :2] + rng.standard_normal((80, 2))
    outcome = variance.cell_cycle_conservation(made_view(made, cell_cycle=scores))
    for b in (0, 1):
        rows = made["batch"] == b
        shares = []
        for side in ("before", "embedding"):
            space = made[side][rows] - made[side][rows].mean(axis=0)
            fit = LinearRegression().fit(scores[rows], space)
            shares.append(1 - np.square(space - fit.predict(scores[rows])).sum() / np.square(space).sum())
        expected = max(0.0, 1 - abs(shares[1] - shares[0]) / shares[0])
        assert outcome.per_unit[f"c{b}"] == pytest.approx(expected, abs=1e-10)
    assert outcome.value == pytest.approx(np.mean(list(outcome.per_unit.values())))
    flat = variance.cell_cycle_conservation(made_view(made, cell_cycle=np.ones((80, 2))))
    assert (flat.value, flat.reason, flat.n_undefined) == (None, "component_undefined", 2)
