"""One support after the other: which columns make a lattice, and the point to be rounded in it."""

from __future__ import annotations

import numpy as np

from solvers.core.problem import FloatArray
from solvers.mip.heuristics.lattice.equations import Equations
from solvers.mip.heuristics.lattice.support import (
    Program,
    Vertices,
    centre_problem,
    columns_of_vertices,
)
from solvers.mip.model import IndexArray, MipModel
from solvers.mip.portfolio.budget import Budget

MOST_COLUMNS = 500
"""Columns of a lattice at most: its arrays take some megabytes then, reduction a few seconds."""

VERTICES = 3
"""Vertices whose columns make a lattice. With one there is hardly a choice, with two rounding just
stayed within the bounds of ns1952667 or nearly so, with three and more it did; each costs an LP."""

LEAST_COLUMNS = 60
"""Columns that are taken besides, at random, up to so many: of few equations the vertices have few
columns, and then the lattice is coarse beside the room between the bounds."""

MOST_FAILURES = 8
"""Supports without a solution, or without a centre, after which there are no more."""


class Supports:
    """The present support, found stage by stage.

    Parameters
    ----------
    model : MipModel
    equations : Equations
    lower, upper : (n,) float64
    seed : int

    Attributes
    ----------
    columns : (s,) int32 or None
        Columns of the model that the lattice has, once they are chosen.
    home : (n,) float64
        Values of the equations' other columns.
    centre : (n,) float64 or None
        A point of the relaxation far from the bounds of ``columns``, others at home.
    is_over : bool
        Whether there is no other support to try.
    """

    def __init__(
        self,
        model: MipModel,
        equations: Equations,
        lower: FloatArray,
        upper: FloatArray,
        seed: int,
    ) -> None:
        self._model, self._equations = model, equations
        self._lower, self._upper = lower, upper
        self._seed = seed
        self._rng = np.random.default_rng(seed)
        self._vertices: Vertices | None = None
        self._program: Program | None = None
        self._cost = model.cost
        self._failures = 0
        self.is_partial = equations.columns.size > MOST_COLUMNS
        self.is_over = False
        self.home = lower
        self.columns: IndexArray | None = None
        self.centre: FloatArray | None = None

    def find(self, budget: Budget) -> None:
        """Go on until there is a centre, the budget is spent, or all is over."""
        while self.centre is None and not self.is_over and not budget.spent():
            if self.columns is None:
                self._choose_columns(budget)
            else:
                self._find_centre(budget)

    def begin_anew(self, columns: IndexArray | None = None) -> None:
        """Leave this support, for one of these columns or of other vertices."""
        self._program = None
        self.columns, self.centre = columns, None

    def fail(self, wider: IndexArray | None = None) -> None:
        """Leave a support that has no solution, for wider columns if they are not too many."""
        self._failures += 1
        fits = wider is not None and wider.size <= MOST_COLUMNS
        self.is_over |= self._failures >= MOST_FAILURES or not (fits or self.is_partial)
        self.begin_anew(wider if fits else None)

    def _choose_columns(self, budget: Budget) -> None:
        """Take all columns, or those of a few vertices."""
        if not self.is_partial:
            self.columns = self._equations.columns
            return
        if self._vertices is None:
            self._vertices = Vertices(self._model, self._lower, self._upper, self._seed)
        found = self._vertices.found
        if len(found) < VERTICES:
            self._vertices.another(budget)
            self.is_over |= self._vertices.program.has_failed
            return
        chosen = columns_of_vertices(self._equations, self._lower, self._upper, found)
        while chosen.size > MOST_COLUMNS and len(found) > 1:
            found.pop()
            chosen = columns_of_vertices(self._equations, self._lower, self._upper, found)
        self.home = np.round(found[0])
        self.is_over |= chosen.size > MOST_COLUMNS
        more = min(LEAST_COLUMNS, MOST_COLUMNS) - chosen.size
        left_out = np.setdiff1d(self._equations.columns, chosen)
        drawn = self._rng.permutation(left_out)[: max(0, more)]
        self.columns = np.sort(np.concatenate([chosen, drawn])).astype(np.int32)
        found.clear()

    def _find_centre(self, budget: Budget) -> None:
        assert self.columns is not None  # chosen before
        if self._program is None:
            problem = centre_problem(self._model, *self._bounds(self.columns), self.columns)
            self._program, self._cost = Program(problem, self._seed), problem.cost
        point = self._program.solve(self._cost, budget)
        if point is not None:
            self.centre = point[: self._model.num_columns]
            self._program = None
        elif self._program.has_failed:
            self.fail()

    def _bounds(self, columns: IndexArray) -> tuple[FloatArray, FloatArray]:
        """Return the bounds (n,) with the equations' other columns at home."""
        left_out = np.setdiff1d(self._equations.columns, columns)
        lower, upper = self._lower.copy(), self._upper.copy()
        lower[left_out] = upper[left_out] = self.home[left_out]
        return lower, upper
