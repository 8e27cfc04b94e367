"""What is left of a model, as a problem of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from solvers.core.problem import Problem
from solvers.core.rows import SparseRows
from solvers.native.presolve_light_compress import gather
from solvers.presolve.light.workspace import ALIVE, OFFSET, Workspace


def reduced_problem(problem: Problem, w: Workspace) -> Problem:
    """Return the living rows and columns as a problem."""
    rows, columns = (
        np.flatnonzero(w.row_removed == ALIVE),
        np.flatnonzero(w.column_removed == ALIVE),
    )
    by_row, by_column = (w.by_row, w.row_length), (w.by_column, w.column_length)
    shape = (rows.size, columns.size)
    return Problem.from_canonical(
        cost=w.cost[columns],
        matrix=sp.csr_array(_living(*by_row, rows, columns, w.column_removed), shape=shape),
        row_lower=w.row_lower[rows],
        row_upper=w.row_upper[rows],
        lower=w.lower[columns],
        upper=w.upper[columns],
        integrality=problem.integrality[columns],
        offset=float(w.total[OFFSET]),
        maximize=problem.maximize,
        name=problem.name,
        # whoever is next wants the matrix by columns, too, and here it is at hand in that order
        matrix_csc=sp.csc_array(_living(*by_column, columns, rows, w.row_removed), shape=shape),
    )


def _living(
    matrix: SparseRows, length: Any, owners: Any, others: Any, other_removed: Any
) -> tuple[Any, Any, Any]:
    """Return values, indices and starts of the living owners' living entries, in their order."""
    kind = matrix.indices.dtype
    place = np.empty(other_removed.size, dtype=kind)
    place[others] = np.arange(others.size, dtype=kind)
    new_start = np.zeros(owners.size + 1, dtype=kind)
    np.cumsum(length[owners], out=new_start[1:])
    new_index, new_value = np.empty(new_start[-1], dtype=kind), np.empty(new_start[-1])
    gather(matrix, owners, other_removed, place, new_index, new_value)
    return new_value, new_index, new_start
