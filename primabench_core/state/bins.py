"""Bins of equal width over probabilities, for whatever compares them with frequencies."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def bin_of(probability: ArrayLike, bins: int) -> NDArray[np.int64]:
    """Bin ((b−1)/bins, b/bins] of each probability, counted from 0; 0 itself lies in the first.

    Numbers and edges are compared as float32: 0.6 in float32 is a little more than in float64, and models give either.

    Args:
        probability: (n,) in [0, 1].
        bins: Number of bins.

    Returns:
        (n,) int64 from 0 to ``bins`` - 1.

    Example:
        >>> bin_of([0.0, 0.6, np.float32(0.6), 0.61, 1.0], 5).tolist()
        [0, 2, 2, 3, 4]
    """
    edges = (np.arange(1, bins) / bins).astype(np.float32)
    return np.searchsorted(edges, np.asarray(probability).astype(np.float32), "left").astype(np.int64)
