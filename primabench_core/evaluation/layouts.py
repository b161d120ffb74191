"""How a field of several numbers a row is laid out in a file, said where one was read and did not have it so."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import evolve

from primabench_core.advice import LEAVE_ALL_OUT, LEAVE_OUT, METRICS
from primabench_core.contract.check import Context
from primabench_core.contract.checkers import column_names
from primabench_core.contract.contract import Contract
from primabench_core.contract.fields import Field
from primabench_core.contract.violations import Violation

if TYPE_CHECKING:
    from primabench_core.discovery.metrics import ResolvedMetric
    from primabench_core.evaluation.request import Request

_SHOWN = 5
_NUMBERED = re.compile(r"(.*?)_?(\d+)")
_WIDE = {
    ".npz": "Save a 2-D array {name!r} (rows x columns)",
    ".h5ad": "Put a 2-D array into obsm[{name!r}]",
    ".zarr": "Store a 2-D array {name!r} (rows x columns)",
}


def is_wide(field: Field) -> bool:
    """Whether each row has a fixed number of numbers, more than one."""
    return field.dims == 2


def layout(field: Field, source: str, context: Context, width: int = 0) -> str:
    """What to write for a wide field into a file of this kind.

    Args:
        field: The field.
        source: Name of the file that was read.
        context: What the truth says; names that it hides are not told.
        width: Number of columns that seem to be meant, 0 if nobody knows.
    """
    name, coord = field.name, column_names(field)
    names: Sequence[Any] = () if coord in context.hidden else context.coords.get(coord, ())
    last = len(names) or width
    columns = f"{name}_0 … {name}_{last - 1}" if last > 1 else f"{name}_0, {name}_1, …"
    suffix = Path(source).suffix.lower()
    text = _WIDE.get(suffix, "Write columns {columns}, a number each").format(name=name, columns=columns)
    text += ", or one column of lists" if suffix == ".parquet" else ""
    if not coord:
        return text
    noun = {"classes": "class", "genes": "gene"}.get(coord, coord.removesuffix("s"))
    order = f"in the order of coords[{coord!r}] of the test data"
    if names:
        order = ", ".join(f"{i} is {n}" for i, n in enumerate(names[:_SHOWN])) + (", …" if len(names) > _SHOWN else "")
    named = f", or name them: {name}_{names[0] if names else noun.upper()} …" if suffix not in _WIDE else ""
    return f"{text}, one for each {noun} ({order}){named}"


def laid_out(
    violations: Iterable[Violation], fields: Mapping[str, Any], contract: Contract, context: Context, source: str
) -> list[Violation]:
    """Violations of wide fields that came with one number a row, with the layout that is asked for.

    Args:
        violations: What is wrong with a batch.
        fields: The batch.
        contract: Of the evaluation.
        context: What the truth says.
        source: Name of the file that the batch was read from; empty if it came otherwise.
    """
    wide = {f.name: f for f in contract.prediction if is_wide(f)} if source else {}
    return [
        evolve(v, remedy=layout(wide[v.field], source, context))
        if v.field in wide and getattr(fields.get(v.field), "ndim", 0) == 1
        else v
        for v in violations
    ]


def names_told(
    violations: Iterable[Violation], given: Iterable[str], contract: Contract, context: Context, source: str
) -> list[Violation]:
    """Violations about names of fields, as the columns of a file explain them.

    A wide field that is missing is told with its layout; numbered columns that nobody asked for are asked whether they
    belong to it.
    """
    violations, given = list(violations), set(given)
    if not source:
        return violations
    declared = {f.name: f for f in contract.prediction}
    absent = [declared[v.field] for v in violations if v.field in declared and v.field not in given]
    wide = [f.name for f in absent if is_wide(f)] or [n for n, f in declared.items() if is_wide(f) and n not in given]
    stems = _stems(v.field for v in violations if v.field not in declared)
    told = []
    for v in violations:
        field = declared.get(v.field)
        if field is not None and v.field not in given and is_wide(field) and not v.remedy:
            width = max(stems.values(), default=0)
            told.append(evolve(v, remedy=layout(field, source, context, width)))
            continue
        stem = _NUMBERED.fullmatch(v.field)
        if field is None and wide and stem is not None and stems.get(stem[1], 0) > 1:
            calls = " or ".join(f"'{name}_{int(stem[2])}'" for name in wide)
            told.append(evolve(v, remedy=f"Is it a part of {' or '.join(map(repr, wide))}? Call it {calls}."))
            continue
        told.append(_part(v, given, declared) or v)
    return told


def _stems(names: Iterable[str]) -> dict[str, int]:
    """How many names differ by their number alone."""
    found: dict[str, int] = {}
    for name in names:
        match = _NUMBERED.fullmatch(name)
        if match:
            found[match[1]] = found.get(match[1], 0) + 1
    return found


def _part(v: Violation, given: set[str], declared: Mapping[str, Field]) -> Violation | None:
    """A column that looks like a part of a field which came otherwise."""
    base = next((n for n, f in declared.items() if is_wide(f) and v.field.startswith(f"{n}_") and n in given), None)
    if base is None or v.field in declared:
        return None
    return evolve(v, remedy=f"{base!r} is there already, whole or numbered. {LEAVE_OUT.text(column=v.field)}")


def leave_all_out(violations: Sequence[Violation]) -> str:
    """Advice where several columns are to be left out; empty if it is not needed."""
    count = sum(LEAVE_OUT.text(column=v.field) in v.remedy for v in violations)
    return LEAVE_ALL_OUT.text() if count > 1 else ""


def other_metrics(request: Request, given: Iterable[str]) -> str:
    """Advice to name metrics of the task that can read the fields which came; empty if none can.

    Those of its panel, and those that its description names.
    """
    if not request.task:
        return ""
    from primabench_core.discovery import registry
    from primabench_core.discovery.listing import list_metrics
    from primabench_core.discovery.registry import as_meant_by, distribution_of
    from primabench_core.evaluation.plan import resolve_all

    spec, known = registry.load("task", request.task), set(list_metrics())
    mentioned = [word for word in dict.fromkeys(re.findall(r"\w+", spec.description)) if word in known]
    owner = distribution_of("task", request.task)[0]
    panel = resolve_all([evolve(u, name=as_meant_by(owner, "metric", u.name)) for u in spec.metrics if not u.always])
    held = {m.name for m in panel} | {use.name for use in spec.metrics}
    found = []
    for metric in (*panel, *(resolve_all([word])[0] for word in mentioned if word not in held)):
        if _can_read(metric, set(given), {f.name for f in request.contract.solution}):
            found.append(metric.text)
    return METRICS.text(names=found) + ", or some of these, which can read what came" if found else ""


def _can_read(metric: ResolvedMetric, given: set[str], solution: set[str]) -> bool:
    """Whether every input of a metric is there, and one of those that came among them."""
    sides = ((metric.spec.prediction, given), (metric.spec.truth, solution))
    complete = all(any(a.name in names or a.optional for a in slot) for side, names in sides for slot in side)
    return complete and any(a.name in given for slot in metric.spec.prediction for a in slot)
