"""The task through the public names: made cohorts, GSE7390, PRIMO's layout; baselines; conformance."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from importlib import import_module, resources
from importlib.metadata import distribution
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest
import yaml
from primabench_task_patient.baselines import embeddings
from primabench_task_patient.scoring.inputs import read_inputs
from primabench_task_patient.specs.representation import GSE7390, PREPARE_GSE7390, SEVERITY_KEY, SYNTHETIC_KEY
from primabench_task_patient.submitting import PRIMO, log_cpm, open_inputs
from primabench_task_patient.synthetic.patients import endotype, response, severity

import primabench_core as pb
from primabench_core.evaluation.baselines import predict_baseline
from primabench_core.evaluation.oracle import evaluate_oracle
from primabench_core.store.build import build_dataset
from primabench_core.testing import parametrize_with_checks

TASK = "patient_representation"
POINTS = [p for p in distribution("primabench-task-patient").entry_points if p.group.startswith("primabench.")]


@parametrize_with_checks("primabench-task-patient")
def test_conformance(check):
    check()


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    root = tmp_path_factory.mktemp("store")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PRIMABENCH_STORE", str(root))
        for key in (SYNTHETIC_KEY, SEVERITY_KEY):
            build_dataset(key)
        yield root


def test_made_bytes_are_known():
    # a change here is a new version of the datasets, never a new expectation
    digests = [
        hashlib.sha256(made.counts.astype("<i8").tobytes()).hexdigest()[:16]
        for made in (endotype(), severity(), response())
    ]
    assert digests == KNOWN


KNOWN = ["5fc344752a8fbafb", "3e59609c6ce30059", "ad9f2ff12dbcdfb9"]


def test_no_public_path_leads_to_an_answer(store):
    train, test = pb.fetch_data(task=TASK, dataset=SYNTHETIC_KEY)
    assert train == test
    given = pb.load(test, task=TASK, split="test")
    assert set(given.fields) <= {"counts", "label"}
    assert "label" not in given or set(np.asarray(given["label"]).tolist()) == {None}
    assert not {"private", "solution"} & set(test.parts)


@pytest.mark.parametrize("key", [SYNTHETIC_KEY, SEVERITY_KEY])
def test_baselines_stand_between_chance_and_the_truth(key, store):
    scores = {}
    for name in ("random", "pca", "hvg"):
        predictions = predict_baseline(TASK, name, dataset=key, seed=1)
        result = pb.evaluate(TASK, predictions, dataset=key, ci=None)
        scores[name] = result.scores["patient_probe"]
        assert result["patient_probe"].values["probe"] == "linear-probe/1"
    best = evaluate_oracle(TASK, "perfect", dataset=key, ci=None).scores["patient_probe"]
    assert best > 0.99
    assert scores["hvg"] > scores["random"] + 0.1
    assert scores["pca"] > scores["random"] + 0.1


def test_order_of_rows_and_shards_change_nothing(store):
    predictions = predict_baseline(TASK, "pca", dataset=SEVERITY_KEY)
    whole = pb.evaluate(TASK, predictions, dataset=SEVERITY_KEY, ci=None)
    run = pb.Evaluation(task=TASK, dataset=SEVERITY_KEY)
    for part in np.array_split(np.random.default_rng(0).permutation(predictions.n), 5):
        run.update(predictions=predictions.select(part))
    assert run.compute().scores == whole.scores


def test_gse7390(tmp_path):
    pytest.importorskip("primabench_recipes", reason="the recipe of GSE7390 is in primabench-recipes")
    if find_spec("sksurv") is None:
        pytest.skip("GSE7390 is a file inside scikit-survival")
    build_dataset(GSE7390, store=tmp_path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PRIMABENCH_STORE", str(tmp_path))
        _, test = pb.fetch_data(task=TASK)
        given = pb.load(test, task=TASK, split="test")
        assert set(given.fields) == {"expression"}
        assert given.n == 189
        result = pb.evaluate(TASK, predict_baseline(TASK, "hvg"), ci=None)["patient_probe"]
        assert 0.6 < result.value < 0.85  # the 76 genes were chosen for this outcome, on other patients
        assert dict(result.values["class_counts"]) == {"free": 154, "metastasis": 35}
        assert result.values["resolvable"]


def test_the_frozen_folds_are_those_of_the_script():
    package, _, path = PREPARE_GSE7390.id_list.partition(":")
    content = resources.files(package).joinpath(path).read_bytes()
    assert hashlib.sha256(content).hexdigest() == PREPARE_GSE7390.id_list_sha256
    pytest.importorskip("primabench_recipes", reason="the recipe of GSE7390 is in primabench-recipes")
    if find_spec("sksurv") is None:
        pytest.skip("GSE7390 is a file inside scikit-survival")
    script = Path(__file__).parents[1] / "scripts" / "make_folds.py"
    spec = spec_from_file_location("make_folds_script", script)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.gse7390() == content


def test_inputs_of_primo_from_a_folder_and_from_the_store(tmp_path, monkeypatch):
    anndata = pytest.importorskip("anndata", reason="PRIMO's inputs are .h5ad")
    card = pytest.importorskip(
        "primabench_recipes.scienta_lab_2026_hugging_face.primo_inputs.card",
        reason="its recipe is in primabench-recipes",
    )
    rng, listed, sources = np.random.default_rng(0), [], {}
    for number, name in enumerate(card.COHORTS):
        counts = rng.poisson(20, (6 + number, 9)).astype(np.float32)
        data = anndata.AnnData(counts)
        data.obs_names, data.var_names = [f"{i:03d}" for i in range(len(counts))], [str(100 + g) for g in range(9)]
        path = tmp_path / "primo" / name / "expression.h5ad"
        path.parent.mkdir(parents=True)
        data.write_h5ad(path)
        listed.append(
            {
                "id": name,
                "path": f"{name}/expression.h5ad",
                "n_samples": len(counts),
                "n_genes": 9,
                "gene_id_type": "ncbi",
            }
        )
        sources[f"{name}.h5ad"] = path
    (tmp_path / "primo" / "datasets.yaml").write_text(yaml.safe_dump({"datasets": listed}))
    sources["datasets.yaml"] = tmp_path / "primo" / "datasets.yaml"
    assert read_inputs(tmp_path / "primo")["d001"] == tuple(f"{i:03d}" for i in range(6))
    folder = {c.id: c for c in open_inputs(tmp_path / "primo")}
    monkeypatch.setenv("PRIMABENCH_STORE", str(tmp_path / "store"))
    build_dataset(PRIMO, sources=sources)
    stored = {c.id: c for c in open_inputs(PRIMO)}
    assert list(stored) == list(folder) == list(card.COHORTS)
    for name, cohort in stored.items():
        assert cohort.samples == folder[name].samples
        assert cohort.genes == folder[name].genes
        assert (cohort.counts == folder[name].counts).all()


def test_log_cpm():
    assert log_cpm([[3, 1], [0, 0]]).tolist() == [[np.log2(750_001), np.log2(250_001)], [0.0, 0.0]]


def test_random_vectors_belong_to_a_sample():
    whole = embeddings.random_vectors(("a", "b", "c"), seed=1)
    assert (embeddings.random_vectors(("c", "a"), seed=1) == whole[[2, 0]]).all()
    assert (embeddings.random_vectors(("a",), seed=2) != whole[0]).any()


def test_variable_genes_by_variance_then_name():
    x = np.array([[0.0, 0.0, 1.0, 5.0], [2.0, 4.0, 3.0, 5.0]])
    assert embeddings.variable_genes(x, ("d", "c", "b", "a"), width=3).tolist() == [[0.0, 1.0, 0.0], [4.0, 3.0, 2.0]]


def test_components_do_not_depend_on_signs_of_a_solver():
    x = np.random.default_rng(0).standard_normal((40, 12))
    found = embeddings.principal_components(x)
    assert found.shape == (40, 10)
    assert (found[np.abs(found).argmax(0), range(10)] > 0).all()


@pytest.mark.parametrize("point", POINTS, ids=lambda p: f"{p.group}:{p.name}")
def test_entry_points_resolve(point):
    spec = point.load()
    for attribute in ("prepare", "build", "predict", "compute"):
        reference = getattr(spec, attribute, "")
        if isinstance(reference, str) and reference:
            module, _, function = reference.partition(":")
            assert callable(getattr(import_module(module), function))


def test_specs_import_no_array_library():
    modules = sorted({p.value.partition(":")[0] for p in POINTS})
    code = (
        f"import sys, importlib\nfor m in {modules!r}: importlib.import_module(m)\n"
        "print(sorted({'numpy', 'torch', 'xarray', 'zarr', 'pandas', 'sklearn', 'scipy', 'yaml'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
