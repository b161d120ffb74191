"""Label transfer between species: made cells through the public names, and the pancreas recipe on small tables."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from primabench_task_singlecell.baselines import embedding as baselines
from primabench_task_singlecell.embedding.transfer import label_transfer
from primabench_task_singlecell.preparers.embedding import prepare_by_species
from primabench_task_singlecell.specs import embedding_quality as specs

import primabench_core as pb
from primabench_core.errors import ParameterError
from primabench_core.evaluation.baselines import predict_baseline
from primabench_core.evaluation.oracle import evaluate_oracle
from primabench_core.state.rows import Labels, Rows
from primabench_core.store.access import dataset_content_hash
from primabench_core.store.build import build_dataset

TASK, KEY = specs.NAME, specs.SPECIES_KEY
BOTH = {"human -> mouse", "mouse -> human"}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A store with the cells of two species, named by the environment."""
    root = tmp_path_factory.mktemp("store")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PRIMABENCH_STORE", str(root))
        build_dataset(KEY)
        yield root


@pytest.fixture(scope="module")
def cells(store: Path) -> pb.EvalData:
    return pb.load(pb.fetch_data(task=TASK, dataset=KEY)[1], task=TASK, split="test")


def transferred(name: str, **params: Any) -> Any:
    """The result of label transfer by a baseline."""
    metric = ("label_transfer", {"k": 5, **params})
    return pb.evaluate(TASK, predict_baseline(TASK, name, dataset=KEY), dataset=KEY, metrics=[metric], ci=None).results[
        0
    ]


def test_the_content_hash_is_pinned(store: Path) -> None:
    assert dataset_content_hash(KEY) == specs.SPECIES.content_hash


def test_test_cells_are_of_shared_types_and_say_their_species_and_no_type(cells: pb.EvalData) -> None:
    assert cells.n == 240 - 2 * 3 * 4  # the rarest type of each species has four cells in each of three donors
    assert cells.coords["classes"] == ("alpha", "beta", "gamma")
    assert set(np.asarray(cells["label"][:], object)) == {None}
    species, donor = (np.asarray(cells[name][:], object) for name in ("domain", "group"))
    assert set(species) == {"human", "mouse"}
    assert {d.partition("_")[0] == s for d, s in zip(donor, species, strict=True)} == {True}
    assert np.asarray(cells["fold"][:], object).tolist() == donor.tolist()
    genes, expression = cells.coords["genes"], np.asarray(cells["expression"][:])
    assert genes[0] == "human:GENE_00"
    assert genes[-1] == "mouse:Gene_39"
    human = np.asarray([g.startswith("human:") for g in genes])
    assert not expression[species == "mouse"][:, human].any()
    assert not expression[species == "human"][:, ~human].any()
    totals = expression.astype(np.float64)
    np.testing.assert_allclose(np.expm1(totals).sum(axis=1), 1e4, rtol=1e-4)


def test_types_go_from_one_species_to_the_other(store: Path) -> None:
    random, apart, matched = (transferred(name) for name in ("random", "components", "matched_genes"))
    assert random.value < 0.45  # three types
    assert apart.value < 0.6  # genes of two species share no axis
    assert 0.7 < matched.value < 1.0
    assert set(matched.per_unit) == BOTH
    assert len(matched.values["probe_sha256"]) == 64


def test_the_whole_panel_has_values_and_the_answer_reaches_its_end(store: Path) -> None:
    perfect = evaluate_oracle(TASK, "perfect", dataset=KEY, ci=None)
    assert perfect.scores == {name: pytest.approx(1.0) for name in perfect.scores}
    assert set(perfect["label_transfer"].per_unit) == BOTH


def test_one_direction_is_a_parameter(store: Path) -> None:
    both, one = transferred("matched_genes"), transferred("matched_genes", fit_on="human")
    assert one.value == both.per_unit["human -> mouse"]
    assert set(one.per_unit) == {"human -> mouse"}
    assert both.value == pytest.approx(np.mean(list(both.per_unit.values())))
    with pytest.raises(pb.ParameterError, match="rat"):
        transferred("matched_genes", fit_on="rat")


def test_any_order_of_cells_gives_the_same_value(store: Path) -> None:
    predictions = predict_baseline(TASK, "matched_genes", dataset=KEY)
    metrics = ["label_transfer", "knn_probe"]
    whole = pb.evaluate(TASK, predictions, dataset=KEY, metrics=metrics, ci=None)
    run = pb.Evaluation(task=TASK, dataset=KEY, metrics=metrics)
    for part in np.array_split(np.random.default_rng(0).permutation(predictions.n), 4):
        run.update(predictions=predictions.select(part))
    assert run.compute().scores_hash == whole.scores_hash


def test_embeddings_of_two_widths_are_refused(cells: pb.EvalData) -> None:
    run = pb.Evaluation(task=TASK, dataset=KEY)
    half = cells.n // 2
    ids = list(cells.ids or ())
    run.update(ids=ids[:half], embedding=np.ones((half, 4)))
    with pytest.raises(pb.ContractError, match="embedding"):
        run.update(ids=ids[half:], embedding=np.ones((cells.n - half, 5)))


def test_genes_are_matched_by_name_whatever_the_case() -> None:
    genes = ("human:INS", "human:GCG", "mouse:Ins", "mouse:INS", "mouse:Gcg", "mouse:Other", "odd:thing")
    found = baselines._measured(genes, ["human", "mouse"])
    assert found["human"] == {"INS": [0], "GCG": [1], "ODD:THING": [6]}
    assert found["mouse"] == {"INS": [2, 3], "GCG": [4], "OTHER": [5], "ODD:THING": [6]}
    rng = np.random.default_rng(0)
    domain = np.asarray(["human", "mouse"], object)[np.arange(20) % 2]
    alone = pb.EvalData(
        {"expression": rng.random((20, 2)), "domain": domain},
        ids=[f"c{i}" for i in range(20)],
        coords={"genes": ("human:A", "mouse:B")},
    )
    with pytest.raises(pb.UsageError, match="same name"):
        baselines.matched_genes(None, alone)
    measured = pb.EvalData(alone.fields, ids=alone.ids, coords={"genes": ("A", "B")})
    found_here = np.asarray(baselines.matched_genes(None, measured)["embedding"])
    assert found_here.shape == (20, 2)
    for name in ("human", "mouse"):
        np.testing.assert_allclose(found_here[domain == name].mean(axis=0), 0.0, atol=1e-12)


class Views:
    """Stands in for the store."""

    def __init__(self, data: pb.EvalData) -> None:
        hidden = {**data.fields, "label": np.full(data.n, None, object)}
        self._views = {
            "labelled": data,
            "censored": pb.EvalData(hidden, ids=data.ids, coords=data.coords),
            "solution": pb.EvalData({"label": data["label"]}, ids=data.ids),
        }

    def artifact(self, view: str) -> pb.EvalData:
        return self._views[view]


def made(species: list[str], label: list[str], **more: Any) -> pb.EvalData:
    n = len(label)
    fields = {
        "counts": np.eye(n, 4) + 1.0,
        "species": np.asarray(species, object),
        "donor": np.asarray(species, object),
        "label": np.asarray(label, object),
        **more,
    }
    ids = [f"c{i}" for i in range(n)]
    return pb.EvalData(fields, ids=ids, coords={"genes": ("human:A", "human:B", "mouse:A", "mouse:B")})


@pytest.mark.parametrize(
    ("species", "label"),
    [
        (["human"] * 4, [*"abab"]),
        (["human", "human", "mouse", "mouse"], [*"abac"]),
        (["human", "human", "mouse", "mouse"], [*"abcd"]),
    ],
)
def test_species_without_two_types_in_common_are_refused(species: list[str], label: list[str]) -> None:
    with pytest.raises(pb.CorruptDataError, match="in common"):
        prepare_by_species(Views(made(species, label)))  # type: ignore[arg-type]


def test_data_without_a_species_are_refused() -> None:
    data = made(["human", "human", "mouse", "mouse"], [*"abab"])
    bare = pb.EvalData({k: v for k, v in data.fields.items() if k != "species"}, ids=data.ids, coords=data.coords)
    with pytest.raises(pb.CorruptDataError, match="species"):
        prepare_by_species(Views(bare))  # type: ignore[arg-type]


def test_the_pancreas_of_small_tables_goes_through_recipe_preparer_and_baseline(tmp_path: Path) -> None:
    recipes = pytest.importorskip("primabench_recipes.curation.sources_at_hand", reason="its recipe is there")
    from primabench_core.discovery import registry

    given = {}
    for number, donor in enumerate(("human1", "human2", "human3", "human4", "mouse1", "mouse2")):
        human, rng = donor.startswith("human"), np.random.default_rng(number)
        types = ["beta", "alpha", "t_cell", "acinar"] if human else ["beta", "alpha", "T_cell", "B_cell"]
        names = ["INS", "GCG", "CD3D", "PRSS1"] if human else ["Ins", "Gcg", "Cd3d", "Ms4a1"]
        lines = [",".join(["", "barcode", "assigned_cluster", *names])]
        for cell in range(24):
            counts = rng.poisson(np.where(np.arange(4) == cell % 4, 40.0, 2.0))
            lines.append(",".join([f"{donor}_lib1.cell_{cell}", "A-C", types[cell % 4], *map(str, counts)]))
        given[f"{donor}.csv.gz"] = tmp_path / f"{donor}.csv"
        given[f"{donor}.csv.gz"].write_text("\n".join(lines) + "\n")
    views = {a.view: a.data for a in recipes.run_recipe(registry.load("recipe", specs.PANCREAS), given)}

    class Reader:
        def artifact(self, view: str) -> pb.EvalData:
            return views[view]

    splits = prepare_by_species(Reader())  # type: ignore[arg-type]
    assert splits.test.coords["classes"] == ("alpha", "beta", "t_cell")
    assert splits.test.n == 6 * 18
    truth = {name: splits.solution[name] for name in ("label", "domain")}
    found = baselines.matched_genes(None, splits.test)
    result = pb.score("label_transfer", {"embedding": found["embedding"]}, truth, k=5, fit_on="human")
    assert dict(result.per_unit) == {"human -> mouse": result.value}
    assert 0.9 < result.value <= 1.0


def test_a_domain_of_which_no_cell_came_is_no_misspelt_one():
    domain = Labels(np.repeat([0, 1], 20), ("human", "mouse", "rat"))
    label = Labels(np.tile([0, 1], 20), ("a", "b"))
    embedding = np.random.default_rng(0).normal(size=(40, 2))
    rows = Rows(40, {"embedding": embedding}, {"label": label, "domain": domain}, classes=label.classes)
    found = label_transfer(rows, fit_on="rat")
    assert (found.value, found.reason) == (None, "component_undefined")
    with pytest.raises(ParameterError, match="yeast"):
        label_transfer(rows, fit_on="yeast")
