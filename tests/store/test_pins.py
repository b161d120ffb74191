"""Checksums that were not known: recorded once, held to for ever, and never taken from half a download."""

from __future__ import annotations

import http.server
import threading

import pytest
from attrs import evolve

from primabench_core.errors import CorruptDataError, StoreError
from primabench_core.spec import RecipeSpec, Source
from primabench_core.store.build import BuildContext
from primabench_core.store.hashing import file_sha256
from primabench_core.store.pins import FILE, Pins, read_pins, write_pins

KEY = "doe_2020_journal/toy@1.0.0"


def recipe(source: Source) -> RecipeSpec:
    return RecipeSpec(dataset=KEY, build="no_such_package_of_pins.recipe:build", sources=(source,))


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "table.txt"
    path.write_text("one\n")
    return path


def context(tmp_path, spec, given=None):
    work = tmp_path / "work"
    work.mkdir(exist_ok=True)
    return BuildContext(spec, work, given, pins=Pins(spec, tmp_path / "beside"))


def test_the_first_fetch_is_recorded_and_said(file, tmp_path, caplog):
    spec = recipe(Source(name="table", url=file.as_uri()))
    context(tmp_path, spec).source("table")
    assert read_pins(tmp_path / "beside" / FILE) == {KEY: {"table": file_sha256(file)}}
    assert f'"table" = "{file_sha256(file)}"' in caplog.text
    assert "commit" in caplog.text


def test_a_source_that_changed_since_is_refused_with_both_checksums(file, tmp_path):
    spec = recipe(Source(name="table", url=file.as_uri()))
    context(tmp_path, spec).source("table")
    before = file_sha256(file)
    file.write_text("two\n")
    with pytest.raises(CorruptDataError) as caught:
        context(tmp_path, spec).source("table")
    assert before in str(caught.value)
    assert file_sha256(file) in str(caught.value)
    assert read_pins(tmp_path / "beside" / FILE) == {KEY: {"table": before}}


def test_a_copy_at_hand_pins_nothing_but_is_held_to_a_pin(file, tmp_path):
    spec = recipe(Source(name="table", url="https://nowhere.invalid/table"))
    context(tmp_path, spec, {"table": file}).source("table")
    assert not (tmp_path / "beside" / FILE).exists()
    (tmp_path / "beside").mkdir()
    write_pins(tmp_path / "beside" / FILE, {KEY: {"table": "0" * 64}})
    with pytest.raises(CorruptDataError, match="0" * 64):
        context(tmp_path, spec, {"table": file}).source("table")


def test_the_recipes_own_word_goes_before_any_file(file, tmp_path):
    (tmp_path / "beside").mkdir()
    write_pins(tmp_path / "beside" / FILE, {KEY: {"table": "0" * 64}})
    spec = recipe(Source(name="table", url=file.as_uri(), sha256=file_sha256(file)))
    assert context(tmp_path, spec).source("table").read_text() == "one\n"


def test_pins_of_other_datasets_stay(file, tmp_path):
    (tmp_path / "beside").mkdir()
    write_pins(tmp_path / "beside" / FILE, {"a_2020_b/c@1.0.0": {"x y": "1" * 64}})
    context(tmp_path, recipe(Source(name="table", url=file.as_uri()))).source("table")
    assert set(read_pins(tmp_path / "beside" / FILE)) == {"a_2020_b/c@1.0.0", KEY}


@pytest.mark.parametrize("text", ["[", '["a"]\n"b" = "short"', "a = 1", '["a"]\n"b" = 3'])
def test_a_damaged_file_of_pins_is_an_error_and_not_no_pins(text, file, tmp_path):
    (tmp_path / "beside").mkdir()
    (tmp_path / "beside" / FILE).write_text(text)
    with pytest.raises(CorruptDataError, match="last commit"):
        context(tmp_path, recipe(Source(name="table", url=file.as_uri()))).source("table")


def test_a_working_copy_pins_in_its_own_file(file, tmp_path, monkeypatch):
    package = tmp_path / "pinned_package_of_a_test"
    package.mkdir()
    (package / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    spec = evolve(recipe(Source(name="table", url=file.as_uri())), build="pinned_package_of_a_test.recipe:build")
    pins = Pins(spec, tmp_path / "beside", checkout=True)
    (tmp_path / "work").mkdir()
    BuildContext(spec, tmp_path / "work", pins=pins).source("table")
    assert read_pins(package / FILE) == {KEY: {"table": file_sha256(file)}}
    assert not (tmp_path / "beside").exists()
    assert Pins(spec).of(spec.sources[0]).place == str(package / FILE)


class _BreaksOff(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(b"half")

    def log_message(self, *args):
        pass


def test_a_download_that_breaks_off_is_no_source_and_pins_nothing(tmp_path):
    server = http.server.HTTPServer(("127.0.0.1", 0), _BreaksOff)
    thread = threading.Thread(target=server.handle_request)
    thread.start()
    try:
        spec = recipe(Source(name="table", url=f"http://127.0.0.1:{server.server_port}/table"))
        with pytest.raises(StoreError, match=r"broke off|cannot be had"):
            context(tmp_path, spec).source("table")
    finally:
        thread.join()
        server.server_close()
    assert not (tmp_path / "beside" / FILE).exists()


def test_a_folder_that_the_user_brings_is_hashed_by_names_and_contents(tmp_path):
    spec = recipe(Source(name="raw", url="https://owners.invalid", files=("points/*.csv",)))
    root = tmp_path / "raw"
    (root / "points").mkdir(parents=True)
    (root / "points" / "1.csv").write_text("1,2\n")
    (root / "image.png").write_bytes(b"does not count")

    def digest():
        found = context(tmp_path, spec, {"raw": root})
        assert found.source("raw") == root
        return found.records()[0].sha256

    first = digest()
    (root / "image.png").write_bytes(b"changed")
    assert digest() == first
    (root / "points" / "1.csv").rename(root / "points" / "2.csv")
    assert digest() != first


def test_a_folder_that_is_not_brought_is_asked_for(tmp_path):
    spec = recipe(Source(name="raw", url="https://owners.invalid", files=("*.csv",)))
    assert not spec.is_bundled
    with pytest.raises(StoreError, match="raw-root"):
        context(tmp_path, spec).source("raw")
    with pytest.raises(StoreError, match="no folder"):
        context(tmp_path, spec, {"raw": tmp_path / "absent"}).source("raw")
    (tmp_path / "empty").mkdir()
    with pytest.raises(StoreError, match=r"holds no file like \*\.csv"):
        context(tmp_path, spec, {"raw": tmp_path / "empty"}).source("raw")


def test_another_encoding_of_a_file_is_taken_and_its_salt_is_that_of_the_declared_one(file, tmp_path):
    from primabench_core.store.sources import salt_of

    declared = "1" * 64
    source = Source(name="table", url=file.as_uri(), sha256=declared, equivalent=(file_sha256(file),))
    other = context(tmp_path, recipe(source))
    other.source("table")
    record = other.records()[0]
    assert (record.sha256, record.stands_for) == (file_sha256(file), declared)
    assert salt_of([record]) == salt_of([evolve(record, sha256=declared, stands_for="")])
    file.write_text("a third one\n")
    with pytest.raises(CorruptDataError, match=declared):
        context(tmp_path, recipe(source)).source("table")
