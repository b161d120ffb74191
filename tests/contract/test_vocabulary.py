"""Codes of classes, whatever the order in which unknown ones arrive."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from primabench_core.contract.arrays import as_labels
from primabench_core.contract.vocabulary import Vocabulary

classes = st.one_of(
    st.integers(1, 6).map(lambda k: list(range(k))),
    st.lists(st.integers(-50, 50), min_size=1, max_size=6, unique=True),
    st.lists(st.integers(-(2**62), 2**62), min_size=1, max_size=6, unique=True),
    st.lists(st.text("abZ é", min_size=1, max_size=3).filter(str.strip), min_size=1, max_size=6, unique=True),
)


@given(classes, st.data())
def test_codes_name_the_class(known, data):
    pool = [*known, "q", "r"] if isinstance(known[0], str) else [*known, 1000, -1000, 2**62 + 1]
    labels = data.draw(st.lists(st.sampled_from(pool), min_size=1, max_size=20))
    vocabulary = Vocabulary(known)
    codes = vocabulary.encode(as_labels(labels))
    assert codes.dtype == np.int64
    assert [vocabulary.classes[c] for c in codes] == labels
    assert vocabulary.classes[: len(known)] == tuple(known)


@given(classes, st.data())
def test_order_of_arrival_leaves_no_trace(known, data):
    pool = [*known, "q", "r", "s"] if isinstance(known[0], str) else [*known, 1000, -1000, 77]
    shards = data.draw(st.lists(st.lists(st.sampled_from(pool), max_size=5), max_size=5))
    orders = [shards, shards[::-1], [[v for s in shards for v in s]]]
    seen = []
    for order in orders:
        vocabulary = Vocabulary(known)
        by_shard = [vocabulary.encode(as_labels(s)) for s in order]
        found, remap = vocabulary.canonical()
        seen.append((found, sorted(tuple(remap[c].tolist()) for c in by_shard) if order is not orders[2] else None))
    assert seen[0] == seen[1]
    assert seen[0][0] == seen[2][0]
    assert list(seen[0][0][: len(known)]) == known
    assert list(seen[0][0][len(known) :]) == sorted(seen[0][0][len(known) :])


def test_fast_path_gives_up_instead_of_guessing():
    contiguous = Vocabulary(range(3))
    for bad in ([-1], [3], [2**63 - 1], [-(2**63)]):
        assert contiguous.encode_fast(np.array(bad)) is None
    assert contiguous.encode_fast(np.array([2, 0])).tolist() == [2, 0]
    assert contiguous.encode_fast(np.array([0.0])) is None
    assert contiguous.encode_fast(np.zeros((2, 1), int)) is None
    gaps = Vocabulary([2, 9])
    assert gaps.encode_fast(np.array([9, 2, 9])).tolist() == [1, 0, 1]
    assert gaps.encode_fast(np.array([3])) is None
    text = Vocabulary(["1", "b"])
    assert text.encode_fast(np.array(["b", "1"])).tolist() == [1, 0]
    for bad in ([1, "b"], ["b", None], ["b", float("nan")], [["b"], "b"]):
        array = np.empty(2, object)
        array[:] = bad
        assert text.encode_fast(array) is None


def test_strided_labels_are_read_right():
    assert Vocabulary(range(5)).encode_fast(np.arange(10)[:5][::2]).tolist() == [0, 2, 4]


def test_text_and_integers_never_meet():
    with pytest.raises(TypeError, match="text where classes are integers"):
        Vocabulary([0, 1]).encode(as_labels(["0"]))
    with pytest.raises(TypeError, match="integers where classes are text"):
        Vocabulary(["0"]).encode(as_labels([0]))
    opened = Vocabulary()
    opened.encode(as_labels([3]))
    assert opened.mismatch(as_labels(["3"]))
    for bad in ([0, "a"], ["a", "a"], [1, 1]):
        with pytest.raises(ValueError, match="classes must be"):
            Vocabulary(bad)


def test_true_is_the_class_1():
    assert Vocabulary([np.int64(0), True]).classes == (0, 1)


def test_unused_extras_leave_and_unused_known_classes_stay():
    vocabulary = Vocabulary(["a", "b"])
    codes = vocabulary.encode(as_labels(["z", "a", "y"]))
    found, remap = vocabulary.canonical(codes[1:])
    assert found == ("a", "b", "y")
    assert remap[codes[1:]].tolist() == [0, 2]
    assert vocabulary.canonical(np.array([-1, 0]))[0] == ("a", "b")


def test_what_a_refused_shard_added_is_forgotten():
    vocabulary = Vocabulary([0, 1])
    vocabulary.encode(as_labels([7]))
    vocabulary.truncate(2)
    assert vocabulary.classes == (0, 1)
    assert vocabulary.encode_fast(np.array([1])).tolist() == [1]
    with pytest.raises(ValueError, match="fixed"):
        vocabulary.truncate(1)


def test_vocabularies_of_two_runs_come_together():
    left, right = Vocabulary(["a"]), Vocabulary(["a"])
    left.encode(as_labels(["x", "y"]))
    codes = right.encode(as_labels(["y", "a", "z"]))
    remap = left.absorb(right)
    assert [left.classes[remap[c]] for c in codes] == ["y", "a", "z"]
    with pytest.raises(ValueError, match="different truths"):
        left.absorb(Vocabulary(["b"]))
    opened, other = Vocabulary(), Vocabulary()
    opened.encode(as_labels([1]))
    other.encode(as_labels(["1"]))
    with pytest.raises(ValueError, match="text labels"):
        opened.absorb(other)


def test_it_pickles_and_copies():
    vocabulary = Vocabulary([5, 6])
    vocabulary.encode(as_labels([9]))
    for twin in (pickle.loads(pickle.dumps(vocabulary)), vocabulary.copy()):
        assert twin.classes == (5, 6, 9)
        assert twin.n_known == 2
        twin.encode(as_labels([10]))
    assert len(vocabulary) == 3


def test_missing_truth_gets_minus_one():
    assert Vocabulary(["a"]).encode(as_labels(["a", None], nullable=True)).tolist() == [0, -1]
    assert Vocabulary([4]).encode(as_labels([4, None], nullable=True)).tolist() == [0, -1]


def test_sorted_from_what_occurs():
    assert Vocabulary.sorted_from(as_labels([3, 1, 3])).classes == (1, 3)
    assert Vocabulary.sorted_from(as_labels(["b", None, "B"], nullable=True)).classes == ("B", "b")
