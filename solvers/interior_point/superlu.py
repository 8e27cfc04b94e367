"""Factorisation by SuperLU, which comes with SciPy: on the CPU, with pivots on the diagonal.

SuperLU is written for unsymmetric matrices and keeps L and U, so it stores twice what LDL' needs.
Its supernodes make up for that (``docs/interior-point.md`` compares it). The order of elimination
(minimum degree on the pattern) is found once, and the matrix handed over in that order afterwards.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from solvers.core.problem import FloatArray
from solvers.interior_point.linear_system import SingularError


class SuperLU:
    """A symmetric matrix in SuperLU; see :class:`solvers.interior_point.linear_system`."""

    def __init__(self) -> None:
        self.entries = 0

    def analyse(self, row: npt.NDArray[Any], column: npt.NDArray[Any], size: int) -> None:
        """Remember the pattern; the first factorisation finds the order."""
        self._row, self._column, self._size = row, column, size
        self._order: npt.NDArray[Any] | None = None
        self._lay_out(np.arange(size))

    def _lay_out(self, position: npt.NDArray[Any]) -> None:
        """Make the whole symmetric pattern with row i at ``position[i]``."""
        i, k = position[self._row], position[self._column]
        apart = np.flatnonzero(i != k)
        source = np.concatenate([np.arange(i.size), apart])
        rows, columns = np.concatenate([i, k[apart]]), np.concatenate([k, i[apart]])
        in_order = np.lexsort((rows, columns))
        self._source = source[in_order]
        starts = np.zeros(self._size + 1, dtype=np.int32)
        np.cumsum(np.bincount(columns, minlength=self._size), out=starts[1:])
        self._indices, self._starts = rows[in_order].astype(np.int32), starts

    def factorise(self, values: FloatArray) -> None:
        """Factorise; SingularError where a pivot is zero."""
        shape = (self._size, self._size)
        matrix = sp.csc_array((values[self._source], self._indices, self._starts), shape=shape)
        order = "MMD_AT_PLUS_A" if self._order is None else "NATURAL"
        options = {"SymmetricMode": True}
        try:
            self._factors = splu(matrix, permc_spec=order, diag_pivot_thresh=0.0, options=options)
        except RuntimeError as error:
            raise SingularError(str(error)) from error
        if self._order is None:
            self._order = np.argsort(self._factors.perm_c)
            self._first = True
            self.entries = int(self._factors.nnz - self._size) // 2 + self._size
            self._lay_out(self._factors.perm_c)
        else:
            self._first = False

    def solve(self, right: FloatArray) -> FloatArray:
        """Return the solution for a right-hand side (size,)."""
        if self._first:
            solution: FloatArray = self._factors.solve(right)
            return solution
        assert self._order is not None
        found = self._factors.solve(right[self._order])
        solution = np.empty_like(found)
        solution[self._order] = found
        return solution
