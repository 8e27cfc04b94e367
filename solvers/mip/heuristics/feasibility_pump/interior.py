"""The relaxation by HiGHS's interior point method and crossover, where simplex takes too long."""

from __future__ import annotations

import numpy as np

from solvers import highs
from solvers.core.errors import EngineError
from solvers.core.options import EngineOptions
from solvers.core.outcome import Basis, Outcome, StopReason
from solvers.core.problem import Problem
from solvers.mip.heuristics.feasibility_pump.projector import Projection
from solvers.mip.portfolio.budget import Budget, BudgetProgress


def interior(problem: Problem, budget: Budget, seed: int = 0) -> tuple[Projection, Basis | None]:
    """Solve the relaxation of a problem within a timed budget.

    In a child process, as interior point hears of nothing while it runs.

    Parameters
    ----------
    problem : Problem
        Its integrality is left out of account.
    budget : Budget
    seed : int

    Returns
    -------
    Projection
        Of the costs alone; zeros where there was no time for any point.
    Basis or None
        Of the vertex that crossover has come to.
    """
    options = EngineOptions(lp_algorithm="ipm", crossover="on", threads=1, seed=seed)
    watch = _Watch(budget)
    try:
        outcome = highs.solve(problem.relaxation(), options, watch, in_child=True, retry=False)
    except EngineError:  # it is no more than an attempt
        return Projection(np.zeros(problem.num_columns), np.zeros(problem.num_rows), False), None
    has_vertex = outcome.stop_reason is StopReason.CONVERGED
    return _projection(problem, outcome), outcome.basis if has_vertex else None


def _projection(problem: Problem, outcome: Outcome) -> Projection:
    x, y = outcome.x, outcome.row_dual
    return Projection(
        np.zeros(problem.num_columns) if x is None else np.nan_to_num(x),
        np.zeros(problem.num_rows) if y is None else np.nan_to_num(y),
        outcome.stop_reason is StopReason.CONVERGED and x is not None,
    )


class _Watch(BudgetProgress):
    """Keeps a budget; when it is spent, nobody waits any more."""

    @property
    def abandoned(self) -> bool:
        """Whether nobody waits any more."""
        return self.present.is_over()
