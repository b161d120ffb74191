"""Tasks end to end, through the public names: synthetic data, and real fixtures by the recipes' own --source path."""

from __future__ import annotations

import csv
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest
from primabench_task_genome.leaks import reverse_complement

import primabench_core as pb
from primabench_core.evaluation.baselines import predict_baseline
from primabench_core.evaluation.oracle import evaluate_oracle
from primabench_core.store import pins
from primabench_core.store.build import build_dataset

TASKS = {
    "variant_effect_classification": ("perfect", "random", "transversion", "codon_severity"),
    "variant_effect_regression": ("perfect", "random", "gc_change"),
    "sequence_classification": ("perfect", "majority", "random", "gc_logistic", "kmer_logistic"),
    "track_prediction": ("perfect", "random", "gc_linear"),
}
CLINVAR = "landrum_2018_nucleic_acids_research/clinvar_missense@1.0.0"
SPLICE = "noordewier_1991_advances_in_neural_information_processing_systems/primate_splice_junctions@1.0.0"
PROMOTERS = "harley_1987_nucleic_acids_research/ecoli_promoters@1.0.0"
NO_TATA = "dalla_torre_2025_nature_methods/promoter_no_tata@1.0.0"


def synthetic(task):
    return f"primabench_synthetic/{task}@1.0.0"


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """A store with all synthetic datasets; tests of the module share it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PRIMABENCH_STORE", str(tmp_path_factory.mktemp("store")))
        patch.setenv("PRIMABENCH_OFFLINE", "1")
        patch.setattr(pins, "_file_of_package", lambda spec: None)  # small files are not those that are pinned
        for task in TASKS:
            build_dataset(synthetic(task))
        yield patch


def scores(task, baseline, key=None, **options):
    key = key or synthetic(task)
    if baseline == "perfect":
        return evaluate_oracle(task, baseline, dataset=key, ci=None, **options)
    return pb.evaluate(task, predict_baseline(task, baseline, dataset=key), dataset=key, ci=None, **options)


@pytest.mark.parametrize("task", TASKS)
def test_baselines_rank_as_they_should(store, task):
    primary = {name: next(iter(scores(task, name).scores.values())) for name in TASKS[task]}
    best = TASKS[task][-1]
    assert primary["perfect"] == 1.0
    assert primary["perfect"] > primary[best] > primary["random"] + 0.2


@pytest.mark.parametrize("task", TASKS)
def test_shards_pickles_and_order_change_no_bit(store, task):
    predictions = predict_baseline(task, "random", dataset=synthetic(task))
    whole = pb.evaluate(task, predictions, dataset=synthetic(task), ci=None)
    run = pb.Evaluation(task, dataset=synthetic(task))
    for part in np.array_split(np.random.default_rng(0).permutation(predictions.n), 5):
        run.update(predictions=predictions.select(part))
        run = pickle.loads(pickle.dumps(run))
    assert run.compute().scores_hash == whole.scores_hash


@pytest.mark.parametrize("task", ["variant_effect_classification", "variant_effect_regression"])
def test_variants_are_test_only(store, task):
    with pytest.raises(pb.PrimaBenchError) as caught:
        pb.fetch_data(task=task, dataset=synthetic(task))
    assert isinstance(caught.value, KeyError)
    test = pb.load(pb.fetch_test(task=task, dataset=synthetic(task)), task=task, split="test")
    assert {"chrom", "pos", "ref", "alt", "window"} <= set(test.fields)
    assert not {"label", "value", "significant"} & set(test.fields)
    assert all(w[len(w) // 2] == r for w, r in zip(test["window"], test["ref"], strict=True))


def test_a_duplicated_variant_is_refused(store):
    task = "variant_effect_classification"
    found = predict_baseline(task, "random", dataset=synthetic(task))
    twice = found.select([*range(found.n), 0])
    with pytest.raises(pb.ContractError, match=str(found.ids[0])):
        pb.evaluate(task, twice, dataset=synthetic(task))


def test_calibration_is_scored_when_probabilities_come(store):
    task = "variant_effect_classification"
    found = predict_baseline(task, "codon_severity", dataset=synthetic(task))
    p = np.asarray(found["score"]) / 250
    both = pb.EvalData({"score": found["score"], "probability": np.column_stack([1 - p, p])}, ids=found.ids,
                       coords={"classes": (0, 1)})  # fmt: skip
    panel = pb.evaluate(task, both, dataset=synthetic(task), ci=None).scores
    assert panel == pb.evaluate(task, found, dataset=synthetic(task), ci=None).scores
    wanted = ["brier_score", "expected_calibration_error", "log_loss"]
    assert all(v > 0 for v in pb.evaluate(task, both, dataset=synthetic(task), metrics=wanted, ci=None).scores.values())


def test_intervals_resample_chromosomes_and_regions(store):
    result = pb.evaluate(
        "variant_effect_classification",
        predict_baseline(
            "variant_effect_classification", "codon_severity", dataset=synthetic("variant_effect_classification")
        ),
        dataset=synthetic("variant_effect_classification"),
    )
    assert result["auroc"].interval.unit == "chromosome"
    assert result["auroc"].interval.low < result["auroc"].value < result["auroc"].interval.high
    assert result["average_precision"].values["prevalence"] < result["average_precision"].value
    assert result["auprc_by_chrom_weighted_average"].values["standard_error"] > 0
    assert 0 < result["average_precision_standard_error"].value < 0.2
    within = result["mcc_at_prevalence_mean_over_genes"]
    assert within.per_unit.keys() == result["auroc_mean_over_genes"].per_unit.keys()
    assert 0 < within.value < 1


def sequences(key=None):
    train, test = pb.fetch_data(task="sequence_classification", dataset=key or synthetic("sequence_classification"))
    return (pb.load(p, task="sequence_classification", split=s) for p, s in ((train, "train"), (test, "test")))


def test_an_embedding_is_scored_by_the_linear_probe(store):
    task, key = "sequence_classification", synthetic("sequence_classification")
    _, test = sequences()
    counts = np.asarray([[s.count(m) for m in ("TATAAA", "GGCCAA", "A", "C")] for s in test["sequence"]], np.float64)
    told = pb.EvalData({"embedding": counts}, ids=test.ids)
    noise = pb.EvalData({"embedding": np.random.default_rng(0).normal(0, 1, (test.n, 4))}, ids=test.ids)
    found = [pb.evaluate(task, d, dataset=key, metrics=["linear_probe"], ci=None) for d in (told, noise)]
    assert [result["leaked_share"].value for result in found] == [0.0, 0.0]
    found = [result["linear_probe"] for result in found]
    assert found[0].value > 0.8 > 0.65 > found[1].value
    assert len(found[0].per_unit) == 10


def test_class_scores_are_scored_as_they_are(store):
    task, key = "sequence_classification", synthetic("sequence_classification")
    _, test = sequences()
    guess = np.asarray(
        [[1 + 8 * ("TATAAATG" in s), 1 + 8 * ("GGCCAATC" in s), 1] for s in test["sequence"]], np.float64
    )
    given = pb.EvalData({"probability": guess / guess.sum(1, keepdims=True)}, ids=test.ids,
                        coords={"classes": ("alpha", "beta", "none")})  # fmt: skip
    found = pb.evaluate(task, given, dataset=key, metrics=["auroc_ovr_macro", "log_loss"], ci=None)
    assert list(found.scores) == ["auroc_ovr_macro", "log_loss", "leaked_share"]
    assert found.scores["auroc_ovr_macro"] > 0.9


def test_train_rows_carry_ten_folds_and_test_rows_no_answer(store):
    train, test = sequences()
    assert sorted(set(np.asarray(train["fold"]).tolist())) == list(range(10))
    assert set(test.fields) == {"sequence"}
    assert test.coords["classes"] == ("alpha", "beta", "none")


# -- real fixtures -----------------------------------------------------------------------------------------------------


def rows_of(path: Path):
    with path.open() as stream:
        return list(csv.DictReader(stream))


def zipped(path, member, lines):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(member, "\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="module")
def clinvar(store, real, tmp_path_factory):
    """ClinVar's mitochondrial missense variants, built by the recipe of all ClinVar missense variants."""
    folder = real / "variant_effect/clinvar_mt_missense"
    text = (folder / "clinvar_mt_missense.vcf").read_text()
    text = text.replace("GENE=", "CLNREVSTAT=criteria_provided;MC=SO:0001583|missense_variant;GENEINFO=")
    path = tmp_path_factory.mktemp("vcf") / "clinvar.vcf"
    path.write_text(text)
    build_dataset(CLINVAR, sources={"clinvar.vcf.gz": path, "genome.fa.gz": folder / "NC_012920.1_MT.fa"})
    return folder


def test_clinvar_is_the_default_and_its_windows_are_cut_again_from_the_genome(clinvar):
    task = "variant_effect_classification"
    test = pb.load(pb.fetch_test(task=task), task=task, split="test")
    assert test.n == 473
    assert not {"label", "significance", "review"} & set(test.fields)
    found = pb.get_sequences(test, clinvar / "NC_012920.1_MT.fa", 513, circular="MT")
    assert found.ref_seq.tolist() == np.asarray(test["window"]).tolist()


def test_stand_ins_on_clinvar_are_near_chance_and_say_so(clinvar):
    task = "variant_effect_classification"
    severity, chance = (pb.evaluate(task, predict_baseline(task, b), ci=None) for b in ("codon_severity", "random"))
    assert 0.4 < severity.scores["auroc"] < 0.65  # all variants are missense: distance alone tells little
    assert 0.4 < chance.scores["auroc"] < 0.6
    assert severity["average_precision"].values["prevalence"] == 43 / 473
    assert severity["auprc_by_chrom_weighted_average"].values["standard_error"] is None  # one chromosome
    assert severity["auroc_mean_over_genes"].coverage is not None
    assert evaluate_oracle(task, "perfect", ci=None).scores["mcc_at_prevalence"] == 1.0


@pytest.fixture(scope="module")
def splice(store, real, tmp_path_factory):
    rows = rows_of(real / "genomics/splice_primate_uci/splice_primate_uci.csv")
    lines = [f"{r['label'].upper()}, GENE{i}-X-{i}, {r['sequence']}" for i, r in enumerate(rows)]
    build_dataset(
        SPLICE, sources={"splice.zip": zipped(tmp_path_factory.mktemp("uci") / "s.zip", "splice.data", lines)}
    )
    return SPLICE


@pytest.fixture(scope="module")
def promoters(store, real, tmp_path_factory):
    rows = rows_of(real / "genomics/ecoli_promoters_uci106/ecoli_promoters_uci106.csv")
    lines = [f"{'-+'[int(r['label'])]},S{i},\t\t{r['sequence'].lower()}" for i, r in enumerate(rows)]
    path = zipped(tmp_path_factory.mktemp("uci") / "p.zip", "promoters.data", lines)
    build_dataset(PROMOTERS, sources={"promoters.zip": path})
    return PROMOTERS


@pytest.fixture(scope="module")
def no_tata(store, real, tmp_path_factory):
    """Human promoters without TATA box in the layout of the revised tasks; some test rows leak."""
    rows = rows_of(real / "genomics/human_nontata_promoters/human_nontata_promoters.csv")
    train, test = rows[::2], rows[1::2]
    test = [dict(r) for r in test]
    for i in range(0, 20, 2):
        test[i]["sequence"], test[i]["label"] = train[i]["sequence"], train[i]["label"]
        test[i + 1]["sequence"] = reverse_complement(train[i + 1]["sequence"])
        test[i + 1]["label"] = train[i + 1]["label"]
    folder, given = tmp_path_factory.mktemp("nt"), {}
    for split, part in (("train", train), ("test", test)):
        path = folder / f"{split}.fna"
        path.write_text("".join(f">place_{i}|{r['label']}\n{r['sequence']}\n" for i, r in enumerate(part)))
        given[path.name] = path
    build_dataset(NO_TATA, sources=given)
    return NO_TATA


@pytest.mark.parametrize("name", ["splice", "promoters", "no_tata"])
def test_the_kmer_baseline_is_above_chance(request, name):
    key = request.getfixturevalue(name)
    task = "sequence_classification"
    found = pb.evaluate(task, predict_baseline(task, "kmer_logistic", dataset=key), dataset=key, metrics=["mcc"])
    assert found["mcc"].interval.low > 0


def test_composition_alone_is_below_kmers_on_splice_sites(splice):
    task = "sequence_classification"
    composition, kmers = (scores(task, b, splice).scores["mcc"] for b in ("gc_logistic", "kmer_logistic"))
    assert composition < kmers


def test_leaks_stand_in_the_result_and_the_clean_score_beside_it(no_tata):
    task = "sequence_classification"
    found = scores(task, "kmer_logistic", no_tata)
    assert found["leaked_share"].values["n_exact"] == 10
    assert found["leaked_share"].values["n_reverse_complement"] == 10
    assert found["mcc_without_leaks"].n == 750 - round(found["leaked_share"].value * 750)


def test_leaks_stand_beside_every_form_of_prediction_without_being_asked_for(no_tata):
    task = "sequence_classification"
    test = list(sequences(no_tata))[1]
    classes = tuple(test.coords["classes"])
    rng = np.random.default_rng(0)
    forms = {
        "accuracy": pb.EvalData({"label": np.asarray([classes[0]] * test.n, object)}, ids=test.ids),
        "log_loss": pb.EvalData(
            {"probability": np.full((test.n, len(classes)), 1 / len(classes))},
            ids=test.ids,
            coords={"classes": classes},
        ),
        "knn_probe": pb.EvalData({"embedding": rng.normal(0, 1, (test.n, 3))}, ids=test.ids),
    }
    for metric, given in forms.items():
        found = pb.evaluate(task, given, dataset=no_tata, metrics=[metric], ci=None)
        kinds = found["leaked_share"].values
        assert (kinds["n_exact"], kinds["n_reverse_complement"]) == (10, 10)
        assert found["leaked_share"].value == sum(kinds.values()) / test.n
        again = pb.evaluate(task, given, dataset=no_tata, metrics=["leaked_share", metric], ci=None)
        assert len(again.scores) == 2


def test_genes_and_copies_are_not_parted(splice):
    train, test = sequences(splice)
    assert not set(train["gene"]) & set(test["gene"])
    turned = {reverse_complement(s) for s in train["sequence"]}
    assert not set(test["sequence"]) & (set(train["sequence"]) | turned)
    assert 0.15 < test.n / (train.n + test.n) < 0.25
