"""Baselines of sequence classification."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from primabench_core import EvalData, UsageError
from primabench_task_genome.baselines.draws import one_thread, uniform_by_id

K = 6
WIDTH = 4096
"""Columns of the k-mer table: every 6-mer of A, C, G, T has its own, so that nothing collides."""
_CODE = np.full(256, 4, np.int64)
_CODE[[ord(c) for c in "ACGT"]] = range(4)


def perfect(solution: EvalData, *, seed: int = 0) -> EvalData:
    """The truth itself; runs inside the runner."""
    return _called(solution, _labels(solution).tolist())


def majority(train: EvalData, test: EvalData, *, seed: int = 0) -> EvalData:
    """The most frequent training class; of equally frequent ones the first by name."""
    counts = Counter(_labels(train).tolist())
    most = min(counts, key=lambda kind: (-counts[kind], str(kind)))
    return _called(test, [most] * test.n)


def random(train: EvalData, test: EvalData, *, seed: int = 0) -> EvalData:
    """A class drawn with the frequencies of the training rows, by a hash of seed and id."""
    pool = np.asarray(sorted(_labels(train).tolist(), key=str), object)
    return _called(test, pool[(uniform_by_id(test, seed=seed)[:, 0] * len(pool)).astype(np.int64)].tolist())


def gc_logistic(train: EvalData, test: EvalData, *, seed: int = 0) -> EvalData:
    """Logistic regression on the share of each base: what composition alone tells."""
    return _logistic(composition(_sequences(train)), _labels(train), composition(_sequences(test)), test)


def kmer_logistic(train: EvalData, test: EvalData, *, seed: int = 0) -> EvalData:
    """Logistic regression on the frequencies of 6-mers, each scaled by its training deviation.

    Both strands are not joined: splice sites and promoters have a direction.
    """
    return _logistic(kmer_counts(_sequences(train)), _labels(train), kmer_counts(_sequences(test)), test)


def composition(sequences: list[str]) -> NDArray[np.float64]:
    """(n, 2) shares of G and C together and of purines, of the letters A, C, G, T."""
    found = np.zeros((len(sequences), 2))
    for row, text in enumerate(sequences):
        a, c, g, t = (text.count(letter) for letter in "ACGT")
        total = max(1, a + c + g + t)
        found[row] = ((g + c) / total, (a + g) / total)
    return found


def kmer_counts(sequences: list[str]) -> Any:
    """(n, 4096) sparse frequencies of 6-mers; those with other letters than A, C, G, T do not count."""
    from scipy.sparse import csr_matrix

    columns, starts, values = [], [0], []
    for text in sequences:
        codes = _CODE[np.frombuffer(text.encode("ascii", "replace"), np.uint8)]
        n = max(0, len(codes) - K + 1)
        words, odd = np.zeros(n, np.int64), np.zeros(n, bool)
        for j in range(K):
            words = words * 4 + codes[j : j + n]
            odd |= codes[j : j + n] == 4
        column, counts = np.unique(words[~odd], return_counts=True)
        columns.append(column)
        values.append(counts / max(1, counts.sum()))
        starts.append(starts[-1] + len(column))
    flat = (np.concatenate(values or [np.empty(0)]), np.concatenate(columns or [np.empty(0, np.int64)]), starts)
    return csr_matrix(flat, shape=(len(sequences), WIDTH))


def _logistic(known: Any, labels: NDArray[Any], asked: Any, test: EvalData) -> EvalData:
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    with one_thread():
        scaler = StandardScaler(with_mean=not hasattr(known, "indptr")).fit(known)
        model = LogisticRegression(C=1.0 if known.shape[1] < K else 0.01, max_iter=10_000, tol=1e-6)
        model.fit(scaler.transform(known), labels.astype(str))
        points = scaler.transform(asked)
        probability = model.predict_proba(points)
    names = {str(v): v for v in labels.tolist()}
    return _called(test, [names[k] for k in model.classes_[probability.argmax(axis=1)].tolist()])


def _sequences(data: EvalData) -> list[str]:
    if "sequence" not in data:
        raise UsageError(
            f"This baseline needs the field 'sequence'; the data hold {sorted(data.fields)}.",
            remedy="primabench list baselines",
        )
    return [str(v).upper() for v in np.asarray(data["sequence"], object).tolist()]


def _labels(data: EvalData) -> NDArray[Any]:
    return np.asarray(data["label"])


def _called(data: EvalData, label: Iterable[Any]) -> EvalData:
    values = list(label)
    kind = np.int64 if all(isinstance(v, int) for v in values) else object
    return EvalData({"label": np.asarray(values, kind)}, ids=data.ids)
