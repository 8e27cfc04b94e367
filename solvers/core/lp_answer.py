"""Judging a primal and a dual point of a linear program on the problem as it is given.

The measure is the field's for first-order methods (Applegate et al. 2021, section 2): primal and
dual residual against ``1 + ||sides||`` and ``1 + ||c||``, and the gap against ``1 + |p| + |d|``.
Problems without coefficients, among them those without rows or columns, need no engine and are
answered here: every row's activity is zero, and each column goes to the bound that its
cost prefers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from solvers.core.machine import threads_for
from solvers.core.outcome import Outcome, SolutionStatus, StopReason
from solvers.core.problem import FloatArray, Problem, side_sizes
from solvers.core.rows import SparseRows
from solvers.core.vectors import euclidean, inner, support

BLOCK = 256
"""Rows or columns whose figures are summed one after the other; blocks are summed in pairs."""

STEPS_PER_OWNER = 8
"""What updating or looking at a row or column costs beside its product, in entries of the matrix:
eight vectors of eight bytes beside entries of four to twelve."""


@dataclass(frozen=True)
class Norms:
    """2-norms of the finite sides, an equation's counted once, and of the cost.

    Presolve changes both: a column with an upper bound of 1e6 that becomes slack leaves a side of
    that size, and what is a small error beside it may be a large one on the original problem. So
    who stops on a reduced problem measures against the norms of the original where these are
    smaller.
    """

    sides: float
    cost: float

    @classmethod
    def of(cls, problem: Problem) -> Norms:
        """Return the norms of a problem."""
        sides = side_sizes(problem.row_lower, problem.row_upper)
        return cls(euclidean(sides), euclidean(problem.cost))

    def smaller(self, other: Norms | None) -> Norms:
        """Return the smaller of each of two norms."""
        if other is None:
            return self
        return Norms(min(self.sides, other.sides), min(self.cost, other.cost))


@dataclass(frozen=True)
class LpErrors:
    """The errors of a point: 2-norms on the original problem; objectives include the offset."""

    primal_residual: float
    dual_residual: float
    primal_objective: float
    dual_objective: float
    side_norm: float
    cost_norm: float

    @property
    def relative_primal(self) -> float:
        """Primal residual over 1 + ||sides||."""
        return self.primal_residual / (1.0 + self.side_norm)

    @property
    def relative_dual(self) -> float:
        """Dual residual over 1 + ||c||."""
        return self.dual_residual / (1.0 + self.cost_norm)

    @property
    def relative_gap(self) -> float:
        """|p - d| over 1 + |p| + |d|."""
        p, d = self.primal_objective, self.dual_objective
        return abs(p - d) / (1.0 + abs(p) + abs(d))

    @property
    def worst(self) -> float:
        """The largest of the three relative errors; NaN if one of them is."""
        return float(np.max([self.relative_primal, self.relative_dual, self.relative_gap]))

    @property
    def worst_residual(self) -> float:
        """The larger of the relative residuals; NaN if one of them is."""
        return float(np.max([self.relative_primal, self.relative_dual]))


@dataclass(frozen=True, eq=False)
class Answer:
    """A primal and a dual point of the original problem, with their exact figures.

    row_dual (m,) has allowed signs; reduced_cost (n,) is c - A'y and row_activity (m,) A x.
    ``largest_violation`` is by how much a row or a bound is missed at the most, and
    ``largest_unsupported`` the largest part of a reduced cost that no bound supports.
    """

    x: FloatArray
    row_dual: FloatArray
    row_activity: FloatArray
    reduced_cost: FloatArray
    statistics: LpErrors
    proven_bound: float
    largest_violation: float
    largest_unsupported: float


def judge(
    problem: Problem,
    x: FloatArray,
    row_dual: FloatArray,
    norms: Norms | None = None,
    threads: int = 1,
    *,
    clipped: bool = True,
) -> Answer:
    """Clip a point into its bounds and allowed signs, and compute all its figures.

    Errors are relative to ``norms``, those of the problem if none are given. ``threads`` are those
    that may be used, 0 for all cores. Where x is not to be ``clipped``, what leaves the bounds
    counts among the violations.
    """
    from solvers.native.core_lp_answer import clip, judge_columns, judge_rows

    n, m = problem.num_columns, problem.num_rows
    threads = threads_for(problem.num_nonzeros + STEPS_PER_OWNER * (n + m), threads)
    y = np.array(row_dual, dtype=np.float64)
    x = np.array(x, dtype=np.float64) if clipped else np.ascontiguousarray(x, dtype=np.float64)
    if clipped:
        clip(x, problem.lower, problem.upper, threads)
    activity, reduced = np.empty(m), np.empty(n)
    of_rows, of_columns = np.empty((4, -(-m // BLOCK))), np.empty((8, -(-n // BLOCK)))
    sides = (problem.row_lower, problem.row_upper)
    judge_rows(problem.entries, *sides, x, y, activity, of_rows, threads)
    columns = problem.by_column(threads) if y.any() else _without_entries(problem)
    bounds = (problem.lower, problem.upper)
    judge_columns(columns, problem.cost, *bounds, x, y, reduced, of_columns, threads)
    violation, row_support, sides_square = of_rows[:3].sum(axis=1).tolist()
    unsupported, support, unbounded, objective, cost_square, outside = (
        of_columns[:6].sum(axis=1).tolist()
    )
    farthest, largest_unsupported = of_columns[6:].max(axis=1, initial=0.0).tolist()
    norms = Norms(math.sqrt(sides_square), math.sqrt(cost_square)) if norms is None else norms
    statistics = LpErrors(
        primal_residual=math.sqrt(violation + outside),
        dual_residual=math.sqrt(unsupported),
        primal_objective=objective + problem.offset,
        dual_objective=row_support + support + problem.offset,
        side_norm=norms.sides,
        cost_norm=norms.cost,
    )
    bound = -np.inf if unbounded else statistics.dual_objective
    largest = max(farthest, float(of_rows[3].max(initial=0.0)))
    return Answer(x, y, activity, reduced, statistics, bound, largest, largest_unsupported)


def _without_entries(problem: Problem) -> SparseRows:
    """Return the columns without entries, which do for products with zeros."""
    kind, n = problem.entries.indptr.dtype, problem.num_columns
    starts = np.zeros(n + 1, dtype=kind)
    return SparseRows(np.zeros(0), np.zeros(0, dtype=kind), starts, (n, problem.num_rows))


def errors(problem: Problem, x: FloatArray, row_dual: FloatArray, norms: Norms) -> LpErrors:
    """Return the errors of a point; the arrays may be a GPU's, as ``problem``'s are.

    Nothing is compressed: on a GPU that would wait for the number of what is left.
    """
    x = np.clip(x, problem.lower, problem.upper)
    y = allowed_duals(row_dual, problem.row_lower, problem.row_upper)
    activity, reduced = problem.matrix @ x, problem.cost - problem.matrix.T @ y
    violation = activity - np.clip(activity, problem.row_lower, problem.row_upper)
    side = np.where(reduced > 0, problem.lower, problem.upper)
    supported = np.isfinite(side)
    unsupported = np.where(supported, 0.0, reduced)
    proven = support(y, problem.row_lower, problem.row_upper)
    proven += inner(reduced - unsupported, np.where(supported, side, 0.0))
    return LpErrors(
        primal_residual=euclidean(violation),
        dual_residual=euclidean(unsupported),
        primal_objective=problem.objective_at(x),
        dual_objective=proven + problem.offset,
        side_norm=norms.sides,
        cost_norm=norms.cost,
    )


def allowed_duals(row_dual: FloatArray, row_lower: FloatArray, row_upper: FloatArray) -> FloatArray:
    """Return row duals without the parts that lean on an infinite side."""
    y = np.where(np.isfinite(row_lower), row_dual, np.minimum(row_dual, 0.0))
    allowed: FloatArray = np.where(np.isfinite(row_upper), y, np.maximum(y, 0.0))
    return allowed


def solve_without_coefficients(problem: Problem, engine: str, device: str) -> Outcome:
    """Return the exact answer of a problem with an empty matrix."""
    m, n = problem.num_rows, problem.num_columns
    lower, upper, cost = problem.lower, problem.upper, problem.cost
    impossible = np.flatnonzero((problem.row_lower > 0) | (problem.row_upper < 0))
    if impossible.size:
        ray = np.zeros(m)
        i = int(impossible[0])
        ray[i] = 1.0 if problem.row_lower[i] > 0 else -1.0
        return _proof(SolutionStatus.INFEASIBLE, engine, device, dual_ray=ray)
    preferred = np.where(cost > 0, lower, np.where(cost < 0, upper, np.clip(0.0, lower, upper)))
    endless = np.flatnonzero(~np.isfinite(preferred))
    if endless.size:
        ray = np.zeros(n)
        ray[endless] = -np.sign(cost[endless])
        point = np.clip(np.where(np.isfinite(preferred), preferred, 0.0), lower, upper)
        return _proof(SolutionStatus.UNBOUNDED, engine, device, primal_ray=ray, x=point)
    objective = problem.objective_at(preferred)
    return Outcome(
        SolutionStatus.OPTIMAL,
        StopReason.CONVERGED,
        objective=objective,
        bound=objective,
        x=preferred,
        row_activity=np.zeros(m),
        row_dual=np.zeros(m),
        reduced_cost=np.array(cost),
        engine=engine,
        device=device,
        statistics={"iterations": 0},
    )


def _proof(status: SolutionStatus, engine: str, device: str, **parts: FloatArray) -> Outcome:
    return Outcome(
        status,
        StopReason.CONVERGED,
        engine=engine,
        device=device,
        statistics={"iterations": 0},
        **parts,  # type: ignore[arg-type]
    )
