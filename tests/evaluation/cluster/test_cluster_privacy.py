"""What crosses the scheduler: dataset key, content hash, states of predictions, results; never an answer."""

from __future__ import annotations

import pickle

import pytest

import primabench_core as pb
from primabench_core.evaluation import folding
from primabench_core.evaluation.many import _question
from primabench_core.evaluation.parts import grouped, partitions

OPTIONS = {"seed": 0, "duplicates": "drop_identical", "partial": False, "hash_predictions": True}


@pytest.fixture
def wire(monkeypatch):
    """Every frame that this process, which is client and scheduler, sends or receives."""
    from distributed.comm import tcp

    frames: list[bytes] = []
    real_to, real_from = tcp.to_frames, tcp.from_frames

    async def to_frames(*arguments, **options):
        found = await real_to(*arguments, **options)
        frames.extend(bytes(f) for f in found)
        return found

    async def from_frames(found, **options):
        frames.extend(bytes(f) for f in found)
        return await real_from(found, **options)

    monkeypatch.setattr(tcp, "to_frames", to_frames)
    monkeypatch.setattr(tcp, "from_frames", from_frames)
    return frames


def test_no_answer_reaches_client_or_scheduler(client, crowd, stored, predicted, wire):
    ids, labels = predicted
    given = {"stored": stored, "held": {"ids": ids, "label": labels}, "short": {"ids": ids[:9], "label": labels[:9]}}
    # a mean over classes would name them in its result, which is a result's affair and not that of the way to it
    options = {"metrics": ["accuracy"], "partition_rows": 200, "progress": False}
    found = pb.evaluate_many(given, "crowd", client=client, **options)
    expected = pb.evaluate("crowd", given["held"], metrics=["accuracy"])
    assert found["stored"].scores_hash == found["held"].scores_hash == expected.scores_hash
    assert found["short"].kind == "CoverageError"
    everything = b"".join(wire)
    assert crowd.KEY.encode() in everything  # the spy sees what passes
    assert b"accuracy" in everything
    assert b"yak" in everything  # a predicted class that travelled with rows in memory
    assert crowd.CANARY.encode() not in everything
    assert len(everything) > 10_000


def test_neither_graph_nor_states_hold_an_answer(crowd, stored):
    import cloudpickle

    question = _question("crowd", None, None, None, None, 0.95, OPTIONS, travels=True)
    groups = grouped(partitions(stored, question.request.contract, {}, 300), 5)
    graph = cloudpickle.dumps([question, groups])
    states = [folding.fold(question, g) for g in groups]
    for held in (graph, pickle.dumps(states), pickle.dumps(folding.combine(question, states))):
        assert crowd.CANARY.encode() not in held
    assert crowd.KEY.encode() in graph
    assert question.request.store is None
    assert question.request.dataset_hash.encode() in graph


def test_a_failing_metric_does_not_carry_the_truth_to_the_client(crowd, stored, monkeypatch):
    question = _question("crowd", None, None, ["accuracy"], None, None, OPTIONS, travels=False)
    groups = grouped(partitions(stored, question.request.contract, {}, 300), 1)

    def leak(intake, block):
        raise ValueError(f"the truth is {intake.truth.columns['label'].classes}")

    monkeypatch.setattr(folding, "take", leak)
    told = folding.fold(question, groups[0])
    assert crowd.CANARY not in repr(told)
    assert "ValueError" in told["error"]["message"]


def test_only_results_come_back(client, stored, wire):
    """Bytes do not grow with rows: a state stays on the workers."""
    pb.evaluate_many({"a": stored}, "crowd", client=client, partition_rows=100, progress=False)
    assert max(map(len, wire)) < 60_000
