"""Problems whose matrix has no entries, among them those without rows or columns: solved here.

Every row's activity is zero, and every column goes to the bound its cost prefers.
"""

from __future__ import annotations

import numpy as np

from solvers.core.outcome import Outcome, SolutionStatus, StopReason
from solvers.core.problem import FloatArray, Problem


def solve_without_coefficients(problem: Problem, engine: str, device: str) -> Outcome:
    """Return the exact answer of a problem with an empty matrix."""
    m, n = problem.num_rows, problem.num_columns
    lower, upper, cost = problem.lower, problem.upper, problem.cost
    impossible = np.flatnonzero((problem.row_lower > 0) | (problem.row_upper < 0))
    if impossible.size:
        ray = np.zeros(m)
        i = int(impossible[0])
        ray[i] = 1.0 if problem.row_lower[i] > 0 else -1.0
        return _proof(SolutionStatus.INFEASIBLE, engine, device, dual_ray=ray)
    preferred = np.where(cost > 0, lower, np.where(cost < 0, upper, np.clip(0.0, lower, upper)))
    endless = np.flatnonzero(~np.isfinite(preferred))
    if endless.size:
        ray = np.zeros(n)
        ray[endless] = -np.sign(cost[endless])
        point = np.clip(np.where(np.isfinite(preferred), preferred, 0.0), lower, upper)
        return _proof(SolutionStatus.UNBOUNDED, engine, device, primal_ray=ray, x=point)
    objective = problem.objective_at(preferred)
    return Outcome(
        SolutionStatus.OPTIMAL,
        StopReason.CONVERGED,
        objective=objective,
        bound=objective,
        x=preferred,
        row_activity=np.zeros(m),
        row_dual=np.zeros(m),
        reduced_cost=np.array(cost),
        engine=engine,
        device=device,
        statistics={"iterations": 0},
    )


def _proof(status: SolutionStatus, engine: str, device: str, **parts: FloatArray) -> Outcome:
    return Outcome(
        status,
        StopReason.CONVERGED,
        engine=engine,
        device=device,
        statistics={"iterations": 0},
        **parts,  # type: ignore[arg-type]
    )
