"""One-shot equals every cut, every order, with duplicates, after pickling, copied and merged: the same bits."""

from __future__ import annotations

import copy
import pickle
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import primabench_core as pb
from primabench_core.discovery import names
from primabench_core.errors import ContractError, UsageError

pytestmark = pytest.mark.usefixtures("toys")

N = 60
IDS = [f"row-{i:03d}" for i in range(N)]
rng = np.random.default_rng(5)
FIELDS = {
    "label": rng.choice(["a", "b", "c", "other"], N),
    "cluster": rng.integers(-1, 6, N),
    "score": rng.integers(0, 9, N).astype(np.float32) / 7,
    "value": rng.normal(1e8, 1.0, N).astype(np.float32),
    "embedding": rng.normal(size=(N, 3)).astype(np.float32),
    "probability": np.full((N, 3), 1 / 3),
}
TRUTH = {
    "label": rng.choice(["a", "b", "c"], N),
    "value": rng.normal(1e8, 1.0, N),
    "role": np.where(np.arange(N) % 3, "fit", "score"),
}


def case(metric: str) -> tuple[dict[str, object], dict[str, object], dict[str, object]] | None:
    """Prediction, truth and parameters for a registered metric; None if it needs fields that no case here has."""
    from primabench_core.discovery.metrics import resolve_metric

    spec = resolve_metric(metric).spec
    prediction, truth = {}, {}
    for alternatives in spec.prediction:
        name = next((f.name for f in alternatives if f.name in FIELDS), None)
        if name is None:
            return None
        prediction[name] = FIELDS[name]
    for alternatives in spec.truth:
        name = next((f.name for f in alternatives if f.name in TRUTH), None)
        if name is None:
            return None
        truth[name] = TRUTH[name]
    declared = {p.name for p in spec.parameters}
    params = {"positive": "a"} if "positive" in declared and "positive" not in spec.fixed else {}
    if "average" in declared and "positive" in declared and "average" not in spec.fixed and spec.state == "counts":
        params["average"] = "macro"
    return prediction, {"ids": IDS, **truth}, params


def registered() -> list[str]:
    return [name for name in names.names("metric") if not name.startswith("toy_")]


TOYS = ["toy_hits", "toy_mean", "toy_mean_squared", "toy_blocks", "toy_either", "toy_probe", "toy_open", "toy_picky"]


def fed(metric, params, truth, prediction, cuts, *, travel=False, merged=False):
    """An evaluation that got these cuts (lists of row numbers, repeats allowed)."""
    runs = [pb.stream([(metric, params)], truth=truth)]
    for i, cut in enumerate(cuts):
        if merged and i % 3 == 2:
            runs.append(pb.stream([(metric, params)], truth=truth))
        rows = np.asarray(cut, np.int64)
        where = {"ids": [IDS[r] for r in cut]} if i % 2 else {"positions": rows}
        runs[-1].update(**where, **{name: np.asarray(values)[rows] for name, values in prediction.items()})
        if travel and i % 2:
            runs[-1] = pickle.loads(pickle.dumps(runs[-1]))
    return runs[0].merge(*runs[1:]) if merged else runs[0]


def cuts_of(generator: random.Random) -> list[list[int]]:
    rows = list(range(N))
    generator.shuffle(rows)
    rows += generator.choices(rows, k=generator.randint(0, 12))
    bounds = sorted(generator.choices(range(len(rows) + 1), k=generator.randint(0, 9)))
    return [rows[a:b] for a, b in zip([0, *bounds], [*bounds, len(rows)], strict=True)]


@pytest.mark.parametrize("metric", [*registered(), *TOYS])
def test_a_thousand_cuts_orders_and_repeats(metric):
    found = case(metric)
    if found is None:
        pytest.skip(f"{metric} reads fields that this test has no data for")
    prediction, truth, params = found
    whole = pb.score(metric, {"ids": IDS, **prediction}, truth, **params)
    assert whole.status != "failed", whole
    expected = fed(metric, params, truth, prediction, [list(range(N))]).compute()
    assert expected.results[0].value == whole.value
    generator = random.Random(metric)
    # every cut is placed anew; the whole result is compared, fingerprints included
    for i in range(1000):
        run = fed(metric, params, truth, prediction, cuts_of(generator), travel=i % 50 == 0, merged=i % 25 == 0)
        if i % 10 == 0:
            result = run.compute()
            assert result.scores_hash == expected.scores_hash
        else:
            ours, theirs = run._intake.columns(), RunColumns.of(metric, params, truth, prediction)
            assert ours.keys() == theirs.keys() and all(same_column(ours[n], theirs[n]) for n in theirs)


class RunColumns:
    """Columns of the one-shot evaluation, made once a metric: equal columns give equal scores, metrics being pure."""

    held: dict[str, dict[str, object]] = {}  # noqa: RUF012

    @classmethod
    def of(cls, metric, params, truth, prediction):
        if metric not in cls.held:
            cls.held[metric] = fed(metric, params, truth, prediction, [list(range(N))])._intake.columns()
        return cls.held[metric]


def same_column(left, right) -> bool:
    from primabench_core.state.rows import Labels

    if isinstance(left, Labels):
        return left.classes == right.classes and left.codes.tobytes() == right.codes.tobytes()
    return left.dtype == right.dtype and left.tobytes() == right.tobytes()


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_order_of_arrival_of_unknown_classes_leaves_no_trace(data):
    labels = data.draw(st.lists(st.sampled_from(["a", "b", "z1", "z2", "z3"]), min_size=1, max_size=12))
    n = len(labels)
    order = data.draw(st.permutations(range(n)))
    truth = {"label": (["a", "b"] * n)[:n]}
    whole = pb.stream(["toy_hits"], truth=truth)
    whole.update(label=labels)
    parts = [pb.stream(["toy_hits"], truth=truth) for _ in range(2)]
    for i, row in enumerate(order):
        parts[i % 2].update(positions=[row], label=[labels[row]])
    merged = parts[1].merge(parts[0])
    assert merged.compute().scores_hash == whole.compute().scores_hash
    assert same_column(merged._intake.columns()["label"], whole._intake.columns()["label"])


def test_float32_and_float64_batches_mix_without_a_trace():
    truth = {"value": np.arange(6.0)}
    narrow = np.array([0.1, 1.5, 2.25, 3.0, 4.5, 5.0], np.float32)
    whole = pb.stream(["toy_mean"], truth=truth)
    whole.update(value=narrow.astype(np.float64))
    mixed = pb.stream(["toy_mean"], truth=truth)
    mixed.update(positions=slice(0, 3), value=narrow[:3])
    mixed.update(positions=slice(3, 6), value=narrow[3:].astype(np.float64))
    single = pb.stream(["toy_mean"], truth=truth)
    single.update(value=narrow)
    assert len({r.compute().scores_hash for r in (whole, mixed, single)}) == 1


def test_merge_is_associative_commutative_and_changes_no_operand():
    truth = {"ids": IDS, "label": TRUTH["label"]}
    parts = []
    for k in range(3):
        run = pb.stream(["toy_hits"], truth=truth)
        rows = np.arange(k, N, 3)
        run.update(positions=rows, label=FIELDS["label"][rows])
        parts.append(run)
    empty = pb.stream(["toy_hits"], truth=truth)
    a, b, c = parts
    before = [repr(p._intake.to_buffers()) for p in parts]
    hashes = {
        run.compute().scores_hash
        for run in (a.merge(b).merge(c), a.merge(b.merge(c)), c.merge(a, b), empty.merge(a, b, c), a.merge(b, c, empty))
    }
    assert len(hashes) == 1
    assert [repr(p._intake.to_buffers()) for p in parts] == before


def test_what_cannot_be_merged():
    run = pb.stream(["toy_hits"], truth={"label": [0, 1]})
    with pytest.raises(UsageError):
        run.merge(pb.stream(["toy_hits"], truth={"label": [1, 0]}))
    with pytest.raises(UsageError):
        run.merge(pb.stream(["toy_picky"], truth={"label": [0, 1]}))
    with pytest.raises(UsageError):
        run.merge("another")
    other = pb.stream(["toy_hits"], truth={"label": [0, 1]})
    run.update(label=[0, 1])
    other.update(label=[1, 1])
    with pytest.raises(ContractError, match="label"):
        run.merge(other)
    assert run.compute()["toy_hits"].value == 1.0


def test_duplicates_refused_or_dropped():
    truth = {"ids": ["x", "y"], "label": [0, 1]}
    strict = pb.stream(["toy_hits"], truth=truth, duplicates="refuse")
    strict.update(ids=["x"], label=[0])
    with pytest.raises(ContractError, match="x"):
        strict.update(ids=["x", "y"], label=[0, 1])
    with pytest.raises(ContractError):
        strict.merge(strict)
    strict.update(ids=["y"], label=[1])
    loose = pb.stream(["toy_hits"], truth=truth)
    loose.update(ids=["x", "x", "y"], label=[0, 0, 1])
    with pytest.raises(ContractError, match="x"):
        loose.update(ids=["x"], label=[1])
    assert loose.merge(loose).compute().scores_hash == loose.compute().scores_hash


def test_copies_are_independent():
    run = pb.stream(["toy_hits"], truth={"label": [0, 1]})
    run.update(positions=[0], label=[0])
    twin, other = copy.deepcopy(run), copy.copy(run)
    run.update(positions=[1], label=[1])
    assert run.compute()["toy_hits"].value == 1.0
    for copied in (twin, other):
        assert copied.n_seen == 1
        copied.update(positions=[1], label=[0])
        assert copied.compute()["toy_hits"].value == 0.5


def test_reset_forgets_everything():
    run = pb.stream(["toy_either"], truth={"label": [0, 1], "classes": [0, 1]})
    run.update(score=[0.5, 0.5])
    run.reset()
    assert run.n_seen == 0
    run.update(probability=[[0.5, 0.5], [0.5, 0.5]])
    assert run.compute()["toy_either"].value == 2.0


def test_computing_twice_and_going_on():
    run = pb.stream(["toy_hits"], truth={"label": [0, 1]}, partial=True)
    run.update(positions=[0], label=[1])
    assert run.compute()["toy_hits"].value == 0.0
    run.update(positions=[1], label=[1])
    first, second = run.compute(), run.compute()
    assert first["toy_hits"].value == 0.5
    assert first.scores_hash == second.scores_hash
    assert first.record_hash == second.record_hash
