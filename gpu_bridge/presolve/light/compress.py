"""What is left of a model, as a problem of its own."""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from gpu_bridge.presolve.light.loops import compiled
from gpu_bridge.presolve.light.workspace import ALIVE, OFFSET, Workspace
from solvers.problem import Problem


def reduced_problem(problem: Problem, w: Workspace) -> Problem:
    """Return the living rows and columns as a problem."""
    rows, columns = (
        np.flatnonzero(w.row_removed == ALIVE),
        np.flatnonzero(w.column_removed == ALIVE),
    )
    place = np.full(problem.num_columns, -1, dtype=w.row_index.dtype)
    place[columns] = np.arange(columns.size, dtype=place.dtype)
    start = np.zeros(rows.size + 1, dtype=w.row_start.dtype)
    np.cumsum(w.row_length[rows], out=start[1:])
    index, value = np.empty(start[-1], dtype=w.row_index.dtype), np.empty(start[-1])
    _gather(w, rows, place, index, value)
    return Problem(
        cost=w.cost[columns],
        matrix=sp.csr_array((value, index, start), shape=(rows.size, columns.size)),
        row_lower=w.row_lower[rows],
        row_upper=w.row_upper[rows],
        lower=w.lower[columns],
        upper=w.upper[columns],
        integrality=problem.integrality[columns],
        offset=float(w.total[OFFSET]),
        maximize=problem.maximize,
        name=problem.name,
    )


@compiled
def _gather(w, rows, place, index, value):
    """Copy the living entries, whose columns move to ``place``."""
    count = 0
    for i in rows:
        for entry in range(w.row_start[i], w.row_start[i + 1]):
            j = place[w.row_index[entry]]
            if j >= 0:
                index[count] = j
                value[count] = w.row_value[entry]
                count += 1
