"""Checks of an answer that share nothing with the code they check."""

from __future__ import annotations

import math

import numpy as np

from solvers.core.outcome import BasisStatus, Outcome
from solvers.core.problem import Problem

TOLERANCE = 1e-6


def assert_optimal_lp(problem: Problem, outcome: Outcome) -> None:
    """Check primal and dual feasibility, signs and complementary slackness one by one."""
    x, y, z = outcome.x, outcome.row_dual, outcome.reduced_cost
    activity = problem.matrix @ x
    np.testing.assert_allclose(outcome.row_activity, activity, atol=TOLERANCE)
    np.testing.assert_allclose(z, problem.cost - problem.matrix.T @ y, atol=TOLERANCE)
    assert_complementary(activity, y, problem.row_lower, problem.row_upper)
    assert_complementary(x, z, problem.lower, problem.upper)
    assert outcome.objective == problem.objective_at(x)
    exact = math.fsum([*(problem.cost * x), problem.offset])
    size = math.fsum([*np.abs(problem.cost * x), abs(problem.offset)])
    assert abs(outcome.objective - exact) <= 1e-13 * size


def assert_complementary(values, multipliers, low, high) -> None:
    for value, multiplier, lower, upper in zip(values, multipliers, low, high, strict=True):
        assert lower - TOLERANCE <= value <= upper + TOLERANCE
        if multiplier > TOLERANCE:
            assert abs(value - lower) <= TOLERANCE * max(1.0, abs(lower))
        if multiplier < -TOLERANCE:
            assert abs(value - upper) <= TOLERANCE * max(1.0, abs(upper))


def assert_basis(problem: Problem, outcome: Outcome) -> None:
    """Check that a basis has m basics and that what is nonbasic lies where it says."""
    columns, rows = outcome.basis.column_status, outcome.basis.row_status
    basic = np.sum(columns == BasisStatus.BASIC) + np.sum(rows == BasisStatus.BASIC)
    assert basic == problem.num_rows
    for status, value, low, high in [
        *zip(columns, outcome.x, problem.lower, problem.upper, strict=True),
        *zip(rows, outcome.row_activity, problem.row_lower, problem.row_upper, strict=True),
    ]:
        if status == BasisStatus.LOWER:
            assert abs(value - low) <= TOLERANCE * max(1.0, abs(low))
        if status == BasisStatus.UPPER:
            assert abs(value - high) <= TOLERANCE * max(1.0, abs(high))


def assert_farkas(problem: Problem, ray: np.ndarray) -> None:
    """Check that no x within its bounds can meet the rows' sides weighted by ``ray``."""
    demand = 0.0
    for weight, low, high in zip(ray, problem.row_lower, problem.row_upper, strict=True):
        if weight:
            demand += weight * (low if weight > 0 else high)
    reach = 0.0
    for pull, low, high in zip(problem.matrix.T @ ray, problem.lower, problem.upper, strict=True):
        if abs(pull) > 1e-9:
            reach += pull * (high if pull > 0 else low)
    assert reach < demand


def assert_improving_ray(problem: Problem, ray: np.ndarray) -> None:
    """Check that moving along ``ray`` for ever keeps every side and lowers the objective."""
    assert problem.cost @ ray < 0
    for change, low, high in [
        *zip(problem.matrix @ ray, problem.row_lower, problem.row_upper, strict=True),
        *zip(ray, problem.lower, problem.upper, strict=True),
    ]:
        assert change >= -1e-9 or not np.isfinite(low)
        assert change <= 1e-9 or not np.isfinite(high)
