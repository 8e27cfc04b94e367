"""The relaxation of a model, by both methods."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from solvers.core.problem import Problem
from solvers.mip.budget import Budget
from solvers.mip.inference import relaxation
from solvers.mip.inference.relaxation import Simplex, root_relaxation
from solvers.mip.model import MipModel
from tests.pdlp.lps import solve_with_highs


def random_mip(seed: int, rows: int, columns: int, density: float = 0.3) -> MipModel:
    """Return a feasible, bounded model with binary, general and continuous columns."""
    generator = np.random.default_rng(seed)
    A = sp.random_array((rows, columns), density=density, format="csr", rng=generator)
    A.data = np.round(generator.uniform(-5.0, 5.0, A.nnz))
    kind = generator.integers(0, 3, columns)  # binary, general, continuous
    lower = np.where(kind == 0, 0.0, -4.0)
    upper = np.where(kind == 0, 1.0, 6.0)
    point = np.where(kind == 0, generator.integers(0, 2, columns), 0.0)
    point = np.where(kind == 1, generator.integers(-3, 6, columns), point)
    point = np.where(kind == 2, generator.uniform(-3.0, 5.0, columns), point)
    activity = A @ point
    room = generator.integers(0, 4, rows)
    low = np.where(room == 0, -np.inf, activity - 2.0 * generator.random(rows))
    high = np.where(room == 1, np.inf, activity + 2.0 * generator.random(rows))
    return MipModel.of(
        Problem(
            generator.integers(-9, 10, columns).astype(float),
            A,
            low,
            high,
            lower,
            upper,
            kind < 2,
            offset=2.0,
        )
    )


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("method", ["simplex", "pdlp"])
def test_the_relaxation_is_solved(method, seed, monkeypatch):
    model = random_mip(seed, 20, 30)
    if method == "pdlp":
        monkeypatch.setattr(relaxation, "SIMPLEX_WORK", 0.0)
        monkeypatch.setattr(relaxation, "LEAST_ITERATIONS", 0)
    found = root_relaxation(model, Budget())
    _, objective = solve_with_highs(model.problem.relaxation())
    assert found.method == method
    assert found.is_exact
    assert found.objective == pytest.approx(objective, rel=1e-4, abs=1e-4)
    assert found.objective == pytest.approx(model.objective_at(found.x))
    inside = (found.x > model.lower + 1e-4) & (found.x < model.upper - 1e-4)
    np.testing.assert_allclose(found.reduced_cost[inside], 0.0, atol=1e-3)
    assert (found.basis is not None) == (method == "simplex")


@pytest.mark.parametrize("seed", range(2))
def test_interior_point_takes_over_where_simplex_is_slow(seed, monkeypatch):
    monkeypatch.setattr(relaxation, "SIMPLEX_SHARE", 0.0)
    model = random_mip(seed, 60, 90)
    root = root_relaxation(model, Budget(seconds=60.0))
    _, objective = solve_with_highs(model.problem.relaxation())
    assert root.method == "interior point"
    assert root.is_exact
    assert root.objective == pytest.approx(objective, rel=1e-6, abs=1e-6)
    x, reduced = root.x, root.reduced_cost
    inside = (x > model.lower + 1e-6) & (x < model.upper - 1e-6)
    np.testing.assert_allclose(reduced[inside], 0.0, atol=1e-5)
    assert root.basis is not None
    again = Simplex(model.problem, presolve=False)
    again.lp.begin_at(root.basis)
    found = again.solve(Budget())
    assert found.is_converged
    assert again.lp.iterations <= 1  # the vertex is the optimum


def test_no_time_gives_a_point_within_bounds_and_says_so():
    model = random_mip(3, 200, 300, density=0.1)
    for budget in (Budget(seconds=0.0), Budget(stop=lambda: True)):
        root = root_relaxation(model, budget)
        assert not root.is_exact
        assert (root.x >= model.lower).all()
        assert (root.x <= model.upper).all()


@pytest.mark.parametrize("upper", [np.inf, 3.0])
def test_a_model_without_coefficients(upper):
    model = MipModel.of(
        Problem.from_arrays([-1.0, 0.0], None, lower=-1.0, upper=[upper, 3.0], integrality=True)
    )
    found = root_relaxation(model, Budget())
    assert found.is_exact == np.isfinite(upper)
    assert (found.x <= model.upper).all()


def test_an_infeasible_relaxation_is_not_called_exact():
    model = MipModel.of(
        Problem.from_arrays([1.0, 1.0], [[1.0, 1.0], [1.0, 1.0]], [3.0, 0.0], [4.0, 1.0])
    )
    lines: list[str] = []
    found = root_relaxation(model, Budget(work=1e6), log=lines.append)
    assert not found.is_exact
    assert "approximate" in lines[0]


def test_simplex_starts_warm():
    problem = random_mip(1, 40, 60).problem
    simplex = Simplex(problem)
    assert simplex.solve(Budget()).is_converged
    first = simplex.lp.iterations
    simplex.solve(Budget(), cost=problem.cost * 1.01)
    assert first > 0
    assert simplex.lp.iterations <= first + 2


def test_simplex_says_when_no_point_is_left():
    problem = random_mip(1, 10, 15).problem
    simplex = Simplex(problem)
    low, high = problem.row_lower.copy(), problem.row_upper.copy()
    low[0], high[0] = -np.inf, -1e6
    found = simplex.solve(Budget(), row_lower=low, row_upper=high)
    assert found.is_empty
    assert not found.is_converged
    sides = {"row_lower": problem.row_lower, "row_upper": problem.row_upper}
    assert simplex.solve(Budget(), **sides).is_converged


def test_work_is_charged_and_limits_iterations():
    problem = random_mip(2, 60, 90).problem
    iterations = []
    for work in (1.0, 1e9):
        simplex, budget = Simplex(problem), Budget(work=work)
        simplex.solve(budget)
        assert budget.work > 0.0
        iterations.append(simplex.lp.iterations)
    assert iterations[0] < iterations[1]


def test_without_presolve_simplex_goes_on_where_a_limit_ended_it():
    # an assignment, and a row of one column for presolve to take out
    rng = np.random.default_rng(4)
    size = 60
    arcs = size * size
    matrix = np.zeros((2 * size + 1, arcs + 1))
    matrix[:size, :arcs] = np.kron(np.eye(size), np.ones(size))
    matrix[size : 2 * size, :arcs] = np.kron(np.ones(size), np.eye(size))
    matrix[2 * size, arcs] = 1.0
    problem = Problem.from_arrays(
        np.r_[rng.integers(1, 50, arcs), 1.0], matrix, np.r_[np.full(2 * size, 1.0), 2.0], np.inf
    )
    whole = Simplex(problem, presolve=False)
    assert whole.solve(Budget()).is_converged
    parts = Simplex(problem, presolve=False)
    entries = problem.num_nonzeros + problem.num_columns + problem.num_rows
    slice_work = 0.4 * whole.lp.iterations * entries
    assert parts.solve(Budget(work=slice_work)).is_cut_short
    for _ in range(10):
        found = parts.solve(Budget(work=slice_work))
        if found.is_converged:
            break
    assert found.is_converged
    assert parts.lp.iterations < 3 * whole.lp.iterations
