"""Every registered metric on tiny data: one piece = a cluster with shuffled completion = a thousand partitions."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

import primabench_core as pb

sys.path.append(str(Path(__file__).parents[1]))
import matrix


def agree(name, found, expected):
    assert isinstance(found, pb.EvalResult), (name, found)
    mine, one = (json.loads(json.dumps(matrix.summary(r))) for r in (found, expected))
    assert mine["scores_hash"] == one["scores_hash"], name
    assert mine["predictions_sha256"] == one["predictions_sha256"], name
    assert mine["status"] == one["status"], name
    for metric, value in one["values"].items():
        if value is None:
            assert mine["values"][metric] is None, name
        else:
            assert mine["values"][metric] == pytest.approx(value, rel=1e-9, abs=1e-12), name


def pieces(case, parts, seed):
    return [matrix.part(case, rows) for rows in matrix.cut(case.n, parts, seed)]


def check(crowd, client, cases):
    client.run(crowd.shuffle, 5)
    count = 0
    for name, metrics, case in cases:
        whole = pb.stream(metrics, case.truth)
        whole.update(predictions={"ids": case.ids, **case.prediction})
        expected = whole.compute()
        many = pb.stream(metrics, case.truth)
        for rows in np.array_split(np.random.default_rng(7).permutation(case.n), 1_000):  # most of them empty
            many.update(predictions=matrix.part(case, rows))
        agree(name, many.compute(), expected)
        given = {"nine": pieces(case, 9, 2)}
        options = {"truth": case.truth, "metrics": metrics, "ci": None, "progress": False}
        for found in pb.evaluate_many(given, client=client, **options).values():
            agree(name, found, expected)
        count += 1
    return count


def test_every_registered_metric(crowd, client):
    assert check(crowd, client, matrix.cases()) > 40


@pytest.mark.slow
def test_every_registered_metric_on_every_input_that_it_takes(crowd, client):
    assert check(crowd, client, matrix.cases(every=True)) > 100
