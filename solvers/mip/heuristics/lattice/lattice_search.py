"""The search from outside: support, lattice, a solution near its centre, and a walk in the lattice.

    support    columns of a few vertices of the relaxation, or all where they are few
    centre     a point of the relaxation far from the bounds of these columns
    lattice    short differences of integer solutions of the equations, by lattice reduction
    nearest    the integer solution that rounding in the lattice finds next to the centre
    walk       local search in the lattice's coordinates, for the bounds, other rows, the objective

Where the walk finds no point, the lattice is reduced further, and then another support is tried.

On ns1952667 (40 equations, 13,035 general integers) the solution nearest to the centre of 119 of
the columns keeps all bounds, so that nothing is left to walk for: 460 million entries visited,
nearly all by the LPs. Dives, walks in single columns, pumps and clauses found nothing there in
minutes.
"""

from __future__ import annotations

from enum import Enum

import numpy as np

from solvers.core.problem import FloatArray
from solvers.mip.heuristics.lattice.equations import find_equations, widened
from solvers.mip.heuristics.lattice.nearest import Lattice
from solvers.mip.heuristics.lattice.reformulate import Reformulated, reformulate
from solvers.mip.heuristics.lattice.supports import Supports
from solvers.mip.heuristics.local_search.cpu.walk import Walk
from solvers.mip.model import IndexArray, MipModel
from solvers.mip.portfolio.budget import Budget
from solvers.mip.solutions.pool import Submit

SOURCE = "lattice walk"

MOST_ROWS = 300
"""Equations up to which a lattice is tried: its columns have to be more, and reduction takes their
number cubed at the least."""

MOST_ENTRIES = 2_000_000
"""Entries of a model up to which its relaxation is left to simplex, as in the pumps."""

WIDE, WIDE_PART = 2.0, 0.25
"""Width from which a column has room for steps of either sign, and the part of the equations'
columns that has to have it: among binaries hardly a solution near the centre is within bounds."""

COVERED_PART = 0.25
"""Part of the integer columns that the equations have to have: where they have few, other rows are
what makes the model hard."""

WALK_WORK = 1.5e8
"""Entries that walks may visit in one lattice before another is tried, if columns were left out."""

JITTER = 0.7
"""Standard deviation of the random change to the centre before rounding, once the centre itself
was tried; of the order of what rounding changes anyway."""


class Status(Enum):
    """How a run ended."""

    SPENT = "the budget was spent"
    OVER = "nothing is left to try"


def suits(model: MipModel, lower: FloatArray, upper: FloatArray) -> bool:
    """Whether a model has equations of general integers, and not too many, within bounds (n,)."""
    if model.num_nonzeros > MOST_ENTRIES:
        return False
    if not np.any((model.is_integer == 1) & (upper - lower >= WIDE)):
        return False  # most models, and the look at their rows is saved
    equations = find_equations(model, lower, upper)
    if not 0 < equations.rows.size <= MOST_ROWS or not equations.is_solvable:
        return False
    integers = int(np.count_nonzero((model.is_integer == 1) & (lower < upper)))
    wide = upper[equations.columns] - lower[equations.columns] >= WIDE
    return bool(np.mean(wide) >= WIDE_PART and wide.size >= COVERED_PART * integers)


class LatticeSearch:
    """A search of one model that goes on from run to run; one run at a time.

    Parameters
    ----------
    model : MipModel
    lower, upper : (n,) float64
        Bounds to search within, the model's or narrower ones.
    seed : int
    submit : Submit
    """

    def __init__(
        self, model: MipModel, lower: FloatArray, upper: FloatArray, seed: int, submit: Submit
    ) -> None:
        self._model = model
        self._lower, self._upper = lower.copy(), upper.copy()
        self._seed = seed
        self._submit = submit
        self._rng = np.random.default_rng(seed)
        self._equations = find_equations(model, lower, upper)
        self._supports = Supports(model, self._equations, self._lower, self._upper, seed)
        self._is_over = not suits(model, lower, upper)
        self._lattice: Lattice | None = None
        self._walk: Walk | None = None
        self._walked = 0.0
        self._best = np.inf
        self.lattices = 0

    def run(self, budget: Budget) -> Status:
        """Search until the budget is spent or nothing is left to try."""
        supports = self._supports
        while not self._is_over and not budget.spent():
            if supports.centre is None or supports.columns is None:
                supports.find(budget)
                self._is_over |= supports.is_over
            elif self._lattice is None:
                self._lattice = Lattice(*self._equations.within(supports.columns, supports.home))
            elif not self._lattice.is_reduced:
                self._lattice.reduce(budget)
            elif self._walk is None:
                self._begin_walk(self._lattice, supports.columns, supports.centre)
            else:
                self._go_on(self._walk, budget)
        return Status.OVER if self._is_over else Status.SPENT

    def _begin_walk(self, lattice: Lattice, columns: IndexArray, centre: FloatArray) -> None:
        """Round the centre in the lattice and write the model in its coordinates."""
        model, equations = self._model, self._equations
        self.lattices += 1
        solution, missed = lattice.nearest(centre[columns])
        if missed.size:
            self._leave()
            wider = widened(equations, missed, columns, self._rng)
            self._supports.fail(wider if wider.size > columns.size else None)
            return
        base = np.zeros(model.num_columns)
        base[equations.columns] = self._supports.home[equations.columns]
        base[columns] = solution
        others = np.setdiff1d(np.arange(model.num_columns), equations.columns).astype(np.int32)
        kept_rows = np.setdiff1d(np.arange(model.num_rows), equations.rows).astype(np.int32)
        there = reformulate(
            model, self._lower, self._upper, base, columns, lattice.kernel, kept_rows, others
        )

        def place(number: int) -> FloatArray:
            return self._place(lattice, there, centre, is_first=number == 0)

        def take(z: FloatArray, source: str) -> bool:
            return self._take(there.back(z))

        self._walk = Walk(there.model, take, self._seed, place=place)

    def _leave(self) -> None:
        self._lattice, self._walk, self._walked = None, None, 0.0

    def _place(
        self, lattice: Lattice, there: Reformulated, centre: FloatArray, *, is_first: bool
    ) -> FloatArray:
        """Return where a round of the walk starts: a solution near the centre."""
        z = np.zeros(there.kernel.shape[0])
        if z.size and not is_first:
            moved = centre[there.support]
            moved = moved + JITTER * self._rng.standard_normal(moved.size)
            away = lattice.nearest(moved)[0] - there.base[there.support]
            z = np.round(np.linalg.lstsq(there.kernel.T, away, rcond=None)[0])
        return np.concatenate([z, centre[there.rest]])

    def _go_on(self, walk: Walk, budget: Budget) -> None:
        """Walk, for as long as that seems to lead anywhere."""
        part = budget.part(work=max(1.0, WALK_WORK - self._walked))
        walk.run(part)
        self._walked += part.work
        self._is_over |= walk.is_done
        if self._walked < WALK_WORK:
            return
        self._walked = 0.0
        if self._lattice is not None and np.isinf(self._best) and not self._lattice.is_deep:
            self._lattice.deepen()  # nearer solutions and shorter moves, for more work
            self._walk = None
        elif self._supports.is_partial:
            self._leave()
            self._supports.begin_anew()

    def _take(self, x: FloatArray) -> bool:
        """Submit a point of the model that the walk has found."""
        objective = self._model.objective_at(x)
        if objective < self._best:
            self._best, self._walked = objective, 0.0
        return self._submit(x, SOURCE)
