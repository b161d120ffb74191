"""Everything that is installed, loaded in isolation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import frozen

from primabench_core.discovery import registry
from primabench_core.discovery.names import Record

KINDS = ("task", "dataset", "metric", "baseline", "benchmark", "recipe", "preparer")


@frozen
class Catalogue:
    """Specs by kind and name, with the records they come from, and what is broken."""

    specs: Mapping[str, Mapping[str, tuple[Record, Any]]]
    broken: tuple[Record, ...]

    @classmethod
    def load(cls) -> Catalogue:
        """Load every spec; a broken one is a record with a reason."""
        records = registry.check_all()
        specs: dict[str, dict[str, tuple[Record, Any]]] = {kind: {} for kind in KINDS}
        for record in records:
            if record.kind in specs and record.status == "ok":
                specs[record.kind][record.name] = record, registry.load_record(record)
        broken = tuple(r for r in records if r.status not in ("ok", "disabled"))
        return cls(specs, broken)

    def of(self, kind: str) -> Mapping[str, tuple[Record, Any]]:
        """Name to record and spec, sorted by name."""
        return dict(sorted(self.specs[kind].items()))


def file_of(name: str) -> str:
    """File name of a thing's page."""
    return name.replace("/", "-").replace("@", "-").replace("|", "-") + ".md"
