"""Which columns and rows take no part any more, as far as one can tell, and what is left then.

A column is *idle* when it is at a bound and its reduced cost holds it there so firmly that what
the duals still move will not change that; a row is when it is slack, has no dual, and what the
columns still move will not reach its sides. How much things still move is taken from how much
they moved since an earlier look: with dy the change of the duals, the reduced cost of column j
can have changed by |A_j|'|dy| at most, whatever the signs, and ``margin`` times that is what its
magnitude has to exceed (correspondingly for rows, with |A_i| |dx| and the distance to the sides).
A free column is never idle, an equation never, and a fixed column always.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.core.lp_answer import Answer
from solvers.core.machine import STEPS_PER_LOOK, threads_for
from solvers.core.problem import BoolArray, FloatArray, Problem
from solvers.core.vectors import inner


@dataclass(frozen=True, eq=False)
class Kept:
    """What of a problem is kept: columns (n,) and rows (m,), True where they stay."""

    columns: BoolArray
    rows: BoolArray

    def entries_at_most(self, problem: Problem) -> int:
        """Return a bound on the matrix entries kept: those of kept columns, or of kept rows.

        Counting those in both would take longer than everything else that is done here.
        """
        of_columns = problem.columns.lengths[self.columns].sum()
        of_rows = np.diff(problem.matrix.indptr)[self.rows].sum()
        return int(min(of_columns, of_rows))

    def with_those(self, other: Kept) -> Kept:
        """Return what either keeps."""
        return Kept(self.columns | other.columns, self.rows | other.rows)


class Magnitudes:
    """Products with the magnitudes |A| of a problem's entries, made when first needed."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem

    @cached_property
    def _matrix(self) -> Any:
        return abs(self._problem.matrix)

    def of_columns(self, dual_change: FloatArray) -> FloatArray:
        """Return |A|'|dy| (n,) of a change (m,) of the duals."""
        moved: FloatArray = self._matrix.T @ np.abs(dual_change)
        return moved

    def of_rows(self, primal_change: FloatArray) -> FloatArray:
        """Return |A| |dx| (m,) of a change (n,) of the point."""
        moved: FloatArray = self._matrix @ np.abs(primal_change)
        return moved


@dataclass(frozen=True, eq=False)
class Movement:
    """How far reduced costs (n,) and row activities (m,) may have moved between two looks."""

    reduced_cost: FloatArray
    row_activity: FloatArray

    @classmethod
    def between(cls, x: FloatArray, y: FloatArray, now: Answer, sizes: Magnitudes) -> Movement:
        """Measure it from an earlier point x (n,), y (m,) to an answer."""
        return cls(sizes.of_columns(now.row_dual - y), sizes.of_rows(now.x - x))


def not_idle(problem: Problem, now: Answer, moved: Movement | None, margin: float) -> Kept:
    """Return everything that is not idle by ``margin`` times the movement, None for no movement."""
    far = True if moved is None else np.abs(now.reduced_cost) > margin * moved.reduced_cost
    fixed = problem.lower == problem.upper
    columns = ~((_is_priced_out(problem, now) & far) | fixed)
    distance = np.minimum(
        now.row_activity - problem.row_lower, problem.row_upper - now.row_activity
    )
    reach = 0.0 if moved is None else margin * moved.row_activity
    idle = (now.row_dual == 0.0) & (distance > reach)
    return Kept(columns, ~idle)


def wrongly_left_out(problem: Problem, now: Answer, kept: Kept) -> Kept:
    """Return columns left out whose reduced cost calls them in, and rows that are violated."""
    fixed = problem.lower == problem.upper
    columns = ~kept.columns & ~_is_priced_out(problem, now) & ~fixed
    violated = (now.row_activity < problem.row_lower) | (now.row_activity > problem.row_upper)
    return Kept(columns & (now.reduced_cost != 0.0), ~kept.rows & violated)


def _is_priced_out(problem: Problem, now: Answer) -> BoolArray:
    """Return which columns (n,) are at the bound that their reduced cost prefers."""
    low = (now.x <= problem.lower) & (now.reduced_cost > 0.0)
    high = (now.x >= problem.upper) & (now.reduced_cost < 0.0)
    held: BoolArray = low | high
    return held


@dataclass(frozen=True, eq=False)
class Part:
    """A problem without some columns and rows, and the way back.

    Parameters
    ----------
    problem : Problem
        The kept columns and rows; what the columns left out contribute at their bounds stands in
        its row sides and its offset.
    kept : Kept
        What is kept of the whole.
    columns, rows : integer arrays
        The numbers of the kept ones in the whole.
    x : (n,) float64
        A point of the whole; its values are those of the columns left out.
    """

    problem: Problem
    kept: Kept
    columns: npt.NDArray[np.intp]
    rows: npt.NDArray[np.intp]
    x: FloatArray

    def point(self, x: FloatArray) -> FloatArray:
        """Return a point of the whole (n,) from one of the part."""
        whole = self.x.copy()
        whole[self.columns] = x
        return whole

    def direction(self, x: FloatArray) -> FloatArray:
        """Return a direction of the whole (n,), zero where columns are left out."""
        whole = np.zeros(self.x.size)
        whole[self.columns] = x
        return whole

    def duals(self, y: FloatArray) -> FloatArray:
        """Return row duals of the whole (m,), zero where rows are left out."""
        whole = np.zeros(self.kept.rows.size)
        whole[self.rows] = y
        return whole


def leave_out(problem: Problem, kept: Kept, x: FloatArray, threads: int = 1) -> Part:
    """Make the part of a problem that is kept, with all other columns where x (n,) has them."""
    columns, rows = np.flatnonzero(kept.columns), np.flatnonzero(kept.rows)
    outside = np.where(kept.columns, 0.0, x)
    threads = threads_for(STEPS_PER_LOOK * problem.num_nonzeros, threads)
    by_column = problem.columns.part(columns, rows, threads)
    contribution = (problem.matrix @ outside)[rows]
    smaller = Problem.from_canonical(
        cost=problem.cost[columns],
        matrix=problem.entries.part(rows, columns, threads),
        row_lower=problem.row_lower[rows] - contribution,
        row_upper=problem.row_upper[rows] - contribution,
        lower=problem.lower[columns],
        upper=problem.upper[columns],
        integrality=np.zeros(columns.size, dtype=bool),
        offset=problem.offset + inner(problem.cost, outside),
        columns=by_column,
    )
    return Part(smaller, kept, columns, rows, x)
