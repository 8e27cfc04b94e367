"""Projections by HiGHS's simplex, each from the basis in which the last one ended."""

from __future__ import annotations

import numpy as np

from solvers.core.outcome import Basis
from solvers.core.problem import Problem
from solvers.highs.model import as_it_stands
from solvers.highs.task import Ending, Finding
from solvers.highs.warm_lp import WarmLp
from solvers.mip.heuristics.feasibility_pump.augmented import Request
from solvers.mip.heuristics.feasibility_pump.projector import Projection
from solvers.mip.portfolio.budget import Budget, BudgetProgress

LEAST_ITERATIONS = 20
"""Iterations of a run at the least where work is counted."""


class Simplex:
    """One linear program in HiGHS; for one thread at a time.

    Parameters
    ----------
    problem : Problem
        The matrix, and what else the first run starts from.
    seed : int
        Of HiGHS's perturbations.
    basis : Basis, optional
        To start from; missing columns are at their lower bound, missing rows basic.
    presolve : bool
        Whether HiGHS may presolve a run without a basis. What a limit cuts short then leaves no
        basis either, and the next run starts from nothing again.

    Raises
    ------
    EngineError
        HiGHS does not take the problem.
    """

    def __init__(
        self,
        problem: Problem,
        seed: int = 0,
        basis: Basis | None = None,
        *,
        presolve: bool = True,
    ) -> None:
        self._lp = WarmLp(as_it_stands(problem), {"random_seed": seed % 2**31})
        self._lower, self._upper = problem.lower, problem.upper
        self._iteration_work = problem.num_nonzeros + problem.num_columns + problem.num_rows
        self._rows = problem.num_rows
        self._presolve = presolve
        if basis is not None:
            self._lp.begin_at(basis)

    @property
    def iterations(self) -> int:
        """Iterations so far."""
        return self._lp.iterations

    def begin_at(self, basis: Basis) -> None:
        """Let the next run start from a basis; see the constructor's."""
        self._lp.begin_at(basis)

    def basis(self) -> Basis | None:
        """Return the last basis, if there is a valid one."""
        return self._lp.basis()

    def project(self, request: Request, budget: Budget) -> Projection:
        """Solve with other vectors, from the last basis, within the budget."""
        self._lp.change(
            cost=request.cost,
            lower=request.lower,
            upper=request.upper,
            row_lower=request.row_lower,
            row_upper=request.row_upper,
        )
        self._lower, self._upper = request.lower, request.upper
        return self.solve(budget)

    def solve(self, budget: Budget) -> Projection:
        """Solve with the present vectors, within the budget."""
        limit = None
        if np.isfinite(budget.work_left):
            limit = max(int(budget.work_left / self._iteration_work), LEAST_ITERATIONS)
        found = self._lp.solve_beside(BudgetProgress(budget), limit, presolve=self._presolve)
        budget.charge(self._iteration_work * (1.0 + found.iterations))
        is_cut_short = found.ending not in (Ending.CONVERGED, Ending.NUMERICAL_TROUBLE)
        if found.finding not in (Finding.OPTIMAL, Finding.INFEASIBLE) and not is_cut_short:
            self._lp.forget()  # what is left may not be a basis to go on from
        x = np.zeros(self._lower.size) if found.x is None else np.nan_to_num(found.x)
        return Projection(
            np.clip(x, self._lower, self._upper),
            np.zeros(self._rows) if found.row_dual is None else found.row_dual,
            is_converged=found.finding is Finding.OPTIMAL,
            is_empty=found.finding is Finding.INFEASIBLE,
            is_cut_short=is_cut_short,
        )
