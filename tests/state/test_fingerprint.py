"""Fingerprints depend on the canonical content and on nothing else."""

from __future__ import annotations

import json
import struct
from hashlib import sha256

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from primabench_core.contract.ragged import Ragged
from primabench_core.state import fingerprint as fp
from primabench_core.state.fingerprint import fingerprint, ids_digest
from primabench_core.state.merkle import leaf, merkle_root
from primabench_core.state.placed import PlacedRows
from primabench_core.state.rows import Labels


def of(n=None, ids=None, **columns):
    first = next(iter(columns.values()), [])
    if n is None:
        n = len(first.codes) if isinstance(first, Labels) else len(first)
    return fingerprint(ids, columns, n=n)


def by_hand(n, ids, fields, **more):
    header = {"version": 1, "n": n, "ids": ids, "fields": fields, **more}
    return sha256(json.dumps(header, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def test_reals_by_definition():
    x = np.random.default_rng(0).normal(size=150_000)
    leaves = [leaf(x[i : i + 65_536].tobytes()) for i in range(0, len(x), 65_536)]
    field = {"name": "x", "kind": "float64", "width": [], "root": merkle_root(leaves).hex()}
    assert of(x=x) == by_hand(150_000, "rows:150000", [field])


@pytest.mark.parametrize("width", [1, 32, 33, 500])
def test_narrow_and_wide_rows_by_definition(width):
    x = np.random.default_rng(0).normal(size=(700, width)).astype(np.float32)
    rows = [r.astype(np.float64).tobytes() for r in x]
    content = b"".join(rows if width * 8 <= 256 else [sha256(r).digest() for r in rows])
    field = {"name": "x", "kind": "float64", "width": [width], "root": leaf(content).hex()}
    assert of(x=x) == by_hand(700, "rows:700", [field])


def test_text_labels_and_ids_by_definition():
    labels, ids = ["é", "T cell", "é"], ["a", "", "µ1"]

    def packed(texts):
        return b"".join(struct.pack("<I", len(t.encode())) + t.encode() for t in texts)

    field = {"name": "label", "kind": "text", "width": [], "root": leaf(packed(labels)).hex()}
    expected = by_hand(3, sha256(packed(ids)).hexdigest(), [field])
    assert fingerprint(ids, {"label": Labels(np.array([1, 0, 1]), ("T cell", "é"))}, n=3) == expected
    assert fingerprint(ids, {"label": np.array(labels, object)}, n=3) == expected
    assert fingerprint(ids, {"label": np.array(labels)}, n=3, ids_sha=ids_digest(ids, 3)) == expected


def test_ragged_by_definition():
    boxes = Ragged(np.array([[1, 2], [3, 4], [5, 6]]), np.array([2, 0, 1]))
    root = leaf(np.array([2, 0, 1]).tobytes() + np.arange(1.0, 7.0).tobytes()).hex()
    assert of(b=boxes) == by_hand(3, "rows:3", [{"name": "b", "kind": "ragged", "width": [2], "root": root}])
    assert of(b=boxes) == of(b=Ragged(boxes.values.astype(np.float32), boxes.counts))
    assert of(b=Ragged(np.empty((0, 2)), np.zeros(2, np.int64))) == of(
        b=Ragged(np.empty((0, 0)), np.zeros(2, np.int64))
    )


def test_dtype_layout_zero_and_nan_do_not_matter():
    x = np.array([[0.1, -0.0], [np.nan, 2.0]], np.float32)
    y = x.astype(np.float64) + 0.0
    y.view(np.uint64)[1, 0] = 0xFFF8000000000001
    assert of(x=x) == of(x=y) == of(x=np.asfortranarray(x)) == of(x=np.repeat(x, 2, axis=0)[::2])
    assert of(x=np.array([0.1], np.float32)) != of(x=np.array([0.1]))


def test_unused_classes_and_their_order_do_not_matter():
    for classes in ((3, 5, 9), ("b", "c", "z")):
        a = Labels(np.array([0, 1, 0]), classes)
        b = Labels(np.array([2, 0, 2]), (classes[1], classes[2], classes[0]))
        assert of(label=a) == of(label=b) != of(label=Labels(np.array([0, 2, 0]), classes))
    assert of(label=Labels(np.array([0, 1]), (0, 1))) == of(label=np.array([0, 1], np.int32))
    assert of(label=Labels(np.array([0, 1]), (0, 1))) != of(label=Labels(np.array([0, 1]), ("0", "1")))


def test_a_missing_label_is_no_class():
    for classes, other in (((0, 1), -1), (("a", "b"), "")):
        missing = of(label=Labels(np.array([0, 1, -1]), classes))
        assert missing not in (
            of(label=Labels(np.array([0, 1, 1]), classes)),
            of(label=Labels(np.array([0, 1, 2]), (*classes, other))),
        )
    assert of(text=np.array(["a", None], object)) != of(text=np.array(["a", ""], object))


def test_everything_that_counts_counts():
    x = np.array([1.0, 2.0])
    base = fingerprint(["a", "b"], {"x": x}, n=2)
    assert len(base) == 64
    others = [
        fingerprint(["b", "a"], {"x": x}, n=2),
        fingerprint(None, {"x": x}, n=2),
        fingerprint(["a", "b"], {"y": x}, n=2),
        fingerprint(["a", "b"], {"x": x[::-1]}, n=2),
        fingerprint(["a", "b"], {"x": x[:, None]}, n=2),
        fingerprint(["a", "b"], {"x": x}, n=2, salt=b"s" * 32),
        fingerprint(["a", "b"], {"x": x}, n=2, seen=np.array([0])),
        fingerprint(["a", "b"], {"x": x}, n=2, coords={"genes": ["g"]}),
        fingerprint(["a", "b"], {"x": x, "y": x}, n=2),
    ]
    assert len({base, *others}) == len(others) + 1
    assert ids_digest(["ab", "c"], 2) != ids_digest(["a", "bc"], 2)
    assert fingerprint(["a", "b"], {"y": x, "x": x}, n=2) == others[-1]


def test_rows_that_were_not_seen_do_not_count():
    a, b = np.array([1.0, 7.0, 3.0]), np.array([1.0, np.nan, 3.0])
    seen = np.array([0, 2])
    assert fingerprint(None, {"x": a}, n=3, seen=seen) == fingerprint(None, {"x": b}, n=3, seen=seen)
    assert fingerprint(None, {"x": a}, n=3, seen=np.arange(3)) == fingerprint(None, {"x": a}, n=3)


@given(st.permutations(range(12)), st.integers(0, 12))
def test_order_and_sharding_of_updates_do_not_matter(order, cut):
    rng = np.random.default_rng(0)
    columns = {"label": rng.integers(0, 3, 12), "score": rng.normal(size=12).astype(np.float32)}
    state = PlacedRows(12)
    for part in (order[:cut], order[cut:]):
        state.place(np.array(part, np.int64), {k: v[np.array(part, np.int64)] for k, v in columns.items()})
    placed = {"label": Labels(state.column("label"), (0, 1, 2)), "score": state.column("score")}
    assert fingerprint(None, placed, n=12) == fingerprint(None, columns, n=12)


def test_nothing():
    assert of(0, x=np.zeros(0)) != of(0, x=np.zeros((0, 2)))
    assert of(0) == by_hand(0, "rows:0", [])
    assert of(label=Labels(np.zeros(0, np.int64), ())) == of(label=np.zeros(0, np.int64))


def test_threads_that_hash_rows_change_no_bit(monkeypatch):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(701, 40)).astype(np.float32)
    seen = np.flatnonzero(rng.random(701) < 0.7)
    one = [fp.fingerprint(None, {"x": x}, n=701, seen=s) for s in (None, seen)]
    digests = fp.row_digests(x)
    monkeypatch.setattr(fp, "allowed", lambda most: min(most, 3))
    monkeypatch.setattr(fp, "_APART", 0)
    monkeypatch.setattr(fp, "_LARGE", 0)
    assert [fp.fingerprint(None, {"x": x}, n=701, seen=s) for s in (None, seen)] == one
    assert (fp.row_digests(x) == digests).all()
    assert fp.row_digests(x[:0]).shape == (0, 4)
