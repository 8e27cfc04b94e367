"""Models that are multidimensional knapsack problems in disguise, and some that are none."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.core.errors import EngineError
from solvers.core.options import EngineOptions
from solvers.core.outcome import SolutionStatus
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.knapsack.engine import solve
from solvers.knapsack.multidimensional.recognise import recognise
from tests.cases import through


@st.composite
def models(draw: st.DrawFn) -> Problem:
    """Bounded columns, some mirrored; rows of either direction; decimals."""
    n, m = draw(st.integers(2, 5)), draw(st.integers(1, 3))
    quantum = draw(st.sampled_from([1.0, 0.1, 0.125]))
    sign = np.array(draw(st.lists(st.sampled_from([-1, 1]), min_size=n, max_size=n)))
    weight = np.array(
        draw(st.lists(st.integers(1, 20), min_size=n * m, max_size=n * m)), dtype=float
    ).reshape(m, n)
    weight = weight * sign * quantum
    side = quantum * np.array(draw(st.lists(st.integers(-20, 60), min_size=m, max_size=m)))
    at_least = np.array(draw(st.lists(st.booleans(), min_size=m, max_size=m)))
    lower = np.array(draw(st.lists(st.integers(-2, 1), min_size=n, max_size=n)), dtype=float)
    extent = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    return Problem.from_arrays(
        np.array(draw(st.lists(st.integers(-9, 30), min_size=n, max_size=n))) * quantum,
        np.where(at_least[:, None], -weight, weight),
        row_lower=np.where(at_least, -side, -np.inf),
        row_upper=np.where(at_least, np.inf, side),
        lower=lower,
        upper=lower + extent,
        integrality=np.ones(n, dtype=bool),
        maximize=draw(st.booleans()),
    )


def best_objective(problem: Problem) -> float:
    """Return the least objective of a point that keeps the rows, inf without one."""
    ranges = [range(int(a), int(b) + 1) for a, b in zip(problem.lower, problem.upper, strict=True)]
    points = np.array(list(product(*ranges)), dtype=float)
    activity = points @ problem.matrix.toarray().T
    fits = (activity <= problem.row_upper + 1e-9) & (activity >= problem.row_lower - 1e-9)
    values = (points @ problem.cost + problem.offset)[fits.all(axis=1)]
    return float(values.min(initial=np.inf))


@given(models())
@settings(max_examples=150, deadline=None)
def test_models_in_any_guise_are_solved_like_by_brute_force(problem):
    outcome = solve(problem, EngineOptions(), Progress())
    best = best_objective(problem)
    if best == np.inf:
        assert outcome.solution_status is SolutionStatus.INFEASIBLE
        return
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert outcome.objective == pytest.approx(best)
    assert outcome.bound == outcome.objective


def plain(**changes: object) -> Problem:
    """Return a model of four items and two rows, with something else about it."""
    parts: dict[str, object] = {
        "cost": [5.0, 4.0, 3.0, 2.0],
        "matrix": np.array([[2.0, 3.0, 1.0, 4.0], [4.0, 1.0, 2.0, 2.0]]),
        "row_upper": [5.0, 6.0],
        "upper": 1.0,
        "integrality": np.ones(4, dtype=bool),
        "maximize": True,
    }
    parts.update(changes)
    return Problem.from_arrays(parts.pop("cost"), parts.pop("matrix"), **parts)  # type: ignore[arg-type]


def test_what_was_recognised_is_said():
    model = recognise(plain())
    assert model is not None
    assert model.sentence == "a multidimensional knapsack problem of 4 items and 2 rows"


@through(
    "problem",
    [
        plain(integrality=np.array([True, True, True, False])),
        plain(row_lower=[5.0, -np.inf]),
        plain(row_lower=[1.0, -np.inf]),
        plain(matrix=np.array([[2.0, 3.0, -1.0, 4.0], [4.0, 1.0, 2.0, 2.0]])),
        plain(matrix=np.array([[2.0, np.pi, 1.0, 4.0], [4.0, 1.0, 2.0, 2.0]])),
        plain(upper=np.inf),
        plain(matrix=np.ones((60, 4)), row_upper=np.ones(60)),
        plain(matrix=np.eye(4)[[0, 1]], row_upper=[1.0, 1.0]),
    ],
)
def test_other_models_are_left_to_others(problem):
    assert recognise(problem) is None
    with pytest.raises(EngineError, match="not a knapsack"):
        solve(problem, EngineOptions(), Progress())


def test_sparse_rows_are_left_to_others():
    matrix = np.zeros((10, 20))
    for row in range(10):
        matrix[row, [row, row + 10]] = 1.0
    problem = Problem.from_arrays(
        np.ones(20),
        matrix,
        row_upper=np.ones(10),
        upper=1.0,
        integrality=np.ones(20, dtype=bool),
        maximize=True,
    )
    assert recognise(problem) is None


def test_the_bound_of_an_interrupted_solve_is_on_the_right_side():
    rng = np.random.default_rng(2)
    weight = rng.integers(1, 100, (4, 60)).astype(float)
    problem = Problem.from_arrays(
        weight.sum(axis=0),
        weight,
        row_upper=weight.sum(axis=1) // 3,
        upper=1.0,
        integrality=np.ones(60, dtype=bool),
        maximize=True,
    )
    progress = Progress()
    progress.interrupt()
    outcome = solve(problem, EngineOptions(), progress)
    assert outcome.solution_status is SolutionStatus.FEASIBLE
    assert outcome.bound < outcome.objective
    assert progress.best_bound <= outcome.objective
