"""Verification and damage: the first bad object is named, and nothing private is."""

from __future__ import annotations

import json
import shutil

import pytest

import primabench_core as pb
from primabench_core.errors import CorruptDataError, StoreError
from primabench_core.store.access import dataset_manifest, fetch_data, load, open_solution, verify_dataset
from primabench_core.store.location import inside


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


@pytest.mark.parametrize("half", ["toy-p1", "private/toy-p1"])
@pytest.mark.parametrize("gone", ["manifest", "folder"])
def test_half_of_the_prepared_splits_that_is_gone_is_named_and_made_again(built, half, gone):
    """A manifest that nobody misses would leave a folder which cannot be fetched and looks well."""
    before = fetch_data("toy")
    answers = open_solution("toy", built.key)
    folder = built.version / half
    if gone == "manifest":
        (folder / "manifest.json").unlink()
    else:
        shutil.rmtree(folder)
    report = verify_dataset(built.key)
    assert not report.passed
    assert "toy-p1" in report.first_bad
    assert "made again" in report.first_bad
    assert str(built.version / "private") not in report.first_bad
    assert fetch_data("toy") == before
    assert open_solution("toy", built.key) == answers
    assert verify_dataset(built.key).passed


def test_both_halves_gone_are_no_fault_since_splits_are_made_when_they_are_asked_for(built):
    shutil.rmtree(built.version / "toy-p1")
    shutil.rmtree(built.version / "private" / "toy-p1")
    assert verify_dataset(built.key).passed
    fetch_data("toy")
    assert verify_dataset(built.key).passed


@pytest.mark.parametrize("what", ["manifest.json", "salt", ""])
def test_a_private_part_that_is_gone_is_named_by_verify_and_by_the_runner(built, what):
    private = built.version / "private"
    if what:
        (private / what).unlink()
    else:
        shutil.rmtree(private)
    report = verify_dataset(built.key)
    assert not report.passed
    assert str(private) not in report.first_bad
    if what != "salt":
        shutil.rmtree(built.version / "toy-p1")
        for call in (lambda: fetch_data("toy"), lambda: open_solution("toy", built.key)):
            with pytest.raises(StoreError, match="private part") as caught:
                call()
            assert "build" in caught.value.remedy
            assert str(private) not in str(caught.value)


@pytest.mark.parametrize("stray", ["notes.txt", "other_view/data.zarr/zarr.json"])
def test_what_no_manifest_names_is_named(built, stray):
    path = built.version / stray
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{}")
    assert stray.partition("/")[0] in verify_dataset(built.key).first_bad


def test_an_unfinished_stage_of_another_process_is_no_fault(built):
    (built.version / ".staging-toy-p1-abc" / "result").mkdir(parents=True)
    assert verify_dataset(built.key).passed


def test_a_manifest_from_before_a_field_was_added_is_read(built):
    path = built.version / "manifest.json"
    held = json.loads(path.read_text())
    for source in held["sources"]:
        del source["stands_for"]
    path.write_text(json.dumps(held))
    assert [source.stands_for for source in dataset_manifest(built.key).sources] == [""]
    assert verify_dataset(built.key).passed
    del held["sources"][0]["sha256"]
    path.write_text(json.dumps(held))
    with pytest.raises(CorruptDataError, match="'sha256' is missing"):
        dataset_manifest(built.key)
