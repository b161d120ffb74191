import json
from pathlib import Path

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import primabench_core as pb
from primabench_core.errors import UsageError
from primabench_core.result import content_hash, from_json, scores_hash, to_json
from primabench_core.result.identity import record_hash, request_hash_of

FAMILY = json.loads((Path(__file__).parents[1] / "cases" / "results.json").read_text(encoding="utf-8"))["cases"]


KNOWN = "f98f8dee970cc68c98465d11524f3ec202a693c8e08231b16a20845cbea89361"


def of(metric):
    return [pytest.param(c, id=c["id"]) for c in FAMILY if c["metric"] == metric]


@pytest.mark.parametrize("case", of("content_hash"))
def test_content_hash_case(case):
    left, right = content_hash(**case["params"]["left"]), content_hash(**case["params"]["right"])
    assert (left == right) == case["expect"]["values"]["same"]


@pytest.mark.parametrize("case", of("result_json"))
def test_result_json_case(case):
    params, expect = case["params"], case["expect"]["values"]
    if "value" in params:
        assert from_json(to_json(params["value"])) == expect["round_trip"]
    elif "case" in params:
        undefined = pb.MetricResult(name=params["metric"], value=None, reason="single_class")
        parsed = json.loads(to_json(undefined), parse_constant=pytest.fail)
        assert (parsed["value"] is not None) == expect["has_value"]
        assert bool(parsed["reason"]) == expect["has_reason"]
    else:
        text = to_json(params["object"])
        assert (to_json(from_json(text)) == text) == expect["same_bytes"]


@given(rows=st.lists(st.tuples(st.text(), st.floats(allow_nan=True), st.integers()), max_size=8), data=st.data())
def test_row_order_never_enters_even_with_repeated_ids(rows, data):
    shuffled = data.draw(st.permutations(rows))

    def hashed(given):
        ids, score, label = ([list(c) for c in zip(*given, strict=True)]) if given else ([], [], [])
        return content_hash(ids=ids, score=score, label=label)

    assert hashed(rows) == hashed(shuffled)


def test_sides_with_their_own_ids():
    left = content_hash(prediction={"ids": ["a", "b"], "s": [1, 2]}, truth={"ids": ["b", "a"], "y": [0, 1]})
    right = content_hash(prediction={"ids": ["b", "a"], "s": [2, 1]}, truth={"ids": ["a", "b"], "y": [1, 0]})
    assert left == right
    assert left != content_hash(prediction={"ids": ["a", "b"], "s": [1, 2]}, truth={"ids": ["a", "b"], "y": [0, 1]})


def test_dtype_does_not_enter_but_kind_does():
    ids = ["a", "b"]
    same = [
        content_hash(ids=ids, v=v)
        for v in ([1, 2], [1.0, 2.0], np.array([1, 2], np.float32), np.array([1, 2], np.int8), (1, 2))
    ]
    assert len(set(same)) == 1
    kinds = ([1], ["1"], [True], [None], [float("nan")], ["nan"], [float("inf")], [[1]], [2**53 + 1], [2.0**53])
    distinct = [content_hash(ids=["a"], v=v) for v in kinds]
    assert len(set(distinct)) == len(distinct)


def test_column_names_are_not_rows():
    # two classes and two rows: exchanging the rows must not exchange the classes
    one = content_hash(ids=["a", "b"], classes=["x", "y"], p=[[1, 0], [0, 1]])
    two = content_hash(ids=["b", "a"], classes=["x", "y"], p=[[0, 1], [1, 0]])
    assert one == two


def test_what_has_no_canonical_form_is_refused():
    with pytest.raises(UsageError, match=r"score has 1 rows, but there are 2 ids"):
        content_hash(ids=["a", "b"], score=[1])
    with pytest.raises(UsageError, match="params"):
        content_hash(params={"f": object()})


def test_a_known_hash_does_not_move():
    assert content_hash(metric="auroc", ids=["b", "a"], score=[0.5, -0.0], params={"k": 5}) == KNOWN


def test_request_hash_knows_no_scores_and_no_place(result):
    changed = attrs.evolve(
        result, device="cuda:0", created="2001-01-01", timings={"x": 1.0}, labels={"a": "b"}, environment={}
    )
    assert request_hash_of(changed) == result.request_hash
    assert record_hash(changed) == result.record_hash
    assert request_hash_of(attrs.evolve(result, results=result.results[::-1])) == result.request_hash
    for change in (
        {"task": "x"},
        {"dataset": "x"},
        {"dataset_hash": "x"},
        {"predictions_sha256": "x"},
        {"truth_sha256": "x"},
        {"seeds": {"bootstrap": 1}},
        {"packages": {"primabench-core": "0.2.0"}},
        {"results": result.results[:-1]},
        {"results": (attrs.evolve(result.results[0], version="9"), *result.results[1:])},
        {"results": (attrs.evolve(result.results[0], params={"k": 1}), *result.results[1:])},
    ):
        assert request_hash_of(attrs.evolve(result, **change)) != result.request_hash, change


def test_scores_hash_sees_the_last_bit_of_exact_metrics_only(result):
    first, *rest = result.results

    def hashed(*results):
        return scores_hash(result.request_hash, results)

    whole = hashed(first, *rest)
    assert whole == result.scores_hash == hashed(*rest, first)
    assert hashed(first.with_interval(None), *rest) == whole
    for change in (
        {"value": float(np.nextafter(0.75, 1))},
        {"n": 41},
        {"n_excluded": {"x": 1}},
        {"per_unit": {"B": 0.1}},
        {"values": {"x": 1}},
        {"flags": ("x",)},
        {"coverage": 0.5},
        {"mean_over_defined": 0.5},
        {"value": None, "status": "undefined", "reason": "both_empty"},
        {"params": {"k": 1}},
    ):
        assert hashed(attrs.evolve(first, **change), *rest) != whole, change
    tolerant = attrs.evolve(rest[-1], value=0.2000001)
    assert hashed(first, *rest[:-1], tolerant) == whole
    assert scores_hash("other", result.results) != whole


def test_the_names_are_public():
    assert pb.EvalResult is from_json.__globals__["_classes"]()["EvalResult"]
