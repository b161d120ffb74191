"""Splits are made once, from what a preparer returns, and those that would leak or mislead are refused."""

from __future__ import annotations

import io
import logging
import os
import shutil
import traceback

import pytest
from attrs import evolve

import primabench_core as pb
from primabench_core.errors import CorruptDataError, PluginError, PrimaBenchError, StoreError
from primabench_core.store.access import fetch_data, load, open_solution, verify_dataset
from primabench_core.store.location import Store
from primabench_core.store.prepare import DatasetReader, Splits, prepare


def _shown(error: BaseException) -> str:
    """Everything that a log or a terminal would show of an error."""
    stream = io.StringIO()
    traceback.print_exception(error, file=stream)
    logging.Formatter().formatException((type(error), error, error.__traceback__))
    return "\n".join(line for line in stream.getvalue().splitlines() if not line.startswith(("  File", "    ")))


def test_splits_are_made_on_first_use_where_the_build_could_not(built):
    shutil.rmtree(built.version / "toy-p1")  # its private half is still there, as after a crash between the renames
    train, test = fetch_data("toy")
    assert load(test, task="toy", split="test").n == 4
    assert load(train, task="toy", split="train").n == 6
    assert open_solution("toy", built.key).n == 4
    assert verify_dataset(built.key).passed


def test_a_new_preparer_version_makes_its_own_splits(built):
    before = fetch_data("toy")
    built.change("PREPARE", version="2")
    after = fetch_data("toy")
    assert [p.parent.parent.name for p in (*before, *after)] == ["toy-p1", "toy-p1", "toy-p2", "toy-p2"]


def _fixed(**changes):
    def prepare_other(data: DatasetReader) -> Splits:
        parts = {
            "train": data.artifact("labelled").select(["u0", "u1"]),
            "test": data.artifact("censored").select(["u2", "u3"]),
            "solution": data.artifact("solution").select(["u2", "u3"]),
        }
        return Splits(**{name: changes[name](data) if name in changes else part for name, part in parts.items()})

    return prepare_other


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"test": lambda d: d.artifact("labelled").select(["u2", "u3"])}, "left values in the field 'label'"),
        ({"train": lambda d: d.artifact("labelled").select(["u0", "u2"])}, "1 units into both"),
        ({"solution": lambda d: d.artifact("solution").select(["u2", "u4"])}, "not the same units"),
        ({"solution": lambda d: d.artifact("solution").select(["u2"])}, "2 test rows and 1 answers"),
        ({"solution": lambda d: d.artifact("solution").select(["u2", "u2"])}, "not the same units"),
        ({"solution": lambda d: pb.EvalData({"y": [1, 2]}, ids=["u2", "u3"])}, "without the field 'label'"),
        ({"test": lambda d: d.artifact("censored").select([])}, "empty test"),
        ({"test": lambda d: d.artifact("nothing")}, "no artifact 'data' in view 'nothing'"),
    ],
)
def test_splits_that_would_leak_or_mislead_are_refused(built, changes, complaint):
    built.module.prepare = _fixed(**changes)
    built.change("PREPARE", version="9")
    with pytest.raises(PrimaBenchError, match=complaint):
        prepare("toy", built.key)
    assert not (built.version / "toy-p9").exists()
    assert not list(built.version.rglob(".staging*"))


def test_a_preparer_that_raises_gives_neither_values_nor_places(built):
    def prepare_other(data):
        answers = data.artifact("solution")["label"]
        raise RuntimeError(f"{answers} at {data._store}")

    built.module.prepare = prepare_other
    built.change("PREPARE", version="9")
    with pytest.raises(PluginError, match=r"RuntimeError at test_prepare\.py:\d+") as caught:
        fetch_data("toy")
    assert built.module.CANARY not in _shown(caught.value)
    assert str(built.store) not in _shown(caught.value)


def test_a_train_split_for_an_unsupervised_task_is_refused(built):
    built.module.prepare_groups = _fixed()
    built.change("PREPARE_GROUPS", version="9")
    with pytest.raises(PluginError, match="is unsupervised"):
        fetch_data("toy_groups")


def test_a_train_split_for_a_test_only_task_is_refused(built):
    built.module.prepare_test_only = _fixed()
    built.change("PREPARE_TEST_ONLY", version="9")
    assert fetch_data("toy_test_only")[0].exists()  # the task does not say that it is test-only
    built.change("TEST_ONLY", test_only=True)
    built.change("PREPARE_TEST_ONLY", version="10")
    with pytest.raises(PluginError, match="is test-only"):
        fetch_data("toy_test_only")


def test_the_id_list_is_checked_before_use(built):
    from hashlib import sha256

    listed = built.site / "toy_data" / "ids.tsv"
    (built.site / "toy_data" / "__init__.py").touch()

    def read(text: str, digest: str = "") -> dict:
        listed.write_bytes(text.encode())
        built.change("PREPARE", id_list="toy_data:ids.tsv", id_list_sha256=digest or sha256(text.encode()).hexdigest())
        return DatasetReader(Store.at(built.store), built.module.PREPARE, "toy-plugin").id_list()

    assert read("a\ttrain\nb\ttest\nc\ttrain\n") == {"train": ("a", "c"), "test": ("b",)}
    with pytest.raises(CorruptDataError, match="was changed: expected SHA-256 3333"):
        read("a\ttrain\n", "3" * 64)
    for text in ("a\n", "a\ttrain\textra\n", "\ttrain\n", "a\t\n"):
        with pytest.raises(PluginError, match="line 1 is not"):
            read(text)
    with pytest.raises(PluginError, match="line 2 names the id 'a' a second time"):
        read("a\ttrain\na\ttest\n")
    built.change("PREPARE", id_list="toy_data:absent.tsv")
    with pytest.raises(PluginError, match="cannot be read"):
        DatasetReader(Store.at(built.store), built.module.PREPARE).id_list()
    built.change("PREPARE", id_list="", id_list_sha256="")
    with pytest.raises(PluginError, match="not declared"):
        DatasetReader(Store.at(built.store), built.module.PREPARE).id_list()


def test_a_reader_sees_private_views_and_lists_them(built):
    reader = DatasetReader(Store.at(built.store), built.module.PREPARE)
    assert reader.artifacts() == (("censored", "data", ""), ("labelled", "data", ""), ("solution", "data", ""))
    assert reader.artifact("labelled")["label"][1] == built.module.CANARY


def test_splits_in_a_store_that_cannot_be_written_to_say_so(built, monkeypatch):
    shutil.rmtree(built.version / "toy-p1")

    def opened(path, flags, mode=0o777):
        raise OSError(30, "Read-only file system", str(path))

    monkeypatch.setattr(os, "open", opened)
    with pytest.raises(StoreError, match="the disk is read-only"):
        fetch_data("toy")


def test_splits_of_a_dataset_without_private_parts_have_a_private_folder_of_their_own(toy):
    real = toy.module.build
    toy.module.build = lambda context: [evolve(real(context)[0], view="open", private=False)]
    toy.module.prepare = lambda data: Splits(
        train=None,
        test=pb.EvalData({"depth": data.artifact("open")["depth"]}, ids=data.artifact("open").ids),
        solution=pb.EvalData({"label": data.artifact("open")["label"]}, ids=data.artifact("open").ids),
    )
    toy.build()
    assert (toy.version / "private").stat().st_mode & 0o777 == 0o700
    assert open_solution("toy", toy.key, toy.store).n == 10
    assert verify_dataset(toy.key, toy.store).passed


def test_a_full_disk_while_splits_are_made_leaves_none_and_shows_no_private_place(built, monkeypatch):
    shutil.rmtree(built.version / "toy-p1")
    shutil.rmtree(built.version / "private" / "toy-p1")

    def publish(*args, **options):
        raise OSError(28, "No space left on device", str(built.version / "private"))

    monkeypatch.setattr("primabench_core.store.prepare.publish", publish)
    with pytest.raises(StoreError, match="larger disk") as caught:
        fetch_data("toy")
    assert "private/" not in _shown(caught.value)
    assert str(built.version) not in _shown(caught.value)
    assert not list(built.version.rglob(".staging*"))
    assert not (built.version / "toy-p1").exists()
