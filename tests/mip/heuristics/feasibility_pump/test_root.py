"""The relaxation of a model, by both methods."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.core.problem import Problem
from solvers.mip.inference import relaxation
from solvers.mip.inference.relaxation import Simplex, root_relaxation
from solvers.mip.model import MipModel
from solvers.mip.portfolio.budget import Budget
from tests.mip.heuristics.feasibility_pump.cases import random_mip
from tests.pdlp.lps import solve_with_highs


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("method", ["simplex", "pdlp"])
def test_the_relaxation_is_solved(method, seed, monkeypatch):
    model = random_mip(seed, 20, 30)
    if method == "pdlp":
        monkeypatch.setattr(relaxation, "SIMPLEX_WORK", 0.0)
        monkeypatch.setattr(relaxation, "LEAST_ITERATIONS", 0)
    root = root_relaxation(model, Budget())
    _, objective = solve_with_highs(model.problem.relaxation())
    found = root.relaxation
    assert root.method == method
    assert found.is_exact
    assert found.objective == pytest.approx(objective, rel=1e-4, abs=1e-4)
    assert found.objective == pytest.approx(model.objective_at(found.x))
    inside = (found.x > model.lower + 1e-4) & (found.x < model.upper - 1e-4)
    np.testing.assert_allclose(found.reduced_cost[inside], 0.0, atol=1e-3)
    np.testing.assert_allclose(
        found.reduced_cost, model.cost - model.problem.matrix.T @ root.row_dual
    )
    assert (root.basis is not None) == (method == "simplex")


@pytest.mark.parametrize("seed", range(2))
def test_interior_point_takes_over_where_simplex_is_slow(seed, monkeypatch):
    monkeypatch.setattr(relaxation, "SIMPLEX_SHARE", 0.0)
    model = random_mip(seed, 60, 90)
    root = root_relaxation(model, Budget(seconds=60.0))
    _, objective = solve_with_highs(model.problem.relaxation())
    assert root.method == "interior point"
    assert root.relaxation.is_exact
    assert root.relaxation.objective == pytest.approx(objective, rel=1e-6, abs=1e-6)
    x, reduced = root.relaxation.x, root.relaxation.reduced_cost
    inside = (x > model.lower + 1e-6) & (x < model.upper - 1e-6)
    np.testing.assert_allclose(reduced[inside], 0.0, atol=1e-5)
    assert root.basis is not None
    again = Simplex(model.problem, basis=root.basis, presolve=False)
    found = again.solve(Budget())
    assert found.is_converged
    assert again.iterations <= 1  # the vertex is the optimum


def test_no_time_gives_a_point_within_bounds_and_says_so():
    model = random_mip(3, 200, 300, density=0.1)
    for budget in (Budget(seconds=0.0), Budget(stop=lambda: True)):
        root = root_relaxation(model, budget)
        assert not root.relaxation.is_exact
        assert (root.relaxation.x >= model.lower).all()
        assert (root.relaxation.x <= model.upper).all()


@pytest.mark.parametrize("upper", [np.inf, 3.0])
def test_a_model_without_coefficients(upper):
    model = MipModel.of(
        Problem.from_arrays([-1.0, 0.0], None, lower=-1.0, upper=[upper, 3.0], integrality=True)
    )
    found = root_relaxation(model, Budget()).relaxation
    assert found.is_exact == np.isfinite(upper)
    assert (found.x <= model.upper).all()


def test_an_infeasible_relaxation_is_not_called_exact():
    model = MipModel.of(
        Problem.from_arrays([1.0, 1.0], [[1.0, 1.0], [1.0, 1.0]], [3.0, 0.0], [4.0, 1.0])
    )
    lines: list[str] = []
    found = root_relaxation(model, Budget(work=1e6), log=lines.append)
    assert not found.relaxation.is_exact
    assert "approximate" in lines[0]
