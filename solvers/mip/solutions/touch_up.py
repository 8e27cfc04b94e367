"""A point that misses its rows by hardly anything, moved on to them without an LP.

What presolve gives back, or what an LP holds within its tolerance on scaled rows, can miss a row
of the original by a little more than is allowed. The least change of the continuous columns that
mends it takes conjugate gradients some hundred products with their part of the matrix; the LP that
does it, too, takes half a minute on a large network design.
"""

from __future__ import annotations

from collections.abc import Callable

from solvers.core.problem import FloatArray
from solvers.mip.model import FEASIBILITY_TOLERANCE, MipModel, is_feasible
from solvers.mip.solutions.polish.split import ContinuousPart

TARGET = 0.1 * FEASIBILITY_TOLERANCE
"""Norm of what rows may still miss: far enough within the tolerance for sums in another order."""

ITERATIONS, ROUNDS = 300, 4
"""Conjugate gradient iterations of a round, and rounds: an inactive row that was pushed out, or a
column that met its bound, is dealt with in the next one."""


def touched_up(
    model: MipModel, x: FloatArray, should_stop: Callable[[], bool]
) -> FloatArray | None:
    """Return a feasible point (n,) with the same integers and nearly the same rest, if one is met.

    Parameters
    ----------
    model : MipModel
    x : (n,) float64
        With whole integers.
    should_stop : callable
        Asked every 50 iterations.
    """
    from solvers.linalg.least_squares import project_on_rows

    part = ContinuousPart.of(model)
    if not part.columns.size:
        return None
    low, high = part.row_sides(model, x)
    found = project_on_rows(
        part.matrix,
        x[part.columns],
        model.lower[part.columns],
        model.upper[part.columns],
        low[part.rows],
        high[part.rows],
        target=TARGET,
        iterations=ITERATIONS,
        rounds=ROUNDS,
        should_stop=should_stop,
    )
    point = x.copy()
    point[part.columns] = found.values
    return point if is_feasible(model, point) else None
