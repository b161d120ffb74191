"""Writes the synthetic cohorts as folders: public inputs, and the private truth."""

from __future__ import annotations

import csv
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]

from primabench_task_patient.synthetic.patients import GENES, MadeCohort, endotype, response, severity

TASKS: dict[str, dict[str, Any]] = {
    "d001": {"id": "t_endotype", "category": "endotype", "metric": "auroc", "area": "rheumatology",
             "title": "Molecular subtype (synthetic)"},
    "d002": {"id": "t_severity", "category": "clinical_score", "metric": "pearson", "area": "dermatology",
             "title": "Clinical score (synthetic)"},
    "d003": {"id": "t_response", "category": "treatment_outcome", "metric": "auroc", "area": "gastroenterology",
             "title": "Response to treatment (synthetic)"},
}  # fmt: skip


def cohorts() -> tuple[MadeCohort, ...]:
    """All three, by id."""
    return endotype(), severity(), response()


def write_inputs(folder: str | Path) -> Path:
    """Write ``datasets.yaml`` and the counts of each cohort: what a submitter sees.

    Args:
        folder: Made if it is absent.
    """
    folder = Path(folder)
    listed = []
    for made in cohorts():
        path = folder / made.id / "expression.csv"
        rows = [[sample, *row] for sample, row in zip(made.samples, made.counts.tolist(), strict=True)]
        write_table(path, ["sample_id", *GENES], rows)
        listed.append(
            {"id": made.id, "path": f"{made.id}/expression.csv", "n_samples": len(made.samples),
             "n_genes": len(GENES), "gene_id_type": "synthetic"}
        )  # fmt: skip
    _write_yaml(folder / "datasets.yaml", {"datasets": listed})
    return folder


def write_truth(folder: str | Path) -> Path:
    """Write ``tasks.yaml``, ``samples.txt`` and ``labels.csv``: what only the scorer sees. The folder is private."""
    made = cohorts()
    datasets = [{"id": c.id, "modality": "bulk-rna", "n_samples": len(c.samples), "licence": "CC0-1.0"} for c in made]
    tasks = [{**TASKS[c.id], "dataset": c.id} for c in made]
    labels = {}
    for cohort in made:
        columns: dict[str, Sequence[Any]] = {"sample_id": cohort.samples}
        columns |= {"label": cohort.labels} if cohort.labels else {"value": cohort.values}
        columns |= {"split": cohort.sides} if cohort.sides else {"fold": cohort.folds}
        if len(set(cohort.patients)) < len(cohort.samples):
            columns["group"] = cohort.patients
        labels[TASKS[cohort.id]["id"]] = columns
    registry = {"name": "synthetic", "synthetic": True, "datasets": datasets, "tasks": tasks}
    return write_truth_of(folder, registry, {c.id: c.samples for c in made}, labels)


def write_truth_of(
    folder: str | Path,
    registry: dict[str, Any],
    samples: dict[str, Sequence[str]],
    labels: dict[str, dict[str, Sequence[Any]]],
) -> Path:
    """Write a truth of any tasks in the layout that ``primabench patient score`` reads.

    Args:
        folder: Made with mode 0700.
        registry: Content of ``tasks.yaml``.
        samples: Ids of all samples by data set.
        labels: Columns of ``labels.csv`` by task.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    os.chmod(folder, 0o700)  # noqa: PTH101  (the mode of mkdir is cut by the umask)
    _write_yaml(folder / "tasks.yaml", registry)
    for dataset, names in samples.items():
        path = folder / dataset / "samples.txt"
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(f"{name}\n" for name in names), encoding="utf-8")
    for task, columns in labels.items():
        write_table(folder / task / "labels.csv", list(columns), list(zip(*columns.values(), strict=True)))
    return folder


def write_table(path: Path, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """A table of text with a header line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(header)
        lines.writerows(rows)


def _write_yaml(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(value, sort_keys=False, allow_unicode=True), encoding="utf-8")
