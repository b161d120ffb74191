"""One page for each family of metrics."""

from __future__ import annotations

import inspect
from typing import Any

from primabench_core.cli.reference.catalogue import Catalogue
from primabench_core.cli.reference.markdown import code, doc_of, facts, prose, table
from primabench_core.contract.fields import Field
from primabench_core.discovery import registry
from primabench_core.discovery.metric_text import write
from primabench_core.discovery.names import Record
from primabench_core.errors import PluginError
from primabench_core.spec import REASONS, MetricSpec

WAYS = {"higher": "higher is better", "lower": "lower is better", "info": "for information, never ranked"}
ARROWS = {"higher": "↑", "lower": "↓", "info": "·"}
_INTERVALS = {
    "units": "percentile bootstrap over independent units",
    "blocks": "percentile bootstrap over 256 blocks of units",
}


def pages(found: Catalogue) -> dict[str, str]:
    """The index of all names, and the families."""
    metrics = found.of("metric")
    families: dict[str, list[tuple[Record, MetricSpec]]] = {}
    for record, spec in metrics.values():
        if not spec.base:
            families.setdefault(family_of(spec), []).append((record, spec))
    result = {}
    for family, members in sorted(families.items()):
        title = family.replace("_", " ")
        sections = [section(record, spec, found) for record, spec in members]
        result[f"metrics/{family}.md"] = f"# Metrics: {title}\n\n" + "\n\n".join(sections)
    rows = [
        (
            f"[{code(name)}]({link(name, found)})",
            ARROWS[spec.direction],
            _range(spec),
            prose(spec.summary),
            code(record.distribution),
        )
        for name, (record, spec) in metrics.items()
    ]
    result["metrics/index.md"] = (
        "# Metrics\n\nEvery name can stand in `pb.score`, in `metrics=[…]` and in `--metrics`. ↑ higher is better, ↓ "
        "lower is better, · for information.\n\n"
        + table(("name", "better", "range", "what it is", "distribution"), rows)
    )
    return result


def family_of(spec: MetricSpec) -> str:
    """Last part of the module that computes it."""
    return spec.compute.partition(":")[0].rpartition(".")[2]


def link(name: str, found: Catalogue) -> str:
    """Address of a metric, seen from the folder of metrics; empty if it is not installed."""
    entry = found.of("metric").get(name)
    return f"{family_of(entry[1])}.md#{entry[1].base or name}" if entry else ""


def _range(spec: MetricSpec) -> str:
    if spec.low is None and spec.high is None:
        return "unbounded"
    low, high = ("" if end is None else f"{end:g}" for end in (spec.low, spec.high))
    return f"{low} to {high}" if low and high else f"from {low}" if low else f"up to {high}"


def section(record: Record, spec: MetricSpec, found: Catalogue) -> str:
    """What a metric is, reads and gives, its formula in the words of its function, and where it comes from."""
    parameters = [
        (code(p.name), code(repr(p.default)), ", ".join(code(repr(c)) for c in p.choices) or _kinds(p), prose(p.doc))
        for p in spec.parameters
    ]
    names = [
        (code(name), ", ".join(f"`{k}: {v}`" for k, v in fixed.items()), prose(_summary(name, found)))
        for name, fixed in spec.canonical.items()
    ]
    text = doc_or_fault(spec.compute, record.distribution)
    reasons = _reasons(spec, record.distribution, text)
    parts = [
        f"## {spec.name} {{ #{spec.name} }}",
        prose(spec.summary),
        facts(
            [
                ("stands for", code(write(spec.base, spec.fixed)) if spec.base else ""),
                ("direction", WAYS[spec.direction]),
                ("range", _range(spec)),
                ("reads of the prediction", _fields(spec.prediction)),
                ("reads of the truth", _fields(spec.truth)),
                ("undefined", ", ".join(map(code, reasons))),
                ("interval", _INTERVALS.get(spec.interval.method, f"none: {prose(spec.interval.reason)}")),
                ("test for two models", spec.paired_test),
                ("reproducibility", _reproducibility(spec)),
                ("version", f"{spec.version}, of {code(record.distribution)}"),
                ("libraries", ", ".join(map(code, spec.libraries))),
            ]
        ),
        table(("parameter", "default", "may be", "meaning"), parameters),
        table(("canonical name", "stands for", "meaning"), names),
        text,
        "**References**\n\n" + "\n".join(f"- {prose(r)}" for r in spec.references) if spec.references else "",
    ]
    return "\n\n".join(part for part in parts if part)


def _reasons(spec: MetricSpec, owner: str, text: str) -> list[str]:
    """Reason codes that the docstring names, or the function itself."""
    try:
        source = inspect.getsource(registry.resolve(spec.compute, owner=owner))
    except (PluginError, OSError, TypeError):
        source = ""
    return sorted(reason for reason in REASONS if code(reason) in text or f'"{reason}"' in source)


def _summary(name: str, found: Catalogue) -> str:
    entry = found.of("metric").get(name)
    return entry[1].summary if entry else ""


def _kinds(parameter: Any) -> str:
    kinds = parameter.kinds or ((type(parameter.default),) if parameter.default is not None else ())
    text = " or ".join(code(kind.__name__) for kind in kinds)
    ends = [f"at least {parameter.low:g}" if parameter.low is not None else ""]
    ends.append(f"at most {parameter.high:g}" if parameter.high is not None else "")
    return ", ".join(filter(None, [text, *ends]))


def _fields(places: tuple[tuple[Field, ...], ...]) -> str:
    shown = []
    for alternatives in places:
        words = " or ".join(f"{code(f.name)} ({f.kind})" for f in alternatives)
        shown.append(f"{words}, optional" if any(f.optional for f in alternatives) else words)
    return "; ".join(shown)


def _reproducibility(spec: MetricSpec) -> str:
    if spec.reproducibility == "exact":
        return "exact: the same bits everywhere"
    return f"tolerance: rtol {spec.rtol:g}, atol {spec.atol:g}"


def doc_or_fault(reference: str, owner: str) -> str:
    """Docstring of a function that a spec names; where it cannot be had, why."""
    try:
        return doc_of(registry.resolve(reference, owner=owner))
    except PluginError as error:
        return f'!!! warning "The function cannot be loaded"\n    {prose(error.message)}'
