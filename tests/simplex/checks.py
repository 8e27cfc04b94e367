"""Problems at random, the simplex engine at its door, and what its answers must fulfil."""

from __future__ import annotations

import numpy as np

from solvers.core.lp_answer import proves_infeasible, proves_unbounded
from solvers.core.options import EngineOptions
from solvers.core.outcome import BasisStatus, Outcome, SolutionStatus, Start
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.highs import engine as highs
from solvers.simplex.solve import solve

INF = np.inf


def simplex(problem: Problem, start: Start | None = None, **options: object) -> Outcome:
    chosen = EngineOptions(device="cpu", **options)  # type: ignore[arg-type]
    return solve(problem, chosen, Progress(), start)


def reference(problem: Problem) -> Outcome:
    return highs.solve(problem, EngineOptions(presolve=False), Progress())


def random_lp(seed: int, rows: int, columns: int, density: float = 0.5) -> Problem:
    """Every kind of bound and row, small whole coefficients; feasible, infeasible or unbounded."""
    rng = np.random.default_rng(seed)
    matrix = rng.integers(-4, 5, (rows, columns)) * (rng.random((rows, columns)) < density)
    x = rng.integers(-3, 4, columns).astype(float)
    activity = matrix @ x
    lower, upper = _sides(rng, x)
    row_lower, row_upper = _sides(rng, activity)
    if rows and rng.random() < 0.2:
        moved = rng.integers(rows)
        shift = rng.integers(1, 6)
        row_lower[moved] += shift
        row_upper[moved] += shift
    cost = rng.integers(-3, 6, columns) * (rng.random(columns) < 0.8)
    return Problem.from_arrays(cost, matrix, row_lower, row_upper, lower=lower, upper=upper)


def _sides(rng: np.random.Generator, value: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sides around given values: ranges, equations, one side, none; often tight."""
    kind = rng.integers(0, 6, value.size)
    low = value - rng.integers(0, 4, value.size)
    high = value + rng.integers(0, 4, value.size)
    low = np.where(kind == 1, value, np.where((kind == 2) | (kind == 3), -INF, low))
    high = np.where(kind == 1, value, np.where((kind == 2) | (kind == 4), INF, high))
    return low, high


def assert_optimal(problem: Problem, outcome: Outcome, tolerance: float = 1e-7) -> None:
    """Check point, duals and basis against the optimality conditions of the problem itself."""
    assert outcome.solution_status is SolutionStatus.OPTIMAL, outcome.stop_reason
    x, y, z = outcome.x, outcome.row_dual, outcome.reduced_cost
    assert x is not None
    assert y is not None
    assert z is not None
    assert outcome.basis is not None
    activity = problem.matrix @ x
    np.testing.assert_allclose(outcome.row_activity, activity, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(z, problem.cost - problem.matrix.T @ y, rtol=1e-12, atol=1e-12)
    _assert_side(x, z, problem.lower, problem.upper, outcome.basis.column_status, tolerance)
    _assert_side(
        activity, y, problem.row_lower, problem.row_upper, outcome.basis.row_status, tolerance
    )
    statuses = np.concatenate([outcome.basis.column_status, outcome.basis.row_status])
    assert np.count_nonzero(statuses == BasisStatus.BASIC) == problem.num_rows
    assert outcome.objective == problem.objective_at(x)


def _assert_side(value, multiplier, low, high, status, tolerance) -> None:
    size = np.maximum(1.0, np.abs(value))
    assert np.all(value >= low - tolerance * size)
    assert np.all(value <= high + tolerance * size)
    basic = status == BasisStatus.BASIC
    assert np.all(np.abs(multiplier[basic]) <= tolerance)
    at_lower = status == BasisStatus.LOWER
    at_upper = status == BasisStatus.UPPER
    np.testing.assert_allclose(value[at_lower], low[at_lower], atol=1e-9, rtol=1e-9)
    np.testing.assert_allclose(value[at_upper], high[at_upper], atol=1e-9, rtol=1e-9)
    assert np.all(np.abs(multiplier[status == BasisStatus.ZERO]) <= tolerance)
    loose = low < high
    assert np.all(multiplier[at_lower & loose] >= -tolerance)
    assert np.all(multiplier[at_upper & loose] <= tolerance)


def assert_answer(problem: Problem, outcome: Outcome) -> None:
    """Check an answer by its own proof, and its objective against HiGHS's."""
    expected = reference(problem)
    if outcome.solution_status is SolutionStatus.INFEASIBLE:
        assert outcome.dual_ray is not None
        assert proves_infeasible(problem, outcome.dual_ray)
    elif outcome.solution_status is SolutionStatus.UNBOUNDED:
        assert outcome.primal_ray is not None
        assert outcome.x is not None
        assert proves_unbounded(problem, outcome.primal_ray)
        activity = problem.matrix @ outcome.x
        assert np.all(activity >= problem.row_lower - 1e-6)
        assert np.all(activity <= problem.row_upper + 1e-6)
        assert np.all(outcome.x >= problem.lower - 1e-6)
        assert np.all(outcome.x <= problem.upper + 1e-6)
    else:
        assert_optimal(problem, outcome)
        assert expected.solution_status is SolutionStatus.OPTIMAL
        np.testing.assert_allclose(outcome.objective, expected.objective, rtol=1e-9, atol=1e-9)
