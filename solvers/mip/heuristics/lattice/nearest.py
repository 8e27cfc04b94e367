"""Integer solutions of A x = b: a short basis of all differences, and the solution near a point.

The vectors (e_j, C A_j), one for each column j and C large, span a lattice whose short vectors have
zeros in the second part: differences of solutions. The point of the lattice nearest to
(reference, C b) is then a solution near the reference. Aardal, Hurkens and Lenstra, "Solving a
system of linear Diophantine equations with lower and upper bounds on the variables", Mathematics of
Operations Research 25 (2000); the nearest point by Babai's planes, "On Lovász' lattice reduction
and the nearest lattice point problem", Combinatorica 6 (1986).
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from solvers.core.problem import FloatArray
from solvers.mip.model import IndexArray
from solvers.mip.portfolio.budget import Budget
from solvers.native.mip_heuristics_lattice import nearest_plane, reduce_basis

PENALTY, HEAVIER = 1e4, 1e3
"""The largest C at first, and by what it grows at most where a reduction has not told all
differences of solutions from vectors that leave an equation."""

MOST_GROWTHS = 5
"""Times that C may grow. Twice has been enough for coefficients of 50,000."""

EXACT_PRODUCTS = 2.0**52
"""Scalar products of the vectors stay below, so that doubles hold them exactly."""

PLAIN, DEEP = 1, 20
"""Depths of insertion. Deep ones halve the distance to the nearest solution (from 1.65 to 1.0 a
column on a system of 20 equations and 150 columns) for up to forty times the work."""

SLICE = 20_000_000
"""Entries visited between two looks at the budget: some hundredths of a second."""


class Lattice:
    """The lattice of A x = b; to be reduced before use.

    Parameters
    ----------
    matrix : (r, n) csr
        A, whole numbers.
    right : (r,) float64
        b, whole numbers.
    """

    def __init__(self, matrix: sp.csr_array, right: FloatArray) -> None:
        n = matrix.shape[1]
        self._matrix, self._right = matrix, right
        dense = matrix.toarray()
        self._kernel_size = n - int(np.linalg.matrix_rank(dense))
        order = np.argsort(np.abs(dense).sum(axis=0), kind="stable")
        self._basis = np.ascontiguousarray(np.hstack([np.eye(n), dense.T])[order])
        self._penalty, self._growths, self._depth = 1.0, 0, PLAIN
        self._place = np.zeros(1, dtype=np.int64)
        self._factor, self._length = np.zeros((n, n)), np.zeros(n)
        self._make_heavier(PENALTY)

    @property
    def is_reduced(self) -> bool:
        """Whether the basis is reduced."""
        return bool(self._place[0] >= self._length.size)

    def reduce(self, budget: Budget) -> bool:
        """Reduce the basis within the budget; return whether that is done, or call again."""
        while not budget.spent():
            if self.is_reduced:
                if not self._is_unfinished():
                    break
                self._growths += 1
                self._make_heavier(HEAVIER)
            limit = int(min(SLICE, budget.work_left)) + 1
            work = reduce_basis(
                self._basis,
                self._product,
                self._factor,
                self._length,
                self._place,
                self._depth,
                limit,
            )
            budget.charge(float(work))
        return self.is_reduced

    @property
    def is_deep(self) -> bool:
        """Whether the basis is, or is being, reduced by deep insertions."""
        return self._depth == DEEP

    def deepen(self) -> None:
        """Make the basis one to be reduced further, by deep insertions."""
        self._depth = DEEP
        self._place[0] = 0

    def _is_unfinished(self) -> bool:
        return self.kernel.shape[0] < self._kernel_size and self._growths < MOST_GROWTHS

    def _make_heavier(self, most: float) -> None:
        """Let C grow as far as products stay exact, and begin the reduction anew.

        Only so much at a time: a reduced basis has small numbers where the first one has large.
        """
        n = self._length.size
        heavy = self._basis[:, n:]
        longest = float(np.max(np.sqrt((heavy * heavy).sum(axis=1)), initial=1.0))
        growth = float(np.floor(np.clip(np.sqrt(EXACT_PRODUCTS) / longest, 1.0, most)))
        heavy *= growth
        self._penalty *= growth
        self._product = np.ascontiguousarray(self._basis @ self._basis.T)
        self._place[0] = 0

    @property
    def kernel(self) -> FloatArray:
        """Short differences of solutions (k, n): A v = 0 for each row v; they span all of them."""
        n = self._length.size
        in_kernel = ~self._basis[:, n:].any(axis=1)
        return self._basis[in_kernel, :n]

    def nearest(self, reference: FloatArray) -> tuple[FloatArray, IndexArray]:
        """Return integers x (n,) near ``reference`` (n,), and the equations that they miss.

        Bounds are nobody's concern here. Where an equation is missed there is hardly a solution.
        """
        n = reference.size
        target = np.concatenate([reference, self._penalty * self._right])
        rest = target.copy()
        products = np.ascontiguousarray((self._basis * target).sum(axis=1))
        nearest_plane(self._basis, products, self._factor, self._length, rest)
        x = np.round(reference - rest[:n])
        return x, np.flatnonzero(self._matrix @ x != self._right).astype(np.int32)
