"""Ranks: a pure function of registry and submissions."""

from __future__ import annotations

import itertools
import json
import math
import random

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from primabench_board.export import export_files
from primabench_board.ledger import Ledger
from primabench_board.registry import parse_registry
from primabench_board.standings import compute
from primabench_board.submission import Entered, LedgerEntry
from primabench_board.uncertainty import Cell, mean, rank_intervals, ranks

from .conftest import ALL, AT, REGISTRY, SCORED, submission

RNA = {"t1": 0.8, "t2": 0.4, "t3": 0.7, "t4": 0.3}


def entry(number, name, scores, *, half=0.05, baseline=False, at=AT):
    """A submission as the ledger gives it."""
    rows = tuple(
        Entered(
            task=task,
            status="skipped" if isinstance(value, str) else "scored",
            reason=value if isinstance(value, str) else "",
            value=None if isinstance(value, str) else value,
            low=None if isinstance(value, str) or half is None else value - half,
            high=None if isinstance(value, str) or half is None else value + half,
            labels="1" * 64,
            record=SCORED | {"value": value, "pooled": value, "fold_mean": value, "per_fold": {"0": value}},
        )
        for task, value in sorted(scores.items())
    )
    return LedgerEntry(
        number=number, name=name, key=name.casefold(), organisation="", model_family="", is_baseline=baseline,
        submitted_at=at, rows=rows, facts={},
    )  # fmt: skip


def board_of(standings, identity):
    return next(b for b in standings.boards if b.board.id == identity)


def order_of(standings, identity):
    return [(line.rank, standings.models[line.entry].name) for line in board_of(standings, identity).ranked]


def test_a_board_ranks_only_what_covers_it(registry):
    found = compute(
        registry,
        [
            entry(1, "whole", RNA),
            entry(2, "skin", {"t1": 0.9, "t2": 0.9, "t3": "sample_missing"}),
            entry(3, "other", {"t5": 0.5}),
        ],
    )
    assert order_of(found, "bulk-rna") == [(1, "whole")]
    assert order_of(found, "dermatology-bulk-rna") == [(1, "skin"), (2, "whole")]
    assert order_of(found, "rheumatology-bulk-rna") == [(1, "whole")]
    assert order_of(found, "proteomics") == [(1, "other")]
    (left,) = board_of(found, "bulk-rna").unranked
    assert (found.models[left.entry].name, left.covered) == ("skin", 2)
    assert left.missing == (("t3", "skipped", "sample_missing"), ("t4", "absent", "not_submitted"))
    lines = {found.models[line.entry].name: (line.rank, line.status) for line in found.tasks["t3"]}
    assert lines == {"whole": (1, "scored"), "skin": (None, "skipped")}


def test_families_are_never_merged_and_the_mean_orders(registry):
    found = compute(registry, [entry(1, "a", RNA)])
    board = board_of(found, "bulk-rna")
    assert [f for f, _ in board.families] == ["treatment-outcome", "clinical-scores", "endotype"]  # two with AUROC
    (line,) = board.ranked
    assert [c.value for c in line.families] == [0.8, (0.4 + 0.3) / 2, 0.7]
    assert line.order.value == math.fsum([0.8, 0.35, 0.7]) / 3
    assert board.has_mean
    assert not board_of(found, "endotype-bulk-rna").has_mean


def test_equal_means_share_a_rank(registry):
    close = math.nextafter(0.8, 1)
    found = compute(
        registry,
        [entry(i, n, RNA | {"t1": v}) for i, (n, v) in enumerate([("z", 0.8), ("b", 0.8), ("c", 0.5), ("a", 0.9)], 1)],
    )
    assert order_of(found, "bulk-rna") == [(1, "a"), (2, "b"), (2, "z"), (4, "c")]
    sharp = compute(registry, [entry(1, "a", {"t1": 0.8}), entry(2, "b", {"t1": close})])
    assert order_of(sharp, "treatment-outcome-bulk-rna") == [(1, "b"), (2, "a")]  # full precision


def test_baselines_are_ranked_in_place(registry):
    found = compute(registry, [entry(1, "a", RNA), entry(2, "pca", RNA | {"t1": 0.9}, baseline=True)])
    assert order_of(found, "bulk-rna") == [(1, "pca"), (2, "a")]


def test_the_latest_submission_counts(registry):
    first, second = entry(1, "a", RNA), entry(2, "a", RNA | {"t3": "not_finite"})
    found = compute(registry, [second, first])
    assert order_of(found, "bulk-rna") == []
    assert found.submitted == (2,)
    assert order_of(compute(registry, [first, attrs.evolve(second, number=0)]), "bulk-rna") == [(1, "a")]
    late = attrs.evolve(first, submitted_at="2025-03-01T19:30:01Z")
    assert order_of(compute(registry, [late, second]), "bulk-rna") == [(1, "a")]  # by date, then by number


def test_rounding_hides_what_it_rounds_away():
    registry = parse_registry(REGISTRY + "rules: {decimals: 2}\n")
    found = compute(registry, [entry(1, "a", RNA), entry(2, "b", RNA | {"t1": 0.8012})])
    assert order_of(found, "bulk-rna") == [(1, "a"), (1, "b")]
    for name, text in export_files(found):
        assert "0.8012" not in text, name


def test_skill_is_shown_only_if_asked_for_and_never_ranks(registry):
    entries = [entry(1, "a", RNA), entry(2, "b", {"t1": 0.3, "t2": -0.5, "t3": 0.99, "t4": 0.99})]
    plain = compute(registry, entries)
    asked = compute(parse_registry(REGISTRY + "rules: {skill: true}\n"), entries)
    assert order_of(plain, "bulk-rna") == order_of(asked, "bulk-rna")
    assert all(line.skill is None for line in board_of(plain, "bulk-rna").ranked)
    a, b = sorted(board_of(asked, "bulk-rna").ranked, key=lambda line: line.entry)
    assert a.skill == pytest.approx(((2 * 0.8 - 1) + (0.4 + 0.3) / 2 + (2 * 0.7 - 1)) / 3)
    assert b.skill == pytest.approx((0 + (0 + 0.99) / 2 + 0.98) / 3)
    assert (a.clipped, b.clipped) == (0, 2)


def test_retired_tasks_are_passed_over(registry):
    assert order_of(compute(registry, [entry(1, "a", RNA | {"t0": 0.5})]), "bulk-rna") == [(1, "a")]


def test_nothing_submitted(registry):
    found = compute(registry, [])
    assert all(not b.ranked and not b.unranked for b in found.boards)
    assert dict(found.tasks) == dict.fromkeys(registry.tasks, ())


VALUE = st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(0, 1), st.just("skip"))
TASKS = ["t1", "t2", "t3", "t4", "t5"]
ROWS = st.lists(
    st.tuples(st.sampled_from("abcdef"), st.dictionaries(st.sampled_from(TASKS), VALUE, min_size=1)), max_size=14
)


@given(ROWS, st.randoms(use_true_random=False))
@settings(max_examples=30, deadline=None)
def test_boards_agree_with_their_definition(rows, shuffle):
    registry = parse_registry(REGISTRY)
    entries = [entry(i, name, scores) for i, (name, scores) in enumerate(rows, 1)]
    found = compute(registry, entries)
    mixed = list(entries)
    shuffle.shuffle(mixed)
    assert dict(export_files(compute(registry, mixed))) == dict(export_files(found))  # byte by byte, in any order
    latest = dict(rows)  # of a name the last counts
    for standing in found.boards:
        tasks = standing.board.tasks
        whole = {n: s for n, s in latest.items() if all(isinstance(s.get(t), float) for t in tasks)}

        def order(scores, standing=standing):
            columns = [math.fsum(scores[t] for t in members) / len(members) for _, members in standing.families]
            return math.fsum(columns) / len(columns)

        expected = sorted((1 + sum(order(o) > order(s) for o in whole.values()), n) for n, s in whole.items())
        assert order_of(found, standing.board.id) == expected
        seen = {n for n, s in latest.items() if set(s) & set(tasks)} - whole.keys()
        assert {found.models[u.entry].name for u in standing.unranked} == seen


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 0.5), st.floats(0, 0.5)), min_size=1, max_size=8))
@settings(deadline=None)
def test_intervals_of_means(parts):
    cells = [Cell(v, v - a, v + b) for v, a, b in parts]
    found = mean(cells)
    for order in itertools.islice(itertools.permutations(cells), 6):
        assert mean(order) == found
    assert found.low <= found.value <= found.high
    widest = sum(c.high - c.low for c in cells) / len(cells)
    assert found.high - found.low <= widest + 1e-9
    assert mean([*cells, Cell(0.5)]).low is None


def test_the_interval_of_a_mean_covers_as_it_says():
    """Normal scores with exact intervals: the recovered interval is the exact one of their mean."""
    z, sigma = 1.959963984540054, (0.1, 0.2, 0.05)
    found = mean([Cell(0.5, 0.5 - z * s, 0.5 + z * s) for s in sigma])
    assert found.high - 0.5 == pytest.approx(z * math.sqrt(sum(s * s for s in sigma)) / 3)
    rng = random.Random(0)
    inside = 0
    for _ in range(4000):
        drawn = [rng.gauss(0.5, s) for s in sigma]
        cell = mean([Cell(v, v - z * s, v + z * s) for v, s in zip(drawn, sigma, strict=True)])
        inside += cell.low <= 0.5 <= cell.high
    assert abs(inside / 4000 - 0.95) < 0.012  # three standard errors and a little


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 0.3)), min_size=1, max_size=10))
@settings(deadline=None)
def test_open_ranks_hold_the_rank(parts):
    cells = [Cell(v, v - w, v + w) for v, w in parts]
    for cell, rank, span in zip(cells, ranks([c.value for c in cells]), rank_intervals(cells), strict=True):
        above = sum(other.low > cell.high for other in cells)
        below = sum(other.high < cell.low for other in cells)
        assert span == (1 + above, len(cells) - below)
        assert span[0] <= rank <= span[1]


def test_unknown_intervals_widen_ranks():
    cells = [Cell(0.9, 0.8, 1.0), Cell(0.1), Cell(0.2, 0.1, 0.3)]
    assert rank_intervals(cells) == [(1, 2), None, (2, 3)]


def test_the_same_from_both_databases(tmp_path, registry, database):
    """A replay of the results in another database gives the same bytes."""
    texts = []
    for address in (str(tmp_path / "one.sqlite"), database, str(tmp_path / "two.sqlite")):
        with Ledger(address) as ledger:
            for number in range(5):
                scores = {t: v * (1 - number / 10) for t, v in ALL.items()} | {"t5": "not_finite"}
                ledger.add(submission(registry, f"m{number}", scores, is_baseline=number == 3), registry)
            texts.append(dict(export_files(compute(registry, ledger.entries()))))
    assert texts[0] == texts[1] == texts[2]
    assert len(json.loads(texts[0]["boards.json"])["boards"][0]["ranked"]) == 5
