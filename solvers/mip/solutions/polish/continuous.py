"""The model split in two: what its integers decide, and the LP that is left."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import scipy.sparse as sp

from solvers.core.outcome import SolutionStatus, StopReason
from solvers.core.problem import FloatArray, Problem
from solvers.highs import warm_lp
from solvers.highs.model import as_it_stands
from solvers.highs.warm_lp import WarmLp, for_seconds
from solvers.mip.model import (
    FEASIBILITY_TOLERANCE,
    ROUNDING,
    SAME,
    IndexArray,
    MipModel,
    is_feasible,
)


@dataclass(frozen=True, eq=False)
class ContinuousPart:
    """The columns that are not integer, the rows they occur in, and how far they can move them."""

    columns: IndexArray
    """(k,) int32: the continuous columns of the model, rising."""
    rows: IndexArray
    """(r,) int32: rows with an entry in one of them, rising."""
    matrix: sp.csr_array
    """(r, k) csr: the entries of ``rows`` in ``columns``."""
    lowest: FloatArray
    highest: FloatArray
    """(m,) float64 each: least and greatest sum that the continuous columns add to each row;
    infinite where one of them has no bound, zero in other rows."""

    @classmethod
    def of(cls, model: MipModel) -> ContinuousPart:
        """Split a model."""
        continuous = model.is_integer == 0
        columns = np.flatnonzero(continuous).astype(np.int32)
        entries = np.flatnonzero(continuous[model.rows.indices])
        row_of_entry = np.repeat(np.arange(model.num_rows, dtype=np.int32), model.rows.lengths)[
            entries
        ]
        column, value = model.rows.indices[entries], model.rows.data[entries]
        at_lower, at_upper = value * model.lower[column], value * model.upper[column]
        least, most = np.minimum(at_lower, at_upper), np.maximum(at_lower, at_upper)
        rows = np.unique(row_of_entry).astype(np.int32)
        matrix = model.problem.matrix[rows][:, columns].tocsr()
        matrix.sort_indices()
        return cls(
            columns=columns,
            rows=rows,
            matrix=matrix,
            lowest=_row_sums(row_of_entry, least, model.num_rows),
            highest=_row_sums(row_of_entry, most, model.num_rows),
        )

    def problem(self, model: MipModel) -> Problem:
        """Return the LP that is left, with the sides that its rows have in the model."""
        return Problem(
            cost=model.cost[self.columns],
            matrix=self.matrix,
            row_lower=model.row_lower[self.rows],
            row_upper=model.row_upper[self.rows],
            lower=model.lower[self.columns],
            upper=model.upper[self.columns],
            integrality=np.zeros(self.columns.size, dtype=bool),
        )

    def row_sides(self, model: MipModel, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the sides (m,) that are left for the continuous columns at the integers of x."""
        decided = model.activity(np.where(model.is_integer == 1, x, 0.0))
        return model.row_lower - decided, model.row_upper - decided

    def hopeless_rows(self, low: FloatArray, high: FloatArray) -> IndexArray:
        """Return the rows whose sides (m,) are out of the continuous columns' reach."""
        above = low - self.highest > _tolerance(low, self.highest)
        below = self.lowest - high > _tolerance(high, self.lowest)
        return np.flatnonzero(above | below).astype(np.int32)


def _row_sums(row: IndexArray, terms: FloatArray, num_rows: int) -> FloatArray:
    """Add terms of which the infinite ones all have the same sign."""
    infinite = np.isinf(terms)
    sums = np.bincount(row, weights=np.where(infinite, 0.0, terms), minlength=num_rows)
    total: FloatArray = sums.astype(np.float64, copy=False)
    total[row[infinite]] = terms[infinite]
    return total


def _tolerance(side: FloatArray, reach: FloatArray) -> FloatArray:
    size = np.maximum(
        np.where(np.isfinite(side), np.abs(side), 0.0),
        np.where(np.isfinite(reach), np.abs(reach), 0.0),
    )
    return FEASIBILITY_TOLERANCE + ROUNDING * size


# The LP over the continuous columns, kept in HiGHS from point to point.
#
# It asks for one core, and no callback is subscribed: simplex would take Python's lock at every
# iteration. So it is used in one thread, which
# :class:`~solvers.mip.solutions.polish.polisher.Polisher` has.


TOLERANCE = 1e-8
"""A hundredth of what points are checked by, because HiGHS measures on a scaled LP first; relative
for PDLP, whose rows are of any size."""

WARM_FACTOR, WARM_AT_LEAST = 2, 500
"""A warm start may take so many times the iterations of the last solve from nothing, and at least
so many; what takes longer has lost its way, and presolve and a new basis are quicker. (Of a network
with 16 000 rows one warm start took 18 000 iterations, and presolve with a new basis 1 100.)"""

SIMPLEX_PART = 0.4
"""Part of the time of an LP from nothing that simplex has before interior point takes over: of a
network design with 14 000 columns simplex took 34 000 iterations in 24 s, interior point 2.5 s."""


@dataclass(frozen=True, eq=False)
class Solved:
    """The answer of one LP.

    ``values`` (k,) are those of the continuous columns where there is an optimum, or where the LP
    is unbounded and they are merely feasible; ``ray_rows`` the rows of the Farkas ray, and ``ray``
    its entries there.
    """

    solution_status: SolutionStatus
    stop_reason: StopReason
    values: FloatArray | None
    ray_rows: IndexArray
    iterations: int
    ray: FloatArray

    @property
    def is_infeasible(self) -> bool:
        """Whether the LP is proven to have no solution."""
        return self.solution_status is SolutionStatus.INFEASIBLE

    @property
    def is_out_of_time(self) -> bool:
        """Whether the time limit ended it."""
        return self.stop_reason is StopReason.TIME_LIMIT

    @property
    def is_optimal(self) -> bool:
        """Whether ``values`` are optimal."""
        return self.solution_status is SolutionStatus.OPTIMAL


class WarmSimplex:
    """Dual simplex from the last basis, for one LP with changing row sides.

    ``is_warm`` says whether there is a basis to go on from.

    Parameters
    ----------
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
        settings = {"primal_feasibility_tolerance": TOLERANCE}
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
        if solved.solution_status is SolutionStatus.UNBOUNDED:  # without costs, some point of it
            lp.change(cost=np.zeros(self._cost.size))
            solved = run(for_seconds(seconds))
            lp.change(cost=self._cost)
            if solved.solution_status is SolutionStatus.OPTIMAL:
                solved = replace(solved, solution_status=SolutionStatus.UNBOUNDED)
        return self._answer(solved)

    def _answer(self, solved: warm_lp.Solved) -> Solved:
        has_values = solved.solution_status in (SolutionStatus.OPTIMAL, SolutionStatus.UNBOUNDED)
        ray = self._lp.dual_ray() if solved.solution_status is SolutionStatus.INFEASIBLE else None
        ray = np.empty(0) if ray is None else ray
        size = np.abs(ray)
        large = np.flatnonzero(size > SAME * np.max(size, initial=0.0))
        return Solved(
            solved.solution_status,
            solved.stop_reason,
            solved.x if has_values else None,
            self._rows[large],
            solved.iterations,
            ray[large],
        )


# A point that misses its rows by hardly anything, moved on to them without an LP.
#
# What presolve gives back, or what an LP holds within its tolerance on scaled rows, can miss a row
# of the original by a little more than is allowed. The least change of the continuous columns that
# mends it takes conjugate gradients some hundred products with their part of the matrix; the LP
# that does it, too, takes half a minute on a large network design. With the rounds of the repair
# 220 of 240 drawn points are moved, and 170 with four rounds, which take 0.6 of the time.


TARGET = 0.1 * FEASIBILITY_TOLERANCE
"""Norm of what rows may still miss: far enough within the tolerance for sums in another order."""


def touched_up(
    model: MipModel, x: FloatArray, should_stop: Callable[[], bool]
) -> FloatArray | None:
    """Return a feasible point (n,) with the same integers and nearly the same rest, if one is met.

    Parameters
    ----------
    x : (n,) float64
        With whole integers.
    should_stop : callable
        Asked every 50 iterations.
    """
    from solvers.pdlp.repair import ITERATIONS, ROUNDS
    from solvers.sparse.projection import project_on_rows

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
