"""A synthetic truth in a folder of its own, and truths made of the two fixtures of real patients."""

from __future__ import annotations

import csv
import gzip
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from primabench_task_patient.folds import make_folds
from primabench_task_patient.scoring import Truth, read_truth
from primabench_task_patient.synthetic.folder import write_inputs, write_truth, write_truth_of


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """``inputs`` and ``truth`` of the synthetic cohorts."""
    root = tmp_path_factory.mktemp("patients")
    write_inputs(root / "inputs")
    write_truth(root / "truth")
    return root


@pytest.fixture(scope="session")
def truth(folder: Path) -> Truth:
    return read_truth(folder / "truth")


def _data(name: str) -> Path:
    root = os.environ.get("PRIMABENCH_TEST_DATA")
    path = Path(root or "", "patient_omics", name)
    if not root or not path.is_dir():
        pytest.skip("PRIMABENCH_TEST_DATA does not hold patient_omics")
    return path


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def matrix(path: Path) -> tuple[list[str], np.ndarray]:
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))[1:]
    return [row[0] for row in rows], np.asarray([row[1:] for row in rows], np.float64)


@pytest.fixture(scope="session")
def real(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Crohn's colon (endotype) and SLE blood (SLEDAI, renal; patients repeat) as one truth, with log expression."""
    crohn, sle = _data("crohns_colon_rnaseq"), _data("sle_whole_blood_gse49454")
    colon, blood = table(crohn / "clinical.csv"), table(sle / "clinical.csv")
    names, counts = matrix(crohn / "transcript_counts.csv.gz")
    size = {row["run"]: float(row["library_size"]) for row in colon}
    cpm = np.log2(counts / np.asarray([size[n] for n in names])[:, None] * 1e6 + 1)
    blood_names, expression = matrix(sle / "expression.csv.gz")
    kinds = [row for row in colon if row["subtype"] in ("CL", "IL")]
    rated = [row for row in blood if row["sledai"]]
    organs = [row for row in blood if row["renal"] in ("Y", "N")]
    labels = {
        "t_endotype": _columns([r["run"] for r in kinds], labels=[r["subtype"] for r in kinds]),
        "t_disease": _columns([r["run"] for r in colon], labels=[r["status"] for r in colon]),
        "t_sledai": _columns(
            [r["sample_id"] for r in rated], values=[float(r["sledai"]) for r in rated],
            groups=[r["patient_id"] for r in rated],
        ),
        "t_renal": _columns(
            [r["sample_id"] for r in organs], labels=[r["renal"] for r in organs],
            groups=[r["patient_id"] for r in organs],
        ),
    }  # fmt: skip
    datasets = [{"id": "d001", "modality": "bulk-rna"}, {"id": "d002", "modality": "microarray"}]
    tasks = [
        {"id": "t_endotype", "dataset": "d001", "category": "endotype", "area": "gastro", "metric": "auroc"},
        {"id": "t_disease", "dataset": "d001", "category": "diagnosis", "area": "gastro", "metric": "auroc"},
        {"id": "t_sledai", "dataset": "d002", "category": "score", "area": "rheuma", "metric": "pearson"},
        {"id": "t_renal", "dataset": "d002", "category": "organ", "area": "rheuma", "metric": "auroc"},
    ]
    root = tmp_path_factory.mktemp("real") / "truth"
    registry = {"name": "fixtures", "datasets": datasets, "tasks": tasks}
    write_truth_of(root, registry, {"d001": names, "d002": blood_names}, labels)
    return {"folder": root, "d001": (names, cpm), "d002": (blood_names, expression), "labels": labels}


def _columns(samples: list[str], **answer: Any) -> dict[str, Any]:
    folds = make_folds(samples, folds=5, seed="fixture", **answer)
    kept = {"label": answer.get("labels"), "value": answer.get("values"), "group": answer.get("groups")}
    return {"sample_id": samples, **{k: v for k, v in kept.items() if v is not None}, "fold": folds}
