"""The commands as a person and as a program use them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import primabench_core as pb

TASK = "cell_type_annotation"
SYNTHETIC = "primabench_synthetic/cell_type_annotation@1.0.0"


def test_list_names_and_json_agree(primabench: Callable) -> None:
    text = primabench("list", "tasks")
    names = {r["name"] for r in json.loads(primabench("list", "tasks", "--json").out)}
    assert text.code == 0
    assert names == set(pb.list_tasks())
    assert all(name in text.out for name in names)


def test_list_of_a_task(primabench: Callable) -> None:
    listed = {r["name"] for r in json.loads(primabench("list", "metrics", "--task", TASK, "--json").out)}
    assert listed == set(pb.list_metrics(task=TASK))
    assert "auroc" not in listed
    baselines = {r["name"] for r in json.loads(primabench("list", "baselines", "--task", TASK, "--json").out)}
    assert f"{TASK}|majority" in baselines
    assert all(name.startswith(f"{TASK}|") for name in baselines)


def test_plugins_are_counted(primabench: Callable) -> None:
    out = primabench("list", "plugins").out
    assert "primabench-metrics" in out
    assert "baseline" in out


@pytest.mark.parametrize("name", [TASK, SYNTHETIC, "mcc", "macro_recall", f"{TASK}|majority", "single_cell_core"])
def test_show_prints_a_card_and_json(primabench: Callable, name: str) -> None:
    ran = primabench("show", name)
    assert ran.code == 0
    assert name in ran.out
    card = json.loads(primabench("show", name, "--json").out)
    assert card["kind"] in {"task", "dataset", "metric", "baseline", "benchmark"}


def test_show_says_that_synthetic_data_are_synthetic(primabench: Callable) -> None:
    assert "synthetic" in primabench("show", SYNTHETIC).out.lower()


def test_doctor_is_well_here(primabench: Callable) -> None:
    ran = primabench("doctor")
    assert ran.code == 0, ran.out
    report = json.loads(primabench("doctor", "--json").out)
    assert {r["status"] for r in report["records"]} == {"ok"}


def test_doctor_fails_when_a_plugin_is_disabled_only_if_broken(
    primabench: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PRIMABENCH_DISABLE", "primabench-recipes")
    from primabench_core.discovery import names

    names.refresh()
    try:
        assert primabench("doctor").code == 0
        assert "disabled" in primabench("list", "plugins").out
    finally:
        monkeypatch.delenv("PRIMABENCH_DISABLE")
        names.refresh()


def test_evaluate_prints_json_for_a_program(primabench: Callable) -> None:
    command = [
        "evaluate",
        "--task",
        TASK,
        "--dataset",
        SYNTHETIC,
        "--baseline",
        "majority",
        "--metrics",
        "mcc,accuracy",
    ]
    ran = primabench(*command, "--ci", "none", "--json", "--label", "step=1000")
    assert ran.code == 0, ran.err
    parsed = json.loads(ran.out)
    assert parsed["labels"]["step"] == "1000"
    assert parsed["labels"]["baseline"] == "majority"


def test_a_baseline_is_named_as_the_list_prints_it(primabench: Callable) -> None:
    listed = json.loads(primabench("list", "baselines", "--task", TASK, "--json").out)
    name = next(r["name"] for r in listed if r["name"].endswith("|majority"))
    options = ["--dataset", SYNTHETIC, "--metrics", "mcc,accuracy", "--ci", "none", "--json"]
    found = []
    for words in (
        ["--baseline", name],
        ["--task", TASK, "--baseline", name],
        ["--task", TASK, "--baseline", "majority"],
    ):
        ran = primabench("evaluate", *words, *options)
        assert ran.code == 0, ran.err
        found.append(json.loads(ran.out))
    assert [r["labels"]["baseline"] for r in found] == ["majority"] * 3
    assert found[0]["scores_hash"] == found[1]["scores_hash"] == found[2]["scores_hash"]


def test_fetch_gives_paths_that_load(primabench: Callable) -> None:
    paths = json.loads(primabench("fetch", "--task", TASK, "--dataset", SYNTHETIC, "--json").out)
    assert pb.load(paths["train"], task=TASK, split="train").n > 0
    assert "private" not in paths["train"] + paths["test"]


def test_demo_scores_every_baseline(primabench: Callable, tmp_path: Path) -> None:
    ran = primabench("demo", "--dataset", SYNTHETIC, "--output", "shown")
    assert ran.code == 0, ran.err
    for name in pb.list_baselines(task=TASK):
        assert name in ran.out
        assert pb.EvalResult.load(tmp_path / "shown" / f"{name}.json").is_baseline
    page = (tmp_path / "shown" / "report.html").read_text(encoding="utf-8")
    assert "<svg" in page
    assert "synthetic" in page.lower()
    assert "Confusion" in page
    assert "logistic (baseline) against" in page or "knn (baseline) against" in page
    for name in pb.list_baselines(task=TASK):
        file = tmp_path / "shown" / f"{name}.csv"
        assert file.exists() == (name != "perfect")  # the predictions of an oracle never leave the runner
        if file.exists():
            assert primabench("verify", f"shown/{name}.json", "--predictions", str(file)).code == 0
    assert "perfect knows the solution" in ran.out
    again = primabench("demo", "--dataset", SYNTHETIC, "--output", "shown", "--json")
    assert json.loads(again.out)["scores"]["perfect"]["accuracy"] == 1.0


def test_verify_dataset_passes_here(primabench: Callable) -> None:
    ran = primabench("verify", "--dataset", SYNTHETIC, "--json")
    assert ran.code == 0
    assert json.loads(ran.out)["passed"] is True


def test_help_of_every_command(primabench: Callable) -> None:
    from primabench_core.cli.main import COMMANDS

    top = primabench("--help")
    assert top.code == 0
    for name in COMMANDS:
        assert name in top.out
        assert primabench(name, "--help").code == 0
    assert primabench("--version").out.startswith("primabench ")
