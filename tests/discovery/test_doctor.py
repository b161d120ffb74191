"""The report on an installation, and the functions that plugins serve to the facade."""

from __future__ import annotations

import json
import pickle
import pydoc
import subprocess
import sys

import pytest

import primabench_core as pb
from primabench_core.discovery import doctor, extensions
from primabench_core.errors import MissingPluginError, PluginError


def test_a_sound_installation(site):
    site.module("fake_ext", "def f(): return 1")
    site.distribution("fake-ext", {"extensions": {"fake_f": "fake_ext:f"}}, version="5.1")
    report = doctor.diagnose(store="s3://bucket/store")
    assert report.facts["primabench-core"] == pb.__version__
    assert report.facts["python"].startswith(sys.version.split()[0])
    assert report.facts["store"] == "s3://bucket/store"
    (record,) = [r for r in report.records if r.distribution == "fake-ext"]
    assert (record.status, record.version) == ("ok", "5.1")
    assert {library.name for library in report.libraries} >= {
        "torch", "pandas", "pyarrow", "anndata", "jinja2", "vl-convert-python",
    }  # fmt: skip


def test_a_broken_plugin_is_a_row_even_under_the_strict_switch(site, monkeypatch):
    site.module("fake_bad", "raise SystemExit")
    site.distribution("fake-bad", {"tasks": {"fake_t": "fake_bad:T"}})
    monkeypatch.setenv("PRIMABENCH_STRICT", "1")
    report = doctor.diagnose()
    assert not report.is_sound
    (record,) = [r for r in report.records if r.name == "fake_t"]
    assert (record.status, record.remedy) == ("broken", "pip install --upgrade fake-bad")
    assert report.environment["PRIMABENCH_STRICT"] == "1"


def test_an_absent_library_comes_with_its_install_line(site, monkeypatch):
    monkeypatch.setitem(doctor.LIBRARIES, "fake-library", ("nothing", "pip install fake-library"))
    report = doctor.diagnose()
    assert report.facts["fake-library"] == "not installed (nothing): pip install fake-library"


def test_secrets_are_never_shown(site, monkeypatch):
    monkeypatch.setenv("PRIMABENCH_S3_SECRET", "hunter2")
    monkeypatch.setenv("PRIMABENCH_GCS_TOKEN", "hunter2")
    monkeypatch.setenv("PRIMABENCH_STORE", "s3://key:hunter2@host/store?token=hunter2")
    report = doctor.diagnose()
    assert "hunter2" not in repr(report)
    assert report.environment["PRIMABENCH_S3_SECRET"] == "set"
    assert report.facts["store"] == "s3://host/store"
    assert "hunter2" not in repr(doctor.diagnose(store="https://u:hunter2@host/x"))


def test_what_looks_like_a_mistake_is_noted(site, monkeypatch):
    site.distribution("fake-a", {"tasks": {"fake_t": "m:T"}, "preparers": {"fake_t|fake/gone@1.0.0": "m:P"}})
    monkeypatch.setenv("PRIMABENCH_DISABLE", "fake-nobody,FAKE_a:fake_t,")
    notes = doctor.diagnose().notes
    assert any("'fake-nobody'" in note for note in notes)
    assert not any("FAKE_a" in note for note in notes)
    assert any("fake/gone@1.0.0" in note for note in notes)


# -- extensions -----------------------------------------------------------------------------------------------------


def test_an_absent_extension_fails_when_it_is_called_and_not_before():
    function = extensions.forward("fake_function", "primabench-task-fake")
    assert function.__name__ == "fake_function"
    with pytest.raises(MissingPluginError, match="comes with the plugin primabench-task-fake") as caught:
        function("x", y=1)
    assert caught.value.remedy == "pip install primabench-task-fake"
    assert isinstance(caught.value, ImportError)
    with pytest.raises(MissingPluginError):
        extensions.load_extension("fake_function", "primabench-task-fake")


def test_an_extension_is_forwarded_as_soon_as_it_is_installed(site):
    function = extensions.forward("fake_function", "fake-ext")
    with pytest.raises(MissingPluginError):
        function(2)
    site.module("fake_ext", "def double(x): return 2 * x")
    site.distribution("fake-ext", {"extensions": {"fake_function": "fake_ext:double"}})
    assert function(2) == 4
    assert extensions.load_extension("fake_function", "fake-ext")(x=3) == 6


def test_a_broken_extension_is_not_called_absent(site):
    site.module("fake_ext", "raise OSError('disk')")
    site.distribution("fake-ext", {"extensions": {"fake_function": "fake_ext:double"}})
    with pytest.raises(PluginError, match="OSError: disk") as caught:
        extensions.forward("fake_function", "fake-ext")()
    assert not isinstance(caught.value, MissingPluginError)


def test_looking_at_the_facade_never_fails():
    assert "get_sequences" in dir(pb)
    assert hasattr(pb, "get_sequences")
    assert pickle.loads(pickle.dumps(pb.get_sequences)) is pb.get_sequences
    assert "primabench-task-genome" in pydoc.render_doc(pb.get_sequences)


def test_looking_at_an_extension_runs_no_plugin_code(site):
    site.module("fake_ext", "raise SystemExit('imported')")
    site.distribution("fake-ext", {"extensions": {"get_sequences": "fake_ext:f"}})
    code = (
        f"import sys, json; sys.path.insert(0, {str(site.path)!r})\n"
        "import primabench_core as pb\n"
        "pb.get_sequences, pb.get_sequences.__doc__\n"
        "print(json.dumps([m for m in sys.modules if m.startswith('fake') or m == 'importlib_metadata']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == []
