"""A row that occurs k times is that row repeated k times, to the bit: ties, constants, single classes, no rows."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from metric_views import DECLARED, labels, laws, rows

from primabench_core.discovery.registry import resolve
from primabench_core.spec import Outcome
from primabench_core.state.counts import Counts
from primabench_core.state.multiplicity import Groups, Multiplicities
from primabench_core.state.rows import Rows
from primabench_core.state.tables import Cells, Tables

WEIGHTED = {name: spec for name, (_, spec) in DECLARED.items() if spec.weighted}


def values_of(name: str, states: list[Any], **params: Any) -> list[float | None]:
    found = []
    for state in states:
        outcome = resolve(WEIGHTED[name].compute)(state, **{**WEIGHTED[name].fixed, **params})
        value = outcome.value if isinstance(outcome, Outcome) else outcome
        found.append(value if value is not None and isfinite(value) else None)
    return found


def weighted_values(name: str, state: Any, drawn: Any, **params: Any) -> list[float | None] | None:
    found = resolve(WEIGHTED[name].weighted)(state, drawn, **{**WEIGHTED[name].fixed, **params})
    return None if found is None else [v if isfinite(v) else None for v in found.tolist()]


def demand_rows(name: str, state: Rows, times: np.ndarray, **params: Any) -> None:
    """Over rows as units, and over groups of neighbouring rows."""
    codes = np.arange(state.n) // 2
    groups = Groups(codes, int(codes.max(initial=-1)) + 1)
    for drawn in (Multiplicities(times), Multiplicities(times[:, : groups.n], groups)):
        repeated = [state.take(np.repeat(np.arange(state.n), row)) for row in drawn.of_rows()]
        found = weighted_values(name, state, drawn, **params)
        assert found is None or found == values_of(name, repeated, **params)
        assert found is not None or name in ("rmse", "pearson", "r2", "explained_variance", "rm2", "rm2_deepdta", "mse")


def multiplicities(n: int):
    row = st.lists(st.sampled_from([0, 0, 1, 1, 2, 5]), min_size=n, max_size=n)
    return st.lists(row, min_size=1, max_size=4).map(lambda r: np.array(r, np.int64).reshape(len(r), n))


few = st.sampled_from([-2.0, -0.0, 0.0, 0.5, 1.0, 1.0 + 2**-52, 3.0])
wide = st.floats(-1e6, 1e6, allow_nan=False)
NUMBERS = [n for n, s in WEIGHTED.items() if s.truth[0][0].name == "value"]
TABLES = [n for n, s in WEIGHTED.items() if s.state == "counts"]


@st.composite
def number_rows(draw):
    n = draw(st.integers(1, 12))
    kind = draw(st.sampled_from([few, wide, st.just(0.1)]))
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    x, y = (np.array(draw(st.lists(kind, min_size=n, max_size=n))).astype(dtype) for _ in range(2))
    return rows({"value": x}, {"value": y}), draw(multiplicities(n))


@pytest.mark.parametrize("name", NUMBERS)
@laws
@given(number_rows())
def test_numbers(name, case):
    demand_rows(name, *case)


@st.composite
def scored_rows(draw, classes=2):
    n = draw(st.integers(1, 14))
    score = draw(st.lists(draw(st.sampled_from([few, wide])), min_size=n, max_size=n))
    label = draw(st.lists(st.integers(0, classes - 1), min_size=n, max_size=n))
    weight = np.array(draw(st.lists(st.integers(1, 4), min_size=n * classes, max_size=n * classes)), float)
    weight = weight.reshape(n, classes)
    known = tuple(range(classes))
    probability = weight / weight.sum(axis=1, keepdims=True)
    make = lambda fields: rows(fields, {"label": label}, classes=known)  # noqa: E731
    return make({"score": score}), make({"probability": probability}), draw(multiplicities(n))


@pytest.mark.parametrize("name", ["auroc", "average_precision"])
@pytest.mark.parametrize("positive", [0, 1])
@laws
@given(scored_rows())
def test_ranks_of_two_classes(name, positive, case):
    by_score, by_probability, times = case
    demand_rows(name, by_score, times, positive=positive)
    demand_rows(name, by_probability, times, positive=positive)


@pytest.mark.parametrize("name", ["auroc_ovr_macro", "brier_score", "log_loss", "expected_calibration_error"])
@pytest.mark.parametrize("classes", [2, 3])
@laws
@given(data=st.data())
def test_probabilities(name, classes, data):
    _, state, times = data.draw(scored_rows(classes))
    demand_rows(name, state, times)


@pytest.mark.parametrize("name", TABLES)
@laws
@given(data=st.data())
def test_tables(name, data):
    n = data.draw(st.integers(1, 15))
    truth, predicted = (data.draw(st.lists(st.integers(0, k), min_size=n, max_size=n)) for k in (2, 3))
    times = data.draw(multiplicities(n))
    true, called = labels(truth, (0, 1, 2)), labels(predicted, (0, 1, 2), extend=True)
    places, codes = np.unique(true.codes * len(called.classes) + called.codes, return_inverse=True)
    tables = Tables(
        Cells(places, true.classes, called.classes),
        np.array([np.bincount(np.repeat(codes, row), minlength=len(places)) for row in times]),
    )
    repeated = [
        Counts.of(np.repeat(true.codes, row), np.repeat(called.codes, row), true.classes, called.classes)
        for row in times
    ]
    assert weighted_values(name, repeated[0], tables) == values_of(name, repeated)


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("size", [10**6, 3 * 10**8, 10**10])
def test_products_of_large_counts(name, size):
    """Beyond 2^53, and beyond 64 bits, a ratio is still that of the integers."""
    rng = np.random.default_rng(1)
    table = rng.integers(1, size, (3, 3))
    state = Counts(table, (0, 1, 2), (0, 1, 2))
    found = weighted_values(name, state, Tables(Cells(np.arange(9), (0, 1, 2), (0, 1, 2)), table.reshape(1, 9)))
    assert found in (None, values_of(name, [state]))


@pytest.mark.parametrize("scale", [1e-200, 1e-160, 1e150, 1e300])
@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_far_from_one(name, scale):
    rng = np.random.default_rng(2)
    state = rows({"value": rng.normal(size=9) * scale}, {"value": rng.normal(size=9) * scale})
    times = rng.integers(0, 3, (3, 9))
    found = weighted_values(name, state, Multiplicities(times))
    if found is not None:
        assert found == values_of(name, [state.take(np.repeat(np.arange(9), row)) for row in times])


def test_several_features_are_left_to_the_rows():
    rng = np.random.default_rng(3)
    state = rows({"value": rng.normal(size=(8, 3))}, {"value": rng.normal(size=(8, 3))})
    times = rng.integers(0, 3, (4, 8))
    for name in NUMBERS:
        if not name.startswith("rm2"):
            found = weighted_values(name, state, Multiplicities(times))
            assert (found is None) == (name not in ("mse", "rmse", "mae"))
            if found is not None:
                assert found == values_of(name, [state.take(np.repeat(np.arange(8), row)) for row in times])
