"""Exact sums over whole numbers, correctly rounded, for many sums at once.

The limbs of a sum are added from the top as an unevaluated pair of float64 (Knuth's two-sum loses nothing), the pair is
divided, and the quotient is corrected by its exact remainder. Where the second part of the result lies too near to half
a unit in the last place to be sure, nothing is claimed: those few sums are divided as integers.

Source: Dekker 1971, doi:10.1007/BF01397083; Muller et al. 2018, doi:10.1007/978-3-319-76526-6.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from primabench_core.state.windows import Floats, product_and_error

_LARGEST, _SMALLEST = 2.0**900, 2.0**-800
"""Sums beyond are divided as integers: products of their halves could leave the range."""


def quotients(limbs: NDArray[np.int64], low: int, divisors: NDArray[np.int64]) -> tuple[Floats, NDArray[np.bool_]]:
    """Σ limb[j]·2^(32·j + low) over a divisor, for each column.

    Args:
        limbs: (limbs, n) int64, each but the last in [0, 2^32).
        low: Exponent of the first limb.
        divisors: (n,) positive, below 2^52.

    Returns:
        (n,) quotients, each rounded once where the second array says True.

    Example:
        >>> quotients(np.array([[1, 7]]), 0, np.array([3, 7]))[0].tolist()
        [0.3333333333333333, 1.0]
    """
    n = limbs.shape[1]
    high, rest, drift = np.zeros(n), np.zeros(n), np.zeros(n)
    certain = np.ones(n, bool)
    for j in range(len(limbs) - 1, -1, -1):
        exponent = 32 * j + low
        if not limbs[j].any():
            continue
        if not -1000 < exponent < 900:
            certain &= limbs[j] == 0
            continue
        certain &= np.abs(limbs[j]) < 1 << 53
        term = np.ldexp(limbs[j].astype(np.float64), exponent)
        high, error = _two_sum(high, term)
        rest = rest + error
        drift += np.abs(rest) * (error != 0)
    high, rest = _two_sum(high, rest)
    size = np.abs(high)
    certain &= (size < _LARGEST) & ((size > _SMALLEST) | (limbs == 0).all(axis=0))
    high, rest, drift = (np.where(certain, part, 0.0) for part in (high, rest, drift))
    d = divisors.astype(np.float64)
    first = high / d
    product, error = product_and_error(first, d)
    second = ((high - product) - error + rest) / d
    value, tail = _two_sum(first, second)
    gap = np.abs(value) - np.nextafter(np.abs(value), 0.0)  # below a power of two half of that above
    doubt = np.abs(second) * 2.0**-45 + drift / d * 2.0**-50
    away = (np.abs(np.abs(tail) - gap / 2) > doubt) & (np.abs(np.abs(tail) - gap) > doubt)
    return value, certain & (away | ((tail == 0) & (doubt < gap / 4)) | (value == 0))


def _two_sum(a: Any, b: Any) -> tuple[Floats, Floats]:
    """The rounded sum and what rounding took, exactly."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)
