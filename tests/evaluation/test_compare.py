"""Two models on the same units: the right test, on the right pairs, and nothing else."""

import attrs
import numpy as np
import pytest

import primabench_core as pb
from primabench_core.errors import UsageError

RNG = np.random.default_rng(11)
N = 150
Y = RNG.integers(0, 2, N)
GOOD = Y + RNG.normal(0, 0.6, N)
POOR = Y + RNG.normal(0, 2.0, N)
IDS = [f"u{i}" for i in range(N)]
TRUTH = {"label": Y, "ids": IDS, "classes": [0, 1]}
METRICS = ["auroc", "accuracy", "log_loss", "mcc", "average_precision"]


def model(score, order=None):
    order = np.arange(N) if order is None else order
    p = 1 / (1 + np.exp(-(score - 0.5)))
    return {
        "score": score[order],
        "label": (score > 0.5).astype(int)[order],
        "probability": np.stack([1 - p, p], 1)[order],
        "classes": [0, 1],
        "ids": [IDS[i] for i in order],
    }


def result(score, name):
    run = pb.stream(METRICS, truth=TRUTH, labels={"model_name": name})
    run.update(predictions=model(score))
    return run.compute()


@pytest.fixture(scope="module")
def found():
    return pb.compare(model(GOOD), model(POOR), truth=TRUTH, metrics=METRICS, names=("good", "poor"), draws=300)


def test_each_metric_is_tested_as_it_declares(found):
    delong = pb.statistics.delong(score_a=GOOD, score_b=POOR, label=Y)
    assert found["auroc"].test == "delong"
    assert found["auroc"].p == delong.p
    assert found["auroc"].low < delong.values["difference"] < found["auroc"].high
    labels = [(s > 0.5).astype(int) for s in (GOOD, POOR)]
    assert found["accuracy"].p == pb.statistics.mcnemar_exact(label_a=labels[0], label_b=labels[1], label=Y).p
    loss = [-np.log(model(s)["probability"][np.arange(N), Y]) for s in (GOOD, POOR)]
    assert found["log_loss"].test == "wilcoxon"
    assert found["log_loss"].p == pytest.approx(pb.statistics.wilcoxon_paired(value_a=loss[0], value_b=loss[1]).p)
    assert found["mcc"].test == "bootstrap"
    assert all(d.low < d.difference < d.high for d in found.differences)
    assert found.verdict(found["auroc"]) == "good better"
    assert found["auroc"].adjusted >= found["auroc"].p


def test_order_and_form_of_the_predictions_change_no_bit(found):
    order = RNG.permutation(N)
    again = pb.compare(
        model(GOOD, order), model(POOR, order[::-1]), truth=TRUTH, metrics=METRICS, names=("good", "poor"), draws=300
    )
    assert again == found


def test_results_and_their_predictions_give_the_same(found, tmp_path):
    a, b = result(GOOD, "good"), result(POOR, "poor")
    paths = a.save(tmp_path / "a.json"), b.save(tmp_path / "b.json")
    again = pb.compare(*paths, predictions=(model(GOOD), model(POOR)), truth=TRUTH, draws=300)
    assert again == found
    some = pb.compare(a, b, predictions=(model(GOOD), model(POOR)), truth=TRUTH, metrics=["mcc"], draws=300)
    assert [d.metric for d in some.differences] == ["mcc"]
    assert some["mcc"].p == found["mcc"].p
    assert pb.compare(a, b)["mcc"].reason == "needs the predictions"


def test_predictions_of_another_result_are_refused():
    a, b = result(GOOD, "good"), result(POOR, "poor")
    with pytest.raises(UsageError, match="not the predictions"):
        pb.compare(a, b, predictions=(model(POOR), model(GOOD)), truth=TRUTH)
    with pytest.raises(UsageError, match="not the one of the result"):
        pb.compare(a, b, predictions=(model(GOOD), model(POOR)), truth={**TRUTH, "label": 1 - Y})
    with pytest.raises(UsageError, match="pass truth"):
        pb.compare(a, b, predictions=(model(GOOD), model(POOR)))
    with pytest.raises(UsageError, match="not comparable"):
        pb.compare(a, attrs.evolve(b, truth_sha256="f" * 64), predictions=(model(GOOD), model(POOR)), truth=TRUTH)
    with pytest.raises(UsageError, match="two results"):
        pb.compare(a, model(POOR))
    with pytest.raises(UsageError, match="task= or truth="):
        pb.compare(model(GOOD), model(POOR))


def test_a_model_against_itself_shows_nothing():
    same = pb.compare(model(GOOD), model(GOOD), truth=TRUTH, metrics=METRICS)
    assert all(d.p is None and same.verdict(d) == "the predictions are identical" for d in same.differences)


def test_units_that_are_not_independent_are_resampled_together(solutions):
    right = {f"cell{i}": "canary_class_7f3a" if i % 3 == 0 else "plain" for i in range(40)}
    wrong = dict.fromkeys(right, "plain")
    a, b = ({"ids": list(m), "label": list(m.values())} for m in (right, wrong))
    found = pb.compare(a, b, task="toy_cells", draws=200)
    assert found["toy_hits"].test == "bootstrap"
    assert found["toy_hits"].low > 0
    assert "picky" in found["toy_picky"].reason  # it declares that nothing may be resampled
    assert "canary" not in repr(found)
    assert found.task == "toy_cells"


def test_gaps_are_refused(solutions):
    part = {"ids": ["cell0"], "label": ["plain"]}
    with pytest.raises(pb.CoverageError):
        pb.compare(part, part, task="toy_cells")


def test_a_metric_of_another_library_is_tested_with_the_function_at_hand():
    sk = pytest.importorskip("sklearn.metrics")
    metric = pb.foreign.from_sklearn(
        sk.f1_score, name="sk_f1", prediction="label", truth="label", direction="higher", low=0.0, high=1.0
    )
    a, b = ({"label": model(s)["label"], "ids": IDS} for s in (GOOD, POOR))
    found = pb.compare(a, b, truth=TRUTH, metrics=["accuracy", metric], draws=50)
    assert found["sk_f1"].p is not None


def test_undefined_on_one_side_has_no_test():
    one = {"label": np.ones(40, int)}
    undefined = pb.compare({"label": [1] * 40}, {"label": [1] * 39 + [0]}, truth=one, metrics=["mcc"], draws=50)
    assert undefined["mcc"].p is None
    assert undefined["mcc"].reason.startswith("undefined")
