"""Fetching, loading, the solution: right answers, and refusals that give nothing away."""

from __future__ import annotations

import io
import logging
import shutil
import traceback
from pathlib import Path

import pytest
from attrs import evolve

import primabench_core as pb
from primabench_core.errors import (
    MissingDataError,
    PrimaBenchError,
    StoreError,
    UnknownNameError,
    UsageError,
)
from primabench_core.store.access import (
    dataset_content_hash,
    dataset_manifest,
    fetch_data,
    fetch_test,
    fetch_train,
    load,
    open_solution,
    solution_salt,
    verify_dataset,
)
from primabench_core.store.location import Store


def test_train_and_test_of_a_supervised_task(built):
    train_path, test_path = pb.fetch_data(task="toy")
    train, test = pb.load(train_path, task="toy", split="train"), pb.load(str(test_path), task="toy", split="test")
    assert (train.ids, test.ids) == (tuple(f"u{i}" for i in range(6)), ("u9", "u8", "u7", "u6"))
    assert train["label"].tolist() == ["p", built.module.CANARY, "r", built.module.CANARY, "q", built.module.CANARY]
    assert test["label"].tolist() == [None] * 4
    assert test["x"].shape == (4, 4)
    assert fetch_train("toy") == train_path
    assert fetch_test("toy") == test_path


def test_the_dataset_and_the_store_may_be_named(built, monkeypatch):
    monkeypatch.setenv("PRIMABENCH_STORE", "/nowhere/at/all")
    assert fetch_data("toy", dataset=built.key, store=built.store) == fetch_data("toy", built.key, str(built.store))


def test_an_unsupervised_task_returns_one_path_twice(built):
    train, test = fetch_data("toy_groups")
    assert train == test
    assert load(train, task="toy_groups", split="train") == load(test, task="toy_groups", split="test")


def test_a_test_only_dataset_is_both_errors_and_fetch_test_serves_it(built):
    for kind in (PrimaBenchError, KeyError, MissingDataError):
        with pytest.raises(kind, match=r"pb\.fetch_test"):
            fetch_data("toy_test_only")
    assert load(fetch_test("toy_test_only"), task="toy_test_only", split="test").n == 10


def test_a_dataset_that_is_not_built_names_the_build_line(toy, monkeypatch):
    monkeypatch.setenv("PRIMABENCH_STORE", str(toy.store))
    for call in (fetch_data, fetch_test, lambda task: open_solution(task, toy.key)):
        with pytest.raises(MissingDataError, match=f"primabench build {toy.key}"):
            call("toy")
    assert not toy.store.exists()


def test_unknown_names_are_usage_errors(built):
    with pytest.raises(UnknownNameError, match="Did you mean 'toy'"):
        fetch_data("toyy")
    with pytest.raises(UnknownNameError, match="primabench list datasets --task toy"):
        fetch_data("toy", dataset="doe_2020_journal/other@1.0.0")
    for key in ("../../x@1.0.0", "a/b", "a/../b@1.0.0", "", "A/b@1.0.0"):
        with pytest.raises(UsageError):
            fetch_data("toy", dataset=key)


def test_load_refuses_other_tasks_splits_and_places(built):
    train, test = fetch_data("toy")
    with pytest.raises(UsageError, match="belongs to task 'toy'"):
        load(test, task="toy_groups")
    with pytest.raises(UsageError, match="is the test split"):
        load(test, task="toy", split="train")
    with pytest.raises(UsageError, match="is the train split"):
        load(train, task="toy", split="test")
    for place in (test.parent, built.version / "censored" / "data.zarr", built.store / "no" / "thing", "x"):
        with pytest.raises(MissingDataError):
            load(place, task="toy", split="test")


def test_load_never_opens_what_is_private(built, tmp_path):
    private = built.version / "private" / "toy-p1" / "solution.zarr"
    link = tmp_path / "link"
    link.symlink_to(private)
    for path in (private, link, built.version / "private" / "solution" / "data.zarr"):
        with pytest.raises((UsageError, MissingDataError)) as caught:
            load(path, task="toy", split="test")
        assert "solution" not in str(caught.value)


def test_the_solution_is_read_wholly_and_knows_no_place(built):
    solution = open_solution("toy", built.key)
    shutil.rmtree(built.version / "private")
    assert solution.ids == ("u9", "u8", "u7", "u6")
    assert solution["label"].tolist() == [built.module.CANARY, "r", built.module.CANARY, "p"]
    assert built.module.CANARY not in repr(solution)
    assert str(built.store) not in repr(solution)


def _shown(error: BaseException) -> str:
    """Everything that a log or a terminal would show of an error."""
    stream = io.StringIO()
    traceback.print_exception(error, file=stream)
    logging.Formatter().formatException((type(error), error, error.__traceback__))
    return "\n".join(line for line in stream.getvalue().splitlines() if not line.startswith(("  File", "    ")))


def _missing(private: Path) -> None:
    shutil.rmtree(private / "toy-p1" / "solution.zarr")


def _no_chunk(private: Path) -> None:
    shutil.rmtree(private / "toy-p1" / "solution.zarr" / "label" / "c")


def _flipped(private: Path) -> None:
    file = next(p for p in (private / "toy-p1" / "solution.zarr" / "ids" / "c").rglob("*") if p.is_file())
    file.write_bytes(bytes([file.read_bytes()[0] ^ 1]) + file.read_bytes()[1:])


def _truncated(private: Path) -> None:
    file = private / "toy-p1" / "manifest.json"
    file.write_text(file.read_text()[:-40])


def _climbing(private: Path) -> None:
    file = private / "toy-p1" / "manifest.json"
    file.write_text(file.read_text().replace("solution.zarr", "../../x.zarr"))


def _metadata(private: Path) -> None:
    (private / "toy-p1" / "solution.zarr" / "zarr.json").write_text("{")


@pytest.mark.parametrize("damage", [_missing, _no_chunk, _flipped, _truncated, _climbing, _metadata])
def test_no_fault_of_the_private_part_shows_place_or_value(built, damage):
    damage(built.version / "private")
    with pytest.raises(StoreError) as caught:
        open_solution("toy", built.key)
    shown = _shown(caught.value)
    for secret in (str(built.store), built.module.CANARY, "private/", ".zarr", "toy-p1"):
        assert secret not in shown, shown
    report = verify_dataset(built.key)
    assert not report.passed
    assert built.module.CANARY not in repr(report)
    assert str(built.version / "private") not in repr(report)
    assert ".zarr/" not in report.first_bad


def test_an_unreadable_private_part_shows_no_place(built, monkeypatch):
    real = Path.read_bytes

    def read_bytes(self):
        if "private" in self.parts:
            raise PermissionError(13, "Permission denied", str(self))
        return real(self)

    monkeypatch.setattr(Path, "read_bytes", read_bytes)
    for call in (lambda: open_solution("toy", built.key), lambda: solution_salt(built.key)):
        with pytest.raises(StoreError) as caught:
            call()
        assert str(built.store) not in _shown(caught.value)


def test_the_content_hash_is_that_of_the_manifest(built):
    assert dataset_content_hash(built.key) == dataset_manifest(built.key).content_hash
    with pytest.raises(MissingDataError):
        dataset_content_hash("doe_2020_journal/toy@2.0.0")


def test_the_store_is_the_argument_then_the_environment_then_the_users_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("PRIMABENCH_STORE", str(tmp_path / "env"))
    assert Store.at(tmp_path / "arg").root == tmp_path / "arg"
    assert Store.at().root == tmp_path / "env"
    assert Store.at(f"file://{tmp_path}").root == tmp_path
    monkeypatch.setenv("PRIMABENCH_STORE", "")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "xdg"))
    monkeypatch.setattr("sys.platform", "linux")
    assert Store.at().root == tmp_path / "xdg" / "primabench"


def test_a_dataset_without_private_parts_has_no_salt(toy, monkeypatch):
    real = toy.module.build
    toy.module.build = lambda context: [evolve(a, private=False) for a in real(context) if a.view == "censored"]
    toy.build()
    assert solution_salt(toy.key, toy.store) == b""
    assert not (toy.version / "private").exists()
    assert dataset_manifest(toy.key, toy.store).solution_root == ""
    assert verify_dataset(toy.key, toy.store).passed
