"""Binary formats: .npz without pickles, and .parquet. Sizes are checked before an array is read."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from primabench_core import MissingPluginError
from primabench_task_patient.submission.faults import SubmissionError, plain, some
from primabench_task_patient.submission.table import DATASET, LONGEST_ID, SAMPLE, Limits, Table, check_columns

MEMBERS = ("dataset_ids", "sample_ids", "embeddings")


def read_npz(path: Path, limits: Limits) -> Table:
    """Read ``dataset_ids`` (n,), ``sample_ids`` (n,) and ``embeddings`` (n, width); padding is NaN.

    Raises:
        SubmissionError: not an archive of arrays, members missing or extra, pickled objects, wrong shapes, too large.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            _check_members(archive, limits)
            arrays = {name: _member(archive, name, limits) for name in MEMBERS}
        ids = [_texts(arrays[name], column) for name, column in zip(MEMBERS, (DATASET, SAMPLE), strict=False)]
    except (SubmissionError, MemoryError):
        raise
    except Exception as error:  # noqa: BLE001 - zlib, zipfile and numpy fail in ways of their own on broken archives
        raise SubmissionError("unreadable", f"{path.name} is no archive of arrays: {plain(error)}") from None
    values = arrays["embeddings"]
    lengths = {name: len(arrays[name]) for name in MEMBERS}
    if len(set(lengths.values())) > 1:
        said = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise SubmissionError("bad_shape", f"arrays have different lengths: {said}")
    columns = tuple(f"e{i}" for i in range(values.shape[1]))
    if not columns:
        raise SubmissionError("no_embedding_column", "embeddings has no column")
    return Table(ids[0], ids[1], columns, values)


def _check_members(archive: zipfile.ZipFile, limits: Limits) -> None:
    names = [item.filename.removesuffix(".npy") for item in archive.infolist()]
    absent, extra = sorted(set(MEMBERS) - set(names)), sorted(set(names) - set(MEMBERS))
    if absent:
        raise SubmissionError("missing_member", f"no array {some(absent)}; found {some(sorted(set(names)))}")
    if extra or len(names) != len(MEMBERS):
        raise SubmissionError("extra_member", f"other members than {', '.join(MEMBERS)}: {some(extra or names)}")
    if any(item.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for item in archive.infolist()):
        raise SubmissionError("unreadable", "the archive is packed otherwise than numpy packs", remedy="numpy.savez")
    if sum(item.file_size for item in archive.infolist()) > limits.file_bytes:
        raise SubmissionError("too_large", f"unpacked, the arrays take more than {limits.file_bytes:,} bytes")


def _member(archive: zipfile.ZipFile, name: str, limits: Limits) -> NDArray[Any]:
    try:
        info = archive.getinfo(f"{name}.npy")
    except KeyError:
        raise SubmissionError("unreadable", f"{name} is no array") from None
    with archive.open(info) as file:
        try:
            shape, dtype = _header(file)
        except (ValueError, SyntaxError, EOFError) as error:
            raise SubmissionError("unreadable", f"{name} is no array: {error}") from None
        _check_array(name, shape, dtype, limits)
        if info.file_size - file.tell() != int(np.prod(shape, dtype=object)) * dtype.itemsize:
            raise SubmissionError("unreadable", f"{name} is cut: its header says {shape} of {dtype}")
    with archive.open(info) as file:
        array: NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
    return array.astype(np.float64) if name == "embeddings" else array


def _header(file: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    version = np.lib.format.read_magic(file)
    read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}.get(version)
    if read is None:
        raise ValueError(f"version {version} of the format")
    shape, _, dtype = read(file)
    return shape, dtype


def _check_array(name: str, shape: tuple[int, ...], dtype: np.dtype[Any], limits: Limits) -> None:
    if dtype.hasobject:
        raise SubmissionError(
            "pickle_refused", f"{name} holds Python objects, which only pickle can read", remedy="save text or numbers"
        )
    if min(shape, default=0) < 0:
        raise SubmissionError("bad_shape", f"{name} has the shape {shape}")
    wanted = 2 if name == "embeddings" else 1
    if len(shape) != wanted:
        raise SubmissionError("bad_shape", f"{name} has {len(shape)} dimensions, expected {wanted}")
    if name == "embeddings":
        if dtype.kind not in "fiub":
            raise SubmissionError("text_column", f"embeddings are {dtype}, not real numbers")
        limits.check_shape(*shape)
        return
    if dtype.kind not in "USiu":
        raise SubmissionError("id_not_text", f"{name} are {dtype}; ids are text", remedy=f"save {name}.astype(str)")
    if dtype.itemsize > 4 * LONGEST_ID:
        raise SubmissionError("too_large", f"{name}: an id of more than {LONGEST_ID:,} characters")
    limits.check_shape(shape[0], 0)


def _texts(array: NDArray[Any], name: str) -> list[str]:
    if array.dtype.kind == "S":
        try:
            return [item.decode("utf-8") for item in array.tolist()]
        except UnicodeDecodeError:
            raise SubmissionError("id_not_text", f"{name}: bytes that are not UTF-8") from None
    return [str(item) for item in array.tolist()]


def read_parquet(path: Path, limits: Limits) -> Table:
    """Read .parquet: text (or integer) ids, one numeric column for each dimension.

    Raises:
        MissingPluginError: pyarrow is not installed.
        SubmissionError: float ids, columns that are not numeric, too large, no Parquet file.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingPluginError(
            "Submissions in .parquet need pyarrow.", remedy='pip install "primabench-task-patient[parquet]"'
        ) from None
    try:
        # ids that repeat stay indices: written out, one long id would fill the memory
        with pq.ParquetFile(path, read_dictionary=[DATASET, SAMPLE]) as file:
            schema, described = file.schema_arrow, file.metadata
            groups = range(described.num_row_groups)
            if sum(described.row_group(i).total_byte_size for i in groups) > limits.file_bytes:
                raise SubmissionError("too_large", f"unpacked, the table takes more than {limits.file_bytes:,} bytes")
            check_columns(schema.names)
            limits.check_shape(described.num_rows, len(schema.names) - 2)
            _check_types(schema)
            table = file.read()
        columns = tuple(name for name in schema.names if name not in (DATASET, SAMPLE))
        values = np.empty((table.num_rows, len(columns)))
        for place, name in enumerate(columns):
            column = table.column(name)
            numbers = column.cast(pa.uint8()) if pa.types.is_boolean(column.type) else column
            values[:, place] = numbers.cast(pa.float64(), safe=False).to_numpy()  # nulls become NaN
        return Table(_column_of_ids(table, DATASET), _column_of_ids(table, SAMPLE), columns, values)
    except (SubmissionError, MemoryError):
        raise
    except Exception as error:  # noqa: BLE001 - broken files fail in many places: pages, texts, types
        said = plain(str(error).splitlines()[0] if str(error) else type(error).__name__)
        raise SubmissionError("unreadable", f"{path.name} is no Parquet file: {said}") from None


def _check_types(schema: Any) -> None:
    import pyarrow as pa

    is_ = pa.types
    for field in schema:
        kind = field.type.value_type if is_.is_dictionary(field.type) else field.type
        if field.name in (DATASET, SAMPLE):
            if not (
                is_.is_string(kind) or is_.is_large_string(kind) or is_.is_string_view(kind) or is_.is_integer(kind)
            ):
                raise SubmissionError(
                    "id_not_text", f"{field.name} is {field.type}; ids are text",
                    remedy="an id such as 001 is lost in a number: write the column as text",
                )  # fmt: skip
        elif not (
            is_.is_floating(field.type)
            or is_.is_integer(field.type)
            or is_.is_boolean(field.type)
            or is_.is_null(field.type)
        ):
            raise SubmissionError(
                "text_column", f"column {plain(field.name)!r} is {field.type}, not a column of numbers"
            )


def _column_of_ids(table: Any, name: str) -> list[str]:
    import pyarrow as pa

    column = table.column(name)
    for chunk in column.chunks:
        texts = chunk.dictionary if pa.types.is_dictionary(chunk.type) else chunk
        if not pa.types.is_integer(texts.type) and max(map(len, texts.drop_null().to_pylist()), default=0) > LONGEST_ID:
            raise SubmissionError("too_large", f"{name}: an id of more than {LONGEST_ID:,} characters")
    found = column.to_pylist()
    if any(item is None for item in found):
        raise SubmissionError("empty_id", f"{name} is missing in {sum(item is None for item in found)} rows")
    return [str(item) for item in found]
