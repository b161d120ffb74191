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
from primabench_core.state.rows import Labels

pytestmark = pytest.mark.usefixtures("toys")

N = 60
IDS = [f"row-{i:03d}" for i in range(N)]
rng = np.random.default_rng(5)
FIELDS = {
    "label": rng.choice(["a", "b", "c", "other"], N),
    "cluster": rng.integers(-1, 6, N),
    "score": rng.integers(0, 9, N).astype(np.float32) / 7,
    "value": rng.normal(1e4, 1.0, N).astype(np.float32),
    "embedding": rng.normal(size=(N, 3)).astype(np.float32),
    "probability": np.full((N, 3), 1 / 3),
}
TRUTH = {
    "label": rng.choice(["a", "b", "c"], N),
    "value": rng.normal(1e4, 1.0, N),
    "role": np.where(np.arange(N) % 3, "fit", "score"),
    "group": np.array([f"{'fit' if i % 3 else 'score'}-{i % 7}" for i in range(N)]),
}


TOYS = ["toy_hits", "toy_mean", "toy_mean_squared", "toy_blocks", "toy_either", "toy_probe", "toy_open", "toy_picky"]


def panel(reproducibility: str) -> list[tuple[str, dict[str, object]]]:
    """Every such shared metric that the fields above can feed, with parameters that make it defined.

    Metrics of tasks read fields of the same names in shapes of their own; the tests of ranks and clusters have them.
    """
    from primabench_core.discovery.metrics import resolve_metric

    chosen: dict[str, tuple[str, dict[str, object]]] = {}
    shared = [record.name for record in names.records("metric") if record.distribution == "primabench-metrics"]
    for name in [*shared, *TOYS]:
        spec = resolve_metric(name).spec
        wanted = {"prediction": FIELDS, "truth": TRUTH}
        if spec.reproducibility != reproducibility or not all(
            any(f.name in held or f.optional for f in alternatives)
            for side, held in wanted.items()
            for alternatives in getattr(spec, side)
        ):
            continue
        declared = {p.name for p in spec.parameters} - set(spec.fixed)
        params: dict[str, object] = {"positive": "a"} if "positive" in declared else {}
        if "k" in declared:
            params["k"] = 2
        if {"average", "positive"} <= declared and spec.state == "counts":
            params["average"] = "macro"
        chosen.setdefault(resolve_metric(name, params).text, (name, params))
    return list(chosen.values())


def read_by(metrics) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Fields of prediction and truth that these metrics can read."""
    from primabench_core.discovery.metrics import resolve_metric

    specs = [resolve_metric(name, params).spec for name, params in metrics]
    named = [{f.name for spec in specs for a in getattr(spec, side) for f in a} for side in ("prediction", "truth")]
    return tuple(
        {n: v for n, v in held.items() if n in kept} for held, kept in zip((FIELDS, TRUTH), named, strict=True)
    )


def fed(metrics, cuts, *, travel=False, merged=False):
    """An evaluation that got these cuts (lists of row numbers, repeats allowed)."""
    fields, truth = read_by(metrics)
    runs = [pb.stream(metrics, truth={"ids": IDS, **truth})]
    for i, cut in enumerate(cuts):
        if merged and i % 3 == 2:
            runs.append(pb.stream(metrics, truth={"ids": IDS, **truth}))
        rows = np.asarray(cut, np.int64)
        where = {"ids": [IDS[r] for r in cut]} if i % 2 else {"positions": rows}
        runs[-1].update(**where, **{name: np.asarray(values)[rows] for name, values in fields.items()})
        if travel and i % 2:
            runs[-1] = pickle.loads(pickle.dumps(runs[-1]))
    return runs[0].merge(*runs[1:]) if merged else runs[0]


def cuts_of(generator: random.Random) -> list[list[int]]:
    rows = list(range(N))
    generator.shuffle(rows)
    rows += generator.choices(rows, k=generator.randint(0, 12))
    bounds = sorted(generator.choices(range(len(rows) + 1), k=generator.randint(0, 9)))
    return [rows[a:b] for a, b in zip([0, *bounds], [*bounds, len(rows)], strict=True)]


@pytest.fixture(scope="module")
def whole(toys):
    metrics = panel("exact")
    result = fed(metrics, [list(range(N))]).compute()
    failed = [r for r in result if r.status == "failed"]
    assert not failed
    return metrics, result


def test_the_panel_holds_every_metric_of_the_first_plugin(whole):
    held = {r.name for r in whole[1]}
    expected = (
        "accuracy balanced_accuracy macro_f1 weighted_f1 micro_f1 mcc auroc average_precision ari nmi pearson mse"
    )
    assert set(expected.split()) <= held
    for name in ("macro_precision", "macro_recall", "auroc_ovr_macro", *TOYS):
        assert name in held or name == "toy_probe"
    defined = [r.name for r in whole[1] if r.value is not None]
    assert len(defined) >= len(held) - 3


@pytest.mark.parametrize("hundred", [*range(2), *(pytest.param(i, marks=pytest.mark.slow) for i in range(2, 10))])
def test_a_thousand_cuts_orders_and_repeats(whole, hundred):
    """Ten times a hundred; every metric is computed on every one of them."""
    metrics, expected = whole
    generator = random.Random(hundred)
    for i in range(100):
        result = fed(metrics, cuts_of(generator), travel=i % 20 == 0, merged=i % 10 == 0).compute()
        assert result.scores == expected.scores
        assert result.scores_hash == expected.scores_hash


@pytest.fixture(scope="module")
def whole_within_tolerance(toys):
    metrics = panel("tolerance")
    assert "toy_probe" in dict(metrics)
    result = fed(metrics, [list(range(N))]).compute()
    assert not [r for r in result if r.status == "failed"]
    return metrics, result


@pytest.mark.parametrize("hundred", [0, *(pytest.param(i, marks=pytest.mark.slow) for i in range(1, 10))])
def test_metrics_of_tolerance_kind_repeat_too(whole_within_tolerance, hundred):
    """On one machine with one number of threads they are the same bits, too; a hundred here, a thousand when slow."""
    metrics, expected = whole_within_tolerance
    generator = random.Random(hundred)
    for i in range(100):
        result = fed(metrics, cuts_of(generator), travel=i % 20 == 0, merged=i % 10 == 0).compute()
        assert result.scores == expected.scores


def test_one_by_one_the_metrics_give_the_same(whole):
    from primabench_core.discovery.metrics import resolve_metric

    metrics, expected = whole
    by_text = {resolve_metric(name, params).text: r for (name, params), r in zip(metrics, expected, strict=True)}
    for name, params in metrics:
        fields, told = read_by([(name, params)])
        prediction, truth = {"ids": IDS, **fields}, {"ids": IDS, **told}
        assert pb.score(name, prediction, truth, **params).value == by_text[resolve_metric(name, params).text].value


def same_column(left, right) -> bool:
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
