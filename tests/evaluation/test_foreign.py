"""Metrics of other libraries: their numbers, on our rows, without a way to the solution."""

import pickle
import warnings

import numpy as np
import pytest

import primabench_core as pb
from primabench_core.errors import ParameterError, UsageError
from primabench_core.spec import Field

sk = pytest.importorskip("sklearn.metrics")

RNG = np.random.default_rng(3)
N = 120
Y = RNG.integers(0, 3, N)
P = np.where(RNG.random(N) < 0.7, Y, RNG.integers(0, 3, N))
NAMES = np.array(["T cell", "B cell", "NK cell"], object)  # not in sorted order, on purpose
PROBABILITY = RNG.dirichlet([1, 1, 1], N)


def f_beta(**more):
    options = {
        "name": "sklearn_fbeta",
        "prediction": "label",
        "truth": "label",
        "direction": "higher",
        "params": {"beta": 2, "average": "macro"},
        **more,
    }
    return pb.foreign.from_sklearn(sk.fbeta_score, **options)


def own_accuracy(truth, prediction):
    return float((truth == prediction).mean())


def own(function, **more):
    options = {"name": "own", "prediction": "label", "truth": "label", "direction": "higher", **more}
    return pb.foreign.from_sklearn(function, **options)


@pytest.mark.parametrize("labels", [np.array([0, 1, 2]), NAMES], ids=["integers", "text"])
def test_it_is_the_number_of_the_library_and_says_so(labels):
    found = pb.score(f_beta(), {"label": labels[P]}, {"label": labels[Y]})
    assert found.value == sk.fbeta_score(Y, P, beta=2, average="macro")
    assert found.foreign
    assert found.libraries == {"scikit-learn": __import__("sklearn").__version__}
    assert dict(found.params) == {"beta": 2, "average": "macro"}
    assert (found.reproducibility, found.distribution) == ("tolerance", "scikit-learn")


def test_it_stands_beside_names_in_a_stream_and_after_a_pickle():
    run = pb.stream(["accuracy", f_beta()], truth={"label": Y})
    order = RNG.permutation(N)
    for part in np.array_split(order, 7):
        run.update(positions=part, label=P[part])
    run = pickle.loads(pickle.dumps(run))
    result = run.compute(ci=0.9)
    assert result["sklearn_fbeta"].value == sk.fbeta_score(Y, P, beta=2, average="macro")
    assert result["sklearn_fbeta"].interval.low < result["sklearn_fbeta"].value
    assert not result["accuracy"].foreign
    assert "scikit-learn" in result.packages
    again = type(result).load(result.save(__import__("tempfile").mkdtemp() + "/r.json"))
    assert again["sklearn_fbeta"].foreign
    assert run.merge(pb.stream(["accuracy", f_beta()], truth={"label": Y})).n_seen == N


def test_probability_columns_come_in_the_order_the_library_assumes():
    loss = pb.foreign.from_sklearn(
        sk.log_loss, name="sklearn_log_loss", prediction="probability", truth="label", direction="lower", low=0.0
    )
    truth = {"label": NAMES[Y], "classes": list(NAMES)}
    ours = pb.score(loss, {"probability": PROBABILITY, "classes": list(NAMES)}, truth).value
    assert ours == pytest.approx(float(-np.log(PROBABILITY[np.arange(N), Y]).mean()), rel=1e-12)
    # a class that does not occur in the truth is still a column
    absent = {"label": NAMES[np.minimum(Y, 1)], "classes": list(NAMES)}
    assert pb.score(loss, {"probability": PROBABILITY, "classes": list(NAMES)}, absent).status == "ok"


def test_a_scorer_keeps_its_sign_and_its_parameters():
    scorer = sk.make_scorer(sk.fbeta_score, beta=0.5, average="micro", greater_is_better=False)
    metric = own(scorer, name="loss")
    found = pb.score(metric, {"label": P}, {"label": Y})
    assert found.value == -sk.fbeta_score(Y, P, beta=0.5, average="micro")
    assert dict(found.params) == {"beta": 0.5, "average": "micro"}
    with pytest.raises(UsageError, match="higher is better"):
        own(scorer, name="loss", direction="lower")


def test_what_the_library_cannot_say_is_undefined_or_failed_and_never_a_number():
    auroc = pb.foreign.from_sklearn(
        sk.roc_auc_score, name="sk_auroc", prediction="score", truth="label", direction="higher", low=0.0, high=1.0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        single = pb.score(auroc, {"score": [0.1, 0.2, 0.3]}, {"label": [1, 1, 1]})
    assert (single.value, single.status) == (None, "undefined")
    assert "UndefinedMetricWarning" in single.flags
    three = pb.score(auroc, {"score": RNG.random(N)}, {"label": Y})  # needs multi_class: the library raises
    assert (three.status, three.reason) == ("failed", "raised")
    vector = pb.score(f_beta(params={"beta": 1, "average": None}), {"label": P}, {"label": Y})
    assert vector.status == "failed"
    assert "choose an average" in vector.detail
    nan = pb.score(own(lambda t, p: float("nan")), {"label": P}, {"label": Y})
    assert (nan.status, nan.reason) == ("failed", "numerical_failure")
    empty = pb.score(f_beta(), {"label": np.array([], int)}, {"label": np.array([], int)})
    assert empty.reason == "too_few_items"


def test_a_function_that_writes_into_its_input_harms_nobody():
    def vandal(truth, prediction):
        truth[:] = 0
        prediction[:] = 0
        return 1.0

    result = pb.stream([own(vandal), "accuracy"], truth={"label": Y})
    result.update(label=P)
    assert result.compute()["accuracy"].value == float((Y == P).mean())


def test_order_of_arguments_and_fields():
    x = np.concatenate([RNG.normal(0, 1, (N // 2, 4)), RNG.normal(3, 1, (N // 2, 4))])
    y = np.repeat([0, 1], N // 2)
    silhouette = own(sk.silhouette_score, name="sk_silhouette", prediction="embedding", prediction_first=True)
    assert pb.score(silhouette, {"embedding": x}, {"label": y}).value == pytest.approx(sk.silhouette_score(x, y))
    error = own(sk.mean_pinball_loss, name="pinball", prediction="value", truth="value", params={"alpha": 0.1})
    truth, guess = RNG.normal(size=N), RNG.normal(size=N)
    assert pb.score(error, {"value": guess}, {"value": truth}).value == sk.mean_pinball_loss(truth, guess, alpha=0.1)
    dated = own(sk.adjusted_rand_score, name="sk_ari", prediction=Field("cluster", "label"))
    assert pb.score(dated, {"cluster": P}, {"label": Y}).value == pytest.approx(sk.adjusted_rand_score(Y, P))


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"name": "accuracy"}, "installed metric"),
        ({"name": "my metric"}, "identifier"),
        ({"prediction": "labels"}, "one of"),
        ({"truth": Field("sequence", "text")}, "text"),
    ],
)
def test_what_is_no_metric_is_refused(change, match):
    with pytest.raises(UsageError, match=match):
        f_beta(**change)


def test_parameters_are_plain_and_settled():
    with pytest.raises(ParameterError, match="function"):
        f_beta(params={"zero_division": own_accuracy})
    with pytest.raises(UsageError, match="already"):
        pb.score(f_beta(), {"label": P}, {"label": Y}, beta=1)
    with pytest.raises(UsageError, match="the class dict"):
        own(dict)
    with pytest.raises(UsageError, match="twice"):
        pb.stream([f_beta(), f_beta()], truth={"label": Y})


def test_a_function_of_ones_own_works_on_a_truth_of_ones_own_only(solutions):
    assert pb.score(own(own_accuracy), {"label": P}, {"label": Y}).value == float((Y == P).mean())
    for function in (own_accuracy, lambda t, p: 1.0):
        with pytest.raises(UsageError, match="not handed to it"):
            pb.Evaluation("toy_cells", metrics=[own(function)])
    accuracy = own(sk.accuracy_score, name="sk_accuracy")
    run = pb.Evaluation("toy_cells", metrics=["toy_hits", accuracy])
    run.update(ids=[f"cell{i}" for i in range(40)], label=["plain"] * 40)
    result = run.compute()
    assert result["sk_accuracy"].value == result["toy_hits"].value


def test_verify_says_what_it_cannot_recompute():
    from primabench_core.result.verify import verify

    run = pb.stream(["accuracy", f_beta()], truth={"label": Y})
    run.update(label=P)
    result = run.compute()

    def evaluate(task, predictions, *, dataset, metrics, ci, seed, partial, duplicates):
        again = pb.stream(metrics, truth={"label": Y})
        again.update(label=predictions)
        return again.compute(ci=ci)

    found = {c.name: c.status for c in verify(result, P, evaluate=evaluate).checks}
    assert found["accuracy"] == "passed"
    assert found["sklearn_fbeta"] == "skipped"


class TestTorchmetrics:
    tm = None

    @pytest.fixture(autouse=True)
    def _library(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.tm = pytest.importorskip("torchmetrics")

    def test_a_class_with_its_arguments(self):
        metric = pb.foreign.from_torchmetrics(
            self.tm.classification.MulticlassF1Score,
            name="tm_f1",
            prediction="label",
            truth="label",
            params={"num_classes": 3, "average": "macro"},
        )
        assert metric.spec.direction == "higher"
        for labels in (np.array([0, 1, 2]), NAMES):
            found = pb.score(metric, {"label": labels[P]}, {"label": labels[Y]})
            assert found.value == pytest.approx(sk.f1_score(Y, P, average="macro"), rel=1e-6)
        assert found.libraries == {"torchmetrics": self.tm.__version__}

    def test_an_object_is_copied_and_keeps_no_row(self):
        given = self.tm.MeanSquaredError()
        metric = pb.foreign.from_torchmetrics(given, name="tm_mse", prediction="value", truth="value")
        truth, guess = RNG.normal(size=N) + 1e6, RNG.normal(size=N) + 1e6
        found = pb.score(metric, {"value": guess}, {"value": truth})
        assert found.value == pytest.approx(float(((truth - guess) ** 2).mean()), rel=1e-5)
        assert found.direction == "lower"
        assert given.update_count == 0
        assert metric.function.metric.update_count == 0
        assert found.params["squared"] is True

    def test_probabilities_beside_text_labels(self):
        metric = pb.foreign.from_torchmetrics(
            self.tm.classification.MulticlassAccuracy,
            name="tm_top1",
            prediction="probability",
            truth="label",
            params={"num_classes": 3, "average": "micro"},
        )
        found = pb.score(
            metric,
            {"probability": PROBABILITY, "classes": list(NAMES)},
            {"label": NAMES[Y], "classes": list(NAMES)},
        )
        assert found.value == pytest.approx(float((PROBABILITY.argmax(1) == Y).mean()), rel=1e-6)

    def test_what_is_no_metric_is_refused(self):
        with pytest.raises(UsageError, match="update"):
            pb.foreign.from_torchmetrics(own_accuracy, name="x", prediction="label", truth="label")
        with pytest.raises(UsageError, match="params"):
            pb.foreign.from_torchmetrics(
                self.tm.MeanSquaredError(), name="x", prediction="value", truth="value", params={"squared": False}
            )
