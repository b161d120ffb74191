"""Predictions behind a URL: workers bring the rows that they fold, and say what is not there."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path

import pytest

import primabench_core as pb

SERVERS = Path(__file__).parents[2] / "store" / "servers.py"


@pytest.fixture
def served(stored, tmp_path):
    spec = importlib.util.spec_from_file_location("servers", SERVERS)
    servers = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(servers)
    shutil.copytree(stored, tmp_path / "model.zarr")
    server = servers.FileServer(tmp_path)
    yield server, tmp_path
    server.stop()


def test_a_store_and_a_file_behind_a_url(client, served, stored, predicted, expected):
    server, folder = served
    ids, labels = predicted
    pb.EvalData({"label": labels}, ids=ids).to_pandas().to_csv(folder / "table.csv")
    given = {"store": f"{server.url}/model.zarr", "table": f"{server.url}/table.csv", "gone": f"{server.url}/gone.zarr"}
    for where in (None, client):
        found = pb.evaluate_many(given, "crowd", client=where, partition_rows=200, progress=False)
        assert found["store"].scores_hash == expected.scores_hash
        assert found["table"].scores_hash == expected.scores_hash
        assert found["gone"].kind == "MissingDataError"
        assert "gone.zarr" in found["gone"].reason


def test_only_blocks_with_these_rows_are_asked_for(crowd, served):
    from primabench_core.evaluation.parts import StoredPart, blocks

    server, _ = served
    contract = crowd.TASK.contract
    part = StoredPart(f"{server.url}/model.zarr", ranges=((0, 10),))
    (block,) = blocks([part], contract)
    assert block.data.n == 10
    ids = {path for path, _ in server.asked if "/ids/c/" in path}
    assert ids == {"model.zarr/ids/c/0"}  # of six


def test_a_store_on_this_disk_gives_ids_of_a_range_alone(crowd, stored):
    from primabench_core.evaluation.parts import StoredPart
    from primabench_core.store.stored import StoredData
    from primabench_core.testing.spy import watch_chunks

    with watch_chunks() as seen:
        data = StoredPart(stored).open(crowd.TASK.contract)
    assert isinstance(data, StoredData)
    assert not [key for key in seen if "/c/" in key]
