"""``primabench cache info|clear|verify``: what was fetched, how large it is, whether it is whole."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from primabench_core.cli.output import bytes_bar, write, write_columns, write_json

if TYPE_CHECKING:
    from primabench_core.store.cache import Unit


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = "Look at the cache of fetched data (PRIMABENCH_CACHE), clear it, or verify its objects."
    parser.add_argument("action", choices=("info", "clear", "verify"), help="what to do")
    parser.add_argument("--dataset", help="only this publication/slug@version")
    parser.add_argument("--store", help="only what came from this store")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: Namespace) -> int:
    """Do it and return 0; 1 if an object is damaged or something open could not be cleared."""
    from primabench_core.store import cache
    from primabench_core.store.address import Address

    if args.action == "clear":
        return _clear(args)
    wanted = Address.of(args.store).url if args.store else ""
    units = [
        unit
        for unit in cache.units()
        if args.dataset in (None, unit.origin.dataset) and wanted in ("", unit.origin.store)
    ]
    return _verify(args, units) if args.action == "verify" else _info(args, units)


def _info(args: Namespace, units: list[Unit]) -> int:
    from primabench_core.store import cache

    limit, total = cache.size_limit(), sum(unit.size for unit in units)
    if args.json:
        rows = [
            {
                "dataset": u.origin.dataset,
                "store": u.origin.store,
                "content_hash": u.origin.content_hash,
                "bytes": u.size,
                "open": u.is_open,
            }
            for u in units
        ]
        write_json({"cache": str(cache.cache_root()), "limit": limit, "bytes": total, "units": rows})
        return 0
    write(f"cache  {cache.cache_root()}")
    write(
        f"size   {size_text(total)}" + (f" of {size_text(limit)}" if limit else f" (no limit; {cache.LIMIT_VARIABLE})")
    )
    if units:
        write()
        table = [
            [u.origin.dataset, size_text(u.size), _age(cache.age(u)), "open" if u.is_open else "", u.origin.store]
            for u in units
        ]
        write_columns(table, ["dataset", "size", "last use", "", "store"])
    return 0


def _clear(args: Namespace) -> int:
    from primabench_core.store import cache

    removed, left = cache.clear(args.dataset, args.store)
    freed = sum(unit.size for unit in removed)
    if args.json:
        write_json({"freed": freed, "removed": len(removed), "left": [unit.origin.dataset for unit in left]})
    else:
        write(f"removed {len(removed)} of {len(removed) + len(left)}, {size_text(freed)} freed")
        for unit in left:
            write(f"left {unit.origin.dataset}: a process is reading it")
    return 1 if left else 0


def _verify(args: Namespace, units: list[Unit]) -> int:
    from primabench_core.store import cache

    faults = {}
    with bytes_bar("verifying", quiet=args.json) as progress:
        done, total = 0, sum(unit.size for unit in units)
        for unit in units:
            progress(f"verifying {unit.origin.dataset}", done, total)
            fault = cache.verify(unit)
            done += unit.size
            if fault:
                faults[f"{unit.origin.dataset} from {unit.origin.store}"] = fault
    if args.json:
        write_json({"passed": not faults, "verified": len(units), "damaged": faults})
    else:
        for name, fault in faults.items():
            write(f"damaged: {name}: {fault}")
            write(f"  Next: primabench cache clear --dataset {name.partition(' ')[0]}, then fetch again")
        if not faults:
            write(f"{len(units)} datasets, every object is what its manifest says")
    return 1 if faults else 0


def size_text(size: float) -> str:
    """Bytes for a person.

    Example:
        >>> size_text(1_500_000)
        '1.5 MB'
    """
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} TB"


def _age(seconds: float) -> str:
    for name, length in (("d", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= length:
            return f"{seconds / length:.0f} {name} ago"
    return "now"
