"""``primabench board``, as users type it."""

from __future__ import annotations

import json

import pytest

from primabench_core.cli.main import main

from .conftest import ALL, REGISTRY, document


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "tasks.yaml").write_text(REGISTRY, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PRIMABENCH_BOARD_DB", raising=False)
    monkeypatch.delenv("PRIMABENCH_BOARD_REGISTRY", raising=False)
    return tmp_path


@pytest.fixture
def result(folder, registry):
    def write(name, scores=ALL, file="r.json", **more):
        (folder / file).write_text(json.dumps(document(registry, name, scores, **more)))
        return file

    return write


def test_add_show_export(folder, result, capsys):
    assert main(["board", "add", result("One [bold]x[/bold]", organisation="Lab")]) == 0
    assert "is submission 1; ranked on bulk-rna" in capsys.readouterr().out
    assert (folder / "results.sqlite").exists()
    assert main(["board", "add", result("Part", {"t1": 0.4})]) == 0
    assert main(["board", "show"]) == 0
    assert "rheumatology-bulk-rna" in capsys.readouterr().out
    assert main(["board", "show", "bulk-rna"]) == 0
    shown = capsys.readouterr().out
    assert "[bold]x" in shown
    assert "0.750 to 0.850" in shown
    assert "ordering" in shown
    assert "Part: 1 of 4 tasks" in shown
    assert main(["board", "show", "bulk-rna", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["ranked"][0]["rank"] == 1
    assert main(["board", "show", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0] == {"id": "bulk-rna", "ranked": 1, "title": "Bulk RNA-seq"}
    assert main(["board", "show", "proteomics"]) == 0
    assert "No model covers" in capsys.readouterr().out
    assert main(["board", "export", "site"]) == 0
    assert "index.html" in capsys.readouterr().out
    assert (folder / "site" / "index.html").exists()
    assert main(["board", "export", "site", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["files"] > 20


def test_what_is_refused_leaves_with_2(folder, result, capsys):
    assert main(["board", "show"]) == 2
    assert "no ledger" in capsys.readouterr().err
    assert not (folder / "results.sqlite").exists()
    assert main(["board"]) == 2
    assert main(["board", "add", "none.json"]) == 2
    assert main(["board", "show", "--registry", "none.yaml"]) == 2
    main(["board", "add", result("One")])
    capsys.readouterr()
    assert main(["board", "show", "bulk-rn"]) == 2
    assert "Did you mean 'bulk-rna'" in capsys.readouterr().err
    assert main(["board", "add", result("one", owner="bob")]) == 2
    assert "belongs to another" in capsys.readouterr().err
    assert main(["board", "add", result("One", {"t1": 0.9})]) == 2
    assert "--accept-partial" in capsys.readouterr().err
    assert main(["board", "add", "--accept-partial", result("One", {"t1": 0.9})]) == 0
    assert "warning: One is no longer ranked on bulk-rna" in capsys.readouterr().err
    assert main(["board", "add", result("One", {"t1": 0.7}, at="2025-01-01T00:00:00Z")]) == 0
    assert "submission 3, and older than submission 2, which boards keep" in capsys.readouterr().out
    assert main(["board", "export", "."]) == 2
    assert "no export" in capsys.readouterr().err


def test_several_files_each_for_itself(folder, result, capsys):
    good, bad = result("One", file="a.json"), result("Rank", file="b.json")
    assert main(["board", "add", good, bad]) == 1
    told = capsys.readouterr()
    assert "submission 1" in told.out
    assert "b.json: not added" in told.err
    assert main(["board", "add", "--json", good, bad]) == 1
    found = json.loads(capsys.readouterr().out)
    assert [sorted(one) for one in found] == [["error", "file"]] * 2


def test_owner_contact_and_other_places(folder, result, capsys, monkeypatch):
    file = result("One", owner=None)
    assert main(["board", "add", file]) == 2
    assert "--owner" in capsys.readouterr().err
    assert main(["board", "add", file, "--owner", "cy", "--contact", "cy@example.org", "--db", "other.sqlite"]) == 0
    assert "cy" not in capsys.readouterr().out
    monkeypatch.setenv("PRIMABENCH_BOARD_DB", "other.sqlite")
    monkeypatch.setenv("PRIMABENCH_BOARD_REGISTRY", str(folder / "tasks.yaml"))
    assert main(["board", "show", "bulk-rna", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["ranked"]) == 1


def test_the_command_is_found_through_its_hook():
    from primabench_core.discovery.hooks import cli_commands

    assert "board" in cli_commands()


def test_from_embeddings_to_a_page(tmp_path, monkeypatch, capsys):
    """The joint with primabench-task-patient: what its command writes is what this one reads."""
    pytest.importorskip("primabench_task_patient", reason="primabench-task-patient is not installed")
    monkeypatch.chdir(tmp_path)
    assert main(["patient", "quickstart", "quick"]) == 0
    results = sorted(str(path) for path in (tmp_path / "quick").glob("*.scores.json"))
    assert len(results) >= 3
    place = ["--registry", "quick/truth/tasks.yaml"]
    assert main(["board", "add", *results, "--owner", "me", *place]) == 0
    capsys.readouterr()
    assert main(["board", "show", "bulk-rna", "--json", *place]) == 0
    board = json.loads(capsys.readouterr().out)
    assert {"partial"} <= {left["model"] for left in board["unranked"]}
    assert any(line["model"].endswith("(baseline)") for line in board["ranked"])
    assert main(["board", "show", "bulk-rna", *place]) == 0
    assert "few samples or patients: t_response (Treatment outcome)" in " ".join(capsys.readouterr().out.split())
    assert main(["board", "export", "site", *place]) == 0
    assert "Synthetic data." in (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    labels = (tmp_path / "quick" / "truth" / "t_endotype" / "labels.csv").read_text(encoding="utf-8").splitlines()
    samples = {line.split(",")[0] for line in labels[1:]}
    written = "".join(path.read_text(encoding="utf-8") for path in (tmp_path / "site").rglob("*") if path.is_file())
    assert not [sample for sample in samples if f'"{sample}"' in written]
