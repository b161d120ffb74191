"""``primabench fetch``: paths of the data that a task gives to a model; the solution is never among them."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from primabench_core.cli.output import bytes_bar, write, write_json


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = (
        "Print where the train and test data of a task lie; from a remote store they are brought into the cache first."
    )
    parser.add_argument("--task", required=True, help="name of the task")
    parser.add_argument("--dataset", help="publication/slug@version; default: the task's own")
    parser.add_argument("--store", help="folder, gs://, s3://, https:// or zip file; overrides PRIMABENCH_STORE")
    parser.add_argument("--test-only", action="store_true", help="the task has no training data")
    parser.add_argument("--lazy", action="store_true", help="metadata only; chunks are brought when they are read")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: Namespace) -> int:
    """Fetch and return 0."""
    paths = {split: str(path) for split, path in _fetch(args).items()}
    if args.json:
        write_json(paths)
    else:
        for split, path in paths.items():
            write(f"{split:<6} {path}")
    return 0


def _fetch(args: Namespace) -> dict[str, Path]:
    from primabench_core.store.access import fetch_data, fetch_test

    with bytes_bar("fetching", quiet=args.json) as progress:
        if args.test_only:
            test = fetch_test(args.task, dataset=args.dataset, store=args.store, lazy=args.lazy, progress=progress)
            return {"test": test}
        train, test = fetch_data(args.task, dataset=args.dataset, store=args.store, lazy=args.lazy, progress=progress)
        return {"train": train, "test": test}
