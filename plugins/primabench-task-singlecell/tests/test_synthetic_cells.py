"""Synthetic cells are made of integers: known bytes, and the distribution that the card promises."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from primabench_task_singlecell.synthetic.cells import CELLS_PER_DONOR, DONORS, TYPES, count_table, draw


def test_known_bytes() -> None:
    # a change here is a new version of the datasets, never a new expectation
    cells = draw(1, fold=3)
    assert hashlib.sha256(cells.counts.astype("<i4").tobytes()).hexdigest() == (
        "5937450c77439f7d2ffa404d0f9835ea7a84e78e22d30510c353b5b71cf21743"
    )
    assert hashlib.sha256(cells.expression.astype("<f4").tobytes()).hexdigest() == (
        "35d9fbe6f89d47e5ed8e8a8cb3a1d553f47c17afce63ad9334d2b0044915713a"
    )


def test_shape_and_composition() -> None:
    cells = draw(2, fold=5)
    assert cells.counts.shape == (120, 40)
    assert len(set(cells.ids)) == 120
    assert len(set(cells.genes)) == 40
    expected = {(d, t): n for d in DONORS for t, n in zip(TYPES, CELLS_PER_DONOR, strict=True)}
    assert Counter(zip(cells.donors, cells.types, strict=True)) == expected


def test_order_tells_neither_type_nor_donor() -> None:
    cells = draw(1)
    changes = sum(a != b for a, b in pairwise(cells.types))
    assert changes > 60  # sorted cells change 3 times, shuffled ones about 83 times
    assert list(cells.ids) == sorted(cells.ids)


def test_streams_differ() -> None:
    assert not np.array_equal(draw(1).counts, draw(2).counts)


def test_expression_is_the_natural_logarithm_of_one_more() -> None:
    cells = draw(1)
    assert cells.expression.dtype == np.float32
    np.testing.assert_allclose(cells.expression, np.log1p(cells.counts), rtol=1e-6)


@pytest.mark.parametrize("mean", [Fraction(1, 8), Fraction(1), Fraction(7, 3), Fraction(40)])
def test_table_is_the_negative_binomial_with_two_failures(mean: Fraction) -> None:
    scipy_stats = pytest.importorskip("scipy.stats", reason="scipy is the independent reference")
    table = np.asarray([t / 2**64 for t in count_table(mean)])
    reference = scipy_stats.nbinom.cdf(np.arange(len(table)), 2, 2 / (2 + float(mean)))
    np.testing.assert_allclose(table, reference, rtol=0, atol=1e-12)
    assert all(a < b for a, b in pairwise(table)) or math.isclose(table[-1], 1)


def test_marker_genes_mark_their_type() -> None:
    cells = draw(1, fold=3)
    types = np.asarray(cells.types)
    for kind, name in enumerate(TYPES[:3]):  # delta has 12 cells: too few to promise
        markers = slice(8 * kind, 8 * kind + 8)
        inside, outside = cells.counts[types == name][:, markers], cells.counts[types != name][:, markers]
        assert inside.mean() > 1.8 * outside.mean()
