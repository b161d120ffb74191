"""Windows batch by batch, for training and inference."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from attrs import evolve

from primabench_core import UsageError
from primabench_task_genome.windows.encoding import Encoder
from primabench_task_genome.windows.sequences import (
    GenomeLike,
    OnMismatch,
    OnRefused,
    Sequences,
    check_length,
    choice,
    open_genome,
    windows_of_variants,
)
from primabench_task_genome.windows.sources import Readable, read_variants
from primabench_task_genome.windows.variants import Ints


class SequenceBatches:
    """Batches of windows, cut when they are asked for; see :func:`iter_sequences`.

    It can be gone through any number of times, has a length, and can be sent to worker processes.
    """

    def __init__(self, options: dict[str, Any], batch_size: int, seed: int | None, drop_last: bool) -> None:
        self._options, self.batch_size, self.seed, self.drop_last = options, batch_size, seed, drop_last
        self.epoch = 0
        """Counts how often it was gone through; each time has an order of its own if there is a seed."""

    @property
    def n(self) -> int:
        """Number of variants."""
        return int(self._options["table"].n)

    def __len__(self) -> int:
        return self.n // self.batch_size if self.drop_last else -(-self.n // self.batch_size)

    def __getitem__(self, batch: int) -> Sequences:
        """One batch in the order of the variants.

        Raises:
            IndexError: there is no such batch.
        """
        if not 0 <= batch < len(self):
            raise IndexError(batch)
        return self._cut(np.arange(batch * self.batch_size, min(self.n, (batch + 1) * self.batch_size)))

    def __iter__(self) -> Iterator[Sequences]:
        order = np.arange(self.n)
        if self.seed is not None:
            order = np.random.default_rng((self.seed, self.epoch)).permutation(order)
        self.epoch += 1
        for batch in range(len(self)):
            yield self._cut(order[batch * self.batch_size : (batch + 1) * self.batch_size])

    def _cut(self, rows: Ints) -> Sequences:
        options = self._options
        found = windows_of_variants(options["table"].take(rows), **{k: v for k, v in options.items() if k != "table"})
        # the batch counts its own rows; what was left out is named by its place among all variants
        return evolve(found, refused={int(rows[i]): said for i, said in found.refused.items()})


def iter_sequences(
    variants: Readable,
    genome: GenomeLike,
    length: int,
    *,
    batch_size: int = 256,
    seed: int | None = None,
    drop_last: bool = False,
    strand: Any = "+",
    anchor: Any = None,
    encoding: str = "codes",
    circular: Any = False,
    on_ref_mismatch: OnMismatch = "raise",
    on_refused: OnRefused = "raise",
) -> SequenceBatches:
    """What :func:`~primabench_task_genome.get_sequences` gives, batch by batch: memory holds one batch of windows.

    Variants are read now, bases when a batch is asked for; a row that cannot be used is refused with its batch.

    Args:
        variants: As in ``get_sequences``.
        genome: As in ``get_sequences``.
        length: Bases of a window.
        batch_size: Variants of a batch; the last one has fewer.
        seed: Go through the variants in a drawn order, another one each time; None keeps their order.
        drop_last: Leave out a last batch that is not full.
        strand: As in ``get_sequences``.
        anchor: As in ``get_sequences``.
        encoding: ``codes``, ``one_hot`` or ``text``.
        circular: As in ``get_sequences``.
        on_ref_mismatch: As in ``get_sequences``.
        on_refused: As in ``get_sequences``.

    Returns:
        An iterable of :class:`~primabench_task_genome.Sequences`; ``len`` is the number of batches.

    Raises:
        UsageError: an argument makes no sense.

    Example:
        >>> variants = {"chrom": ["1"] * 3, "pos": [2, 3, 4], "ref": ["C", "G", "T"], "alt": ["A", "A", "A"]}
        >>> batches = iter_sequences(variants, {"1": "ACGTA"}, 4, batch_size=2)
        >>> len(batches), [batch.alt_seq.shape for batch in batches]
        (2, [(2, 4), (1, 4)])
    """
    if isinstance(batch_size, bool) or not isinstance(batch_size, int) or batch_size < 1:
        raise UsageError(f"batch_size is a whole number from 1, not {batch_size!r}")
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int) or seed < 0):
        raise UsageError(f"seed is a whole number from 0 or None, not {seed!r}")
    options = {
        "table": read_variants(variants, strand=strand, anchor=anchor),
        "genome": open_genome(genome, circular),
        "length": check_length(length),
        "encoder": Encoder(encoding),
        "report": choice("on_ref_mismatch", on_ref_mismatch) == "report",
        "skip": choice("on_refused", on_refused) == "report",
    }
    return SequenceBatches(options, batch_size, seed, drop_last)
