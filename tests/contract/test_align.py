"""Rows by id, columns by name."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from primabench_core.contract import align
from primabench_core.contract.align import IdIndex, find_repeats, join_names, unknown_ids
from primabench_core.errors import ContractError

text = st.text(min_size=0, max_size=6)
truths = st.one_of(
    st.lists(text, unique=True, max_size=40),
    st.integers(0, 40).map(lambda n: [f"c{i:03d}" for i in range(n)]),  # all of one width
)


@given(truths, st.data())
def test_every_id_is_found_and_nothing_else(truth, data):
    index = IdIndex(list(truth))
    place = {t: i for i, t in enumerate(truth)}
    for _ in range(3):
        pool = st.sampled_from(truth) | text if truth else text
        asked = data.draw(st.lists(pool, max_size=20))
        for form in (asked, tuple(asked), np.array([*asked, None], object)[:-1]):
            assert index.lookup(form).tolist() == [place.get(a, -1) for a in asked]


@given(st.integers(1, 60), st.integers(1, 5), st.integers(1, 9))
def test_loaders_in_order_and_with_strides_get_slices(n, world, batch):
    truth = [f"u{i}" for i in range(n)]
    for rank in range(world):
        index, mine = IdIndex(truth), truth[rank::world]
        for epoch in range(2):
            got = []
            for start in range(0, len(mine), batch):
                found = index.locate([str(t) for t in mine[start : start + batch]])
                if start and start + batch <= len(mine) and batch > 1 and (epoch or start > batch):
                    assert isinstance(found, slice)
                got += range(n)[found] if isinstance(found, slice) else found.tolist()
            assert [truth[i] for i in got] == mine


def test_a_slice_counts_its_rows_at_the_end_of_a_stride():
    index = IdIndex(list("abcde"))
    found = index.locate(["a", "d"])
    assert isinstance(found, slice)
    assert len(range(found.start, found.stop, found.step)) == 2
    assert list("abcde")[found] == ["a", "d"]


def test_twins_in_the_truth_are_refused_by_name():
    with pytest.raises(ContractError, match=r"an id again in 2 rows \(ids: [bd], [bd]\)"):
        IdIndex(["a", "b", "b", "c", "d", "d"])


@pytest.mark.parametrize("bad", [[1, 2], [None], ["a", 1], [["a"]], 3, [b"a"]], ids=repr)
def test_ids_that_are_no_text(bad):
    with pytest.raises(ContractError, match="ids: expected"):
        IdIndex(["a", "b"]).lookup(bad)


@pytest.mark.parametrize("spread", [1, 3])
def test_ids_with_one_hash_are_told_apart_by_their_text(monkeypatch, spread):
    monkeypatch.setattr(align, "_hashes", lambda ids: np.array([len(i) % spread for i in ids], np.uint64))
    truth = [f"id{i}" for i in range(40)]
    index = IdIndex(truth)
    assert index.lookup(["id39", "id0", "id7", "nope"]).tolist() == [39, 0, 7, -1]
    with pytest.raises(ContractError, match="an id again"):
        IdIndex([*truth, "id3"])


def test_ids_that_hold_the_separator():
    truth = ["a\0b", "a", "b\0", "c\0c"]
    index = IdIndex(truth)
    assert index.lookup(["b\0", "a", "a\0b", "b"]).tolist() == [2, 1, 0, -1]
    assert IdIndex(["a", "b", "x"]).lookup(["b\0a"]).tolist() == [-1]


def test_half_surrogate_pairs_are_refused_on_both_sides():
    for call in (lambda: IdIndex(["\ud800", "a"]), lambda: IdIndex(["b", "a"]).lookup(["a", "\ud800"])):
        with pytest.raises(ContractError, match="ids: expected text that UTF-8 can encode"):
            call()


def test_a_pickle_finds_ids_in_another_process(tmp_path):
    file = tmp_path / "index.pkl"
    file.write_bytes(pickle.dumps(IdIndex(["a", "b", "c", "d"])))
    read = f"pickle.loads(pathlib.Path({str(file)!r}).read_bytes())"
    code = f"import pickle, pathlib; print({read}.lookup(list('dxb')).tolist())"
    for seed in ("1", "2"):
        run = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, env={"PYTHONHASHSEED": seed}, check=True
        )
        assert run.stdout.strip() == "[3, -1, 1]"


def test_repeats_in_one_shard():
    assert find_repeats(np.array([5, 1, 5, 1, 1, 2])).tolist() == [1, 5]
    assert find_repeats(np.array([], int)).tolist() == []


def test_unknown_ids_say_what_they_nearly_are():
    truth = ["001", "b", "Cell"]
    for asked, hint in (("1", "'001'"), ("b ", "'b'"), ("cell", "'Cell'")):
        violation = unknown_ids([asked], np.array([-1]), truth)
        assert hint in str(violation)
    assert unknown_ids(["b"], np.array([1]), truth) is None
    many = unknown_ids([f"x{i}" for i in range(9)], np.full(9, -1), truth)
    assert "9 rows (ids: x0, x1, x2, x3, x4, …)" in str(many)


names = st.lists(st.text("ABCab ", min_size=1, max_size=3), unique=True, min_size=1, max_size=8)


@given(names, st.randoms())
def test_columns_come_into_the_expected_order(expected, random):
    shuffled = list(expected)
    random.shuffle(shuffled)
    order, violations = join_names(expected, shuffled, "gene")
    assert not violations
    assert (order is None) == (shuffled == expected)
    assert np.array(shuffled, object)[slice(None) if order is None else order].tolist() == expected


def test_names_that_do_not_join_are_all_named():
    order, violations = join_names(["A", "B", "C"], ["A", "Bx", "D", "A"], "gene")
    message = "\n".join(map(str, violations))
    assert order is None
    assert len(violations) == 3
    assert "a name again in 1 name (A)" in message
    assert "unknown genes in 2 names (Bx, D)" in message
    assert "missing genes in 2 names (B, C)" in message
    assert "classes: expected text" in str(join_names(["0", "1"], [0, 1], "class")[1][0])
    assert join_names([0, 1], [1, 0], "class")[0].tolist() == [1, 0]
    assert join_names([0, 1], [True, False], "class")[0] is not None


def test_names_of_a_private_truth_are_counted_and_never_shown():
    order, violations = join_names(["secret_a", "secret_b"], ["secret_aa", "mine"], "class", hidden=True)
    message = "\n".join(map(str, violations))
    assert order is None
    assert "unknown classes in 2 names (secret_aa, mine)" in message
    assert "missing classes in 2 names" in message
    assert "secret_b" not in message
    assert "did you mean" not in message
