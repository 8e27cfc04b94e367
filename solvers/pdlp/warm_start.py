"""The point a solve starts from, and the filter that leaves out what a start has worse than none.

From a point that is decades off the method first has to come back, and the primal weight, which
begins with the sizes of costs and sides, is wrong for that way: starts of 1e4 at random took two to
four times the iterations of the usual start from zero (``docs/pdlp-constants.md``). So each part of
a start is compared with what there is without it. A point is kept if its rows are violated less, or
little beside the terms they are sums of: so are those of what solved the model before it changed a
little, also where all sides are zero and a point of zeros violates nothing. It is not kept if the
point without it is feasible and costs less. The same goes for row duals, reduced costs and the dual
objective.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from solvers.core.lp_answer import allowed_duals, judge
from solvers.core.outcome import Start
from solvers.core.problem import FloatArray, Problem
from solvers.core.vectors import euclidean

SMALL = 0.2
"""A violation below this part of its terms, in the norm, is a small one: that of random points is
one over the root of a row's entries."""


def filtered(problem: Problem, start: Start | None) -> Start | None:
    """Return a start without the parts that are farther off than the usual start."""
    if start is None:
        return None
    x, y = first_x(problem, start), first_y(problem, start)
    here = judge(problem, x, y).statistics
    cold = judge(problem, first_x(problem, None), first_y(problem, None)).statistics
    is_near = _is_near(here.primal_residual, cold.primal_residual, problem.matrix, x) and not (
        cold.primal_residual == 0.0 and here.primal_objective > cold.primal_objective
    )
    is_near_dual = _is_near(here.dual_residual, cold.dual_residual, problem.matrix.T, y) and not (
        cold.dual_residual == 0.0 and here.dual_objective < cold.dual_objective
    )
    return Start(x=start.x if is_near else None, row_dual=start.row_dual if is_near_dual else None)


def _is_near(violation: float, without: float, matrix: Any, point: FloatArray) -> bool:
    """Whether a point violates no more than another one, or little beside its terms."""
    if violation <= without:
        return True
    return violation <= SMALL * euclidean(abs(matrix) @ np.abs(point))


def first_x(problem: Problem, start: Start | None) -> FloatArray:
    """Return the start's values where known, else the point of the bounds nearest to zero.

    A column without coefficients moves by its own cost alone, a little at each iteration: it
    starts at the bound that its cost prefers, if there is one.
    """
    x = np.zeros(problem.num_columns)
    alone = np.diff(problem.matrix_csc.indptr) == 0
    preferred = np.where(problem.cost > 0, problem.lower, problem.upper)
    settled = alone & (problem.cost != 0) & np.isfinite(preferred)
    x[settled] = preferred[settled]
    if start is not None and start.x is not None:
        known = np.isfinite(start.x) & ~settled
        x[known] = start.x[known]
    return np.clip(x, problem.lower, problem.upper)


def first_y(problem: Problem, start: Start | None) -> FloatArray:
    """Return the start's row duals with allowed signs, or zeros."""
    if start is None or start.row_dual is None:
        return np.zeros(problem.num_rows)
    row_dual = np.where(np.isfinite(start.row_dual), start.row_dual, 0.0)
    return allowed_duals(row_dual, problem.row_lower, problem.row_upper)
