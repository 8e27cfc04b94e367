"""Solving by the engine in tests, and checking what comes of it."""

from __future__ import annotations

import numpy as np
import pytest

from solvers import pdlp
from solvers.core.options import EngineOptions
from solvers.core.outcome import Start
from solvers.core.problem import Problem
from solvers.core.progress import Progress


def solve(problem: Problem, start: Start | None = None, limit: float = 600.0, **options):
    return pdlp.solve(
        problem, EngineOptions(**{"device": "cpu", **options}), Progress(limit), start
    )


def counts(outcome) -> dict:
    """Return the statistics that the clock has no part in."""
    return {name: value for name, value in outcome.statistics.items() if name != "loop_seconds"}


def assert_kkt(problem: Problem, outcome, tolerance: float) -> None:
    """Check an answer against the optimality conditions, written out once more."""
    x, y, z = outcome.x, outcome.row_dual, outcome.reduced_cost
    np.testing.assert_allclose(z, problem.cost - problem.matrix.T @ y, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(outcome.row_activity, problem.matrix @ x, rtol=1e-12, atol=1e-12)
    assert np.all((x >= problem.lower) & (x <= problem.upper))
    assert np.all(y[~np.isfinite(problem.row_lower)] <= 0)
    assert np.all(y[~np.isfinite(problem.row_upper)] >= 0)
    activity = outcome.row_activity
    violation = np.maximum(problem.row_lower - activity, activity - problem.row_upper)
    sides = np.concatenate([problem.row_lower, problem.row_upper])
    size = 1.0 + np.linalg.norm(sides[np.isfinite(sides)])
    assert np.linalg.norm(np.maximum(violation, 0.0)) <= tolerance * size
    wrong = np.where(~np.isfinite(problem.lower), np.maximum(z, 0.0), 0.0)
    wrong += np.where(~np.isfinite(problem.upper), np.maximum(-z, 0.0), 0.0)
    assert np.linalg.norm(wrong) <= tolerance * (1.0 + np.linalg.norm(problem.cost))
    assert outcome.objective == pytest.approx(problem.objective_at(x), rel=1e-12)
    gap = abs(outcome.objective - outcome.bound)
    assert gap <= tolerance * (1.0 + abs(outcome.objective) + abs(outcome.bound))
