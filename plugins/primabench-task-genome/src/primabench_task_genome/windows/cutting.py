"""Cuts reference and alternative windows out of a genome, whole arrays at a time.

With ``centre = length // 2``, the anchor (by default the first base of the variant) stands at ``centre``. Bases before
the anchor are fixed, what lies behind moves up or down by the length that the variant takes or gives, and the window is
cut to its length. A variant that begins before the anchor works the other way round there: bases behind are fixed and
those before move. One that spans the anchor is parted there, reference and alternative alike (the rule of kipoiseq).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from primabench_task_genome.windows.encoding import Encoder
from primabench_task_genome.windows.genome import Genome
from primabench_task_genome.windows.variants import Alleles, Bools, Ints, Problems

Bases = NDArray[np.uint8]

BLOCK = 1 << 20
"""Bases of a chromosome that are held at once beside the windows."""


@frozen(eq=False)
class Places:
    """Rows of variants as numbers: where they are, what they replace, what is looked at."""

    start: Ints
    """(n,) 0-based first base of the variant."""
    anchor: Ints
    """(n,) 0-based base that stands in the middle."""
    ref: Alleles
    alt: Alleles
    length: int

    @property
    def centre(self) -> int:
        """Where the anchor stands in a window."""
        return self.length // 2

    def spans(self, rows: Ints) -> tuple[Ints, Ints]:
        """Bases that are needed of the genome, half-open: both windows, both alleles."""
        taken, given = self.ref.lengths[rows], self.alt.lengths[rows]
        longest = np.maximum(taken, given)
        low = self.anchor[rows] - self.centre
        start = self.start[rows]
        before = start < self.anchor[rows]
        most_low = np.where(before, low - longest, low)
        most_high = low + self.length + np.where(start + taken > self.anchor[rows], longest, 0)
        return np.minimum(most_low, start), np.maximum(most_high, start + longest)


@frozen(eq=False)
class Cut:
    """Windows of all rows."""

    ref: Bases
    """(n, length) uint8."""
    alt: Bases
    """(n, length) uint8."""
    alt_is_genome: Bools
    """(n,) whether the genome holds the alternative allele."""


def cut_windows(
    genome: Genome,
    names: list[str],
    codes: Ints,
    places: Places,
    problems: Problems,
    encoder: Encoder,
    *,
    report: bool,
) -> Cut:
    """Windows of all rows that have no problem yet; new ones (a wrong reference allele) are noted.

    Args:
        genome: Where bases come from.
        names: Own names of the sequences.
        codes: (n,) place of each row's sequence in ``names``.
        places: The rows.
        problems: What is wrong with rows; gets wrong reference alleles.
        encoder: Turns letters into what windows hold.
        report: Keep rows whose alternative allele is what the genome has.
    """
    n = len(codes)
    cut = Cut(np.empty((n, places.length), np.uint8), np.empty((n, places.length), np.uint8), np.zeros(n, bool))
    wrong = np.zeros((3, n), bool)
    good = np.flatnonzero(~problems.bad)
    good = good[np.argsort(codes[good], kind="stable")]
    edges = np.searchsorted(codes[good], np.arange(1, len(names)))
    for name, rows in zip(names, np.split(good, edges), strict=False):  # without names there are no rows
        for chosen, buffer, low in _buffers(genome, name, places, rows):
            fits = _matches(buffer, low, places.start[chosen], places.ref, chosen)
            if not fits.all():
                bad = chosen[~fits]
                swapped = _matches(buffer, low[~fits], places.start[bad], places.alt, bad)
                first = buffer[low[~fits] + places.start[bad]]
                wrong[np.where(swapped, 1, np.where(first == ord("N"), 2, 0)), bad] = True
                cut.alt_is_genome[bad[swapped]] = report
                fits[~fits] = swapped if report else False
                chosen, low = chosen[fits], low[fits]
            encoder.encode(buffer)
            _cut_rows(cut, buffer, low, places, chosen, encoder)
    _note(problems, genome.name, wrong, report=report)
    return cut


def _note(problems: Problems, name: str, wrong: Bools, *, report: bool) -> None:
    plain, swapped, masked = wrong
    expected = f"the bases of {name} at that place"
    if not report:
        problems.add(
            "ref", expected, "another allele, and the genome has the alternative one", swapped,
            "The alleles may be swapped: on_ref_mismatch='report' keeps these rows and flags them.",
        )  # fmt: skip
    problems.add(
        "ref", expected, "an allele where the genome is masked (N)", masked,
        "Genomes for alignment hide the pseudo-autosomal regions of Y: give the place on X (par_to_x).",
    )  # fmt: skip
    problems.add(
        "ref", expected, "another allele", plain,
        "Positions are counted from 1 and alleles given on the plus strand, of the same assembly.",
    )  # fmt: skip


def _buffers(genome: Genome, name: str, places: Places, rows: Ints) -> Iterator[tuple[Ints, Bases, Ints]]:
    """Rows of one sequence in blocks along it: rows, a buffer, and what to add to a position to find it there."""
    if not len(rows):
        return
    low, high = places.spans(rows)
    order = np.argsort(low, kind="stable")
    rows, low, high = rows[order], low[order], high[order]
    blocks = (low - low[0]) // BLOCK
    edges = np.flatnonzero(np.diff(blocks)) + 1
    for first, last in zip([0, *edges.tolist()], [*edges.tolist(), len(rows)], strict=True):
        a, b = low[first:last], np.maximum.accumulate(high[first:last])
        new = np.concatenate(([0], np.flatnonzero(a[1:] > b[:-1] + genome.gap) + 1))
        starts, ends = a[new], np.append(b[new[1:] - 1], b[-1])
        parts = genome.spans(name, list(zip(starts.tolist(), ends.tolist(), strict=True)))
        sizes = ends - starts
        shift = (np.cumsum(sizes) - sizes - starts)[np.cumsum(np.bincount(new, minlength=len(a))) - 1]
        yield rows[first:last], parts[0] if len(parts) == 1 else np.concatenate(parts), shift


def _matches(buffer: Bases, shift: Ints, start: Ints, alleles: Alleles, rows: Ints) -> Bools:
    """Whether the buffer holds each row's allele at its start."""
    found = np.ones(len(rows), bool)
    sizes = alleles.lengths[rows]
    for size in np.unique(sizes).tolist():
        some = np.flatnonzero(sizes == size)
        at = (shift + start)[some]
        same = windows_of(buffer, at, size) == alleles.matrix(rows[some], size)
        found[some] = same.all(axis=1)
    return found


def windows_of(buffer: Bases, starts: Ints, width: int) -> Bases:
    """(len(starts), width) bytes from each start on; one copy a row."""
    if not width or not len(starts):
        return np.empty((len(starts), width), np.uint8)
    pieces: NDArray[Any] = np.ndarray((len(buffer) - width + 1,), f"V{width}", buffer, 0, (1,))
    return pieces[starts].view(np.uint8).reshape(len(starts), width)


def _cut_rows(cut: Cut, buffer: Bases, shift: Ints, places: Places, rows: Ints, encoder: Encoder) -> None:
    """Windows of rows whose bases are in the buffer.

    Windows are first the genome as it is, then the genome with one allele replaced: reference and alternative, or the
    other way round where the genome holds the alternative allele.
    """
    if not len(rows):
        return
    length, centre = places.length, places.centre
    turned = cut.alt_is_genome[rows]
    low = shift + places.anchor[rows] - centre
    windows = windows_of(buffer, low, length)
    normal, turned_rows = rows[~turned], rows[turned]
    cut.ref[normal if len(turned_rows) else rows] = windows[~turned] if len(turned_rows) else windows
    cut.alt[turned_rows] = windows[turned]
    taken = np.where(turned, places.alt.lengths[rows], places.ref.lengths[rows])
    given = np.where(turned, places.ref.lengths[rows], places.alt.lengths[rows])
    offset = places.start[rows] - places.anchor[rows]
    for flag in (False, True) if len(turned_rows) else (False,):
        new = places.ref if flag else places.alt
        for key, some in _groups(offset, taken, given, turned == flag):
            _edit(windows, buffer, low, some, key, new.matrix(rows[some], key[2]), encoder, centre)
    cut.alt[normal if len(turned_rows) else rows] = windows[~turned] if len(turned_rows) else windows
    cut.ref[turned_rows] = windows[turned]


def _groups(offset: Ints, taken: Ints, given: Ints, mask: Bools) -> Iterator[tuple[tuple[int, int, int], Ints]]:
    """Rows that are edited in the same columns: offset from the anchor, bases replaced, bases put there."""
    chosen = np.flatnonzero(mask)
    keys = np.stack([offset[chosen], taken[chosen], given[chosen]], axis=1)
    if len(keys) and (keys == keys[0]).all():  # nearly always: single bases
        yield tuple(keys[0].tolist()), chosen
        return
    if not len(keys):
        return
    low, size = keys.min(axis=0), np.ptp(keys, axis=0) + 1
    packed = ((keys[:, 0] - low[0]) * size[1] + keys[:, 1] - low[1]) * size[2] + keys[:, 2] - low[2]
    order = np.argsort(packed, kind="stable")
    for some in np.split(order, np.flatnonzero(np.diff(packed[order])) + 1):
        if len(some):
            yield tuple(keys[some[0]].tolist()), chosen[some]


def _edit(
    edited: Bases,
    buffer: Bases,
    low: Ints,
    rows: Ints,
    key: tuple[int, int, int],
    allele: Bases,
    encoder: Encoder,
    centre: int,
) -> None:
    """Replace the same columns of some rows.

    Args:
        edited: (all rows, length) windows, changed in place.
        buffer: Bases of the genome, encoded.
        low: (all rows,) where each window begins in the buffer.
        rows: The rows to change.
        key: Offset of the variant from the anchor, bases that it replaces, bases that it puts there.
        allele: (len(rows), bases put there) letters.
        encoder: What windows hold.
        centre: Column of the anchor.
    """
    offset, taken, given = key
    length = edited.shape[1]
    everything = len(rows) == len(edited)
    letters = encoder.of(allele)
    left_taken = min(taken, max(0, -offset))  # bases of the reference before the anchor
    left_given = given if left_taken == taken else min(given, left_taken)

    def put(first: int, columns: Bases) -> None:
        begin, end = max(0, first), min(length, first + columns.shape[1])
        if begin < end:
            edited[slice(None) if everything else rows, begin:end] = columns[:, begin - first : end - first]

    if left_taken:
        behind = centre + offset + left_taken  # the column behind the part before the anchor
        first = behind - left_given
        put(first, letters[:, :left_given])
        if left_given != left_taken and first > 0:
            put(0, windows_of(buffer, low[rows] + left_given - left_taken, first))
    if left_taken < taken:
        column = centre + offset + left_taken
        right = letters[:, left_given:]
        put(column, right)
        after = column + right.shape[1]
        if right.shape[1] != taken - left_taken and after < length:
            put(after, windows_of(buffer, low[rows] + column + taken - left_taken, length - after))
