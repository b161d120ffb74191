"""``primabench push NAME --to URL``: publish a built dataset version to another store."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from primabench_core.cli.output import bytes_bar, write, write_json


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = (
        "Publish a built dataset version to another store. Refused are a version that is there, a licence that is "
        "missing or forbids it, and code that is not committed."
    )
    parser.add_argument("name", help="publication/slug@version, built in the local store")
    parser.add_argument("--to", required=True, metavar="URL", help="gs://, s3://, a folder, or a new .zip file")
    parser.add_argument("--store", help="local store to read from; overrides PRIMABENCH_STORE")
    parser.add_argument("--public-only", action="store_true", help="leave the private part (all answers) behind")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: Namespace) -> int:
    """Publish and return 0."""
    from primabench_core.store.release import push

    with bytes_bar(f"publishing {args.name}", quiet=args.json) as progress:
        manifest = push(args.name, args.to, args.store, progress, private=not args.public_only)
    if args.json:
        write_json({"dataset": args.name, "content_hash": manifest.content_hash, "to": args.to})
    else:
        write(f"published {args.name} to {args.to}")
        write(f"  content hash {manifest.content_hash}")
    return 0
