"""A store with the synthetic data of one task, built once, and a way to run the command in this process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from attrs import frozen

from primabench_core.cli.main import main
from primabench_core.store.build import build_dataset

SYNTHETIC = "primabench_synthetic/cell_type_annotation@1.0.0"


@frozen
class Ran:
    code: int
    out: str
    err: str


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("store")
    build_dataset(SYNTHETIC, store=str(folder))
    return folder


@pytest.fixture
def primabench(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Ran]:
    """Run the command in an empty folder against the store; returns its exit code and what it printed."""
    monkeypatch.setenv("PRIMABENCH_STORE", str(store))
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> Ran:
        capsys.readouterr()
        code = main(list(arguments))
        printed = capsys.readouterr()
        return Ran(code, printed.out, printed.err)

    return run


@pytest.fixture(scope="session")
def made(store: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Predictions of a good and a poor model and of baselines, and their results, as files by name."""
    pytest.importorskip("sklearn", reason="baselines of the synthetic cells need scikit-learn")
    folder = Path(tmp_path_factory.mktemp("models"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PRIMABENCH_STORE", str(store))
        return _two_models(folder)


@pytest.fixture
def models(made: dict[str, str], store: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The files of two models, with the store set."""
    monkeypatch.setenv("PRIMABENCH_STORE", str(store))
    return made


def _two_models(folder: Path) -> dict[str, str]:
    import csv

    import numpy as np

    import primabench_core as pb
    from primabench_core.evaluation.baselines import predict_baseline

    task = "cell_type_annotation"
    names = ("good.npz", "good.json", "poor.csv", "poor.json", "majority.json", "knn.json", "perfect.json")
    paths = {name: str(folder / name) for name in names}
    found = predict_baseline(task, "logistic", dataset=SYNTHETIC)
    classes = [str(c) for c in pb.load(pb.fetch_test(task, dataset=SYNTHETIC)).coords["classes"]]
    label = [str(v) for v in found["label"]]
    sure = np.where(np.array(label)[:, None] == np.array(classes)[None, :], 0.91, 0.03)
    np.savez(paths["good.npz"], ids=np.array(found.ids), label=np.array(label), probability=sure, classes=classes)
    rng = np.random.default_rng(0)
    worse = [c if rng.random() < 0.4 else str(rng.choice(classes)) for c in label]
    with Path(paths["poor.csv"]).open("w", newline="") as file:
        csv.writer(file).writerows([("ids", "label"), *zip(found.ids, worse, strict=True)])
    asked = {
        "good": ["--predictions", paths["good.npz"], "--label", "model_name=good"],
        "poor": ["--predictions", paths["poor.csv"], "--label", "model_name=poor"],
        **{name: ["--baseline", name] for name in ("majority", "knn", "perfect")},
    }
    for name, options in asked.items():
        always = ["--task", task, "--dataset", SYNTHETIC, "--ci", "none", "--output", paths[f"{name}.json"]]
        assert main(["evaluate", *always, *options]) == 0
    return paths
