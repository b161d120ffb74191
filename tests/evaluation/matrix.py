"""Every registered metric on tiny data, and cuts of the rows: shared by the tests of ranks and of clusters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from primabench_core.testing.generate import Case, take


def cases(*, every: bool = False) -> Iterator[tuple[str, list[tuple[str, dict[str, Any]]], Case]]:
    """(name, metrics, case) of each metric of our distributions: its first case, or all of them.

    Plugins that tests install for a session are left out: some of their metrics fail on purpose.
    """
    from primabench_core.discovery import names
    from primabench_core.testing.subjects import subject_of

    ours = {r.name for r in names.records("metric") if names.normalise(r.distribution).startswith("primabench-")}
    for name in names.names("metric"):
        if name not in ours or name.startswith("toy_"):
            continue
        subject = subject_of("metric", name)
        for i, case in enumerate(subject.cases if every else subject.cases[:1]):
            yield f"{name}/{i}", [(subject.qualified, dict(case.params))], case


def part(case: Case, rows: Any) -> dict[str, Any]:
    """These rows of the prediction, with their ids."""
    rows = np.asarray(rows, np.int64)
    return {"ids": [case.ids[r] for r in rows], **take(case.prediction, rows)}


def cut(n: int, parts: int, seed: int = 3) -> list[np.ndarray]:
    """Rows of uneven parts: shuffled, each row at least once, some again in other parts, and the last part empty."""
    rng = np.random.default_rng([seed, n, parts])
    full = parts - 1 if parts > 2 else parts
    rows = rng.permutation(n)
    bounds = np.sort(rng.integers(0, n + 1, full - 1))
    found = [np.concatenate([own, rng.integers(0, n, 2)]) for own in np.split(rows, bounds)]
    return [*found, *[np.zeros(0, np.int64)] * (parts - full)]


def summary(result: Any) -> dict[str, Any]:
    """What must be the same: the hash for exact metrics, and the values for all."""
    return {
        "scores_hash": result.scores_hash,
        "predictions_sha256": result.predictions_sha256,
        "values": {r.name: r.value for r in result},
        "kinds": {r.name: r.reproducibility for r in result},
        "status": {r.name: r.status for r in result},
    }
