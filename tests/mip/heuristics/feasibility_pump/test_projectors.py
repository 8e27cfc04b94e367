"""Both projectors on the same requests, against a fresh HiGHS."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from solvers.core.device import cpu
from solvers.core.problem import Problem
from solvers.mip.heuristics.feasibility_pump.projection import Augmented
from solvers.mip.inference.relaxation import Simplex, first_order, root_relaxation
from solvers.mip.portfolio.budget import Budget
from tests.mip.heuristics.feasibility_pump.cases import random_mip
from tests.mip.heuristics.feasibility_pump.test_augmented import as_problem
from tests.pdlp.lps import solve_with_highs


def projectors(augmented):
    budget = Budget()
    return {
        "simplex": Simplex(augmented.problem),
        "pdlp": first_order(augmented.problem, cpu(), budget),
    }


def requests(augmented: Augmented, seed: int, count: int):
    """Give requests with every kind of change: cost, distances, stage, cut-off."""
    model = augmented.model
    generator = np.random.default_rng(seed)
    _, best = solve_with_highs(model.problem.relaxation())
    for number in range(count):
        rounded = model.rounded(generator.uniform(-4.0, 6.0, model.num_columns))
        active = augmented.binary if number % 3 == 0 else augmented.movable
        target = np.inf if number % 2 == 0 else best + 0.3 * abs(best) + 1.0 - model.offset
        yield augmented.projection(rounded, active, 0.9**number, target)


@pytest.mark.parametrize("method", ["simplex", "pdlp"])
@pytest.mark.parametrize("seed", range(3))
def test_projections_one_after_the_other_are_optimal(method, seed):
    augmented = Augmented.of(random_mip(seed, 15, 20))
    projector = projectors(augmented)[method]
    for request in requests(augmented, seed, 8):
        problem = as_problem(augmented, request)
        status, expected = solve_with_highs(problem)
        assert status == "kOptimal"
        found = projector.solve_for(dataclasses.replace(request, tolerance=1e-7), Budget())
        assert found.is_converged
        assert problem.objective_at(found.x) == pytest.approx(expected, rel=1e-5, abs=1e-4)
        assert (found.x >= problem.lower).all()
        assert (found.x <= problem.upper).all()
        reduced = problem.cost - problem.matrix.T @ found.y
        inside = (found.x > problem.lower + 1e-4) & (found.x < problem.upper - 1e-4)
        np.testing.assert_allclose(reduced[inside], 0.0, atol=1e-4)


def test_simplex_starts_warm():
    augmented = Augmented.of(random_mip(1, 40, 60))
    simplex = Simplex(augmented.problem)
    request = next(requests(augmented, 0, 1))
    simplex.solve_for(request, Budget())
    first = simplex.iterations
    simplex.solve_for(dataclasses.replace(request, cost=request.cost * 1.01), Budget())
    assert first > 0
    assert simplex.iterations <= first + 2


def test_simplex_takes_a_basis_of_the_model_alone():
    model = random_mip(1, 40, 60)
    augmented = Augmented.of(model)
    root = root_relaxation(model, Budget())
    assert root.basis is not None
    simplex = Simplex(augmented.problem, basis=root.basis)
    found = simplex.solve(Budget())
    assert found.is_converged
    assert simplex.iterations == 0


def test_simplex_says_when_no_point_is_left():
    augmented = Augmented.of(random_mip(1, 10, 15))
    simplex = Simplex(augmented.problem)
    request = augmented.projection(augmented.model.lower, augmented.movable, 0.0, -1e6)
    found = simplex.solve_for(request, Budget())
    assert found.is_empty
    assert not found.is_converged
    fine = augmented.projection(augmented.model.lower, augmented.movable, 0.0, np.inf)
    assert simplex.solve_for(fine, Budget()).is_converged


@pytest.mark.parametrize("method", ["simplex", "pdlp"])
def test_a_spent_budget_still_gives_a_point_within_its_bounds(method):
    augmented = Augmented.of(random_mip(2, 60, 90))
    projector = projectors(augmented)[method]
    for budget in (Budget(seconds=0.0), Budget(stop=lambda: True)):
        for request in requests(augmented, 5, 2):
            found = projector.solve_for(request, budget)
            assert np.isfinite(found.x).all()
            assert (found.x >= request.lower).all()
            assert (found.x <= request.upper).all()


@pytest.mark.parametrize("method", ["simplex", "pdlp"])
def test_work_is_charged_and_limits_iterations(method):
    augmented = Augmented.of(random_mip(2, 60, 90))
    request = next(requests(augmented, 5, 1))
    iterations = []
    for work in (1.0, 1e9):
        projector = projectors(augmented)[method]
        budget = Budget(work=work)
        projector.solve_for(dataclasses.replace(request, tolerance=1e-9), budget)
        assert budget.work > 0.0
        iterations.append(projector.iterations)
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
    slice_work = 0.4 * whole.iterations * entries
    assert parts.solve(Budget(work=slice_work)).is_cut_short
    for _ in range(10):
        found = parts.solve(Budget(work=slice_work))
        if found.is_converged:
            break
    assert found.is_converged
    assert parts.iterations < 3 * whole.iterations
