"""Rows with ids of their own: canonical order, repeats, coverage of units, laws."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from primabench_core.contract.ragged import Ragged
from primabench_core.errors import ContractError
from primabench_core.state.open_rows import OpenRows

N_UNITS, N_ROWS = 4, 15


def make(seed=0):
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 3, N_ROWS)
    columns = {
        "expression": rng.normal(size=(N_ROWS, 3)).astype(np.float32),
        "score": rng.normal(size=N_ROWS),
        "label": rng.integers(0, 4, N_ROWS),
        "text": np.array([f"t{i % 3}" for i in range(N_ROWS)], object),
        "boxes": Ragged(rng.normal(size=(counts.sum(), 2)), counts),
    }
    return [f"r{(i * 7) % N_ROWS}é" for i in range(N_ROWS)], rng.integers(0, N_UNITS, N_ROWS), columns


def append(state, ids, units, columns, rows):
    rows = np.asarray(rows, np.int64)
    picked = {k: v.take(rows) if isinstance(v, Ragged) else v[rows] for k, v in columns.items()}
    state.append([ids[r] for r in rows], units[rows], picked)
    return state


def parts(state):
    meta, arrays = state.to_buffers()
    return meta, {k: (a.dtype.str, a.shape, a.tobytes()) for k, a in arrays.items()}


@given(st.permutations(range(N_ROWS)), st.lists(st.integers(0, N_ROWS - 1), max_size=5), st.data())
def test_laws(order, again, data):
    ids, units, columns = make()
    rows = [*order, *again]
    cuts = sorted(data.draw(st.lists(st.integers(0, len(rows)), max_size=4)))
    shards = [rows[a:b] for a, b in zip([0, *cuts], [*cuts, len(rows)], strict=True)]
    new = lambda: OpenRows(N_UNITS, duplicates="drop_identical")  # noqa: E731
    one = append(new(), ids, units, columns, range(N_ROWS))
    stream, states = new(), []
    for shard in shards:
        append(stream, ids, units, columns, shard)
        states.append(append(new(), ids, units, columns, shard))
    before = [parts(s) for s in states]
    left, right = new().merge(*states), new()
    for s in reversed(states):
        right = s.merge(right)
    assert parts(stream) == parts(left) == parts(right) == parts(one) == parts(pickle.loads(pickle.dumps(one)))
    assert [parts(s) for s in states] == before


def test_canonical_order_and_coverage():
    ids, units, columns = make()
    state = append(OpenRows(6), ids, units, columns, range(N_ROWS))
    expected = sorted(range(N_ROWS), key=lambda i: (units[i], ids[i]))
    assert state.ids == [ids[i] for i in expected]
    assert state.units.tolist() == [units[i] for i in expected]
    assert state.column("expression").tolist() == columns["expression"][expected].tolist()
    assert state.column("boxes").values.tolist() == columns["boxes"].take(np.array(expected)).values.tolist()
    assert state.n_seen == len(set(units.tolist()))
    assert state.missing_positions().tolist() == sorted(set(range(6)) - set(units.tolist()))
    assert state.coverage == state.n_seen / 6
    state.reset()
    assert (state.n_rows, state.n_seen, state.fields) == (0, 0, ())


@pytest.mark.parametrize("rule", ["refuse", "drop_identical"])
@pytest.mark.parametrize("field", ["expression", "score", "label", "text", "boxes", "unit"])
def test_another_content_is_refused_and_touches_nothing(rule, field):
    ids, units, columns = make()
    state = append(OpenRows(N_UNITS, duplicates=rule), ids, units, columns, [3, 4, 5])
    before = parts(state)
    changed, other_units = dict(columns), units
    if field == "unit":
        other_units = (units + 1) % N_UNITS
    elif field == "text":
        changed["text"] = columns["text"] + "x"
    elif field == "boxes":
        changed["boxes"] = Ragged(np.zeros((N_ROWS * 3, 2)), np.full(N_ROWS, 3))
    else:
        changed[field] = columns[field] + 1
    with pytest.raises(ContractError, match=ids[4]) as caught:
        append(state, ids, other_units, changed, [1, 4])
    assert parts(state) == before
    if rule == "drop_identical":
        assert [v.field for v in caught.value.violations] == [field]


def test_twins_in_one_batch():
    for rule in ("refuse", "drop_identical"):
        for x, fits in ((np.array([1.0, 2.0, 1.0]), rule == "drop_identical"), (np.array([1.0, 2.0, 3.0]), False)):
            state = OpenRows(2, duplicates=rule)
            if fits:
                state.append(["a", "b", "a"], np.array([0, 1, 0]), {"x": x})
                assert state.ids == ["a", "b"]
            else:
                with pytest.raises(ContractError, match="id"):
                    state.append(["a", "b", "a"], np.array([0, 1, 0]), {"x": x})
                assert state.n_rows == 0


def test_rows_without_ids_come_once():
    x = np.arange(12.0)
    state = OpenRows(2)
    state.append(None, np.array([1, 0] * 6), {"x": x})
    assert state.column("x").tolist() == [*x[1::2], *x[::2]]
    assert parts(pickle.loads(pickle.dumps(state))) == parts(state)
    for ids in (None, ["a"]):
        with pytest.raises(ContractError, match="ids"):
            state.append(ids, np.array([0]), {"x": x[:1]})
    with pytest.raises(ContractError, match="ids"):
        state.merge(state.copy())
    assert parts(OpenRows(2).merge(state)) == parts(state.merge(OpenRows(2))) == parts(state)


def test_an_empty_update_leaves_no_trace():
    state = OpenRows(2)
    state.append([], np.zeros(0, np.int64), {"x": np.zeros(0)})
    assert parts(state) == parts(OpenRows(2))
    assert state.n_rows == 0


@pytest.mark.parametrize(
    "columns", [{}, {"y": np.zeros(1)}, {"x": np.zeros((1, 2))}, {"x": np.zeros(2)}, {"x": np.zeros(1, np.int64)}]
)
def test_what_does_not_fit_is_refused(columns):
    state = OpenRows(2)
    state.append(["a"], np.array([0]), {"x": np.array([1.0])})
    before = parts(state)
    with pytest.raises(ContractError):
        state.append(["b"], np.array([0]), columns)
    with pytest.raises(ContractError, match="ids"):
        state.append(["b", "c"], np.array([0]), {"x": np.array([1.0])})
    assert parts(state) == before


def test_the_buffer_of_the_caller_is_not_kept():
    x, units = np.zeros((1, 2)), np.array([1])
    state = OpenRows(2)
    state.append(["a"], units, {"x": x})
    x[:], units[:] = 5, 0
    assert state.column("x").tolist() == [[0.0, 0.0]]
    assert state.units.tolist() == [1]


def test_recoded():
    state = OpenRows(1)
    state.append(["b", "a"], np.array([0, 0]), {"label": np.array([0, 1])})
    assert state.recoded("label", np.array([7, 8])).column("label").tolist() == [8, 7]
    assert state.column("label").tolist() == [1, 0]
