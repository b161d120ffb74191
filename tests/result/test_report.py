import math
import re
import sys
from html.parser import HTMLParser
from xml.etree import ElementTree

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from primabench_core.errors import MissingPluginError, ResultError, UsageError
from primabench_core.result import EvalResult, Interval, MetricResult
from primabench_core.result import compare as comparison
from primabench_core.result.compare import compare
from primabench_core.result.curves import Confusion, Curve, precision_recall_curve, reliability_curve, roc_curve
from primabench_core.result.report import plots, render_report, write_report
from primabench_core.result.report.plots import nice_ticks
from primabench_core.result.report.summary import summarise
from primabench_core.statistics import mcnemar_exact

pytest.importorskip("vl_convert", reason="the extra 'report' is not installed")

EVIL = "<script>alert(1)</script> & \"q\" 'r' {{ 7*7 }} </svg> é"
VOID = {"meta", "br", "img", "link", "input", "hr"}


class Page(HTMLParser):
    """Checks nesting and collects what matters."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.attributes, self.text = [], [], [], []
        self.feed(text)
        assert self.open == [], f"left open: {self.open}"

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attrs]

    def handle_endtag(self, tag):
        assert self.open, f"closes {tag} that is not open"
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)

    def values(self, name):
        return [value for _, key, value in self.attributes if key == name]


def made(name, value, *, baseline="", **more):
    interval = Interval(low=value - 0.05, high=value + 0.05, draws=2000, unit="cell")
    labels = {"model_name": name} | ({"baseline": baseline} if baseline else {})
    results = [
        MetricResult(name="accuracy", value=value, n=50, interval=interval),
        MetricResult(
            name="macro_f1", value=value, n=50, interval=interval, per_unit={EVIL: value, "T": 0.5, "B": None}
        ),
        MetricResult(name="log_loss", value=1 - value, n=50, direction="lower"),
        MetricResult(name="auroc", value=None, reason="single_class", n=50),
    ]
    return EvalResult.make(
        **{
            "task": "cell_type_annotation",
            "dataset": "a_2020_b/c@1.0.0",
            "truth_sha256": "e" * 64,
            "predictions_sha256": "f" * 64,
            "results": results,
            "primary": "macro_f1",
            "labels": labels,
            "n_units": 50,
            "unit": "cell",
            **more,
        }
    )


@pytest.fixture(scope="module")
def everything():
    a, b, base = made(EVIL, 0.75), made("second", 0.7), made("majority", 0.25, baseline="majority")
    rng = np.random.default_rng(0)
    y = np.arange(50) % 2
    score = y + rng.normal(size=50)
    pairs = [comparison.Tested("accuracy", "mcnemar", mcnemar_exact(label_a=y, label_b=1 - y, label=y))]
    curves = {
        a.model: [
            Confusion([[20, 5], [3, 22]], [EVIL, "T"], [EVIL, "T"]),
            roc_curve(score, y == 1, draws=20, name=EVIL),
            precision_recall_curve(score, y == 1, draws=20),
            reliability_curve(1 / (1 + np.exp(-score)), y == 1),
        ]
    }
    return render_report([a, b, base], title=EVIL, curves=curves, comparisons=[compare(a, b, pairs=pairs)])


def test_nothing_runs_and_nothing_is_fetched(everything):
    page = Page(everything)
    assert not set(page.tags) & {"script", "link", "iframe", "object", "embed", "img", "base", "form"}
    assert not [a for a in page.attributes if a[1].startswith("on")]
    for name in ("src", "href", "xlink:href", "srcset", "action"):
        assert page.values(name) == []
    outside = re.findall(r"(?:https?:)?//[\w.]+", re.sub(r"https?://www\.w3\.org/\S+", "", everything))
    assert outside == []
    assert "@import" not in everything
    for reference in re.findall(r"url\(([^)]*)\)", everything):
        assert reference.startswith("#")
    policy = next(v for v in page.values("content") if v and v.startswith("default-src"))
    assert "default-src 'none'" in policy


def test_what_users_name_is_text(everything):
    page = Page(everything)
    assert "<script" not in everything
    text = "".join(page.text)
    assert EVIL in text


def test_pictures_are_described_and_ids_are_unique(everything):
    page = Page(everything)
    ids = page.values("id")
    assert len(ids) == len(set(ids))
    for label in page.values("aria-labelledby"):
        assert set(label.split()) <= set(ids)
    pictures = re.findall(r"<svg.*?</svg>", everything, flags=re.DOTALL)
    assert len(pictures) >= 3 + 2 + 4
    for picture in pictures:
        root = ElementTree.fromstring(picture)
        assert root.get("role") == "img"
        title, description = (child.text for child in list(root)[:2])
        assert title
        assert description
        assert "#0b6b5b" not in picture  # colours are the page's, so that they follow the scheme
    for target in re.findall(r"url\(#([^)]+)\)", everything):
        assert target in ids


def test_tables_can_be_heard(everything):
    page = Page(everything)
    assert page.tags.count("caption") == page.tags.count("table") == 2
    assert page.tags.count("th") == len(page.values("scope"))
    assert ("html", "lang", "en") in page.attributes
    assert "prefers-color-scheme: dark" in everything
    assert any("width=device-width" in (v or "") for v in page.values("content"))
    assert page.tags.count("h1") == 1


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, two):
    high, low = sorted((luminance(one), luminance(two)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_text_has_contrast_in_both_schemes(everything):
    schemes = re.findall(r":root \{(.*?)\}", everything, flags=re.DOTALL)
    assert len(schemes) == 2
    for scheme in schemes:
        colours = dict(re.findall(r"--(\w+): (#\w{6})", scheme))
        for text in ("ink", "muted", "accent", "second"):
            assert contrast(colours[text], colours["paper"]) >= 4.5, (text, colours)
        assert contrast(colours["warn"], colours["warnwash"]) >= 4.5


def test_what_stands_in_it(everything):
    text = re.sub(r"\s+", " ", " ".join(Page(everything).text))
    for words in (
        "0.750",
        "[0.700, 0.800]",
        "single class",
        "undefined: B",
        "tick: majority",
        "mcnemar",
        "Holm",
        "e" * 64,
    ):
        assert words in text, words
    assert "Synthetic" not in text


def test_the_best_is_marked_on_exact_values_and_shared():
    close = float(np.nextafter(0.75, 1))
    results = [made("a", 0.75), made("b", 0.75), made("c", 0.5), made("base", 0.9, baseline="knn")]
    matrix = summarise(["a", "b", "c", "base"], results)
    assert matrix.columns[0].key == "macro_f1"  # the primary metric comes first
    cells = {c.key: c.cells for c in matrix.columns}
    assert [c.rank for c in cells["accuracy"]] == [1, 1, 3, None]
    assert [c.shared for c in cells["accuracy"]] == [True, True, False, False]
    assert [c.rank for c in cells["log_loss"]] == [1, 1, 3, None]
    assert [c.rank for c in cells["auroc"]] == [None] * 4
    apart = summarise(["a", "b"], [made("a", 0.75), made("b", close)]).columns[0].cells
    assert [c.rank for c in apart] == [2, 1]
    alone = summarise(["a"], results[:1]).columns[0].cells
    assert alone[0].rank is None
    ceiling = made("z", 1.0, labels={"model_name": "z", "baseline": "perfect", "oracle": "yes"})
    below = summarise(["x", "z"], [made("x", 0.5, baseline="x"), ceiling])
    assert below.competes == (True, False)  # an oracle is no competitor
    assert below.roles == ("baseline", "oracle")
    only = summarise(["x", "y"], [made("x", 0.5, baseline="x"), made("y", 0.6, baseline="y")])
    assert only.competes == (True, True)
    assert only.roles == ("baseline", "baseline")
    assert matrix.roles == ("model", "model", "model", "baseline")
    assert [c.rank for c in only.columns[0].cells] == [2, 1]


def test_roles_are_drawn_and_told_alike():
    oracle = made("z", 1.0, labels={"model_name": "z", "baseline": "perfect", "oracle": "yes"})
    all_three = render_report([made("a", 0.7), made("base", 0.6, baseline="knn"), oracle])
    only = render_report([made("base", 0.6, baseline="knn"), made("other", 0.5, baseline="random"), oracle])
    models = render_report([made("a", 0.7), made("b", 0.6)])
    for page, roles in ((all_three, ["model", "baseline", "oracle"]), (only, ["baseline", "oracle"]), (models, [])):
        assert re.findall(r'<i class="(\w+)"></i>', page) == roles
        for figure in re.findall(r"<figure>.*?</figure>", page, flags=re.DOTALL):
            points = re.findall(r'<path[^>]*stroke-width="2"[^>]*>', figure)
            if "of each model" in figure:
                filled = sum('fill="var(--accent)"' in point for point in points)
                assert filled == {3: 1, 2: 0, 0: 2}[len(roles)]
    assert "1 model, 1 baseline, 1 oracle" in all_three
    assert "2 baselines, 1 oracle" in only
    assert "2 models" in models


def test_a_missing_interval_is_explained_once_a_metric():
    absent = Interval(low=None, high=None, method="none", reason="it counts")
    results = [
        EvalResult.make(
            results=[MetricResult(name="n_classes", value=v, interval=absent)], n_units=3, labels={"model_name": n}
        )
        for n, v in (("a", 1.0), ("b", 2.0))
    ]
    assert render_report(results).count("no interval: it counts") == 1


def test_long_names_of_classes_are_whole():
    name = "CD8+/CD45RA+ Naive Cytotoxic"
    table = Confusion([[3, 1], [0, 4]], [name, "B"], [name, "B"])
    page = render_report(made("a", 0.7), curves={"a": [table]})
    drawn = re.sub(r"<title.*?</title>|<desc.*?</desc>", "", page)
    assert drawn.count(f">{name}<") == 2
    assert "…" not in re.sub(r"[^>]*<h1.*", "", drawn.split("Confusion")[1].split("</svg>")[0])


def _slanted(svg):
    """Of each slanted name of a picture: how far down it reaches in letters of 7.5 pixels; and the picture's height."""
    root = ElementTree.fromstring(svg)
    reach = []

    def walk(element, y):
        found = re.match(r"translate\([-\d.]+,([-\d.]+)\)(?: rotate\(([\d.]+)\))?", element.get("transform", ""))
        y += float(found.group(1)) if found else 0
        if found and found.group(2) and element.text:
            reach.append(y + math.sin(math.radians(360 - float(found.group(2)))) * min(225, 7.5 * len(element.text)))
        for child in element:
            walk(child, y)

    walk(root, 0.0)
    return reach, float(root.get("viewBox").split()[3])


@pytest.mark.parametrize("n", [2, 13])
@pytest.mark.parametrize("length", [1, 12, 28, 60])
def test_slanted_names_end_within_their_picture(n, length):
    classes = [f"{i}".rjust(length, "n") for i in range(10, 10 + n)]
    svg = plots.confusion(Confusion(np.eye(n, dtype=int).tolist(), classes, classes), name="f", model="m")
    reach, height = _slanted(svg)
    assert len(reach) == n
    assert max(reach) <= height  # what is below them is the caption


@given(
    st.lists(st.floats(-1e9, 1e9, allow_nan=False).map(lambda v: float(f"{v:.6g}")), min_size=1, max_size=6),
)
def test_ticks_are_few_ordered_and_around_the_values(values):
    ticks = nice_ticks(values)
    assert 2 <= len(ticks) <= 9
    assert ticks == sorted(set(ticks))
    room = 1e-6 * max(abs(t) for t in ticks)
    assert ticks[0] <= min(values) + room
    assert ticks[-1] >= max(values) - room


def test_results_on_other_data_stand_apart_and_synthetic_is_labelled():
    other = made("b", 0.5, dataset="primabench_synthetic/cells@1.0.0", synthetic=True, coverage=0.5)
    page = Page(render_report([made("a", 0.75), other]))
    text = " ".join(page.text)
    assert page.tags.count("section") == 2
    assert "Synthetic data." in text
    assert "50.0%" in text
    # the same file twice is told apart by name
    twice = " ".join(Page(render_report([made("a", 0.75), made("a", 0.75)])).text)
    assert "a (2)" in twice


def test_names_of_a_page_are_those_of_files_where_labels_are_the_same():
    pair = [made("a", 0.75), made("a", 0.7)]
    page = render_report(pair, files=["runs/x.json", "runs/y.json"])
    assert [name in page for name in ("a (x)", "a (y)", "a (2)")] == [True, True, False]
    with pytest.raises(UsageError, match="1 paths for 2 results"):
        render_report(pair, files=["runs/x.json"])
    base = made("base", 0.5, baseline="base")
    tests = [compare(one, base) for one in pair]
    titles = re.findall(r"<h3>(.*?)</h3>", render_report([*pair, base], comparisons=tests))
    assert [t for t in titles if "against" in t] == ["a against base", "a against base (2)"]


def test_a_metric_that_one_model_lacks_is_not_run():
    less = attrs.evolve(made("b", 0.5), results=made("b", 0.5).results[:1])
    text = " ".join(Page(render_report([made("a", 0.75), less])).text)
    assert "not run" in text


def test_means_of_the_same_parts_are_drawn_once():
    parts = {"T": 0.5, "B": 0.25}
    results = [MetricResult(name=name, value=0.375, per_unit=parts) for name in ("macro_f1", "weighted_f1")]
    page = Page(render_report(EvalResult.make(results=results, n_units=3)))
    assert page.tags.count("svg") == 2 + 1
    assert "macro f1, weighted f1" in " ".join(page.text)


def test_many_models_many_parts_and_no_intervals():
    parts = {f"gene{i}": i / 2000 for i in range(2000)}
    results = [
        EvalResult.make(
            results=[MetricResult(name="pearson", value=0.5, per_unit=parts, mean_over_defined=0.5)],
            n_units=3,
            labels={"model_name": f"checkpoint {i}"},
        )
        for i in range(3)
    ]
    text = " ".join(Page(render_report(results)).text)
    assert "the 24 worst of 2,000 parts" in text
    assert "no intervals were asked for" in text


def test_writing(tmp_path, everything):
    path = write_report(made("a", 0.75), tmp_path / "r.html", title="T")
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert write_report([made("a", 0.75)], path) == path
    with pytest.raises(ResultError, match="exists already"):
        write_report(made("a", 0.75), path, overwrite=False)
    with pytest.raises(ResultError, match="folder does not exist"):
        write_report(made("a", 0.75), tmp_path / "no" / "r.html")
    with pytest.raises(UsageError, match="at least one"):
        render_report([])
    with pytest.raises(UsageError, match="'nobody'"):
        render_report([made("a", 0.75)], curves={"nobody": []})
    assert sorted(p.name for p in tmp_path.iterdir()) == ["r.html"]


def test_without_the_extra_the_install_line_is_named(monkeypatch):
    import importlib.util

    monkeypatch.setitem(sys.modules, "vl_convert", None)
    found = importlib.util.find_spec
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "vl_convert" else found(name))
    with pytest.raises(MissingPluginError, match=r"primabench-core\[report\]"):
        render_report([made("a", 0.75)])


class TestCurves:
    def test_agree_with_scikit_learn_on_ties(self):
        from sklearn import metrics

        rng = np.random.default_rng(1)
        score, y = rng.integers(0, 6, 200), rng.random(200) < 0.3
        fpr, tpr, _ = metrics.roc_curve(y, score, drop_intermediate=False)
        ours = roc_curve(score, y)
        np.testing.assert_allclose(ours.x, fpr)
        np.testing.assert_allclose(ours.y, tpr)
        precision, recall, _ = metrics.precision_recall_curve(y, score)
        pr = precision_recall_curve(score, y)
        np.testing.assert_allclose(pr.x, recall[:-1][::-1])
        np.testing.assert_allclose(pr.y, precision[:-1][::-1])
        assert pr.chance == y.mean()
        order = rng.permutation(200)
        assert roc_curve(score[order], y[order]) == ours

    def test_bands_hold_the_curve(self):
        rng = np.random.default_rng(2)
        y = rng.random(300) < 0.5
        score = y + rng.normal(size=300)
        for make in (roc_curve, precision_recall_curve):
            found = make(score, y, draws=200)
            assert found == make(score, y, draws=200)
            inside = (np.array(found.low) <= np.array(found.y) + 1e-9) & (
                np.array(found.y) <= np.array(found.high) + 1e-9
            )
            assert inside.mean() > 0.9

    def test_reliability_bins_are_closed_above(self):
        found = reliability_curve([0.0, 0.1, 0.1000001, 1.0], [False, True, True, True])
        assert found.weight == (2.0, 1.0, 1.0)
        assert found.y == (0.5, 1.0, 1.0)

    def test_refusals(self):
        with pytest.raises(UsageError, match="both classes"):
            roc_curve([1, 2], [True, True])
        with pytest.raises(UsageError, match="length"):
            precision_recall_curve([1, 2, 3], [True, False])
        with pytest.raises(UsageError, match="finite"):
            roc_curve([1, float("nan")], [True, False])
        with pytest.raises(UsageError, match="probability"):
            reliability_curve([1.5], [True])
        with pytest.raises(ValueError, match="confusion"):
            Confusion([[1, 2]], ["a", "b"], ["a", "b"])
        with pytest.raises(ValueError, match="as long as x"):
            Curve(kind="roc", x=[0, 1], y=[0])
