"""Splits: disjoint, complete, every type on both sides, test cells censored, wrong lists refused."""

from __future__ import annotations

from collections import Counter
from importlib import resources

import numpy as np
import pytest
from primabench_task_singlecell.preparers import annotation, clustering
from primabench_task_singlecell.specs.annotation import PREPARE_PBMC68K, PREPARE_SYNTHETIC

from primabench_core import CorruptDataError, EvalData


class Reader:
    """Stands in for the store: three views and one id list."""

    def __init__(self, views: dict[str, EvalData], lists: dict[str, tuple[str, ...]] | None = None) -> None:
        self._views, self._lists = views, lists or {}

    def artifact(self, view: str) -> EvalData:
        return self._views[view]

    def id_list(self) -> dict[str, tuple[str, ...]]:
        return self._lists


def _few(*types: str | None, **views: EvalData) -> dict[str, EvalData]:
    """Views of a few cells called a, b, c …"""
    ids = [*"abcdefgh"][: len(types)]
    whole = EvalData({"label": np.asarray(types, object)}, ids=ids)
    hidden = EvalData({"label": np.full(len(types), None, object)}, ids=ids)
    return {"labelled": whole, "censored": hidden, "solution": whole, **views}


def _shipped(reference: str) -> dict[str, tuple[str, ...]]:
    package, _, path = reference.partition(":")
    lines = resources.files(package).joinpath(path).read_text("utf-8").splitlines()
    pairs = [line.split("\t") for line in lines]
    return {s: tuple(i for i, split in pairs if split == s) for s in ("train", "test")}


def _missing(label: object) -> np.ndarray:
    return np.asarray([value is None for value in np.asarray(label, object)])


def test_annotation_holds_out_donor_d3_and_hides_its_types(cells: EvalData, views: dict[str, EvalData]) -> None:
    splits = annotation.prepare(Reader(views, _shipped(PREPARE_SYNTHETIC.id_list)))
    assert set(np.asarray(splits.train["donor"])) == {"d1", "d2"}
    assert set(np.asarray(splits.test["donor"])) == {"d3"}
    assert not set(splits.train.ids) & set(splits.test.ids)
    assert len(splits.train.ids) + len(splits.test.ids) == cells.n
    assert not _missing(splits.train["label"]).any()
    assert _missing(splits.test["label"]).all()
    assert list(splits.solution.ids) == list(splits.test.ids)


def test_types_stay_with_their_cells(cells: EvalData, views: dict[str, EvalData]) -> None:
    truth = dict(zip(cells.ids, cells["label"], strict=True))
    splits = annotation.prepare(Reader(views, _shipped(PREPARE_SYNTHETIC.id_list)))
    for part in (splits.train, splits.solution):
        assert dict(zip(part.ids, part["label"], strict=True)) == {i: truth[i] for i in part.ids}
    assert set(splits.solution.fields) == {"label"}
    assert splits.solution.coords["classes"] == tuple(sorted(set(truth.values())))


def test_public_splits_carry_everything_but_the_answer(cells: EvalData, views: dict[str, EvalData]) -> None:
    splits = annotation.prepare(Reader(views, _shipped(PREPARE_SYNTHETIC.id_list)))
    whole = dict(zip(cells.ids, np.asarray(cells["expression"]), strict=True))
    for part in (splits.train, splits.test):
        assert part.coords["genes"] == cells.coords["genes"]
        for i, row in zip(part.ids, np.asarray(part["expression"]), strict=True):
            assert np.array_equal(row, whole[i])


@pytest.mark.parametrize(
    ("train", "test", "problem"),
    [
        (("a", "b", "c"), ("c", "d"), "both splits"),
        (("a", "b", "e"), ("c", "d"), "not in the dataset"),
        (("a", "b"), ("c",), "in no split"),
        ((), ("a", "b", "c", "d"), "no cell of type"),
        (("a", "c"), ("b", "d"), "no cell of type y"),
    ],
)
def test_a_list_that_does_not_fit_is_refused(train: tuple[str, ...], test: tuple[str, ...], problem: str) -> None:
    with pytest.raises(CorruptDataError, match=problem):
        annotation.prepare(Reader(_few("x", "x", "y", "x"), {"train": train, "test": test}))


NO_LABEL = EvalData({"expression": np.eye(2)}, ids=["a", "b"])
SWAPPED = EvalData({"label": np.asarray(["y", "x"], object)}, ids=["a", "b"])
OTHER = EvalData({"label": np.full(2, None, object)}, ids=["a", "c"])


@pytest.mark.parametrize(
    ("views", "problem"),
    [
        (_few("x", None), "without a type"),
        (_few("x", ""), "without a type"),
        (_few("x", "y", labelled=NO_LABEL), "no field 'label'"),
        (_few("x", "y", solution=NO_LABEL), "no field 'label'"),
        (_few("x", "y", solution=SWAPPED), "same types"),
        (_few("x", "y", censored=SWAPPED), "holds types"),
        (_few("x", "y", censored=OTHER), "does not hold the cells"),
        (_few("x", "y", labelled=EvalData({"label": np.asarray(["x", "y"], object)})), "need ids"),
    ],
)
def test_views_that_disagree_are_refused(views: dict[str, EvalData], problem: str) -> None:
    for prepare in (annotation.prepare, clustering.prepare):
        with pytest.raises(CorruptDataError, match=problem):
            prepare(Reader(views, {"train": ("a",), "test": ("b",)}))


def test_clustering_gives_every_cell_once_and_no_type(cells: EvalData, views: dict[str, EvalData]) -> None:
    splits = clustering.prepare(Reader(views))
    assert splits.train is None
    assert list(splits.test.ids) == list(cells.ids)
    assert _missing(splits.test["label"]).all()
    assert splits.test.coords["classes"] == ("alpha", "beta", "delta", "gamma")
    assert list(splits.solution["label"]) == list(cells["label"])


def test_pbmc68k_list_holds_out_half_of_each_type() -> None:
    lists = _shipped(PREPARE_PBMC68K.id_list)
    assert (len(lists["train"]), len(lists["test"])) == (353, 347)
    assert len({*lists["train"], *lists["test"]}) == 700
    assert all(list(ids) == sorted(ids) for ids in lists.values())


def test_lists_are_what_the_script_makes(make_split) -> None:
    pytest.importorskip("scanpy", reason="the cells of pbmc68k_reduced are a file of the scanpy package")
    assert make_split.main(["--check"]) == 0


def test_stratified_split_takes_the_lower_half_of_each_type(make_split) -> None:
    ids, types = [f"c{i}" for i in range(13)], ["a"] * 7 + ["b"] * 6
    splits = make_split.stratified(ids, types)
    tested = Counter(t for i, t in zip(ids, types, strict=True) if splits[i] == "test")
    assert tested == {"a": 3, "b": 3}
    shuffled = [ids[i] for i in np.random.default_rng(0).permutation(13)]
    assert make_split.stratified(shuffled, [types[ids.index(i)] for i in shuffled]) == splits
    assert make_split.stratified(ids, types, seed=2) != splits
