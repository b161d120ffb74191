"""Submissions of every format, and every rule that refuses, drops or skips."""

from __future__ import annotations

import io
import pickle
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from primabench_task_patient.submission import Asked, Limits, SubmissionError, cover, read_submission

from primabench_core import MissingDataError

DATASETS = {"d001": ["s1", "s2", "s3"], "d002": ["001", "1"]}
TASKS = {"t1": Asked("d001", ("s1", "s2")), "t2": Asked("d002", ("001", "1"))}
HEADER = "dataset_id,sample_id,e0,e1\n"
ROWS = "d001,s1,1,2\nd001,s2,3,4\nd001,s3,5,6\nd002,001,7,\nd002,1,8,\n"


def write(tmp_path: Path, text: str | bytes, name: str = "a.csv") -> Path:
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def npz(tmp_path: Path, **arrays: np.ndarray) -> Path:
    given = {
        "dataset_ids": np.array(["d001", "d001"]),
        "sample_ids": np.array(["s1", "s2"]),
        "embeddings": np.ones((2, 2)),
    }
    path = tmp_path / "a.npz"
    np.savez(path, **{k: v for k, v in {**given, **arrays}.items() if v is not None})
    return path


def refusal(path: Path, **options: object) -> str:
    with pytest.raises(SubmissionError) as caught:
        read_submission(path, **options)
    assert caught.value.code in str(caught.value)
    return caught.value.code


def statuses(path: Path) -> dict[str, str]:
    return {
        name: task.reason or task.status for name, task in cover(read_submission(path), DATASETS, TASKS).tasks.items()
    }


def _break_everywhere(path: Path, *, refused_at_least: int) -> None:
    """Every byte in turn is another one: the file is refused or read, and nothing else happens."""
    whole = path.read_bytes()
    refused = 0
    for place in range(0, len(whole), max(1, len(whole) // 800)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0xA5]) + whole[place + 1 :])
        try:
            read_submission(path)
        except SubmissionError:
            refused += 1
    assert refused >= refused_at_least


class TestText:
    def test_ids_are_text_and_widths_differ(self, tmp_path):
        found = cover(read_submission(write(tmp_path, HEADER + ROWS)), DATASETS, TASKS)
        assert found.complete
        assert found.width == {"d001": 2, "d002": 1}
        assert found.vectors["d002"].of(["1", "001"]).tolist() == [[8.0], [7.0]]
        assert found.warnings == ()

    def test_byte_order_mark_line_ends_quotes_and_blank_lines(self, tmp_path):
        text = "\ufeff" + HEADER.replace("\n", "\r\n") + '"d001","s1","1","2"\r\n\r\nd001,s2,3,4\r\n'
        assert read_submission(write(tmp_path, text)).rows == {"d001": {"s1": 0, "s2": 1}}

    def test_columns_in_any_order(self, tmp_path):
        found = read_submission(write(tmp_path, "e9,sample_id,x,dataset_id\n1,s1,2,d001\n"))
        assert found.columns == ("e9", "x")
        assert found.values.tolist() == [[1.0, 2.0]]

    @pytest.mark.parametrize("cell", ["", "nan", "NaN", "NA", "  ", "null"])
    def test_blank_cells(self, tmp_path, cell):
        path = write(tmp_path, HEADER + f"d001,s1,1,{cell}\nd001,s2,2,{cell}\nd001,s3,2,{cell}\n")
        assert cover(read_submission(path), DATASETS, TASKS).width == {"d001": 1}

    def test_booleans_and_exponents_are_numbers(self, tmp_path):
        found = read_submission(write(tmp_path, HEADER + "d001,s1,True,1e-3\nd001,s2,false,-2E5\n"))
        assert found.values.tolist() == [[1.0, 1e-3], [0.0, -2e5]]

    @pytest.mark.parametrize(
        ("text", "code"),
        [
            ("", "empty_file"),
            ("\n\n", "empty_file"),
            (HEADER, "no_rows"),
            ("dataset_id,sample_id\nd001,s1\n", "no_embedding_column"),
            ("dataset_id,e0\nd001,1\n", "missing_id_column"),
            ("dataset_id\tsample_id\te0\nd001\ts1\t1\n", "missing_id_column"),
            (HEADER + "d001,s1,1\n", "ragged_row"),
            (HEADER + "d001,s1,1,2,3\n", "ragged_row"),
            (HEADER + "d001,s1,1,abc\n", "text_column"),
            (HEADER + "d001,s1,1,1_000\n", "text_column"),
            (HEADER + 'd001,s1,1,"1,5"\n', "text_column"),
            (HEADER + "d001,s1,1,2\nd001,s1,3,4\n", "duplicate_key"),
            (HEADER + "d001,,1,2\n", "empty_id"),
            (HEADER + ",s1,1,2\n", "empty_id"),
            ("dataset_id,sample_id,e0,e0\nd001,s1,1,2\n", "duplicate_column"),
            (",dataset_id,sample_id,e0\n0,d001,s1,1\n", "unnamed_column"),
            (HEADER + 'd001,"s1,1,2\n', "unreadable"),
            (HEADER + "d001,s\0,1,2\n", "not_text"),
            (HEADER + f"d001,{'s' * 5000},1,2\n", "too_large"),
            (HEADER + "d001,s1,1," + " " * (1 << 23) + "\n", "too_large"),
            (HEADER + "d001,s1" + ',"\n"' * (1 << 21) + "\n", "too_large"),
        ],
    )
    def test_refused(self, tmp_path, text, code):
        assert refusal(write(tmp_path, text)) == code

    def test_other_encodings_are_refused(self, tmp_path):
        assert refusal(write(tmp_path, (HEADER + ROWS).encode("utf-16"))) == "not_text"

    def test_an_id_is_neither_stripped_nor_folded(self, tmp_path):
        found = cover(read_submission(write(tmp_path, HEADER + "d001, s1,1,2\nd001,S2,1,2\n")), DATASETS, TASKS)
        assert found.unknown == (("d001", " s1"), ("d001", "S2"))
        assert found.tasks["t1"].reason == "dataset_not_covered"

    def test_sizes_are_checked(self, tmp_path):
        path = write(tmp_path, HEADER + ROWS)
        assert refusal(path, limits=Limits(rows=4)) == "too_large"
        assert refusal(path, limits=Limits(columns=1)) == "too_large"
        assert refusal(path, limits=Limits(numbers=9)) == "too_large"
        assert refusal(path, limits=Limits(file_bytes=20)) == "too_large"

    def test_unknown_suffix_and_absent_file(self, tmp_path):
        assert refusal(write(tmp_path, pickle.dumps([1]), "a.pkl")) == "unknown_format"
        with pytest.raises(MissingDataError, match="no such file"):
            read_submission(tmp_path / "absent.csv")
        (tmp_path / "folder.csv").mkdir()
        with pytest.raises(MissingDataError, match="is a folder"):
            read_submission(tmp_path / "folder.csv")

    def test_a_file_of_holes_takes_no_memory(self, tmp_path):
        path = tmp_path / "a.csv"
        with path.open("wb") as file:
            file.truncate(1 << 30)
        tracemalloc.start()
        try:
            assert refusal(path) == "not_text"
            assert tracemalloc.get_traced_memory()[1] < 100 << 20
        finally:
            tracemalloc.stop()

    def test_names_of_a_file_do_not_steer_a_terminal(self, tmp_path):
        with pytest.raises(SubmissionError) as caught:
            read_submission(write(tmp_path, "dataset_id,sample_id,\x1b[2J\u202e\nd001,s1,x\n"))
        assert "\x1b" not in str(caught.value)
        assert "\u202e" not in str(caught.value)
        rows = "d001,\x1b[31m\u202es,1,2\n\x1b]0;,s1,1,2\n"
        found = cover(read_submission(write(tmp_path, HEADER + rows)), DATASETS, TASKS)
        assert found.unknown == (("d001", "\x1b[31m\u202es"), ("\x1b]0;", "s1"))  # data stays as it is
        assert all(warned.message.isprintable() for warned in found.warnings)


class TestCoverage:
    @pytest.mark.parametrize(
        ("rows", "expected"),
        [
            ("d001,s1,1,2\nd001,s2,3,4\n", {"t1": "scored", "t2": "dataset_not_covered"}),
            ("d001,s1,1,2\n", {"t1": "sample_missing", "t2": "dataset_not_covered"}),
            ("d001,s1,1,inf\nd001,s2,3,4\n", {"t1": "not_finite", "t2": "dataset_not_covered"}),
            ("d001,s1,1,\nd001,s2,3,4\n", {"t1": "not_finite", "t2": "dataset_not_covered"}),
            ("d001,s1,,\nd001,s2,,\n", {"t1": "dataset_not_covered", "t2": "dataset_not_covered"}),
            ("d001,s1,1,2\nd001,s2,3,4\nd001,s3,5,-inf\n", {"t1": "scored", "t2": "dataset_not_covered"}),
        ],
    )
    def test_each_task_for_itself(self, tmp_path, rows, expected):
        assert statuses(write(tmp_path, HEADER + rows)) == expected

    def test_an_ignored_row_fills_no_column(self, tmp_path):
        # the unknown sample has a second dimension, the known ones have not: it is ignored wholly
        path = write(tmp_path, HEADER + "d001,s1,1,\nd001,s2,3,\nd001,s3,3,\nd001,who,1,2\n")
        found = cover(read_submission(path), DATASETS, TASKS)
        assert found.width == {"d001": 1}
        assert found.tasks["t1"].status == "scored"
        assert [w.code for w in found.warnings if w.code.startswith("unknown")] == ["unknown_sample"]

    def test_an_infinite_column_is_no_padding(self, tmp_path):
        path = write(tmp_path, HEADER + "d001,s1,1,inf\nd001,s2,3,inf\nd001,s3,3,inf\n")
        found = cover(read_submission(path), DATASETS, TASKS)
        assert found.width == {"d001": 2}
        assert found.tasks["t1"].reason == "not_finite"

    def test_unknown_ids_are_capped_in_the_report(self, tmp_path):
        rows = "".join(f"d009,x{i},1,2\n" for i in range(1500))
        found = cover(read_submission(write(tmp_path, HEADER + rows)), DATASETS, TASKS)
        assert len(found.unknown) == 1000
        assert "1500 rows" in found.warnings[0].message

    def test_many_unknown_data_sets_are_one_warning(self, tmp_path):
        rows = "".join(f"x{i},s1,1,2\n" for i in range(1500))
        found = cover(read_submission(write(tmp_path, HEADER + rows)), DATASETS, TASKS)
        told = [w.message for w in found.warnings if w.code == "unknown_dataset"]
        assert told == ["x0, x1, x2, x3, x4 and 1495 more are no data sets here: 1500 rows are ignored"]

    def test_constant_columns_stay(self, tmp_path):
        path = write(tmp_path, HEADER + "d001,s1,1,2\nd001,s2,1,2\nd001,s3,1,2\n")
        assert cover(read_submission(path), DATASETS, TASKS).width == {"d001": 2}

    @settings(deadline=None, max_examples=60, derandomize=True)
    @given(order=st.permutations(range(5)), blank=st.lists(st.booleans(), min_size=3, max_size=3))
    def test_order_of_rows_and_padding_columns_change_nothing(self, tmp_path_factory, order, blank):
        lines = ["d001,s1,1,2", "d001,s2,3,4", "d001,s3,5,6", "d002,001,7,8", "d002,1,9,10"]
        padding = "," * sum(blank)
        header = "dataset_id,sample_id,e0,e1" + "".join(f",p{i}" for i in range(sum(blank)))
        text = "\n".join([header, *(lines[i] + padding for i in order)]) + "\n"
        found = cover(read_submission(write(tmp_path_factory.mktemp("x"), text)), DATASETS, TASKS)
        assert found.complete
        assert found.width == {"d001": 2, "d002": 2}
        assert found.vectors["d001"].of(["s2", "s1"]).tolist() == [[3.0, 4.0], [1.0, 2.0]]


class TestNpz:
    def test_half_precision_overflow_counts_as_infinite(self, tmp_path):
        path = npz(tmp_path, embeddings=np.array([[1.0, np.inf], [2.0, 3.0]], np.float16))
        assert statuses(path)["t1"] == "not_finite"

    @pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int32, np.uint8, bool, ">f8"])
    def test_real_numbers_are_cast(self, tmp_path, dtype):
        found = read_submission(npz(tmp_path, embeddings=np.eye(2).astype(dtype)))
        assert found.values.dtype == np.float64
        assert found.values.tolist() == [[1.0, 0.0], [0.0, 1.0]]

    def test_bytes_and_integers_are_ids(self, tmp_path):
        path = npz(tmp_path, dataset_ids=np.array([b"d001", b"d001"]), sample_ids=np.array([1, 2]))
        assert read_submission(path).rows == {"d001": {"1": 0, "2": 1}}

    def test_fortran_order(self, tmp_path):
        found = read_submission(npz(tmp_path, embeddings=np.asfortranarray([[1.0, 2.0], [3.0, 4.0]])))
        assert found.values.tolist() == [[1.0, 2.0], [3.0, 4.0]]

    @pytest.mark.parametrize(
        ("arrays", "code"),
        [
            ({"sample_ids": np.array(["s1", None], object)}, "pickle_refused"),
            ({"embeddings": np.array([[1, "x"], [2, "y"]], object)}, "pickle_refused"),
            ({"embeddings": np.array([["1", "2"], ["3", "4"]])}, "text_column"),
            ({"embeddings": np.ones((2, 2), complex)}, "text_column"),
            ({"embeddings": np.ones(2)}, "bad_shape"),
            ({"embeddings": np.ones((3, 2))}, "bad_shape"),
            ({"embeddings": np.ones((2, 0))}, "no_embedding_column"),
            ({"sample_ids": np.array([["s1", "s2"]])}, "bad_shape"),
            ({"sample_ids": np.array([1.0, 2.0])}, "id_not_text"),
            ({"sample_ids": np.array(["s1", "s1"])}, "duplicate_key"),
            ({"sample_ids": None}, "missing_member"),
            ({"labels": np.ones(2)}, "extra_member"),
            ({"sample_ids": np.array(["\ud800", "s2"])}, "id_not_text"),
            ({"sample_ids": np.array([b"\xff", b"s2"])}, "id_not_text"),
        ],
    )
    def test_refused(self, tmp_path, arrays, code):
        assert refusal(npz(tmp_path, **arrays)) == code

    def test_a_header_that_promises_too_much_takes_no_memory(self, tmp_path):
        path = tmp_path / "a.npz"
        with zipfile.ZipFile(path, "w") as archive:
            for name, array in (("dataset_ids", np.array(["d001"])), ("sample_ids", np.array(["s1"]))):
                buffer = io.BytesIO()
                np.save(buffer, array)
                archive.writestr(f"{name}.npy", buffer.getvalue())
            buffer = io.BytesIO()
            np.lib.format.write_array_header_1_0(
                buffer, {"descr": "<f8", "fortran_order": False, "shape": (1 << 20, 1 << 16)}
            )
            archive.writestr("embeddings.npy", buffer.getvalue())
        assert refusal(path) == "too_large"
        assert refusal(path, limits=Limits(numbers=1 << 60)) == "unreadable"

    @pytest.mark.parametrize("content", [b"PK\x03\x04 broken", b"no archive at all", pickle.dumps({"a": 1})])
    def test_no_archive(self, tmp_path, content):
        assert refusal(write(tmp_path, content, "a.npz")) == "unreadable"

    @pytest.mark.parametrize(
        ("member", "descr", "shape", "content", "code"),
        [
            ("embeddings", "<f8", (-2, -2), bytes(32), "bad_shape"),
            ("sample_ids", "<U1", (2,), b"\xff" * 8, "unreadable"),
            ("sample_ids", "<U0", (2,), b"", "empty_id"),
        ],
    )
    def test_headers_that_lie(self, tmp_path, member, descr, shape, content, code):
        buffer = io.BytesIO()
        np.lib.format.write_array_header_1_0(buffer, {"descr": descr, "fortran_order": False, "shape": shape})
        path = npz(tmp_path)
        with zipfile.ZipFile(path) as archive:
            members = {item.filename: archive.read(item) for item in archive.infolist()}
        with zipfile.ZipFile(path, "w") as archive:
            for name, data in {**members, f"{member}.npy": buffer.getvalue() + content}.items():
                archive.writestr(name, data)
        assert refusal(path) == code

    @pytest.mark.parametrize("packing", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
    def test_packings_that_numpy_does_not_write(self, tmp_path, packing):
        path = npz(tmp_path)
        with zipfile.ZipFile(path) as archive:
            members = {item.filename: archive.read(item) for item in archive.infolist()}
        with zipfile.ZipFile(path, "w", packing) as archive:
            for name, data in members.items():
                archive.writestr(name, data)
        assert refusal(path) == "unreadable"

    def test_broken_bytes_are_refused_whatever_breaks(self, tmp_path):
        given = {"dataset_ids": np.array(["d001"] * 9), "sample_ids": np.arange(9).astype(str)}
        np.savez_compressed(tmp_path / "b.npz", embeddings=np.arange(27.0).reshape(9, 3), **given)
        _break_everywhere(tmp_path / "b.npz", refused_at_least=100)

    def test_a_member_twice(self, tmp_path):
        path = npz(tmp_path)
        with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("embeddings.npy", b"x")
        assert refusal(path) == "extra_member"


class TestParquet:
    @pytest.fixture(autouse=True)
    def _needs_pyarrow(self):
        self.pa = pytest.importorskip("pyarrow", reason="submissions in .parquet need pyarrow")
        self.pq = pytest.importorskip("pyarrow.parquet", reason="submissions in .parquet need pyarrow")

    def file(self, tmp_path: Path, **columns: object) -> Path:
        given = {"dataset_id": ["d001", "d001"], "sample_id": ["s1", "s2"], "e0": [1.0, 2.0], **columns}
        path = tmp_path / "a.parquet"
        self.pq.write_table(self.pa.table(given), path)
        return path

    def test_nulls_bools_and_halves(self, tmp_path):
        half = self.pa.array(np.array([0.5, 1.5], np.float16))
        path = self.file(tmp_path, e1=[True, False], e2=half, e3=self.pa.array([None, None], self.pa.float64()))
        found = read_submission(path)
        assert found.values[:, :3].tolist() == [[1.0, 1.0, 0.5], [2.0, 0.0, 1.5]]
        assert cover(found, DATASETS, TASKS).width == {"d001": 3}

    def test_a_column_without_any_value_has_no_type_and_is_padding(self, tmp_path):
        found = read_submission(self.file(tmp_path, e1=self.pa.nulls(2)))
        assert cover(found, DATASETS, TASKS).width == {"d001": 1}

    def test_dictionary_and_integer_ids(self, tmp_path):
        ids = self.pa.array(["d001", "d001"]).dictionary_encode()
        assert read_submission(self.file(tmp_path, dataset_id=ids, sample_id=[1, 2])).rows == {"d001": {"1": 0, "2": 1}}

    @pytest.mark.parametrize(
        ("columns", "code"),
        [
            ({"sample_id": [1.0, 2.0]}, "id_not_text"),
            ({"sample_id": ["s1", None]}, "empty_id"),
            ({"sample_id": ["s1", "s1"]}, "duplicate_key"),
            ({"disease": ["CD", "UC"]}, "text_column"),
            ({"e1": [[1.0], [2.0]]}, "text_column"),
            ({"__index_level_0__": [5, 6]}, "unnamed_column"),
        ],
    )
    def test_refused(self, tmp_path, columns, code):
        assert refusal(self.file(tmp_path, **columns)) == code

    @pytest.mark.parametrize("is_dictionary", [True, False])
    def test_long_ids_are_refused_before_they_are_written_out(self, tmp_path, is_dictionary):
        ids = self.pa.array(["x" * 1_000_000] * 200)
        path = self.file(
            tmp_path, dataset_id=ids.dictionary_encode() if is_dictionary else ids,
            sample_id=[str(i) for i in range(200)], e0=np.zeros(200),
        )  # fmt: skip
        before = self.pa.total_allocated_bytes()
        tracemalloc.start()
        try:
            assert refusal(path) == "too_large"
            assert tracemalloc.get_traced_memory()[1] < 20 << 20
        finally:
            tracemalloc.stop()
        assert self.pa.total_allocated_bytes() - before < 20 << 20

    def test_broken_bytes_are_refused_whatever_breaks(self, tmp_path):
        ids = {"dataset_id": ["d001"] * 9, "sample_id": [f"sample {i}" for i in range(9)]}
        path = self.file(tmp_path, **ids, e0=np.arange(9.0))
        _break_everywhere(path, refused_at_least=100)

    def test_no_parquet_file(self, tmp_path):
        assert refusal(write(tmp_path, b"PAR1 is not enough", "a.parquet")) == "unreadable"

    def test_sizes_are_checked(self, tmp_path):
        assert refusal(self.file(tmp_path), limits=Limits(rows=1)) == "too_large"
