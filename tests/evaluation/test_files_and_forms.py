"""Forms that predictions, labels and arrays may come in, and what is said of those they may not."""

from __future__ import annotations

import re

import numpy as np
import pytest

import primabench_core as pb
from primabench_core.store.prediction_files import read_predictions

IDS = [f"c{i}" for i in range(40)]
TRUTH = {"ids": IDS, "label": ["B", "T"] * 20}
GOOD = ["B", "T"] * 20


@pytest.fixture
def write(tmp_path):
    def _write(labels, name="good.csv", header="ids", ids=IDS):
        path = tmp_path / name
        rows = [f"{i},{label}" for i, label in zip(ids, labels, strict=True)]
        path.write_text("\n".join([f"{header},label", *rows]))
        return path

    return _write


def run():
    return pb.stream(["accuracy"], TRUTH)


@pytest.mark.parametrize("form", [str, lambda path: path])
def test_a_path_is_read_as_a_prediction_file(write, form):
    one, two, three = run(), run(), run()
    one.update(predictions=form(write(GOOD)))
    two.update(form(write(GOOD)))
    three.update({"ids": IDS, "label": GOOD})
    assert one.compute().scores_hash == two.compute().scores_hash == three.compute().scores_hash
    assert pb.score("accuracy", form(write(GOOD)), TRUTH).value == 1.0


def test_a_path_that_is_no_file_is_refused_by_name(tmp_path):
    with pytest.raises(pb.MissingDataError, match=r"no such file.*gone\.csv"):
        run().update(tmp_path / "gone.csv")
    with pytest.raises(pb.UsageError, match="no prediction file"):
        run().update("model.pkl")


def test_rows_of_a_file_without_ids_get_the_advice_for_files(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text("label\n" + "\n".join(GOOD))
    evaluation = run()
    with pytest.raises(pb.ContractError) as caught:
        evaluation.update(path)
    assert "40 rows without ids in p.csv" in str(caught.value)
    assert "--map ids=COLUMN" in str(caught.value)
    assert "positions" not in str(caught.value)
    with pytest.raises(pb.ContractError, match="pass ids=, or positions=") as caught:
        evaluation.update(label=GOOD)
    assert "--map" not in str(caught.value)
    with pytest.raises(pb.ContractError, match="--map ids=COLUMN"):
        evaluation.update(read_predictions(path, evaluation._request.contract))
    evaluation.update(path, ids=IDS)
    assert evaluation.coverage == 1


def test_a_wrong_guess_of_ids_is_refused_with_what_was_read(write):
    with pytest.raises(pb.ContractError, match="d0"):
        run().update(write(GOOD, header="cell", ids=[f"d{i}" for i in range(40)]))
    evaluation = run()
    evaluation.update(write(GOOD, header="cell"))
    assert evaluation.coverage == 1


def test_compare_takes_paths_and_names_models_by_their_files(write, tmp_path):
    good, poor = write(GOOD), write(["B"] * 40, "poor.csv")
    found = pb.compare(good, str(poor), truth=TRUTH, metrics=["accuracy"], draws=20)
    assert (found.a, found.b, found["accuracy"].better(0.95)) == ("good", "poor", "a")
    paths = []
    for path in (good, poor):
        evaluation = run()
        evaluation.update(path)
        paths.append(evaluation.compute().save(tmp_path / f"{path.stem}.json"))
    again = pb.compare(*paths, predictions=(good, poor), truth=TRUTH, draws=20)
    assert again["accuracy"].p == found["accuracy"].p
    with pytest.raises(pb.UsageError, match=r"predictions=\(…, …\)"):
        pb.compare(paths[0], poor, truth=TRUTH)


def test_a_comparison_prints_as_a_table_and_shows_itself_in_one_line(write):
    found = pb.compare(write(GOOD), write(["B"] * 40, "poor.csv"), truth=TRUTH, metrics=["accuracy"], draws=20)
    assert re.search(r"accuracy .* good$", str(found), re.MULTILINE)
    assert "corrected by Holm" in str(found)
    assert max(map(len, str(found).splitlines())) <= 80
    assert repr(found) == "Comparison(good against poor; of 1 metrics differ: 1 for good, 0 for poor, 0 neither)"


@pytest.mark.parametrize(("value", "text"), [(100, "100"), (0.5, "0.5"), (np.int64(3), "3"), ("x", "x")])
def test_numbers_in_labels_are_kept_as_text(value, text):
    evaluation = pb.stream(["accuracy"], TRUTH, labels={"step": value})
    evaluation.update({"ids": IDS, "label": GOOD})
    result = evaluation.compute()
    assert result.labels["step"] == text
    assert result.with_labels(epoch=value).labels["epoch"] == text


@pytest.mark.parametrize("labels", [{"step": True}, {"step": None}, {"step": [1]}, {1: "x"}])
def test_other_labels_are_refused_with_what_to_write(labels):
    with pytest.raises(pb.UsageError, match=r"Next: labels=\{"):
        pb.stream(["accuracy"], TRUTH, labels=labels)


@pytest.mark.parametrize(
    ("prediction", "truth"),
    [(np.array([0.1, 0.9]), {"label": [0, 1]}), ({"score": [0.1, 0.9]}, [0, 1]), ([0.1, 0.9], np.array([0, 1]))],
)
def test_a_bare_array_is_told_its_field_and_the_call(prediction, truth):
    with pytest.raises(pb.UsageError) as caught:
        pb.score("auroc", prediction, truth)
    assert "'score' or 'probability' of the prediction and 'label' of the truth" in str(caught.value)
    assert 'pb.score("auroc", {"score": …}, {"label": …})' in str(caught.value)


def test_numbers_of_classes_against_names_are_told_the_remedy():
    with pytest.raises(pb.ContractError, match=r"map class numbers to names.*coords\['classes'\] of the test data"):
        run().update(ids=IDS, label=[0, 1] * 20)


def test_unknown_labels_are_counted_where_a_reader_looks():
    evaluation = run()
    evaluation.update(ids=IDS, label=[*GOOD[:38], "NK", "DC"])
    result = evaluation.compute()
    assert result["accuracy"].values["n_unknown_labels"] == 2
    assert "2 unknown labels" in str(result)
    assert "unknown_labels" not in str(result)
    assert "NK" not in str(result)
