"""Label transfer: learn types in one batch (or species), call them in another, by the nearest cells of an embedding."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
from primabench_metrics.knn_probe import knn_probe

from primabench_core.errors import ParameterError
from primabench_core.spec import Outcome
from primabench_core.state.exact import exact_sum
from primabench_core.state.rows import Labels, Rows
from primabench_task_singlecell.integration.pairs import Ints
from primabench_task_singlecell.integration.work import occurring

ROLES = ("fit", "score")


def label_transfer(
    state: Rows,
    *,
    k: int = 15,
    distance: str = "euclidean",
    score: str = "macro_f1",
    labels: str = "all",
    fit_on: str = "",
) -> Outcome:
    """Mean over ordered pairs of domains of the score of types called by the k nearest cells of the other domain.

    For each pair, ``knn-probe/1`` is fitted on the cells of the first domain and scored on those of the second. What
    two domains do not share can be counted as wrong or left out; the parameter says which, and so does the result.

    Args:
        state: Rows with ``embedding``, ``label`` and ``domain`` (batch, donor, species).
        k: Neighbours.
        distance: ``euclidean`` or ``cosine``.
        score: Metric of the called types: ``accuracy``, ``balanced_accuracy``, ``macro_f1`` or ``mcc``.
        labels: ``all``: cells of a type that the first domain lacks count as wrong; ``shared``: both domains are cut to
            the types that both have.
        fit_on: The domain that types are learnt in (``human``: only "human -> mouse"); by default every one in turn.

    Returns:
        Mean over pairs, each pair in ``per_unit`` as "a -> b", the probe with its SHA-256 in ``values``;
        ``single_batch`` for one domain, ``component_undefined`` if a pair has no value (no shared type, or one type
        only where the score needs two), with the mean of the others in ``mean_over_defined``.

    Raises:
        ParameterError: ``fit_on`` is none of the domains.
    """
    if not state.n:
        return Outcome.undefined("too_few_items", "there are no cells", n=0)
    domain, label = occurring(state.truth["domain"], "domain"), occurring(state.truth["label"], "label")
    if len(domain.classes) < 2:
        return Outcome.undefined("single_batch", "every cell is of the same domain", n=state.n)
    if fit_on and fit_on not in map(str, domain.classes):
        if fit_on in map(str, state.truth["domain"].classes):
            return Outcome.undefined("component_undefined", f"no cell of {fit_on!r} was predicted", n=state.n)
        raise ParameterError(f"No cell is of the domain {fit_on!r}.", remedy=f"fit_on={domain.classes[0]!r}")
    found: dict[str, float | None] = {}
    identity: dict[str, Any] = {}
    for a, b in permutations(range(len(domain.classes)), 2):
        if fit_on and str(domain.classes[a]) != fit_on:
            continue
        name = f"{domain.classes[a]} -> {domain.classes[b]}"
        fit, asked = (_rows(domain, label, here, there, labels) for here, there in ((a, b), (b, a)))
        if not len(fit) or not len(asked):
            found[name] = None
            continue
        outcome = knn_probe(_pair(state, label, fit, asked), k=k, distance=distance, score=score)
        found[name] = outcome.value
        identity = {key: outcome.values[key] for key in ("probe", "probe_sha256")}
    values = np.asarray([v for v in found.values() if v is not None])
    mean = exact_sum(values) / len(values) if len(values) else None
    more: dict[str, Any] = {"n": state.n, "per_unit": found, "values": {**identity, "labels": labels}}
    out = len(found) - len(values)
    if out:
        detail = f"{out} of {len(found)} pairs have no value"
        return Outcome.undefined("component_undefined", detail, n_undefined=out, mean_over_defined=mean, **more)
    return Outcome(mean, n_undefined=0, **more)


def _rows(domain: Labels, label: Labels, here: int, there: int, labels: str) -> Ints:
    """Cells of a domain; with ``shared`` those of types that the other domain has, too."""
    rows = domain.codes == here
    if labels == "shared":
        rows &= np.isin(label.codes, label.codes[domain.codes == there])
    return np.flatnonzero(rows)


def _pair(state: Rows, label: Labels, fit: Ints, asked: Ints) -> Rows:
    """One domain to fit on and one to score, as the probe wants them."""
    rows = np.concatenate([fit, asked])
    embedding: Any = np.asarray(state.prediction["embedding"])[rows]
    role = Labels(np.repeat(np.arange(2), [len(fit), len(asked)]), ROLES)
    ids = None if state.ids is None else [state.ids[i] for i in rows.tolist()]
    return Rows(
        len(rows), {"embedding": embedding}, {"label": label.take(rows), "role": role}, classes=label.classes, ids=ids
    )
