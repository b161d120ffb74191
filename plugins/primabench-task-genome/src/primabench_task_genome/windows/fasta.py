"""Where bases come from: FASTA files with an index (plain, block-compressed, behind a URL), or text in memory.

Each source knows the length of its sequences and gives spans of them as upper-case bytes.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from primabench_core import CorruptDataError, MissingDataError, UsageError

Bases = NDArray[np.uint8]
Span = tuple[int, int]

UPPER = 0xDF
"""Mask that makes ASCII letters upper case; other characters become codes below ``A``, so that they are found."""


class Source(Protocol):
    """What :class:`~primabench_task_genome.windows.genome.Genome` asks of a file."""

    @property
    def name(self) -> str:
        """How messages call it."""

    @property
    def lengths(self) -> Mapping[str, int]:
        """Bases of each sequence, by name."""

    @property
    def gap(self) -> int:
        """Bases between two spans below which reading them in one piece is cheaper."""

    def fetch(self, sequence: str, spans: Sequence[Span]) -> list[Bases]:
        """Upper-case bytes of half-open spans that lie inside of a sequence, each an array that may be changed."""


@frozen
class IndexEntry:
    """One line of a ``.fai`` index."""

    length: int
    offset: int
    """Byte at which the first base stands."""
    line_bases: int
    line_bytes: int

    def raw_span(self, start: int, end: int) -> tuple[int, int, int]:
        """First and last byte of the lines that hold these bases, and how many bases of them come before."""
        first = start // self.line_bases
        stop = self.offset + (end - 1) // self.line_bases * self.line_bytes + (end - 1) % self.line_bases + 1
        return self.offset + first * self.line_bytes, stop, start - first * self.line_bases

    def strip(self, raw: Bases, before: int, count: int, file: str) -> Bases:
        """Bases out of raw bytes that begin with a line: line ends dropped, upper case.

        Raises:
            CorruptDataError: there are other bytes than letters, so the index is not that of this file.
        """
        whole = len(raw) // self.line_bytes
        head = raw[: whole * self.line_bytes].reshape(whole, self.line_bytes)[:, : self.line_bases]
        tail = raw[whole * self.line_bytes :][: self.line_bases]
        found = np.empty(whole * self.line_bases + len(tail), np.uint8)
        found[: whole * self.line_bases].reshape(whole, self.line_bases)[:] = head
        found[whole * self.line_bases :] = tail
        found &= UPPER
        bases = found[before : before + count]
        if len(bases) != count or (count and bases.min() < ord("A")):
            raise _misfit(file, f"{file}.fai")
        return bases


def read_index(text: str, file: str) -> dict[str, IndexEntry]:
    """Entries of a ``.fai`` file.

    Raises:
        CorruptDataError: a line has not five fields, or a name stands twice.
    """
    found: dict[str, IndexEntry] = {}
    for number, line in enumerate(text.splitlines(), 1):
        parts = line.split("\t")
        if len(parts) < 5 or not all(p.isdigit() for p in parts[1:5]) or parts[0] in found:
            raise CorruptDataError(f"the index of {file} is damaged in line {number}: {line[:60]!r}")
        found[parts[0]] = IndexEntry(*map(int, parts[1:5]))
    if not found:
        raise CorruptDataError(f"{file} holds no sequence")
    return found


class PlainFasta:
    """An uncompressed local file, mapped into memory; its index is made by samtools' own code where it is absent."""

    gap = 1 << 12

    def __init__(self, path: Path) -> None:
        self.path, self.name = path, str(path)
        self.index = read_index(_local_index(path), self.name)
        self.lengths = {name: entry.length for name, entry in self.index.items()}
        self._raw: Bases | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_raw": None}  # each process maps the file itself

    def fetch(self, sequence: str, spans: Sequence[Span]) -> list[Bases]:
        """Upper-case bytes of spans."""
        if self._raw is None:
            self._raw = np.memmap(self.path, np.uint8, "r")
        entry = self.index[sequence]
        found = []
        for start, end in spans:
            first, stop, before = entry.raw_span(start, end)
            raw = np.asarray(self._raw[first:stop])
            found.append(entry.strip(raw, before, end - start, self.name))
        return found


class BlockFasta:
    """A local file that ``bgzip`` compressed, read by pysam."""

    gap = 1 << 16

    def __init__(self, path: Path, name: str = "") -> None:
        self.path, self.name = path, name or str(path)
        self._file: Any = None
        self._process = 0
        self._folder: Path | None = None  # of an index that cannot stand beside the file
        self._open()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_file": None, "_folder": None}  # the folder goes with this object

    def _open(self) -> Any:
        import pysam

        if self._file is None or self._process != os.getpid():  # a forked process would share the place in the file
            try:
                fai, gzi = self._indices()
                self.lengths = {n: e.length for n, e in read_index(fai.read_text("ascii"), self.name).items()}
                self._file, self._process = pysam.FastaFile(str(self.path), str(fai), str(gzi)), os.getpid()
            except (OSError, ValueError, pysam.utils.SamtoolsError) as error:
                raise CorruptDataError(
                    f"{self.name} cannot be read as a FASTA file compressed in blocks: {_first_line(error)}",
                    remedy="gzip cannot be read from the middle: gunzip it, or compress it with bgzip",
                ) from error
        return self._file

    def _indices(self) -> tuple[Path, Path]:
        """The two indices: those beside the file, made where one is absent or older than it.

        Where nothing can be written beside the file they stand in a temporary folder, which is removed with this
        object or at the end of the process that made it.
        """
        import pysam

        for folder in (self.path.parent, self._folder):
            if folder is not None and all(_is_current(found, self.path) for found in self._names(folder)):
                return self._names(folder)
        if not _writable(self.path.parent):
            self._folder = Path(tempfile.mkdtemp())
            weakref.finalize(self, _remove, self._folder, os.getpid())
            fai, gzi = self._names(self._folder)
            pysam.faidx(str(self.path), "--fai-idx", str(fai), "--gzi-idx", str(gzi))
            return fai, gzi
        with tempfile.TemporaryDirectory(dir=self.path.parent, prefix=f".{self.path.name}.") as made:
            fai, gzi = self._names(Path(made))  # whole before they get their names: others may read at this moment
            pysam.faidx(str(self.path), "--fai-idx", str(fai), "--gzi-idx", str(gzi))
            for found in (gzi, fai):
                found.replace(self.path.parent / found.name)
        return self._names(self.path.parent)

    def _names(self, folder: Path) -> tuple[Path, Path]:
        return folder / f"{self.path.name}.fai", folder / f"{self.path.name}.gzi"

    def fetch(self, sequence: str, spans: Sequence[Span]) -> list[Bases]:
        """Upper-case bytes of spans.

        Raises:
            CorruptDataError: there are other characters than letters, so the index is not that of this file.
        """
        handle, found = self._open(), []
        for start, end in spans:
            try:
                bases = np.frombuffer(handle.fetch(sequence, start, end).encode("ascii"), np.uint8) & np.uint8(UPPER)
            except (OSError, ValueError, KeyError) as error:
                raise _misfit(self.name, f"{self.name}.fai and {self.name}.gzi") from error
            if len(bases) != end - start or bases.min(initial=UPPER) < ord("A"):
                raise _misfit(self.name, f"{self.name}.fai and {self.name}.gzi")
            found.append(bases)
        return found


class RemoteFasta:
    """An uncompressed file behind any fsspec URL: only the ranges that are asked for are read."""

    gap = 1 << 19

    def __init__(self, url: str) -> None:
        self.name = url
        fs, path = _file_system(url)
        if fs.exists(f"{path}.fai"):
            text = fs.cat_file(f"{path}.fai").decode("ascii")
        else:
            text = _index_of_stream(url)
        self.index = read_index(text, url)
        self.lengths = {name: entry.length for name, entry in self.index.items()}

    def fetch(self, sequence: str, spans: Sequence[Span]) -> list[Bases]:
        """Upper-case bytes of spans, all ranges asked for together."""
        fs, path = _file_system(self.name)
        entry = self.index[sequence]
        places = [entry.raw_span(start, end) for start, end in spans]
        try:
            parts = fs.cat_ranges(
                [path] * len(places), [p[0] for p in places], [p[1] for p in places], on_error="raise"
            )
        except OSError as error:
            raise MissingDataError(f"{self.name} cannot be read: {_first_line(error)}") from error
        return [
            entry.strip(np.frombuffer(part, np.uint8), before, end - start, self.name)
            for part, (_, _, before), (start, end) in zip(parts, places, spans, strict=True)
        ]


class TextFasta:
    """Sequences in memory, by name."""

    gap = 0
    name = "the sequences given"

    def __init__(self, sequences: Mapping[str, str]) -> None:
        for name, text in sequences.items():
            if not (isinstance(name, str) and isinstance(text, str)):
                raise UsageError(
                    f"sequences are a mapping of names to text; of {name!r} there is {type(text).__name__}"
                )
        self._bases = {name: _upper(text.encode("ascii", "replace"), name) for name, text in sequences.items()}
        self.lengths = {name: len(bases) for name, bases in self._bases.items()}

    def fetch(self, sequence: str, spans: Sequence[Span]) -> list[Bases]:
        """Upper-case bytes of spans."""
        return [self._bases[sequence][start:end].copy() for start, end in spans]


def open_source(place: object) -> Source:
    """The source behind a path, a URL, or a mapping of names to text.

    Raises:
        MissingDataError: there is no such file.
        CorruptDataError: it is no FASTA file, or one that cannot be read from the middle.
        UsageError: it is nothing of the three.
    """
    if isinstance(place, Mapping):
        return TextFasta(place)
    if not isinstance(place, str | Path):
        raise UsageError(
            f"a genome is a path, a URL, a Genome or a mapping of names to text, not {type(place).__name__}"
        )
    text = str(place)
    is_url = "://" in text or "::" in text
    if is_url and text.removesuffix(".gz") == text:
        return RemoteFasta(text)
    if is_url:
        return BlockFasta(Path(_local_copy(text)), text)
    path = Path(text)
    if not path.is_file():
        raise MissingDataError(f"there is no FASTA file {path}")
    with path.open("rb") as stream:
        begin = stream.read(2)
    if begin == b"\x1f\x8b":
        return BlockFasta(path)
    if begin[:1] != b">":
        raise CorruptDataError(f"{path} is no FASTA file: it does not begin with '>'")
    return PlainFasta(path)


def _upper(letters: bytes, name: str) -> Bases:
    bases: Bases = np.frombuffer(letters, np.uint8) & np.uint8(UPPER)
    if len(bases) and bases.min() < ord("A"):
        place = int(np.argmax(bases < ord("A")))
        raise CorruptDataError(
            f"the sequence {name!r} holds {chr(letters[place])!r}, which is no letter (first of those read: {place:,})",
            remedy="write N for unknown bases, and nothing for gaps",
        )
    return bases


def _local_index(path: Path) -> str:
    """Text of the ``.fai`` beside a file; made where it is absent or older, in a temporary folder if need be."""
    import pysam

    beside = Path(f"{path}.fai")
    if _is_current(beside, path):
        return beside.read_text("ascii")
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder, f"{path.name}.fai")
        try:
            pysam.faidx(str(path), "--fai-idx", str(made))
        except pysam.utils.SamtoolsError as error:
            raise CorruptDataError(
                f"{path} cannot be indexed as a FASTA file: {_first_line(error)}",
                remedy="all lines of a sequence but the last one must have one length",
            ) from error
        text = made.read_text("ascii")
    if _writable(path.parent):
        with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=f".{path.name}.", delete=False) as stream:
            stream.write(text)
        Path(stream.name).replace(beside)
    return text


def _is_current(index: Path, file: Path) -> bool:
    return index.is_file() and index.stat().st_mtime_ns >= file.stat().st_mtime_ns


def _misfit(file: str, indices: str) -> CorruptDataError:
    return CorruptDataError(
        f"{file} does not fit its index: where bases should be, there is something else",
        remedy=f"remove {indices}, so that the index is made again",
    )


def _remove(folder: Path, process: int) -> None:
    """Remove a temporary folder, but not from a forked process while its parent reads there."""
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


def _index_of_stream(url: str) -> str:
    """Index of a remote file that has none beside it: pyfaidx reads it once, and nothing is written there."""
    import fsspec
    from pyfaidx import Faidx, FastaIndexingError, FastaNotFoundError  # type: ignore[import-untyped]

    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder, "index.fai")
        try:
            Faidx(fsspec.open(url), indexname=made).close()
        except (FastaNotFoundError, FileNotFoundError) as error:
            raise MissingDataError(f"there is no FASTA file {url}") from error
        except (FastaIndexingError, ValueError, OSError) as error:
            raise CorruptDataError(f"{url} cannot be indexed as a FASTA file: {_first_line(error)}") from error
        return made.read_text("ascii")


def _file_system(url: str) -> tuple[Any, str]:
    from fsspec.core import url_to_fs

    try:
        fs, path = url_to_fs(url)
    except (ValueError, ImportError) as error:
        raise UsageError(f"{url} is no URL that fsspec can read: {_first_line(error)}") from error
    return fs, path


def _local_copy(url: str) -> str:
    """A block-compressed file is brought here as a whole: its index addresses bytes of the compressed file."""
    import fsspec

    _file_system(url)  # names a protocol that is not known
    try:
        return str(fsspec.open_local(f"simplecache::{url}"))
    except (FileNotFoundError, OSError) as error:
        raise MissingDataError(f"{url} cannot be read: {_first_line(error)}") from error


def _writable(folder: Path) -> bool:
    return os.access(folder, os.W_OK)


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
