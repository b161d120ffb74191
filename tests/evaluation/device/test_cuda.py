"""On a real GPU: no update waits for it, and what it reduces has the bits of the CPU."""

from __future__ import annotations

from contextlib import contextmanager

import numpy as np
import pytest

from primabench_core.errors import ContractError
from primabench_core.evaluation.evaluation import Evaluation
from primabench_core.state.check_digests import check_digests
from primabench_core.state.column_moments import ColumnMoments
from primabench_core.state.column_sums import ColumnSums
from primabench_core.state.grouped_sums import GroupedSums
from primabench_core.state.row_errors import row_errors
from primabench_core.state.torch_rows import check_digests_on_device, row_errors_on_device

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")

SUMS = ["mse", "mae", "r2", "pearson{per: feature}"]
KINDS = ["normal", "offset", "decades", "denormal", "cancels", "counts"]


@contextmanager
def no_waiting():
    """Whatever waits for the device fails."""
    torch.cuda.set_sync_debug_mode("error")
    try:
        yield
    finally:
        torch.cuda.set_sync_debug_mode("default")


def hard(kind, shape, dtype, seed=3):
    rng = np.random.default_rng(seed)
    normal = rng.normal(size=shape)
    x = {
        "normal": normal,
        "offset": 1e8 + normal,
        "decades": normal * 10.0 ** rng.integers(-30, 30, shape),
        "denormal": rng.integers(-50, 50, shape) * (1.4e-45 if dtype == np.float32 else 5e-324),
        "cancels": 1e15 * np.where(np.arange(shape[0])[:, None] % 2, normal, -normal) + 1e-3,
        "counts": rng.poisson(3.0, shape).astype(float),
    }[kind]
    return x.astype(dtype)


def same(left, right):
    (a, p), (b, q) = left.to_buffers(), right.to_buffers()
    assert a == b
    for name in p:
        np.testing.assert_array_equal(p[name], q[name])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", KINDS)
def test_states_have_the_same_bits(kind, dtype):
    x, y = hard(kind, (700, 50), dtype), hard("normal", (700, 50), dtype, seed=4)
    a, b = torch.from_numpy(x).cuda(), torch.from_numpy(y).cuda()
    codes = np.random.default_rng(0).integers(0, 6, 700)
    same(ColumnSums(50).add(a), ColumnSums(50).add(x))
    same(ColumnSums(50).add_product(a, b), ColumnSums(50).add_product(x, y))
    same(ColumnMoments(50).add(a, b), ColumnMoments(50).add(x, y))
    same(GroupedSums(6, 50).add(a, codes), GroupedSums(6, 50).add(x, codes))
    digests = check_digests_on_device(a).cpu().numpy().view(np.uint64)
    np.testing.assert_array_equal(digests, check_digests(x))
    for error in ("squared_error", "absolute_error"):
        found, odd = row_errors_on_device(a, b, error)
        if not bool(odd):
            np.testing.assert_array_equal(found.cpu().numpy(), row_errors(x, y, error))
        assert bool(odd) <= (kind in ("decades", "cancels", "denormal"))


@pytest.mark.parametrize("hashed", [True, False])
@pytest.mark.parametrize("places", ["host", "device"])
def test_labels(hashed, places):
    rng = np.random.default_rng(0)
    y, p = rng.integers(0, 9, (2, 5000))
    metrics = ["accuracy", "macro_f1", "mcc"]
    run, host = (Evaluation(metrics=metrics, truth={"label": y}, hash_predictions=hashed) for _ in range(2))
    host.update(label=p)
    there = torch.from_numpy(p).cuda()
    rows = rng.permutation(5000)
    cuts = [rows[i : i + 256] for i in range(0, 5000, 256)]
    on = [torch.from_numpy(c).cuda() for c in cuts]
    torch.cuda.synchronize()
    with no_waiting():
        for cut, device_cut in zip(cuts, on, strict=True):
            run.update(positions=device_cut if places == "device" else cut, label=there[device_cut])
    found, expected = run.compute(), host.compute()
    assert found.scores == expected.scores
    assert found.scores_hash == expected.scores_hash
    assert found.predictions_sha256 == expected.predictions_sha256
    assert found.device.startswith("cuda")


@pytest.mark.parametrize("hashed", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_wide_fields(hashed, dtype):
    x, y = hard("offset", (3000, 64), dtype), hard("offset", (3000, 64), dtype, seed=4)
    run, host = (Evaluation(metrics=SUMS, truth={"value": y}, hash_predictions=hashed) for _ in range(2))
    host.update(value=x)
    there = torch.from_numpy(x).cuda()
    with no_waiting():
        for start in range(0, 3000, 500):
            run.update(positions=slice(start, start + 500), value=there[start : start + 500])
            there = there.clone()
    found, expected = run.compute(), host.compute()
    assert found.scores_hash == expected.scores_hash
    assert found.predictions_sha256 == expected.predictions_sha256


def test_a_bad_number_is_told_with_its_id():
    run = Evaluation(metrics=["auroc"], truth={"ids": ["a", "b", "c"], "label": [0, 1, 1]})
    with no_waiting():
        run.update(ids=["a", "b", "c"], score=torch.tensor([0.1, float("nan"), 0.3], device="cuda"))
    with pytest.raises(ContractError, match=r"NaN(.|\n)*b"):
        run.compute()
