"""What a new user meets on the terminal: cards in words, names that were nearly right, classes nobody knows."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import primabench_core as pb
from primabench_core.cli.show_command import for_terminal

TASK = "cell_type_annotation"
SYNTHETIC = "primabench_synthetic/cell_type_annotation@1.0.0"
CARDS = [
    TASK, "clustering", SYNTHETIC, "mcc", "macro_recall", "auroc_ovr_macro", "ndcg_at_k", f"{TASK}|knn",
    "single_cell_core",
]  # fmt: skip


@pytest.fixture
def ids() -> list[str]:
    return list(pb.load(pb.fetch_test(TASK, dataset=SYNTHETIC)).ids)


def predictions(tmp_path: Path, ids: list[str], labels: list[str], header: str = "id,label") -> str:
    rows = [f"{i},{label}" for i, label in zip(ids, labels, strict=True)]
    (tmp_path / "p.csv").write_text("\n".join([header, *rows]) + "\n")
    return str(tmp_path / "p.csv")


# -- cards ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CARDS)
def test_cards_are_words(primabench: Callable, name: str) -> None:
    out = primabench("show", name).out
    assert not re.search(r"name: \w+, kind:|choices: ?;|Field\(|\]\(|`|&lt;|</?code>|!!!|\{ #", out), out
    assert "…@" not in out
    assert not re.search(r"@…", out)


def test_a_metric_shows_its_formula_and_when_it_is_undefined(primabench: Callable) -> None:
    out = primabench("show", "mcc").out
    assert "R_K = (c·s − Σ p_k t_k)" in out
    assert "undefined: constant_truth" in out
    assert "stands for: recall{average: macro}" in primabench("show", "macro_recall").out


def test_long_names_in_tables_are_whole(primabench: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    squeezed = re.sub(r"\s", "", primabench("show", TASK).out)
    assert "…" not in squeezed
    assert "macro_f1_truth_labels" in squeezed


@pytest.mark.parametrize("words", [["baseline", "knn"], ["knn"], ["baseline", f"{TASK}|knn"]])
def test_a_baseline_is_found_by_its_own_name(primabench: Callable, words: list[str]) -> None:
    assert f"baseline {TASK}|knn" in primabench("show", *words).out


def test_a_baseline_of_several_tasks_asks_which(primabench: Callable) -> None:
    ran = primabench("show", "baseline", "perfect")
    assert ran.code == 2
    assert re.search(r"\b\d+ tasks have a baseline 'perfect': ", ran.err)
    assert f"{TASK}|perfect" in ran.err
    assert re.search(r"show baseline '\w+\|perfect'", ran.err)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["silhuette"], "primabench list metrics"),
        (["f1"], "'macro_f1'"),
        (["metric", "f1"], "primabench list metrics"),
        (["clusterin"], "primabench list tasks"),
        (["single_cel_core"], "primabench list benchmarks"),
        (["baseline", "qqq"], "primabench list baselines"),
        (["qqq"], "datasets, metrics"),
    ],
)
def test_the_remedy_is_of_the_kind_that_was_meant(primabench: Callable, words: list[str], said: str) -> None:
    ran = primabench("show", *words)
    assert ran.code == 2
    assert said in ran.err


def test_pages_lose_only_what_a_site_can_show() -> None:
    link = "See [`y`](../y.md) and [doi](https://doi.org/z)."
    page = f'## x {{ #x }}\n\n{link}\n\n!!! note "Made"\n    Not measured.\n\n## More'
    shown = for_terminal(page)
    assert shown == "See `y` and [doi](https://doi.org/z).\n\n**Made.** Not measured.\n\n**More**"


@pytest.mark.parametrize("kind", ["tasks", "datasets", "metrics", "baselines", "benchmarks", "recipes"])
def test_the_long_list_has_a_line_about_each(primabench: Callable, kind: str) -> None:
    records = json.loads(primabench("list", kind, "--long", "--json").out)
    assert records
    assert all(r["summary"] for r in records)
    assert "summary" in primabench("list", kind, "--long").out
    assert "summary" not in json.loads(primabench("list", kind, "--json").out)[0]


def test_the_short_list_runs_no_plugin_code() -> None:
    code = (
        "import sys\nfrom primabench_core.cli.main import main\nmain(['list', 'metrics'])\n"
        "print([m for m in sys.modules if m.startswith(('primabench_metrics', 'numpy', 'rich'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


# -- classes and ids ------------------------------------------------------------------------------------------------


def test_unknown_classes_are_noted_once_with_the_users_own_names(
    primabench: Callable, tmp_path: Path, ids: list[str]
) -> None:
    labels = [f"made up {i % 4}" for i in range(len(ids))]
    ran = primabench(
        "evaluate", "--task", TASK, "--dataset", SYNTHETIC, "--ci", "none", "--predictions",
        predictions(tmp_path, ids, labels), "--output", "r.json",
    )  # fmt: skip
    assert ran.code == 0
    noted = " ".join(ran.err.split())
    assert noted.count("note:") == 1
    assert f"{len(ids)} predicted labels ('made up 0', 'made up 1', 'made up 2', …) unknown" in noted
    assert "coords['classes']" in noted
    assert f"{len(ids)} unknown labels" in " ".join(ran.out.split())
    test = pb.load(pb.fetch_test(TASK, dataset=SYNTHETIC))
    assert not any(str(name) in noted for name in test.coords["classes"])
    result = pb.EvalResult.load(tmp_path / "r.json")
    assert result["accuracy"].values["n_unknown_labels"] == len(ids)


def test_numbers_of_classes_are_told_to_map_them(primabench: Callable, tmp_path: Path, ids: list[str]) -> None:
    file = predictions(tmp_path, ids, [str(i % 3) for i in range(len(ids))])
    ran = primabench("evaluate", "--task", TASK, "--dataset", SYNTHETIC, "--ci", "none", "--predictions", file)
    assert "map class numbers to names" in " ".join(ran.err.split())


def test_known_classes_are_not_noted(primabench: Callable) -> None:
    ran = primabench("evaluate", "--task", TASK, "--dataset", SYNTHETIC, "--ci", "none", "--baseline", "majority")
    assert ran.err == ""


@pytest.mark.parametrize("option", ["ids=cell", "id=cell"])
def test_the_column_of_ids_may_be_named(primabench: Callable, tmp_path: Path, ids: list[str], option: str) -> None:
    file = tmp_path / "q.csv"
    file.write_text("label,cell\n" + "\n".join(f"x,{i}" for i in ids))
    asked = ["evaluate", "--task", TASK, "--dataset", SYNTHETIC, "--ci", "none", "--predictions", str(file)]
    assert primabench(*asked, "--map", option).code == 0
    refused = primabench(*asked)
    assert refused.code == 2
    assert "--map ids=COLUMN" in refused.err
    assert "pass ids=" not in refused.err
