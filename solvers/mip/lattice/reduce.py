"""Lattice reduction: a basis of short and nearly orthogonal integer vectors.

Lenstra, Lenstra and Lovász, "Factoring polynomials with rational coefficients" (1982), in the
floating-point form of Schnorr and Euchner, "Lattice basis reduction: improved practical algorithms
and solving subset sum problems" (1994): the vectors and their products stay whole numbers, only
the orthogonalisation is rounded. Whoever uses the basis checks what comes of it, so that a rounding
error may cost a point and never makes a wrong one.
"""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from solvers.mip.search.loops import compiled

LOVASZ = 0.99
"""Part of a vector's orthogonal length that the next one has to keep (delta of the paper; the
nearer to 1, the shorter the vectors)."""

HALF = 0.501
"""Coefficient above which a vector is reduced by an earlier one; a half in exact arithmetic, a
little more here so that rounding does not send the loop round and round."""

PASSES = 8
"""Passes of size reduction over one vector at most; more than three are rare."""


@compiled
def orthogonalise(product, factor, length, k):
    """Compute row k of the Gram-Schmidt coefficients ``factor`` (n, n) from the scalar products.

    Until division by ``length`` (n,), the squared lengths of the orthogonal parts, the row holds
    the products with them; at the end the coefficients.
    """
    for j in range(k):
        total = product[k, j]
        for i in range(j):
            total -= factor[j, i] * factor[k, i]
        factor[k, j] = total
    rest = product[k, k]
    for j in range(k):
        inner = factor[k, j]
        factor[k, j] = inner / length[j] if length[j] > 0.0 else 0.0
        rest -= inner * factor[k, j]
    length[k] = max(rest, 0.0)


@compiled
def subtract(basis, product, k, j, times):
    """Take ``times`` vector j from vector k, and keep the scalar products up to date."""
    n = product.shape[0]
    for i in range(basis.shape[1]):
        basis[k, i] -= times * basis[j, i]
    own = product[k, k] - 2.0 * times * product[k, j] + times * times * product[j, j]
    for i in range(n):
        product[k, i] -= times * product[j, i]
    product[k, k] = own
    for i in range(n):
        product[i, k] = product[k, i]


@compiled
def size_reduce(basis, product, factor, length, k):
    """Make vector k as short as whole multiples of the earlier ones can; return entries visited."""
    work = 0
    for _ in range(PASSES):
        orthogonalise(product, factor, length, k)
        work += k * k // 2
        changed = False
        for back in range(k):
            j = k - 1 - back
            if abs(factor[k, j]) > HALF:
                times = np.round(factor[k, j])
                subtract(basis, product, k, j, times)
                for i in range(j):
                    factor[k, i] -= times * factor[j, i]
                factor[k, j] -= times
                work += basis.shape[1] + 2 * product.shape[0]
                changed = True
        if not changed:
            break
    return work


@compiled
def insert(basis, product, k, place):
    """Move vector k to an earlier place, and those from there on by one; return entries visited."""
    n, d = product.shape[0], basis.shape[1]
    for i in range(k, place, -1):
        for at in range(d):
            basis[i - 1, at], basis[i, at] = basis[i, at], basis[i - 1, at]
        for at in range(n):
            product[i - 1, at], product[i, at] = product[i, at], product[i - 1, at]
        for at in range(n):
            product[at, i - 1], product[at, i] = product[at, i], product[at, i - 1]
    return (k - place) * (2 * d + 4 * n)


@compiled
def place_of(product, factor, length, k, depth):
    """Return the first place at which vector k is shorter than what stands there; k if none.

    Shorter as far as both are orthogonal to the vectors before. Looked at are the last ``depth``
    places and, but for the last, as many at the beginning of the basis (Schnorr and Euchner's deep
    insertions; with a depth of one it is plain reduction).
    """
    rest = product[k, k]
    for i in range(k):
        if (i < depth - 1 or k - i <= depth) and rest < LOVASZ * length[i]:
            return i
        rest -= factor[k, i] * factor[k, i] * length[i]
    return k


@compiled
def reduce_basis(basis, product, factor, length, place, depth, limit):
    """Reduce the rows of ``basis`` from ``place`` (1,) on until all are done or work is ``limit``.

    ``basis`` (n, d) float64 holds whole numbers, ``product`` (n, n) the scalar products of its
    rows, ``factor`` (n, n) and ``length`` (n,) the orthogonalisation; ``depth`` is
    that of :func:`place_of`. Return the entries visited; ``place`` is n when the basis is reduced.
    """
    n = basis.shape[0]
    work = 0
    while place[0] < n and work < limit:
        k = place[0]
        work += size_reduce(basis, product, factor, length, k)
        to = place_of(product, factor, length, k, depth)
        if to < k:
            work += insert(basis, product, k, to)
            place[0] = to
        else:
            place[0] = k + 1
    return work
