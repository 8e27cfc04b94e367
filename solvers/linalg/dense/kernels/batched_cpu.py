"""Numba twins of ``batched.cu``."""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import numba
import numpy as np
from numba import prange

from solvers.kernels.twin import twin


@numba.njit(inline="always")
def _find_pivot(a, place, k):
    """Return the unused row with the largest magnitude in column k, the first of equals."""
    best, row = 0.0, -1
    for i in range(a.shape[0]):
        if place[i] < 0 and (row < 0 or abs(a[i, k]) > best):
            row = i
            if abs(a[i, k]) > best:
                best = abs(a[i, k])
    return row


@numba.njit(inline="always")
def _norm(a):
    """Return the largest sum of magnitudes of a column; a NaN stays."""
    largest = 0.0
    for j in range(a.shape[0]):
        total = 0.0
        for i in range(a.shape[0]):
            total += abs(a[i, j])
        if largest == largest and not total <= largest:
            largest = total
    return largest


@twin
def factorise(count, n, epsilon, matrices, factors, order, singular, verdict):
    """Factorise every matrix with partial pivoting."""
    for b in prange(count):
        a = matrices[b].copy()
        place = np.full(n, -1)
        for k in range(n):
            p = _find_pivot(a, place, k)
            place[p] = k
            order[b, k] = p
            for i in range(n):
                if place[i] < 0:
                    multiplier = 0.0 if a[p, k] == 0.0 else a[i, k] / a[p, k]
                    a[i, k] = multiplier
                    for j in range(k + 1, n):
                        a[i, j] -= multiplier * a[p, j]
        verdict[b, 0] = _norm(matrices[b])
        verdict[b, 1] = -1.0
        verdict[b, 2] = 0.0
        verdict[b, 3] = 0.0
        singular[b] = -1
        for k in range(n):
            own = order[b, k]
            total = 0.0
            for i in range(k):
                total += abs(a[own, i] * a[order[b, i], k])
            rounding = k * epsilon * total
            if singular[b] < 0 and not abs(a[own, k]) > rounding:
                singular[b] = k
                verdict[b, 1] = k
                verdict[b, 2] = a[own, k]
                verdict[b, 3] = rounding
            for j in range(n):
                factors[b, k, j] = a[own, j]


@twin
def invert(count, n, matrices, inverses, norms, singular):
    """Invert every matrix in place, by Gauss-Jordan elimination with partial pivoting."""
    for b in prange(count):
        a = matrices[b].copy()
        place = np.full(n, -1)
        order = np.empty(n, np.int64)
        row = np.empty(n)
        norms[0, b] = _norm(a)
        singular[b] = -1
        for k in range(n):
            p = _find_pivot(a, place, k)
            place[p] = k
            order[k] = p
            pivot = a[p, k]
            if singular[b] < 0 and not abs(pivot) > 0.0:
                singular[b] = k
            reciprocal = np.divide(1.0, pivot)
            for j in range(n):
                row[j] = reciprocal if j == k else a[p, j] * reciprocal
                a[p, j] = row[j]
            for i in range(n):
                if i != p:
                    multiplier = a[i, k]
                    a[i, k] = 0.0
                    for j in range(n):
                        a[i, j] -= multiplier * row[j]
        norms[1, b] = _norm(a)
        for i in range(n):
            for j in range(n):
                inverses[b, i, j] = a[order[i], place[j]]


@numba.njit(inline="always")
def _solve_direct(lu, y):
    """Put the solution of L U x = y in place of y."""
    n = y.size
    for k in range(n):
        for i in range(k):
            y[k] -= lu[k, i] * y[i]
    for k in range(n - 1, -1, -1):
        for i in range(k + 1, n):
            y[k] -= lu[k, i] * y[i]
        y[k] = np.divide(y[k], lu[k, k])


@numba.njit(inline="always")
def _solve_transposed(lu, y):
    """Put the solution of U' L' x = y in place of y."""
    n = y.size
    for k in range(n):
        y[k] = np.divide(y[k], lu[k, k])
        for i in range(k + 1, n):
            y[i] -= lu[k, i] * y[k]
    for k in range(n - 1, -1, -1):
        for i in range(k):
            y[i] -= lu[k, i] * y[k]


@twin
def solve(count, n, sides, transposed, factors, order, b, x):
    """Solve with the factors of every matrix, or of its transpose."""
    for owner in prange(count * sides):
        which = owner // sides
        side = owner % sides
        y = np.empty(n)
        for k in range(n):
            y[k] = b[which, side, k if transposed else order[which, k]]
        if transposed:
            _solve_transposed(factors[which], y)
        else:
            _solve_direct(factors[which], y)
        for k in range(n):
            x[which, side, order[which, k] if transposed else k] = y[k]
