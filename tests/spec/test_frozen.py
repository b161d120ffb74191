from __future__ import annotations

import pickle

import numpy as np
import pytest

from primabench_core.spec.frozen import FrozenMapping


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ({"k": 1}, {"k": 1.0}),
        ({"k": True}, {"k": 1}),
        ({"k": -0.0}, {"k": 0.0}),
        ({"k": np.int64(3)}, {"k": 3}),
        ({"k": [1, 2]}, {"k": [1.0, 2]}),
        ({"k": {"x": 1}}, {"k": FrozenMapping({"x": 1.0})}),
        ({"k": ({"x": 1}, [2])}, {"k": (FrozenMapping({"x": 1}), [2])}),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    ],
)
def test_equal_mappings_hash_equal(left, right):
    one, other = FrozenMapping(left), FrozenMapping(right)
    assert one == other
    assert hash(one) == hash(other)
    assert len({one, other}) == 1


def test_what_has_no_hash_does_not_spoil_that_of_the_mapping():
    assert hash(FrozenMapping({"k": np.arange(3)})) == hash(FrozenMapping({"k": np.arange(3)}))
    assert hash(FrozenMapping({"k": 1})) != hash(FrozenMapping({"j": 1}))
    held = FrozenMapping({"k": (1, 2)})
    assert pickle.loads(pickle.dumps(held)) == held
