"""The registry file, and the boards that follow from it."""

from __future__ import annotations

import re

import attrs
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from primabench_board.derive import Board, derive_boards, make_board, open_boards, open_id
from primabench_board.registry import RegistryError, load_registry, parse_registry

from primabench_core.errors import UsageError

from .conftest import REGISTRY


def faults_of(text):
    with pytest.raises(RegistryError) as caught:
        parse_registry(text)
    return "\n".join(caught.value.faults)


def changed(edit):
    document = yaml.safe_load(REGISTRY)
    edit(document)
    return yaml.safe_dump(document, sort_keys=False)


def test_boards_follow_from_the_registry(registry):
    boards = {board.id: board for board in derive_boards(registry)}
    assert list(boards) == [
        "bulk-rna", "dermatology-bulk-rna", "rheumatology-bulk-rna", "treatment-outcome-bulk-rna",
        "clinical-scores-bulk-rna", "endotype-bulk-rna", "proteomics", "dermatology-proteomics",
        "clinical-scores-proteomics",
    ]  # fmt: skip
    assert boards["bulk-rna"].tasks == ("t1", "t2", "t3", "t4")
    assert boards["clinical-scores-bulk-rna"].tasks == ("t2", "t4")
    assert boards["dermatology-proteomics"].tasks == ("t5",)


def test_a_board_over_two_modalities_is_refused(registry):
    with pytest.raises(UsageError, match="exactly one modality; dermatology has bulk-rna, proteomics"):
        make_board(registry, "area", "dermatology", ("t1", "t5"))
    with pytest.raises(UsageError, match="no task"):
        make_board(registry, "area", "oncology", ())
    assert isinstance(make_board(registry, "area", "dermatology", ("t1",)), Board)


@given(st.lists(st.tuples(*(st.integers(0, 3) for _ in range(3))), min_size=1, max_size=20))
@settings(deadline=None)
def test_no_registry_gives_a_mixed_board(rows):
    tasks = [
        {"id": f"t{i}", "dataset": f"d{m}", "area": f"area-{a}", "category": f"cat-{c}", "metric": "auroc"}
        for i, (m, a, c) in enumerate(rows)
    ]
    datasets = [{"id": f"d{m}", "modality": f"mod-{m}"} for m in range(4)]
    registry = parse_registry(yaml.safe_dump({"name": "x", "datasets": datasets, "tasks": tasks}))
    boards = derive_boards(registry)
    assert len({b.id for b in boards}) == len(boards)
    for board in boards:
        assert {registry.modality_of(t) for t in board.tasks} == {board.modality}
    for kind in ("modality", "area", "category"):  # every task is on exactly one board of each kind
        assert sorted(t for b in boards if b.kind == kind for t in b.tasks) == sorted(registry.tasks)


def test_open_boards_drop_out_once_covered(registry):
    assert [open_id(o) for o in open_boards(registry)] == ["oncology-bulk-rna", "single-cell"]
    text = REGISTRY + "  - {modality: proteomics, area: oncology}\n"
    assert [open_id(o) for o in open_boards(parse_registry(text))][-1] == "oncology-proteomics"
    covered = text.replace("dataset: d003, area: dermatology", "dataset: d003, area: oncology")
    assert [open_id(o) for o in open_boards(parse_registry(covered))] == [
        "oncology-bulk-rna", "dermatology-proteomics", "single-cell",
    ]  # fmt: skip


def test_a_category_has_exactly_one_metric():
    found = faults_of(changed(lambda d: d["tasks"][1].update(metric="auroc")))
    assert "tasks (t2).metric: auroc, but the category clinical-scores has the metric pearson" in found
    undeclared = changed(lambda d: (d.pop("categories"), d["tasks"][1].update(metric="auroc")))
    assert "categories (clinical-scores): a category has exactly one metric, found auroc, pearson" in faults_of(
        undeclared
    )


def test_all_faults_are_told_at_once():
    def spoil(d):
        d["titel"] = "x"
        d["datasets"].append({"id": "d001", "modality": "bulk-rna"})
        d["datasets"].append({"id": 5, "modality": "bulk-rna"})
        d["tasks"][0].update(dataset="d0001", area="dermatolgy", labels_sha256="xyz")
        d["tasks"][1].update(metric="rmse")
        d["tasks"][2].pop("category")
        d["tasks"][3].update(minimum_n=-1)
        d["tasks"][4].update(lables_sha256="x")
        d["categories"][0]["metric"] = "nonsense"
        d["areas"].append({"id": "Bad Id"})
        d["open"].append({"modality": "bulk-rna", "category": "endotype"})
        d["rules"] = {"daily_cap": 0, "decimals": 99, "skil": True}
        d["organisation"]["url"] = "javascript:alert(1)"
        d["synthetic"] = "no"

    found = faults_of(changed(spoil))
    for words in (
        "titel: unknown key; did you mean title?", "datasets: d001 stands twice", "expected text, found 5; put it in",
        "tasks (t1).dataset: unknown 'd0001'; did you mean d001", "tasks (t1).area: unknown 'dermatolgy'; did you mean",
        "tasks (t1).labels_sha256: expected 64", "unknown 'rmse'; boards know auroc", "(t3).category: missing",
        "(t4).minimum_n: expected a whole number", "(t5).lables_sha256: unknown key; did you", "unknown 'nonsense'",
        "areas ('Bad Id')", ".category: unknown key", "rules.daily_cap: expected", "rules.decimals: at most 12",
        "rules.skil: unknown key; did you mean skill?", "organisation.url", "synthetic: expected true or false",
    ):  # fmt: skip
        assert words in found, words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "must be a mapping"),
        ("[1, 2]", "must be a mapping"),
        ("name: [", "line 1"),
        ("name: x\nname: y", "'name' stands twice"),
        ("1: x", "the key 1 is not text"),
        ("a: &x [1]\nb: *x", "aliases"),
        ("name: !!python/object/apply:os.system ['true']", "could not determine a constructor"),
        ("name: x", "tasks: at least one"),
        ("datasets: 5\ntasks: 6", "expected a list"),
        ("datasets: [1]\ntasks: [a]", "expected a mapping"),
        ("at: 2026-99-99", "cannot be read"),
        ("{" * 1500, "cannot be read"),
    ],
)
def test_files_that_are_no_registry(text, words):
    assert words in faults_of(text)


@pytest.mark.parametrize("value", [0, -1, 2.5, "30", True])
def test_a_minimum_is_a_whole_number_from_one(value):
    def spoil(d):
        for task in d["tasks"][:2]:
            task["minimum_n"] = value
        d["datasets"][0]["n_samples"] = value
        d["rules"] = {"daily_cap": value}

    found = faults_of(changed(spoil))
    for where in (
        "tasks[0] (t1).minimum_n",
        "tasks[1] (t2).minimum_n",
        "datasets[0] (d001).n_samples",
        "rules.daily_cap",
    ):
        assert f"{where}: expected a whole number from 1, found {value!r}" in found


def test_the_least_counts_are_taken():
    text = changed(lambda d: (d["tasks"][0].update(minimum_n=1), d.update(rules={"daily_cap": 1, "decimals": 0})))
    registry = parse_registry(text)
    assert (registry.tasks["t1"].minimum_n, registry.rules.daily_cap, registry.rules.decimals) == (1, 1, 0)


def test_ids_of_boards_may_not_fall_together():
    def twins(d):
        d["areas"].append({"id": "endotype"})
        d["tasks"][0]["area"] = "endotype"

    assert "both be the board endotype-bulk-rna" in faults_of(changed(twins))
    assert "differs from t1 by case alone" in faults_of(changed(lambda d: d["tasks"][1].update(id="T1")))


def test_what_the_file_leaves_out_is_derived():
    text = """
datasets: [{id: d1, modality: bulk-rna, colour: red}]
tasks: [{id: t1, dataset: d1, area: skin, category: c, metric: auroc}]
"""
    registry = parse_registry(text)
    assert registry.modalities["bulk-rna"].title == "Bulk RNA"
    assert registry.categories["c"].metric == "auroc"
    assert registry.rules.probe == "linear-probe/1"


def test_reading_a_file(tmp_path, registry):
    path = tmp_path / "tasks.yaml"
    path.write_text("\ufeff" + REGISTRY, encoding="utf-8")
    assert load_registry(path) == registry
    assert load_registry(path).sha256 == registry.sha256
    assert re.fullmatch("[0-9a-f]{64}", registry.sha256)
    assert attrs.evolve(registry, title="Other").sha256 != registry.sha256
    with pytest.raises(UsageError, match="cannot be read"):
        load_registry(tmp_path / "none.yaml")
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match="UTF-8"):
        load_registry(path)
