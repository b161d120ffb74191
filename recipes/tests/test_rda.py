"""R's saved objects: written here byte by byte as "R Internals" describes them, read back, and refused when broken."""

from __future__ import annotations

import csv
import gzip
import struct
from pathlib import Path

import numpy as np
import pytest
from primabench_recipes.formats.rda import read_rda

from primabench_core import CorruptDataError

NIL, GLOBAL = struct.pack(">i", 254), struct.pack(">i", 253)


def integer(*values: int) -> bytes:
    return struct.pack(f">{len(values)}i", *values)


def text(value: str | None) -> bytes:
    if value is None:
        return integer(9, -1)
    data = value.encode()
    return integer(9 | 1 << 12, len(data)) + data


def symbol(name: str) -> bytes:
    return integer(1) + text(name)


def pairs(items: dict[str, bytes], *, attributes: bytes = b"") -> bytes:
    flags = 2 | 0x400 | (0x200 if attributes else 0)
    parts = [integer(flags) + attributes + symbol(name) + item for name, item in items.items()]
    return b"".join(parts) + NIL


def vector(kind: int, body: bytes, n: int, attributes: dict[str, bytes] | None = None) -> bytes:
    head = integer(kind | (0x200 if attributes else 0), n)
    return head + body + (pairs(attributes) if attributes else b"")


def reals(values: np.ndarray, **attributes: bytes) -> bytes:
    return vector(14, np.asarray(values, ">f8").tobytes(), len(values), attributes)


def integers(values: list[int], **attributes: bytes) -> bytes:
    return vector(13, np.asarray(values, ">i4").tobytes(), len(values), attributes)


def texts(*values: str | None, **attributes: bytes) -> bytes:
    return vector(16, b"".join(map(text, values)), len(values), attributes)


def listed(items: list[bytes], **attributes: bytes) -> bytes:
    return vector(19, b"".join(items), len(items), attributes)


def environment(items: dict[str, bytes]) -> bytes:
    return integer(4, 0) + GLOBAL + NIL + listed([NIL, pairs(items)]) + NIL


def s4(slots: dict[str, bytes]) -> bytes:
    return integer(25 | 0x200) + pairs(slots)


def saved(objects: dict[str, bytes], version: int = 2) -> bytes:
    encoding = integer(5) + b"UTF-8" if version == 3 else b""
    return f"RDX{version}\nX\n".encode() + integer(version, 0x40101, 0x20300) + encoding + pairs(objects)


def matrix(values: np.ndarray, rows: list[str], columns: list[str]) -> bytes:
    names = listed([texts(*rows), texts(*columns)])
    return reals(values.ravel(order="F"), dim=integers(list(values.shape)), dimnames=names)


def embryos(expression: np.ndarray, genes: list[str], cells: list[str], numbers: list[int]) -> dict[str, bytes]:
    """An ExpressionSet as destiny has it: names of cells are a factor."""
    levels = sorted(set(cells))
    factor = integers([levels.index(name) + 1 for name in cells], levels=texts(*levels))
    columns = [factor, reals(np.asarray(numbers, float))]
    about = listed(columns, names=texts("Cell", "num_cells"), **{"class": texts("data.frame")})
    rows = [str(i) for i in range(len(cells))]
    return {
        "guo_norm": s4(
            {
                "assayData": environment({"exprs": matrix(expression.T, genes, rows)}),
                "phenoData": s4({"data": about}),
            }
        )
    }


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("packed", [False, True])
def test_values_come_back(tmp_path: Path, version: int, packed: bool) -> None:
    X = np.asarray([[1.0, -2.5, np.nan], [0.0, 1e300, 3.0]])
    objects = {
        "X": matrix(X, ["a", "b"], ["u", "v", "w"]),
        "counts": integers([1, -(2**31), 3]),
        "words": texts("ä", None, ""),
        "nested": listed([NIL, texts("x")], names=texts("nothing", "x")),
        "place": environment({"inside": integers([7])}),
        "thing": s4({"slot": texts("held")}),
    }
    data = saved(objects, version)
    path = tmp_path / "all.rda"
    path.write_bytes(gzip.compress(data) if packed else data)
    found = read_rda(path)
    assert np.array_equal(found["X"].matrix, X, equal_nan=True)
    assert found["X"].dimnames == [["a", "b"], ["u", "v", "w"]]
    assert np.array_equal(found["counts"].value, [1, np.nan, 3], equal_nan=True)
    assert found["words"].value == ["ä", None, ""]
    assert found["nested"]["x"].value == ["x"]
    assert found["nested"]["nothing"].value is None
    assert found["place"]["inside"].value.tolist() == [7]
    assert found["thing"]["slot"].value == ["held"]
    with pytest.raises(CorruptDataError, match="no part 'other'"):
        found["thing"]["other"]


def test_symbols_are_told_once_and_referred_to_later(tmp_path: Path) -> None:
    first = integer(2 | 0x400) + symbol("a") + integers([1])
    again = integer(2 | 0x400) + integer(255 | 1 << 8) + integers([2]) + NIL
    path = tmp_path / "twice.rda"
    path.write_bytes(b"RDX2\nX\n" + integer(2, 0, 0) + first + again)
    assert read_rda(path)["a"].value.tolist() == [2]


def test_compact_vectors_of_version_3(tmp_path: Path) -> None:
    about = integer(2) + symbol("compact_intseq") + NIL
    sequence = integer(238) + about + reals(np.asarray([4.0, 10.0, 1.0])) + NIL
    wrapped = integer(238) + integer(2) + symbol("wrap_real") + NIL + listed([reals(np.asarray([0.5]))]) + NIL
    path = tmp_path / "compact.rda"
    path.write_bytes(saved({"s": sequence, "w": wrapped}, 3))
    found = read_rda(path)
    assert found["s"].value.tolist() == [10, 11, 12, 13]
    assert found["w"].value.tolist() == [0.5]


def test_what_is_no_data_is_refused_and_not_run(tmp_path: Path) -> None:
    path = tmp_path / "bad.rda"
    closure = integer(3) + NIL + NIL + NIL
    good = saved({"x": reals(np.arange(3.0))})
    cases = {
        "type 3": saved({"f": closure}),
        "type 6": saved({"call": integer(6) + NIL + NIL}),
        "no file of R": b"RDA2\nA\n" + good[7:],
        "no file": b"",
        "ends early": good[:-9],
        "vector longer": saved({"x": integer(14, -1)}),
        "form 'deferred_string'": saved({"x": integer(238, 2) + symbol("deferred_string") + NIL + NIL + NIL}, 3),
        "cannot be read": gzip.compress(good)[:-12],
        "no named objects": b"RDX2\nX\n" + integer(2, 0, 0) + integers([1]),
    }
    for message, data in cases.items():
        path.write_bytes(data)
        with pytest.raises(CorruptDataError, match=message):
            read_rda(path)


# -- the embryos -------------------------------------------------------------------------------------------------------


@pytest.fixture
def guo(real, tmp_path):
    """Writes the real cells as the package carries them; ``change`` may alter them before."""
    place = real / "single_cell/guo2010_embryo_qpcr"
    with gzip.open(place / "expression.csv.gz", "rt") as stream:
        header, *rows = list(csv.reader(stream))
    with (place / "cells.csv").open() as stream:
        number = {row["cell"]: int(row["num_cells"]) for row in csv.DictReader(stream)}

    def write(change=lambda *parts: parts):
        cells = [row[0] for row in rows]
        expression = np.asarray([row[1:] for row in rows], np.float64)
        parts = change(expression, header[1:], cells, [number[cell] for cell in cells])
        path = tmp_path / "guo_norm.rda"
        path.write_bytes(gzip.compress(saved(embryos(*parts))))
        return {path.name: path}, parts

    return write


def test_embryos_under_blind_names(run, guo) -> None:
    given, (expression, genes, cells, numbers) = guo()
    found = run("guo_embryo", given)
    labelled, censored = found["labelled/data.zarr"], found["censored/data.zarr"].data
    data = labelled.data
    assert labelled.is_private
    assert found["solution/data.zarr"].is_private
    assert data["expression"].shape == (428, 48)
    assert data.coords["genes"] == tuple(genes)
    by_name = {name: i for i, name in enumerate(cells)}
    back = [by_name[name] for name in data["source_name"]]
    assert sorted(back) == list(range(428))
    assert np.array_equal(data["expression"], expression[back].astype(np.float32))
    assert np.array_equal(data["stage"], np.log2(np.asarray(numbers, float))[back])
    assert dict(zip(*np.unique(data["stage"], return_counts=True), strict=True)) == {
        1: 19,
        2: 23,
        3: 43,
        4: 75,
        5: 109,
        6: 159,
    }
    assert len(set(data["embryo"])) == 42
    assert np.isnan(censored["stage"]).all()
    assert set(censored["source_name"]) == set(censored["embryo"]) == {None}
    assert abs(np.corrcoef(np.arange(428), data["stage"])[0, 1]) < 0.15  # the order tells nothing
    assert all(name.startswith("cell-") for name in data.ids)


def test_the_order_of_the_source_does_not_matter(run, guo) -> None:
    first = run("guo_embryo", guo()[0])["labelled/data.zarr"].data

    def turned(expression, genes, cells, numbers):
        return expression[::-1], genes, cells[::-1], numbers[::-1]

    assert run("guo_embryo", guo(turned)[0])["labelled/data.zarr"].data == first


def test_embryos_that_are_not_those_of_the_card_are_refused(run, guo, tmp_path) -> None:
    def other_number(expression, genes, cells, numbers):
        return expression, genes, cells, [3, *numbers[1:]]

    def other_name(expression, genes, cells, numbers):
        return expression, genes, ["4C 1.1", *cells[1:]], numbers

    def gap(expression, genes, cells, numbers):
        return np.where(expression == expression[0, 0], np.nan, expression), genes, cells, numbers

    for change, message in ((other_number, "3 cells"), (other_name, "'4C 1.1'"), (gap, "missing")):
        with pytest.raises(CorruptDataError, match=message):
            run("guo_embryo", guo(change)[0])
    path = tmp_path / "guo_norm.rda"
    path.write_bytes(saved({"guo": integers([1])}))
    with pytest.raises(CorruptDataError, match="holds guo, not guo_norm"):
        run("guo_embryo", {path.name: path})
