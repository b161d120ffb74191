"""Metrics of networks: against scikit-learn and a plain reading of BEELINE's rule; and what must not matter."""

from __future__ import annotations

import gzip
import os
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from primabench_task_singlecell.grn.edges import arrange_prediction, arrange_truth, candidates
from sklearn.metrics import average_precision_score, roc_auc_score

import primabench_core as pb

Edge = tuple[str, str, float]
METRICS = ("auprc_ratio", "early_precision_ratio", "mean_regulator_average_precision")
GENES = ("R1", "R2", "R3", "g1", "g2", "g3", "g4")
TRUE = [("R1", "g1"), ("R1", "g3"), ("R2", "g2"), ("R2", "R1"), ("R3", "g4")]
TRUTH = {"edges": TRUE, "genes": list(GENES), "regulators": ["R1", "R2", "R3"]}


def value(metric: str, edges: Sequence[Edge], truth: dict = TRUTH) -> float | None:
    params = {"min_edges": 1} if metric == "mean_regulator_average_precision" else {}
    return pb.score(metric, {"edges": list(edges)}, truth, **params).value


def weights_of(edges: Sequence[Edge], universe: Sequence[tuple[str, str]]) -> np.ndarray:
    """Weights over the universe, slowly: absent 0, the heaviest of repeats."""
    found = dict.fromkeys(universe, 0.0)
    for a, b, w in edges:
        if (a, b) in found:
            found[a, b] = max(found[a, b], abs(w))
    return np.asarray(list(found.values()))


def early_precision_ratio(
    edges: Sequence[Edge], true: set[tuple[str, str]], universe: Sequence[tuple[str, str]]
) -> Fraction:
    """BEELINE's rule as it is written: sort, take the weight of the k-th, everything at least as heavy, never 0."""
    weights = dict(zip(universe, weights_of(edges, universe), strict=True))
    ranked = sorted(weights.values(), reverse=True)
    k = len(true)
    lightest = min(w for w in ranked if w > 0)
    cut = max(lightest, ranked[k - 1])
    selected = {edge for edge, w in weights.items() if w >= cut}
    return Fraction(len(selected & true), len(selected)) / Fraction(k, len(universe))


WEIGHT = st.sampled_from([0.0, 0.1, 0.5, 0.5, 1.0, 2.5, -0.5, -2.5])
EDGES = st.lists(st.tuples(st.sampled_from(GENES), st.sampled_from(GENES), WEIGHT), min_size=1, max_size=40)
UNIVERSE = candidates(["R1", "R2", "R3"], GENES)


@settings(max_examples=60, deadline=None)
@given(EDGES)
def test_values_equal_those_of_the_references(edges: list[Edge]) -> None:
    label = np.asarray([pair in TRUE for pair in UNIVERSE], int)
    weight = weights_of(edges, UNIVERSE)
    precision = average_precision_score(label, weight)
    found = pb.score("auprc_ratio", {"edges": edges}, TRUTH)
    assert found.value == pytest.approx(precision / label.mean(), rel=1e-12)
    assert found.values["average_precision"] == pytest.approx(precision, rel=1e-12)
    assert found.values["density"] == label.mean()
    of = np.asarray([a for a, _ in UNIVERSE])
    each = [average_precision_score(label[of == r], weight[of == r]) for r in ("R1", "R2", "R3")]
    assert value("mean_regulator_average_precision", edges) == pytest.approx(np.mean(each), rel=1e-12)
    early = pb.score("early_precision_ratio", {"edges": edges}, TRUTH)
    if weight.any():
        assert early.value == pytest.approx(float(early_precision_ratio(edges, set(TRUE), UNIVERSE)), rel=1e-12)
    else:
        assert (early.value, early.reason) == (None, "constant_prediction")


@settings(max_examples=40, deadline=None)
@given(EDGES, st.randoms(use_true_random=False), st.sampled_from([0.125, 1.0, 4.0]))
def test_what_must_not_matter(edges: list[Edge], random: object, scale: float) -> None:
    mixed = list(edges)
    random.shuffle(mixed)  # type: ignore[attr-defined]
    others = {
        "order": mixed,
        "signs": [(a, b, -w) for a, b, w in edges],
        "scale": [(a, b, w * scale) for a, b, w in edges],
        "self-loops": [*edges, ("R1", "R1", 99.0)],
        "edges that begin at no regulator": [*edges, ("g1", "R1", 99.0)],
        "edges of weight 0": [*edges, ("R1", "g2", 0.0), ("R3", "g1", -0.0)],
        "lighter repeats": [*edges, *((a, b, w / 2) for a, b, w in edges)],
    }
    for metric in METRICS:
        whole = value(metric, edges)
        assert {name: value(metric, other) for name, other in others.items()} == dict.fromkeys(others, whole)


@settings(max_examples=25, deadline=None)
@given(EDGES, st.lists(st.integers(0, 3), min_size=40, max_size=40))
def test_parts_in_any_cut_give_the_same_bits(edges: list[Edge], part: list[int]) -> None:
    whole = pb.stream(["auprc_ratio", "early_precision_ratio"], TRUTH)
    whole.update(edges=edges)
    parts = [pb.stream(["auprc_ratio", "early_precision_ratio"], TRUTH) for _ in range(4)]
    for run, number in zip(parts, range(4), strict=True):
        own = [edge for edge, p in zip(edges, part, strict=False) if p == number]
        run.update(edges=own)
    merged = parts[0].merge(*parts[1:])
    assert merged.compute().scores == whole.compute().scores
    assert merged.compute().scores_hash == whole.compute().scores_hash


def test_perfect_is_one_over_density_and_constant_is_chance() -> None:
    perfect = [(a, b, 1.0) for a, b in TRUE]
    density = len(TRUE) / len(UNIVERSE)
    assert value("auprc_ratio", perfect) == pytest.approx(1 / density, rel=1e-15)
    assert value("early_precision_ratio", perfect) == pytest.approx(1 / density, rel=1e-15)
    assert value("mean_regulator_average_precision", perfect) == 1.0
    constant = [(a, b, 0.25) for a, b in UNIVERSE]
    assert value("auprc_ratio", constant) == value("early_precision_ratio", constant) == 1.0


def test_nothing_predicted_is_chance_by_precision_and_has_no_early_precision() -> None:
    run = pb.stream(["auprc_ratio", "early_precision_ratio"], TRUTH)
    result = run.compute()
    assert result["auprc_ratio"].value == 1.0
    assert result["early_precision_ratio"].reason == "constant_prediction"
    assert result["auprc_ratio"].coverage == 0.0


def test_ignored_edges_are_counted() -> None:
    edges = [("R1", "g1", 1.0), ("R1", "R1", 9.0), ("g1", "g2", 9.0)]
    result = pb.score("auprc_ratio", {"edges": edges}, TRUTH)
    assert dict(result.n_excluded) == {"outside": 2}
    assert result.n == len(UNIVERSE)


def test_truths_without_an_answer() -> None:
    for metric in METRICS:
        none = pb.score(metric, {"edges": [("R1", "g1", 1.0)]}, {**TRUTH, "edges": []})
        assert (none.value, none.reason) == (None, "no_positives")
        empty = pb.score(metric, {"edges": []}, {"edges": [], "genes": [], "regulators": []})
        assert (empty.value, empty.reason) == (None, "too_few_items")
    few = pb.score("mean_regulator_average_precision", {"edges": [("R1", "g1", 1.0)]}, TRUTH)
    assert (few.value, few.reason) == (None, "too_few_items")
    assert few.values["n_regulators_left_out"] == 3


def test_only_regulators_with_enough_edges_count() -> None:
    edges = [("R1", "g1", 1.0), ("R1", "g3", 1.0), ("R2", "g3", 1.0)]
    found = pb.score("mean_regulator_average_precision", {"edges": edges}, TRUTH, min_edges=2)
    second = average_precision_score([1, 0, 0, 1, 0, 0], [0, 0, 0, 0, 1, 0])
    assert dict(found.per_unit) == {"R1": 1.0, "R2": pytest.approx(second)}
    assert found.values["n_regulators"] == 2
    assert found.values["mean_density"] == 1 / 3


def test_the_universe_is_regulators_that_are_genes_times_genes() -> None:
    rows = arrange_truth({"edges": [("A", "B"), ("A", "A"), ("Z", "B"), ("A", "Y")], "genes": ["A", "B", "C"]})
    assert isinstance(rows, pb.EvalData)
    assert rows.ids == ("A>B", "A>C")
    assert rows["label"].tolist() == [1, 0]
    assert rows.coords["genes"] == ("A", "B", "C", "Z")  # Z is a name that an edge may have, but no candidate
    assert arrange_truth({"label": [1]}) == {"label": [1]}


@pytest.mark.parametrize(
    ("truth", "named"),
    [
        ({"edges": [("A", "B")]}, "genes"),
        ({"edges": [("A", "B", 1.0)], "genes": ["A", "B"]}, "edges"),
        ({"edges": [("A", 1)], "genes": ["A", "B"]}, "edges"),
        ({"edges": [("A", "B")], "genes": ["A", "B", "B"]}, "genes"),
        ({"edges": [("A", "B")], "genes": ["A", "B", "A>B"]}, "genes"),
        ({"edges": [("A", "B")], "genes": ["A", "B"], "targets": ["B"]}, "targets"),
    ],
)
def test_truths_that_are_none_are_refused(truth: dict, named: str) -> None:
    with pytest.raises(pb.ContractError, match=f"- {named}:"):
        pb.score("auprc_ratio", {"edges": [("A", "B", 1.0)]}, truth)


def columns(regulator: object, target: object, weight: object) -> dict:
    return {"regulator": regulator, "target": target, "weight": weight}


@pytest.mark.parametrize(
    ("prediction", "named"),
    [
        ({"edges": [("R1", "g1", np.nan)]}, "edges"),
        ({"edges": [("R1", "g1", np.inf)]}, "edges"),
        ({"edges": [("R1", "g1", "0.5")]}, "edges"),
        ({"edges": [("R1", "g1", True)]}, "edges"),
        ({"edges": [("R1", "g1", None)]}, "edges"),
        ({"edges": [("R1", "g1")]}, "edges"),
        ({"edges": [("R1", "nobody", 1.0)]}, "edges"),
        ({"edges": [("nobody", "g1", 1.0)]}, "edges"),
        ({"edges": [("R1", 3, 1.0)]}, "edges"),
        (columns(["R1"], ["g1"], [np.nan]), "weight"),
        (columns(["R1"], ["nobody"], [1.0]), "target"),
        (columns(["nobody"], ["g1"], [1.0]), "regulator"),
        (columns([1], ["g1"], [1.0]), "regulator"),
        (columns(["R1"], ["g1", "g2"], [1.0, 2.0]), "weight"),
        (columns(["R1"], ["g1"], [[1.0]]), "weight"),
        ({"regulator": ["R1"], "target": ["g1"]}, "weight"),
        ({"edges": [("R1", "g1", 1.0)], "score": [1.0]}, "edges"),
        ({"edges": [("R1", "g1", 1.0)], "ids": ["R1>g1"]}, "ids"),
        ({"edges": [("R1", "g1", 1.0)], "wieght": [1.0]}, "wieght"),
        ({"ids": ["R1>nobody"], "score": [1.0]}, "ids"),
        ({"ids": ["R1-g1"], "score": [1.0]}, "ids"),
        ({"ids": ["R1>g1"], "score": [-1.0]}, "score"),
        ({"ids": ["R1>g1"], "score": [np.nan]}, "score"),
    ],
)
def test_predictions_that_are_none_are_refused_by_name(prediction: dict, named: str) -> None:
    run = pb.stream(["auprc_ratio"], TRUTH)
    with pytest.raises(pb.ContractError, match=f"- {named}:"):
        run.update(prediction)
    assert run.n_seen == 0


def test_every_form_gives_the_same_bits(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="writes and reads Parquet files")
    edges = [("R1", "g1", -0.75), ("R2", "g2", 0.5), ("R1", "g1", 0.25), ("R1", "R1", 3.0)]
    table = pd.DataFrame(edges, columns=["regulator", "target", "weight"])
    table.to_csv(tmp_path / "edges.csv", index=False)
    table[["weight", "target", "regulator"]].to_csv(tmp_path / "edges.tsv", sep="\t", index=False)
    table.to_parquet(tmp_path / "edges.parquet", index=False)
    forms = [
        {"edges": edges},
        {"edges": np.asarray(edges, object)},
        table,
        {name: table[name].tolist() for name in table},
        {"ids": [f"{a}>{b}" for a, b, _ in edges], "score": [abs(w) for *_, w in edges]},
        *(tmp_path / f"edges.{suffix}" for suffix in ("csv", "tsv", "parquet")),
    ]
    runs = [pb.stream(["auprc_ratio"], TRUTH) for _ in forms]
    for run, form in zip(runs, forms, strict=True):
        run.update(form)
    assert len({run.compute().scores_hash for run in runs}) == 1
    assert len({run.compute().predictions_sha256 for run in runs}) == 1


def test_rows_pass_where_no_names_are_known() -> None:
    ids, fields = arrange_prediction(["anything"], {"score": [1.0]}, {})
    assert (ids, fields) == (["anything"], {"score": [1.0]})


# -- real data ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def mesc() -> tuple[list[str], list[tuple[str, str]]]:
    """Expressed genes and the network of mouse embryonic stem cells."""
    folder = os.environ.get("PRIMABENCH_TEST_DATA", "")
    if not folder:
        pytest.skip("set PRIMABENCH_TEST_DATA to the folder of small real files")
    place = Path(folder) / "single_cell" / "grn_mesc_semrau"
    with gzip.open(place / "semrau_rna_filtered_log2.tsv.gz", "rt") as stream:
        next(stream)
        genes = [line.partition("\t")[0] for line in stream]
    pairs = [tuple(line.split("\t")) for line in (place / "mESC_ground_truth.tsv").read_text().splitlines()]
    return genes, pairs  # type: ignore[return-value]


def test_real_network_against_scikit_learn(mesc: tuple[list[str], list[tuple[str, str]]]) -> None:
    genes, pairs = mesc
    expressed = set(genes)
    regulators = sorted({a for a, _ in pairs} & expressed)
    targets = sorted({name for pair in pairs for name in pair} & expressed)
    universe = candidates(regulators, targets)
    assert (len(regulators), len(targets), len(universe)) == (42, 3327, 139_692)
    true = set(pairs) & set(universe)
    label = np.asarray([pair in true for pair in universe], int)
    assert label.sum() == 4393
    rng = np.random.default_rng(0)
    weight = np.round(rng.normal(0.3 * label, 1.0), 1) * (rng.random(len(label)) < 0.7)  # ties, and a third is absent
    edges = [(a, b, w) for (a, b), w in zip(universe, weight.tolist(), strict=True) if w]
    truth = {"edges": pairs, "genes": targets, "regulators": regulators}
    run = pb.stream(METRICS, truth)
    for start in range(0, len(edges), 40_000):
        run.update(edges=edges[start : start + 40_000])
    result = run.compute()
    magnitude = np.abs(weight)
    precision = average_precision_score(label, magnitude)
    assert result["auprc_ratio"].value == pytest.approx(precision / label.mean(), rel=1e-12)
    of = np.asarray([a for a, _ in universe])
    enough = [r for r in regulators if label[of == r].sum() >= 10]
    each = [average_precision_score(label[of == r], magnitude[of == r]) for r in enough]
    assert len(enough) == 18
    assert result["mean_regulator_average_precision"].value == pytest.approx(np.mean(each), rel=1e-12)
    expected = early_precision_ratio(edges, true, universe)
    assert result["early_precision_ratio"].value == pytest.approx(float(expected), rel=1e-12)
    area = pb.score("auroc", {"score": magnitude}, {"label": label}).value
    assert area == pytest.approx(roc_auc_score(label, magnitude), rel=1e-12)
