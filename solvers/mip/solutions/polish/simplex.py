"""The LP over the continuous columns, kept in HiGHS from point to point.

It asks for one core, and no callback is subscribed: simplex would take Python's lock at every
iteration. So it is used in one thread, which
:class:`~solvers.mip.solutions.polish.polisher.Polisher` has.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from solvers.core.problem import FloatArray
from solvers.highs import warm_lp
from solvers.highs.model import as_it_stands
from solvers.highs.task import Ending, Finding
from solvers.highs.warm_lp import WarmLp, for_seconds
from solvers.mip.model import IndexArray, MipModel
from solvers.mip.solutions.polish.split import ContinuousPart

PRIMAL_TOLERANCE = 1e-8
"""A hundredth of what points are checked by, because HiGHS measures on a scaled LP first."""

WARM_FACTOR, WARM_AT_LEAST = 2, 500
"""A warm start may take so many times the iterations of the last solve from nothing, and at least
so many; what takes longer has lost its way, and presolve and a new basis are quicker. (Of a network
with 16 000 rows one warm start took 18 000 iterations, and presolve with a new basis 1 100.)"""

SIMPLEX_PART = 0.4
"""Part of the time of an LP from nothing that simplex has before interior point takes over: of a
network design with 14 000 columns simplex took 34 000 iterations in 24 s, interior point 2.5 s."""

RAY_ENTRY = 1e-9
"""Entries of a Farkas ray below this part of its largest are rounding."""


@dataclass(frozen=True, eq=False)
class Solved:
    """The answer of one LP.

    ``values`` (k,) are those of the continuous columns where there is an optimum, or where the LP
    is unbounded and they are merely feasible; ``ray_rows`` the rows of the Farkas ray, and ``ray``
    its entries there.
    """

    finding: Finding
    ending: Ending
    values: FloatArray | None
    ray_rows: IndexArray
    iterations: int
    ray: FloatArray

    @property
    def is_infeasible(self) -> bool:
        """Whether the LP is proven to have no solution."""
        return self.finding is Finding.INFEASIBLE

    @property
    def is_out_of_time(self) -> bool:
        """Whether the time limit ended it."""
        return self.ending is Ending.TIME_LIMIT

    @property
    def is_optimal(self) -> bool:
        """Whether ``values`` are optimal."""
        return self.finding is Finding.OPTIMAL


class WarmSimplex:
    """Dual simplex from the last basis, for one LP with changing row sides.

    ``is_warm`` says whether there is a basis to go on from.

    Parameters
    ----------
    model : MipModel
    part : ContinuousPart
        What is left of it with the integers fixed.

    Raises
    ------
    EngineError
        HiGHS refuses it.
    """

    def __init__(self, model: MipModel, part: ContinuousPart) -> None:
        self.is_warm = False
        self._prefers_interior = False
        self._warm_limit = WARM_AT_LEAST
        self._rows = part.rows
        problem = part.problem(model)
        self._cost = problem.cost
        settings = {"primal_feasibility_tolerance": PRIMAL_TOLERANCE}
        self._lp = WarmLp(as_it_stands(problem), settings)

    def solve_warm(self, low: FloatArray, high: FloatArray, seconds: float) -> Solved:
        """Solve like :meth:`solve`, within the iterations that a warm start may take."""
        return self._solve(low, high, seconds, self._warm_limit)

    def solve(self, low: FloatArray, high: FloatArray, seconds: float) -> Solved:
        """Solve for row sides (r,) within ``seconds``, going on from the last basis."""
        return self._solve(low, high, seconds)

    def solve_afresh(self, low: FloatArray, high: FloatArray, seconds: float) -> Solved:
        """Solve from nothing and with presolve: at first, and where warm starts take too long.

        By simplex, and where that is slow by interior point, then and ever after. Where presolve
        finds that there is no solution, there is no ray either.
        """
        began = time.monotonic()
        self._lp.forget()
        if not self._prefers_interior:
            solved = self._solve(low, high, SIMPLEX_PART * seconds, presolve=True)
            self.is_warm = solved.is_optimal
            self._warm_limit = max(WARM_AT_LEAST, WARM_FACTOR * solved.iterations)
            self._prefers_interior = solved.is_out_of_time
            if not solved.is_out_of_time:
                return solved
            self._lp.forget()
        left = max(0.0, seconds - (time.monotonic() - began))
        solved = self._solve(low, high, left, presolve=True, interior=True)
        self._lp.forget()
        self.is_warm = False
        return solved

    def _solve(
        self,
        low: FloatArray,
        high: FloatArray,
        seconds: float,
        iterations: int | None = None,
        *,
        presolve: bool = False,
        interior: bool = False,
    ) -> Solved:
        lp = self._lp
        lp.change(row_lower=low, row_upper=high)
        run = partial(lp.solve, iterations=iterations, presolve=presolve, interior=interior)
        solved = run(for_seconds(seconds))
        self.is_warm = True
        if solved.finding is Finding.UNBOUNDED:  # without costs, some point of it
            lp.change(cost=np.zeros(self._cost.size))
            solved = run(for_seconds(seconds))
            lp.change(cost=self._cost)
            if solved.finding is Finding.OPTIMAL:
                solved = replace(solved, finding=Finding.UNBOUNDED)
        return self._answer(solved)

    def _answer(self, solved: warm_lp.Solved) -> Solved:
        has_values = solved.finding in (Finding.OPTIMAL, Finding.UNBOUNDED)
        ray = self._lp.dual_ray() if solved.finding is Finding.INFEASIBLE else None
        ray = np.empty(0) if ray is None else ray
        size = np.abs(ray)
        large = np.flatnonzero(size > RAY_ENTRY * np.max(size, initial=0.0))
        return Solved(
            solved.finding,
            solved.ending,
            solved.x if has_values else None,
            self._rows[large],
            solved.iterations,
            ray[large],
        )
