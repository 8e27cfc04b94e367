"""The search from outside: support, lattice, a solution near its centre, and a walk in the lattice.

    support    columns of a few vertices of the relaxation, or all where they are few
    centre     a point of the relaxation far from the bounds of these columns
    lattice    short differences of integer solutions of the equations, by lattice reduction
    nearest    the integer solution that rounding in the lattice finds next to the centre
    walk       local search in the lattice's coordinates, for the bounds, other rows, the objective

On ns1952667 (40 equations, 13,035 general integers) the solution nearest to the centre leaves a
handful of bounds by one or two, and the walk mends that in a moment; dives, walks in single columns
and clauses found nothing there.
"""

from __future__ import annotations

from enum import Enum

import numpy as np

from solvers.mip.budget import Budget
from solvers.mip.lattice.equations import Equations, find_equations, widened
from solvers.mip.lattice.nearest import Lattice
from solvers.mip.lattice.reformulate import reformulate
from solvers.mip.lattice.support import Vertices, columns_of_vertices, find_centre
from solvers.mip.model import IndexArray, MipModel
from solvers.mip.pool import Offer
from solvers.mip.search.walk import Walk
from solvers.problem import FloatArray

SOURCE = "lattice walk"

MOST_ROWS = 300
"""Equations up to which a lattice is tried: its columns have to be more, and reduction takes their
number cubed at the least."""

MOST_COLUMNS = 500
"""Columns of a lattice at most: its arrays take some megabytes then, reduction a few seconds."""

WIDE, WIDE_PART = 2.0, 0.25
"""Width from which a column has room for steps of either sign, and the part of the equations'
columns that has to have it: among binaries hardly a solution near the centre is within bounds."""

VERTICES = 3
"""Vertices whose columns make a lattice. With one there is hardly a choice, with two rounding just
stayed within the bounds of ns1952667 or nearly so, with three and more it did; each costs an LP."""

WALK_WORK = 4e8
"""Entries that walks may visit in one lattice before another is tried, if columns were left out."""

MOST_FAILURES = 8
"""Lattices without a solution, or without a centre, after which the search is given up."""

JITTER = 0.7
"""Standard deviation of the random change to the centre before rounding, once the centre itself
was tried; of the order of what rounding changes anyway."""


class Status(Enum):
    """How a run ended."""

    SPENT = "the budget was spent"
    OVER = "nothing is left to try"


def suits(model: MipModel, lower: FloatArray, upper: FloatArray) -> bool:
    """Whether a model has equations of general integers, and not too many, within bounds (n,)."""
    if not np.any((model.is_integer == 1) & (upper - lower >= WIDE)):
        return False  # most models, and the look at their rows is saved
    return _suit(find_equations(model, lower, upper), lower, upper)


def _suit(equations: Equations, lower: FloatArray, upper: FloatArray) -> bool:
    if not 0 < equations.rows.size <= MOST_ROWS or not equations.is_solvable:
        return False
    wide = upper[equations.columns] - lower[equations.columns] >= WIDE
    return bool(np.mean(wide) >= WIDE_PART)


class LatticeSearch:
    """A search of one model that goes on from run to run; one run at a time. Close it in the end.

    Parameters
    ----------
    model : MipModel
    lower, upper : (n,) float64
        Bounds to search within, the model's or narrower ones.
    seed : int
    offer : Offer
    """

    def __init__(
        self, model: MipModel, lower: FloatArray, upper: FloatArray, seed: int, offer: Offer
    ) -> None:
        self._model = model
        self._lower, self._upper = lower.copy(), upper.copy()
        self._seed = seed
        self._offer = offer
        self._rng = np.random.default_rng(seed)
        self._equations = find_equations(model, lower, upper)
        self._is_over = not _suit(self._equations, lower, upper)
        self._vertices: Vertices | None = None
        self._home = lower
        self._best = np.inf
        self._failures = 0
        self.lattices = 0
        self._begin_anew()

    def _begin_anew(self) -> None:
        self._columns: IndexArray | None = None
        self._centre: FloatArray | None = None
        self._lattice: Lattice | None = None
        self._walk: Walk | None = None
        self._walked = 0.0

    def close(self) -> None:
        """Drop what is kept between runs."""
        if self._vertices is not None:
            self._vertices.close()
            self._vertices = None

    def run(self, budget: Budget) -> Status:
        """Search until the budget is spent or nothing is left to try."""
        while not self._is_over and not budget.spent():
            if self._columns is None:
                self._choose_columns(budget)
            elif self._centre is None:
                self._find_centre(budget)
            elif self._lattice is None:
                self._lattice = Lattice(*self._equations.within(self._columns, self._home))
            elif not self._lattice.is_reduced:
                self._lattice.reduce(budget)
            elif self._walk is None:
                self._begin_walk()
            else:
                self._go_on(budget)
        if not self._is_over:
            return Status.SPENT
        self.close()
        return Status.OVER

    def _choose_columns(self, budget: Budget) -> None:
        """Take all columns, or those of a few vertices more."""
        equations = self._equations
        if equations.columns.size <= MOST_COLUMNS:
            self._home = self._lower.copy()
            self._columns = equations.columns
            return
        if self._vertices is None:
            self._vertices = Vertices(self._model, self._lower, self._upper, self._seed)
        found = self._vertices.found
        if len(found) < VERTICES:
            self._is_over |= self._vertices.another(budget) is False
            return
        chosen = columns_of_vertices(equations, self._lower, self._upper, found)
        while chosen.size > MOST_COLUMNS and len(found) > 1:
            found.pop()
            chosen = columns_of_vertices(equations, self._lower, self._upper, found)
        self._home = np.round(found[0])
        self._is_over |= not 0 < chosen.size <= MOST_COLUMNS
        self._columns = chosen
        found.clear()

    def _find_centre(self, budget: Budget) -> None:
        assert self._columns is not None  # chosen before
        self._centre = find_centre(self._model, *self._bounds(), self._columns, budget, self._seed)
        if self._centre is None and not budget.is_over():
            self._try_others()

    def _bounds(self) -> tuple[FloatArray, FloatArray]:
        """Return the bounds (n,) with all columns of the equations at home that are left out."""
        assert self._columns is not None  # chosen before
        left_out = np.setdiff1d(self._equations.columns, self._columns)
        lower, upper = self._lower.copy(), self._upper.copy()
        lower[left_out] = upper[left_out] = self._home[left_out]
        return lower, upper

    @property
    def _is_partial(self) -> bool:
        """Whether columns of the equations were left out of the lattice."""
        return self._equations.columns.size > MOST_COLUMNS

    def _begin_walk(self) -> None:
        """Round the centre in the lattice and write the model in its coordinates."""
        assert self._columns is not None  # by the stages before, as the next two
        assert self._centre is not None
        assert self._lattice is not None
        model, equations, columns = self._model, self._equations, self._columns
        self.lattices += 1
        solution, missed = self._lattice.nearest(self._centre[columns])
        if missed.size:
            self._widen(missed)
            return
        base = np.zeros(model.num_columns)
        base[equations.columns] = self._home[equations.columns]
        base[columns] = solution
        others = np.setdiff1d(np.arange(model.num_columns), equations.columns).astype(np.int32)
        kept_rows = np.setdiff1d(np.arange(model.num_rows), equations.rows).astype(np.int32)
        self._there = reformulate(
            model, self._lower, self._upper, base, columns, self._lattice.kernel, kept_rows, others
        )
        self._walk = Walk(self._there.model, self._take, self._seed, place=self._place)
        self._walked = 0.0

    def _widen(self, missed: IndexArray) -> None:
        """Add columns of equations (of ours) that no integers satisfy in the present ones."""
        assert self._columns is not None  # chosen before
        wider = widened(self._equations, missed, self._columns, self._rng)
        if wider.size > MOST_COLUMNS or wider.size == self._columns.size:
            self._try_others()
            return
        self._failures += 1
        self._is_over |= self._failures >= MOST_FAILURES
        self._begin_anew()
        self._columns = wider

    def _try_others(self) -> None:
        """Take the columns of other vertices, if any were left out and not too much has failed."""
        self._failures += 1
        self._is_over |= not self._is_partial or self._failures >= MOST_FAILURES
        self._begin_anew()

    def _place(self, number: int) -> FloatArray | None:
        """Return where a round starts: solutions near the centre."""
        assert self._columns is not None  # by the stages before, as the next two
        assert self._centre is not None
        assert self._lattice is not None
        there, centre = self._there, self._centre
        z = np.zeros(there.kernel.shape[0])
        if number and z.size:
            moved = centre[self._columns]
            moved = moved + JITTER * self._rng.standard_normal(moved.size)
            away = self._lattice.nearest(moved)[0] - there.base[there.support]
            z = np.round(np.linalg.lstsq(there.kernel.T, away, rcond=None)[0])
        return np.concatenate([z, centre[there.rest]])

    def _go_on(self, budget: Budget) -> None:
        """Walk, for as long as that seems to lead anywhere."""
        assert self._walk is not None  # begun before
        part = budget.part(work=max(1.0, WALK_WORK - self._walked))
        self._walk.run(part)
        self._walked += part.work
        if self._walk.is_done:
            self._is_over = True
        elif self._walked >= WALK_WORK and self._is_partial:
            self._begin_anew()
        elif self._walked >= WALK_WORK:
            self._walked = 0.0

    def _take(self, z: FloatArray, source: str) -> bool:
        """Offer a point of the walk as one of the model."""
        x = self._there.back(z)
        objective = self._model.objective_at(x)
        if objective < self._best:
            self._best, self._walked = objective, 0.0
        return self._offer(x, SOURCE)
