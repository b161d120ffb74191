"""Classes of a label field and their codes: fast for the labels of a batch, and free of the order they arrive in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

Label = str | int

_INT64 = np.dtype(np.int64)
_TABLE_SPAN = 1 << 20
"""Integer classes that span less than this are looked up in a table, others by bisection."""


def label_order(label: Label) -> tuple[bool, Any]:
    """Sort key of labels: integers by value, then text by code point."""
    return isinstance(label, str), label


class Vocabulary:
    """Classes in a fixed order, with codes 0, 1, …; classes that were not expected get the codes that follow.

    The first ``n_known`` classes are fixed. Unknown classes are appended as they arrive; :meth:`canonical` sorts them,
    so that the order of arrival leaves no trace.

    Args:
        known: The classes of the truth (or an explicit list), distinct, all integers or all text; empty for an open
            vocabulary, whose type is that of the first labels seen.

    Example:
        >>> v = Vocabulary(["T", "B"])
        >>> v.encode(np.array(["B", "NK", "T"], object)).tolist(), v.classes
        ([1, 2, 0], ('T', 'B', 'NK'))
    """

    __slots__ = ("_codes", "_limit", "_low", "_table", "classes", "n_known")

    def __init__(self, known: Iterable[Label] = ()) -> None:
        self.classes: tuple[Label, ...] = tuple(c if isinstance(c, str) else int(c) for c in known)
        self.n_known = len(self.classes)
        if len(set(self.classes)) != self.n_known:
            raise ValueError("classes must be distinct")
        if len({isinstance(c, str) for c in self.classes}) > 1:
            raise ValueError("classes must be all integers or all text")
        self._index()

    @classmethod
    def sorted_from(cls, labels: NDArray[Any]) -> Vocabulary:
        """The classes that occur in canonical labels (None excepted), sorted by value or by code point."""
        if labels.dtype == np.int64:
            return cls(np.unique(labels).tolist())
        return cls(sorted({v for v in labels.tolist() if v is not None}))

    def _index(self) -> None:
        """Prepare the look-ups; they are rebuilt, not pickled."""
        self._codes: dict[Label, int] = {c: i for i, c in enumerate(self.classes)}
        # -1 turns the fast path of contiguous integers off: no label is below it
        self._limit = len(self.classes) if self.classes == tuple(range(len(self.classes))) else 0
        self._table: NDArray[np.int64] | None = None
        self._low = 0
        if self.classes and not isinstance(self.classes[0], str) and not self._limit:
            values = np.asarray(self.classes, np.int64)
            low, high = int(values.min()), int(values.max())
            if high - low < _TABLE_SPAN:
                self._low = low
                self._table = np.full(high - low + 1, -1, np.int64)
                self._table[values - low] = np.arange(len(values))

    def __getstate__(self) -> tuple[tuple[Label, ...], int]:
        return self.classes, self.n_known

    def __setstate__(self, state: tuple[tuple[Label, ...], int]) -> None:
        self.classes, self.n_known = state
        self._index()

    def __len__(self) -> int:
        return len(self.classes)

    def __contains__(self, label: object) -> bool:
        return label in self._codes

    def __repr__(self) -> str:
        kind = "open" if self.kind is None else {str: "text", int: "integer"}[self.kind]
        return f"Vocabulary({self.n_known} {kind} classes, {len(self) - self.n_known} more seen)"

    @property
    def kind(self) -> type | None:
        """``int``, ``str``, or None while the vocabulary is open and has seen nothing."""
        return type(self.classes[0]) if self.classes else None

    def encode_fast(self, labels: Any) -> NDArray[np.int64] | None:
        """Codes of 1-D labels that are all in the vocabulary, or None: then :meth:`encode` knows more.

        The array itself is returned where its integers are the codes, so copy before keeping it.
        """
        if self._limit:
            if labels.dtype != _INT64:
                if labels.dtype.kind not in "iub" or labels.dtype.char in "QL":
                    return None
                labels = labels.astype(np.int64)
            if labels.ndim != 1:
                return None
            if not labels.size or np.maximum.reduce(labels.view(np.uint64)) < self._limit:
                return labels  # type: ignore[no-any-return]
            return None
        if labels.ndim != 1 or not labels.size:
            return None
        if self._table is not None:
            return self._from_table(labels) if labels.dtype.kind == "i" else None
        if self.kind is str and labels.dtype.kind in "OUT":
            return self.encode_text(labels.tolist())
        return None

    def _from_table(self, labels: NDArray[Any]) -> NDArray[np.int64] | None:
        table = self._table
        if (
            table is None
            or np.minimum.reduce(labels) < self._low
            or np.maximum.reduce(labels) >= self._low + len(table)
        ):
            return None
        codes = table[labels - self._low] if self._low else table[labels]
        return None if np.minimum.reduce(codes) < 0 else codes

    def encode_text(self, labels: list[Any]) -> NDArray[np.int64] | None:
        """Codes of a list of text that is all in the vocabulary, else None."""
        try:
            found = itemgetter(*labels)(self._codes)
        except (KeyError, TypeError):  # an unknown class, or an object that is no label at all
            return None
        return np.array(found, np.int64, ndmin=1)

    def encode(self, labels: NDArray[Any]) -> NDArray[np.int64]:
        """Codes of canonical labels (:func:`~primabench_core.contract.arrays.as_labels`); new classes are appended.

        Args:
            labels: (n,) int64, or object with text; None gets the code -1.

        Raises:
            TypeError: integers for text classes, or the reverse (:meth:`mismatch` says it in words).
        """
        codes = self.encode_fast(labels)
        if codes is not None:
            return codes
        if labels.dtype == np.int64:
            values, inverse = np.unique(labels, return_inverse=True)
            fresh: list[Label] = values.tolist()
        else:
            fresh = list(dict.fromkeys(v for v in labels.tolist() if v is not None))
        if self.kind is not None and any(type(c) is not self.kind for c in fresh):
            raise TypeError(f"labels are {self.mismatch(labels)}")
        self._append([c for c in fresh if c not in self._codes])
        if labels.dtype == np.int64:
            return np.asarray([self._codes[c] for c in fresh], np.int64)[inverse.reshape(-1)]
        get = self._codes.get
        return np.fromiter((-1 if v is None else get(v, -1) for v in labels.tolist()), np.int64, len(labels))

    def unknown(self, labels: NDArray[Any]) -> NDArray[np.bool_]:
        """(n,) which canonical labels are outside the first ``n_known`` classes; nothing is appended."""
        known = set(self.classes[: self.n_known])
        if labels.dtype == np.int64:
            return ~np.isin(labels, np.asarray([c for c in known if isinstance(c, int)], np.int64))
        return np.fromiter((v is not None and v not in known for v in labels.tolist()), np.bool_, len(labels))

    def mismatch(self, labels: NDArray[Any]) -> str:
        """Empty if canonical labels are of the type of the classes, else what each side is, in words."""
        if self.kind is None or not labels.size or (labels.dtype != np.int64 and all(v is None for v in labels.flat)):
            return ""
        given = (
            int if labels.dtype == np.int64 or isinstance(next(v for v in labels.flat if v is not None), int) else str
        )
        if given is self.kind:
            return ""
        return "integers where classes are text" if given is int else "text where classes are integers"

    def _append(self, fresh: Sequence[Label]) -> None:
        if fresh:
            self.classes = (*self.classes, *fresh)
            self._index()

    def extend(self, classes: Iterable[Label]) -> None:
        """Append classes that are not there yet, in this order."""
        self._append([c for c in dict.fromkeys(classes) if c not in self._codes])

    def truncate(self, size: int) -> None:
        """Forget classes appended after there were ``size``: a shard that is refused leaves nothing behind."""
        if size < len(self.classes):
            if size < self.n_known:
                raise ValueError("fixed classes cannot be forgotten")
            self.classes = self.classes[:size]
            self._index()

    def canonical(self, codes: NDArray[np.integer[Any]] | None = None) -> tuple[tuple[Label, ...], NDArray[np.int64]]:
        """Known classes in their order, then the others sorted, and the way from codes to new codes.

        Args:
            codes: Codes in use; other classes that do not occur among them are left out. None keeps all.

        Returns:
            The classes, and (len(self),) int64 so that ``remap[codes]`` are the canonical codes (-1 for left out).

        Example:
            >>> v = Vocabulary([0, 1])
            >>> _ = v.encode(np.array([9])), v.encode(np.array([7]))
            >>> v.canonical()
            ((0, 1, 7, 9), array([0, 1, 3, 2]))
        """
        extras = self.classes[self.n_known :]
        if codes is not None and extras:
            used = np.zeros(len(self) + 1, bool)  # one more: the code -1 of a missing label falls there
            used[codes] = True
            extras = tuple(c for c, u in zip(extras, used[self.n_known :], strict=False) if u)
        classes = (*self.classes[: self.n_known], *sorted(extras))
        place = {c: i for i, c in enumerate(classes)}
        remap = np.fromiter((place.get(c, -1) for c in self.classes), np.int64, len(self))
        return classes, remap

    def absorb(self, other: Vocabulary) -> NDArray[np.int64]:
        """Take over the classes of another vocabulary over the same known classes.

        Returns:
            (len(other),) int64: ``remap[codes of other]`` are codes of this vocabulary.

        Raises:
            ValueError: the known classes differ.
        """
        if other.classes[: other.n_known] != self.classes[: self.n_known]:
            raise ValueError("vocabularies of different truths cannot be merged")
        if self.kind and other.kind and self.kind is not other.kind:
            raise ValueError("one side has text labels, the other integers")
        self._append([c for c in other.classes if c not in self._codes])
        return np.fromiter((self._codes[c] for c in other.classes), np.int64, len(other))

    def copy(self) -> Vocabulary:
        """An independent vocabulary with the same classes."""
        twin = Vocabulary.__new__(Vocabulary)
        twin.__setstate__(self.__getstate__())
        return twin
