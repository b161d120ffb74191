"""A plugin with a private dataset, built once, and a cluster whose workers know it."""

from __future__ import annotations

import shutil
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from primabench_core.testing.fixtures import local_cluster  # noqa: F401

HERE = Path(__file__).parent
ENTRY_POINTS = """
[primabench.tasks]
crowd = crowd_plugin:TASK
[primabench.datasets]
doe_2020_journal/crowd@1.0.0 = crowd_plugin:DATASET
[primabench.recipes]
doe_2020_journal/crowd@1.0.0 = crowd_plugin:RECIPE
[primabench.preparers]
crowd|doe_2020_journal/crowd@1.0.0 = crowd_plugin:PREPARE
"""


@pytest.fixture(scope="session")
def crowd(tmp_path_factory: pytest.TempPathFactory):
    """The plugin's module; its dataset is built in the store that the environment names."""
    from primabench_core.discovery import names
    from primabench_core.store.build import build_dataset

    site = Path(tmp_path_factory.mktemp("crowd-site"))
    shutil.copy(HERE / "crowd_plugin.py", site)
    (site / "crowd_data").mkdir()
    (site / "crowd_data" / "__init__.py").touch()
    (site / "crowd_data" / "words.txt").write_text("ant bee cow\n")
    info = site / "crowd_plugin-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: crowd-plugin\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(site))
        patch.setenv("PRIMABENCH_STORE", str(tmp_path_factory.mktemp("crowd-store")))
        patch.setenv("OMP_NUM_THREADS", "1")
        names.refresh()
        module = import_module("crowd_plugin")
        build_dataset(module.KEY)
        yield module
    sys.modules.pop("crowd_plugin", None)
    names.refresh()


@pytest.fixture(scope="session")
def predicted(crowd):
    """(ids in some order, labels) of a model that does not know the canary."""
    rng = np.random.default_rng(1)
    order = rng.permutation(crowd.N)
    labels = np.asarray(["ant", "bee", "cow", "yak"], object)[rng.integers(0, 4, crowd.N)]
    return [crowd.IDS[i] for i in order], labels[order]


@pytest.fixture(scope="session")
def stored(predicted, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The same as a Zarr store."""
    from primabench_core.contract.evaldata import EvalData
    from primabench_core.store.zarr_io import write

    path = Path(tmp_path_factory.mktemp("predictions")) / "model.zarr"
    write(EvalData({"label": predicted[1]}, ids=predicted[0]), path, chunk_bytes=4096, shard_bytes=8192)
    return str(path)


@pytest.fixture(scope="session")
def expected(crowd, predicted):
    """One process, in one piece."""
    import primabench_core as pb

    return pb.evaluate("crowd", {"ids": predicted[0], "label": predicted[1]})


@pytest.fixture
def client(crowd, local_cluster):  # noqa: F811
    """Two healthy workers."""
    local_cluster.wait_for_workers(2, timeout=30)
    yield local_cluster
    local_cluster.wait_for_workers(2, timeout=30)
    local_cluster.run(crowd.heal)


def parts_of(predicted, cuts):
    """A list of parts with these rows."""
    ids, labels = predicted
    return [{"ids": [ids[r] for r in cut], "label": labels[cut]} for cut in cuts]
