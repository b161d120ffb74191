"""``primabench fetch``: paths of the data that a task gives to a model; the solution is never among them."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from primabench_core.cli.output import write, write_json


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = "Print where the train and test data of a task lie in the store."
    parser.add_argument("--task", required=True, help="name of the task")
    parser.add_argument("--dataset", help="publication/slug@version; default: the task's own")
    parser.add_argument("--store", help="store to read; overrides PRIMABENCH_STORE")
    parser.add_argument("--test-only", action="store_true", help="the task has no training data")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: Namespace) -> int:
    """Fetch and return 0."""
    from primabench_core.store.access import fetch_data, fetch_test

    if args.test_only:
        paths = {"test": str(fetch_test(args.task, dataset=args.dataset, store=args.store))}
    else:
        train, test = fetch_data(args.task, dataset=args.dataset, store=args.store)
        paths = {"train": str(train), "test": str(test)}
    if args.json:
        write_json(paths)
    else:
        for split, path in paths.items():
            write(f"{split:<6} {path}")
    return 0
