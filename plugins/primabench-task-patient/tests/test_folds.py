"""Folds that ship with data: each unit once, stratified, patients whole, the same on every machine."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from primabench_task_patient.folds import make_folds

from primabench_core import UsageError


def test_known_folds():
    # a change here would change published folds: never a new expectation
    names = [f"s{i}" for i in range(8)]
    assert "".join(make_folds(names, labels=list("aaaabbbb"), folds=4, seed="k")) == "32010213"
    assert "".join(make_folds(names, values=range(8), folds=3, seed="k")) == "02102101"


@settings(deadline=None, max_examples=60, derandomize=True)
@given(labels=st.lists(st.sampled_from("abc"), min_size=12, max_size=80), folds=st.integers(2, 6))
def test_classes_are_spread_evenly(labels, folds):
    found = make_folds([f"s{i}" for i in range(len(labels))], labels=labels, folds=folds)
    for name, total in Counter(labels).items():
        held = Counter(fold for fold, label in zip(found, labels, strict=True) if label == name)
        assert max(held.values()) <= -(-total // folds)
        assert min(held[str(fold)] for fold in range(folds)) >= total // folds


@settings(deadline=None, max_examples=60, derandomize=True)
@given(values=st.lists(st.floats(-5, 5), min_size=10, max_size=60), folds=st.integers(2, 5))
def test_numbers_span_the_range_in_every_fold(values, folds):
    found = make_folds([f"s{i}" for i in range(len(values))], values=values, folds=folds)
    sizes = Counter(found)
    assert max(sizes.values()) - min(sizes.values()) <= -(-len(values) // folds)
    steps = sorted(values)  # every whole band of neighbours meets every fold: any 2·folds in a row do
    for fold in range(folds):
        inside = sorted(v for v, f in zip(values, found, strict=True) if f == str(fold))
        assert inside[0] <= steps[folds - 1]
        assert inside[-1] >= steps[-(2 * folds - 1)]


@settings(deadline=None, max_examples=40, derandomize=True)
@given(groups=st.lists(st.integers(0, 30), min_size=40, max_size=90), seed=st.text(max_size=3))
def test_patients_stay_whole_and_order_does_not_matter(groups, seed):
    if len(set(groups)) < 5:
        return
    names, units = [f"s{i}" for i in range(len(groups))], [f"p{g}" for g in groups]
    labels = ["x" if g % 3 else "y" for g in groups]
    found = make_folds(names, labels=labels, groups=units, folds=5, seed=seed)
    assert all(len({f for f, u in zip(found, units, strict=True) if u == unit}) == 1 for unit in set(units))
    order = np.random.default_rng(0).permutation(len(names))
    again = make_folds(
        [names[i] for i in order], labels=[labels[i] for i in order], groups=[units[i] for i in order], seed=seed
    )
    sizes = [sorted(Counter(f).values()) for f in (found, again)]
    assert sizes[0] == sizes[1]


def test_refusals():
    with pytest.raises(UsageError, match="one of them"):
        make_folds(["a", "b"])
    with pytest.raises(UsageError, match="one of them"):
        make_folds(["a", "b"], labels=["x", "y"], values=[1, 2])
    with pytest.raises(UsageError, match="cannot make"):
        make_folds(["a", "b"], labels=["x", "y"], groups=["p", "p"], folds=2)
    with pytest.raises(UsageError, match="once"):
        make_folds(["a", "a"], labels=["x", "y"], folds=2)
