"""Moments: order, isolation, refusal of what does not fit."""

from __future__ import annotations

import logging

import pytest

from primabench_core.discovery import hooks, registry
from primabench_core.errors import PluginError

HEAD = "from primabench_core.discovery.hooks import hookimpl\nseen = []\n"
STARTED = HEAD + "@hookimpl\ndef evaluation_started(task): seen.append(task)\n"


def _start() -> None:
    hooks.evaluation_started("t", "d", ("m",))


def _seen(module: str) -> list[object]:
    return list(__import__(module).seen)


def test_a_plugin_may_take_fewer_arguments(site):
    site.module("fake_h", STARTED)
    site.distribution("fake-h", {"hooks": {"fake": "fake_h"}})
    _start()
    hooks.evaluation_finished(object())  # not implemented, so nothing happens
    assert _seen("fake_h") == ["t"]


def test_an_object_may_be_a_plugin_too(site):
    site.module(
        "fake_h",
        HEAD + "class P:\n    @hookimpl\n    def evaluation_finished(self, result): seen.append(result)\nplugin = P()",
    )
    site.distribution("fake-h", {"hooks": {"fake": "fake_h:plugin"}})
    hooks.evaluation_finished("result")
    assert _seen("fake_h") == ["result"]


def test_the_order_is_that_of_distributions_and_names_unless_pluggy_is_told(site):
    site.module("fake_log", "seen = []")
    code = "from fake_log import seen\nfrom primabench_core.discovery.hooks import hookimpl\n"
    for module, mark in (("a", ""), ("b", ""), ("c", "(tryfirst=True)"), ("d", "(trylast=True)"), ("e", "")):
        body = f"@hookimpl{mark}\ndef evaluation_started(): seen.append('{module}')\n"
        site.module(f"fake_{module}", code + body)
    site.distribution("fake-z", {"hooks": {"x": "fake_e", "w": "fake_d"}})
    site.distribution("Fake.A", {"hooks": {"y": "fake_b", "x": "fake_a"}})
    site.distribution("fake-m", {"hooks": {"x": "fake_c"}})
    _start()
    assert _seen("fake_log") == ["c", "a", "b", "e", "d"]


@pytest.mark.parametrize("raised", ["ValueError('oh')", "SystemExit(2)", "BaseException('deep')"])
def test_a_plugin_that_raises_is_named_and_harms_nobody(site, caplog, monkeypatch, raised):
    site.module("fake_bad", HEAD + f"@hookimpl\ndef evaluation_started(task): raise {raised}\n")
    site.module("fake_good", STARTED)
    site.distribution("fake-bad", {"hooks": {"fake": "fake_bad"}}, version="0.3")
    site.distribution("fake-good", {"hooks": {"fake": "fake_good"}})
    with caplog.at_level(logging.WARNING, "primabench"):
        _start()
    assert _seen("fake_good") == ["t"]
    assert "fake-bad 0.3" in caplog.text
    assert raised.partition("(")[0] in caplog.text
    monkeypatch.setenv("PRIMABENCH_STRICT", "1")
    with pytest.raises(PluginError, match=r"fake-bad 0\.3"):
        _start()


def test_an_interrupt_passes(site):
    site.module("fake_bad", HEAD + "@hookimpl\ndef evaluation_started(task): raise KeyboardInterrupt\n")
    site.distribution("fake-bad", {"hooks": {"fake": "fake_bad"}})
    with pytest.raises(KeyboardInterrupt):
        _start()


@pytest.mark.parametrize(
    ("code", "says"),
    [
        (HEAD + "@hookimpl\ndef evaluation_begun(task): ...", "evaluation_begun"),
        (HEAD + "@hookimpl\ndef evaluation_started(task, solution): ...", "solution"),
        (HEAD + "@hookimpl(wrapper=True)\ndef cli_commands(): return (yield)", "wraps a hook"),
        (HEAD, "implements no hook"),
        ("import fake_absent_library", "not installed"),
        ("raise OSError", "OSError"),
    ],
)
def test_a_plugin_that_does_not_fit_is_broken_and_left_out(site, caplog, code, says):
    site.module("fake_bad", code)
    site.module("fake_good", STARTED)
    site.distribution("fake-bad", {"hooks": {"fake": "fake_bad"}})
    site.distribution("fake-good", {"hooks": {"fake": "fake_good"}})
    (record,) = [r for r in registry.check_all("hook") if r.distribution == "fake-bad"]
    assert record.status == "broken"
    assert says in record.detail
    _start()
    assert _seen("fake_good") == ["t"]
    assert "fake-bad" in caplog.text


def test_disabled_hooks_are_not_called(site, monkeypatch):
    site.module("fake_h", STARTED)
    site.distribution("fake-h", {"hooks": {"fake": "fake_h"}})
    monkeypatch.setenv("PRIMABENCH_DISABLE", "fake-h")
    _start()
    monkeypatch.delenv("PRIMABENCH_DISABLE")
    _start()
    assert _seen("fake_h") == ["t"]


def test_commands_and_formats_are_imported_when_used(site):
    site.module(
        "fake_h", HEAD + "@hookimpl\ndef cli_commands(): return {'fake-z': 'fake_run:z', 'fake-a': 'fake_run:a'}"
    )
    site.distribution("fake-h", {"hooks": {"fake": "fake_h"}})
    commands = {name: run for name, run in hooks.cli_commands().items() if name.startswith("fake")}
    assert list(commands) == ["fake-a", "fake-z"]
    assert hooks.command_owners()["fake-a"] == "fake-h"
    with pytest.raises(PluginError, match="fake_run:a of fake-h"):
        commands["fake-a"]([])
    site.module("fake_run", "def a(arguments): return len(arguments)")
    assert commands["fake-a"](["x", "y"]) == 2


def test_a_command_of_two_plugins_belongs_to_neither(site, caplog):
    for name, answer in (("one", {"c": "m:f", "d": "m:f"}), ("two", {"c": "m:g"}), ("three", [1]), ("four", {"e": 4})):
        site.module(f"fake_{name}", HEAD + f"@hookimpl\ndef exporters(): return {answer!r}")
        site.distribution(f"fake-{name}", {"hooks": {"fake": f"fake_{name}"}})
    assert {"d"} == set(hooks.exporters()) & {"c", "d", "e"}
    assert "claims 'c'" in caplog.text
    assert "a mapping of text to text, got a list" in caplog.text


def test_every_hook_is_documented_as_a_manual():
    for name in ("evaluation_started", "evaluation_finished", "cli_commands", "exporters"):
        text = getattr(hooks.Hooks, name).__doc__
        assert "Called" in text
        assert "Since" in text
