"""What stands on the page of a report, as plain values for the template."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import files as resources
from typing import TYPE_CHECKING, Any

from primabench_core.errors import UsageError
from primabench_core.result.compare import p_text
from primabench_core.result.curves import Confusion, Curve
from primabench_core.result.eval_result import EvalResult
from primabench_core.result.metric_result import MetricResult
from primabench_core.result.naming import File, data_key, names_by_data, tell_apart
from primabench_core.result.numeral import numeral, span
from primabench_core.result.report import plots
from primabench_core.result.report.summary import Column, Matrix, by_rank, summarise

if TYPE_CHECKING:
    from primabench_core.result.compare import Comparison

WAYS = {"higher": ("↑", "higher is better"), "lower": ("↓", "lower is better"), "info": ("", "for information")}


def render_page(
    results: Sequence[EvalResult],
    *,
    title: str,
    curves: Mapping[str, Sequence[Confusion | Curve]],
    comparisons: Sequence[Comparison],
    files: Sequence[File] = (),
) -> str:
    """The whole page."""
    from jinja2 import Environment, StrictUndefined

    groups = _groups(results, files)
    known = {name for names, _ in groups for name in names} | {r.record_hash for r in results}
    for name in curves:
        if name not in known:
            models = sorted({name for names, _ in groups for name in names})
            raise UsageError(f"curves name the model {name!r}; the results are of {', '.join(models)}")
    pen = _Pen()
    sections = [_section(pen, names, members, curves, comparisons) for names, members in groups]
    source = resources(__package__).joinpath("page.html.j2").read_text(encoding="utf-8")
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters.update(number=numeral, span=span, p=p_text, words=lambda name: str(name).replace("_", " "))
    heading = title or (sections[0]["title"] if len(sections) == 1 else "Evaluation report")
    page: str = environment.from_string(source).render(title=heading, sections=sections)
    return page


class _Pen:
    """Gives each picture a name of its own and marks it as safe: SVG is made here, with everything escaped."""

    def __init__(self) -> None:
        self.count = 0

    def draw(self, make: Any, /, *arguments: Any, **more: Any) -> Any:
        from markupsafe import Markup

        self.count += 1
        return Markup(make(*arguments, name=f"f{self.count}", **more))


def _groups(results: Sequence[EvalResult], files: Sequence[File]) -> list[tuple[list[str], list[EvalResult]]]:
    """Results on the same truth together, each with a name that no other of its group has."""
    together: dict[tuple[str, ...], tuple[list[str], list[EvalResult]]] = {}
    for name, result in zip(names_by_data(results, files), results, strict=True):
        names, members = together.setdefault(data_key(result), ([], []))
        names.append(name)
        members.append(result)
    return list(together.values())


def _section(
    pen: _Pen,
    names: list[str],
    members: list[EvalResult],
    curves: Mapping[str, Sequence[Confusion | Curve]],
    comparisons: Sequence[Comparison],
) -> dict[str, Any]:
    first = members[0]
    matrix = summarise(names, members)
    title = (first.task or "Scores").replace("_", " ")
    return {
        "title": title[:1].upper() + title[1:],
        "task": first.task,
        "dataset": first.dataset,
        "units": f"{first.n_units:,} {first.unit}{'' if first.n_units == 1 else 's'}",
        "who": _who(matrix),
        "synthetic": any(m.synthetic for m in members),
        "partial": [(n, f"{m.coverage:.1%}") for n, m in zip(names, members, strict=True) if m.coverage < 1],
        "matrix": matrix,
        "ways": WAYS,
        "figures": _figures(pen, matrix),
        "parts": _parts(pen, matrix),
        "curves": [
            {"model": name, "figures": [_drawn(pen, item, name) for item in drawn]}
            for name, member in zip(names, members, strict=True)
            if (drawn := curves.get(member.record_hash) or curves.get(name))
        ],
        "comparisons": _titled([c for c in comparisons if (c.task, c.dataset) == (first.task, first.dataset)]),
        "provenance": [_provenance(name, m) for name, m in zip(names, members, strict=True)],
        "dataset_hash": first.dataset_hash,
        "truth_sha256": first.truth_sha256,
    }


def _titled(comparisons: Sequence[Comparison]) -> list[tuple[str, Comparison]]:
    """Each with a heading of its own; the names of a command tell them apart already."""
    return list(zip(tell_apart([f"{c.a} against {c.b}" for c in comparisons]), comparisons, strict=True))


def _who(matrix: Matrix) -> str:
    counts = [(matrix.roles.count(role), role) for role in matrix.shown_roles or ("model",)]
    return ", ".join(f"{n} {role}{'' if n == 1 else 's'}" for n, role in counts)


def _figures(pen: _Pen, matrix: Matrix) -> list[dict[str, Any]]:
    figures = []
    for column in matrix.columns:
        rows = []
        for name, role, cell in zip(matrix.names, matrix.roles, column.cells, strict=True):
            if cell is None:
                continue
            found = cell.result
            ends = found.interval
            rows.append(
                {
                    "model": name,
                    "value": found.value,
                    "low": ends.low if ends else None,
                    "high": ends.high if ends else None,
                    "role": role,
                    "why": f"{found.status}: {found.reason}".replace("_", " "),
                }
            )
        if any(row["value"] is not None for row in rows):
            arrow, words = WAYS[column.direction]
            svg = pen.draw(plots.dots, rows, metric=column.key, arrow=words)
            figures.append({"metric": column.key, "arrow": arrow, "words": words, "svg": svg})
    return figures


def _parts(pen: _Pen, matrix: Matrix) -> list[dict[str, Any]]:
    """Per-class (per-gene …) bars of each model, beside the best baseline."""
    found: list[dict[str, Any]] = []
    for place, (name, competes) in enumerate(zip(matrix.names, matrix.competes, strict=True)):
        if not competes:
            continue
        figures = []
        for columns in _same_parts(matrix, place):
            cell = columns[0].cells[place]
            if cell is not None:
                keys = [column.key for column in columns]
                figure = _part_figure(pen, cell.result, keys, name, _reference(matrix, columns[0]))
                figures += [figure] if figure else []
        if figures:
            found.append({"model": name, "figures": figures})
    return found


def _same_parts(matrix: Matrix, place: int) -> list[list[Column]]:
    """Metrics of a model that have parts; those that are means of the same parts (macro, weighted) together."""
    groups: dict[tuple[Any, ...], list[Column]] = {}
    for column in matrix.columns:
        cell = column.cells[place]
        if cell is not None and cell.result.per_unit:
            groups.setdefault(tuple(cell.result.per_unit.items()), []).append(column)
    return list(groups.values())


def _reference(matrix: Matrix, column: Column) -> tuple[str, MetricResult] | None:
    """The best baseline by this metric; a ceiling says nothing about parts."""
    for other in by_rank([c.result if c else None for c in column.cells], column.direction):
        cell = column.cells[other]
        if matrix.roles[other] == "baseline" and not matrix.competes[other] and cell is not None:
            return matrix.names[other], cell.result
    return None


def _part_figure(
    pen: _Pen, result: MetricResult, keys: list[str], model: str, reference: tuple[str, MetricResult] | None
) -> dict[str, Any] | None:
    beside = reference[1].per_unit if reference else {}
    rows = [
        {"part": part, "value": value, "reference": beside.get(part)}
        for part, value in result.per_unit.items()
        if value is not None
    ]
    if not rows:
        return None
    notes = []
    gaps = [part for part, value in result.per_unit.items() if value is None]
    if len(rows) > plots.MOST_PARTS:
        rows.sort(key=lambda row: (row["value"], row["part"]), reverse=result.direction == "lower")
        notes.append(f"the {plots.MOST_PARTS} worst of {len(rows):,} parts")
        rows = rows[: plots.MOST_PARTS]
    if gaps:
        more = f" and {len(gaps) - 6} more" if len(gaps) > 6 else ""
        notes.append(f"undefined: {', '.join(gaps[:6])}{more}")
    if reference:
        notes.append(f"tick: {reference[0]}")
    metric = ", ".join(keys)
    svg = pen.draw(plots.bars, rows, metric=metric, model=model)
    return {"metric": metric, "svg": svg, "note": "; ".join(notes)}


def _drawn(pen: _Pen, item: Confusion | Curve, model: str) -> dict[str, Any]:
    if isinstance(item, Confusion):
        note = "true class down, predicted class across; shade: share of the true class"
        svg = pen.draw(plots.confusion, item, model=model)
        return {"heading": "Confusion", "note": note, "svg": svg, "wide": len(item.predicted_classes) > 6}
    heading = {"roc": "ROC", "pr": "Precision and recall", "reliability": "Reliability"}[item.kind]
    notes = ["dashed: chance" if item.kind != "reliability" else "dashed: perfect; dots grow with the rows in a bin"]
    if item.low:
        notes.append("band: 95 % at each point")
    svg = pen.draw(plots.curve, item, model=model)
    of = f", {item.name}" if item.name else ""
    return {"heading": heading + of, "note": "; ".join(notes), "svg": svg, "wide": False}


def _provenance(name: str, result: EvalResult) -> dict[str, Any]:
    def pairs(mapping: Mapping[str, Any]) -> str:
        return ", ".join(f"{key} {value}" for key, value in sorted(mapping.items()))

    libraries = {key: version for r in result for key, version in r.libraries.items()}
    facts = [
        ("labels", pairs(result.labels)),
        ("predictions", result.predictions_sha256 or f"no fingerprint ({result.predictions_reason})"),
        ("request", result.request_hash),
        ("scores", result.scores_hash),
        ("metrics", ", ".join(f"{key} v{r.version}" for key, r in zip(result.keys(), result, strict=True))),
        ("packages", pairs({**result.packages, **libraries})),
        ("environment", pairs(result.environment)),
        ("seeds", pairs(result.seeds)),
        ("device", result.device),
        ("seconds", ", ".join(f"{stage} {seconds:.3g}" for stage, seconds in result.timings.items())),
        ("created", result.created),
    ]
    return {"model": name, "facts": [(key, text) for key, text in facts if text]}
