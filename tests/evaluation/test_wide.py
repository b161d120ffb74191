"""Wide fields are summed, not kept: the same bits as rows, in any cut and order, with repeats at the end of shards."""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from primabench_core.discovery.metrics import resolve_metric
from primabench_core.errors import ContractError
from primabench_core.evaluation.evaluation import Evaluation

METRICS = ["mse", "rmse", "mae", "r2", "explained_variance", "pearson", "pearson{per: feature}"]


def sides(n=60, m=40, dtype=np.float32, seed=0):
    rng = np.random.default_rng(seed)
    y = (rng.normal(size=(n, m)) * 10.0 ** rng.integers(-3, 4, m) + rng.choice([0.0, 1e6], m)).astype(dtype)
    x = (y + rng.normal(size=(n, m))).astype(dtype)
    y[:, 3], x[:, 5] = 0.1, 0.25
    return x, y


def run_of(y, metrics=METRICS, *, rows=False, **options):
    run = Evaluation(metrics=metrics, truth={"value": y}, **options)
    run._intake.keeps_rows = rows
    return run


def bits(result):
    return [(r.name, r.value, r.reason, r.n, dict(r.per_unit), dict(r.n_excluded)) for r in result.results]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sums_give_what_rows_give(dtype):
    x, y = sides(dtype=dtype)
    found = {}
    for rows in (False, True):
        run = run_of(y, rows=rows)
        run.update(value=x, positions=range(len(x)))
        assert (run._intake.wide is None) == rows
        found[rows] = run.compute()
    assert bits(found[False]) == bits(found[True])
    assert found[False].scores_hash == found[True].scores_hash
    assert found[False].predictions_sha256 == found[True].predictions_sha256


@settings(deadline=None, max_examples=25)
@given(st.permutations(range(30)), st.lists(st.integers(0, 30), max_size=4), st.booleans())
def test_any_cut_and_order(order, cuts, travels):
    x, y = sides(30)
    whole = run_of(y)
    whole.update(value=x, positions=range(30))
    expected = whole.compute()
    cuts = [0, *sorted(cuts), 30]
    one, parts = run_of(y), []
    for a, b in pairwise(cuts):
        where = np.array(order[a:b], np.int64)
        one.update(value=x[where].astype(np.float64), positions=where)
        part = run_of(y)
        part.update(value=x[where], positions=where)
        parts.append(pickle.loads(pickle.dumps(part)) if travels else part)
    merged = parts[0].merge(*parts[1:])
    for found in (one.compute(), merged.compute()):
        assert bits(found) == bits(expected)
        assert (found.scores_hash, found.predictions_sha256) == (expected.scores_hash, expected.predictions_sha256)


@pytest.mark.parametrize("n", [1, 7, 10, 23])
@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_padding_of_a_sampler_counts_once(n, ranks):
    x, y = sides(n)
    whole = run_of(y)
    whole.update(value=x, positions=range(n))
    order = np.random.default_rng(n).permutation(n)
    padded = np.resize(order, -(-n // ranks) * ranks)
    parts = []
    for rank in range(ranks):
        part = run_of(y)
        for row in padded[rank::ranks].reshape(-1, 1):
            part.update(value=x[row], positions=row)
        parts.append(part)
    forward, backward = parts[0].merge(*parts[1:]), parts[-1].merge(*parts[-2::-1])
    assert bits(forward.compute()) == bits(backward.compute()) == bits(whole.compute())


def test_repeats_inside_a_state(monkeypatch):
    x, y = sides()
    whole = run_of(y)
    whole.update(value=x, positions=range(60))
    run = run_of(y)
    run.update(value=x[:40], positions=range(40))
    where = np.array([39, 59, 40, 59, *range(41, 59)])
    run.update(value=x[where], positions=where)
    assert bits(run.compute()) == bits(whole.compute())
    other = x[50:51] + 1
    before = run._intake.to_buffers()["wide"]
    for _ in range(2):
        with pytest.raises(ContractError, match="different content") as error:
            run.update(value=other, positions=[50])
        assert [v.field for v in error.value.violations] == ["value"]
    np.testing.assert_equal(run._intake.to_buffers()["wide"], before)
    assert bits(run.compute()) == bits(whole.compute())


def test_rows_that_two_states_have_added_are_an_error_with_a_remedy(monkeypatch):
    from primabench_core.state import wide_sums

    monkeypatch.setattr(wide_sums, "TAIL_ROWS", 4)
    x, y = sides()
    left, right = run_of(y, ["pearson"]), run_of(y, ["pearson"])
    for start in range(0, 40, 4):
        left.update(value=x[start : start + 4], positions=range(start, start + 4))
    for start in range(56, -1, -4):
        right.update(value=x[start : start + 4], positions=range(start, start + 4))
    with pytest.raises(ContractError, match="two shards have added") as error:
        left.merge(right)
    assert error.value.violations[0].count > 0
    assert error.value.violations[0].remedy
    right = run_of(y, ["pearson"])
    right.update(value=x[38:], positions=range(38, 60))  # 38 and 39 are still in the tail of the left
    whole = run_of(y, ["pearson"])
    whole.update(value=x, positions=range(60))
    assert bits(left.merge(right).compute()) == bits(right.merge(left).compute()) == bits(whole.compute())


@pytest.mark.parametrize("hashed", [False, True])
def test_another_content_on_another_rank_is_found(hashed):
    x, y = sides()
    left, right = (run_of(y, hash_predictions=hashed) for _ in range(2))
    left.update(value=x[:30], positions=range(30))
    x[29, 39] = np.nextafter(x[29, 39], np.float32(9e9))
    right.update(value=x[29:], positions=range(29, 60))
    with pytest.raises(ContractError, match="different content"):
        left.merge(right)


def test_without_a_hash_nothing_is_claimed():
    x, y = sides()
    plain, hashed = run_of(y, hash_predictions=False), run_of(y)
    for run in (plain, hashed):
        run.update(value=x, positions=range(60))
    found = plain.compute()
    assert bits(found) == bits(hashed.compute())
    assert found.predictions_sha256 == ""
    assert found.predictions_reason


def test_missing_truth_and_partial_coverage():
    x, y = sides()
    found = []
    for rows in (False, True):
        run = run_of(y, partial=True, rows=rows)
        run.update(value=x[5:50], positions=range(5, 50))
        found.append(run.compute())
    assert bits(found[0]) == bits(found[1])
    assert found[0].coverage == 0.75


def test_one_metric_that_needs_rows_keeps_them_for_all():
    x, y = sides()
    run = run_of(y, ["pearson", "spearman"])
    run.update(value=x, positions=range(60))
    assert run._intake.wide is None
    alone = run_of(y, ["pearson"])
    alone.update(value=x, positions=range(60))
    assert bits(alone.compute())[0] == bits(run.compute())[0]


def test_narrow_fields_keep_rows():
    x, y = sides(m=32)
    run = run_of(y)
    run.update(value=x, positions=range(60))
    assert run._intake.wide is None


def test_intervals():
    x, y = sides()
    found = []
    for rows in (False, True):
        run = run_of(y, ["mse", "mae", "pearson"], rows=rows)
        run.update(value=x, positions=range(60))
        found.append(run.compute(ci=0.9))
    assert found[0]["mse"].interval == found[1]["mse"].interval
    assert found[0]["mae"].interval == found[1]["mae"].interval
    assert found[0]["pearson"].interval.low is None
    assert "not kept" in found[0]["pearson"].interval.reason


def test_the_state_does_not_grow_with_the_width():
    from primabench_core.state import wide_sums

    sizes = {}
    for m in (40, 400):
        n = 3_000
        x = np.random.default_rng(0).normal(size=(n, m)).astype(np.float32)
        run = run_of(x, ["mse"])
        run.update(value=x, positions=range(n))
        _, arrays = run._intake.placed.to_buffers()
        sizes[m] = sum(a.nbytes for a in arrays.values()) / n
        assert not run._intake.wide.sums
    assert sizes[40] == sizes[400] <= 40
    state = wide_sums.WideSums(400)
    state.add(np.arange(n), x, x)
    assert state.tail_rows <= n


def unanswered(metrics=METRICS):
    """The metrics, over a truth that may lack answers."""
    found = []
    for text in metrics:
        metric = resolve_metric(text)
        sides = tuple(tuple(evolve(f, nullable=True) for f in options) for options in metric.spec.truth)
        found.append(evolve(metric, spec=evolve(metric.spec, truth=sides)))
    return found


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_without_an_answer_are_in_no_sum(dtype):
    """A row with one missing answer is no row of the metric, on both ways, in any order, and is counted."""
    x, y = sides(dtype=dtype)
    y[[3, 20]] = np.nan
    y[41, 7] = np.nan
    gone = [3, 20, 41]
    order = np.random.default_rng(1).permutation(60)
    found = []
    for rows in (False, True):
        run = run_of(y, unanswered(), rows=rows)
        for part in np.array_split(order, 4):
            run.update(value=x[part], positions=part)
        found.append(run.compute())
    assert bits(found[0]) == bits(found[1])
    assert found[0].scores_hash == found[1].scores_hash
    kept = np.delete(np.arange(60), gone)
    alone = run_of(y[kept])
    alone.update(value=x[kept], positions=range(57))
    for result, reference in zip(found[0].results, alone.compute().results, strict=True):
        assert (result.value, dict(result.per_unit)) == (reference.value, dict(reference.per_unit))
        assert result.n == reference.n
        assert sum(result.n_excluded.values()) == 3


def test_a_merge_keeps_rows_without_an_answer_out():
    x, y = sides()
    y[10] = np.nan
    parts = []
    for where in (np.arange(0, 30), np.arange(25, 60)):  # five rows twice
        parts.append(run_of(y, unanswered(["mse", "pearson{per: feature}"])))
        parts[-1].update(value=x[where], positions=where)
    whole = run_of(y, unanswered(["mse", "pearson{per: feature}"]))
    whole.update(value=x, positions=range(60))
    assert bits(parts[0].merge(parts[1]).compute()) == bits(whole.compute())
