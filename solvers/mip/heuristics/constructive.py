"""A plain construction: from an end of the bounds, row by row, whatever is violated is mended.

Local search looks at rows in random order and at many lines of memory for each step; on a model
with ten million entries its first point takes it many seconds. Where most rows can be mended one by
one, as in covering, packing and assignment with room to spare, a few passes over the rows in
the order of the model do, and each touches every entry a handful of times. What a sweep leaves
violated is where others begin.

The rule for a step is the one of greedy covering (Chvatal, "A greedy heuristic for the set-covering
problem", 1979) with the rows that a step would violate counted against those that it mends.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from solvers.core.options import EngineOptions
from solvers.core.problem import BoolArray, FloatArray, Problem
from solvers.core.progress import Progress
from solvers.mip.budget import SLICE, Budget
from solvers.mip.model import FEASIBILITY_TOLERANCE, MipModel, Submit
from solvers.mip.portfolio.heuristic import OVER, Heuristic, Report
from solvers.mip.solutions.incumbents import IncumbentStore
from solvers.native.mip_heuristics_constructive import give_back, mend_rows

if TYPE_CHECKING:
    from solvers.mip.portfolio.heuristic import HeuristicContext

SOURCE = "constructive"

HOPE = 0.8
"""Part of the violated rows up to which a pass has to come for another one to follow; most points
come in one or two passes."""

WORK_PER_ENTRY, LEAST_WORK = 20, 1_000_000
"""Visits of each entry, and entries in any case, after which the sweeps end: where columns are long
each step costs as much as a pass over many rows."""


@dataclass(frozen=True, eq=False)
class Swept:
    """Where the sweeps ended."""

    x: FloatArray
    """(n,) float64: within its bounds, integers whole."""
    violated_rows: int
    """At ``x``; 0 for a feasible point."""

    @property
    def is_feasible(self) -> bool:
        """Whether no row is violated."""
        return self.violated_rows == 0


def first_point(problem: Problem, options: EngineOptions, progress: Progress) -> FloatArray | None:
    """Return the best point (n,) at bounds or of a sweep, None without one.

    On a small problem that takes milliseconds. ``progress`` is told of points.
    """

    def is_over() -> bool:
        return progress.should_stop() is not None

    incumbents = IncumbentStore(problem, progress, options.tolerance, 1, options.device)
    record_trivial(incumbents, is_over)
    swept = sweep(incumbents.model, Budget(stop=is_over))
    if swept.is_feasible:
        incumbents.record(swept.x, SOURCE)
    incumbents.close()
    best = incumbents.pool.best
    return None if best is None else best.x


def sweep(model: MipModel, budget: Budget) -> Swept:
    """Construct a point; the same for the same model, unless the budget cuts it short.

    Parameters
    ----------
    budget : Budget
        Asked between blocks of rows.

    Returns
    -------
    Swept
        A feasible point has been made cheaper column by column, the dearest first.
    """
    x = _begin(model)
    distance = _distances(model, x)
    violated = _count(distance)
    within = budget.part(work=max(LEAST_WORK, WORK_PER_ENTRY * model.num_nonzeros))
    for number in itertools.count():
        if violated == 0 or within.spent():
            break
        x, before = x.copy(), (x, violated)
        # from the second pass on a step may violate as many rows as it mends
        _pass(model, distance, x, within, most=0 if number else -1)
        violated = _count(distance)
        if violated >= before[1]:
            x, violated = before
        if violated > HOPE * before[1] and number:
            break
    distance = _distances(model, x)  # afresh, as steps leave rounding errors
    violated = _count(distance)
    if violated == 0:
        _make_cheaper(model, distance, x)
    return Swept(x, violated)


def _begin(model: MipModel) -> FloatArray:
    """Return the end of the bounds (n,) that violates the fewest rows; the cheapest of equals."""
    ends = trivial_points(model)
    counts = [_count(_distances(model, x)) for x in ends]
    return ends[int(np.argmin(counts))].copy()


def _distances(model: MipModel, x: FloatArray) -> FloatArray:
    """Return how far each row is from its lower and its upper side, (m, 2); negative if beyond."""
    activity = model.activity(x)
    distance = np.empty((model.num_rows, 2))
    np.subtract(activity, model.row_lower, out=distance[:, 0])
    np.subtract(model.row_upper, activity, out=distance[:, 1])
    return distance


def _count(distance: FloatArray) -> int:
    return int(np.count_nonzero((distance < -FEASIBILITY_TOLERANCE).any(axis=1)))


def _pass(model: MipModel, distance: FloatArray, x: FloatArray, budget: Budget, most: int) -> None:
    """Go through all rows once; ``most`` is how many more may be violated by a step than mended."""
    moved = np.zeros(model.num_columns, dtype=np.uint8)
    row = 0
    while row < model.num_rows and not budget.spent():
        row, work = mend_rows(model, distance, x, moved, row, most, SLICE)
        budget.charge(float(work))


def _make_cheaper(model: MipModel, distance: FloatArray, x: FloatArray) -> None:
    """Let the dearest columns go first."""
    cheapest = np.where(model.cost > 0.0, model.lower, model.upper)
    dear = np.flatnonzero((model.cost != 0.0) & (x != cheapest))
    order = dear[np.argsort(-np.abs(model.cost[dear]), kind="stable")].astype(np.int32)
    give_back(model, distance, x, order)


# The plainest points of all: every integer at an end of its bounds.
#
# Many a model has something feasible there: everything built, nothing sold, every switch closed.
# Where there are continuous columns it takes an LP to know, which walkers and dives come to late.
# Where there are none, a product with the matrix tells, long before anything better is loaded;
# and what is not feasible there is what violates least, until there is better.


TRIVIAL = "trivial"


def submit_trivial(model: MipModel, submit: Submit, budget: Budget) -> None:
    """Submit the points at bounds, those with the fewest rows in the way first.

    Parameters
    ----------
    submit : Submit
        Sets the continuous columns by an LP.
    budget : Budget
        Looked at between points.
    """
    for x in reversed(trivial_points(model)):
        if budget.spent():
            return
        submit(x, TRIVIAL)


def record_trivial(incumbents: IncumbentStore, is_over: Callable[[], bool]) -> None:
    """Record the ends that the objective wants, all lower and all upper ones, or note them as near.

    Needs nothing but NumPy: for the first moment of a solve.

    Parameters
    ----------
    incumbents : IncumbentStore
        Of the problem as it was given.
    is_over : callable
        Asked between points; the first is looked at in any case.
    """
    model = incumbents.model
    everywhere = np.ones(model.num_columns, dtype=bool)
    for at_upper in (model.cost < 0.0, ~everywhere, everywhere):
        x = at_bounds(model, at_upper)
        violated = model.violated_rows(x)
        if violated:
            incumbents.infeasible_points.add(x, violated)
        else:
            incumbents.record(x, TRIVIAL)
        if is_over():
            return


def trivial_points(model: MipModel) -> tuple[FloatArray, ...]:
    """Return points (n,) at bounds: where many a model has something feasible.

    The ends that the objective wants; all upper; all lower; and those with fewer rows in the way.
    An infinite end gives way to the other one, or to zero.
    """
    up_locks, down_locks = model.locks
    everywhere = np.ones(model.num_columns, dtype=bool)
    return (
        at_bounds(model, model.cost < 0.0),
        at_bounds(model, everywhere),
        at_bounds(model, ~everywhere),
        at_bounds(model, up_locks < down_locks),
    )


def at_bounds(model: MipModel, at_upper: BoolArray) -> FloatArray:
    """Return the point (n,) at the upper bounds where asked for, else at the lower.

    An infinite end gives way to the other one, or to zero.
    """
    end = np.where(at_upper, model.upper, model.lower)
    other = np.where(at_upper, model.lower, model.upper)
    end = np.where(np.isfinite(end), end, other)
    return np.where(np.isfinite(end), end, 0.0)


class Trivial(Heuristic["HeuristicContext", "HeuristicContext"]):
    """The points at bounds, once."""

    name = TRIVIAL

    def run(self, state: HeuristicContext, budget: Budget, seed: int) -> Report:
        """Submit them."""
        submit_trivial(state.model, state.submit, budget)
        return OVER
