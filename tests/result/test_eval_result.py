import os
import pickle
import subprocess
import sys

import attrs
import pytest

from primabench_core.errors import ResultError, UnknownNameError
from primabench_core.result import EvalResult, Interval, MetricResult


def test_looking_up(result):
    assert result["accuracy"].value == 0.75
    assert result.scores == {"accuracy": 0.75, "macro_f1": 0.1 + 0.2, "auroc": None, "silhouette_label": 0.2}
    assert [r.name for r in result] == list(result.scores)
    assert len(result) == 4
    assert "auroc" in result
    assert "mcc" not in result
    with pytest.raises(UnknownNameError, match="Did you mean 'accuracy'"):
        result["acuracy"]
    with pytest.raises(KeyError):
        result["acuracy"]


def test_one_metric_with_two_parameters_has_two_keys():
    made = EvalResult.make(
        results=[MetricResult(name="recall_at_k", value=0.25, params={"k": k, "ties": "mean"}) for k in (5, 10)],
        n_units=3,
    )
    assert made.scores == {"recall_at_k{k: 5}": 0.25, "recall_at_k{k: 10}": 0.25}
    assert made["recall_at_k{k: 10}"].params["k"] == 10
    with pytest.raises(UnknownNameError):
        made["recall_at_k"]


def test_what_cannot_be_a_result(result):
    with pytest.raises(ValueError, match="at least one"):
        attrs.evolve(result, results=())
    with pytest.raises(ValueError, match="twice"):
        attrs.evolve(result, results=(result["auroc"], result["auroc"]))
    with pytest.raises(ValueError, match="reason"):
        attrs.evolve(result, predictions_sha256="")
    with pytest.raises(ValueError, match="text"):
        attrs.evolve(result, labels={"step": 3})
    with pytest.raises(ValueError, match="request hash"):
        EvalResult.make(results=result.results, n_units=1, request_hash="0" * 64)


def test_labels_change_no_hash(result):
    labelled = result.with_labels(artifact_id="x")
    assert labelled.labels == {**result.labels, "artifact_id": "x"}
    assert labelled.record_hash == result.record_hash
    assert EvalResult.make(results=result.results, n_units=1).model == "model"
    assert labelled.model == "small <b>model</b>"


def test_save_and_load(result, tmp_path):
    path = result.save(tmp_path / "run.json")
    assert EvalResult.load(path) == result
    assert EvalResult.load(str(path)) == result
    before = path.read_bytes()
    with pytest.raises(ResultError, match="exists already"):
        result.save(path)
    assert result.save(path, overwrite=True).read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["run.json"]
    assert pickle.loads(pickle.dumps(result)) == result


def test_saving_leaves_nothing_partial(result, tmp_path, monkeypatch):
    path = result.save(tmp_path / "run.json")
    before = path.read_bytes()

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ResultError, match="No space left"):
        result.with_labels(x="y").save(path, overwrite=True)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["run.json"]


def test_places_that_cannot_be_written_or_read(result, tmp_path):
    with pytest.raises(ResultError, match="folder does not exist"):
        result.save(tmp_path / "absent" / "run.json")
    with pytest.raises(ResultError, match="no such file"):
        EvalResult.load(tmp_path / "absent.json")
    with pytest.raises(ResultError, match="cannot be read"):
        EvalResult.load(tmp_path)
    (tmp_path / "list.json").write_text("[1, 2]")
    with pytest.raises(ResultError, match=r"list\.json holds no EvalResult"):
        EvalResult.load(tmp_path / "list.json")
    from primabench_core.result import to_json

    (tmp_path / "metric.json").write_text(to_json(result["auroc"]), encoding="utf-8")
    with pytest.raises(ResultError, match="MetricResult"):
        EvalResult.load(tmp_path / "metric.json")


def test_to_pandas(result):
    frame = result.to_pandas()
    assert frame["metric"].tolist() == list(result.scores)
    assert frame.loc[0, ["value", "low", "high", "n"]].tolist() == [0.75, 0.7, 0.8, 40]
    assert frame["value"].isna().tolist() == [False, False, True, False]
    assert frame.loc[2, "reason"] == "single_class"


def test_the_table_fits_eighty_columns_and_shows_markup_as_text(result):
    text = str(result.with_labels(model_name="[red]m[/red] " + "long " * 30))
    assert max(map(len, text.splitlines())) <= 80
    assert "[red]m[/red]" in text
    assert "[0.7000, 0.8000]" in text
    assert "single_class" in text
    assert "0.0000" not in text.split("auroc")[1].splitlines()[0]
    synthetic = attrs.evolve(result, synthetic=True)
    assert "SYNTHETIC" in str(synthetic)
    assert "accuracy=0.75" in repr(result)


def test_the_package_is_light():
    """Looking at a hash or reading a name loads no array library."""
    code = (
        "import sys, primabench_core.result as r; r.EvalResult, r.content_hash, r.to_json; "
        "sys.exit(','.join(m for m in ('torch','numpy','pandas','cattrs','rich') if m in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.strip() == ""


def test_a_reason_without_an_interval_stands_once_under_the_table():
    absent = Interval(low=None, high=None, method="none", reason="a row drawn twice agrees with itself")
    results = [MetricResult(name=n, value=0.5, n=4, interval=absent) for n in ("ari", "nmi")]
    results.append(MetricResult(name="accuracy", value=0.5, n=4, values={"n_unknown_labels": 1}))
    text = str(EvalResult.make(results=results, n_units=4))
    assert text.count("drawn twice") == 1
    assert "no interval: ari, nmi: a row drawn twice agrees with itself" in text
    assert "1 unknown label" in text
    assert "unknown labels" not in text
