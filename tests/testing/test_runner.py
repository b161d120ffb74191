"""How checks are collected, run and reported: expected failures, the command, pytest, fixtures."""

from __future__ import annotations

import json
import subprocess
import sys
from textwrap import dedent

import pytest

import primabench_core.testing as kit
from primabench_core.cli.main import main
from primabench_core.errors import PluginError, UnknownNameError, UsageError
from primabench_core.testing import CHECKS, CheckFailure, check_distribution, collect
from primabench_core.testing.catalogue import name_of

BAD = "metric.undefined_has_a_reason:bad"

MODULES = {
    "fakebad.__init__": "",
    "fakebad.specs": """
        from primabench_core.spec import Field, MetricSpec
        LABEL = Field("label", "label")
        BAD = MetricSpec(name="bad", summary="x", compute="fakebad.run:bad", prediction=(LABEL,), truth=(LABEL,))
    """,
    "fakebad.run": """
        def bad(state):
            same = state.prediction["label"].values() == state.truth["label"].values()
            return int(same.sum()) / max(state.n, 1)
    """,
}


@pytest.fixture
def bad(fake_distribution):
    return fake_distribution("fake-bad", {"metrics": {"bad": "fakebad.specs:BAD"}}, MODULES)


def test_every_check_has_a_rule_a_name_and_its_place():
    names = [name_of(check) for checks in CHECKS.values() for check in checks]
    assert len(names) == len(set(names))
    for kind, checks in CHECKS.items():
        for check in checks:
            assert check.__name__.startswith("check_")
            assert check.__doc__, f"{kind}: {check.__name__}"


def test_the_public_names():
    assert sorted(kit.__all__) == [
        "CHECKS", "CheckFailure", "CheckRecord", "CheckReport", "NotApplicable", "check_distribution", "collect",
        "parametrize_with_checks", "subject_of",
    ]  # fmt: skip
    for name in kit.__all__:
        assert getattr(kit, name) is not None
    assert issubclass(CheckFailure, PluginError)


def test_importing_the_kit_loads_neither_pytest_nor_arrays():
    code = "import sys, primabench_core.testing; print([m for m in ('pytest', 'numpy', 'zarr') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_distribution_that_is_not_there():
    with pytest.raises(UnknownNameError, match="primabench-metrics"):
        check_distribution("primabench-metric")
    assert main(["check", "primabench-metric"]) == 2


def test_the_name_of_a_distribution_is_compared_as_indexes_do(bad):
    assert check_distribution("Fake_Bad").distribution == "fake-bad"


def test_an_expected_failure_needs_a_reason_and_a_check(bad):
    with pytest.raises(UsageError, match="needs a written reason"):
        collect("fake-bad", {BAD: " "})
    with pytest.raises(UnknownNameError, match=r"Did you mean 'metric\.undefined_has_a_reason:bad'"):
        collect("fake-bad", {"metric.undefined_has_reason:bad": "why not"})


def test_an_expected_failure_must_fail(bad):
    report = check_distribution("fake-bad", {BAD: "counts of nothing are 0 here", "metric.order_free:bad": "I fear so"})
    expected, wrong = report.find("undefined_has_a_reason")[0], report.find("order_free")[0]
    assert expected.status == "expected_failure"
    assert expected.reason.startswith("counts of nothing are 0 here (found: it made 0.0 out of no rows")
    assert wrong.status == "failed"
    assert "expected to fail (I fear so), but it passed" in wrong.reason
    assert report.findings == (wrong,)


def test_an_expected_failure_that_does_not_apply_is_a_finding(bad):
    report = check_distribution("fake-bad", {BAD: "known", "metric.column_order_free:bad": "columns"})
    assert [r.check for r in report.findings] == ["column_order_free"]
    assert "did not apply" in report.findings[0].reason


def test_the_command_says_what_was_found(bad, capsys, tmp_path):
    assert main(["check", "fake-bad"]) == 1
    out = capsys.readouterr().out
    assert f"failed: {BAD}" in out
    assert "Next: return Outcome.undefined" in out
    assert "passed, 1 failed" in out
    expected = tmp_path / "expected.json"
    expected.write_text(json.dumps({BAD: "by convention"}))
    assert main(["check", "fake-bad", "--expected-failures", str(expected)]) == 0
    assert "1 fail as expected" in capsys.readouterr().out
    expected.write_text("[]")
    assert main(["check", "fake-bad", "--expected-failures", str(expected)]) == 2


def test_json_for_programs(bad, capsys):
    assert main(["check", "fake-bad", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["distribution"] == "fake-bad"
    assert not found["is_sound"]
    record = next(r for r in found["records"] if r["id"] == BAD)
    assert record == {
        "id": BAD,
        "check": "undefined_has_a_reason",
        "kind": "metric",
        "subject": "bad",
        "status": "failed",
        "reason": record["reason"],
        "next": 'return Outcome.undefined("too_few_items")',
    }


def test_progress_names_each_check(bad):
    seen = []
    check_distribution("fake-bad", progress=lambda name, done, total: seen.append((name, done, total)))
    assert seen[0] == ("plugin.entry_points_resolve:fake-bad", 0, len(seen) - 1)
    assert seen[-1] == ("done", len(seen) - 1, len(seen) - 1)


def run_pytest(bad, tmp_path, body, *options):
    file = tmp_path / "test_it.py"
    file.write_text(dedent(body))
    code = f"import sys; sys.path.insert(0, {str(bad)!r}); import pytest; sys.exit(pytest.main(sys.argv[1:]))"
    command = [
        sys.executable,
        "-c",
        code,
        "-q",
        "-rA",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        str(tmp_path),
        *options,
        str(file),
    ]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_pytest_shows_one_test_a_check(bad, tmp_path):
    done = run_pytest(
        bad,
        tmp_path,
        """
        from primabench_core.testing import parametrize_with_checks

        @parametrize_with_checks("fake-bad")
        def test_conformance(check):
            check()
        """,
        *("-k", "order_free or undefined"),
    )
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert any(line.startswith("FAILED") and BAD in line for line in lines), done.stdout
    assert any(line.startswith("PASSED") and "metric.order_free:bad" in line for line in lines), done.stdout
    assert "1 failed, 1 passed, 1 skipped" in done.stdout


def test_pytest_holds_expected_failures_to_their_word(bad, tmp_path):
    done = run_pytest(
        bad,
        tmp_path,
        f"""
        from primabench_core.testing import parametrize_with_checks

        @parametrize_with_checks("fake-bad", {{"{BAD}": "by convention", "metric.order_free:bad": "I fear so"}})
        def test_conformance(check):
            check()
        """,
        *("-k", "order_free or undefined"),
    )
    assert "1 failed, 1 skipped, 16 deselected, 1 xfailed" in done.stdout
    assert "was expected to fail (I fear so), but it passed" in done.stdout


def test_fixtures_can_be_imported_by_others(bad, tmp_path):
    done = run_pytest(
        bad,
        tmp_path,
        """
        import primabench_core as pb
        from primabench_core.testing.fixtures import fake_distribution, spy_store  # noqa: F401

        def test_it(fake_distribution, spy_store):
            assert "other" not in pb.list_tasks()
            fake_distribution("fake-other", {"tasks": {"other": "fakeother.specs:TASK"}})
            assert "other" in pb.list_tasks()
            assert spy_store == []

        def test_it_is_gone():
            assert "other" not in pb.list_tasks()
        """,
    )
    assert "2 passed" in done.stdout, done.stdout


def test_nothing_is_loaded_by_pytest_on_its_own():
    from importlib.metadata import entry_points

    assert not [e for e in entry_points(group="pytest11") if "primabench" in e.value]
