"""Columns whose reduced cost has one sign at every dual feasible point.

Columns with one entry bound the dual of their row: ``c_j - a y_i >= 0`` where ``x_j`` has no upper
bound. With these and the signs of the duals the reduced cost of another column has a range; if
that lies strictly on one side of zero, the column stands at a bound in every optimum. Of two
columns with one entry in a row the dearer one goes this way.

Only strict signs count: bounds on duals that came from a column need that column to stay, and
strictness keeps two columns from removing each other.
"""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from gpu_bridge.presolve.light.loops import compiled, merged
from gpu_bridge.presolve.light.workspace import (
    ALIVE,
    WORK,
    fix_column,
    out_of_budget,
)

STRICT = 1e-9
"""A reduced cost farther from zero than this, relative to max(1, |c|), has a sign."""


@compiled
def fix_dominated_columns(w, least, most):
    """Fix columns by the sign of their reduced cost; ``least`` and ``most`` (m,) are scratch."""
    _bound_duals(w, least, most)
    for i in range(least.size):
        if least[i] > most[i]:
            return  # no dual point at all: nothing can be concluded here
    for j in range(w.cost.size):
        if w.column_removed[j] != ALIVE or w.column_length[j] == 0:
            continue
        if out_of_budget(w):
            return
        smallest, largest = _reduced_cost_range(w, j, least, most)
        margin = STRICT * max(1.0, abs(w.cost[j]))
        if smallest > margin and w.lower[j] > -np.inf:
            fix_column(w, j, w.lower[j])
        elif largest < -margin and w.upper[j] < np.inf:
            fix_column(w, j, w.upper[j])


@merged
def _bound_duals(w, least, most):
    for i in range(least.size):
        least[i] = 0.0 if w.row_upper[i] == np.inf else -np.inf
        most[i] = 0.0 if w.row_lower[i] == -np.inf else np.inf
    for j in range(w.cost.size):
        if w.column_removed[j] != ALIVE or w.column_length[j] != 1:
            continue
        entry = w.column_start[j]
        while w.row_removed[w.column_index[entry]] != ALIVE:
            entry += 1
        a, i = w.column_value[entry], w.column_index[entry]
        price = w.cost[j] / a
        no_upper, no_lower = w.upper[j] == np.inf, w.lower[j] == -np.inf
        if (no_upper and a > 0.0) or (no_lower and a < 0.0):
            most[i] = min(most[i], price)
        if (no_upper and a < 0.0) or (no_lower and a > 0.0):
            least[i] = max(least[i], price)


@merged
def _reduced_cost_range(w, j, least, most):
    smallest, largest = w.cost[j], w.cost[j]
    for entry in range(w.column_start[j], w.column_start[j + 1]):
        i = w.column_index[entry]
        if w.row_removed[i] != ALIVE:
            continue
        a = w.column_value[entry]
        if a > 0.0:
            smallest -= a * most[i]
            largest -= a * least[i]
        else:
            smallest -= a * least[i]
            largest -= a * most[i]
        if smallest == -np.inf and largest == np.inf:
            break
    w.count[WORK] += w.column_start[j + 1] - w.column_start[j]
    return smallest, largest
