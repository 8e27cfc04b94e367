"""Judging points and rays of a linear program on the problem as it is given.

The measure of a primal and a dual point is the field's for first-order methods (Applegate et al.
2021, section 2): primal and dual residual against ``1 + ||sides||`` and ``1 + ||c||``, and the gap
against ``1 + |p| + |d|``. Problems whose rows no column can change, without coefficients or with
every column fixed, need no engine and are answered here: each column goes to the bound that its
cost prefers.

A ray, which says that there is no solution or no end to the improvement, comes from an engine as a
guess. It is a proof only if it holds in float64 on the data as given, by a margin that rounding
cannot fake; the engine that found it asks here, and so does the verification that every answer
passes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from solvers.core.linear_algebra import SparseRows
from solvers.core.machine import threads_for
from solvers.core.outcome import Outcome, SolutionStatus, StopReason
from solvers.core.problem import BoolArray, FloatArray, Problem, side_sizes
from solvers.core.progress import Progress
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
    owned: bool = False,
    brief: bool = False,
) -> Answer:
    """Clip a point into its bounds and allowed signs, and compute all its figures.

    Errors are relative to ``norms``, those of the problem if none are given. ``threads`` are those
    that may be used, 0 for all cores. Where x is not to be ``clipped``, what leaves the bounds
    counts among the violations. Vectors that are ``owned`` are changed in place. A ``brief`` answer
    is one without activities and reduced costs, which are then empty.
    """
    from solvers.native.core_lp_answer import clip, judge_columns, judge_rows

    n, m = problem.num_columns, problem.num_rows
    threads = threads_for(problem.num_nonzeros + STEPS_PER_OWNER * (n + m), threads)
    if not owned:
        row_dual = np.array(row_dual, dtype=np.float64)
        x = np.array(x, dtype=np.float64) if clipped else np.ascontiguousarray(x, dtype=np.float64)
    y = row_dual
    if clipped:
        clip(x, problem.lower, problem.upper, threads)
    activity, reduced = np.empty(0 if brief else m), np.empty(0 if brief else n)
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


def solve_with_rows_given(problem: Problem, engine: str, device: str) -> Outcome:
    """Return the exact answer of a problem with an empty matrix, or with every column fixed."""
    n = problem.num_columns
    lower, upper, cost = problem.lower, problem.upper, problem.cost
    preferred = np.where(cost > 0, lower, np.where(cost < 0, upper, np.clip(0.0, lower, upper)))
    point = np.clip(np.where(np.isfinite(preferred), preferred, 0.0), lower, upper)
    activity = problem.entries.times(point)
    lacking = np.clip(activity, problem.row_lower, problem.row_upper) - activity
    if lacking.any():
        worst = int(np.argmax(np.abs(lacking)))
        ray = np.zeros(problem.num_rows)
        ray[worst] = np.sign(lacking[worst])
        if proves_infeasible(problem, ray):
            return _proof(SolutionStatus.INFEASIBLE, engine, device, dual_ray=ray)
    endless = np.flatnonzero(~np.isfinite(preferred))
    if endless.size:
        ray = np.zeros(n)
        ray[endless] = -np.sign(cost[endless])
        return _proof(SolutionStatus.UNBOUNDED, engine, device, primal_ray=ray, x=point)
    objective = problem.objective_at(preferred)
    return Outcome(
        SolutionStatus.OPTIMAL,
        StopReason.CONVERGED,
        objective=objective,
        bound=objective,
        x=preferred,
        row_activity=activity,
        row_dual=np.zeros(problem.num_rows),
        reduced_cost=np.array(cost),
        engine=engine,
        device=device,
        statistics={"iterations": 0},
    )


def with_feasible_point(
    problem: Problem, outcome: Outcome, progress: Progress, solve: Callable[[Problem], Outcome]
) -> Outcome:
    """Find a feasible point for an improving ray: without one, nothing is unbounded.

    ``solve`` is given the problem without its objective.
    """
    progress.log("Found a direction of endless improvement; looking for a feasible point.")
    found = solve(problem.with_cost(0.0 * problem.cost))
    if found.solution_status is SolutionStatus.INFEASIBLE:
        return found
    if found.solution_status is SolutionStatus.OPTIMAL and found.x is not None:
        return replace(outcome, x=found.x, row_activity=found.row_activity)
    reason = found.stop_reason
    return replace(
        outcome,
        solution_status=SolutionStatus.NOTHING,
        stop_reason=StopReason.NUMERICAL_TROUBLE if reason is StopReason.CONVERGED else reason,
        message="The objective improves without limit along a ray, but no feasible point is "
        "known: the model is infeasible or unbounded.",
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


CANCELLATION = 1e-8
"""A sum counts as zero when it is below this part of the sum of its terms' magnitudes."""

MARGIN = 1e-8
"""What a proof must exceed, relative to the magnitudes it is made of, and absolutely."""

LEFTOVER = 1e-8
"""Part of a row's terms that rounding may leave where the gain is as large as its own terms."""

HORIZON = 1e7
"""A Farkas proof must hold for every point whose unbounded columns stay within this size."""

NOISE_LEVELS = (1e-3, 1e-5, 1e-7, 0.0)
"""Entries of a candidate below these parts of its largest are tried as zeros."""


def cleaned(ray: FloatArray) -> Iterator[FloatArray]:
    """Yield the normalised ray with ever less of it taken for noise."""
    largest = float(np.max(np.abs(ray), initial=0.0))
    if not np.isfinite(largest) or largest < np.finfo(float).tiny:
        return
    ray = ray / largest
    for level in NOISE_LEVELS:
        yield np.where(np.abs(ray) > level, ray, 0.0)


def proves_infeasible(problem: Problem, y: FloatArray) -> bool:
    """Whether y (m,) proves that no x within its bounds satisfies the rows.

    With g = A'y every feasible x has ``supp(y; sides) <= y'Ax = g'x <= reach``, where reach is
    the greatest g'x within the bounds; the proof is that the left side is the larger one. A
    column that may move without end in the direction of g_j must have g_j zero up to rounding,
    and even then is allowed for up to :data:`HORIZON`.
    """
    if not np.isfinite(y).all() or not y.any():
        return False
    if not np.isfinite(np.where(y > 0, problem.row_lower, problem.row_upper)[y != 0]).all():
        return False
    y = y / np.max(np.abs(y))
    g = problem.entries.transposed_times(y)
    unsupported = ~np.isfinite(np.where(g > 0, problem.upper, problem.lower)) & (g != 0)
    terms = problem.entries.magnitudes.transposed_times(np.abs(y))
    if np.any(np.abs(g[unsupported]) > CANCELLATION * terms[unsupported]):
        return False
    rows, columns = (problem.row_lower, problem.row_upper), (problem.lower, problem.upper)
    gap, size = separation(rows, columns, y, g, HORIZON)
    return gap > MARGIN * (1.0 + size)


def proves_unbounded(problem: Problem, d: FloatArray) -> bool:
    """Whether from every feasible point d (n,) stays feasible for ever and improves.

    Bounds must hold exactly, rows up to rounding of their own terms. No unit of a row, a column or
    the objective makes a difference.
    """
    if not np.isfinite(d).all() or not d.any():
        return False
    if np.any(d[np.isfinite(problem.lower)] < 0) or np.any(d[np.isfinite(problem.upper)] > 0):
        return False
    activity = problem.entries.times(d)
    slope = inner(problem.cost, d)
    size = inner(np.abs(problem.cost), np.abs(d))
    # What rounding leaves of the rows, undone at a price of the cost's size, must not eat the gain.
    terms = problem.entries.magnitudes_times(np.abs(d))
    wrong = np.where(_one_sided(problem, activity), np.abs(activity), 0.0)
    leftover = float(np.max(wrong / np.where(terms > 0, terms, 1.0), initial=0.0))
    return -slope > MARGIN * size and leftover * size <= LEFTOVER * -slope


def _one_sided(problem: Problem, activity: FloatArray) -> BoolArray:
    """Rows (m,) whose activity along the ray goes the forbidden way, however little."""
    falls = np.isfinite(problem.row_lower) & (activity < 0)
    grows = np.isfinite(problem.row_upper) & (activity > 0)
    return np.asarray(falls | grows)


def separation(
    rows: tuple[FloatArray, FloatArray],
    columns: tuple[FloatArray, FloatArray],
    y: FloatArray,
    g: FloatArray,
    horizon: float,
) -> tuple[float, float]:
    """Return what a Farkas ray proves, and the magnitudes that it sums up.

    Every x within its bounds that meets the rows has ``supp(y; sides) <= y'Ax = g'x <= reach``;
    what is proven is the left side minus the right one.

    Parameters
    ----------
    rows, columns : pairs of arrays
        Lower and upper sides (m,) and bounds (n,); a side that y leans on is finite.
    y : (m,) array
    g : (n,) array
        A'y.
    horizon : float
        How far a column is taken to go where it has no bound.
    """
    side = np.where(y > 0, *rows)
    farthest = np.where(g > 0, columns[1], columns[0])
    farthest = np.where(np.isfinite(farthest), farthest, np.copysign(horizon, g))
    size = _dot(np.abs(y), np.abs(side)) + _dot(np.abs(g), np.abs(farthest))
    return _dot(y, side) - _dot(g, farthest), size


def _dot(multiplier: FloatArray, value: FloatArray) -> float:
    """Return the sum of products, where zero times infinity is zero."""
    used = multiplier != 0
    return inner(multiplier[used], value[used])
