"""Which columns a lattice is made of, and a point far from their bounds.

A lattice of thousands of columns is neither reduced in time nor needed: a vertex of the relaxation
has as many columns off their bounds as there are rows, and the columns of a few vertices together
have many solutions between them. Off its bounds by a few units in most of these columns is a point
that maximises a sum of concave functions, steep near each bound: what the analytic centre is, in
pieces, for simplex.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from solvers.core.problem import BoolArray, FloatArray, Problem
from solvers.mip.heuristics.feasibility_pump.augmented import Request
from solvers.mip.heuristics.feasibility_pump.simplex import Simplex
from solvers.mip.heuristics.lattice.equations import Equations
from solvers.mip.model import INTEGRALITY_TOLERANCE, IndexArray, MipModel
from solvers.mip.portfolio.budget import Budget

PIECES = tuple((2.0**k, 0.5**k) for k in range(13))
"""Length and slope of the pieces of each concave function, from the bound inward: a logarithm in
steps of two. Where a lattice is coarse only points thousands of units inside have one near them."""

MOST_EARLY_ENDS = 3
"""Times in a row that simplex may end without a solution though there was budget left: a clock that
is looked at twice explains one."""


class Program:
    """A linear program that is solved in as many turns as it takes.

    Parameters
    ----------
    problem : Problem
        Integrality is ignored.
    seed : int

    Attributes
    ----------
    has_failed : bool
        Whether it has no solution, or simplex ended without one before its budget did, and again.
    """

    def __init__(self, problem: Problem, seed: int) -> None:
        self._problem = problem
        self._simplex = Simplex(problem, seed)
        self._early_ends = 0
        self.has_failed = False

    def solve(self, cost: FloatArray, budget: Budget) -> FloatArray | None:
        """Return an optimal point for ``cost`` (n,); None for now, or for good, without one."""
        problem = self._problem
        answer = self._simplex.project(
            Request(cost, problem.lower, problem.upper, problem.row_lower, problem.row_upper),
            budget,
        )
        if answer.is_converged:
            self._early_ends = 0
            return answer.x
        self._early_ends += not budget.is_over()
        self.has_failed |= answer.is_empty or self._early_ends >= MOST_EARLY_ENDS
        return None


class Vertices:
    """Vertices of a model's relaxation, each for a random objective.

    Parameters
    ----------
    model : MipModel
    lower, upper : (n,) float64
    seed : int
    """

    def __init__(self, model: MipModel, lower: FloatArray, upper: FloatArray, seed: int) -> None:
        self._lower, self._upper = lower, upper
        self._rng = np.random.default_rng(seed)
        self.program = Program(replace(model.problem, lower=lower, upper=upper), seed)
        self._cost: FloatArray | None = None
        self.found: list[FloatArray] = []

    def another(self, budget: Budget) -> bool:
        """Look for another vertex; where the budget does not do, the next call goes on."""
        if self._cost is None:
            self._cost = self._random_cost()
        x = self.program.solve(self._cost, budget)
        if x is None:
            return False
        self._cost = None
        self.found.append(x)
        return True

    def _random_cost(self) -> FloatArray:
        """Return costs that lead to an end of the bounds wherever one is infinite."""
        cost = self._rng.standard_normal(self._lower.size)
        cost = np.where(np.isinf(self._upper), np.abs(cost), cost)
        cost = np.where(np.isinf(self._lower), -np.abs(cost), cost)
        free = np.isinf(self._lower) & np.isinf(self._upper)
        return np.where(free, 0.0, cost)


def columns_of_vertices(
    equations: Equations, lower: FloatArray, upper: FloatArray, vertices: list[FloatArray]
) -> IndexArray:
    """Return the columns of the equations that are off their bounds, or at different ones.

    Columns with an infinite bound stay where they are, at the other one.
    """
    columns = equations.columns
    values = np.array([x[columns] for x in vertices])
    at_lower = values - lower[columns] <= INTEGRALITY_TOLERANCE
    at_upper = upper[columns] - values <= INTEGRALITY_TOLERANCE
    settled: BoolArray = at_lower.all(axis=0) | at_upper.all(axis=0)
    return columns[~settled]


def centre_problem(
    model: MipModel, lower: FloatArray, upper: FloatArray, columns: IndexArray
) -> Problem:
    """Return the LP whose solution is far from the bounds of ``columns``.

    Behind the model's columns stand the pieces; behind its rows, for each column and each finite
    bound, that the pieces are together no longer than the way from that bound.
    """
    n, count = model.num_columns, len(PIECES)
    length, slope = np.array(PIECES).T
    half = 0.5 * (upper[columns] - lower[columns])
    below = np.flatnonzero(np.isfinite(lower[columns]))
    above = np.flatnonzero(np.isfinite(upper[columns]))
    places = np.concatenate([below, above])
    sign = np.concatenate([-np.ones(below.size), np.ones(above.size)])
    rows = np.arange(places.size)
    ways = sp.csr_array((sign, (rows, columns[places])), shape=(places.size, n))
    pieces = sp.kron(sp.eye_array(places.size), np.ones((1, count)), format="csr")
    reach = np.minimum(length.cumsum(), half[places, None])  # up to the middle between two bounds
    cut = np.diff(reach, axis=1, prepend=0.0)
    room = np.concatenate([-lower[columns[below]], upper[columns[above]]])
    blank = sp.csr_array((model.num_rows, places.size * count))
    return Problem(
        cost=np.concatenate([np.zeros(n), -np.tile(slope, places.size)]),
        matrix=sp.vstack(
            [sp.hstack([model.problem.matrix, blank]), sp.hstack([ways, pieces])], format="csr"
        ),
        row_lower=np.concatenate([model.row_lower, np.full(places.size, -np.inf)]),
        row_upper=np.concatenate([model.row_upper, room]),
        lower=np.concatenate([lower, np.zeros(places.size * count)]),
        upper=np.concatenate([upper, cut.ravel()]),
        integrality=np.zeros(n + places.size * count, dtype=bool),
    )
