"""Level one: names and faults that metadata alone show."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from primabench_core.discovery import listing, names, registry
from primabench_core.errors import PluginError, UnknownNameError, UsageError


def _records(kind: str, name: str) -> list[names.Record]:
    return [r for r in names.records(kind) if r.name == name]


def test_names_are_sorted_and_no_module_is_imported(site):
    site.module("fake_loud", "raise RuntimeError('imported')")
    site.distribution("fake-a", {"tasks": {"fake_z": "fake_loud:A", "fake_b": "fake_loud:B"}}, version="1.2.3")
    found = [n for n in names.names("task") if n.startswith("fake")]
    assert found == ["fake_b", "fake_z"]
    (record,) = _records("task", "fake_z")
    assert (record.distribution, record.version, record.target) == ("fake-a", "1.2.3", "fake_loud:A")
    assert record.qualified == "fake-a:fake_z"
    assert "fake_loud" not in sys.modules


def test_names_are_case_sensitive(site):
    site.distribution("fake-a", {"metrics": {"fake_x": "m:A", "Fake_X": "m:B"}})
    assert [r.status for r in _records("metric", "fake_x") + _records("metric", "Fake_X")] == ["ok", "ok"]


def test_unknown_kind_is_refused():
    with pytest.raises(UsageError, match="expected one of task, dataset"):
        names.names("tasks")
    with pytest.raises(UsageError):
        names.records("nonsense")


def test_two_owners_of_one_name_and_neither_wins(site):
    site.distribution("fake-one", {"tasks": {"fake_t": "fake_m:TASK"}}, version="1.0")
    site.distribution("fake.Two", {"tasks": {"fake_t": "fake_m:TASK"}}, version="2.0")
    assert "fake_t" not in names.names("task")
    first, second = _records("task", "fake_t")
    assert (first.status, second.status) == ("conflict", "conflict")
    assert "fake.Two 2.0" in first.detail
    assert "fake-one 1.0" in second.detail
    assert "'fake-one:fake_t'" in first.remedy
    with pytest.raises(PluginError, match=r"claimed by fake-one 1\.0 and fake\.Two 2\.0; neither wins") as caught:
        registry.record_of("task", "fake_t")
    assert "'fake.Two:fake_t'" in caught.value.remedy
    # names of distributions compare as package indexes compare them
    assert registry.record_of("task", "FAKE_two:fake_t").version == "2.0"
    assert registry.distribution_of("task", "fake-one:fake_t") == ("fake-one", "1.0")


def test_disabling_one_owner_ends_a_conflict(site, monkeypatch):
    site.distribution("fake-one", {"tasks": {"fake_t": "m:T"}})
    site.distribution("fake-two", {"tasks": {"fake_t": "m:T"}})
    monkeypatch.setenv("PRIMABENCH_DISABLE", " fake_two , ")
    assert "fake_t" in names.names("task")
    assert registry.record_of("task", "fake_t").distribution == "fake-one"
    with pytest.raises(PluginError, match="disabled: left out by PRIMABENCH_DISABLE") as caught:
        registry.load("task", "fake-two:fake_t")
    assert caught.value.remedy == "unset PRIMABENCH_DISABLE"


@pytest.mark.parametrize(
    ("value", "left"),
    [
        ("fake_a", {"fake_b"}),
        ("fake-d:fake_a", {"fake_b"}),
        ("FAKE.D", set()),
        ("fake_a,fake_b", set()),
        ("other:fake_a", {"fake_a", "fake_b"}),
        ("", {"fake_a", "fake_b"}),
    ],
)
def test_disable_by_name_distribution_or_both(site, monkeypatch, value, left):
    site.distribution("fake-d", {"metrics": {"fake_a": "m:A", "fake_b": "m:B"}})
    monkeypatch.setenv("PRIMABENCH_DISABLE", value)  # read at each call, no refresh needed
    assert {n for n in names.names("metric") if n.startswith("fake")} == left


def test_one_distribution_twice_on_the_path_is_no_conflict(make_site):
    make_site("later").distribution("fake-a", {"tasks": {"fake_t": "m:OLD", "fake_gone": "m:X"}}, version="1.0")
    make_site("first").distribution("Fake_A", {"tasks": {"fake_t": "m:NEW"}}, version="2.0")
    (record,) = _records("task", "fake_t")
    assert (record.status, record.version, record.target) == ("ok", "2.0", "m:NEW")
    assert not _records("task", "fake_gone")


def test_a_distribution_first_on_the_path_hides_the_entry_points_behind_it(make_site):
    make_site("later").distribution("fake-a", {"tasks": {"fake_t": "m:OLD"}}, version="1.0")
    make_site("first").distribution("fake-a", "[console_scripts]\nx = m:main\n", version="2.0")
    assert not _records("task", "fake_t")


@pytest.mark.parametrize(
    ("group", "kind", "name", "target", "says"),
    [
        ("tasks", "task", "fake:t", "m:T", "not of the form"),
        ("tasks", "task", "fake t", "m:T", "not of the form"),
        ("tasks", "task", "fake|t", "m:T", "not of the form"),
        ("metrics", "metric", "fake{a: 1}", "m:T", "not of the form"),
        ("datasets", "dataset", "fake_dataset", "m:T", "publication/slug@version"),
        ("datasets", "dataset", "Fake/X@1.0.0", "m:T", "publication/slug@version"),
        ("preparers", "preparer", "fake/x@1.0.0", "m:T", "task|publication/slug@version"),
        ("baselines", "baseline", "fake", "m:T", "task|name"),
        ("tasks", "task", "fake_t", "m", "names a module"),
        ("tasks", "task", "fake_t", "not-a-module:T", "package.module:attribute"),
        ("tasks", "task", "fake_t", "m:T:U", "package.module:attribute"),
    ],
)
def test_names_and_targets_of_the_wrong_form(site, group, kind, name, target, says):
    site.distribution("fake-a", {group: {name: target, **({"fake_good": "m:T"} if group == "tasks" else {})}})
    (record,) = _records(kind, name)
    assert record.status == "broken"
    assert says in record.detail
    assert record.remedy == "pip install --upgrade fake-a"
    assert name not in names.names(kind)
    assert group != "tasks" or "fake_good" in names.names("task")


def test_extras_behind_a_target_are_no_part_of_it(site):
    site.distribution("fake-a", {"tasks": {"fake_t": "m : T [gpu]"}})
    assert _records("task", "fake_t")[0].status == "ok"
    assert names.split_target("m : T [gpu]") == ("m", "T")


def test_one_name_twice_in_one_distribution(site):
    text = "[primabench.tasks]\nfake_t = m:A\nfake_t = m:B\nfake_same = m:A\nfake_same = m:A\n"
    site.distribution("fake-a", text)
    assert {r.status for r in _records("task", "fake_t")} == {"broken"}
    assert "more than once" in _records("task", "fake_t")[0].detail
    assert [r.status for r in _records("task", "fake_same")] == ["ok"]


def test_a_damaged_file_is_a_record_and_harms_only_its_owner(site):
    site.distribution("fake-bad", "[primabench.tasks]\nthis line has no target\n")
    site.distribution("fake-good", {"tasks": {"fake_t": "m:T"}})
    bytes_of = site.distribution("fake-bytes", "") / "entry_points.txt"
    bytes_of.write_bytes(b"[primabench.tasks]\nfake_u = m:\xff\xfe\n")
    names.refresh()
    assert "fake_t" in names.names("task")
    bad = {r.distribution: r for r in names.records(names.UNREADABLE)}
    assert bad["fake-bad"].status == bad["fake-bytes"].status == "broken"
    assert "entry_points.txt" in bad["fake-bad"].detail
    assert bad["fake-bad"].remedy == "pip install --force-reinstall --no-deps fake-bad"


def test_metadata_that_is_gone_is_a_record(site):
    site.distribution("fake-nameless", {"tasks": {"fake_t": "m:T"}}, metadata=False)
    assert not _records("task", "fake_t")
    assert any("METADATA" in r.detail and str(site.path) in r.detail for r in names.records(names.UNREADABLE))


def test_an_unknown_group_of_ours_is_told_to_the_author(site):
    site.distribution("fake-a", {"task": {"fake_t": "m:T"}, "tasks": {"fake_u": "m:T"}})
    (record,) = [r for r in names.records(names.UNREADABLE) if r.distribution == "fake-a"]
    assert record.status == "incompatible"
    assert "'primabench.task'" in record.detail
    assert "fake_u" in names.names("task")


def test_egg_info_and_zip_files_are_found_too(make_site, tmp_path, monkeypatch):
    site = make_site("eggs")
    egg = site.path / "fake_egg.egg-info"
    egg.mkdir()
    (egg / "PKG-INFO").write_text("Metadata-Version: 1.0\nName: fake-egg\nVersion: 7\n")
    (egg / "entry_points.txt").write_text("[primabench.tasks]\nfake_egg_task = m:T\n")
    with zipfile.ZipFile(tmp_path / "fake.zip", "w") as archive:
        archive.writestr("fake_zip-1.0.dist-info/METADATA", "Name: fake-zip\nVersion: 1.0\n")
        archive.writestr("fake_zip-1.0.dist-info/entry_points.txt", "[primabench.tasks]\nfake_zip_task = m:T\n")
    monkeypatch.syspath_prepend(str(tmp_path / "fake.zip"))
    assert {"fake_egg_task", "fake_zip_task"} <= set(names.names("task"))
    assert registry.distribution_of("task", "fake_egg_task") == ("fake-egg", "7")


def test_a_new_path_entry_needs_no_refresh_and_an_unknown_name_looks_again(make_site, monkeypatch):
    site = make_site("site")
    assert "fake_t" not in names.names("task")
    with monkeypatch.context() as patch:
        patch.setattr(names, "refresh", lambda: None)  # what was installed is not announced
        site.distribution("fake-a", {"tasks": {"fake_t": "m:T"}})
    assert "fake_t" not in names.names("task")
    assert registry.record_of("task", "fake_t").distribution == "fake-a"
    assert "fake_t" in names.names("task")


def test_unknown_names_are_answered_with_close_ones(site):
    site.distribution("fake-a", {"tasks": {"fake_task": "m:T"}})
    with pytest.raises(UnknownNameError, match="Did you mean 'fake_task'") as caught:
        registry.load("task", "fake_tusk")
    assert caught.value.remedy == "primabench list tasks"
    with pytest.raises(UnknownNameError):
        registry.load("task", "fake-b:fake_task")
    with pytest.raises(KeyError):
        registry.load("task", "")


def test_records_come_in_one_order(make_site):
    site = make_site("site")
    site.distribution("fake-b", {"hooks": {"fake_h": "m"}, "metrics": {"fake_m": "m:T"}})
    site.distribution("Fake.A", {"metrics": {"fake_m": "m:T", "fake_a": "m:T"}, "tasks": {"fake_t": "m:T"}})
    found = [(r.kind, r.name, r.distribution) for r in names.records() if r.distribution in ("fake-b", "Fake.A")]
    assert found == [
        ("task", "fake_t", "Fake.A"),
        ("metric", "fake_a", "Fake.A"),
        ("metric", "fake_m", "Fake.A"),
        ("metric", "fake_m", "fake-b"),
        ("hook", "fake_h", "fake-b"),
    ]


def test_lists_of_a_task_come_from_names_alone(site):
    key = "fake_2020_nature/x@1.0.0"
    site.distribution(
        "fake-a",
        {
            "tasks": {"fake_t": "gone:T", "fake_t2": "gone:T"},
            "preparers": {f"fake_t|{key}": "gone:P", "fake_t2|fake_2020_nature/y@1.0.0": "gone:P"},
            "baselines": {"fake_t|zero": "gone:B", "fake_t2|one": "gone:B"},
        },
    )
    assert listing.list_datasets(task="fake_t") == (key,)
    assert listing.list_datasets(task="fake-a:fake_t") == (key,)
    assert listing.list_baselines(task="fake_t") == ("zero",)
    assert "fake_t2|one" in listing.list_baselines()
    assert "fake_t" in listing.list_tasks()
    with pytest.raises(UnknownNameError, match="fake_t2"):
        listing.list_datasets(task="fake_t3")


def test_a_conflicting_task_is_refused_where_it_is_asked_for(make_site):
    site = make_site("site")
    site.distribution("fake-a", {"tasks": {"fake_t": "m:T"}})
    site.distribution("fake-b", {"tasks": {"fake_t": "m:T"}, "baselines": {"fake_t|zero": "m:B"}})
    assert "fake_t" not in listing.list_tasks()
    with pytest.raises(PluginError, match="neither wins"):
        listing.list_datasets(task="fake_t")
    assert listing.list_baselines(task="fake-b:fake_t") == ("zero",)


LISTING = """
import sys
sys.path.insert(0, {site!r})
import primabench_core as pb
for function in (pb.list_tasks, pb.list_datasets, pb.list_metrics, pb.list_baselines, pb.list_benchmarks):
    assert function()
assert pb.list_datasets(task="fake_t") == ("fake/x@1.0.0",)
loaded = {{module.partition(".")[0] for module in sys.modules}}
heavy = {{"torch", "xarray", "zarr", "pandas", "sklearn", "scanpy", "numpy", "scipy", "dask", "pluggy", "attr"}}
plugins = {{m for m in loaded if m.startswith(("primabench_", "fake"))}} - {{"primabench_core"}}
print(sorted(heavy & loaded), sorted(plugins))
"""


def test_listing_loads_no_plugin_and_no_heavy_library(site):
    site.module("fake_loud", "raise SystemExit('imported')")
    lines = {
        "tasks": {"fake_t": "fake_loud:T"},
        "datasets": {"fake/x@1.0.0": "fake_loud:D"},
        "preparers": {"fake_t|fake/x@1.0.0": "fake_loud:P"},
        "metrics": {"fake_m": "fake_loud:M"},
        "baselines": {"fake_t|zero": "fake_loud:B"},
        "benchmarks": {"fake_b": "fake_loud:B"},
        "hooks": {"fake_h": "fake_loud"},
        "extensions": {"fake_e": "fake_loud:E"},
    }
    site.distribution("fake-a", lines)
    code = LISTING.format(site=str(site.path))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "[] []", "")


def test_versions_and_requirements_are_read_from_the_header_only(site):
    site.distribution("fake-a", {}, version="1.0rc1", requires=("numpy>=1", 'leidenalg; extra == "leiden"'))
    assert names.version_of("FAKE_a") == "1.0rc1"
    assert names.requirements_of("fake-a") == ("numpy>=1", 'leidenalg; extra == "leiden"')
    assert names.version_of("fake-none") == names.version_of("") == ""
    assert registry.packages_of(["fake-a"]) == {"fake-a": "1.0rc1"}
    with pytest.raises(ImportError, match="fake-none"):
        registry.packages_of(["fake-a", "fake-none"])


def test_unreadable_entries_of_the_path_do_no_harm(make_site: Callable[[str], object], monkeypatch, tmp_path: Path):
    (tmp_path / "file").write_text("not a folder")
    for entry in ("file", "absent"):
        monkeypatch.syspath_prepend(str(tmp_path / entry))
    make_site("site").distribution("fake-a", {"tasks": {"fake_t": "m:T"}})
    assert "fake_t" in names.names("task")


@pytest.mark.parametrize(("where", "is_found"), [(99, True), (0, False)])
def test_a_failing_finder_of_somebody_else_hides_only_what_lies_behind_it(site, monkeypatch, where, is_found):
    class Finder:
        @staticmethod
        def find_spec(*_: object) -> None: ...

        @staticmethod
        def find_distributions(*_: object) -> object:
            raise OSError("network drive")

    site.distribution("fake-a", {"tasks": {"fake_t": "m:T"}})
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path[:where], Finder, *sys.meta_path[where:]])
    names.refresh()
    assert ("fake_t" in names.names("task")) == is_found
    assert any("network drive" in r.detail for r in names.records(names.UNREADABLE))
