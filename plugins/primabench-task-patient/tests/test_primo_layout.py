"""PRIMO's layout from end to end: ten cohorts, every area and family, a fixed split, patients that repeat, padding."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from primabench_task_patient.folds import make_folds
from primabench_task_patient.scoring import RegistryError, read_inputs, read_truth
from primabench_task_patient.submitting import PRIMO, embed_all, open_inputs, write_submission
from primabench_task_patient.synthetic.folder import write_table

from primabench_core.cli.main import main
from primabench_core.store.build import build_dataset

anndata = pytest.importorskip("anndata", reason="PRIMO's inputs are .h5ad")
card = pytest.importorskip(
    "primabench_recipes.scienta_lab_2026_hugging_face.primo_inputs.card", reason="its recipe is in primabench-recipes"
)
N, GENES, VISITS = 40, 30, 2
AREAS = {"gastroenterology": ("d001", "d002", "d003", "d004"), "dermatology": ("d005", "d006", "d007"),
         "rheumatology": ("d008", "d009", "d010")}  # fmt: skip
FAMILIES = {"treatment-outcome": "auroc", "clinical-scores": "pearson", "endotype": "auroc"}


def counts_of(number: int) -> tuple[np.ndarray, np.ndarray]:
    """Raw counts of one cohort, and the latent state behind its answers."""
    rng = np.random.default_rng(number)
    state = np.repeat(rng.standard_normal(N // VISITS), VISITS)
    level = rng.uniform(20, 200, GENES) * np.exp(0.5 * np.outer(state, np.arange(GENES) < 8))
    return rng.poisson(level).astype(np.float32), state


def columns_of(samples: list[str], state: np.ndarray, family: str, kind: str) -> dict[str, Any]:
    patients = [f"p{i // VISITS:02d}" for i in range(N)]
    found: dict[str, Any] = {"sample_id": samples}
    if FAMILIES[family] == "pearson":
        answer = {"values": [round(float(value), 3) for value in state]}
        found["value"] = answer["values"]
    else:
        high = state > np.median(state)
        answer = {"labels": ["high" if row else "low" for row in high]}
        found["label"] = answer["labels"]
    if kind == "transfer":  # one centre trains, another tests; two patients of each kind on either side
        found["split"] = ["train" if i // VISITS % 3 else "test" for i in range(N)]
    else:
        found["fold"] = make_folds(samples, groups=patients, folds=5, **answer)
    return {**found, "group": patients}


@pytest.fixture(scope="module")
def primo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """``datasets.yaml``, ``dNNN/expression.h5ad``, and beside them the private ``tasks.yaml`` and labels."""
    root = tmp_path_factory.mktemp("primo")
    listed, tasks = [], []
    for number, name in enumerate(card.COHORTS):
        counts, state = counts_of(number)
        samples = [f"{i:03d}" for i in range(N)]
        data = anndata.AnnData(counts[::-1].copy())
        data.obs_names, data.var_names = samples[::-1], [str(1000 + g) for g in range(GENES)]
        data.var["symbol"] = [f"GENE{g}" for g in range(GENES)]
        (root / name).mkdir()
        data.write_h5ad(root / name / "expression.h5ad")
        listed.append({"id": name, "path": f"{name}/expression.h5ad", "n_samples": N, "n_genes": GENES,
                       "gene_id_type": "ncbi"})  # fmt: skip
        area = next(area for area, held in AREAS.items() if name in held)
        family = list(FAMILIES)[number % 3]
        task = f"t{number:02d}"
        tasks.append({"id": task, "dataset": name, "area": area, "category": family, "metric": FAMILIES[family]})
        columns = columns_of(samples, state, family, "transfer" if number in (3, 9) else "folds")
        write_table(root / task / "labels.csv", list(columns), list(zip(*columns.values(), strict=True)))
    tasks.append({**tasks[0], "id": "t10", "category": "endotype"})  # two tasks of one cohort
    columns = columns_of(samples, counts_of(0)[1], "endotype", "folds")
    write_table(root / "t10" / "labels.csv", list(columns), list(zip(*columns.values(), strict=True)))
    (root / "datasets.yaml").write_text(yaml.safe_dump({"datasets": listed}))
    registry = {"name": "primo", "datasets": [{"id": name, "modality": "bulk-rna"} for name in card.COHORTS],
                "tasks": tasks}  # fmt: skip
    (root / "tasks.yaml").write_text(yaml.safe_dump(registry))
    return root


def first_genes(cohort: Any) -> np.ndarray:
    """Vectors of another width in each third cohort."""
    return cohort.log_cpm[:, : 8 if int(cohort.id[1:]) % 3 else 5]


def test_the_truth_holds_every_area_family_and_kind_of_split(primo):
    truth = read_truth(primo)
    assert {task.task.area for task in truth.tasks.values()} == set(AREAS)
    assert {task.task.category: task.task.metric for task in truth.tasks.values()} == FAMILIES
    kinds = {name: task.folds for name, task in truth.tasks.items()}
    assert {name for name, folds in kinds.items() if folds["kind"] == "split"} == {"t03", "t09"}
    assert all(folds["grouped"] and folds["stratified"] for folds in kinds.values())
    assert truth.datasets == read_inputs(primo)  # no list of samples lies there: ids are those of the expression files
    assert truth.datasets["d001"][0] == f"{N - 1:03d}"


def test_from_the_built_inputs_to_a_board(primo, tmp_path, monkeypatch, capsys):
    pytest.importorskip("primabench_board", reason="primabench-board is not installed")
    monkeypatch.setenv("PRIMABENCH_STORE", str(tmp_path / "store"))
    sources = {f"{name}.h5ad": primo / name / "expression.h5ad" for name in card.COHORTS}
    build_dataset(PRIMO, sources={**sources, "datasets.yaml": primo / "datasets.yaml"})
    whole = write_submission(tmp_path / "whole.csv", embed_all(open_inputs(PRIMO), first_genes))
    rows = [line.split(",") for line in whole.read_text().splitlines()]
    assert rows[0][2:] == [f"e{i}" for i in range(8)]
    assert {row[7] for row in rows if row[0] == "d003"} == {""}  # padded there
    without = [c for c in open_inputs(primo) if c.id not in AREAS["dermatology"]]
    part = write_submission(tmp_path / "part.csv", embed_all(without, first_genes))
    asked = ["--inputs", str(primo), "--tasks", str(primo), "--json"]
    assert main(["patient", "validate", str(whole), "--require-complete", *asked]) == 0
    assert json.loads(capsys.readouterr().out)["datasets"]["d003"] == {
        "width": 5, "status": "covered", "detail": None,
    }  # fmt: skip
    assert main(["patient", "validate", str(part), "--require-complete", *asked]) == 1
    capsys.readouterr()
    results = []
    for file in (whole, part):
        results.append(str(tmp_path / f"{file.stem}.scores.json"))
        said = ["--truth", str(primo), "--model", file.stem, "--owner", "me", "--out", results[-1]]
        assert main(["patient", "score", str(file), *said]) == 0
    found = {score["task"]: score for score in json.loads(Path(results[0]).read_text())["scores"]}
    assert all(score["status"] == "scored" and score["n_units"] <= N // VISITS for score in found.values())
    assert {score["folds"]["n"] for score in found.values()} == {1, 5}
    assert all(score["interval"]["unit"] == "patient" for score in found.values())
    place = ["--registry", str(primo / "tasks.yaml"), "--db", str(tmp_path / "results.sqlite")]
    assert main(["board", "add", *results, *place]) == 0
    capsys.readouterr()
    assert main(["board", "show", "--json", *place]) == 0
    ranked = {board["id"]: board["ranked"] for board in json.loads(capsys.readouterr().out)}
    assert ranked == {
        "bulk-rna": 1, "gastroenterology-bulk-rna": 2, "dermatology-bulk-rna": 1, "rheumatology-bulk-rna": 2,
        "treatment-outcome-bulk-rna": 1, "clinical-scores-bulk-rna": 1, "endotype-bulk-rna": 1,
    }  # fmt: skip


def test_ids_come_from_one_of_two_places(primo, tmp_path):
    (tmp_path / "tasks.yaml").write_text((primo / "tasks.yaml").read_text())
    with pytest.raises(RegistryError, match=r"samples\.txt cannot be read"):
        read_truth(tmp_path)
