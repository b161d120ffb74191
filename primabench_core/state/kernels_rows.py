"""Compiled loops along rows: errors and digests of each row; see :mod:`primabench_core.state.kernels`."""

# mypy: ignore-errors

from __future__ import annotations

import math
from functools import cache

import numba
import numpy as np

from primabench_core.state.kernels import F4, F8, INNER, U8, jit, read


@numba.njit(**INNER)
def _round_row(coarse, fine, exponent):
    """The float64 nearest to (coarse·2^48 + fine)·2^(exponent − 96), ties to even; coarse in [2^20, 2^62)."""
    coarse += fine >> 48
    fine &= (1 << 48) - 1
    length = 0
    while coarse >> length:
        length += 1
    spare = 62 - length
    whole = (coarse << spare) | (fine >> (48 - spare))
    left = fine & ((1 << (48 - spare)) - 1)
    kept, rest = whole >> 9, whole & 511
    if rest > 256 or (rest == 256 and (left != 0 or kept & 1)):
        kept += 1
    return math.ldexp(np.float64(kept), exponent - 48 - spare + 9)


@numba.njit(**INNER)
def _top_exponent(a, b, squared):
    """E with all terms of a row below 2^e."""
    top = 0.0
    for j in range(len(a)):
        d = abs(np.float64(a[j]) - np.float64(b[j]))
        top = d if d > top else top
    return math.frexp(top * top if squared else top)[1]


@numba.njit(**INNER)
def _row_error(a, b, squared, exponent):
    """Exact sum of the terms of one row below 2^exponent, rounded once; NaN where the windows do not hold them."""
    if exponent < -700 or exponent > 900:
        return np.nan
    # units 2^(exponent - 48) and 2^(exponent - 96): integers below 2^48 each, in the lowest bits of a float64, so that
    # the sums of 2^14 of them stay in 64 bits
    m1, m2 = math.ldexp(1.0, exponent + 4), math.ldexp(1.5, exponent - 44)
    coarse, fine, rest, seen = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    # sums of integers may be taken in any order: both loops are vectorised and keep everything in registers
    if squared:
        for j in range(len(a)):
            d = np.float64(a[j]) - np.float64(b[j])
            t = d * d
            u = t + m1
            r = t - (u - m1)
            v = r + m2
            bits = np.float64(u).view(np.int64)
            coarse += bits
            seen |= bits
            fine += np.float64(v).view(np.int64)
            rest |= np.float64(r - (v - m2)).view(np.int64)
    else:
        for j in range(len(a)):
            t = abs(np.float64(a[j]) - np.float64(b[j]))
            u = t + m1
            r = t - (u - m1)
            v = r + m2
            bits = np.float64(u).view(np.int64)
            coarse += bits
            seen |= bits
            fine += np.float64(v).view(np.int64)
            rest |= np.float64(r - (v - m2)).view(np.int64)
    base1, base2 = np.float64(m1).view(np.int64), np.float64(m2).view(np.int64)
    if (seen ^ base1) >> 52 or rest & 0x7FFFFFFFFFFFFFFF:  # a term left the binade of m1, or has bits below
        return np.nan
    coarse -= len(a) * base1
    fine -= len(a) * base2
    if coarse == 0 and fine == 0:
        return 0.0
    return np.nan if coarse < 1 << 20 else _round_row(coarse, fine, exponent)


@numba.njit(**INNER)
def _row_errors(x, y, squared, out):
    exponent = -10_000
    for i in range(len(out)):
        # rows are alike: the exponent of the last one, with room, saves a pass
        out[i] = _row_error(x[i], y[i], squared, exponent + 2)
        if np.isnan(out[i]):
            exponent = _top_exponent(x[i], y[i], squared)
            out[i] = _row_error(x[i], y[i], squared, exponent)


@cache
def row_errors_single():
    """Exact sums of squared (else absolute) differences of each row of float32, NaN where not found."""

    @jit(read(F4, 2), read(F4, 2), numba.boolean, F8[::1])
    def run(x, y, squared, out):
        _row_errors(x, y, squared, out)

    return run


@cache
def row_errors_double():
    """As :func:`row_errors_single` of float64."""

    @jit(read(F8, 2), read(F8, 2), numba.boolean, F8[::1])
    def run(x, y, squared, out):
        _row_errors(x, y, squared, out)

    return run


@numba.njit(**INNER)
def _check_digest(row, k0, k1, k2, k3):
    half, shift = np.uint64(0xFFFFFFFF), np.uint64(32)
    first, second = np.uint64(0), np.uint64(0)
    for j in range(len(row)):
        bits = np.float64(np.float64(row[j]) + 0.0).view(np.uint64)
        high, low = bits >> shift, bits & half
        first += ((high + k0[j]) & half) * ((low + k1[j]) & half)
        second += ((high + k2[j]) & half) * ((low + k3[j]) & half)
    return first, second


@numba.njit(**INNER)
def _check_digests(x, keys, out):
    k0, k1, k2, k3 = keys[0], keys[1], keys[2], keys[3]
    for i in range(x.shape[0]):
        out[i, 0], out[i, 1] = _check_digest(x[i], k0, k1, k2, k3)


@cache
def check_digests_single():
    """Digests of rows of float32; see :mod:`primabench_core.state.check_digests`."""

    @jit(read(F4, 2), read(U8, 2), U8[:, ::1])
    def run(x, keys, out):
        _check_digests(x, keys, out)

    return run


@cache
def check_digests_double():
    """As :func:`check_digests_single` of float64."""

    @jit(read(F8, 2), read(U8, 2), U8[:, ::1])
    def run(x, keys, out):
        _check_digests(x, keys, out)

    return run
