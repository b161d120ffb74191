"""Fetching, loading, the solution, verification: right answers, and refusals that give nothing away."""

from __future__ import annotations

import io
import json
import logging
import os
import shutil
import traceback
from pathlib import Path

import pytest
from attrs import evolve

import primabench_core as pb
from primabench_core.errors import (
    CorruptDataError,
    MissingDataError,
    PluginError,
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
from primabench_core.store.location import Store, inside
from primabench_core.store.prepare import DatasetReader, Splits, prepare


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


def _no_manifest(private: Path) -> None:
    (private / "toy-p1" / "manifest.json").unlink()


def _truncated(private: Path) -> None:
    file = private / "toy-p1" / "manifest.json"
    file.write_text(file.read_text()[:-40])


def _climbing(private: Path) -> None:
    file = private / "toy-p1" / "manifest.json"
    file.write_text(file.read_text().replace("solution.zarr", "../../x.zarr"))


def _metadata(private: Path) -> None:
    (private / "toy-p1" / "solution.zarr" / "zarr.json").write_text("{")


@pytest.mark.parametrize("damage", [_missing, _no_chunk, _flipped, _no_manifest, _truncated, _climbing, _metadata])
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
    with pytest.raises(PluginError, match=r"RuntimeError at test_access\.py:\d+") as caught:
        fetch_data("toy")
    assert built.module.CANARY not in _shown(caught.value)
    assert str(built.store) not in _shown(caught.value)


def test_a_train_split_for_an_unsupervised_task_is_refused(built):
    built.module.prepare_groups = _fixed()
    built.change("PREPARE_GROUPS", version="9")
    with pytest.raises(PluginError, match="is unsupervised"):
        fetch_data("toy_groups")


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


def test_damage_of_public_bytes_is_found_by_reading_and_by_verify(built):
    _, test = fetch_data("toy")
    chunk = next(p for p in (test / "depth" / "c").rglob("*") if p.is_file())
    chunk.write_bytes(bytes([chunk.read_bytes()[0] ^ 1]) + chunk.read_bytes()[1:])
    with pytest.raises(CorruptDataError, match="depth"):
        load(test, task="toy", split="test")["depth"]
    report = verify_dataset(built.key)
    assert "toy-p1/test/data.zarr" in report.first_bad
    assert "depth/c/0" in report.first_bad


@pytest.mark.parametrize("kind", ["missing", "stray", "longer", "flipped"])
def test_verify_names_the_first_bad_object(built, kind):
    folder = built.version / "censored" / "data.zarr"
    file = folder / "depth" / "c" / "0"
    if kind == "missing":
        file.unlink()
    elif kind == "stray":
        (folder / "aaa").write_text("x")
    elif kind == "longer":
        file.write_bytes(file.read_bytes() + b"x")
    else:
        file.write_bytes(bytes([file.read_bytes()[0] ^ 1]) + file.read_bytes()[1:])
    seen = []
    report = verify_dataset(built.key, progress=lambda *step: seen.append(step))
    assert not report.passed
    bad = "aaa" if kind == "stray" else "depth/c/0"
    assert report.first_bad.startswith(f"objects censored/data.zarr: censored/data.zarr/{bad}")
    assert seen


def test_verify_finds_values_that_were_changed_together_with_their_object_hashes(built):
    """Rewriting an artifact and its object hashes does not help: the content hash still says no."""
    from primabench_core.store.writing import describe_objects
    from primabench_core.store.zarr_io import open_lazy, stored_attributes, write

    folder = built.version / "censored" / "data.zarr"
    data = open_lazy(folder).load()
    attributes, columns = stored_attributes(folder)
    shutil.rmtree(folder)
    changed = pb.EvalData({**data.fields, "depth": data["depth"] + 1e-9}, ids=data.ids, coords=data.coords)
    write(changed, folder, attributes=attributes, columns=columns)
    manifest = json.loads((built.version / "manifest.json").read_text())
    manifest["artifacts"][0]["objects"] = [
        {"path": o.path, "sha256": o.sha256, "size": o.size} for o in describe_objects(folder)
    ]
    (built.version / "manifest.json").write_text(json.dumps(manifest))
    assert "content censored/data.zarr" in verify_dataset(built.key).first_bad


def test_verify_finds_a_salt_or_a_solution_of_another_build(built):
    (built.version / "private" / "salt").write_bytes(bytes(32))
    assert "salted solution root" in verify_dataset(built.key).first_bad


def test_verify_compares_with_the_card(built):
    built.change("DATASET", content_hash="4" * 64)
    assert "pinned content hash" in verify_dataset(built.key).first_bad


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (lambda t: t[: len(t) // 2], "manifest"),
        (lambda t: "", "manifest"),
        (lambda t: t.replace('"format":1', '"format":2'), r"\$\.format: expected 1, found 2"),
        (lambda t: t.replace('"doi"', '"dio"'), "unknown key 'dio'"),
        (lambda t: t.replace('"synthetic":false', '"synthetic":0'), r"\$\.synthetic: expected bool, found int"),
        (lambda t: t.replace('"path":"censored/data.zarr"', '"path":"../../x"'), "leads out"),
        (lambda t: t.replace('"path":"censored/data.zarr"', '"path":"/etc"'), "leads out"),
        (lambda t: t.replace('"path":"zarr.json"', '"path":"../zarr.json"'), "leads out"),
        (lambda t: t.replace('"dataset":"doe', '"dataset":"roe'), "is that of roe"),
        (lambda t: t.replace('"doi":""', '"doi":"","doi":"x"'), "a key occurs twice"),
        (lambda t: t.replace('"n":10', '"n":NaN'), "NaN is not JSON"),
        (lambda t: "\xff" + t, "manifest"),
    ],
)
def test_a_damaged_manifest_is_named(built, text, complaint):
    file = built.version / "manifest.json"
    file.write_bytes(text(file.read_text()).encode("latin-1"))
    with pytest.raises(CorruptDataError, match=complaint) as caught:
        dataset_manifest(built.key)
    assert str(built.version) in str(caught.value)


def test_a_path_that_leaves_by_a_link_is_refused(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "link").symlink_to(tmp_path)
    with pytest.raises(CorruptDataError, match="leads out"):
        inside(tmp_path / "in", "link/x")
    for path in ("../x", "/x", "a/../../x", "C:/x", "a\\b", "", "a\0b"):
        with pytest.raises(CorruptDataError):
            inside(tmp_path / "in", path)


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


def test_splits_in_a_store_that_cannot_be_written_to_say_so(built, monkeypatch):
    shutil.rmtree(built.version / "toy-p1")

    def opened(path, flags, mode=0o777):
        raise OSError(30, "Read-only file system", str(path))

    monkeypatch.setattr(os, "open", opened)
    with pytest.raises(StoreError, match="the disk is read-only"):
        fetch_data("toy")


def test_a_dataset_without_private_parts_has_no_salt(toy, monkeypatch):
    real = toy.module.build
    toy.module.build = lambda context: [evolve(a, private=False) for a in real(context) if a.view == "censored"]
    toy.build()
    assert solution_salt(toy.key, toy.store) == b""
    assert not (toy.version / "private").exists()
    assert dataset_manifest(toy.key, toy.store).solution_root == ""
    assert verify_dataset(toy.key, toy.store).passed


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
