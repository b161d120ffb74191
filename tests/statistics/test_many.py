import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from primabench_core.errors import UsageError
from primabench_core.statistics import benjamini_hochberg, holm

ps = st.lists(st.floats(0, 1), max_size=30)


@pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])
@given(p=ps, seed=st.integers(0, 100))
def test_laws(adjust, p, seed):
    adjusted = np.array(adjust(p=p).values["adjusted"])
    assert len(adjusted) == len(p)
    assert np.all(adjusted >= np.array(p) * (1 - 1e-15))  # m p / m rounds
    assert np.all(adjusted <= 1)
    order = np.argsort(p, kind="stable")
    assert np.all(np.diff(adjusted[order]) >= 0)  # the ranking of the tests stays
    shuffled = np.random.default_rng(seed).permutation(len(p))
    again = np.array(adjust(p=np.array(p)[shuffled]).values["adjusted"])
    np.testing.assert_array_equal(again, adjusted[shuffled])


@given(p=st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_benjamini_hochberg_agrees_with_scipy(p):
    ours = benjamini_hochberg(p=p).values["adjusted"]
    np.testing.assert_allclose(ours, stats.false_discovery_control(p), rtol=1e-12, atol=0)


@given(p=ps)
def test_holm_agrees_with_its_direct_form(p):
    m = len(p)
    order = sorted(range(m), key=lambda i: (p[i], i))
    for rank, i in enumerate(order):
        direct = max((min(1.0, (m - j) * p[order[j]]) for j in range(rank + 1)), default=0.0)
        assert holm(p=p).values["adjusted"][i] == direct
    assert all(
        h >= b - 1e-15
        for h, b in zip(holm(p=p).values["adjusted"], benjamini_hochberg(p=p).values["adjusted"], strict=True)
    )


@pytest.mark.parametrize("bad", [[-0.1], [1.0000001], [float("nan")], ["0.1"], [None], [[0.1]], 0.1, [0.1 + 1j]])
@pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])
def test_a_bad_p_is_refused_by_name(adjust, bad):
    with pytest.raises(UsageError, match=r"^p: "):
        adjust(p=bad)
