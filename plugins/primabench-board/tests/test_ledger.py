"""The ledger on SQLite and on PostgreSQL: it only grows, names are locked, nothing is lost."""

from __future__ import annotations

import datetime
import itertools
import subprocess
import sys

import pytest
from primabench_board import database, tables
from primabench_board.ledger import Ledger, PartialReplacementError
from primabench_board.registry import parse_registry
from primabench_board.standings import compute
from sqlalchemy import text

from primabench_core.errors import MissingPluginError, StoreError, UsageError

from .conftest import ALL, AT, REGISTRY, document

NOW = datetime.datetime(2025, 3, 1, 20, 0, tzinfo=datetime.UTC)


def names_of(ledger):
    return [entry.name for entry in ledger.entries()]


def test_what_is_added_is_read_again(ledger, registry, make):
    done = ledger.add(make("One", ALL | {"t5": "dataset_not_covered"}, organisation="Lab"), registry, now=NOW)
    assert (done.number, done.name, done.lost) == (1, "One", ())
    assert "bulk-rna" in done.ranked_on
    assert "proteomics" not in done.ranked_on
    (entry,) = ledger.entries()
    assert [(r.task, r.status, r.value) for r in entry.rows] == [
        ("t1", "scored", 0.8), ("t2", "scored", 0.4), ("t3", "scored", 0.7), ("t4", "scored", 0.3),
        ("t5", "skipped", None),
    ]  # fmt: skip
    assert entry.organisation == "Lab"
    assert entry.rows[0].record["per_fold"] == {"0": 0.5, "1": None}
    assert "ann" not in repr(entry)
    assert "owner" not in entry.facts


@pytest.mark.parametrize("value", [0.1 + 0.2, 1 / 3, 5e-324, 0.0, 1.0])
def test_numbers_keep_their_bits(ledger, registry, make, value):
    ledger.add(make("One", {"t1": value}), registry)
    assert ledger.entries()[0].rows[0].value.hex() == value.hex()


def test_it_only_grows(address, registry, make):
    with Ledger(address) as ledger:
        ledger.add(make("One"), registry)
        ledger.add(make("One", ALL | {"t1": 0.9}), registry)
        assert [e.number for e in ledger.entries()] == [1, 2]  # history stays
    engine = database.engine_of(address)
    for table in tables.APPEND_ONLY:
        column = "id" if table != "scores" else "submission_id"
        for deed in (f"DELETE FROM {table}", f"UPDATE {table} SET {column} = {column} + 7"):
            with pytest.raises(StoreError, match="only grows"), database.transaction(engine, writes=True) as c:
                c.execute(text(deed))
    engine.dispose()


def test_the_long_table_is_a_view(address, registry, make):
    with Ledger(address) as ledger:
        ledger.add(make("One", {"t1": 0.8, "t2": "not_finite"}), registry)
    engine = database.engine_of(address)
    with database.transaction(engine, writes=False) as c:
        rows = c.execute(text("SELECT task_id, model_name, score, is_baseline, owner, submitted_at FROM results"))
        assert [tuple(row) for row in rows] == [("t1", "One", 0.8, False, "ann", AT)]
    engine.dispose()


def test_a_name_belongs_to_whoever_used_it_first(ledger, registry, make):
    ledger.add(make("My Model"), registry)
    for spelled in ("my model", "MY  MODEL ", "Ｍｙ Model", "My\u00a0Model"):
        with pytest.raises(UsageError, match="belongs to another account") as caught:
            ledger.add(make(spelled, owner="bob"), registry)
        assert "ann" not in str(caught.value)
    ledger.add(make("MY MODEL", ALL | {"t1": 0.9}), registry)
    assert names_of(ledger) == ["My Model", "My Model"]  # as it was first spelled


@pytest.mark.parametrize("pair", [("scGPT", "ѕсGРТ"), ("modern", "modem"), ("GPT-1", "GPT-l"), ("gpt-1", "GPT-I")])
@pytest.mark.parametrize("owner", ["ann", "bob"])
def test_names_that_look_alike_are_refused(ledger, registry, make, pair, owner):
    ledger.add(make(pair[0]), registry)
    with pytest.raises(UsageError, match="looks like"):
        ledger.add(make(pair[1], owner=owner), registry)
    assert names_of(ledger) == [pair[0]]


def test_a_refused_submission_claims_no_name(ledger, registry, make):
    with pytest.raises(UsageError, match="no such task"):
        ledger.add(make("One"), attrs_without(registry, "t1"))
    with pytest.raises(UsageError, match="names no owner"):
        ledger.add(make("One", owner=None), registry)
    ledger.add(make("One", owner="bob"), registry)


def attrs_without(registry, task):
    import attrs

    return attrs.evolve(registry, tasks={k: t for k, t in registry.tasks.items() if k != task})


def test_whose_submission_it_is(ledger, registry, make):
    ledger.add(make("One", owner=None), registry, owner="cy")
    with pytest.raises(UsageError, match="another owner") as caught:
        ledger.add(make("Two", owner="secret"), registry, owner="cy")
    assert "secret" not in str(caught.value)


def test_a_partial_submission_is_warned_about(ledger, registry, make):
    ledger.add(make("One"), registry)
    part = make("One", ALL | {"t3": "sample_missing"})
    with pytest.raises(PartialReplacementError, match="accept-partial") as caught:
        ledger.add(part, registry)
    assert caught.value.boards == ("bulk-rna", "rheumatology-bulk-rna", "endotype-bulk-rna")
    assert len(ledger.entries()) == 1
    done = ledger.add(part, registry, accept_partial=True)
    assert done.lost == caught.value.boards
    assert "dermatology-bulk-rna" in done.ranked_on
    assert len(ledger.entries()) == 2
    ledger.add(make("One", ALL | {"t1": 0.1}), registry)  # complete again: nothing to warn about
    # skipped where it was skipped before costs nothing
    ledger.add(make("Two", {"t1": 0.5, "t2": "not_finite"}), registry)
    ledger.add(make("Two", {"t1": 0.6, "t2": "not_finite"}), registry)


def test_the_same_result_is_added_once(ledger, registry, make):
    ledger.add(make("One"), registry)
    ledger.add(make("One", ALL | {"t1": 0.9}), registry)
    for number, score in ((1, 0.8), (2, 0.9)):
        with pytest.raises(UsageError, match=f"as submission {number}"):
            ledger.add(make("One", ALL | {"t1": score}), registry)
    ledger.add(make("Two"), registry)  # of another model
    assert [e.number for e in ledger.entries()] == [1, 2, 3]


def ranked_first(ledger, registry):
    """Score of t1 that boards show for the model that is first."""
    standings = compute(registry, ledger.entries())
    (line, *_) = standings.tasks["t1"]
    return line.cell.value


def test_the_latest_submission_is_that_of_the_latest_date(ledger, registry, make):
    ledger.add(make("One", at="2025-02-02T00:00:00Z"), registry)
    older = ledger.add(make("One", {"t1": 0.1}, at="2025-02-01T23:59:59Z"), registry)  # loses nothing: it is history
    assert (older.number, older.counts, older.lost) == (2, 1, ())
    assert "bulk-rna" in older.ranked_on
    assert ranked_first(ledger, registry) == 0.8
    same = ledger.add(make("One", ALL | {"t1": 0.9}, at="2025-02-02T00:00:00Z"), registry)
    assert same.counts == same.number == 3  # of one second the last
    assert ranked_first(ledger, registry) == 0.9
    with pytest.raises(PartialReplacementError):
        ledger.add(make("One", {"t1": 0.2}, at="2025-02-03T00:00:00Z"), registry)
    assert [e.number for e in ledger.entries()] == [1, 2, 3]


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_results_may_be_added_in_any_order(tmp_path, registry, make, order):
    made = [make("One", ALL | {"t1": 0.5 + i / 10}, at=f"2025-02-0{i + 1}T00:00:00Z") for i in range(3)]
    with Ledger(str(tmp_path / "results.sqlite")) as ledger:
        for place in order:
            ledger.add(made[place], registry)
        assert ranked_first(ledger, registry) == 0.7
        assert compute(registry, ledger.entries()).submitted == (3,)


def test_a_date_to_come_is_refused(ledger, registry, make):
    ledger.add(make("One", at="2025-03-02T20:00:00Z"), registry, now=NOW)  # a day: clocks differ
    with pytest.raises(UsageError, match="to come"):
        ledger.add(make("One", at="2025-03-02T20:00:01Z"), registry, now=NOW)
    eastern = NOW.astimezone(datetime.timezone(datetime.timedelta(hours=14)))  # the same moment
    with pytest.raises(UsageError, match="to come"):
        ledger.add(make("One", at="2025-03-02T20:00:01Z"), registry, now=eastern)
    assert len(ledger.entries()) == 1


def test_other_labels_and_other_probes_are_refused(ledger, registry, make):
    import attrs

    ledger.add(make("One"), registry)
    other = make("Two")
    hashes = attrs.evolve(other.scores[0].hashes, labels_sha256="9" * 64)
    scores = (attrs.evolve(other.scores[0], hashes=hashes), *other.scores[1:])
    changed = attrs.evolve(other, scores=scores)
    with pytest.raises(UsageError, match=r"t1: .* version of the labels"):
        ledger.add(changed, registry)
    probe = attrs.evolve(other.scores[1].probe, sha256="9" * 64)
    scores = (other.scores[0], attrs.evolve(other.scores[1], probe=probe), *other.scores[2:])
    with pytest.raises(UsageError, match=r"t2: .* version of the probe"):
        ledger.add(attrs.evolve(other, scores=scores), registry)
    pinned = attrs.evolve(registry.tasks["t1"], labels_sha256="9" * 64)
    newer = attrs.evolve(registry, tasks={**registry.tasks, "t1": pinned})
    ledger.add(changed, newer)  # the registry says which labels count
    probe = attrs.evolve(changed.scores[0].probe, sha256="8" * 64)
    third = attrs.evolve(changed, model=attrs.evolve(changed.model, name="Third"))
    third = attrs.evolve(third, scores=(attrs.evolve(changed.scores[0], probe=probe), *changed.scores[1:]))
    with pytest.raises(UsageError, match=r"t1: .* version of the probe"):
        ledger.add(third, newer)
    with pytest.raises(UsageError, match="other labels than the registry pins"):
        ledger.add(make("Three"), newer)
    lines = {newer_name(line, ledger): line.status for line in compute(newer, ledger.entries()).tasks["t1"]}
    assert lines == {"One": "outdated", "Two": "scored"}


def newer_name(line, ledger):
    return sorted(names_of(ledger))[line.entry]


def test_the_daily_cap_is_of_an_owner_and_a_day(ledger, registry, make):
    import attrs

    capped = attrs.evolve(registry, rules=attrs.evolve(registry.rules, daily_cap=2))
    for number in (1, 2):
        ledger.add(make(f"Model {number}"), capped, now=NOW)
    with pytest.raises(UsageError, match="daily cap of 2"):
        ledger.add(make("Model 3"), capped, now=NOW + datetime.timedelta(hours=3))
    ledger.add(make("Model B", owner="bob"), capped, now=NOW)
    ledger.add(make("Model 3"), capped, now=NOW + datetime.timedelta(hours=4))


ADD = """
import sys
sys.path.insert(0, sys.argv[3])
from conftest import REGISTRY, submission
from primabench_board.ledger import Ledger
from primabench_board.registry import parse_registry
from primabench_core.errors import UsageError
registry, me = parse_registry(REGISTRY), sys.argv[2]
won = 0
with Ledger(sys.argv[1]) as ledger:
    for i in range(15):
        ledger.add(submission(registry, f"model {me} {i}", {"t1": 0.5 + i / 1000}, owner=me), registry)
        scores = {"t1": 0.5 + i / 1000, "t2": 0.1 if me == "x" else 0.2}
        second = 2 * i + (me == "y")
        ledger.add(submission(registry, "shared", scores, at=f"2025-01-01T00:00:{second:02d}Z"), registry)
        try:
            ledger.add(submission(registry, f"contested {i}", {"t1": 0.5}, owner=me), registry)
            won += 1
        except UsageError as error:
            assert "another account" in str(error)
print(won)
"""


def test_two_processes_lose_nothing_and_share_no_name(address, request):
    command = [sys.executable, "-c", ADD, address]
    running = [
        subprocess.Popen([*command, mark, str(request.path.parent)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for mark in "xy"
    ]  # neither finds a ledger: both try to make it
    won = 0
    for one in running:
        out, error = one.communicate(timeout=120)
        assert one.returncode == 0, error.decode()
        won += int(out)
    assert won == 15  # each contested name went to one of the two
    with Ledger(address, create=False) as ledger:
        entries = ledger.entries()
    expected = [f"model {mark} {i}" for mark in "xy" for i in range(15)] + ["shared"] * 30
    expected += [f"contested {i}" for i in range(15)]
    assert sorted(e.name for e in entries) == sorted(expected)
    assert [e.number for e in entries] == sorted({e.number for e in entries})
    assert all(len(e.rows) == (2 if e.name == "shared" else 1) for e in entries)
    standings = compute(parse_registry(REGISTRY), entries)
    (counting,) = (m for m in standings.models if m.name == "shared")  # whoever was faster, the last date counts
    assert (counting.submitted_at, counting.rows[1].value) == ("2025-01-01T00:00:29Z", 0.2)


def test_tables_are_what_migrations_make(address):
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext
    from alembic.script import ScriptDirectory

    with Ledger(address):
        pass
    engine = database.engine_of(address)
    with database.transaction(engine, writes=False) as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, tables.metadata) == []
        assert context.get_current_revision() == tables.REVISION
    engine.dispose()
    scripts = ScriptDirectory(str(database.__file__).replace("database.py", "migrations"))
    assert scripts.get_heads() == [tables.REVISION]


def test_a_ledger_of_a_newer_version_is_refused(address, registry, make):
    with Ledger(address) as ledger:
        ledger.add(make("One"), registry)
    engine = database.engine_of(address)
    with database.transaction(engine, writes=True) as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    engine.dispose()
    with pytest.raises(StoreError, match="newer version"):
        Ledger(address)


def test_addresses(tmp_path, monkeypatch):
    with pytest.raises(UsageError, match="no ledger"):
        Ledger(str(tmp_path / "none.sqlite"), create=False)
    assert not (tmp_path / "none.sqlite").exists()
    with pytest.raises(UsageError, match="SQLite or PostgreSQL"):
        Ledger("mysql://host/db")
    with pytest.raises(UsageError, match="no URL"):
        Ledger("://nonsense")
    with pytest.raises(StoreError, match="cannot be used"):
        Ledger(str(tmp_path / "no" / "folder.sqlite"))
    (tmp_path / "text.sqlite").write_text("this is no database, but it is long enough to be looked at" * 20)
    with pytest.raises(StoreError, match="not a database"):
        Ledger(str(tmp_path / "text.sqlite"))
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingPluginError, match=r"primabench-board\[postgresql\]"):
        Ledger("postgresql://nobody@127.0.0.1:1/none")


def test_a_password_is_never_shown(postgres):
    port = postgres.rsplit(":", 1)[1].split("/")[0]
    address = f"postgresql://tester:hunter2@127.0.0.1:{port}/nowhere"
    with pytest.raises(StoreError) as caught:
        Ledger(address)
    assert "hunter2" not in str(caught.value)
    with Ledger(postgres.replace("tester@", "tester:hunter2@")) as ledger:
        assert "hunter2" not in repr(ledger)


def test_contacts_are_apart(address, registry, make):
    with Ledger(address) as ledger:
        ledger.add(make("One"), registry)
        ledger.set_contact("ann", "ann@example.org")
        ledger.set_contact("ann", "ann@example.com", "prefers mail")
    engine = database.engine_of(address)
    with database.transaction(engine, writes=True) as connection:
        assert connection.execute(text("SELECT contact FROM contacts")).scalar_one() == "ann@example.com"
        connection.execute(text("DELETE FROM contacts"))  # may be erased, unlike results
    engine.dispose()


def test_results_that_do_not_fit_are_refused_with_all_faults(ledger, registry):
    import json

    from primabench_board.result_file import parse_result

    made = document(registry, "One", ALL, organisation="\u202eevil", family="x" * 200)
    made["synthetic"] = True
    made["scores"][0]["dataset"] = "d002"
    made["scores"][1] |= {"metric": "auroc", "chance": 0.5}
    made["scores"][2]["probe"]["id"] = "other-probe/1"
    made["scores"][3]["task"] = "t9"
    with pytest.raises(UsageError) as caught:
        ledger.add(parse_result(json.dumps(made)), registry)
    for words in (
        "synthetic",
        "t1: the dataset",
        "t2: the metric",
        "t3: the probe",
        "t9: no such",
        "organisation",
        "200",
    ):
        assert words in str(caught.value)
    made_up = parse_registry(REGISTRY.replace("name: immune", "name: immune\nsynthetic: true", 1))
    with pytest.raises(UsageError, match="the result is not"):
        ledger.add(parse_result(json.dumps(document(registry, "One", ALL))), made_up)
    ledger.add(parse_result(json.dumps(document(made_up, "One", ALL))), made_up)
