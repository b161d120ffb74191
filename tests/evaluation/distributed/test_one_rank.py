"""What needs no second process: who may talk to torch.distributed, refusals, and the forms in which states travel."""

from __future__ import annotations

import ast
import pickle
from pathlib import Path

import numpy as np
import pytest

import primabench_core as pb
from primabench_core.contract.violations import Violation
from primabench_core.errors import ContractError, CoverageError, DistributedError, MissingDataError, UsageError
from primabench_core.evaluation.travel import error_from_plain, error_to_plain, pack, unpack

ROOT = Path(__file__).parents[3]
TRUTH = {"label": [0, 1, 1, 0]}


@pytest.fixture(scope="module")
def world():
    import torch.distributed as dist

    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    yield dist
    dist.destroy_process_group()


def test_only_one_module_imports_torch_distributed():
    homes = [ROOT / "primabench_core", *ROOT.glob("plugins/*/src"), ROOT / "recipes" / "primabench_recipes"]
    using = set()
    for file in (f for home in homes for f in home.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
            elif isinstance(node, ast.Attribute) and node.attr == "distributed":
                names = ["torch.distributed"]
            else:
                continue
            if any(name.startswith("torch.distributed") for name in names):
                using.add(file.relative_to(ROOT).as_posix())
    assert using == {"primabench_core/evaluation/collectives.py"}


def test_a_group_of_one(world):
    alone = pb.stream(["accuracy"], TRUTH)
    joined = pb.stream(["accuracy"], TRUTH, process_group="world", timeout=5.0)
    for run in (alone, joined):
        run.update(label=[0, 1, 0, 0])
    assert joined.compute().scores_hash == alone.compute().scores_hash
    assert joined.compute(ci=0.5)["accuracy"].interval == alone.compute(ci=0.5)["accuracy"].interval


def test_nothing_but_compute_communicates(world, monkeypatch):
    run = pb.stream(["accuracy"], TRUTH, process_group="world")

    def refuse(*args, **kwargs):
        raise AssertionError("a collective was called")

    for name in ("send", "recv", "broadcast", "barrier", "all_gather", "get_world_size", "get_rank", "is_initialized"):
        monkeypatch.setattr(world, name, refuse)
    monkeypatch.setattr("primabench_core.evaluation.collectives.Ranks.meet", refuse)
    run.update(label=[0, 1, 0, 0])
    repr(run), run.coverage, run.merge(), run.n_seen
    run.reset()


def test_no_metric_asks_whether_it_is_distributed(world, monkeypatch):
    run = pb.stream(["accuracy", "macro_f1", "mcc"], TRUTH)
    for name in ("is_initialized", "is_available", "get_world_size", "get_rank"):
        monkeypatch.setattr(world, name, lambda *a: (_ for _ in ()).throw(AssertionError("asked")))
    run.update(label=[0, 1, 0, 0])
    assert not [r for r in run.compute(ci=0.9) if r.status == "failed"]


def test_a_process_group_stays_in_its_process(world):
    run = pb.stream(["accuracy"], TRUTH, process_group="world")
    run.update(label=[0, 1, 0, 0])
    twin = pickle.loads(pickle.dumps(run))
    assert twin._ranks is None
    assert twin.compute().scores == {"accuracy": 0.75}


@pytest.mark.parametrize("wrong", [{"timeout": 0}, {"timeout": float("inf")}, {"timeout": "1"}, {"process_group": "x"}])
def test_refusals(world, wrong):
    with pytest.raises(UsageError):
        pb.stream(["accuracy"], TRUTH, **{"process_group": "world", **wrong})


def test_without_an_initialised_group(monkeypatch):
    import torch.distributed as dist

    monkeypatch.setattr(dist, "is_initialized", lambda: False)
    with pytest.raises(UsageError, match="not initialised"):
        pb.stream(["accuracy"], TRUTH, process_group="world")


@pytest.mark.parametrize(
    ("backends", "device"), [("cpu:gloo,cuda:nccl", "cpu"), ("cuda:nccl", "cuda:1"), ("cpu:gloo", "cpu")]
)
def test_bytes_go_where_the_backend_can_take_them(world, monkeypatch, backends, device):
    import torch

    from primabench_core.evaluation.collectives import Ranks

    ranks = Ranks("world", 5.0)
    monkeypatch.setattr(world, "get_backend_config", lambda group: backends)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 1)
    assert str(ranks._device()) == device


def test_states_travel_as_plain_bytes():
    value = {
        "meta": {"run": [0, 3], "none": None, "big": 1 << 200, "yes": True, "x": 0.1},
        "a": np.arange(7, dtype=np.uint16),
        "empty": np.empty((0, 3), np.float32),
        "wide": np.arange(6.0).reshape(2, 3)[:, ::2],
        "scalar": np.float32(0.5),
        "raw": b"\x00\xff",
        "classes": ("a", 3, "ü\ud800"),
        "outside": {"z", "y"},
    }
    back = unpack(pack(value))
    assert back["meta"] == value["meta"]
    assert back["raw"] == value["raw"]
    assert (back["classes"], back["outside"], back["scalar"]) == (value["classes"], value["outside"], 0.5)
    for name in ("a", "empty", "wide"):
        assert back[name].dtype == value[name].dtype
        np.testing.assert_array_equal(back[name], value[name])
    for bad in (np.array(["x"], object), {1: 2}, object()):
        with pytest.raises(TypeError):
            pack(bad)


def test_errors_travel_with_their_class_and_without_foreign_words():
    violation = Violation("label", "one", "two", ids=["a"], count=1, remedy="do")
    for error in (
        ContractError([violation]),
        CoverageError([violation], remedy="x"),
        MissingDataError("m", remedy="r"),
    ):
        back = error_from_plain(error_to_plain(error))
        assert (type(back), str(back)) == (type(error), str(error))
        assert getattr(back, "violations", ()) == getattr(error, "violations", ())
    foreign = error_from_plain(error_to_plain(KeyError("the secret")))
    assert type(foreign) is DistributedError
    assert "secret" not in str(foreign)
    assert "No space left" in str(error_from_plain(error_to_plain(OSError(28, "No space left on device"))))
    assert type(error_from_plain({"kind": "Violation", "message": "m", "remedy": ""})) is DistributedError
