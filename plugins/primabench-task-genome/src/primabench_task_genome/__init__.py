"""PrimaBench tasks on genomes: variant effects, labelled sequences, tracks; and windows around variants.

Importing this package loads nothing: specs are light values in :mod:`primabench_task_genome.specs`; windows, loaders,
metrics and baselines are resolved when they run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

_HOMES = {
    "get_sequences": "windows.sequences",
    "iter_sequences": "windows.batches",
    "left_normalise": "windows.normalise",
    "par_to_x": "windows.normalise",
    "Genome": "windows.genome",
    "Sequences": "windows.sequences",
    "SequenceBatches": "windows.batches",
    "Variants": "windows.variants",
    "read_variants": "windows.sources",
    "near_duplicates": "leaks",
}

__all__ = [*_HOMES]

if TYPE_CHECKING:
    from primabench_task_genome.leaks import near_duplicates as near_duplicates
    from primabench_task_genome.windows.batches import SequenceBatches as SequenceBatches
    from primabench_task_genome.windows.batches import iter_sequences as iter_sequences
    from primabench_task_genome.windows.genome import Genome as Genome
    from primabench_task_genome.windows.normalise import left_normalise as left_normalise
    from primabench_task_genome.windows.normalise import par_to_x as par_to_x
    from primabench_task_genome.windows.sequences import Sequences as Sequences
    from primabench_task_genome.windows.sequences import get_sequences as get_sequences
    from primabench_task_genome.windows.sources import read_variants as read_variants
    from primabench_task_genome.windows.variants import Variants as Variants


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
