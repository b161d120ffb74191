"""``primabench build NAME | --all-bundled``: run a recipe and put the dataset into the store."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

from primabench_core.cli.output import console, write, write_json

if TYPE_CHECKING:
    from primabench_core.spec import RecipeSpec


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = (
        "Build a dataset from its public source. The store is the folder named by PRIMABENCH_STORE, or the default one."
    )
    parser.add_argument("name", nargs="?", help="publication/slug@version; see `primabench list recipes`")
    parser.add_argument("--all-bundled", action="store_true", help="every recipe that needs no network")
    parser.add_argument(
        "--source",
        action="append",
        default=[],
        metavar="[NAME=]FILE",
        help="a copy at hand, in place of a download; NAME may be left out where the recipe has one source",
    )
    parser.add_argument("--raw-root", metavar="FOLDER", help="the folder of a source that nobody may pass on")
    parser.add_argument("--store", help="store to build into; overrides PRIMABENCH_STORE")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: Namespace) -> int:
    """Build and return 0, or 1 if one of several failed."""
    from primabench_core.errors import UsageError

    if bool(args.name) == args.all_bundled:
        raise UsageError("Name one dataset, or give --all-bundled.", remedy="primabench list recipes")
    if args.all_bundled:
        if args.source or args.raw_root:
            raise UsageError("--source and --raw-root go with the name of one dataset.", remedy="primabench build NAME")
        return _build_all(args.store, args.json)
    from primabench_core.discovery import registry

    given = sources_given(registry.load("recipe", args.name), args.source, args.raw_root)
    found = build(args.name, args.store, quiet=args.json, sources=given)
    if args.json:
        write_json({"built": [{"dataset": args.name, "content_hash": found}], "failed": [], "skipped": []})
    return 0


def sources_given(spec: RecipeSpec, words: Sequence[str], raw_root: str | None) -> dict[str, str]:
    """Copies at hand by name of their source, as the command line gives them.

    Raises:
        UsageError: it is not clear which source is meant, or one is meant twice.
    """
    from primabench_core.errors import UnknownNameError, UsageError

    names = [source.name for source in spec.sources]
    folders = [source.name for source in spec.sources if source.files]
    pairs: list[tuple[str, str]] = []
    for word in words:
        name, equals, path = word.partition("=")
        if equals and name in names:
            pairs.append((name, path))
        elif len(names) == 1:
            pairs.append((names[0], word))
        elif equals:
            raise UnknownNameError(
                f"source of {spec.dataset}", name, names, remedy=f"primabench show recipe {spec.dataset}"
            )
        else:
            raise UsageError(
                f"{spec.dataset} has {len(names)} sources: say which one {word} is.",
                remedy=f"--source NAME={word}, NAME one of {', '.join(names)}",
            )
    if raw_root is not None:
        if len(folders) != 1:
            raise UsageError(f"{spec.dataset} reads no folder; --raw-root does not apply.", remedy="--source NAME=FILE")
        pairs.append((folders[0], raw_root))
    given = dict(pairs)
    if len(given) != len(pairs):
        raise UsageError(f"A source of {spec.dataset} is given twice.", remedy="give each once")
    return given


def _build_all(store: str | None, as_json: bool) -> int:
    from primabench_core.errors import MissingPluginError, PrimaBenchError, VersionExistsError

    done: list[dict[str, str]] = []
    skipped: list[dict[str, str]] = []
    failed: list[dict[str, str]] = []
    for key in bundled():
        try:
            done.append({"dataset": key, "content_hash": build(key, store, quiet=as_json)})
        except VersionExistsError as error:
            skipped.append({"dataset": key, "reason": f"already built ({error.message})"})
        except MissingPluginError as error:
            skipped.append({"dataset": key, "reason": str(error)})
        except PrimaBenchError as error:
            failed.append({"dataset": key, "error": str(error)})
            console(stderr=True).print(f"{key}: {error}", style="red", markup=False)
    if as_json:
        write_json({"built": done, "failed": failed, "skipped": skipped})
    for item in () if as_json else skipped:
        write(f"skipped {item['dataset']}: {item['reason']}")
    return 1 if failed else 0


def bundled() -> list[str]:
    """Keys of all recipes that build without a network."""
    from primabench_core.discovery import names, registry

    return [key for key in names.names("recipe") if registry.load("recipe", key).is_bundled]


def build(key: str, store: str | None, *, quiet: bool, sources: dict[str, str] | None = None) -> str:
    """Build one dataset with a progress bar and return its content hash."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    from primabench_core.store.build import build_dataset

    out = console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=out, transient=True, disable=quiet or not out.is_terminal) as bar:
        job = bar.add_task(f"building {key}", total=None)

        def progress(step: str, done: int, total: int) -> None:
            bar.update(job, description=step, completed=done, total=total or None)

        audited: list[str] = []
        look = None if quiet else audited.extend
        manifest = build_dataset(key, store=store, progress=progress, sources=sources, audit=look)
    if not quiet:
        write(f"built {key}")
        write(f"  content hash {manifest.content_hash}")
    if audited:
        write("  leak audit")
        for line in audited:
            write(f"  - {line}")
    return str(manifest.content_hash)
