"""All acceptance cases, through the public API. A case runs as soon as the piece that it needs is installed."""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import primabench_core as pb
from primabench_core.discovery import names
from primabench_core.errors import PrimaBenchError

FOLDER = Path(__file__).parent / "cases"
CASES = {path.stem: json.loads(path.read_text(encoding="ascii"))["cases"] for path in sorted(FOLDER.glob("*.json"))}

MISSING: dict[str, str] = {
    "ocelot_official_mf1": "metric of primabench-pathology",
    "f1_at_distance": "metric of primabench-pathology",
    "base_pair_f1": "metric of primabench-structure",
    "base_pair_sensitivity": "metric of primabench-structure",
    "base_pair_ppv": "metric of primabench-structure",
    "sp_score": "metric of primabench-alignment",
    "tc_score": "metric of primabench-alignment",
}
"""What cases exist for and nothing here can run yet, and which piece will bring it. Tested below: an entry whose piece
has come must go, and nothing may be left out without an entry."""

TEXT = {"label", "cluster", "ids", "batch", "genes", "perturbation", "group", "chromosome", "classes", "alignment"}
STATISTICS = {"delong", "mcnemar_exact", "wilcoxon_paired", "holm", "aggregate_mean"}


def runner_of(metric: str) -> Callable[[dict[str, Any]], None] | None:
    """What runs cases of this metric, None if the piece is missing."""
    if metric in names.names("metric"):
        return run_score
    if metric == "variant_window" and "get_sequences" in names.names("extension"):
        return run_variant_window
    if metric == "content_hash":
        return run_content_hash
    if metric == "result_json":
        return run_result_json
    if metric in STATISTICS and hasattr(getattr(pb, "statistics", None), metric):
        return run_statistics
    if metric == "embedding_submission" and find_spec("primabench_task_patient") is not None:
        return run_submission
    return None


def all_cases() -> list[Any]:
    return [
        pytest.param(case, id=f"{family}:{case['id']}")
        for family, cases in CASES.items()
        for case in cases
        if runner_of(case["metric"]) is not None
    ]


# -- metrics -----------------------------------------------------------------------------------------------------------


def run_score(case: dict[str, Any]) -> None:
    prediction, truth = arrays_of(case)
    params = dict(case.get("params", {}))
    expect = case["expect"]
    if case.get("shards") is not None:
        params["shards"] = case["shards"]
    if expect.get("refused"):
        with pytest.raises(PrimaBenchError) as caught:
            pb.score(case["metric"], prediction, truth, **params)
        message = str(caught.value).lower()
        for word in expect.get("mentions", []):
            assert word.lower() in message, f"the message does not name {word!r}: {message}"
        return
    try:
        result = pb.score(case["metric"], prediction, truth, **params)
    except PrimaBenchError:
        assert expect.get("no_value"), "refused"
        return
    if expect.get("undefined") or expect.get("no_value"):
        assert result.value is None
        assert result.reason
        return
    if "value" in expect:
        assert result.status == "ok", result
        assert close(result.value, expect["value"], expect["tolerance"]), (result.value, expect["value"])
    for name, wanted in expect.get("values", {}).items():
        found = getattr(result, name) if name in ("mean_over_defined", "n_undefined", "value") else result.values[name]
        assert close(found, wanted, expect["tolerance"]), (name, found, wanted)


def close(found: Any, wanted: Any, tolerance: float) -> bool:
    if isinstance(wanted, list | tuple):
        return len(found) == len(wanted) and all(close(f, w, tolerance) for f, w in zip(found, wanted, strict=True))
    if isinstance(wanted, Mapping):
        return set(found) == set(wanted) and all(close(found[k], wanted[k], tolerance) for k in wanted)
    if isinstance(wanted, bool) or wanted is None or isinstance(wanted, str):
        return bool(found == wanted)
    return found is not None and math.isfinite(found) and abs(found - wanted) <= tolerance


def arrays_of(case: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    sides: dict[str, dict[str, Any]] = {"prediction": {}, "truth": {}}
    if "generator" in case:
        for name, column in generate(case["generator"]).items():
            side, field = name.split(".")
            sides[side][field] = column
    for side, fields in sides.items():
        for name, value in (case.get(side) or {}).items():
            fields[name] = value if name in TEXT else numbers(value)
    for path, dtype in case.get("dtype", {}).items():
        side, field = path.split(".")
        sides[side][field] = np.asarray(sides[side][field], dtype)
    return sides["prediction"], sides["truth"]


def numbers(value: Any) -> Any:
    """Numbers as arrays of float64 or int64; what is no block of numbers stays a list."""
    spelt = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
    if isinstance(value, list):
        items = [numbers(v) for v in value]
        if items and all(isinstance(i, float | int | np.ndarray) for i in items):
            shapes = {np.shape(i) for i in items}
            return np.asarray(items) if len(shapes) == 1 else items
        return items
    return spelt.get(value, value) if isinstance(value, str) else value


def generate(spec: dict[str, Any]) -> dict[str, Any]:
    x, a, c, m = spec["x0"], spec["a"], spec["c"], spec["m"]
    columns: dict[str, list[Any]] = {name: [] for name in spec["fields"]}
    for _ in range(spec["n"]):
        draws = []
        for _ in range(spec["draws_per_row"]):
            x = (a * x + c) % m
            draws.append(x // 65536)
        for name, field in spec["fields"].items():
            v = sum(coefficient * (draws[j] % modulus) for j, modulus, coefficient in field["terms"])
            if "at_least" in field:
                columns[name].append(1 if v >= field["at_least"] else 0)
            elif "mod" in field:
                columns[name].append(v % field["mod"])
            else:
                columns[name].append(v / field.get("divide_by", 1) + field.get("add", 0))
    return {name: np.asarray(column) for name, column in columns.items()}


# -- variants ----------------------------------------------------------------------------------------------------------


def run_variant_window(case: dict[str, Any]) -> None:
    truth, expect = case["truth"], case["expect"]
    variant = {name: [value] for name, value in truth["variant"].items()}
    if expect.get("refused"):
        with pytest.raises(PrimaBenchError) as caught:
            pb.get_sequences(variant, truth["fasta"], **case["params"])
        assert all(word in str(caught.value) for word in expect["mentions"])
        return
    found = pb.get_sequences(variant, truth["fasta"], **case["params"])
    assert {name: getattr(found, name)[0] for name in expect["values"]} == expect["values"]


# -- results -----------------------------------------------------------------------------------------------------------


def run_content_hash(case: dict[str, Any]) -> None:
    from primabench_core.result import content_hash

    left, right = content_hash(**case["params"]["left"]), content_hash(**case["params"]["right"])
    assert (left == right) is case["expect"]["values"]["same"]


def run_result_json(case: dict[str, Any]) -> None:
    from primabench_core.result import from_json, to_json

    params, expect = case["params"], case["expect"]["values"]

    def no_literals(name: str) -> None:
        raise AssertionError(f"{name} is not strict JSON")

    if "case" in params:
        value: Any = pb.score(params["metric"], params["case"]["prediction"], params["case"]["truth"])
    else:
        value = params.get("value", params.get("object"))
    text = to_json(value)
    written = json.loads(text, parse_constant=no_literals)
    found = {
        "has_value": isinstance(written, dict) and written.get("value") is not None,
        "has_reason": isinstance(written, dict) and bool(written.get("reason")),
        "strict_json": True,
        "same_bytes": to_json(from_json(text)) == text,
    }
    if "round_trip" in expect:
        found["round_trip"] = from_json(text)
    assert {name: found[name] for name in expect} == expect


def run_statistics(case: dict[str, Any]) -> None:
    arguments = {**case.get("params", {})}
    for side in ("prediction", "truth"):
        arguments |= {k: numbers(v) for k, v in (case.get(side) or {}).items()}
    function = getattr(pb.statistics, case["metric"])
    expect = case["expect"]
    if expect.get("refused"):
        with pytest.raises(PrimaBenchError) as caught:
            function(**arguments)
        assert all(word in str(caught.value) for word in expect["mentions"])
        return
    found = function(**arguments)
    if expect.get("undefined"):
        assert found.value is None
        assert found.reason
        return
    for name, wanted in expect["values"].items():
        assert close(found.values[name], wanted, expect["tolerance"]), (name, found.values[name], wanted)


# -- submissions -------------------------------------------------------------------------------------------------------


def run_submission(case: dict[str, Any]) -> None:
    from primabench_task_patient.submission import Asked, cover, read_submission

    given, truth, expect = case["prediction"], case["truth"], case["expect"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"submission.{given['format']}")
        if given["format"] == "npz":
            np.savez(path, **{name: np.asarray(numbers(value)) for name, value in given.items() if name != "format"})
        else:
            path.write_text(given["text"], encoding="utf-8")
        if expect.get("refused"):
            with pytest.raises(PrimaBenchError) as caught:
                read_submission(path)
            assert all(word in str(caught.value).lower() for word in expect["mentions"])
            return
        submission = read_submission(path)
    tasks = {name: Asked(task["dataset"], tuple(task["labelled"])) for name, task in truth["tasks"].items()}
    found = cover(submission, truth["datasets"], tasks)
    assert {name: task.status for name, task in found.tasks.items()} == expect["values"]["tasks"]
    assert found.width == expect["values"]["width"]
    assert [list(pair) for pair in found.unknown] == expect["values"]["unknown"]


# -- what runs ---------------------------------------------------------------------------------------------------------


def test_the_table_of_missing_pieces_is_right():
    asked = {case["metric"] for cases in CASES.values() for case in cases}
    missing = {metric for metric in asked if runner_of(metric) is None}
    assert missing - set(MISSING) == set(), "cases that nothing runs and no entry explains"
    assert set(MISSING) - missing == set(), "these pieces have come: delete their entries"


@pytest.mark.parametrize("case", all_cases())
def test_case(case):
    runner = runner_of(case["metric"])
    assert runner is not None
    runner(case)
