"""The mixed-integer problem as the heuristics read it: by rows and by columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from solvers.core.errors import EngineError
from solvers.core.linear_algebra import SparseRows
from solvers.core.outcome import Basis
from solvers.core.problem import BoolArray, FloatArray, Problem

IndexArray = npt.NDArray[np.int32]
ByteArray = npt.NDArray[np.uint8]

Submit = Callable[[FloatArray, str], bool]
"""Takes a point (n,) and its source's name; returns whether it is the best so far.

The integer columns must be (nearly) whole; what is left to do - rounding, an LP for the continuous
columns, the check on the original problem - happens behind it. The caller's array is not kept.
"""

ShowInfeasible = Callable[[FloatArray, int], None]
"""Takes a point (n,) with whole integers, and the number of rows that it violates."""

FEASIBILITY_TOLERANCE = 1e-6
"""Largest violation of a row or bound, absolute, at which a point counts as feasible."""

INTEGRALITY_TOLERANCE = 1e-6
"""How far an integer column may be from an integer, and how far bounds are rounded inward."""

SLOP = 1e-7
"""Violation that heuristics leave, and coefficients that move nothing: a tenth of the tolerance."""

MOSTLY_INTEGER = 0.9
"""Share of integer columns from which a model counts as one of integers."""

ROUNDING = 1e-12
"""What sums lose in rounding, relative to their terms: about 1e4 times double precision."""

SAME = 1e-9
"""Difference that is put down to rounding: of objectives, multiples and entries of rays relative to
their size, of values and gains of one move absolute."""

LARGEST_WHOLE = 2.0**50
"""Whole numbers up to here stay exact in 64 bits, with some room for sums."""


def lowered(objective: float) -> float:
    """Return what an objective has to be below to be less than another by more than rounding."""
    return objective - SAME * max(1.0, abs(objective)) if np.isfinite(objective) else objective


@dataclass(frozen=True, eq=False)
class MipModel:
    """A problem of m rows, n columns and nnz entries, both by rows and by columns.

    Bounds of integer columns are whole numbers (or infinite). No array may be written to.
    """

    problem: Problem
    """What the arrays were taken from."""
    cost: FloatArray
    lower: FloatArray
    upper: FloatArray
    """(n,) float64 each."""
    row_lower: FloatArray
    row_upper: FloatArray
    """(m,) float64 each: infinite where there is no side."""
    is_integer: ByteArray
    """(n,) uint8: 1 for integer columns."""
    rows: SparseRows
    columns: SparseRows
    """A (m, n), and its transpose (n, m); indices have 32 bits."""

    @classmethod
    def of(cls, problem: Problem) -> MipModel:
        """Lay a problem out.

        Raises
        ------
        EngineError
            The matrix has more entries than 32-bit indices can count.
        """
        if problem.num_nonzeros > np.iinfo(np.int32).max:
            raise EngineError(
                f"The model has {problem.num_nonzeros} nonzeros; the heuristics count them with "
                "32 bits. Use method='highs'."
            )
        lower, upper = problem.lower.copy(), problem.upper.copy()
        whole = problem.integrality
        lower[whole] = np.ceil(lower[whole] - INTEGRALITY_TOLERANCE)
        upper[whole] = np.floor(upper[whole] + INTEGRALITY_TOLERANCE)
        return cls(
            problem=problem,
            cost=problem.cost,
            lower=lower,
            upper=upper,
            row_lower=problem.row_lower,
            row_upper=problem.row_upper,
            is_integer=whole.astype(np.uint8),
            rows=problem.entries.cast(np.float64),
            columns=problem.columns.cast(np.float64),
        )

    @property
    def num_rows(self) -> int:
        """Number of rows m."""
        return int(self.row_lower.size)

    @property
    def num_columns(self) -> int:
        """Number of columns n."""
        return int(self.cost.size)

    @property
    def num_nonzeros(self) -> int:
        """Number of entries of A."""
        return self.rows.nnz

    @cached_property
    def integers(self) -> IndexArray:
        """Numbers of the integer columns, rising."""
        return np.flatnonzero(self.is_integer).astype(np.int32)

    @property
    def is_mostly_integer(self) -> bool:
        """Whether so many columns are integer that lazy clause search finds points the soonest."""
        return self.integers.size >= MOSTLY_INTEGER * self.num_columns

    @cached_property
    def is_binary(self) -> BoolArray:
        """Whether each column (n,) is an integer between 0 and 1 with both values allowed."""
        binary: BoolArray = (self.is_integer == 1) & (self.lower == 0.0) & (self.upper == 1.0)
        return binary

    @cached_property
    def locks(self) -> tuple[IndexArray, IndexArray]:
        """How many sides of rows each column (n,) may break when it grows, and when it shrinks."""
        lower, upper = (
            np.repeat(np.isfinite(side), self.rows.lengths)
            for side in (self.row_lower, self.row_upper)
        )
        rising = self.rows.data > 0.0
        up, down = (
            np.bincount(self.rows.indices[breaks], minlength=self.num_columns).astype(np.int32)
            for breaks in (np.where(rising, upper, lower), np.where(rising, lower, upper))
        )
        return up, down

    @cached_property
    def objective_step(self) -> float:
        """Least difference of two points' objectives; 0 where it is not known.

        Known where all columns with a cost are integer and the costs whole multiples of one number,
        looked for among 1 and the smallest cost. Columns with one value make no difference.
        """
        priced = np.flatnonzero((self.cost != 0.0) & (self.lower < self.upper))
        if priced.size == 0 or not self.is_integer[priced].all():
            return 0.0
        cost = np.abs(self.cost[priced])
        if np.all(cost == np.round(cost)) and cost.max() < LARGEST_WHOLE:
            return float(np.gcd.reduce(cost.astype(np.int64)))
        least = float(cost.min())
        ratio = cost / least
        if np.all(np.abs(ratio - np.round(ratio)) <= 1e-9 * ratio) and ratio.max() < 1e9:
            return least
        return 0.0

    @property
    def offset(self) -> float:
        """Constant term of the objective."""
        return self.problem.offset

    def objective_at(self, x: FloatArray) -> float:
        """Return c'x + offset."""
        return self.problem.objective_at(x)

    def activity(self, x: FloatArray) -> FloatArray:
        """Return A x, (m,)."""
        return self.problem.entries.times(x)

    def outside(self, x: FloatArray) -> FloatArray:
        """Return by how much each row (m,) leaves its sides at ``x`` (n,); negative within."""
        activity = self.activity(x)
        return np.maximum(self.row_lower - activity, activity - self.row_upper)

    def violated_rows(self, x: FloatArray) -> int:
        """Return how many rows ``x`` (n,) violates."""
        return int(np.count_nonzero(self.outside(x) > FEASIBILITY_TOLERANCE))

    def rounded(self, x: FloatArray) -> FloatArray:
        """Return a copy of ``x`` within its bounds, integer columns at the nearest integer."""
        point = np.clip(x, self.lower, self.upper)
        point[self.integers] = np.clip(
            np.round(x[self.integers]), self.lower[self.integers], self.upper[self.integers]
        )
        return point + 0.0  # no negative zeros


def largest_row_violation(model: MipModel, x: FloatArray) -> float:
    """Return by how much the worst row leaves its sides at ``x`` (n,); 0 where all hold."""
    return float(np.max(model.outside(x), initial=0.0))


def is_feasible(model: MipModel, x: FloatArray, tolerance: float = FEASIBILITY_TOLERANCE) -> bool:
    """Whether ``x`` (n,) keeps every row, bound and integrality of the model, absolutely."""
    if not np.isfinite(x).all():
        return False
    beyond = np.max(np.maximum(model.lower - x, x - model.upper), initial=0.0)
    values = x[model.integers]
    fractional = np.max(np.abs(values - np.round(values)), initial=0.0)
    if beyond > tolerance or fractional > INTEGRALITY_TOLERANCE:
        return False
    return largest_row_violation(model, x) <= tolerance


# The linear relaxation's solution, as the heuristics that lean on it see it.


@dataclass(frozen=True, eq=False)
class Relaxation:
    """A point of the linear relaxation, whoever computed it; in the minimised sense."""

    x: FloatArray
    """(n,) float64: the point. Integer columns are anywhere within their bounds."""
    reduced_cost: FloatArray
    """(n,) float64: ``c - A'y``; zeros where no duals are known."""
    objective: float
    """c'x + offset."""
    is_exact: bool
    """Whether the point is optimal to the usual tolerances, so that ``objective`` says what a
    feasible point cannot beat. A first-order method stopped early gives an inexact one."""
    method: str = ""
    """'simplex', 'interior point' or 'pdlp'."""
    seconds: float = 0.0
    """What it took."""
    basis: Basis | None = None
    """Of simplex or crossover."""
    is_cut_short: bool = False
    """Whether a limit ended it."""
