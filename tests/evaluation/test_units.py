"""Many rows a unit: the same bits in any cut, order and merge, as sums and as rows, with repeats at ends of shards."""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import primabench_core as pb
from primabench_core.errors import ContractError, CoverageError, UsageError
from primabench_core.evaluation.evaluation import Evaluation

pytest.importorskip("primabench_task_perturbation", reason="metrics over units are those of the perturbation plugin")

MEANS = ["l2_pseudobulk", "mse_pseudobulk", "pearson_delta", "cosine_delta", "perturbation_discrimination_l1"]
SAMPLED = [("energy_distance", {"max_cells": 5}), ("mmd_rbf", {"max_cells": 4, "sampling_seed": 3})]
N = 60
IDS = [f"cell é{i * 37 % N}" for i in range(N)]


def sides(m=40, seed=0, dtype=np.float32):
    rng = np.random.default_rng(seed)
    names = np.array(["control", "A", "B", "A+B"], object)[rng.integers(0, 4, N)]
    names[:4] = ["control", "A", "B", "A+B"]
    level = {name: rng.normal(size=m) for name in ("control", "A", "B", "A+B")}
    true = (np.stack([level[n] for n in names]) * 10 + rng.normal(size=(N, m)) + 1e4).astype(dtype)
    return names, true, (true + rng.normal(size=true.shape)).astype(dtype)


def run_of(names, true, metrics=(*MEANS, *SAMPLED), *, rows=False, **options):
    run = Evaluation(metrics=list(metrics), truth={"ids": IDS, "value": true, "perturbation": names}, **options)
    run._intake.keeps_rows = rows
    return run


def feed(run, names, x, where):
    where = np.asarray(where, np.int64)
    run.update(ids=[IDS[i] for i in where], value=x[where], perturbation=names[where])
    return run


def bits(result):
    told = [(r.name, r.value, r.reason, r.n, dict(r.per_unit), dict(r.values)) for r in result.results]
    return told, result.scores_hash, result.predictions_sha256


@pytest.fixture(scope="module")
def whole():
    names, true, x = sides()
    run = feed(run_of(names, true), names, x, range(N))
    assert run._intake.kept == frozenset()
    assert run.n_seen == 3
    return names, true, x, bits(run.compute())


def test_sums_and_samples_give_what_rows_give(whole):
    names, true, x, expected = whole
    run = feed(run_of(names, true, rows=True), names, x, range(N))
    assert run._intake.kept == {"value"}
    assert bits(run.compute()) == expected
    assert bits(feed(run_of(names, true), names, x.astype(np.float64), range(N)).compute()) == expected


@settings(deadline=None, max_examples=25)
@given(st.permutations(range(N)), st.lists(st.integers(0, N), max_size=4), st.booleans(), st.booleans())
def test_any_cut_and_order(whole, order, cuts, travels, rows):
    names, true, x, expected = whole
    one, parts = run_of(names, true, rows=rows), []
    for a, b in pairwise([0, *sorted(cuts), N]):
        feed(one, names, x, order[a:b])
        feed(one, names, x, order[a : min(b, a + 2)])  # repeats count once
        part = feed(run_of(names, true, rows=rows), names, x, order[a:b])
        parts.append(pickle.loads(pickle.dumps(part)) if travels and not rows else part)
    assert bits(one.compute()) == expected
    assert bits(parts[0].merge(*parts[1:]).compute()) == expected
    assert bits(parts[-1].merge(*parts[-2::-1]).compute()) == expected


DE = ["de_recall", "de_auroc"]


@pytest.mark.parametrize("metrics", [(*MEANS, *SAMPLED), (*MEANS, *SAMPLED, *DE)], ids=["sums", "rows"])
@pytest.mark.parametrize("hashed", [True, False])
def test_sparse_rows_have_the_bits_of_dense_ones_in_any_cut(metrics, hashed):
    names, true, x = sides(seed=2)
    x = x * (np.random.default_rng(0).random(x.shape) < np.linspace(0.05, 0.6, N)[:, None])  # batches of both forms
    new = lambda: run_of(names, true, metrics, hash_predictions=hashed)  # noqa: E731
    expected = bits(feed(new(), names, x, range(N)).compute())
    rng = np.random.default_rng(1)
    for kind, pieces in (("csr", 1), ("csc", 3), ("coo", 5)):
        one, parts = new(), []
        for part in np.array_split(rng.permutation(N), pieces):
            thin = sparse.csr_matrix(x[part]).asformat(kind)
            where = {"ids": [IDS[i] for i in part], "perturbation": names[part]}
            one.update(value=thin, **where)
            one.update(ids=where["ids"][:2], value=x[part[:2]], perturbation=names[part[:2]])  # repeats, dense
            parts.append(pickle.loads(pickle.dumps(new())))
            parts[-1].update(value=thin, **where)
            parts[-1] = pickle.loads(pickle.dumps(parts[-1]))
        assert bits(one.compute()) == expected
        assert bits(parts[0].merge(*parts[1:]).compute()) == expected
        with pytest.raises(ContractError, match="value"):
            one.update(ids=IDS[1:2], value=sparse.csr_matrix(x[1:2] + 1), perturbation=names[1:2])
        with pytest.raises(ContractError, match="finite"):
            one.update(ids=["new"], value=sparse.csr_matrix(x[1:2] * np.float32(np.nan)), perturbation=names[1:2])


def test_kept_rows_that_are_mostly_zero_are_kept_without_zeros():
    names, true, x = sides(seed=3, m=400)
    x = np.where(np.random.default_rng(0).random(x.shape) < 0.1, x, 0)
    for matrix in (x, sparse.csr_matrix(x)):
        run = run_of(names, true, DE)
        run.update(ids=IDS, value=matrix, perturbation=names)
        assert run._intake.kept == {"value"}
        held = sum(chunk.nbytes for chunk in run._intake.placed.chunks("value"))
        assert held < 0.25 * x.nbytes


def test_partitions_in_parallel(whole):
    names, true, x, expected = whole
    rng = np.random.default_rng(5)
    parts = []
    for rows in np.array_split(np.concatenate([rng.permutation(N), rng.integers(0, N, 9)]), 7):
        parts.append({"ids": [IDS[i] for i in rows], "value": x[rows], "perturbation": names[rows]})
    truth = {"ids": IDS, "value": true, "perturbation": names}
    options = {"truth": truth, "metrics": [*MEANS, *SAMPLED], "ci": None, "progress": False}
    found = pb.evaluate_many({"seven": parts, "one": {"ids": IDS, "value": x, "perturbation": names}}, **options)
    assert [bits(result) for result in found.values()] == [expected, expected]


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_padding_of_a_sampler_counts_once(whole, ranks, monkeypatch):
    from primabench_core.state import unit_sums

    monkeypatch.setattr(unit_sums, "TAIL_ROWS", 2)
    names, true, x, expected = whole
    order = np.random.default_rng(ranks).permutation(N)
    padded = np.append(order, order[: (-N - 1) % ranks + 1])
    parts = []
    for rank in range(ranks):
        part = run_of(names, true)
        for row in padded[rank::ranks]:
            feed(part, names, x, [row])
        parts.append(part)
    if len(padded) % ranks:  # the padding of a real sampler comes last in each rank
        padded = padded[: len(padded) // ranks * ranks]
    assert bits(parts[0].merge(*parts[1:]).compute()) == expected


def test_rows_that_two_states_have_added_are_an_error_with_a_remedy(whole, monkeypatch):
    from primabench_core.state import unit_sums

    monkeypatch.setattr(unit_sums, "TAIL_ROWS", 2)
    names, true, x, _ = whole
    left, right = run_of(names, true, MEANS), run_of(names, true, MEANS)
    for i in range(0, N, 2):
        feed(left, names, x, [i, i + 1])
        feed(right, names, x, [N - 1 - i, N - 2 - i])
    with pytest.raises(ContractError, match="two shards have added") as error:
        left.merge(right)
    assert error.value.violations[0].remedy


def test_a_repeat_of_other_content_is_refused_and_leaves_no_trace(whole):
    names, true, x, expected = whole
    run = feed(run_of(names, true), names, x, range(N))
    for spoilt, field in (({"value": x[3:4] + 1}, "value"), ({"perturbation": ["B"]}, "unit")):
        row = {"value": x[3:4], "perturbation": names[3:4], **spoilt}
        with pytest.raises(ContractError) as error:
            run.update(ids=[IDS[3]], **row)
        assert [v.field for v in error.value.violations] == [field]
    assert bits(run.compute()) == expected
    strict = feed(run_of(names, true, duplicates="refuse"), names, x, range(5))
    with pytest.raises(ContractError, match="comes again"):
        feed(strict, names, x, [4])


def test_rows_without_ids_come_in_one_update_only(whole):
    names, true, x, _ = whole
    run = run_of(names, true, MEANS)
    run.update(value=x, perturbation=names)
    scores = run.compute().scores
    with pytest.raises(ContractError, match="ids"):
        run.update(value=x[:3], perturbation=names[:3])
    with pytest.raises(ContractError, match="ids"):
        feed(run, names, x, [1])
    other = run_of(names, true, MEANS)
    other.update(value=x, perturbation=names)
    with pytest.raises(ContractError, match="ids"):
        run.merge(other)
    numbered = run_of(names, true, MEANS)
    numbered.update(positions=np.arange(30, N), value=x[30:], perturbation=names[30:])
    numbered.update(positions=range(30), value=x[:30], perturbation=names[:30])
    assert numbered.compute().predictions_sha256 == run.compute().predictions_sha256
    assert numbered.compute().scores == scores


def test_rows_without_ids_that_were_not_taken_leave_no_trace(whole, monkeypatch):
    names, true, x, _ = whole
    run = run_of(names, true, MEANS)

    def full(*_, **__):
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr("primabench_core.state.open_rows.OpenRows.append", full)
        with pytest.raises(MemoryError):
            run.update(value=x, perturbation=names)
    feed(run, names, x, range(N)).compute()


def test_a_sparse_matrix_that_leaves_its_shape_is_refused(whole):
    names, true, x, _ = whole
    matrix = sparse.csr_matrix(x)
    matrix.indices[0] = x.shape[1]
    with pytest.raises(ContractError, match="outside of the"):
        run_of(names, true, MEANS).update(ids=IDS, value=matrix, perturbation=names)


def test_a_row_is_of_a_control_or_of_another_perturbation_but_not_of_both(whole):
    names, true, x, expected = whole
    control, other = (next(i for i in range(N) if (names[i] == "control") == c) for c in (True, False))
    run = feed(run_of(names, true), names, x, range(N))
    clashes = (
        ({"ids": [IDS[control]], "perturbation": ["A"]}, IDS[control]),
        ({"ids": [IDS[other]], "perturbation": ["control"]}, IDS[other]),
        ({"ids": ["new", "new"], "perturbation": ["A", "control"]}, "new"),
    )
    for given_rows, name in clashes:
        with pytest.raises(ContractError, match="control") as error:
            run.update(value=x[: len(given_rows["ids"])], **given_rows)
        violation = error.value.violations[0]
        assert (violation.field, violation.ids, violation.count) == ("perturbation", (name,), 1)
        assert violation.remedy
    assert bits(run.compute()) == expected  # nothing of the refused rows stays
    left = feed(run_of(names, true), names, x, [control])
    right = run_of(names, true)
    right.update(ids=[IDS[control]], value=x[:1], perturbation=["A"])
    for a, b in ((left, right), (right, left), (pickle.loads(pickle.dumps(left)), right)):
        with pytest.raises(ContractError, match="control"):
            a.merge(b)


def test_controls_without_ids_are_rows_without_ids(whole):
    """They come in one update, alone or with all others; it is refused to send anything after them."""
    names, true, x, _ = whole
    controls = np.flatnonzero(names == "control")
    run = run_of(names, true, MEANS)
    run.update(value=x[:0], perturbation=names[:0])  # no rows at all say nothing
    run.update(value=x[controls], perturbation=names[controls])
    again = pickle.loads(pickle.dumps(run))
    for state in (run, again):
        with pytest.raises(ContractError, match="rows without ids"):
            feed(state, names, x, range(N))
        with pytest.raises(ContractError, match="rows without ids"):
            state.update(value=x, perturbation=names)
    with pytest.raises(ContractError, match="rows without ids"):
        run.merge(feed(run_of(names, true, MEANS), names, x, range(N)))
    with pytest.raises(CoverageError):
        run.compute()
    run.reset()
    assert feed(run, names, x, range(N)).compute()["l2_pseudobulk"].n_excluded == {"outside": len(controls)}
    late = feed(run_of(names, true, MEANS), names, x, controls)
    with pytest.raises(ContractError, match="rows without ids"):
        late.update(value=x, perturbation=names)


def test_coverage_counts_units(whole):
    names, true, x, _ = whole
    run = feed(run_of(names, true), names, x, np.flatnonzero(names == "A"))
    assert run.coverage == pytest.approx(1 / 3)
    with pytest.raises(CoverageError, match="perturbation") as error:
        run.compute()
    assert error.value.violations[0].ids == ("A+B", "B")
    partial = feed(run_of(names, true, MEANS[:3], partial=True), names, x, np.flatnonzero(names != "B"))
    result = partial.compute()
    assert set(result["l2_pseudobulk"].per_unit) == {"A", "A+B"}
    assert result["l2_pseudobulk"].coverage == pytest.approx(2 / 3)


def test_control_rows_of_a_prediction_are_dropped_and_unknown_names_refused(whole):
    names, true, x, _ = whole
    result = feed(run_of(names, true, MEANS), names, x, range(N)).compute()
    assert result["l2_pseudobulk"].n_excluded == {"outside": int((names == "control").sum())}
    with pytest.raises(ContractError, match="A_B") as error:
        run_of(names, true, MEANS).update(value=x[:1], perturbation=["A_B"], ids=["new"])
    assert error.value.violations[0].field == "perturbation"
    with pytest.raises(ContractError, match="perturbation"):
        run_of(names, true, MEANS).update(value=x[:1], ids=["new"])


def test_metrics_of_one_row_a_unit_do_not_mix_with_these(whole):
    names, true, _, _ = whole
    with pytest.raises(UsageError):
        Evaluation(metrics=["l2_pseudobulk", "accuracy"], truth={"value": true, "perturbation": names})


def test_memory_of_sums_does_not_grow_with_rows(whole):
    names, true, x, _ = whole
    run = run_of(names, true, MEANS, hash_predictions=False)
    sizes = []
    for batch in range(24):
        rows = np.tile(x, (10, 1)) + batch
        run.update(ids=[f"{batch}:{i}" for i in range(len(rows))], value=rows, perturbation=np.tile(names, 10))
        held = run._intake.to_buffers()["sums"]["value"]
        sizes.append(sum(a.nbytes for a in held["arrays"].values()))
    assert max(sizes[12:]) <= 1.2 * max(sizes[:12])


def test_what_was_made_of_a_truth_serves_later_evaluations_and_holds_no_prediction(whole):
    import gc
    import weakref

    names, true, x, expected = whole
    run = feed(run_of(names, true), names, x, range(N))
    assert bits(run.compute()) == expected
    views = [o for o in gc.get_objects() if type(o).__name__ == "Units"]
    seen = [weakref.ref(o) for o in views]
    made = run._truth._made
    assert sum(map(len, made.values())) > 5
    assert pickle.loads(pickle.dumps(run))._truth._made == {}
    run.reset()
    del views
    gc.collect()
    assert not any(ref() for ref in seen)
    assert bits(feed(run, names, x, range(N)).compute()) == expected
    # a part of the units neither finds nor leaves anything there
    keys = {fields: set(memo) for fields, memo in made.items()}
    part = run_of(names, true, MEANS[:3], partial=True)
    part._truth = run._truth
    some = np.flatnonzero(names != "B")
    found = feed(part, names, x, some).compute()
    alone = feed(run_of(names, true, MEANS[:3], partial=True), names, x, some).compute()
    assert bits(found) == bits(alone)
    assert {fields: set(memo) for fields, memo in made.items()} == keys


@pytest.mark.parametrize("hashed", [True, False])
def test_a_row_that_comes_again_is_refused_without_its_digest(whole, hashed):
    names, true, x, expected = whole
    runs = [run_of(names, true, duplicates="refuse", hash_predictions=hashed) for _ in range(2)]
    for run, rows in zip(runs, (range(30), range(30, N)), strict=True):
        feed(run, names, x, rows)
    at = next(i for i in range(30) if names[i] != "control")
    for again in (x[at : at + 1], x[at : at + 1] + 1):
        with pytest.raises(ContractError, match="comes again"):
            runs[0].update(ids=[IDS[at]], value=again, perturbation=names[at : at + 1])
    joined = pickle.loads(pickle.dumps(runs[0])).merge(runs[1])
    assert bits(joined.compute())[0] == expected[0]
    with pytest.raises(ContractError, match="comes again"):
        joined.merge(runs[1])
