"""Preparers refuse data that would make a score meaningless, and keep what they must."""

from __future__ import annotations

import numpy as np
import pytest
from primabench_task_genome.preparers import sequences, tracks, variants
from primabench_task_genome.synthetic import recipes

from primabench_core import CorruptDataError, EvalData


class Reader:
    """Stands in for the store."""

    def __init__(self, parts, lists=None):
        self._parts, self._lists = parts, lists or {}

    def artifact(self, view, name="data", split=""):
        return self._parts[view, split]

    def artifacts(self):
        return tuple(sorted((view, "data", split) for view, split in self._parts))

    def id_list(self):
        return self._lists


def views(build):
    return {(a.view, a.split): a.data for a in build(None)}


def changed(parts, view, name, place, value):
    data = parts[view, ""]
    column = np.asarray(data[name]).copy()
    column[place] = value
    return {**parts, (view, ""): EvalData({**data.fields, name: column}, ids=data.ids, coords=data.coords)}


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [("label", 2, "0 or 1"), ("window", "N" * 33, "not in the middle"), ("pos", None, "twice")],
)
def test_variants_that_cannot_be_scored_are_refused(name, value, said):
    parts = views(recipes.build_labels)
    if name == "pos":
        data = parts["labelled", ""]
        rows = np.r_[0, 0, 2 : data.n]
        twice = {k: np.asarray(v)[rows] for k, v in data.fields.items()}
        parts["labelled", ""] = EvalData(twice, ids=data.ids)
    else:
        parts = changed(parts, "labelled", name, 0, value)
    with pytest.raises(CorruptDataError, match=said):
        variants.prepare_labels(Reader(parts))


def test_variants_keep_their_order_gene_and_chromosome():
    parts = views(recipes.build_labels)
    splits = variants.prepare_labels(Reader(parts))
    assert splits.train is None
    assert splits.solution.ids == splits.test.ids
    assert set(splits.solution.fields) == {"label", "chromosome", "gene"}
    truth = dict(zip(parts["labelled", ""].ids, parts["labelled", ""]["label"].tolist(), strict=True))
    assert [truth[i] for i in splits.solution.ids] == splits.solution["label"].tolist()


@pytest.mark.parametrize("nothing", ["", None, float("nan")])
def test_variants_without_a_gene_are_not_taken_for_one_gene(nothing):
    parts = views(recipes.build_labels)
    ids = list(parts["labelled", ""].ids)
    nameless = changed(changed(parts, "labelled", "gene", 0, nothing), "labelled", "gene", 5, nothing)
    found = variants.prepare_labels(Reader(nameless)).solution
    genes = dict(zip(found.ids, found["gene"].tolist(), strict=True))
    assert [genes[ids[i]] for i in (0, 5)] == [f"no gene ({ids[i]})" for i in (0, 5)]
    assert len(set(genes.values())) == 14


def test_effects_without_significance_are_legal():
    parts = views(recipes.build_effects)
    data = parts["labelled", ""]
    bare = EvalData({k: v for k, v in data.fields.items() if k != "significant"}, ids=data.ids)
    assert set(variants.prepare_effects(Reader({**parts, ("labelled", ""): bare})).solution.fields) == {
        "value",
        "chromosome",
    }


def labelled(sequences_, labels, prefix):
    fields = {"sequence": np.asarray(sequences_, object), "label": np.asarray(labels, object)}
    return EvalData(fields, ids=[f"{prefix}-{i}" for i in range(len(labels))])


def hidden(data):
    return EvalData({**data.fields, "label": np.full(data.n, None, object)}, ids=data.ids)


def test_dev_goes_with_train_and_says_so():
    train = labelled(["ACGT", "AAAA"], ["0", "1"], "train")
    dev = labelled(["CCCC"], ["1"], "dev")
    test = labelled(["GGGA", "ACGT", "TTTT"], ["0", "0", "1"], "test")
    parts = {("labelled", "train"): train, ("labelled", "dev"): dev, ("labelled", "test"): test}
    splits = sequences.prepare_published(Reader({**parts, ("censored", "test"): hidden(test)}))
    assert splits.train.n == 3
    assert sorted(splits.train["part"].tolist()) == ["dev", "train", "train"]
    assert splits.solution["seen"].tolist() == ["no", "exact", "reverse_complement"]
    assert set(splits.test.fields) == {"sequence"}


def test_a_class_that_training_lacks_is_refused():
    train, test = labelled(["ACGT"], ["0"], "train"), labelled(["GGGA"], ["1"], "test")
    parts = {("labelled", "train"): train, ("labelled", "test"): test, ("censored", "test"): hidden(test)}
    with pytest.raises(CorruptDataError, match="do not occur in training"):
        sequences.prepare_published(Reader(parts))


def test_a_list_that_names_other_sequences_is_refused():
    parts = views(recipes.build_sequences)
    with pytest.raises(CorruptDataError, match="every sequence"):
        sequences.prepare_listed(Reader(parts, {"train": ("sequence_0000",), "test": ("sequence_0001",)}))


@pytest.mark.parametrize("kind", ["left out", "on both sides", "in a third split"])
@pytest.mark.parametrize(
    ("build", "prepare"),
    [(recipes.build_sequences, sequences.prepare_listed), (recipes.build_tracks, tracks.prepare)],
)
def test_lists_must_name_every_row_once(build, prepare, kind):
    parts = views(build)
    ids = sorted(map(str, parts["labelled", ""].ids))
    lists = {"train": tuple(ids[:160]), "test": tuple(ids[160:])}
    assert prepare(Reader(parts, lists)).test.n == len(ids) - 160
    change = {
        "left out": {"train": lists["train"][1:]},
        "on both sides": {"test": (*lists["test"], ids[0])},
        "in a third split": {"train": lists["train"][1:], "dev": (ids[0],)},
    }[kind]
    with pytest.raises(CorruptDataError, match="once, in train or test"):
        prepare(Reader(parts, {**lists, **change}))


@pytest.mark.parametrize("splits", [("train",), ("test",), ("train", "valid")])
def test_a_source_without_both_splits_is_refused(splits):
    parts = {("labelled", split): labelled(["ACGT"], ["0"], split) for split in splits}
    with pytest.raises(CorruptDataError, match="publishes the splits"):
        sequences.prepare_published(Reader(parts))


def test_a_region_on_both_sides_is_refused():
    parts = views(recipes.build_tracks)
    ids = parts["labelled", ""].ids
    with pytest.raises(CorruptDataError, match="regions"):
        tracks.prepare(Reader(parts, {"train": ids[:4], "test": ids[4:]}))
