"""Loops that numba compiles; imported by :mod:`primabench_core.state.compiled` alone, when numba is there.

Each of them does one IEEE operation where it says one: no fused multiply-add, no reassociation that rounds. What they
give is exact wherever the caller finds it certified, so that they cannot change a bit of any score. Rows are sliced
before the inner loop, and inner loops run over ``range(len(…))``: only so are they vectorised.
"""

# mypy: ignore-errors

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numba
import numpy as np

from primabench_core.state.compiled import compile_options

F4, F8, I4, I8, U8 = numba.float32, numba.float64, numba.int32, numba.int64, numba.uint64


def read(kind: Any, dims: int) -> Any:
    """An array that is only read: arrays that may be written are taken too."""
    return numba.types.Array(kind, dims, "C", readonly=True)


def jit(*arguments: Any) -> Any:
    """Compiles a function of these arguments that returns nothing."""
    return numba.njit([numba.void(*arguments)], **compile_options())


INNER: dict[str, Any] = {"nogil": True, "boundscheck": False, "inline": "never"}


@numba.njit(**INNER)
def _magnitudes(x, rows, i, n, s, e, most, least):
    """Largest and smallest magnitude of columns s to e of rows[i:n]."""
    while i + 8 <= n:
        a0, a1, a2, a3 = x[rows[i]][s:e], x[rows[i + 1]][s:e], x[rows[i + 2]][s:e], x[rows[i + 3]][s:e]
        a4, a5, a6, a7 = x[rows[i + 4]][s:e], x[rows[i + 5]][s:e], x[rows[i + 6]][s:e], x[rows[i + 7]][s:e]
        for j in range(len(a0)):
            v0, v1, v2, v3 = abs(a0[j]), abs(a1[j]), abs(a2[j]), abs(a3[j])
            v4, v5, v6, v7 = abs(a4[j]), abs(a5[j]), abs(a6[j]), abs(a7[j])
            p0 = v0 if v0 < v1 else v1
            p1 = v2 if v2 < v3 else v3
            p2 = v4 if v4 < v5 else v5
            p3 = v6 if v6 < v7 else v7
            q0 = v0 if v0 > v1 else v1
            q1 = v2 if v2 > v3 else v3
            q2 = v4 if v4 > v5 else v5
            q3 = v6 if v6 > v7 else v7
            p0 = p0 if p0 < p1 else p1
            p2 = p2 if p2 < p3 else p3
            p0 = p0 if p0 < p2 else p2
            q0 = q0 if q0 > q1 else q1
            q2 = q2 if q2 > q3 else q3
            q0 = q0 if q0 > q2 else q2
            least[j] = p0 if p0 < least[j] else least[j]
            most[j] = q0 if q0 > most[j] else most[j]
        i += 8
    while i < n:
        a0 = x[rows[i]][s:e]
        for j in range(len(a0)):
            v0 = abs(a0[j])
            least[j] = v0 if v0 < least[j] else least[j]
            most[j] = v0 if v0 > most[j] else most[j]
        i += 1


@numba.njit(**INNER)
def _least(x, rows, i, n, s, e, far, least):
    """Smallest magnitude but zero."""
    while i < n:
        # rows past the end are the last one again, which changes no minimum
        a0, a1 = x[rows[i]][s:e], x[rows[min(i + 1, n - 1)]][s:e]
        a2, a3 = x[rows[min(i + 2, n - 1)]][s:e], x[rows[min(i + 3, n - 1)]][s:e]
        for j in range(len(a0)):
            v0, v1, v2, v3 = abs(a0[j]), abs(a1[j]), abs(a2[j]), abs(a3[j])
            v0 = v0 if v0 > 0 else far
            v1 = v1 if v1 > 0 else far
            v2 = v2 if v2 > 0 else far
            v3 = v3 if v3 > 0 else far
            v0 = v0 if v0 < v1 else v1
            v2 = v2 if v2 < v3 else v3
            v0 = v0 if v0 < v2 else v2
            least[j] = v0 if v0 < least[j] else least[j]
        i += 4


@numba.njit(**INNER)
def _ranges(x, rows, i, n, s, e, low, high):
    """Smallest and largest number of columns s to e of rows[i:n]."""
    while i < n:
        a0, a1 = x[rows[i]][s:e], x[rows[min(i + 1, n - 1)]][s:e]
        a2, a3 = x[rows[min(i + 2, n - 1)]][s:e], x[rows[min(i + 3, n - 1)]][s:e]
        for j in range(len(a0)):
            v0, v1, v2, v3 = a0[j], a1[j], a2[j], a3[j]
            p0 = v0 if v0 < v1 else v1
            p1 = v2 if v2 < v3 else v3
            q0 = v0 if v0 > v1 else v1
            q1 = v2 if v2 > v3 else v3
            p0 = p0 if p0 < p1 else p1
            q0 = q0 if q0 > q1 else q1
            low[j] = p0 if p0 < low[j] else low[j]
            high[j] = q0 if q0 > high[j] else high[j]
        i += 4


@numba.njit(**INNER)
def _plain(x, rows, i, n, s, e, total):
    """Float64 sums of columns s to e of rows[i:n]."""
    while i + 8 <= n:
        a0, a1, a2, a3 = x[rows[i]][s:e], x[rows[i + 1]][s:e], x[rows[i + 2]][s:e], x[rows[i + 3]][s:e]
        a4, a5, a6, a7 = x[rows[i + 4]][s:e], x[rows[i + 5]][s:e], x[rows[i + 6]][s:e], x[rows[i + 7]][s:e]
        for j in range(len(a0)):
            left = (np.float64(a0[j]) + np.float64(a1[j])) + (np.float64(a2[j]) + np.float64(a3[j]))
            right = (np.float64(a4[j]) + np.float64(a5[j])) + (np.float64(a6[j]) + np.float64(a7[j]))
            total[j] += left + right
        i += 8
    while i < n:
        a0 = x[rows[i]][s:e]
        for j in range(len(a0)):
            total[j] += np.float64(a0[j])
        i += 1


@numba.njit(**INNER)
def _split(x, rows, i, n, s, e, shift, coarse, fine):
    """Sums of what a window of each column keeps, and of what it leaves over."""
    while i + 4 <= n:
        a0, a1, a2, a3 = x[rows[i]][s:e], x[rows[i + 1]][s:e], x[rows[i + 2]][s:e], x[rows[i + 3]][s:e]
        for j in range(len(a0)):
            m = shift[j]
            v0, v1, v2, v3 = np.float64(a0[j]), np.float64(a1[j]), np.float64(a2[j]), np.float64(a3[j])
            r0, r1, r2, r3 = (v0 + m) - m, (v1 + m) - m, (v2 + m) - m, (v3 + m) - m
            coarse[j] += (r0 + r1) + (r2 + r3)
            fine[j] += ((v0 - r0) + (v1 - r1)) + ((v2 - r2) + (v3 - r3))
        i += 4
    while i < n:
        a0 = x[rows[i]][s:e]
        for j in range(len(a0)):
            v0 = np.float64(a0[j])
            r0 = (v0 + shift[j]) - shift[j]
            coarse[j] += r0
            fine[j] += v0 - r0
        i += 1


@numba.njit(**INNER)
def _split_products(x, y, rows, i, n, s, e, shift, coarse, fine):
    """:func:`_split` of the products x·y, which are exact for float32 factors."""
    while i + 4 <= n:
        a0, a1, a2, a3 = x[rows[i]][s:e], x[rows[i + 1]][s:e], x[rows[i + 2]][s:e], x[rows[i + 3]][s:e]
        b0, b1, b2, b3 = y[rows[i]][s:e], y[rows[i + 1]][s:e], y[rows[i + 2]][s:e], y[rows[i + 3]][s:e]
        for j in range(len(a0)):
            m = shift[j]
            v0, v1 = np.float64(a0[j]) * np.float64(b0[j]), np.float64(a1[j]) * np.float64(b1[j])
            v2, v3 = np.float64(a2[j]) * np.float64(b2[j]), np.float64(a3[j]) * np.float64(b3[j])
            r0, r1, r2, r3 = (v0 + m) - m, (v1 + m) - m, (v2 + m) - m, (v3 + m) - m
            coarse[j] += (r0 + r1) + (r2 + r3)
            fine[j] += ((v0 - r0) + (v1 - r1)) + ((v2 - r2) + (v3 - r3))
        i += 4
    while i < n:
        a0, b0 = x[rows[i]][s:e], y[rows[i]][s:e]
        for j in range(len(a0)):
            v0 = np.float64(a0[j]) * np.float64(b0[j])
            r0 = (v0 + shift[j]) - shift[j]
            coarse[j] += r0
            fine[j] += v0 - r0
        i += 1


@numba.njit(**INNER)
def _shifts(low_x, high_x, low_y, high_y, bits, shift):
    """1.5·2^52 units of a window for products up to the largest magnitudes, summed over 2^bits rows."""
    for j in range(len(shift)):
        a = max(-np.float64(low_x[j]), np.float64(high_x[j]))
        b = max(-np.float64(low_y[j]), np.float64(high_y[j]))
        top = a * b
        shift[j] = 0.0
        if top > 0.0 and top < np.inf:
            exponent = math.frexp(top)[1] + 1
            if -900 < exponent < 900:
                shift[j] = math.ldexp(1.5, exponent + bits - 1)


@cache
def sum_singles():
    """Sums of columns of float32 over runs of rows, run k of rows[cuts[k]:cuts[k + 1]], with sizes of the numbers."""

    @jit(read(F4, 2), I8[::1], I8[::1], F4[:, ::1], F4[:, ::1], F8[:, ::1])
    def run(x, rows, cuts, most, least, total):
        m, far = x.shape[1], np.float32(np.inf)
        for k in range(len(cuts) - 1):
            for s in range(0, m, 2048):
                e = min(s + 2048, m)
                smallest = least[k][s:e]
                _plain(x, rows, cuts[k], cuts[k + 1], s, e, total[k][s:e])
                _magnitudes(x, rows, cuts[k], cuts[k + 1], s, e, most[k][s:e], smallest)
                if smallest.min() == 0:
                    smallest[:] = far
                    _least(x, rows, cuts[k], cuts[k + 1], s, e, far, smallest)

    return run


@cache
def sum_sparse():
    """As :func:`sum_singles`, of the numbers that sparse rows hold."""

    @jit(read(F4, 1), read(I4, 1), read(I8, 1), I8[::1], I8[::1], F4[:, ::1], F4[:, ::1], F8[:, ::1])
    def run(x, columns, ends, rows, cuts, most, least, total):
        for k in range(len(cuts) - 1):
            largest, smallest, sums = most[k], least[k], total[k]
            for r in range(cuts[k], cuts[k + 1]):
                start, stop = ends[rows[r]], ends[rows[r] + 1]
                values, where = x[start:stop], columns[start:stop]
                for i in range(len(values)):
                    value, j = values[i], where[i]
                    size = abs(value)
                    sums[j] += np.float64(value)
                    largest[j] = size if size > largest[j] else largest[j]
                    smallest[j] = size if size < smallest[j] else smallest[j]

    return run


@cache
def sum_doubles():
    """As :func:`sum_singles` of float64, each sum in two parts."""

    @jit(read(F8, 2), I8[::1], I8[::1], I8, F8[:, ::1], F8[:, ::1], F8[:, ::1], F8[:, ::1], F8[:, ::1])
    def run(x, rows, cuts, bits, low, high, least, coarse, fine):
        m, far = x.shape[1], np.inf
        shift, one = np.empty(256), np.ones(256)
        for k in range(len(cuts) - 1):
            for s in range(0, m, 256):
                e = min(s + 256, m)
                a, b = low[k][s:e], high[k][s:e]
                _ranges(x, rows, cuts[k], cuts[k + 1], s, e, a, b)
                _least(x, rows, cuts[k], cuts[k + 1], s, e, far, least[k][s:e])
                _shifts(a, b, one[: e - s], one[: e - s], bits, shift[: e - s])
                _split(x, rows, cuts[k], cuts[k + 1], s, e, shift[: e - s], coarse[k][s:e], fine[k][s:e])

    return run


@cache
def sum_moments():
    """Sums of columns of runs of rows of float32 pairs.

    ranges: (6, runs, m) low, high and least of x, then of y; sums: (8, runs, m) x, y, then coarse and fine parts of
    xx, yy, xy.
    """

    @jit(read(F4, 2), read(F4, 2), I8[::1], I8[::1], I8, F4[:, :, ::1], F8[:, :, ::1])
    def run(x, y, rows, cuts, bits, ranges, sums):
        m, far = x.shape[1], np.float32(np.inf)
        shift = np.empty(256)
        for k in range(len(cuts) - 1):
            i, n = cuts[k], cuts[k + 1]
            for s in range(0, m, 256):
                e = min(s + 256, m)
                w = shift[: e - s]
                ax, bx, ay, by = ranges[0, k][s:e], ranges[1, k][s:e], ranges[3, k][s:e], ranges[4, k][s:e]
                _plain(x, rows, i, n, s, e, sums[0, k][s:e])
                _plain(y, rows, i, n, s, e, sums[1, k][s:e])
                _ranges(x, rows, i, n, s, e, ax, bx)
                _least(x, rows, i, n, s, e, far, ranges[2, k][s:e])
                _ranges(y, rows, i, n, s, e, ay, by)
                _least(y, rows, i, n, s, e, far, ranges[5, k][s:e])
                _shifts(ax, bx, ax, bx, bits, w)
                _split_products(x, x, rows, i, n, s, e, w, sums[2, k][s:e], sums[3, k][s:e])
                _shifts(ay, by, ay, by, bits, w)
                _split_products(y, y, rows, i, n, s, e, w, sums[4, k][s:e], sums[5, k][s:e])
                _shifts(ax, bx, ay, by, bits, w)
                _split_products(x, y, rows, i, n, s, e, w, sums[6, k][s:e], sums[7, k][s:e])

    return run


@cache
def sum_products():
    """Sums of products of float32 pairs; ranges as :func:`sum_moments`, sums: (2, runs, m) coarse and fine."""

    @jit(read(F4, 2), read(F4, 2), I8[::1], I8[::1], I8, F4[:, :, ::1], F8[:, :, ::1])
    def run(x, y, rows, cuts, bits, ranges, sums):
        m, far = x.shape[1], np.float32(np.inf)
        shift = np.empty(256)
        for k in range(len(cuts) - 1):
            i, n = cuts[k], cuts[k + 1]
            for s in range(0, m, 256):
                e = min(s + 256, m)
                w = shift[: e - s]
                ax, bx, ay, by = ranges[0, k][s:e], ranges[1, k][s:e], ranges[3, k][s:e], ranges[4, k][s:e]
                _ranges(x, rows, i, n, s, e, ax, bx)
                _least(x, rows, i, n, s, e, far, ranges[2, k][s:e])
                _ranges(y, rows, i, n, s, e, ay, by)
                _least(y, rows, i, n, s, e, far, ranges[5, k][s:e])
                _shifts(ax, bx, ay, by, bits, w)
                _split_products(x, y, rows, i, n, s, e, w, sums[0, k][s:e], sums[1, k][s:e])

    return run


@cache
def push_rows():
    """Float64 numbers, as their bits, into 32-bit limbs: row k to columns from offsets[k] on, in units of 2^low."""

    @jit(read(I8, 2), read(I8, 1), I8, I8[:, ::1])
    def run(bits, offsets, low, limbs):
        mask, implied = (np.int64(1) << 32) - 1, np.int64(1) << 52
        for k in range(len(offsets)):
            row = bits[k]
            for j in range(len(row)):
                exponent, units = (row[j] >> 52) & 0x7FF, row[j] & (implied - 1)
                if exponent == 0:
                    if units == 0:
                        continue
                    exponent = 1
                else:
                    units |= implied
                if row[j] < 0:
                    units = -units
                shift = exponent - 1075 - low
                place, shift, at = shift >> 5, shift & 31, offsets[k] + j
                first, second = (units & mask) << shift, (units >> 32) << shift
                limbs[place, at] += first & mask
                limbs[place + 1, at] += (first >> 32) + (second & mask)
                limbs[place + 2, at] += second >> 32

    return run
