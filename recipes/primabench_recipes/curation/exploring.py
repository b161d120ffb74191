"""What a curator looks at before trusting a source: shapes, ranges and examples of every artifact, and the audit."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from primabench_core.spec import RecipeSpec
from primabench_recipes.curation.audit import audit
from primabench_recipes.curation.card import AuditPlan
from primabench_recipes.curation.sources_at_hand import labelled_parts, parse_given, run_recipe


def report(spec: RecipeSpec, plan: AuditPlan, words: Sequence[str] = ()) -> str:
    """Everything worth knowing, as text. It shows answers: it is for the curator's eyes.

    Args:
        spec: The recipe.
        plan: What the audit looks at.
        words: ``NAME=FILE`` for sources at hand; others are taken from packages or fetched.
    """
    artifacts = run_recipe(spec, parse_given(spec, list(words)))
    lines = [spec.dataset, ""]
    for artifact in artifacts:
        data = artifact.data
        lines.append(f"{artifact.path} ({'private' if artifact.is_private else 'public'}): {data.n:,} rows")
        lines += [f"  {name:<20} {describe(data[name])}" for name in data.fields]
        lines += [f"  {name:<20} {len(values):,} names: {_some(values)}" for name, values in data.coords.items()]
        if data.ids:
            lines.append(f"  {'ids':<20} {_some(data.ids)}")
    lines += ["", "leak audit", *(f"- {line}" for line in audit(labelled_parts(artifacts), plan))]
    return "\n".join(lines)


def describe(value: Any) -> str:
    """Kind, shape and range of a field, or examples of its text."""
    if hasattr(value, "counts"):
        return f"ragged, {len(value.values):,} entries"
    if value.dtype.kind in "OUT":
        texts = [str(v) for v in value.tolist() if v is not None]
        missing = len(value) - len(texts)
        return f"text, {len(set(texts)):,} different: {_some(texts)}" + (f"; {missing:,} missing" if missing else "")
    numbers = np.asarray(value.data if hasattr(value, "indptr") else value, np.float64)
    sparse = f", {value.nnz / max(np.prod(value.shape), 1):.1%} stored" if hasattr(value, "indptr") else ""
    defined = numbers[~np.isnan(numbers)]
    span = f"{defined.min():.6g} to {defined.max():.6g}" if defined.size else "all missing"
    whole = ", whole numbers" if defined.size and (defined == np.floor(defined)).all() else ""
    return f"{value.dtype} {tuple(value.shape)}: {span}{whole}{sparse}"


def _some(values: Sequence[Any]) -> str:
    shown = [str(value)[:40] for value in values[:3]]
    return ", ".join(shown) + (", …" if len(values) > 3 else "")


def main(spec: RecipeSpec, plan: AuditPlan) -> None:
    """Print the report; arguments are sources at hand."""
    sys.stdout.write(report(spec, plan, sys.argv[1:]) + "\n")
