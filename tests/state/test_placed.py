"""Placed rows: order and cutting leave no trace, repeats follow one rule, a refused update changes nothing."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from primabench_core.contract.ragged import Ragged
from primabench_core.errors import ContractError
from primabench_core.state.columns import FixedStore
from primabench_core.state.placed import PlacedRows, has_twins

KINDS = ("label", "score", "score64", "probability", "boxes", "text")


def make_columns(n, seed=0, kinds=KINDS):
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 4, n)
    every = {
        "label": rng.integers(0, 300, n),
        "score": rng.normal(size=n).astype(np.float32),
        "score64": rng.normal(size=n),
        "probability": rng.dirichlet(np.ones(3), n).astype(np.float32),
        "boxes": Ragged(rng.normal(size=(counts.sum(), 2)), counts),
        "text": np.array([f"é{rng.integers(9)}" * rng.integers(0, 3) for _ in range(n)], object),
    }
    return {k: every[k] for k in kinds}


def pick(columns, rows):
    rows = np.asarray(rows, np.int64)
    return {k: v.take(rows) if isinstance(v, Ragged) else v[rows] for k, v in columns.items()}


def parts(state):
    meta, arrays = state.to_buffers()
    return meta, {k: (a.dtype.str, a.shape, a.tobytes()) for k, a in arrays.items()}


def assert_equal_states(left, right):
    assert parts(left) == parts(right)


def whole(columns, n, **kw):
    state = PlacedRows(n, **kw)
    state.place(slice(0, n), columns)
    return state


kinds = st.lists(st.sampled_from(KINDS), min_size=1, unique=True)


@st.composite
def shardings(draw, n, repeats):
    order = draw(st.permutations(range(n)))
    if repeats:
        order = order + draw(st.lists(st.integers(0, n - 1), max_size=6))
    cuts = sorted(draw(st.lists(st.integers(0, len(order)), max_size=5)))
    return [order[a:b] for a, b in zip([0, *cuts], [*cuts, len(order)], strict=True)]


@given(st.data(), kinds, st.integers(1, 25))
def test_any_sharding_is_the_whole(data, kinds, n):
    columns = make_columns(n, kinds=kinds)
    one = whole(columns, n, duplicates="drop_identical")
    state = PlacedRows(n, duplicates="drop_identical")
    for shard in data.draw(shardings(n, repeats=True)):
        state.place(np.array(shard, np.int64), pick(columns, shard))
    assert state.n_seen == n
    assert len(state.missing_positions()) == 0
    assert_equal_states(state, one)


@given(st.data(), kinds, st.integers(1, 25))
def test_merge_laws(data, kinds, n):
    columns = make_columns(n, kinds=kinds)
    states = []
    for shard in data.draw(shardings(n, repeats=True)):
        states.append(PlacedRows(n, duplicates="drop_identical"))
        states[-1].place(np.array(shard, np.int64), pick(columns, shard))
    before = [parts(s) for s in states]
    empty = PlacedRows(n, duplicates="drop_identical")
    left = empty
    for s in states:
        left = left.merge(s)
    right = empty
    for s in reversed(states):
        right = s.merge(right)
    assert_equal_states(left, right)
    assert_equal_states(left, whole(columns, n, duplicates="drop_identical"))
    assert_equal_states(states[0].merge(*states[1:]), left)
    assert [parts(s) for s in states] == before
    assert_equal_states(pickle.loads(pickle.dumps(left)), left)


@given(st.data(), kinds)
def test_partial_states_travel(data, kinds):
    n = 12
    columns = make_columns(n, kinds=kinds)
    seen = data.draw(st.lists(st.integers(0, n - 1), unique=True))
    state = PlacedRows(n)
    state.place(np.array(seen, np.int64), pick(columns, seen))
    again = pickle.loads(pickle.dumps(state))
    assert_equal_states(again, state)
    assert again.seen_positions().tolist() == sorted(seen)
    assert again.missing_positions(2).tolist() == sorted(set(range(n)) - set(seen))[:2]
    assert again.coverage == len(seen) / n
    rest = sorted(set(range(n)) - set(seen))
    again.place(np.array(rest, np.int64), pick(columns, rest))
    assert_equal_states(again, whole(columns, n))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rule", ["refuse", "drop_identical"])
def test_a_bad_batch_touches_nothing(kind, rule):
    n = 10
    columns, other = make_columns(n, 0), make_columns(n, 1)
    state = PlacedRows(n, duplicates=rule, ids_of=lambda p: [f"cell{i}" for i in p])
    state.place(np.array([7, 2]), pick(columns, [7, 2]))
    before = parts(state)
    bad = pick(columns, [1, 7, 3]) | {kind: pick(other, [1, 7, 3])[kind]}
    if kind in ("text", "boxes"):  # random rows may agree by chance
        bad[kind] = (
            np.array(["x", "y", "z"], object) if kind == "text" else Ragged(np.ones((6, 2)), np.array([2, 2, 2]))
        )
    with pytest.raises(ContractError, match="cell7") as caught:
        state.place(np.array([1, 7, 3]), bad)
    assert "id" in str(caught.value)
    assert caught.value.violations[0].count == 1
    assert parts(state) == before
    state.place(np.array([1, 3]), pick(columns, [1, 3]))
    assert state.n_seen == 4


@pytest.mark.parametrize("kind", KINDS)
def test_twins_inside_the_first_batch(kind):
    columns = make_columns(3, kinds=[kind])
    twins = pick(columns, [0, 1, 0])
    state = PlacedRows(5, duplicates="drop_identical")
    state.place(np.array([4, 2, 4]), twins)
    assert state.n_seen == 2
    with pytest.raises(ContractError, match="4"):
        PlacedRows(5).place(np.array([4, 2, 4]), twins)
    different = pick(make_columns(40, kinds=[kind]), [0, 1, 2])
    if kind == "boxes":
        different = {kind: Ragged(np.arange(10.0).reshape(5, 2), np.array([2, 1, 2]))}
    if kind == "text":
        different = {kind: np.array(["a", "b", "c"], object)}
    fresh = PlacedRows(5, duplicates="drop_identical")
    with pytest.raises(ContractError, match="different content"):
        fresh.place(np.array([4, 2, 4]), different)
    assert fresh.n_seen == 0
    assert fresh.fields == ()


def test_conflicts_of_all_fields_are_told_at_once():
    columns, other = make_columns(4, 0, ("label", "score")), make_columns(4, 9, ("label", "score"))
    state = whole(columns, 4, duplicates="drop_identical")
    with pytest.raises(ContractError) as caught:
        state.place(slice(0, 4), other)
    assert {v.field for v in caught.value.violations} == {"label", "score"}


@pytest.mark.parametrize("first", [slice(0, 4), slice(0, 2)])
def test_the_buffer_of_the_caller_is_not_kept(first):
    x = np.array([1.0, 2.0, 3.0, 4.0])
    state = PlacedRows(4)
    state.place(first, {"x": x[first]})
    x[:] = 9
    assert state.column("x")[first].tolist() == [1.0, 2.0, 3.0, 4.0][first]
    with pytest.raises(ValueError, match="read-only"):
        state.column("x")[0] = 1


def test_float32_then_float64_is_float64_then_float32():
    a, b = np.array([0.1, 7.0], np.float32), np.array([0.1, 1 / 3])
    left, right = PlacedRows(5), PlacedRows(5)
    left.place(np.array([0, 1]), {"x": a})
    left.place(np.array([2, 3]), {"x": b})
    right.place(np.array([2, 3]), {"x": b})
    right.place(np.array([0, 1]), {"x": a})
    assert_equal_states(left, right)
    assert left.column("x")[:4].tolist() == [float(np.float32(0.1)), 7.0, 0.1, 1 / 3]
    assert left.missing_positions().tolist() == [4]
    assert_equal_states(left.merge(PlacedRows(5)), left)


def test_equal_numbers_of_other_precision_are_equal_content_and_others_are_not():
    state = PlacedRows(2, duplicates="drop_identical")
    state.place(slice(0, 1), {"x": np.array([0.5], np.float32)})
    state.place(slice(0, 1), {"x": np.array([0.5])})
    state.place(slice(1, 2), {"x": np.array([0.1], np.float32)})
    with pytest.raises(ContractError):
        state.place(slice(1, 2), {"x": np.array([0.1])})


def test_negative_zero_is_zero():
    for w in (slice(0, 2), np.array([0, 1])):
        left, right = PlacedRows(2, duplicates="drop_identical"), PlacedRows(2, duplicates="drop_identical")
        left.place(w, {"x": np.array([-0.0, 1.0])})
        right.place(w, {"x": np.array([0.0, 1.0])})
        assert_equal_states(left, right)
        left.place(w, {"x": np.array([0.0, 1.0])})
        assert_equal_states(left, right)


@pytest.mark.parametrize("top", [254, 255, 65534, 65535, 2**31])
def test_codes_widen_when_the_vocabulary_grows(top):
    state = PlacedRows(4)
    state.place(slice(0, 2), {"label": np.array([0, 1])})
    state.place(np.array([3]), {"label": np.array([top])})
    assert state.column("label").tolist() == [0, 1, -1, top]
    state.place(slice(2, 3), {"label": np.array([254], np.uint8)})
    assert state.column("label").tolist() == [0, 1, 254, top]


@given(st.lists(st.integers(0, 70_000), min_size=1), st.sampled_from([np.uint8, np.int16, np.int32, np.int64]))
def test_codes_of_any_type_and_size(codes, dtype):
    codes = np.array([min(c, np.iinfo(dtype).max - 1) for c in codes], dtype)
    state = PlacedRows(len(codes) + 1)
    for i in range(len(codes)):
        state.place(slice(i, i + 1), {"label": codes[i : i + 1]})
    assert state.column("label").tolist() == [*codes.tolist(), -1]


def test_a_negative_code_is_refused():
    state = PlacedRows(3)
    state.place(slice(0, 1), {"label": np.array([0])})
    with pytest.raises(ContractError, match="negative"):
        state.place(slice(1, 3), {"label": np.array([1, -1])})
    assert state.n_seen == 1


@pytest.mark.parametrize(
    "bad",
    [
        {"x": np.zeros((2, 2))},
        {"x": np.zeros(3)},
        {"x": np.zeros(1)},  # would broadcast
        {"x": np.zeros(2, np.int64)},
        {"x": np.array(["a", "b"], object)},
        {"x": Ragged(np.zeros((2, 1)), np.array([1, 1]))},
        {"y": np.zeros(2)},
        {"x": np.zeros(2), "y": np.zeros(2)},
        {},
    ],
)
@pytest.mark.parametrize("empty", [False, True])
def test_what_does_not_fit_is_refused(bad, empty):
    state = PlacedRows(4)
    if not empty:
        state.place(slice(0, 2), {"x": np.zeros(2)})
    elif not bad or any(len(v) == 2 for v in bad.values()):
        return
    before = parts(state)
    with pytest.raises(ContractError):
        state.place(slice(2, 4), bad)
    assert parts(state) == before


def test_strided_slices_and_empty_updates():
    x = np.arange(7.0)
    state = PlacedRows(7)
    state.place(slice(1, 7, 2), {"x": x[1::2]})
    state.place(slice(3, 3), {"x": x[:0]})
    state.place(np.zeros(0, np.int64), {"x": x[:0]})
    state.place(slice(0, 7, 2), {"x": x[::2]})
    assert state.column("x").tolist() == x.tolist()
    with pytest.raises(ContractError, match="again"):
        state.place(slice(2, 7, 2), {"x": x[2::2]})


@given(st.lists(st.tuples(st.integers(0, 4), st.sampled_from([-2.0, -1.0, 0.0, 1.0, 2.0])), min_size=1), st.data())
def test_max_abs_ignores_order(edges, data):
    expected = {}
    for p, v in edges:
        old = expected.get(p)
        expected[p] = v if old is None else max(old, v, key=lambda w: (abs(w), w))
    cut = data.draw(st.integers(0, len(edges)))
    state, other = (PlacedRows(5, duplicates="max_abs") for _ in range(2))
    for s, some in ((state, edges[:cut]), (other, edges[cut:])):
        s.place(np.array([p for p, _ in some], np.int64), {"weight": np.array([v for _, v in some])})
    merged = other.merge(state)
    assert_equal_states(merged, state.merge(other))
    assert merged.column("weight", fill=0.0).tolist() == [expected.get(p, 0.0) for p in range(5)]


def test_max_abs_needs_plain_reals():
    with pytest.raises(ContractError, match="label"):
        PlacedRows(2, duplicates="max_abs").place(slice(0, 2), make_columns(2, kinds=("label", "score")))


def test_recoded_replaces_codes_and_keeps_the_rest():
    columns = make_columns(4, kinds=("label", "score"))
    columns["label"] = np.array([0, 1, 2, 1])
    state = PlacedRows(6)
    state.place(slice(1, 5), columns)
    new = state.recoded("label", np.array([5, 300, 0]))
    assert new.column("label").tolist() == [-1, 5, 300, 0, 300, -1]
    assert state.column("label").tolist() == [-1, 0, 1, 2, 1, -1]
    assert new.column("score", np.arange(1, 5)).tolist() == columns["score"].tolist()


def test_states_of_other_truths_or_rules_do_not_merge():
    for other in (PlacedRows(3), PlacedRows(4, duplicates="drop_identical")):
        with pytest.raises(ValueError, match="merge"):
            PlacedRows(4).merge(other)
    with pytest.raises(ValueError, match="duplicates"):
        PlacedRows(4, duplicates="sometimes")


def test_rows_without_prediction_have_one_look_whatever_came_first():
    columns = make_columns(2)
    state = PlacedRows(4)
    state.place(np.array([3, 1]), columns)
    for name in ("score", "score64", "probability"):
        assert np.isnan(state.column(name)[[0, 2]]).all()
        assert state.column(name, np.array([0, 1]), fill=0.5).ravel()[0] == 0.5
        assert state.column(name)[3].tolist() == columns[name][0].tolist()
    assert state.column("label")[[0, 2]].tolist() == [-1, -1]
    assert state.column("text")[0] == ""
    assert state.column("boxes").counts[[0, 2]].tolist() == [0, 0]


def test_reset_forgets_fields_too():
    state = whole(make_columns(3), 3)
    state.reset()
    assert (state.n_seen, state.fields) == (0, ())
    state.place(slice(0, 1), {"new": np.zeros((1, 2))})
    assert state.fields == ("new",)


def test_an_empty_truth_is_covered():
    state = PlacedRows(0)
    assert state.coverage == 1.0
    assert len(state.missing_positions()) == 0


@pytest.mark.parametrize("n", [10, 100_000])
@pytest.mark.parametrize("k", [10, 5000])
def test_twins_are_found_by_both_ways(n, k):
    k = min(n, k)
    positions = np.random.default_rng(0).permutation(n)[:k]
    assert not has_twins(positions, n)
    positions[-1] = positions[0]
    assert has_twins(positions, n)


def test_large_blocks_take_the_same_path():
    n = 150_000
    rng = np.random.default_rng(0)
    columns = {"x": rng.normal(size=n).astype(np.float32), "p": rng.normal(size=(n, 2))}
    state, one = PlacedRows(n), whole(columns, n)
    order = rng.permutation(n)
    for part in np.array_split(order, 2):
        state.place(part, pick(columns, part))
    assert_equal_states(state, one)
    with pytest.raises(ContractError, match="150,000 rows"):
        state.place(slice(0, n), columns)


def test_sparse_rows_become_dense_and_half_precision_single():
    sparse = pytest.importorskip("scipy.sparse")
    dense = np.array([[0.0, 2.0], [1.0, 0.0]])
    state = PlacedRows(2)
    state.place(slice(0, 2), {"m": sparse.csr_matrix(dense), "h": np.array([1, 2], np.float16)})
    assert state.column("m").tolist() == dense.tolist()
    assert state.column("h").dtype == np.float32


@pytest.mark.parametrize("cut", [1, 2])
def test_an_interrupt_between_two_fields_leaves_the_rows_unseen(monkeypatch, cut):
    columns = make_columns(4, kinds=("label", "score"))
    state, calls, write = PlacedRows(4), [], FixedStore.write
    state.place(slice(0, 2), pick(columns, [0, 1]))
    before = parts(state)

    def interrupted(store, where, values):
        calls.append(1)
        if len(calls) == cut:
            raise KeyboardInterrupt
        write(store, where, values)

    monkeypatch.setattr(FixedStore, "write", interrupted)
    with pytest.raises(KeyboardInterrupt):
        state.place(slice(2, 4), pick(columns, [2, 3]))
    monkeypatch.undo()
    assert parts(state) == before
    state.place(slice(2, 4), pick(columns, [2, 3]))
    assert_equal_states(state, whole(columns, 4))
