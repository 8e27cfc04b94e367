"""The relaxation by HiGHS's interior point method and crossover, where simplex takes too long."""

from __future__ import annotations

import numpy as np
from highspy import _core

from solvers import highs
from solvers.core.errors import EngineError
from solvers.core.options import EngineOptions
from solvers.core.outcome import Outcome, StopReason
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.mip.heuristics.feasibility_pump.projector import Projection
from solvers.mip.heuristics.feasibility_pump.simplex import Basis
from solvers.mip.portfolio.budget import Budget


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
    return _projection(problem, outcome), _basis(outcome)


def _projection(problem: Problem, outcome: Outcome) -> Projection:
    x, y = outcome.x, outcome.row_dual
    return Projection(
        np.zeros(problem.num_columns) if x is None else np.nan_to_num(x),
        np.zeros(problem.num_rows) if y is None else np.nan_to_num(y),
        outcome.stop_reason is StopReason.CONVERGED and x is not None,
    )


def _basis(outcome: Outcome) -> Basis | None:
    """Return a basis of HiGHS's, whose numbers ours are."""
    if outcome.basis is None or outcome.stop_reason is not StopReason.CONVERGED:
        return None
    kinds = _core.HighsBasisStatus
    columns, rows = outcome.basis.column_status, outcome.basis.row_status
    return Basis([kinds(int(one)) for one in columns], [kinds(int(one)) for one in rows])


class _Watch(Progress):
    """Keeps a budget; when it is spent, nobody waits any more."""

    def __init__(self, budget: Budget) -> None:
        super().__init__(budget.seconds_left)
        self._budget = budget

    @property
    def abandoned(self) -> bool:
        """Whether nobody waits any more."""
        return self._budget.is_over()

    def should_stop(self) -> StopReason | None:
        """Return the reason to stop now, or None to go on."""
        return StopReason.TIME_LIMIT if self._budget.is_over() else super().should_stop()
