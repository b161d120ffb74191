"""From inputs to scores in one file; to try a model, change the function ``embed`` and nothing else.

    python quickstart.py            made cohorts, offline, in seconds; files are written beside it

For the inputs of PRIMO, build them once (``primabench build scienta_lab_2026_hugging_face/primo_inputs@1.0.0``) and
take ``open_inputs(PRIMO)`` in place of the folder; their labels are held by PRIMO, which scores.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sklearn.decomposition import PCA

from primabench_task_patient.baselines.embeddings import hvg_of, random_of
from primabench_task_patient.scoring import read_truth, score_submission, to_json
from primabench_task_patient.submitting import Cohort, embed_all, open_inputs, write_submission
from primabench_task_patient.synthetic.folder import write_inputs, write_truth


def embed(cohort: Cohort) -> Any:
    """One vector for each sample of a cohort: put your model here.

    Args:
        cohort: ``counts`` (samples, genes), ``log_cpm`` of the same shape, ``genes``, ``samples``.

    Returns:
        (samples, width) numbers; the width may differ from cohort to cohort.
    """
    width = 4 if cohort.id == "d002" else 8  # a narrower cohort is padded in the file
    return PCA(n_components=width, svd_solver="full").fit_transform(cohort.log_cpm)


def run(folder: Path) -> Iterator[dict[str, Any]]:
    """Make inputs and truth, embed, write the files, score them; gives each result document.

    Args:
        folder: Where everything is written.
    """
    inputs = write_inputs(folder / "inputs")
    truth = read_truth(write_truth(folder / "truth"))
    models = {"mine": (embed, False), "hvg": (hvg_of, True), "random": (random_of, True)}
    for name, (function, is_baseline) in models.items():
        file = write_submission(folder / f"{name}.csv", embed_all(open_inputs(inputs), function))
        yield _scored(file, truth, name, is_baseline)
    some = [cohort for cohort in open_inputs(inputs) if cohort.id != "d003"]  # a data set is left out on purpose
    file = write_submission(folder / "partial.csv", embed_all(some, embed))
    yield _scored(file, truth, "partial", False)
    own = folder / "quickstart.py"
    if not own.exists():  # never over a file that may hold a model
        shutil.copyfile(__file__, own)


def _scored(file: Path, truth: Any, model: str, is_baseline: bool) -> dict[str, Any]:
    document = score_submission(file, truth, model=model, is_baseline=is_baseline)
    file.with_suffix(".scores.json").write_text(to_json(document), encoding="utf-8")
    return document


if __name__ == "__main__":
    here = Path(__file__).parent
    target = (
        Path(sys.argv[1]) if len(sys.argv) > 1 else here if (here / "inputs").is_dir() else Path("patient-quickstart")
    )
    for found in run(target):
        for score in found["scores"]:
            sys.stdout.write(f"{found['model']['name']:8} {score['task']:12} {score['status']:8} {score['value']}\n")
