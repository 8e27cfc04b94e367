"""What would have to give way so that an infeasible model can be satisfied, and by how much.

Every side of a row may be missed at a price, and the sum of all misses is minimised (elastic
programming: Brown, Graves, 1975; Chinneck, "Feasibility and Infeasibility in Optimization", 2008,
section 6.1). A miss counts in units of the row's largest coefficient, so that a row means the same
when it is multiplied. Of the sides that give way those are then left out, one after the other,
without which the others suffice (``minimal`` says whether all were tried). Bounds of variables give
way only where rows alone do not help; integrality never does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from solvers.core.options import EngineOptions
from solvers.core.outcome import Outcome, SolutionStatus
from solvers.core.problem import BoolArray, FloatArray, Problem
from solvers.core.progress import Progress

SHARE_OF_TRIAL = 0.3
"""A trial without one of the sides may use this part of the time left."""

NOTHING = 1e-7
"""Misses up to this size, relative to the side, are within the tolerance of any solver."""


@dataclass(frozen=True, eq=False)
class Relaxation:
    """Sides of rows and bounds that give way, so that the rest of a model can be satisfied.

    Parameters
    ----------
    row_lower, row_upper : (m,) arrays
        Sides of the rows with which the model can be satisfied.
    lower, upper : (n,) arrays
        Bounds of the columns, likewise.
    lines : tuple of str
        One readable sentence for each side or bound that differs from the model's.
    minimal : bool
        Whether the model stays infeasible if any one of them does not give way.
    """

    row_lower: FloatArray
    row_upper: FloatArray
    lower: FloatArray
    upper: FloatArray
    lines: tuple[str, ...]
    minimal: bool

    def __str__(self) -> str:
        some = "; without any one of these changes it cannot" if self.minimal else ""
        return "\n".join(
            [f"The model can be satisfied if this changes{some}:", *(f"  {x}" for x in self.lines)]
        )


@dataclass(frozen=True, eq=False)
class _Elastic:
    """A model of which sides may be missed.

    Its rows are those of the model and, where bounds may be missed, a row for each column with a
    bound. ``matrix`` is (r, n), ``low`` and ``high`` are (r,), ``price`` (r,) is the price of a
    unit that a row is missed by.
    """

    problem: Problem
    matrix: sp.csr_array
    low: FloatArray
    high: FloatArray
    price: FloatArray
    lower: FloatArray
    upper: FloatArray

    def solve(self, below: BoolArray, above: BoolArray, progress: Progress) -> Outcome:
        """Minimise the price of all misses, where only some of the sides may be missed.

        Parameters
        ----------
        below, above : (r,) arrays
            Lower and upper sides that may be missed.
        """
        from solvers.highs import solve

        n, rows = self.problem.num_columns, self.low.size
        at_low, at_high = np.flatnonzero(below), np.flatnonzero(above)
        signs = np.concatenate([np.ones(at_low.size), -np.ones(at_high.size)])
        places = np.concatenate([at_low, at_high])
        order = np.arange(places.size)
        misses = sp.csr_array((signs, (places, order)), shape=(rows, places.size))
        free = np.zeros(places.size)
        elastic = Problem(
            cost=np.concatenate([np.zeros(n), self.price[places]]),
            matrix=sp.hstack([self.matrix, misses], format="csr"),
            row_lower=self.low,
            row_upper=self.high,
            lower=np.concatenate([self.lower, free]),
            upper=np.concatenate([self.upper, free + np.inf]),
            integrality=np.concatenate([self.problem.integrality, free.astype(bool)]),
        )
        return solve(elastic, EngineOptions(threads=1), progress)


def relax(problem: Problem, time_limit: float) -> Relaxation | None:
    """Find sides and bounds that would have to give way, and by how much.

    Parameters
    ----------
    problem : Problem
        A model known to be infeasible.
    time_limit : float
        Seconds this may take.

    Returns
    -------
    Relaxation or None
        None where the time did not allow to find one, or where no side can help.
    """
    progress = Progress(time_limit)
    for elastic in (_rows_only(problem), _rows_and_bounds(problem)):
        below, above = np.isfinite(elastic.low), np.isfinite(elastic.high)
        found = elastic.solve(below, above, progress)
        if found.solution_status.has_point and found.x is not None:
            x, minimal = _without_needless(elastic, found.x[: problem.num_columns], progress)
            return _relaxation(problem, elastic, x, minimal)
    return None


def _rows_only(problem: Problem) -> _Elastic:
    matrix = sp.csr_array(problem.matrix)
    sides = problem.row_lower, problem.row_upper
    return _Elastic(problem, matrix, *sides, _price(matrix), problem.lower, problem.upper)


def _rows_and_bounds(problem: Problem) -> _Elastic:
    bounded = np.flatnonzero(np.isfinite(problem.lower) | np.isfinite(problem.upper))
    shape = (bounded.size, problem.num_columns)
    bounds = sp.csr_array((np.ones(bounded.size), (np.arange(bounded.size), bounded)), shape=shape)
    matrix = sp.vstack([sp.csr_array(problem.matrix), bounds], format="csr")
    low = np.concatenate([problem.row_lower, problem.lower[bounded]])
    high = np.concatenate([problem.row_upper, problem.upper[bounded]])
    open_end = np.full(problem.num_columns, np.inf)
    return _Elastic(problem, matrix, low, high, _price(matrix), -open_end, open_end)


def _price(matrix: sp.csr_array) -> FloatArray:
    largest = abs(matrix).max(axis=1).toarray().ravel()
    price: FloatArray = 1.0 / np.where(largest > 0.0, largest, 1.0)
    return price


def _misses(elastic: _Elastic, x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return by how much each row is below its lower and above its upper side."""
    activity = elastic.matrix @ x
    below, above = elastic.low - activity, activity - elastic.high
    for miss, side in ((below, elastic.low), (above, elastic.high)):
        miss[miss <= NOTHING * (1.0 + np.abs(side))] = 0.0
    return below, above


def _without_needless(
    elastic: _Elastic, x: FloatArray, progress: Progress
) -> tuple[FloatArray, bool]:
    """Take back misses that others can do without; also return whether all were tried."""
    below, above = (miss > 0.0 for miss in _misses(elastic, x))
    minimal = True
    for sides in (below, above):
        for row in np.flatnonzero(sides):
            sides[row] = False
            if not (below.any() or above.any()):
                sides[row] = True  # the model itself, which is infeasible
                continue
            trial = Progress(SHARE_OF_TRIAL * progress.time_left)
            found = elastic.solve(below, above, trial)
            if found.solution_status.has_point and found.x is not None:
                x = found.x[: x.size]
            else:
                sides[row] = True
                minimal = minimal and found.solution_status is SolutionStatus.INFEASIBLE
    return x, minimal


def _relaxation(problem: Problem, elastic: _Elastic, x: FloatArray, minimal: bool) -> Relaxation:
    below, above = _misses(elastic, x)
    activity = elastic.matrix @ x
    low = np.where(below > 0.0, activity, elastic.low)
    high = np.where(above > 0.0, activity, elastic.high)
    m = problem.num_rows
    lower, upper = problem.lower.copy(), problem.upper.copy()
    if low.size > m:
        bounded = elastic.matrix.indices[elastic.matrix.indptr[m] :]
        lower[bounded], upper[bounded] = low[m:], high[m:]
    lines = [
        *_sentences(problem.row_lower, problem.row_upper, low[:m], high[:m], problem.row_label),
        *_sentences(
            problem.lower,
            problem.upper,
            lower,
            upper,
            lambda j: f"bound of {problem.column_label(j)}",
        ),
    ]
    return Relaxation(low[:m], high[:m], lower, upper, tuple(lines), minimal)


def _sentences(
    low: FloatArray,
    high: FloatArray,
    new_low: FloatArray,
    new_high: FloatArray,
    label: Callable[[int], str],
) -> Iterator[str]:
    """Yield a sentence for each side that differs from the model's."""
    for i in np.flatnonzero((new_low != low) | (new_high != high)).tolist():
        for old, new, sign in ((low[i], new_low[i], ">="), (high[i], new_high[i], "<=")):
            if old != new:
                was = "=" if low[i] == high[i] else sign
                more = f"{abs(new - old):.6g} {'less' if new < old else 'more'}"
                yield f"{label(i)}: {was} {number(old)} becomes {sign} {new:.6g} ({more})"


def number(value: float) -> str:
    """Return a number without needless digits."""
    return f"{value:.10g}"
