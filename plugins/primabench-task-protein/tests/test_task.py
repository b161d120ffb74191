"""Fitness prediction end to end, on made scans and on files of ProteinGym's layout through the recipe."""

from __future__ import annotations

import csv
import io
import pickle
import zipfile

import numpy as np
import pytest
from primabench_task_protein.baselines import fitness

import primabench_core as pb
from primabench_core.evaluation.baselines import predict_baseline
from primabench_core.evaluation.oracle import evaluate_oracle
from primabench_core.store import pins
from primabench_core.store.build import build_dataset

TASK = "fitness_prediction"
KEY = f"primabench_synthetic/{TASK}@1.0.0"
PROTEINGYM = "notin_2023_advances_in_neural_information_processing_systems/proteingym_{}@1.0.0"


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PRIMABENCH_STORE", str(tmp_path_factory.mktemp("store")))
        patch.setenv("PRIMABENCH_OFFLINE", "1")
        patch.setattr(pins, "_file_of_package", lambda spec: None)
        build_dataset(KEY)
        yield patch


def test_baselines_rank_as_they_should(store):
    best = evaluate_oracle(TASK, "perfect", dataset=KEY, ci=None)
    blosum, chance = (
        pb.evaluate(TASK, predict_baseline(TASK, b, dataset=KEY), dataset=KEY, ci=None) for b in ("blosum62", "random")
    )
    tied = best.scores["fitness_top_recall_10_percent"]  # fitness ties at the cut, and so does the prediction
    assert 0.85 < tied < 1
    others = {name: value for name, value in best.scores.items() if "top_recall" not in name}
    assert others == dict.fromkeys(others, pytest.approx(1.0))
    for name in ("fitness_spearman", "fitness_auroc", "fitness_mcc", "fitness_ndcg_at_10_percent"):
        assert 1.0 > blosum.scores[name] > chance.scores[name] + 0.1
    assert blosum["fitness_spearman"].values["selection=Binding"] == blosum["fitness_spearman"].per_unit["SCAN_3"]
    assert {"msa_depth=Low", "taxon=Virus", "mutation_depth=2"} <= set(blosum["fitness_spearman"].values)


def test_results_survive_writing_and_shards(store, tmp_path):
    predictions = predict_baseline(TASK, "blosum62", dataset=KEY)
    result = pb.evaluate(TASK, predictions, dataset=KEY, ci=None)
    result.save(tmp_path / "r.json")
    assert pb.EvalResult.load(tmp_path / "r.json") == result
    run = pb.Evaluation(TASK, dataset=KEY)
    for part in np.array_split(np.random.default_rng(0).permutation(predictions.n), 7):
        run.update(predictions=predictions.select(part))
        run = pickle.loads(pickle.dumps(run))
    assert run.compute().scores_hash == result.scores_hash


def test_scans_are_test_only_and_carry_no_answer(store):
    with pytest.raises(KeyError):
        pb.fetch_data(task=TASK, dataset=KEY)
    test = pb.load(pb.fetch_test(task=TASK, dataset=KEY), task=TASK, split="test")
    assert test.n == 480
    assert not {"value", "label"} & set(test.fields)
    assert {"assay", "wild_type", "mutant", "sequence"} <= set(test.fields)


@pytest.mark.parametrize("kind", ["substitutions", "indels"])
def test_files_of_proteingym_come_through_the_recipe(store, tmp_path, kind):
    wild, rng = "MKTAYIAKQRGSHMWYLLKE", np.random.default_rng(0)
    header = [
        "DMS_id",
        "DMS_filename",
        "UniProt_ID",
        "coarse_selection_type",
        "MSA_Neff_L_category",
        "taxon",
        "target_seq",
    ]
    with (tmp_path / "assays.csv").open("w", newline="") as stream, zipfile.ZipFile(tmp_path / "s.zip", "w") as archive:
        table = csv.writer(stream)
        table.writerow(header)
        for number, selection in enumerate(("Activity", "Binding", "Stability")):
            table.writerow([f"S{number}", f"S{number}.csv", f"P{number // 2}", selection, "Low", "Human", wild])
            out = io.StringIO()
            out.write("mutant,mutated_sequence,DMS_score,DMS_score_bin\n")
            for i in range(19):
                new = "A" if wild[i] != "A" else "G"
                letters = wild[:i] + "C" + wild[i:] if kind == "indels" else wild[:i] + new + wild[i + 1 :]
                out.write(f"{wild[i]}{i + 1}{new},{letters},{rng.normal():.4f},{i % 2}\n")
            archive.writestr(f"x/S{number}.csv", out.getvalue())
    key = PROTEINGYM.format(kind)
    build_dataset(key, sources={"assays.csv": tmp_path / "assays.csv", "scans.zip": tmp_path / "s.zip"})
    result = pb.evaluate(TASK, predict_baseline(TASK, "blosum62", dataset=key), dataset=key, ci=None)
    assert set(result["fitness_spearman"].per_unit) == {"S0", "S1", "S2"}
    assert evaluate_oracle(TASK, "perfect", dataset=key, ci=None).scores["fitness_spearman"] == 1.0


def test_blosum62_reads_mutants_or_sequences():
    named = pb.EvalData({"mutant": ["A1W:C2D"]}, ids=["x"])
    assert fitness.blosum62(None, named)["score"].tolist() == [(-3 - 4) + (-3 - 9)]
    rows = {"mutant": ["WDE", "AE", "ACDE"], "wild_type": ["ACE"] * 3, "sequence": ["WDE", "AE", "ACDE"]}
    assert fitness.blosum62(None, pb.EvalData(rows, ids=list("abc")))["score"].tolist() == [-19, -4, -4]
    with pytest.raises(pb.UsageError, match="'mutant'"):
        fitness.blosum62(None, pb.EvalData({"sequence": ["A"]}, ids=["x"]))
