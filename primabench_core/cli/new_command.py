"""``primabench new task|metric|dataset NAME``: a plugin that installs, passes its checks and runs as it is."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from primabench_core.cli.output import write

KINDS = ("task", "metric", "dataset")
ANSWERS = ("class", "number")


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = (
        "Write a complete plugin distribution to start from: it installs, passes `primabench check` and evaluates on "
        "its synthetic data as it is."
    )
    parser.add_argument("kind", choices=KINDS, help="what the plugin brings")
    parser.add_argument("name", help="name of the task or metric; of a dataset its key publication/slug@version")
    parser.add_argument("--answer", choices=ANSWERS, default="class", help="for a task: what is predicted of each unit")
    parser.add_argument("--task", help="for a dataset: the installed task that it is for")
    parser.add_argument(
        "--output", metavar="FOLDER", help="folder to write; by default one named like the distribution"
    )


def run(args: Namespace) -> int:
    """Write the files, print what to type next, and return 0."""
    from primabench_core.cli import scaffold
    from primabench_core.errors import UsageError

    if args.task and args.kind != "dataset":
        raise UsageError("--task goes with `primabench new dataset`.", remedy=f"primabench new {args.kind} {args.name}")
    if args.answer != "class" and args.kind != "task":
        raise UsageError("--answer goes with `primabench new task`.", remedy=f"primabench new {args.kind} {args.name}")
    values, split = _dataset(args.name, args.task) if args.kind == "dataset" else _named(args.kind, args.name)
    folder = Path(args.output or values["distribution"])
    files = scaffold.write(args.kind, folder, values, split=split, answer=args.answer)
    write(f"wrote {len(files)} files to {folder}")
    for file in files:
        write(f"  {file.as_posix()}")
    write("Next:")
    for command in _next(args.kind, {**values, "strong": scaffold.ANSWERS[args.answer][1]}, folder):
        write(f"  {command}")
    return 0


def _named(kind: str, name: str) -> tuple[dict[str, str], bool]:
    from primabench_core.cli.scaffold import check_name

    check_name(kind, name)
    return {
        "name": name,
        "title": name.replace("_", " ").capitalize(),
        "distribution": f"primabench-{kind}-{name.replace('_', '-')}",
        "package": f"primabench_{kind}_{name}",
        "key": f"primabench_synthetic/{name}@1.0.0",
    }, kind == "task"


def _dataset(key: str, task: str | None) -> tuple[dict[str, str], bool]:
    from primabench_core.cli.scaffold import dataset_values
    from primabench_core.discovery import names, registry
    from primabench_core.errors import UsageError
    from primabench_core.store.location import parse_key

    parsed = parse_key(key)
    if task is None:
        raise UsageError("Name the task that the dataset is for: --task TASK.", remedy="primabench list tasks")
    owner = next((r.distribution for r in names.records("dataset") if r.name == key), "")
    if owner:
        raise UsageError(f"The dataset {key!r} exists already, in {owner}.", remedy="primabench list datasets")
    known, split = dataset_values(registry.load("task", task))
    slug = parsed.slug.strip("_")
    words = slug.replace("_", " ").capitalize()
    return {
        **known,
        "key": key,
        "title": f"Synthetic {words}" if parsed.is_synthetic else words,
        "distribution": f"primabench-dataset-{slug.replace('_', '-')}",
        "package": f"primabench_dataset_{slug}",
        "task_distribution": registry.distribution_of("task", task)[0],
    }, split


def _next(kind: str, values: dict[str, str], folder: Path) -> list[str]:
    name = values.get("name", "")
    last = {
        "task": f"primabench evaluate --task {name} --baseline {values['strong']} --build",
        "metric": f"primabench show metric {name}",
        "dataset": f"primabench build {values['key']}",
    }[kind]
    return [f"cd {folder}", 'pip install -e ".[test]"', f"primabench check {values['distribution']}", last]
