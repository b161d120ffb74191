"""Levels two and three: loading in isolation, statuses, references."""

from __future__ import annotations

import sys
import threading

import pytest

from primabench_core.discovery import listing, names, registry
from primabench_core.errors import MissingPluginError, PluginError, UnknownNameError
from primabench_core.spec import MetricSpec

GOOD = """
from primabench_core.spec import (BaselineSpec, BenchmarkSpec, Contract, DatasetSpec, Field, MetricSpec, Parameter,
                                  PreparerSpec, RecipeSpec, TaskSpec)
LABEL = Field("label", "label")
def metric(name, **more):
    return MetricSpec(name=name, summary="", compute="fake_run:score", prediction=(LABEL,), truth=(LABEL,), **more)
GOOD = metric("fake_good")
"""

FAULTS = {
    # name: (module code, target, status, part of the detail, part of the remedy)
    "fake_raises": ("raise RuntimeError('no\\nway')", "X", "broken", "RuntimeError: no way (fake_mod.py, line 1)", ""),
    "fake_exits": ("raise SystemExit(3)", "X", "broken", "SystemExit: 3", ""),
    "fake_base": ("class E(BaseException): pass\nraise E('deep')", "X", "broken", "E: deep", ""),
    "fake_syntax": ("def (:", "X", "broken", "SyntaxError", ""),
    "fake_mute": (
        "class E(Exception):\n    def __str__(self): raise ValueError\nraise E",
        "X",
        "broken",
        "cannot be printed",
        "",
    ),
    "fake_missing": ("Y = 1", "X", "broken", "has no 'X'", "pip install --upgrade fake-bad"),
    "fake_lazy": ("def __getattr__(n): raise OSError('disk')", "X", "broken", "OSError: disk", ""),
    "fake_type": ("X = 3", "X", "broken", "expected a MetricSpec, found a int", "--upgrade fake-bad"),
    "fake_class": (
        "from primabench_core.spec import MetricSpec as X",
        "X",
        "broken",
        "found the class MetricSpec",
        "",
    ),
    "fake_kind": (
        "from primabench_core.spec import BaselineSpec as B\nX = B(name='a', task='b', summary='', predict='c:d')",
        "X",
        "broken",
        "found a BaselineSpec",
        "",
    ),
    "fake_odd": (
        "class O:\n    @property\n    def __class__(self): raise ValueError('odd')\nX = O()",
        "X",
        "broken",
        "odd",
        "",
    ),
    "fake_named": (GOOD + "X = metric('fake_other')", "X", "broken", "it calls itself 'fake_other'", ""),
    "fake_old": (GOOD + "X = metric('fake_old', api=0)", "X", "incompatible", "plugin API 0", "--upgrade fake-bad"),
    "fake_new": (
        GOOD + "X = metric('fake_new', api=99)",
        "X",
        "incompatible",
        "this core has 1",
        "pip install --upgrade primabench-core",
    ),
    "fake_bool": (GOOD + "X = metric('fake_bool', api=True)", "X", "broken", "must be an integer", ""),
    "fake_needs": ("import fake_absent_lib", "X", "broken", "'fake_absent_lib' is not installed", "fake-absent-lib"),
    "fake_inner": ("import fake_mod.inner", "X", "broken", "ModuleNotFoundError", ""),
    "fake_default": (
        GOOD + "X = metric('fake_default', parameters=[Parameter('k', 3)], canonical={'fake_default': {'j': 1}})",
        "X",
        "broken",
        "unknown parameter 'j'",
        "",
    ),
    "fake_alone": (
        GOOD + "X = metric('fake_alone', parameters=[Parameter('k', 3)], canonical={'fake_c': {'k': 4}})",
        "X",
        "broken",
        "'fake_c' has no entry point",
        "",
    ),
    "fake_range": (
        GOOD + "X = metric('fake_range', parameters=[Parameter('k', 3)], canonical={'fake_range': {'k': 'x'}})",
        "X",
        "broken",
        "'k' must be int, got 'x'",
        "",
    ),
}


@pytest.fixture
def plugins(make_site):
    """A sound plugin and a distribution with one fault, side by side."""
    site = make_site("site")
    site.module("fake_good_mod", GOOD)
    site.distribution("fake-good", {"metrics": {"fake_good": "fake_good_mod:GOOD"}})

    def add(name: str, code: str, target: str, group: str = "metrics", **more: object) -> None:
        (site.path / "fake_mod.py").write_text(code)
        site.distribution("fake-bad", {group: {name: f"fake_mod:{target}"}}, version="0.3", **more)

    add.site = site
    return add


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_a_record_with_reason_and_remedy_and_harms_only_itself(plugins, name):
    code, target, status, detail, remedy = FAULTS[name]
    plugins(name, code, target)
    found = {r.name: r for r in registry.check_all("metric") if r.name.startswith("fake")}
    assert found["fake_good"].status == "ok"
    bad = found[name]
    assert (bad.status, bad.distribution, bad.version) == (status, "fake-bad", "0.3")
    assert detail in bad.detail
    assert bad.detail.count("\n") == 0
    assert bad.remedy
    assert remedy in bad.remedy
    # asked for, it fails loud and says whose it is
    with pytest.raises(PluginError) as caught:
        registry.load("metric", name)
    assert "fake-bad 0.3" in str(caught.value)
    assert name in str(caught.value)
    assert isinstance(caught.value, MissingPluginError) == (name == "fake_needs")
    assert registry.load("metric", "fake_good").name == "fake_good"
    # without loading, its name is only a name
    assert name in names.names("metric")


def test_an_interrupt_is_not_swallowed(plugins):
    plugins("fake_stop", "raise KeyboardInterrupt", "X")
    with pytest.raises(KeyboardInterrupt):
        registry.load("metric", "fake_stop")
    with pytest.raises(KeyboardInterrupt):
        registry.check_all("metric")
    with pytest.raises(KeyboardInterrupt):
        registry.resolve("fake_mod:X")


def test_a_vanished_package_is_named_with_the_line_that_repairs_it(plugins):
    plugins.site.distribution("fake-gone", {"tasks": {"fake_t": "fake_gone.specs:TASK"}}, version="9")
    with pytest.raises(PluginError, match=r"fake-gone 9 .*there is no module 'fake_gone\.specs'") as caught:
        registry.load("task", "fake_t")
    assert not isinstance(caught.value, ImportError)
    assert caught.value.remedy == "pip install --force-reinstall --no-deps fake-gone"
    (record,) = [r for r in registry.check_all("task") if r.name == "fake_t"]
    assert (record.status, record.remedy) == ("broken", caught.value.remedy)


def test_a_transient_failure_is_tried_again(plugins, monkeypatch):
    plugins(
        "fake_flaky", GOOD + "import os\nif 'FAKE_DOWN' in os.environ: raise OSError\nX = metric('fake_flaky')", "X"
    )
    monkeypatch.setenv("FAKE_DOWN", "1")
    with pytest.raises(PluginError, match="OSError"):
        registry.load("metric", "fake_flaky")
    monkeypatch.delenv("FAKE_DOWN")
    assert registry.load("metric", "fake_flaky").name == "fake_flaky"


def test_a_spec_is_loaded_once_even_by_many_threads(plugins):
    plugins("fake_once", GOOD + "import time; time.sleep(0.05)\nX = metric('fake_once')", "X")
    found = []
    threads = [threading.Thread(target=lambda: found.append(registry.load("metric", "fake_once"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len({id(spec) for spec in found}) == 1
    assert isinstance(found[0], MetricSpec)


def test_a_plugin_may_load_another_spec_while_it_is_imported(plugins):
    plugins(
        "fake_nested",
        GOOD + "from primabench_core.discovery import registry\nregistry.load('metric', 'fake_good')\n"
        "X = metric('fake_nested')",
        "X",
    )
    assert registry.load("metric", "fake_nested").name == "fake_nested"


def test_a_conflict_can_be_resolved_by_the_qualified_name(plugins):
    plugins("fake_good", GOOD + "GOOD = metric('fake_good', version='7')", "GOOD")
    with pytest.raises(PluginError, match="neither wins"):
        registry.load("metric", "fake_good")
    assert registry.load("metric", "fake-bad:fake_good").version == "7"
    assert registry.load("metric", "fake-good:fake_good").version == "1"
    assert {r.status for r in registry.check_all("metric") if r.name == "fake_good"} == {"conflict"}


@pytest.mark.parametrize(
    ("group", "name", "code"),
    [
        (
            "datasets",
            "fake/x@1.0",
            "X = DatasetSpec(key='fake/x@1.0', title='', summary='', publication='', licence='')",
        ),
        ("recipes", "fake/x@1", "X = RecipeSpec(dataset='fake/x@1', build='a:b')"),
        ("preparers", "t|fake/x@1", "X = PreparerSpec(task='t', dataset='fake/x@1', prepare='a:b')"),
    ],
)
def test_keys_must_have_a_whole_version(plugins, group, name, code):
    plugins(name, GOOD + code, "X", group=group)
    (record,) = [r for r in registry.check_all(group.removesuffix("s")) if r.name == name]
    assert record.status == "broken"
    assert "publication/slug@version" in record.detail


def test_an_extension_must_be_callable_and_hooks_must_fit(plugins):
    plugins("fake_ext", "X = 3", "X", group="extensions")
    (record,) = [r for r in registry.check_all("extension") if r.name == "fake_ext"]
    assert (record.status, record.detail) == ("broken", "expected a callable, found int")


# -- strict ---------------------------------------------------------------------------------------------------------


def test_strict_makes_listing_and_loading_fail_loud(plugins, monkeypatch):
    plugins("fake_raises", "raise RuntimeError('no')", "X")
    assert "fake_raises" in listing.list_metrics()
    monkeypatch.setenv("PRIMABENCH_STRICT", "1")
    for call in (listing.list_tasks, listing.list_metrics, lambda: registry.load("metric", "fake_good")):
        with pytest.raises(PluginError, match=r"fake_raises.*RuntimeError: no") as caught:
            call()
        assert caught.value.remedy == "primabench doctor"
    monkeypatch.setenv("PRIMABENCH_DISABLE", "fake-bad")  # what is left out on purpose is no fault
    names.refresh()
    assert registry.load("metric", "fake_good").name == "fake_good"
    monkeypatch.setenv("PRIMABENCH_STRICT", "0")
    monkeypatch.delenv("PRIMABENCH_DISABLE")
    assert listing.list_metrics()


def test_strict_lets_a_plugin_load_specs_while_it_is_checked(plugins, monkeypatch):
    plugins(
        "fake_nested",
        GOOD + "from primabench_core.discovery import registry\nregistry.load('metric', 'fake_good')\n"
        "X = metric('fake_nested')",
        "X",
    )
    others = {r.distribution for r in registry.check_all() if r.status != "ok"}
    monkeypatch.setenv("PRIMABENCH_DISABLE", ",".join(others))
    monkeypatch.setenv("PRIMABENCH_STRICT", "yes")
    names.refresh()
    sys.modules.pop("fake_mod", None)
    assert registry.load("metric", "fake_nested").name == "fake_nested"


# -- references -----------------------------------------------------------------------------------------------------


def test_resolve_gives_the_function(plugins):
    plugins.site.module("fake_run", "class A:\n    @staticmethod\n    def f(): return 4\ndef g(): return 5\nN = 1")
    assert registry.resolve("fake_run:g")() == 5
    assert registry.resolve("fake_run:A.f")() == 4


@pytest.mark.parametrize(
    ("reference", "says"),
    [
        ("fake_run:h", "AttributeError"),
        ("fake_run:N", "expected a function, found a int"),
        ("fake_run", "expected a function"),
        ("fake_run:", "not of the form"),
        ("", "not of the form"),
        ("fake-run:g", "not of the form"),
        ("fake_nowhere:g", "there is no module 'fake_nowhere'"),
        ("fake_exit:g", "SystemExit: 1"),
        ("fake_wrong:g", "ImportError: cannot import name"),
        ("fake_sub:g", "No module named 'json.nothing'"),
    ],
)
def test_a_reference_that_cannot_be_used(plugins, reference, says):
    plugins.site.module("fake_run", "N = 1")
    plugins.site.module("fake_exit", "import sys; sys.exit(1)")
    plugins.site.module("fake_wrong", "from json import nothing")
    plugins.site.module("fake_sub", "import json.nothing")
    with pytest.raises(PluginError) as caught:
        registry.resolve(reference, owner="fake-good")
    assert says in str(caught.value)
    assert "fake-good" in str(caught.value)
    assert not isinstance(caught.value, MissingPluginError)


def test_a_missing_library_is_named_with_its_install_line(plugins):
    site = plugins.site
    site.distribution(
        "fake-owner",
        {},
        requires=(
            "numpy",
            'fake-leiden>=2; extra == "cluster"',
            "Fake_Igraph; extra == 'graph' and python_version > '3'",
        ),
    )
    for library in ("fake_leiden", "fake_igraph", "fake_other", "fake_deep"):
        site.module(f"fake_run_{library}", f"import {library}.inside\ndef f(): ...")
    expected = {
        "fake_leiden": 'pip install "fake-owner[cluster]"',
        "fake_igraph": 'pip install "fake-owner[graph]"',
        "fake_other": "pip install fake-other",
    }
    for library, line in expected.items():
        with pytest.raises(MissingPluginError, match=f"of fake-owner needs '{library}'") as caught:
            registry.resolve(f"fake_run_{library}:f", owner="fake-owner")
        assert caught.value.remedy == line
        assert isinstance(caught.value.__cause__, ModuleNotFoundError)
    with pytest.raises(MissingPluginError) as caught:
        registry.resolve("fake_run_fake_deep:f", owner="fake-owner", requires=("attrs", "fake-deep", "fake-more>=2"))
    assert caught.value.remedy == 'pip install "fake-deep" "fake-more>=2"'


def test_an_error_of_ours_raised_by_plugin_code_stays_as_it_is(plugins):
    plugins.site.module(
        "fake_own",
        "from primabench_core.errors import MissingPluginError\nraise MissingPluginError('mine', remedy='do this')",
    )
    with pytest.raises(MissingPluginError, match="mine") as caught:
        registry.resolve("fake_own:f")
    assert caught.value.remedy == "do this"


def test_unknown_things_name_where_to_look():
    with pytest.raises(UnknownNameError) as caught:
        registry.load("preparer", "fake_t|fake/x@1.0.0")
    assert caught.value.remedy == "primabench list datasets --task fake_t"
    with pytest.raises(UnknownNameError) as caught:
        registry.load("baseline", "fake_t|nobody")
    assert caught.value.remedy == "primabench list baselines --task fake_t"


def test_a_stranger_who_takes_a_name_does_not_switch_off_a_panel(make_site) -> None:  # type: ignore[no-untyped-def]
    """The panel of a task means the metrics of the distributions that its plugin requires."""
    site = make_site("site")
    site.module("fake_mod", GOOD)
    site.distribution("fake-metrics", {"metrics": {"fake_good": "fake_mod:GOOD"}})
    site.distribution("fake-task", {"metrics": {}}, requires=("numpy", "fake_metrics>=1,<2"))
    assert registry.as_meant_by("fake-task", "metric", "fake_good") == "fake_good"
    site.distribution("fake-stranger", {"metrics": {"fake_good": "fake_mod:GOOD"}})
    with pytest.raises(PluginError, match="neither"):
        registry.load("metric", "fake_good")
    meant = registry.as_meant_by("fake-task", "metric", "fake_good")
    assert meant == "fake-metrics:fake_good"
    assert registry.load("metric", meant).name == "fake_good"
    assert registry.as_meant_by("fake-other", "metric", "fake_good") == "fake_good"


@pytest.mark.parametrize(
    ("declared", "said"),
    [
        (
            '[project.entry-points."primabench.metrics"]\nfake_missing = "fake_mod : X"',
            "define X in fake_mod, or correct",
        ),
        ('[project.entry-points."primabench.metrics"]\nfake_missing = "fake_mod:Y"', "pip install -e"),
        ("", "pip install -e"),
        ("not = = toml", "pip install -e"),
        (None, "pip install -e"),
    ],
)
def test_a_working_copy_that_names_a_missing_object_is_to_be_corrected_and_not_installed_again(
    plugins, tmp_path, monkeypatch, declared, said
):
    from primabench_core.discovery import origin

    if declared is not None:
        (tmp_path / "pyproject.toml").write_text(f'[project]\nname = "fake-bad"\n{declared}\n')
    monkeypatch.setattr(origin, "checkout_of", lambda _: tmp_path)
    plugins("fake_missing", "Y = 1", "X")
    with pytest.raises(PluginError, match="has no 'X'") as caught:
        registry.load("metric", "fake_missing")
    assert caught.value.remedy.startswith(said)
    assert f"pip install -e {tmp_path}" in caught.value.remedy
    record = next(r for r in registry.check_all("metric") if r.name == "fake_missing")
    assert record.remedy == caught.value.remedy  # what doctor shows
