"""A plugin with a private dataset, built once, and a cluster whose workers know it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

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
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the installed plugin, with the store where its dataset is built."""
    site = Path(tmp_path_factory.mktemp("crowd-site"))
    shutil.copy(HERE / "crowd_plugin.py", site)
    (site / "crowd_data").mkdir()
    (site / "crowd_data" / "__init__.py").touch()
    (site / "crowd_data" / "words.txt").write_text("ant bee cow\n")
    info = site / "crowd_plugin-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: crowd-plugin\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    return site


@contextmanager
def installed(site: Path) -> Iterator[None]:
    """Here the plugin is found, and its store is that of the environment."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(site))
        patch.setenv("PRIMABENCH_STORE", str(site / "store"))
        patch.setenv("OMP_NUM_THREADS", "1")
        yield


@pytest.fixture(scope="session")
def workers(site: Path):
    """The client of two worker processes of one thread each; they know the plugin."""
    distributed = pytest.importorskip("distributed", reason='a cluster needs pip install "primabench-core[cluster]"')
    from primabench_core.evaluation.launch import start

    with ExitStack() as stack:
        with installed(site):  # what workers find in the environment when they begin
            cluster = stack.enter_context(start(2))
            client = stack.enter_context(distributed.Client(cluster, set_as_default=False))
            client.wait_for_workers(2, timeout=60)
        yield client


@pytest.fixture(scope="module")
def crowd(site: Path):
    """The plugin's module; its dataset is built. Both are there for one module of tests: others must not meet them."""
    from primabench_core.discovery import names
    from primabench_core.store.build import build_dataset

    with installed(site):
        names.refresh()
        module = import_module("crowd_plugin")
        if not (site / "store").exists():
            build_dataset(module.KEY)
        yield module
    names.refresh()


@pytest.fixture(scope="module")
def predicted(crowd):
    """(ids in some order, labels) of a model that does not know the canary."""
    rng = np.random.default_rng(1)
    order = rng.permutation(crowd.N)
    labels = np.asarray(["ant", "bee", "cow", "yak"], object)[rng.integers(0, 4, crowd.N)]
    return [crowd.IDS[i] for i in order], labels[order]


@pytest.fixture(scope="module")
def stored(predicted, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The same as a Zarr store."""
    from primabench_core.contract.evaldata import EvalData
    from primabench_core.store.zarr_io import write

    path = Path(tmp_path_factory.mktemp("predictions")) / "model.zarr"
    write(EvalData({"label": predicted[1]}, ids=predicted[0]), path, chunk_bytes=4096, shard_bytes=8192)
    return str(path)


@pytest.fixture(scope="module")
def expected(crowd, predicted):
    """One process, in one piece."""
    import primabench_core as pb

    return pb.evaluate("crowd", {"ids": predicted[0], "label": predicted[1]})


@pytest.fixture
def client(crowd, workers):
    """Two healthy workers."""
    workers.wait_for_workers(2, timeout=30)
    yield workers
    workers.wait_for_workers(2, timeout=30)
    workers.run(crowd.heal)


def parts_of(predicted, cuts):
    """A list of parts with these rows."""
    ids, labels = predicted
    return [{"ids": [ids[r] for r in cut], "label": labels[cut]} for cut in cuts]
