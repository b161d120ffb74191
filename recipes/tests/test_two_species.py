"""The recipe of human and mouse pancreas, on small tables of the layout of GEO."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from primabench_core import CorruptDataError

pytest.importorskip("scipy", reason="counts are sparse")

GENES = {"human": ["INS", "GCG", "A1BG"], "mouse": ["Ins1", "Gcg", "Pisd", "PISD"]}
TYPES = {"human": ["beta", "alpha", "t_cell", "acinar"], "mouse": ["beta", "alpha", "T_cell", "B_cell"]}
DONORS = ("human1", "human2", "human3", "human4", "mouse1", "mouse2")


@pytest.fixture
def tables(tmp_path):
    """Six gzipped tables; ``change`` gets name and lines of each."""

    def write(change=lambda donor, lines: lines):
        given = {}
        for number, donor in enumerate(DONORS):
            species, rng = donor[:5], np.random.default_rng(number)
            lines = [["", "barcode", "assigned_cluster", *GENES[species]]]
            for cell, kind in enumerate(TYPES[species], 1):
                counts = rng.poisson(2.0, len(GENES[species])).tolist()
                lines.append([f"{donor}_lib1.final_cell_{cell:04d}", "ACGT-TGCA", kind, *map(str, counts)])
            path = tmp_path / f"GSM_{donor}_umifm_counts.csv.gz"
            with gzip.open(path, "wt", encoding="utf-8") as stream:
                stream.writelines(",".join(line) + "\n" for line in change(donor, lines))
            given[f"{donor}.csv.gz"] = path
        return given

    return write


def test_cells_of_both_species_keep_their_own_genes(run, tables):
    found = run("pancreas_human_mouse", tables())
    hidden, labelled = found["censored/data.zarr"].data, found["labelled/data.zarr"].data
    assert labelled.n == 24
    assert labelled.coords["genes"] == (
        "human:INS", "human:GCG", "human:A1BG", "mouse:Ins1", "mouse:Gcg", "mouse:Pisd", "mouse:PISD"
    )  # fmt: skip
    counts, human = labelled["counts"].toarray(), np.asarray(labelled["species"]) == "human"
    assert human.sum() == 16
    assert not counts[human, 3:].any()
    assert not counts[~human, :3].any()
    np.testing.assert_array_equal(counts[:4, :3], np.random.default_rng(0).poisson(2.0, (4, 3)))
    assert set(labelled["donor"]) == set(DONORS)
    assert labelled.ids[-1] == "mouse2_lib1.final_cell_0004"
    assert set(labelled["label"][human]) & set(labelled["label"][~human]) == {"beta", "alpha", "t_cell"}
    assert set(hidden["label"].tolist()) == {None}
    assert found["solution/data.zarr"].data["label"].tolist() == labelled["label"].tolist()
    assert found["labelled/data.zarr"].is_private
    assert not found["censored/data.zarr"].is_private


def test_quoted_tables_are_read_alike(run, tables):
    def quoted(donor, lines):
        return [[f'"{word}"' if i < 3 or line is lines[0] else word for i, word in enumerate(line)] for line in lines]

    plain = run("pancreas_human_mouse", tables())["labelled/data.zarr"].data
    again = run("pancreas_human_mouse", tables(quoted))["labelled/data.zarr"].data
    assert again.ids == plain.ids
    assert again.coords == plain.coords
    np.testing.assert_array_equal(again["counts"].toarray(), plain["counts"].toarray())


def fraction(donor, lines):
    lines[1][3] = "0.5"
    return lines


def short(donor, lines):
    return [*lines[:-1], lines[-1][:-1]]


def word(donor, lines):
    lines[2][4] = "many"
    return lines


def other_donor(donor, lines):
    lines[1][0] = "human9_lib1.final_cell_0001"
    return lines


def no_type(donor, lines):
    lines[1][2] = ""
    return lines


def other_genes(donor, lines):
    lines[0][3] = f"{donor} gene"
    return lines


def twice(donor, lines):
    lines[0][4] = lines[0][3]
    return lines


def no_header(donor, lines):
    return lines[1:]


def no_cells(donor, lines):
    return lines[:1]


def strangers(donor, lines):
    return [lines[0], *([*line[:2], f"{donor[:5]} {line[2]}", *line[3:]] for line in lines[1:])]


def same_names(donor, lines):
    return [lines[0], *([f"{donor}_cell", *line[1:]] for line in lines[1:])]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (fraction, "row 1 holds numbers that are no counts"),
        (short, "row 4 has 2 numbers, expected 3"),
        (word, "row 2 holds something that is no number"),
        (other_donor, "row 1 is no cell of human1"),
        (no_type, "row 1 is no cell of human1"),
        (other_genes, "different genes"),
        (twice, "not unique"),
        (no_header, "begins with"),
        (no_cells, "has no cells"),
        (strangers, "no type has the same name"),
        (same_names, "cells are not unique"),
    ],
)
def test_tables_of_another_layout_are_refused(run, tables, change, said):
    with pytest.raises(CorruptDataError, match=said):
        run("pancreas_human_mouse", tables(change))


def test_a_damaged_table_is_refused(run, tables):
    given = tables()
    path = given["mouse1.csv.gz"]
    path.write_bytes(path.read_bytes()[:-12])
    with pytest.raises(CorruptDataError, match="damaged"):
        run("pancreas_human_mouse", given)
