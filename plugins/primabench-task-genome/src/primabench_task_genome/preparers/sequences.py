"""Labelled sequences: train and test as the source publishes them, or by the content of the sequences.

The solution says of every test row whether training holds it too (``seen``), which fold it is in for a probe, and
which rows are one sequence (``group``). Folds and splits follow from hashes of the sequences, never from their order,
and equal sequences and the two strands of one always stay together.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from primabench_core import CorruptDataError, EvalData
from primabench_task_genome.leaks import KINDS, canonical, near_duplicates

if TYPE_CHECKING:
    from primabench_core.store.prepare import DatasetReader, Splits

FOLDS = 10
SEED = "primabench-sequences-1"
TESTED = 5
"""One group of sequences in so many is tested, where the source has no split."""


def prepare_published(data: DatasetReader) -> Splits:
    """Train and test as published; a split ``dev`` (for choosing models) goes with train, named in ``part``.

    Raises:
        CorruptDataError: there is no test split or nothing beside it, or a class of it does not occur in training.
    """
    published = [split for view, name, split in data.artifacts() if (view, name) == ("labelled", "data")]
    if "test" not in published or len(published) < 2:
        raise CorruptDataError(f"The source publishes the splits {sorted(published)}, not 'test' and others beside it.")
    parts = {split: data.artifact("labelled", split=split).load() for split in published}
    test = parts.pop("test")
    train = _joined(parts)
    censored = data.artifact("censored", split="test").load()
    return _splits(train, censored, test.select([str(i) for i in censored.ids or ()]))


def prepare_whole(data: DatasetReader) -> Splits:
    """Test rows by a hash of what ties rows together: gene where it is known, and the sequence on either strand.

    Raises:
        CorruptDataError: a class does not occur on both sides.
    """
    labelled, censored = data.artifact("labelled").load(), data.artifact("censored").load()
    tested = chosen_by_hash(_ties(labelled))
    return _split_at(labelled, censored, tested)


def prepare_listed(data: DatasetReader) -> Splits:
    """Train and test by the frozen id list of the preparer.

    Raises:
        CorruptDataError: the list does not fit, or a class does not occur on both sides.
    """
    labelled, censored, lists = data.artifact("labelled").load(), data.artifact("censored").load(), data.id_list()
    if set(lists) != {"train", "test"} or sorted(chain(*lists.values())) != sorted(map(str, labelled.ids or ())):
        raise CorruptDataError("The id list does not name every sequence of the dataset once, in train or test.")
    tested = np.isin(np.asarray(labelled.ids, object), list(lists["test"]))
    return _split_at(labelled, censored, tested)


def _split_at(labelled: EvalData, censored: EvalData, tested: NDArray[np.bool_]) -> Splits:
    ids = np.asarray([str(i) for i in labelled.ids or ()], object)
    test_ids = ids[tested].tolist()
    return _splits(labelled.select(np.flatnonzero(~tested)), censored.select(test_ids), labelled.select(test_ids))


def _splits(train: EvalData, censored: EvalData, test: EvalData) -> Splits:
    from primabench_core.store.prepare import Splits

    known, asked = _texts(train, "label"), _texts(test, "label")
    classes = tuple(sorted(set(known) | set(asked)))
    absent = set(asked) - set(known)
    if absent:
        raise CorruptDataError(f"{len(absent)} classes of the test split do not occur in training.")
    learnt, tested = _texts(train, "sequence"), _texts(test, "sequence")
    seen = near_duplicates(learnt, tested)
    groups, fold = grouped_folds(tested, asked)
    answers: dict[str, Any] = {
        "label": np.asarray(asked, object),
        "seen": np.asarray(KINDS, object)[seen],
        "fold": fold,
        "group": groups,
    }
    shown = {"sequence": np.asarray(tested, object)}
    public = {k: v for k, v in censored.fields.items() if k not in ("label", "sequence", "fold", "part")}
    shown |= {k: v for k, v in public.items() if not _is_missing(v)}
    known_fields: dict[str, Any] = dict(train.fields) | {"fold": grouped_folds(learnt, known)[1]}
    return Splits(
        train=EvalData(known_fields, ids=train.ids, coords={"classes": classes}),
        test=EvalData(shown, ids=censored.ids, coords={"classes": classes}),
        solution=EvalData(answers, ids=test.ids, coords={"classes": classes}),
    )


def grouped_folds(sequences: Sequence[str], labels: Sequence[str], folds: int = FOLDS) -> tuple[Any, Any]:
    """Group of each sequence (equal ones and both strands are one) and its fold, classes dealt evenly.

    Groups of a class go in the order of a hash of their sequence and are dealt out one by one. Fewer folds where a
    class has fewer groups; at least two.

    Returns:
        (n,) object array of group names and (n,) int64 folds from 0.

    Example:
        >>> groups, fold = grouped_folds(["AAC", "GTT", "CCC", "CCA"], ["x", "x", "y", "x"], folds=2)
        >>> groups[0] == groups[1], fold.tolist()[0] == fold.tolist()[1], sorted(set(fold.tolist()))
        (True, True, [0, 1])
    """
    names = [sha256(f"{SEED}:{canonical(text)}".encode()).hexdigest()[:16] for text in sequences]
    first: dict[str, str] = {}  # of a sequence with several labels the first by name, so that no order of rows decides
    for name, label in zip(names, labels, strict=True):
        first[name] = min(label, first.get(name, label))
    by_class: dict[str, list[str]] = {}
    for name in sorted(first):
        by_class.setdefault(first[name], []).append(name)
    folds = max(2, min(folds, *(len(members) for members in by_class.values()))) if by_class else folds
    order = [name for _, members in sorted(by_class.items(), key=lambda item: item[1][0]) for name in members]
    place = {name: i % folds for i, name in enumerate(order)}
    return np.asarray(names, object), np.asarray([place[name] for name in names], np.int64)


def chosen_by_hash(ties: Sequence[Sequence[str]]) -> NDArray[np.bool_]:
    """Which rows are tested, such that rows that share a tie, directly or through others, are on one side.

    Args:
        ties: For each row the names that tie it to others.

    Example:
        >>> found = chosen_by_hash([["gene a", "s1"], ["gene b", "s1"], ["gene b"]])
        >>> len(set(found.tolist()))
        1
    """
    parent: dict[str, str] = {}

    def root(name: str) -> str:
        while parent.setdefault(name, name) != name:
            parent[name] = parent[parent[name]]
            name = parent[name]
        return name

    for names in ties:
        for other in names[1:]:
            a, b = sorted((root(names[0]), root(other)))
            parent[b] = a
    digests = (sha256(f"{SEED}:{root(names[0])}".encode()).digest() for names in ties)
    return np.asarray([int.from_bytes(d[:8], "big") % TESTED == 0 for d in digests], bool)


def _ties(data: EvalData) -> list[list[str]]:
    ties = [[f"sequence {canonical(text)}"] for text in _texts(data, "sequence")]
    if "gene" in data:
        for names, gene in zip(ties, np.asarray(data["gene"], object).tolist(), strict=True):
            if gene and gene == gene:  # a missing name ties nothing
                names.append(f"gene {gene}")
    return ties


def _joined(parts: dict[str, EvalData]) -> EvalData:
    """Training rows of all published parts; ``part`` says which one each is from, where there are several."""
    (first, train), *others = parts.items()
    if not others:
        return train
    every = [(first, train), *others]
    fields: dict[str, Any] = {
        name: np.concatenate([np.asarray(part[name]) for _, part in every]) for name in train.fields
    }
    fields["part"] = np.asarray([split for split, part in every for _ in range(part.n)], object)
    return EvalData(fields, ids=[str(i) for _, part in every for i in part.ids or ()])


def _texts(data: EvalData, name: str) -> list[str]:
    return [str(v) for v in np.asarray(data[name], object).tolist()]


def _is_missing(value: Any) -> bool:
    found = np.asarray(value)
    if found.dtype.kind in "OUT":
        return all(v is None for v in found.tolist())
    return found.dtype.kind == "f" and bool(np.isnan(found).all())
