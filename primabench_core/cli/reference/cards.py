"""Cards of tasks, datasets, recipes, baselines and benchmarks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from primabench_core.cli.reference import metrics
from primabench_core.cli.reference.catalogue import Catalogue, file_of
from primabench_core.cli.reference.markdown import code, facts, prose, table
from primabench_core.contract.contract import Contract
from primabench_core.contract.fields import Field
from primabench_core.discovery.metric_text import write
from primabench_core.discovery.names import Record
from primabench_core.spec import BaselineSpec, BenchmarkSpec, DatasetSpec, RecipeSpec, TaskSpec

SYNTHETIC = '!!! note "Synthetic"\n    Made, not measured: for offline trials; never on a board.'


def pages(found: Catalogue) -> dict[str, str]:
    """One page for each thing (baselines: for each task), and an index of each kind."""
    result = {f"tasks/{file_of(n)}": _task(r, s, found) for n, (r, s) in found.of("task").items()}
    result |= {f"datasets/{file_of(n)}": _dataset(r, s, found) for n, (r, s) in found.of("dataset").items()}
    result |= {f"recipes/{file_of(n)}": _recipe(r, s, found) for n, (r, s) in found.of("recipe").items()}
    result |= {f"benchmarks/{file_of(n)}": _benchmark(r, s, found) for n, (r, s) in found.of("benchmark").items()}
    result["baselines/index.md"] = _baselines(found)
    for kind, heading in (("task", "Tasks"), ("dataset", "Datasets"), ("benchmark", "Benchmarks")):
        rows = [
            (f"[{code(n)}]({file_of(n)})", prose(s.title), prose(s.summary), code(r.distribution))
            for n, (r, s) in found.of(kind).items()
        ]
        body = table(("name", "title", "what it is", "distribution"), rows) or "None is installed."
        result[f"{kind}s/index.md"] = f"# {heading}\n\n{body}"
    rows = [
        (f"[{code(n)}]({file_of(n)})", "no" if s.is_bundled else "yes", prose(s.curator), code(r.distribution))
        for n, (r, s) in found.of("recipe").items()
    ]
    body = table(("builds", "needs a network", "curator", "distribution"), rows) or "None is installed."
    result["recipes/index.md"] = f"# Recipes\n\nPublic source to immutable bytes: `primabench build NAME`.\n\n{body}"
    return result


def card(kind: str, record: Record, spec: Any, found: Catalogue) -> str:
    """The card of one thing, as it stands on its page."""
    if kind == "metric":
        return metrics.section(record, spec, found)
    makers: dict[str, Callable[[Record, Any, Catalogue], str]] = {
        "task": _task,
        "dataset": _dataset,
        "recipe": _recipe,
        "baseline": _baseline,
        "benchmark": _benchmark,
    }
    return makers[kind](record, spec, found)


def _to(kind: str, name: str, found: Catalogue, up: str = "../") -> str:
    return f"[{code(name)}]({up}{kind}s/{file_of(name)})" if name in found.of(kind) else code(name)


def _metric(name: str, found: Catalogue) -> str:
    address = metrics.link(name, found)
    return f"[{code(name)}](../metrics/{address})" if address else code(name)


def _task(record: Record, spec: TaskSpec, found: Catalogue) -> str:
    panel = []
    for use in spec.metrics:
        entry = found.of("metric").get(use.name)
        mark = "orders tables" if use.name == spec.primary else ""
        shown = _metric(use.name, found) if not use.params else code(write(use.name, use.params))
        panel.append((shown, metrics.ARROWS[entry[1].direction] if entry else "not installed", mark))
    splits = [
        (_to("dataset", s.dataset, found), prose(s.summary))
        for _, s in found.of("preparer").values()
        if s.task == spec.name
    ]
    baselines = [(code(s.name), prose(s.summary)) for _, s in found.of("baseline").values() if s.task == spec.name]
    parts = [
        f"# {spec.title}",
        prose(spec.summary),
        facts(
            [
                ("name", code(spec.name)),
                ("unit", spec.unit),
                ("independent unit", code(spec.independent_unit)),
                ("default dataset", _to("dataset", spec.default_dataset, found)),
                ("synthetic dataset", _to("dataset", spec.synthetic_dataset, found) if spec.synthetic_dataset else ""),
                ("training labels", _training_labels(spec)),
                ("aggregate of the panel", code(spec.aggregate)),
                ("version", f"{spec.version}, of {code(record.distribution)}"),
            ]
        ),
        spec.description.strip(),
        "## Contract",
        _contract(spec.contract),
        "## Metrics",
        table(("metric", "better", "use"), panel),
        "## Datasets and splits" if splits else "",
        table(("dataset", "how rows are split"), splits),
        "## Baselines" if baselines else "",
        table(("baseline", "how it predicts"), baselines),
        "## References\n\n" + "\n".join(f"- {prose(r)}" for r in spec.references) if spec.references else "",
    ]
    return "\n\n".join(part for part in parts if part)


def _training_labels(spec: TaskSpec) -> str:
    if spec.test_only:
        return "none: test-only, there is no train split"
    return "yes" if spec.supervised else "none: train and test are the same data"


def _contract(contract: Contract) -> str:
    missing = contract.missing
    rules = [
        (
            "a unit without a prediction",
            {"error": "is an error", "partial": "is allowed; coverage stands beside the score"}.get(
                str(missing), f"counts as {missing}"
            ),
        ),
        (
            "a row that comes again",
            "the largest absolute value counts"
            if contract.repeats == "max_abs"
            else "as the argument `duplicates` says",
        ),
        ("a row that is not in the truth", {"refuse": "is refused", "ignore": "is ignored"}[contract.outside]),
        (
            "a class outside the vocabulary",
            {"count": "counts as an error", "refuse": "is refused"}[contract.unknown_labels],
        ),
        ("rows", "have ids of their own and name their unit" if contract.many_rows_per_unit else "one a unit"),
        ("ignored fields", ", ".join(map(code, contract.ignored))),
    ]
    sides = [
        f"**{title}**\n\n" + table(("field", "kind", "meaning", "rules"), [_field(f) for f in fields])
        for title, fields in (
            ("Prediction", contract.prediction),
            ("Prediction, in another form", contract.forms),
            ("Solution", contract.solution),
        )
        if fields or title != "Prediction, in another form"
    ]
    return "\n\n".join([*sides, facts(rules)])


def _field(field: Field) -> tuple[str, str, str, str]:
    marks = []
    if field.optional:
        marks.append("optional")
    if field.nullable:
        marks.append("may be missing")
    if isinstance(field.vocabulary, tuple):
        marks.append(f"one of {', '.join(map(str, field.vocabulary))}")
    elif field.kind == "label" and field.vocabulary == "truth":
        marks.append("classes of the truth")
    if field.low is not None or field.high is not None:
        ends = ("" if end is None else f"{end:g}" for end in (field.low, field.high))
        marks.append("range {} to {}".format(*ends))
    marks += [f"units {field.units}" if field.units else "", f"columns: {field.coord}" if field.coord else ""]
    return code(field.name), field.kind, prose(field.doc), ", ".join(filter(None, marks))


def _dataset(record: Record, spec: DatasetSpec, found: Catalogue) -> str:
    splits = [
        (_to("task", s.task, found), prose(s.summary), code(s.id_list_sha256[:16] + "…") if s.id_list_sha256 else "")
        for _, s in found.of("preparer").values()
        if s.dataset == spec.key
    ]
    parts = [
        f"# {spec.title}",
        SYNTHETIC if spec.is_synthetic else "",
        prose(spec.summary),
        facts(
            [
                ("key", code(spec.key)),
                ("citation", prose(spec.publication)),
                ("DOI", f"[{spec.doi}](https://doi.org/{spec.doi})" if spec.doi else ""),
                ("measured first in", prose(spec.origin)),
                ("licence", prose(spec.licence)),
                ("organism", prose(spec.organism)),
                ("modality", prose(spec.modality)),
                ("units", f"{spec.n_units:,}" if spec.n_units is not None else ""),
                ("content hash", code(spec.content_hash)),
                ("built by", _to("recipe", spec.key, found) if spec.key in found.of("recipe") else ""),
                ("links", ", ".join(f"<{url}>" for url in spec.citation_urls)),
                ("version of the card", f"{spec.version}, of {code(record.distribution)}"),
            ]
        ),
        spec.notes.strip(),
        "## Splits" if splits else "",
        table(("task", "how rows are split", "SHA-256 of the id list"), splits),
    ]
    return "\n\n".join(part for part in parts if part)


def _recipe(record: Record, spec: RecipeSpec, found: Catalogue) -> str:
    sources = [
        (code(s.name), f"<{s.url}>" if s.url else f"inside {code(s.package)}", code(s.sha256), prose(s.licence))
        for s in spec.sources
    ]
    parts = [
        f"# Recipe of {spec.dataset}",
        facts(
            [
                ("dataset", _to("dataset", spec.dataset, found)),
                ("function", code(spec.build)),
                ("needs a network", "no" if spec.is_bundled else "yes"),
                ("needs", ", ".join(map(code, spec.requires))),
                ("curator", prose(spec.curator)),
                ("version", f"{spec.version}, of {code(record.distribution)}"),
            ]
        ),
        f"```sh\nprimabench build {spec.dataset}\n```",
        metrics.doc_or_fault(spec.build, record.distribution),
        "## Sources" if sources else "",
        table(("file", "where", "SHA-256", "licence"), sources),
        "## History\n\n" + "\n".join(f"- {prose(line)}" for line in spec.history) if spec.history else "",
    ]
    return "\n\n".join(part for part in parts if part)


def _baselines(found: Catalogue) -> str:
    by_task: dict[str, list[tuple[Record, Any]]] = {}
    for record, spec in found.of("baseline").values():
        by_task.setdefault(spec.task, []).append((record, spec))
    parts = [
        "# Baselines",
        "Model-free predictors that ship with a task. An *oracle* knows the solution: it runs inside the runner, and "
        "its predictions are never returned.",
    ]
    for task, members in sorted(by_task.items()):
        rows = [
            (
                code(spec.name),
                prose(spec.summary),
                "oracle" if spec.oracle else "",
                ", ".join(map(code, spec.requires)),
                code(record.distribution),
            )
            for record, spec in members
        ]
        parts.append(
            f"## {_to('task', task, found)}\n\n"
            + table(("name", "how it predicts", "kind", "needs", "distribution"), rows)
        )
    return "\n\n".join(parts)


def _baseline(record: Record, spec: BaselineSpec, found: Catalogue) -> str:
    parts = [
        f"# Baseline {spec.name} of {spec.task}",
        prose(spec.summary),
        facts(
            [
                ("task", _to("task", spec.task, found)),
                ("kind", "oracle: it knows the solution and runs inside the runner" if spec.oracle else ""),
                ("needs", ", ".join(map(code, spec.requires))),
                ("function", code(spec.predict)),
                ("version", f"of {code(record.distribution)} {record.version}"),
            ]
        ),
        metrics.doc_or_fault(spec.predict, record.distribution),
        f"```sh\nprimabench evaluate --task {spec.task} --baseline {spec.name}\n```",
    ]
    return "\n\n".join(part for part in parts if part)


def _benchmark(record: Record, spec: BenchmarkSpec, found: Catalogue) -> str:
    rows = [
        (
            _to("task", row.task, found),
            _to("dataset", row.dataset, found),
            ", ".join(_metric(m, found) for m in row.metrics) or "the task's panel",
            ", ".join(map(str, row.seeds)),
        )
        for row in spec.rows
    ]
    about = facts([("name", code(spec.name)), ("version", f"{spec.version}, of {code(record.distribution)}")])
    parts = [f"# {spec.title}", prose(spec.summary), about, table(("task", "dataset", "metrics", "seeds"), rows)]
    return "\n\n".join(parts)
