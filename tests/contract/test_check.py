"""Every rule of a contract, alone and all at once."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given
from hypothesis import strategies as st

from primabench_core.contract.check import Context, ShardChecker, check_shard, make_checker
from primabench_core.contract.evaldata import EvalData
from primabench_core.contract.fields import Field
from primabench_core.contract.plain import UntypedText, objects
from primabench_core.contract.ragged import Ragged

LABEL = Field("label", "label", vocabulary="truth")
SCORE = Field("score", "score")
PROBABILITY = Field("probability", "probability")
MATRIX = Field("matrix", "matrix")
POINTS = Field("points", "points")
PAIRS = Field("pairs", "pairs")
EMBEDDING = Field("embedding", "embedding")
VALUE = Field("value", "value")


def found(fields, shard, context=None, **how):
    """The violations as one text, and the columns."""
    columns, violations = check_shard(fields, shard, context or Context(), **how)
    return "\n".join(map(str, violations)), columns


def good(fields, shard, context=None, **how):
    message, columns = found(fields, shard, context, **how)
    assert message == ""
    return columns


# -- what comes through ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["int64", "int32", "uint8", "bool"])
def test_integer_labels_become_codes(dtype):
    context = Context(classes={"label": (0, 1)})
    for labels in (np.array([1, 0, 1], dtype), torch.tensor([1, 0, 1]).to(getattr(torch, dtype)), [1, 0, 1]):
        codes = good([LABEL], {"label": labels}, context)["label"]
        assert codes.dtype == np.int64
        assert codes.tolist() == [1, 0, 1]


def test_text_labels_become_codes_and_unknown_ones_follow():
    checker = ShardChecker([LABEL], Context(classes={"label": ("T", "B")}))
    first = checker.check({"label": ["B", "NK"]})[0]["label"]
    assert first.tolist() == [1, 2]
    assert checker.check({"label": np.array(["NK", "T"])})[0]["label"].tolist() == [2, 0]
    assert checker.vocabularies["label"].classes == ("T", "B", "NK")


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int8])
def test_scores_are_cast_up(dtype):
    column = good([SCORE], {"score": np.array([0, 1, 2], dtype)})["score"]
    assert column.dtype == (np.float32 if dtype in (np.float16, np.float32) else np.float64)
    assert column.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    "field", [LABEL, SCORE, PROBABILITY, EMBEDDING, MATRIX, VALUE, POINTS, PAIRS, Field("t", "text")]
)
@pytest.mark.parametrize("empty", [[], np.empty(0), np.empty((0, 0)), np.empty((0, 3)), torch.empty(0)], ids=repr)
def test_an_empty_shard_is_legal_for_every_kind(field, empty):
    if field.kind in ("label", "text") and np.ndim(empty) == 2:
        return
    context = Context(classes={"label": (0, 1)}, coords={"classes": ("a", "b"), "genes": ("g",)}, widths={"value": 0})
    column = good([field], {field.name: empty}, context, n=0)[field.name]
    assert len(column) == 0
    if field.kind in ("probability", "matrix"):
        assert column.shape == (0, 2 if field.kind == "probability" else 1)


def test_the_fast_and_the_careful_way_agree():
    context = Context(classes={"label": (0, 1, 2)})
    rng = np.random.default_rng(0)
    for array in (rng.integers(0, 3, 50), rng.random(50).astype("f"), rng.random(50), rng.random(50).astype("e")):
        field = LABEL if array.dtype.kind == "i" else SCORE
        checker = make_checker(field, context)
        fast, (slow, violations) = checker.fast(array), checker.explain(array, None)
        assert not violations
        assert fast.dtype == slow.dtype
        assert np.array_equal(fast, slow)


# -- rules of fields ------------------------------------------------------------------------------------------------


def test_all_violations_come_at_once():
    context = Context(classes={"label": (0, 1)})
    shard = {"scores": [0.1, 0.2], "label": ["0", "1"], "value": [np.nan, np.inf], "probability": [[0.5, 0.5]]}
    message, _ = found([SCORE, LABEL, VALUE, PROBABILITY], shard, context, ids=["a", "b"])
    assert [line.partition(":")[0] for line in message.splitlines()] == [
        "score", "scores", "label", "value", "value", "probability",
    ]  # fmt: skip
    assert "rename 'scores' to 'score'" in message
    assert "did you mean 'score'" in message
    assert "found NaN in 1 row (ids: a)" in message
    assert "found infinite numbers in 1 row (ids: b)" in message
    assert "expected 2 rows, found 1 rows" in message


def test_optional_fields_may_be_absent_and_ignored_ones_present():
    assert good([SCORE, Field("label", "label", optional=True)], {"score": [1.0]}).keys() == {"score"}
    assert good([SCORE], {"score": [1.0], "note": ["x"]}, Context(ignored=("note",))).keys() == {"score"}
    assert "did you mean" not in found([SCORE], {"score": [1.0], "zzz": [1]})[0]


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        (SCORE, [[0.1], [0.2]], "squeeze the second axis"), (SCORE, np.zeros((2, 2, 2)), "shape (2, 2, 2)"),
        (SCORE, [0.1, "NaN"], "objects"), (SCORE, [0.1, None], "missing entries in 1 row (ids: b)"),
        (SCORE, np.array(1.0), "single value|shape"), (SCORE, sp.csr_array([[1.0], [2.0]]), "shape (2, 1)"),
        (SCORE, Ragged.of([[[1]], [[2]]]), "varying length"), (SCORE, 3.0, "float 3.0"),
        (SCORE, {"a": 1, "b": 2}, "text"),
        (Field("score", "score", low=0, high=1), [-0.5, 1.5], "at least 0, found -0.5 in 1 row (ids: a)"),
        (Field("score", "score", low=0, high=1), [-0.5, 1.5], "at most 1, found 1.5 in 1 row (ids: b)"),
        (LABEL, [[0], [1]], "one label per row"), (LABEL, [0.0, 1.0], "real numbers"), (LABEL, [0, None], "(ids: b)"),
        (LABEL, [0, np.nan], "NaN"), (Field("label", "label", vocabulary=(1, 2)), [1, 7], "unknown classes (7)"),
        (PROBABILITY, [[0.7, 0.2], [0.5, 0.5]], "a sum of 0.9 in 1 row (ids: a)"),
        (PROBABILITY, [0.5, 0.5], "a row of numbers"),
        (PROBABILITY, [[1.5, -0.5], [0, 1]], "at least 0, found -0.5"), (PROBABILITY, [[np.nan, 1], [0, 1]], "NaN"),
        (PROBABILITY, [[0.2, 0.3, 0.5], [1, 0, 0]], "2 columns (one for each class), found 3"),
        (EMBEDDING, [1.0, 2.0], "a row of numbers"), (EMBEDDING, np.zeros((2, 0)), "at least one column"),
        (EMBEDDING, [[1.0, np.inf], [0, 0]], "infinite"), (EMBEDDING, [[1.0], [2.0, 3.0]], "lengths 1, 2"),
        (Field("matrix", "matrix", state="counts"), [[0, 1.5], [1, 2]], "not whole in 1 row (ids: a)"),
        (Field("matrix", "matrix", state="counts"), [[0, -1], [1, 2]], "at least 0"),
        (Field("matrix", "matrix", state="log"), [[0, -0.1], [1, 2]], "scaled or centred"),
        (POINTS, [[[1, 2, 1, 0.5]], [[1, 2, 3]]], "different lengths"),
        (POINTS, [[[1, 2, 3]], []], "4 numbers (x, y, class"),
        (POINTS, [[[np.nan, 2, 1, 0.5]], []], "finite numbers"),
        (POINTS, [[[1, 2, 1, 1.5]], []], "confidence in [0, 1]"),
        (POINTS, [[[1, 2, 1.5, 1]], []], "fraction"), (POINTS, [[["a", "b", "c", "d"]], []], "text"),
        (POINTS, 5, "int"),
        (Field("points", "points", vocabulary=(1, 2)), [[[1, 2, 3, 1]], []], "classes [1, 2]"),
        (PAIRS, [[[0, 9], [0, 8]], []], "one partner"), (PAIRS, [[[4, 4]], []], "itself"),
        (PAIRS, [[[4, 2]], []], "i < j"),
        (PAIRS, [[[-1, 2]], []], "negative"), (PAIRS, [[[0, 2.5]], []], "whole positions"),
        (PAIRS, [[[0, 1, 2]], []], "2 numbers"),
        (PAIRS, [[[0, 1], [0, 1]], []], "paired twice"),
        (PAIRS, [[], [[1, 5], [5, 9]]], "paired twice in 1 row (ids: b)"),
        (Field("t", "text"), [1, 2], "expected text"), (Field("t", "text"), ["a", None], "missing"),
        (VALUE, np.zeros((2, 1, 1)), "shape"),
    ],
)  # fmt: skip
def test_one_rule(field, value, words):
    context = Context(classes={"label": (0, 1)}, coords={"classes": ("a", "b")})
    message, _ = found([field], {field.name: value}, context, ids=["a", "b"])
    assert message.startswith(field.name + ":")
    assert any(w in message for w in words.split("|"))


def test_labels_of_the_wrong_type_are_refused_both_ways():
    for classes, labels in (((0, 1), ["0", "1"]), (("0", "1"), [0, 1])):
        assert "'1' is not 1" in found([LABEL], {"label": labels}, Context(classes={"label": classes}))[0]


def test_unknown_classes_are_counted_or_refused_as_the_contract_says():
    refusing = Context(classes={"label": ("a",)}, unknown_labels="refuse")
    message, _ = found([LABEL], {"label": ["a", "b"]}, refusing)
    assert message == "label: expected classes of the truth, found unknown classes ('b') in 1 row (ids: row 1)"
    assert good([LABEL], {"label": ["a", "b"]}, Context(classes={"label": ("a",)}))["label"].tolist() == [0, 1]


def test_text_of_a_file_without_types_takes_the_type_of_the_classes():
    cells = objects(["1", "0"]).view(UntypedText)
    assert good([LABEL], {"label": cells}, Context(classes={"label": (0, 1)}))["label"].tolist() == [1, 0]
    assert good([LABEL], {"label": cells}, Context(classes={"label": ("0", "1")}))["label"].tolist() == [1, 0]
    padded = objects(["01", "0"]).view(UntypedText)
    assert "text where classes are integers" in found([LABEL], {"label": padded}, Context(classes={"label": (0, 1)}))[0]


def test_half_precision_probabilities_are_not_renormalised():
    raw = torch.softmax(torch.linspace(0, 3, 50).reshape(5, 10), 1).half()
    context = Context(coords={"classes": tuple("abcdefghij")})
    assert "softmax in float32" in found([PROBABILITY], {"probability": raw}, context)[0]
    single = torch.softmax(torch.linspace(0, 3, 50).reshape(5, 10), 1)
    assert good([PROBABILITY], {"probability": single}, context)["probability"].dtype == np.float32


def test_value_follows_the_shape_of_the_truth():
    flat, wide = Context(widths={"value": 0}), Context(widths={"value": 3})
    assert "one number per row" in found([VALUE], {"value": np.zeros((2, 3))}, flat)[0]
    assert "expected 3 columns, found 2" in found([VALUE], {"value": np.zeros((2, 2))}, wide)[0]
    assert "a row of numbers" in found([VALUE], {"value": np.zeros(2)}, wide)[0]
    good([VALUE], {"value": np.zeros((2, 3))}, wide)


def test_nullable_truth_may_hold_nan_but_a_prediction_never():
    field = Field("value", "value", nullable=True)
    assert "NaN" in found([field], {"value": [1.0, np.nan]})[0]
    column = good([field], {"value": [1.0, np.nan]}, Context(side="solution"))["value"]
    assert np.isnan(column[1])
    assert "infinite" in found([field], {"value": [1.0, np.inf]}, Context(side="solution"))[0]
    labels = Field("label", "label", vocabulary="truth", nullable=True)
    assert good([labels], {"label": ["a", None]}, Context(side="solution"))["label"].tolist() == [0, -1]


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_tensors_on_a_device_come_home(dtype):
    scores = torch.tensor([0.5, 2.0], dtype=dtype, device="cuda", requires_grad=True)
    context = Context(classes={"label": (0, 1)})
    columns = good([SCORE, LABEL], {"score": scores, "label": torch.tensor([1, 0], device="cuda")}, context)
    assert columns["score"].tolist() == [0.5, 2.0]
    assert columns["label"].tolist() == [1, 0]


# -- over several shards --------------------------------------------------------------------------------------------


def test_the_width_of_an_embedding_is_that_of_the_first_shard():
    checker = ShardChecker([EMBEDDING], Context())
    assert not checker.check({"embedding": np.empty((0, 9))})[1]
    assert not checker.check({"embedding": np.zeros((2, 4), "f")})[1]
    assert "expected 4 columns, found 5" in str(checker.check({"embedding": np.zeros((2, 5))})[1][0])
    assert not checker.check({"embedding": np.ones((1, 4))})[1]


def test_a_refused_shard_leaves_nothing_behind():
    checker = ShardChecker([EMBEDDING, LABEL], Context(classes={"label": (0,)}))
    bad = {"embedding": np.full((1, 4), np.nan), "label": [77]}
    assert checker.check(bad)[1]
    assert checker.vocabularies["label"].classes == (0,)
    assert not checker.check({"embedding": np.zeros((1, 7)), "label": [0]})[1]


def test_the_checker_travels():
    checker = ShardChecker([LABEL, SCORE], Context(classes={"label": ("a", "b")}))
    checker.check({"label": ["x"], "score": [1.0]})
    twin = pickle.loads(pickle.dumps(checker))
    assert twin.vocabularies["label"].classes == ("a", "b", "x")
    assert twin.check({"label": ["x", "b"], "score": np.zeros(2)})[0]["label"].tolist() == [2, 1]


# -- names of columns -----------------------------------------------------------------------------------------------


@given(st.permutations(["A", "B", "C"]), st.booleans())
def test_genes_are_joined_by_name(genes, twice):
    checker = ShardChecker([VALUE, MATRIX], Context(coords={"genes": ("A", "B", "C")}))
    value = {"A": 1.0, "B": 2.0, "C": 3.0}
    rows = np.array([[value[g] for g in genes]] * 2)
    for _ in range(1 + twice):
        columns, violations = checker.check(
            {"value": rows, "matrix": sp.csr_array(rows)}, coords={"genes": list(genes)}
        )
        assert not violations
        assert columns["value"].tolist() == columns["matrix"].tolist() == [[1, 2, 3]] * 2


def test_another_order_of_genes_in_a_later_shard_is_seen():
    checker = ShardChecker([VALUE], Context(coords={"genes": ("A", "B")}))
    genes = ["B", "A"]
    assert checker.check({"value": [[1.0, 2.0]]}, coords={"genes": genes})[0]["value"].tolist() == [[2, 1]]
    genes.reverse()
    assert checker.check({"value": np.array([[1.0, 2.0]])}, coords={"genes": genes})[0]["value"].tolist() == [[1, 2]]
    assert checker.check({"value": np.array([[1.0, 2.0]])})[0]["value"].tolist() == [[1, 2]]


def test_classes_of_a_prediction_permute_its_probabilities():
    context = Context(coords={"classes": ("a", "b")})
    column = good([PROBABILITY], {"probability": [[0.9, 0.1]]}, context, coords={"classes": ["b", "a"]})["probability"]
    assert column.tolist() == [[0.1, 0.9]]
    integers = Context(coords={"classes": (0, 1)})
    column = good([PROBABILITY], {"probability": [[0.9, 0.1]]}, integers, coords={"classes": np.array([1, 0])})
    assert column["probability"].tolist() == [[0.1, 0.9]]


@pytest.mark.parametrize(
    ("coords", "words"),
    [
        ({"genes": ["A", "X"]}, "unknown genes in 1 name (X)"), ({"genes": ["A", "A"]}, "a name again"),
        ({"genes": [1, 2]}, "genes: expected text ids"), ({"gene": ["A", "B"]}, "did you mean 'genes'"),
        ({"genes": ["a", "B"]}, "did you mean 'A'"), ({"genes": ["A", None]}, "missing"),
        ({"genes": ["A"]}, "missing genes"),
    ],
)  # fmt: skip
def test_names_that_do_not_join(coords, words):
    message, _ = found([VALUE], {"value": [[1.0, 2.0]]}, Context(coords={"genes": ("A", "B")}), coords=coords)
    assert words in message


def test_names_without_counterpart_are_refused():
    message, _ = found([VALUE], {"value": [[1.0, 2.0]]}, coords={"genes": ["A", "B"]})
    assert "give the truth its genes too" in message
    good([SCORE], {"score": [1.0]}, coords={"genes": ["A"]})  # nothing has columns here


# -- sparse, ragged -------------------------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4), st.integers(-2, 3)), max_size=20))
def test_sparse_equals_dense_with_zeros_twins_and_disorder(entries):
    rows, columns, values = (np.array([e[i] for e in entries], int) for i in range(3))
    coo = sp.coo_array((values.astype(float), (rows, columns)), shape=(4, 5))
    dense = np.zeros((4, 5))
    np.add.at(dense, (rows, columns), values)
    order = np.argsort(rows, kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=4))])
    messy = sp.csr_array((values[order].astype(float), columns[order], indptr), shape=(4, 5))
    before = messy.data.copy()
    for form in (coo, messy, coo.tocsc(), sp.csr_matrix(messy)):
        assert good([MATRIX], {"matrix": form})["matrix"].tolist() == dense.tolist()
    assert messy.data.tolist() == before.tolist()


def test_sparse_counts_that_cancel_are_judged_by_their_sum():
    twins = sp.csr_array((np.array([0.5, 0.5]), np.array([1, 1]), np.array([0, 2])), shape=(1, 2))
    assert good([Field("m", "matrix", state="counts")], {"m": twins})["m"].tolist() == [[0, 1]]
    assert "complex" in found([MATRIX], {"matrix": sp.csr_array([[1j]])})[0]


def test_base_pairs_are_checked_against_their_own_molecule():
    context = Context(lengths=np.array([12, 4]))
    rows = [[[0, 3]], [[0, 9], [1, 8]]]
    assert good([PAIRS], {"pairs": rows}, context, positions=np.array([1, 0]))["pairs"].counts.tolist() == [1, 2]
    message, _ = found([PAIRS], {"pairs": rows}, context, positions=np.array([0, 1]), ids=["m0", "m1"])
    assert "at or beyond the end in 1 row (ids: m1)" in message
    good([PAIRS], {"pairs": rows}, context, positions=np.array([0, -1]))  # whose length nobody knows


def test_the_order_of_pairs_in_a_molecule_has_no_meaning():
    left = good([PAIRS], {"pairs": [[[1, 8], [0, 9]], []]})["pairs"]
    right = good([PAIRS], {"pairs": [[[0, 9], [1, 8]], []]})["pairs"]
    assert left.values.tolist() == right.values.tolist() == [[0, 9], [1, 8]]
    assert left.values.dtype == np.int64


def test_points_of_a_truth_have_no_confidence():
    column = good([POINTS], {"points": [[], [[5, 6, 1]]]}, Context(side="solution"))["points"]
    assert column.counts.tolist() == [0, 1]
    assert good([POINTS], {"points": [[], []]})["points"].values.shape == (0, 4)


# -- acceptance cases that are decided here -------------------------------------------------------------------------

CASES = json.loads((Path(__file__).parents[1] / "cases/contract.json").read_text())["cases"]
NEEDS = {"auroc": SCORE, "average_precision": SCORE, "accuracy": LABEL, "mse": VALUE, "pearson": VALUE}
ROWS_ALONE = {  # faults of ids, found when rows are placed
    "padded-shard-conflicting-6", "duplicated-id-6", "missing-id-6", "unknown-id-6", "id-numeric-looking",
    "id-trailing-blank", "shards-overlap",
}  # fmt: skip


@pytest.mark.parametrize("case", [c for c in CASES if c["id"] not in ROWS_ALONE], ids=lambda c: c["id"])
def test_case(case):
    raw = {k: [float("nan") if v == "NaN" else v for v in vs] for k, vs in case["prediction"].items()}
    data, truth = EvalData.of(raw), EvalData.of(case["truth"])
    labels = truth["label"].tolist() if "label" in truth else []
    coords = {"genes": truth.coords["genes"]} if "genes" in truth.coords else {}
    context = Context(classes={"label": tuple(sorted(set(labels)))}, coords=coords)
    message, _ = found([NEEDS[case["metric"]]], data.fields, context, ids=data.ids, coords=data.coords)
    assert bool(message) == case["expect"].get("refused", False)
    assert all(word in message for word in case["expect"].get("mentions", ()))


@pytest.mark.parametrize("make", [list, objects, np.array], ids=["list", "objects", "array"])
def test_texts_that_repeat_come_through_as_they_are_and_one_bad_one_is_found(make):
    text = Field("t", "text")
    names = ["b ", "a", "a é"] * 50
    assert good([text], {"t": make(names)})["t"].tolist() == names
    for bad, word in ((" ", "blank"), ("", "blank"), ("\ud800", "surrogate")):
        spoilt = [*names, bad, *names]
        message, _ = found([text], {"t": make(spoilt)}, ids=[f"r{i}" for i in range(301)])
        assert "r150" in message
        assert "1 row" in message
        assert word in message or "UTF-8" in message
    for bad, word in ((None, "missing"), (float("nan"), "missing"), (3, "mixture"), (b"a", "mixture")):
        if make is not np.array:
            message, _ = found([text], {"t": objects([*names, bad])})
            assert word in message
