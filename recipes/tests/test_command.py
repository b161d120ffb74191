"""The command on recipes: a copy at hand, the card, and what is said when something is missing."""

from __future__ import annotations

import csv
import json

import pytest

from primabench_core.cli.main import main

BBBP = "xiong_2020_journal_of_medicinal_chemistry/bbbp@1.0.0"
WISCONSIN = "pedregosa_2011_journal_of_machine_learning_research/wisconsin_diagnostic@1.0.0"


@pytest.fixture
def store(tmp_path, monkeypatch):
    from primabench_core.store import pins

    monkeypatch.setattr(pins, "_file_of_package", lambda spec: None)  # small files are not the real sources
    monkeypatch.setenv("PRIMABENCH_STORE", str(tmp_path / "store"))
    return tmp_path / "store"


@pytest.fixture
def table(real, tmp_path):
    with (real / "drug_discovery/bbbp/bbbp.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    path = tmp_path / "BBBP.csv"
    path.write_text("BBBP,smiles\n" + "".join(f"{row['label']},{row['smiles']}\n" for row in rows))
    return path


def test_a_copy_at_hand_builds_what_would_be_fetched(store, table, capsys):
    assert main(["build", BBBP, "--source", str(table), "--json"]) == 0
    built = json.loads(capsys.readouterr().out)["built"][0]
    assert built["dataset"] == BBBP
    assert main(["verify", "--dataset", BBBP]) == 0
    assert main(["build", BBBP, "--source", f"BBBP.csv={table}"]) == 2  # a version is never written over


def test_offline_says_where_to_get_it_and_how_to_give_it(store, capsys):
    assert main(["build", BBBP]) == 2
    said = capsys.readouterr().err
    assert "PRIMABENCH_OFFLINE" in said
    assert "--source BBBP.csv=FILE" in said


def test_show_prints_the_audit_of_the_card(capsys):
    assert main(["show", "dataset", WISCONSIN]) == 0
    said = capsys.readouterr().out
    assert "Leak audit" in said
    assert "public truth" in said
    assert "benign 357" in said
