"""Real process groups on gloo: whatever the ranks saw, and whatever goes wrong on one of them, all get the same."""

from __future__ import annotations

import importlib.util
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def load(path: Path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def script():
    sys.path.insert(0, str(HERE.parent))
    yield load(HERE / "ranks_script.py")
    sys.path.remove(str(HERE.parent))


@pytest.fixture(scope="module")
def cases(script):
    return list(load(HERE.parent / "matrix.py").cases())


@pytest.fixture(scope="module", params=["spawn 3", "torchrun 4"])
def ranks(request, cases, tmp_path_factory):
    """(number of ranks, what each of them found); a subgroup makes a group of two out of three."""
    how, size = request.param.split()
    folder = tmp_path_factory.mktemp(how)
    (folder / "cases.pkl").write_bytes(pickle.dumps(cases))
    program = [str(HERE / "ranks_script.py")]
    if how == "spawn":
        command = [sys.executable, *program, size, str(folder)]
    else:
        start = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={size}"]
        command = [*start, *program, str(folder)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
    ran = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)
    assert ran.returncode == 0, ran.stderr[-4000:]
    return int(size), [json.loads((folder / f"rank{r}.json").read_text()) for r in range(int(size))]


@pytest.fixture(scope="module")
def whole(script):
    import primabench_core as pb

    run = pb.stream(script.METRICS, script.TRUTH)
    run.update(ids=script.TRUTH["ids"], label=script.LABEL)
    return run.compute(ci=0.9)


def test_all_ranks_get_one_result_and_it_is_that_of_one_process(ranks, whole):
    _, found = ranks
    for scenario in ("uneven", "again", "sampled", "after"):
        assert {told[scenario]["scores_hash"] for told in found} == {whole.scores_hash}, scenario
        assert len({told[scenario]["json"] for told in found}) == 1, scenario
    from primabench_core.result import from_json

    joint = from_json(found[-1]["uneven"]["json"])
    assert [r.interval for r in joint] == [r.interval for r in whole]
    assert joint.predictions_sha256 == whole.predictions_sha256


def test_what_is_wrong_with_the_whole_is_raised_by_all(ranks):
    size, found = ranks
    for told in found:
        assert told["conflict"]["error"] == "ContractError"
        assert told["conflict"]["ids"] == ["row0"]
        assert f"rank {size - 1}" in told["conflict"]["message"]
        assert told["uncovered"]["error"] == "CoverageError"
    assert len({told["uncovered"]["message"] for told in found}) == 1


def test_a_rank_that_raises_makes_all_raise(ranks):
    size, found = ranks
    for rank, told in enumerate(found):
        assert told["raises"]["error"] == ("UsageError" if rank == 1 else "DistributedError")
        assert rank == 1 or told["raises"]["message"].startswith(f"Rank 1 of {size} failed in compute(): UsageError")
        assert "seed" in told["differs"]["message"]


def test_a_missing_rank_is_named_and_learns_that_it_came_late(ranks):
    size, found = ranks
    for told in found[:-1]:
        assert told["missing"]["error"] == "DistributedError"
        assert f"Rank {size - 1} of {size} did not reach compute() within 5 s" in told["missing"]["message"]
    assert "gave up waiting" in found[-1]["late"]["message"]


def test_a_group_of_some_ranks(ranks, whole):
    _, found = ranks
    assert {told["subgroup"]["scores_hash"] for told in found[:-1]} == {whole.scores_hash}
    assert found[-1]["outside"]["error"] == "UsageError"


def test_every_registered_metric_has_the_bits_of_one_process(ranks, cases):
    _, found = ranks
    import primabench_core as pb

    matrix = load(HERE.parent / "matrix.py")
    for name, metrics, case in cases:
        run = pb.stream(metrics, case.truth)
        run.update(predictions={"ids": case.ids, **case.prediction})
        expected = json.loads(json.dumps(matrix.summary(run.compute())))
        for told in found:
            together = told["matrix"][name]
            assert together["scores_hash"] == expected["scores_hash"], name
            assert together["predictions_sha256"] == expected["predictions_sha256"], name
            assert together["status"] == expected["status"], name
            for metric, value in expected["values"].items():
                assert together["values"][metric] == pytest.approx(value, rel=1e-9, abs=1e-12), name
    assert len(found[0]["matrix"]) > 40
