"""Problems of feasibility alone: a linear program without its cost, and the rows of its dual.

Without an objective the method converges to a feasible point close to the one it starts from, much
faster than to an optimum (Applegate et al., "PDLP: a practical first-order method for large-scale
linear programming", 2025, section 4.5). ``feasibility_polishing`` and ``polishing_schedule`` use
that.
"""

from __future__ import annotations

import numpy as np

from solvers.core.outcome import StopReason
from solvers.core.problem import Problem
from solvers.core.progress import Progress


def without_cost(problem: Problem) -> Problem:
    """Return the problem whose optimal points are the feasible ones of another."""
    return problem.relaxation().with_cost(np.zeros(problem.num_columns))


def dual_feasibility(problem: Problem) -> Problem:
    """Return the problem whose feasible points are the dual feasible y of another.

    One row per column: ``A'y`` is at most c where x has no upper bound, at least c where it has no
    lower one, and anything where it has both. One column per row, of the sign its sides allow.
    """
    cost, m = problem.cost, problem.num_rows
    return Problem(
        cost=np.zeros(m),
        matrix=problem.matrix.T,
        row_lower=np.where(np.isfinite(problem.lower), -np.inf, cost),
        row_upper=np.where(np.isfinite(problem.upper), np.inf, cost),
        lower=np.where(np.isfinite(problem.row_upper), -np.inf, 0.0),
        upper=np.where(np.isfinite(problem.row_lower), np.inf, 0.0),
        integrality=np.zeros(m, dtype=bool),
    )


class UntilFeasible(Progress):
    """Stops a solve as soon as its primal residual is small, or its caller wants it to stop."""

    def __init__(self, outer: Progress, tolerance: float) -> None:
        super().__init__(outer.time_left)
        self._outer = outer
        self._tolerance = tolerance
        self._feasible = False

    def should_stop(self) -> StopReason | None:
        """Return that nothing is left to do once the residual has reached the tolerance.

        (Not that they have converged: then the engine would take the point of least error, the gap
        among them, instead of the feasible one.)
        """
        if self._feasible:
            return StopReason.EXHAUSTED
        return self._outer.should_stop() or super().should_stop()

    def iteration(self, count: int, **figures: float | int | str) -> None:
        """Note the primal residual."""
        residual = figures.get("primal_residual")
        if isinstance(residual, float) and residual <= self._tolerance:
            self._feasible = True
