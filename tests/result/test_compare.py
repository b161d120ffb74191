import re

import attrs
import numpy as np
import pytest
from rich.cells import cell_len

from primabench_core.errors import UnknownNameError, UsageError
from primabench_core.result import EvalResult, MetricResult
from primabench_core.result.compare import Tested as Paired
from primabench_core.result.compare import compare, p_text
from primabench_core.statistics import delong, mcnemar_exact, paired_bootstrap

N = 200
RNG = np.random.default_rng(0)
Y = RNG.integers(0, 2, N)
SCORE_A, SCORE_B = Y + RNG.normal(size=N), Y + 3 * RNG.normal(size=N)
LABEL_A, LABEL_B = (SCORE_A > 0.5).astype(int), (SCORE_B > 0.5).astype(int)


def made(name, score, label, **more):
    positive, negative = score[Y == 1], score[Y == 0]
    auroc = float((positive[:, None] > negative).mean())
    results = [
        MetricResult(name="auroc", value=auroc),
        MetricResult(name="accuracy", value=float((label == Y).mean())),
        MetricResult(name="log_loss", value=1 - auroc, direction="lower"),
        MetricResult(name="mcc", value=None, reason="single_class"),
    ]
    return EvalResult.make(
        **{
            "task": "t",
            "truth_sha256": "e" * 64,
            "predictions_sha256": name * 64,
            "labels": {"model_name": name},
            "results": results,
            "n_units": N,
            **more,
        }
    )


A, B = made("a", SCORE_A, LABEL_A), made("b", SCORE_B, LABEL_B)
PAIRS = [
    Paired("auroc", "delong", delong(score_a=SCORE_A, score_b=SCORE_B, label=Y)),
    Paired("accuracy", "mcnemar", mcnemar_exact(label_a=LABEL_A, label_b=LABEL_B, label=Y)),
    Paired(
        "log_loss",
        "bootstrap",
        paired_bootstrap(
            statistic_a=lambda at: float(np.abs(LABEL_A - Y)[at].mean()),
            statistic_b=lambda at: float(np.abs(LABEL_B - Y)[at].mean()),
            n=N,
            draws=400,
        ),
    ),
]


def test_differences_and_verdicts():
    found = compare(A, B, pairs=PAIRS)
    auroc = found["auroc"]
    assert auroc.difference == A["auroc"].value - B["auroc"].value
    assert auroc.p < 0.01
    assert auroc.adjusted >= auroc.p
    assert found.verdict(auroc) == "a better"
    assert auroc.better(0.95) == "a"
    assert found["log_loss"].better(0.95) == "a"  # lower is better, a is lower
    assert found["log_loss"].low < found["log_loss"].high
    assert found["mcc"].p is None
    assert found["mcc"].reason == "undefined: single_class"
    back = compare(B, A, pairs=[])
    assert back["auroc"].difference == -auroc.difference
    assert back["auroc"].reason == "needs the predictions"
    with pytest.raises(UnknownNameError, match="auroc"):
        found["aurok"]


def test_correction_runs_over_the_table():
    holm, bh = (compare(A, B, pairs=PAIRS, correction=c) for c in ("holm", "benjamini_hochberg"))
    for one, two in zip(holm.differences, bh.differences, strict=True):
        assert one.p == two.p
        assert one.adjusted is None or one.adjusted >= two.adjusted
    alone = compare(A, B, pairs=PAIRS[1:2])
    assert alone["accuracy"].adjusted == alone["accuracy"].p
    with pytest.raises(UsageError, match="correction"):
        compare(A, B, pairs=PAIRS, correction="bonferroni")
    assert compare(A, B, pairs=PAIRS, correction="bh") == bh  # one name is kept for both


def test_a_model_is_not_better_than_itself():
    same = [Paired("auroc", "delong", delong(score_a=SCORE_A, score_b=SCORE_A, label=Y))]
    found = compare(A, A, pairs=same)
    assert found["auroc"].p is None
    assert found["auroc"].better(0.95) == ""
    assert "variance 0" in found.verdict(found["auroc"])
    assert compare(A, A)["auroc"].reason == "the predictions are identical"
    assert (found.a, found.b) == ("a", "a (2)")  # nothing but their number tells them apart


@pytest.mark.parametrize(
    "change",
    [
        {"truth_sha256": "f" * 64},
        {"task": "other"},
        {"dataset": "x/y@1.0.0"},
        {"n_units": N + 1},
        {"results": [attrs.evolve(A["auroc"], version="2")]},
        {"results": [attrs.evolve(A["auroc"], params={"k": 1})]},
    ],
)
def test_what_cannot_be_compared_is_refused(change):
    with pytest.raises(UsageError, match="not comparable"):
        compare(A, made("b", SCORE_B, LABEL_B, **change))


def test_a_test_of_an_unknown_metric_is_refused():
    with pytest.raises(UnknownNameError, match="auroc"):
        compare(A, B, pairs=[Paired("aurok", "delong", PAIRS[0].finding)])


def test_the_table_fits():
    from io import StringIO

    from rich.console import Console

    out = StringIO()
    Console(width=80, file=out).print(compare(A, B, pairs=PAIRS))
    text = out.getvalue()
    assert "0.0042" in text
    assert re.search(r"auroc .* a *\n", text)
    assert "not tested: mcc: undefined: single_class" in text
    assert max(len(line.rstrip()) for line in text.splitlines()) <= 80


def shown(found, width):
    from io import StringIO

    from rich.console import Console

    out = StringIO()
    Console(width=width, file=out).print(found)
    lines = [line.rstrip() for line in out.getvalue().splitlines()]
    head = next(i for i, line in enumerate(lines) if line.startswith("metric"))
    return lines[0], lines[head].split(), lines


@pytest.mark.parametrize("width", [26, 30, 40, 60, 80, 100, 200])
@pytest.mark.parametrize("names", [("step-10", "step-15"), ("a", "b"), ("x" * 30, "y" * 30), ("好" * 5, "模" * 5)])
def test_the_verdict_is_whole_at_every_width(width, names):
    one, two = names
    for pairs in (PAIRS, PAIRS[1:2]):
        found = compare(A, B, pairs=pairs, names=names)
        title, head, lines = shown(found, width)
        better = [d.better(0.95) for d in found.differences if d.p is not None]
        assert "a" in better
        assert head[-1] == "better"
        lettered = title.startswith("a:")
        called = {"a": "a", "b": "b"} if lettered else {"a": one, "b": two}
        verdicts = [called.get(b, "neither") for b in better]
        rows = [line for line in lines[: lines.index(next(x for x in lines if x.startswith("200 ")))] if line]
        body = [next(line for line in rows if line.startswith(d.metric)) for d in found.differences if d.p is not None]
        assert [line.split()[-1] for line in body] == verdicts
        assert all("…" not in line for line in rows)
        adjusted = [p_text(d.adjusted) for d in found.differences if d.p is not None]
        assert [line.split()[-2] for line in body] == adjusted
        assert max(cell_len(line) for line in rows) <= width


def test_names_stand_in_the_table_where_they_fit():
    found = compare(A, B, pairs=PAIRS, names=("x" * 12, "y" * 12))
    assert not shown(found, 100)[0].startswith("a: ")
    assert shown(found, 70)[0].startswith("a: ")
    _, head, lines = shown(found, 44)
    assert "no room for: p, a, b" in " ".join(lines)
    assert head == ["metric", "difference", "p", "corr.", "better"]
