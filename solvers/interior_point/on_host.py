"""Factorisation on the CPU with pivots on the diagonal: by SuperLU, which SciPy has, or QDLDL.

SuperLU is written for unsymmetric matrices and keeps L and U, so it stores twice what LDL' needs.
Its supernodes make up for that (``docs/interior-point.md`` compares it). The order of elimination
is found once (``ordering.py``), and the matrix handed over in that order.

QDLDL, where it is installed, takes one column after the other and gathers nothing into panels,
which pays where a column of the factor has few entries: an energy system of 365 hours, with 10 for
each, took 29 ms for a factorisation and 1.6 ms for a solve, and by SuperLU 95 and 2.6.
"""

from __future__ import annotations

import importlib.util
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from solvers.core.machine import free_memory
from solvers.core.problem import FloatArray
from solvers.core.progress import Progress
from solvers.interior_point.linear_system import SingularError
from solvers.interior_point.ordering import elimination_order
from solvers.interior_point.standard_form import Look, go_on
from solvers.native.interior_point_factor_size import count_entries
from solvers.native.interior_point_sorting import lexicographic_order


def qdldl_is_installed() -> bool:
    """Whether the package qdldl is there."""
    return importlib.util.find_spec("qdldl") is not None


class QdldlFactors:
    """Factors of matrices of one pattern.

    Parameters
    ----------
    row, column : (entries,) arrays of int
        Where the lower triangle has entries, column by column; the diagonal is among them.
    size : int
    """

    def __init__(self, row: npt.NDArray[Any], column: npt.NDArray[Any], size: int) -> None:
        by_row = np.lexsort((column, row))  # the lower triangle by rows is the upper one by columns
        starts = np.zeros(size + 1, dtype=np.int64)
        np.cumsum(np.bincount(row, minlength=size), out=starts[1:])
        self._source, self._starts = by_row, starts
        self._indices, self._shape = column[by_row], (size, size)
        self._solver: Any = None

    def factorise(self, values: FloatArray) -> None:
        """Factorise with these values (entries,); SingularError where a pivot is zero."""
        import qdldl

        upper = sp.csc_matrix(
            (values[self._source], self._indices, self._starts), shape=self._shape
        )
        try:
            if self._solver is None:  # which orders it
                self._solver = qdldl.Solver(upper, upper=True)
            else:
                self._solver.update(upper, upper=True)
        except Exception as error:  # it has no exception of its own
            self._solver = None
            raise SingularError(str(error)) from error

    def solve(self, right: FloatArray) -> FloatArray:
        """Return the solution for a right-hand side (size,)."""
        solution: FloatArray = self._solver.solve(right)
        return solution


BYTES_PER_ENTRY = 40
"""Memory for each entry of L: values and indices of L and of U, and what SuperLU reserves beside
them as it goes."""

OPERATIONS_PER_SECOND = 4e9
"""Products in L D L' that SuperLU comes to at the most: 2.3 to 3.8 billion a second of a core of an
AMD EPYC for factors of 300 to 700 entries in a column, and fewer for others."""

FEW = 50
"""Entries of L for each column below which SuperLU is told to take columns one by one. Gathering
them into panels then costs more than it brings: an energy system of 365 hours with 10 entries for
each took 0.14 s of processor time by its own settings and 0.08 so, and a Markov decision process
with 250 took 1.1 and 3.7."""

ONE_BY_ONE = {"relax": 4, "panel_size": 1}

SYMMETRIC = {"diag_pivot_thresh": 0.0, "options": {"SymmetricMode": True}}


class OnHost:
    """A symmetric matrix on the CPU; see :class:`solvers.interior_point.linear_system`.

    ``look`` is called between the steps of the analysis.
    """

    def __init__(self, look: Look = go_on) -> None:
        self._look = look
        self.entries, self.seconds_needed = 0, 0.0
        self.replaced_pivots = 0  # it fails instead
        self._columnwise: QdldlFactors | None = None

    @property
    def bytes_needed(self) -> float:
        """Memory that the factors take, as predicted by the analysis."""
        return float(BYTES_PER_ENTRY * self.entries)

    @property
    def bytes_free(self) -> float:
        """Memory that this machine has free."""
        return free_memory()

    def analyse(
        self, row: npt.NDArray[Any], column: npt.NDArray[Any], size: int, most: float = np.inf
    ) -> None:
        """Order the matrix and predict the size of its factors, as far as ``most`` entries."""
        self.entries = row.size
        if self.entries > most:
            return
        self._row, self._column, self._size = row, column, size
        look, self._look = self._look, go_on  # it may hold all of a solve, which this outlives
        self._order = elimination_order(row, column, size)
        look()
        self._lay_out(np.argsort(self._order))
        look()
        above = sp.triu(self._matrix(np.ones(row.size)), 1, format="csc")
        indices = above.indices.astype(np.int32, copy=False)
        counts = np.zeros(size, dtype=np.int64)
        self.entries = int(count_entries(above.indptr.astype(np.int64), indices, most, counts))
        self.seconds_needed = float(counts @ counts.astype(float)) / OPERATIONS_PER_SECOND
        few = self.entries < FEW * size
        self._settings: dict[str, Any] = {**SYMMETRIC, **(ONE_BY_ONE if few else {})}
        if few and qdldl_is_installed():
            self._columnwise = QdldlFactors(row, column, size)

    def begin(self, progress: Progress) -> AbstractContextManager[None]:
        """Take up another solve, which needs nothing."""
        return nullcontext()

    def _lay_out(self, position: npt.NDArray[Any]) -> None:
        """Make the whole symmetric pattern with row i at ``position[i]``."""
        position = position.astype(np.int32)
        i, k = position[self._row], position[self._column]
        apart = np.flatnonzero(i != k)
        source = np.concatenate([np.arange(i.size), apart])
        rows, columns = np.concatenate([i, k[apart]]), np.concatenate([k, i[apart]])
        in_order = np.empty(rows.size, dtype=np.int64)
        lexicographic_order(columns, rows, self._size, in_order)
        self._source = source[in_order]
        self._starts = np.zeros(self._size + 1, dtype=np.int32)
        np.cumsum(np.bincount(columns, minlength=self._size), out=self._starts[1:])
        self._indices = rows[in_order]

    def _matrix(self, values: FloatArray) -> Any:
        """Return the whole matrix of these values of its lower triangle."""
        shape = (self._size, self._size)
        return sp.csc_array((values[self._source], self._indices, self._starts), shape=shape)

    def factorise(self, values: FloatArray) -> None:
        """Factorise; SingularError where a pivot is zero."""
        if self._columnwise is not None:
            self._columnwise.factorise(values)
            return
        try:
            self._factors = splu(self._matrix(values), permc_spec="NATURAL", **self._settings)
        except RuntimeError as error:
            raise SingularError(str(error)) from error

    def solve(self, right: FloatArray) -> FloatArray:
        """Return the solution for a right-hand side (size,)."""
        if self._columnwise is not None:
            return self._columnwise.solve(right)
        solution: FloatArray = np.empty_like(right)
        solution[self._order] = self._factors.solve(right[self._order])
        return solution
