"""``primabench build NAME | --all-bundled``: run a recipe and put the dataset into the store."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from primabench_core.cli.output import console, write, write_json


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = (
        "Build a dataset from its public source. The store is the folder named by PRIMABENCH_STORE, or the default one."
    )
    parser.add_argument("name", nargs="?", help="publication/slug@version; see `primabench list recipes`")
    parser.add_argument("--all-bundled", action="store_true", help="every recipe that needs no network")
    parser.add_argument("--store", help="store to build into; overrides PRIMABENCH_STORE")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: Namespace) -> int:
    """Build and return 0, or 1 if one of several failed."""
    from primabench_core.errors import PrimaBenchError, UsageError, VersionExistsError

    if bool(args.name) == args.all_bundled:
        raise UsageError("Name one dataset, or give --all-bundled.", remedy="primabench list recipes")
    done, failed = [], []
    for key in [args.name] if args.name else bundled():
        try:
            done.append({"dataset": key, "content_hash": build(key, args.store, quiet=args.json)})
        except VersionExistsError as error:
            if args.name:
                raise
            if not args.json:
                write(f"{key}: already built ({error.message})")
        except PrimaBenchError as error:
            if args.name:
                raise
            failed.append({"dataset": key, "error": str(error)})
            console(stderr=True).print(f"{key}: {error}", style="red", markup=False)
    if args.json:
        write_json({"built": done, "failed": failed})
    return 1 if failed else 0


def bundled() -> list[str]:
    """Keys of all recipes that build without a network."""
    from primabench_core.discovery import names, registry

    return [key for key in names.names("recipe") if registry.load("recipe", key).is_bundled]


def build(key: str, store: str | None, *, quiet: bool) -> str:
    """Build one dataset with a progress bar and return its content hash."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    from primabench_core.store.build import build_dataset

    out = console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=out, transient=True, disable=quiet or not out.is_terminal) as bar:
        job = bar.add_task(f"building {key}", total=None)

        def progress(step: str, done: int, total: int) -> None:
            bar.update(job, description=step, completed=done, total=total or None)

        manifest = build_dataset(key, store=store, progress=progress)
    if not quiet:
        write(f"built {key}")
        write(f"  content hash {manifest.content_hash}")
    return str(manifest.content_hash)
