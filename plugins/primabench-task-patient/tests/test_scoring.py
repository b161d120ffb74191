"""Scores of submissions: against scikit-learn, on real patients, partial, failed; the result file and comparisons."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from primabench_task_patient.baselines.embeddings import principal_components, random_vectors
from primabench_task_patient.scoring import compare, read_result, read_truth, score_submission, to_json
from primabench_task_patient.scoring import result_file as rf
from primabench_task_patient.scoring.probe import run_patient_probe
from primabench_task_patient.scoring.resampled import multiplicities, resampled_scores, seed_of, units_of
from primabench_task_patient.scoring.truth import TaskTruth
from primabench_task_patient.submitting import embed_all, open_inputs, write_submission
from scipy.stats import pearsonr
from sklearn.metrics import roc_auc_score

from primabench_core import ResultError, UsageError

WHEN = datetime(2026, 11, 29, 19, 30, tzinfo=UTC)
EXAMPLE = Path(__file__).parents[1] / "examples" / "scores.json"


@pytest.fixture(scope="module")
def pca(folder, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("pca") / "pca.csv"
    vectors = embed_all(open_inputs(folder / "inputs"), lambda c: principal_components(c.log_cpm, width=6))
    return write_submission(path, vectors)


@pytest.fixture(scope="module")
def scored(pca, truth):
    return score_submission(pca, truth, model="pca", organisation="Here", owner="me", submitted_at=WHEN, draws=300)


def by_task(document):
    return {score["task"]: score for score in document["scores"]}


def kinds(value):
    return {key: type(item) for key, item in value.items()}


class TestResultFile:
    def test_a_complete_submission(self, scored, truth):
        assert scored["complete"]
        assert scored["counts"] == {"scored": 3, "skipped": 0, "failed": 0}
        assert scored["submitted_at"] == "2026-11-29T19:30:00Z"
        scores = by_task(scored)
        assert list(scores) == sorted(scores)
        assert scores["t_endotype"]["value"] == scores["t_endotype"]["pooled"] > 0.8
        assert scores["t_endotype"]["class_counts"] == {"A": 30, "B": 30}
        assert scores["t_severity"]["n"] == 80
        assert scores["t_severity"]["n_units"] == 40
        assert scores["t_severity"]["interval"]["unit"] == "patient"
        assert scores["t_severity"]["folds"] == {"kind": "folds", "n": 5, "grouped": True, "stratified": True}
        assert scores["t_response"]["folds"]["kind"] == "split"
        assert scores["t_response"]["resolvable"] is False
        assert "not_resolvable" in scores["t_response"]["flags"]
        for score in scores.values():
            assert score["interval"]["low"] <= score["value"] <= score["interval"]["high"]
            assert score["probe"]["id"] == "linear-probe/1"
            assert len(score["probe"]["sha256"]) == len(score["hashes"]["labels_sha256"]) == 64

    def test_it_has_the_form_of_the_example(self, scored):
        example = json.loads(EXAMPLE.read_text())
        assert set(example) == set(scored)
        for name in ("model", "submission", "counts"):
            assert set(example[name]) == set(scored[name])
        for old, new in zip(example["scores"], scored["scores"], strict=True):
            assert set(old) == set(new)
            assert set(old["folds"]) == set(new["folds"])
            assert set(old["probe"]) == set(new["probe"])
            assert set(old["hashes"]) == set(new["hashes"])
            if old["interval"]:
                assert kinds(old["interval"]) == kinds(new["interval"])

    def test_nothing_private_is_in_it(self, scored, truth, folder):
        text = to_json(scored)
        assert str(folder) not in text
        assert not any(sample in text for task in truth.tasks.values() for sample in task.samples)
        assert "out_of_fold" not in text
        assert "NaN" not in text

    def test_writing_reading_writing_repeats_itself(self, scored, pca, truth, tmp_path):
        path = tmp_path / "r.json"
        path.write_text(to_json(scored))
        assert to_json(read_result(path)) == to_json(scored)
        again = score_submission(pca, truth, model="pca", organisation="Here", owner="me", submitted_at=WHEN, draws=300)
        assert to_json(again) == to_json(scored)

    @pytest.mark.parametrize(
        ("text", "named"),
        [("{", "cannot be read"), ("[]", "no result"), ('{"format": "primabench-patient-scores"}', "schema"),
         ('{"a": NaN}', "strict")],
    )  # fmt: skip
    def test_other_files_are_refused(self, tmp_path, text, named):
        (tmp_path / "r.json").write_text(text)
        with pytest.raises(ResultError, match=named):
            read_result(tmp_path / "r.json")

    def test_a_model_has_a_name_and_a_time_has_a_zone(self, pca, truth):
        with pytest.raises(UsageError, match="name"):
            score_submission(pca, truth, model="  ")
        with pytest.raises(UsageError, match="zone"):
            score_submission(pca, truth, model="x", submitted_at=WHEN.replace(tzinfo=None))


class TestScoring:
    def test_order_of_rows_padding_and_format_change_no_score(self, folder, truth, scored, tmp_path):
        vectors = embed_all(open_inputs(folder / "inputs"), lambda c: principal_components(c.log_cpm, width=6))
        turned = {
            name: (samples[::-1], np.hstack([np.full((len(v), 1), np.nan), v])[::-1])
            for name, (samples, v) in reversed(vectors.items())
        }
        again = score_submission(write_submission(tmp_path / "a.npz", turned), truth, model="x", draws=300)
        assert [s["pooled"] for s in again["scores"]] == [s["pooled"] for s in scored["scores"]]
        assert [s["hashes"] for s in again["scores"]] == [s["hashes"] for s in scored["scores"]]

    def test_what_is_missing_is_skipped_and_the_rest_scored(self, folder, truth, tmp_path):
        vectors = embed_all(open_inputs(folder / "inputs"), lambda c: principal_components(c.log_cpm, width=6))
        del vectors["d003"]
        vectors["d001"][1][7, 2] = np.inf
        document = score_submission(write_submission(tmp_path / "a.csv", vectors), truth, model="x", draws=0)
        scores = by_task(document)
        assert document["counts"] == {"scored": 1, "skipped": 2, "failed": 0}
        assert not document["complete"]
        assert scores["t_endotype"]["reason"] == "not_finite"
        assert scores["t_response"]["reason"] == "dataset_not_covered"
        assert scores["t_response"]["value"] is None
        assert scores["t_severity"]["interval"] is None

    def test_constant_embeddings(self, folder, truth, tmp_path):
        vectors = embed_all(open_inputs(folder / "inputs"), lambda c: np.ones((len(c.samples), 3)))
        scores = by_task(score_submission(write_submission(tmp_path / "a.csv", vectors), truth, model="x", draws=50))
        assert scores["t_response"]["value"] == 0.5
        assert scores["t_endotype"]["fold_mean"] == 0.5
        assert scores["t_severity"]["status"] == "skipped"  # intercepts of the folds differ, but that is no score
        assert scores["t_severity"]["reason"] == "constant_prediction"
        assert scores["t_severity"]["fold_mean"] is None

    @pytest.mark.parametrize("kind", [ValueError, IndexError, MemoryError])
    def test_a_fault_in_one_task_fails_that_task_alone(self, pca, truth, monkeypatch, kind):
        whole = run_patient_probe

        def fragile(state, **options):
            if options["task"] == "t_severity":
                raise kind("label of d002_s001 is 3")
            return whole(state, **options)

        monkeypatch.setattr(rf, "run_patient_probe", fragile)
        document = score_submission(pca, truth, model="x", draws=0)
        assert document["counts"] == {"scored": 2, "skipped": 0, "failed": 1}
        assert by_task(document)["t_severity"]["detail"] == f"scoring raised {kind.__name__}"

    def test_too_few_of_a_class_skip_the_task(self, truth):
        task = truth.tasks["t_response"]
        state = task.rows(np.ones((48, 2)))
        codes = np.zeros(48, np.int64)
        codes[np.flatnonzero(task.fields["role"].codes == 0)[:1]] = 1
        state.truth["label"].codes[:], kept = codes, state.truth["label"].codes.copy()
        try:
            outcome, found = run_patient_probe(state, task="t", draws=0)
        finally:
            state.truth["label"].codes[:] = kept
        assert outcome.reason == "too_few_items"
        assert found is None

    def test_values_are_those_of_independent_libraries(self, pca, truth, scored):
        from primabench_task_patient.submission import cover, read_submission

        vectors = cover(read_submission(pca), truth.datasets, truth.asked).vectors
        for name, metric in (("t_endotype", roc_auc_score), ("t_severity", lambda y, x: pearsonr(x, y)[0])):
            task = truth.tasks[name]
            _, found = run_patient_probe(task.rows(vectors[task.task.dataset].of(task.samples)), task=name, draws=0)
            answer = task.fields["label"].codes if "label" in task.fields else task.fields["value"]
            assert by_task(scored)[name]["pooled"] == pytest.approx(metric(answer, found.values[:, 0]), abs=1e-9)
            folds = task.fields["fold"].codes
            each = [metric(answer[folds == f], found.values[folds == f, 0]) for f in range(5)]
            assert by_task(scored)[name]["fold_mean"] == pytest.approx(np.mean(each), abs=1e-9)


class TestIntervals:
    def test_draws_follow_task_and_truth_and_no_embedding(self, truth):
        given = truth.tasks["t_severity"]
        state, other = (given.rows(random_vectors(given.samples, width=w)) for w in (2, 5))
        assert seed_of("t_severity", state) == seed_of("t_severity", other)
        assert seed_of("t_severity", state) != seed_of("t_other", state)
        turned = {**given.fields, "value": given.fields["value"][::-1].copy()}
        changed = TaskTruth(given.task, given.samples, turned, given.sha256).rows(
            random_vectors(given.samples, width=2)
        )
        assert seed_of("t_severity", state) != seed_of("t_severity", changed)

    @pytest.mark.parametrize("task", ["t_endotype", "t_severity"])
    def test_counted_resamples_are_the_resampled_rows(self, truth, task):
        given = truth.tasks[task]
        vectors = random_vectors(given.samples, width=4).round(1)  # ties
        state = given.rows(vectors)
        _, found = run_patient_probe(state, task=task, draws=0)
        units, strata = units_of(state, found.rows)
        times, n = multiplicities(units, strata, draws=30, seed=seed_of(task, state))
        assert n == len(set(units.tolist()))
        values = resampled_scores(state, found, times)
        for row, value in zip(times, values, strict=True):
            at = np.repeat(found.rows, row)
            if "label" in given.fields:
                expected = roc_auc_score(given.fields["label"].codes[at], found.values[at, 0])
                assert len(at) == len(found.rows)  # inside classes
            else:
                expected = pearsonr(found.values[at, 0], given.fields["value"][at])[0]
                assert all(len(set(row[units == u])) == 1 for u in set(units.tolist()))  # patients whole
            assert value == pytest.approx(expected, abs=1e-9)

    def test_several_classes(self, truth):
        from primabench_core.state.rows import Labels, Rows

        rng = np.random.default_rng(0)
        codes = rng.permutation(np.arange(60) % 3)
        fold = Labels(np.arange(60) // 3 % 4, (0, 1, 2, 3))
        order = np.argsort(codes, kind="stable")
        fold = Labels(np.empty(60, np.int64), (0, 1, 2, 3))
        fold.codes[order] = np.arange(60) % 4
        x = rng.standard_normal((60, 4)) + codes[:, None]
        state = Rows(60, {"embedding": x}, {"label": Labels(codes, ("a", "b", "c")), "fold": fold})
        outcome, found = run_patient_probe(state, task="t", draws=100)
        assert outcome.value == pytest.approx(
            np.mean([roc_auc_score(codes == c, found.values[:, c]) for c in range(3)]), abs=1e-12
        )
        assert outcome.values["interval"]["low"] < outcome.value < outcome.values["interval"]["high"]
        assert outcome.values["class_counts"] == {"a": 20, "b": 20, "c": 20}

    def test_one_patient_has_no_spread(self):
        times, n = multiplicities(np.zeros(4, np.int64), [""] * 4, draws=10, seed=0)
        assert (len(times), n) == (0, 1)


class TestCompare:
    def test_pairs_are_told_apart_where_they_differ(self, folder, truth, pca, tmp_path):
        noise = embed_all(open_inputs(folder / "inputs"), lambda c: random_vectors(c.samples, width=8))
        files = {"pca": pca, "again": pca, "noise": write_submission(tmp_path / "n.csv", noise)}
        found = {(d.task, d.a, d.b): d for d in compare(files, truth, draws=300)}
        assert len(found) == 9
        same = found["t_endotype", "pca", "again"]
        assert same.difference == 0
        assert same.p is None
        assert same.is_tied
        told = found["t_endotype", "pca", "noise"]
        assert told.test == "delong"
        assert told.difference > 0.2
        assert not told.is_tied
        assert told.adjusted >= told.p
        assert found["t_severity", "pca", "noise"].test == "paired_bootstrap"  # patients repeat
        assert found["t_response", "pca", "noise"].is_tied  # 16 samples tell nothing
        assert not found["t_response", "pca", "noise"].resolvable

    def test_one_is_no_comparison(self, truth, pca):
        with pytest.raises(UsageError, match="two"):
            compare({"a": pca}, truth)


class TestRealPatients:
    def test_both_fixtures_in_one_submission(self, real, tmp_path):
        truth = read_truth(real["folder"])
        vectors = {d: (real[d][0], principal_components(real[d][1], width=7)) for d in ("d001", "d002")}
        document = score_submission(write_submission(tmp_path / "a.csv", vectors), truth, model="pca", draws=200)
        scores = by_task(document)
        assert document["complete"], document["counts"]
        assert document["submission"]["width"] == {"d001": 7, "d002": 7}
        assert scores["t_endotype"]["value"] > 0.9  # the endotype was defined from this expression
        assert not scores["t_endotype"]["resolvable"]  # 20 samples
        assert scores["t_sledai"]["n"] == 91
        assert scores["t_sledai"]["folds"]["grouped"]
        assert scores["t_sledai"]["n_units"] < 91
        assert scores["t_renal"]["interval"]["unit"] == "patient"

    def test_no_patient_is_on_two_sides(self, real):
        for task in ("t_sledai", "t_renal"):
            columns = real["labels"][task]
            folds = {}
            for group, fold in zip(columns["group"], columns["fold"], strict=True):
                folds.setdefault(group, set()).add(fold)
            assert all(len(found) == 1 for found in folds.values())
            assert len(folds) < len(columns["group"])

    def test_visits_on_two_sides_are_refused(self, real, tmp_path):
        import shutil

        from primabench_task_patient.folds import make_folds
        from primabench_task_patient.scoring import RegistryError
        from primabench_task_patient.synthetic.folder import write_table

        place = Path(shutil.copytree(real["folder"], tmp_path / "truth"))
        columns = dict(real["labels"]["t_sledai"])
        columns["fold"] = make_folds(columns["sample_id"], values=columns["value"], folds=5)
        write_table(place / "t_sledai" / "labels.csv", list(columns), list(zip(*columns.values(), strict=True)))
        with pytest.raises(RegistryError, match="both sides"):
            read_truth(place)
