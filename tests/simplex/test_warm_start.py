"""Starting from a basis or a point that somebody has."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gpu_bridge.api import read
from solvers.core.outcome import Basis, BasisStatus, Start
from solvers.core.problem import Problem
from tests.cases import through
from tests.locations import NETLIB_MODELS
from tests.simplex.checks import assert_optimal, random_lp, simplex


@pytest.mark.parametrize("name", ["blend", "share2b", "capri", "degen2"])
def test_an_optimal_basis_needs_no_pivots(name: str) -> None:
    problem = read(NETLIB_MODELS / f"{name}.mps.gz")
    first = simplex(problem)
    again = simplex(problem, Start(basis=first.basis))
    assert again.statistics["iterations"] == 0
    assert again.objective == pytest.approx(first.objective, rel=1e-12)
    assert_optimal(problem, again, 1e-6)


@pytest.mark.parametrize("name", ["blend", "share2b", "capri"])
def test_a_changed_side_or_cost_needs_few_pivots(name: str) -> None:
    problem = read(NETLIB_MODELS / f"{name}.mps.gz")
    first = simplex(problem)
    rng = np.random.default_rng(1)
    row = int(rng.choice(np.flatnonzero(np.isfinite(problem.row_upper))))
    row_upper = problem.row_upper.copy()
    row_upper[row] += 0.01 * (1.0 + abs(row_upper[row]))
    cost = problem.cost * (1.0 + 0.01 * rng.random(problem.num_columns))
    for changed in (replace(problem, row_upper=row_upper), replace(problem, cost=cost)):
        warm = simplex(changed, Start(basis=first.basis))
        cold = simplex(changed)
        assert int(warm.statistics["iterations"]) < int(cold.statistics["iterations"]) // 2
        assert warm.objective == pytest.approx(cold.objective, rel=1e-9)


def test_an_optimal_point_needs_fewer_pivots() -> None:
    problem = read(NETLIB_MODELS / "share2b.mps.gz")
    first = simplex(problem)
    warm = simplex(problem, Start(x=first.x))
    assert int(warm.statistics["iterations"]) < int(first.statistics["iterations"])
    assert warm.objective == pytest.approx(first.objective, rel=1e-9)


@through("seed", range(12))
def test_any_statuses_are_made_a_basis(seed: int) -> None:
    """Too many or too few basic variables, sides that are not there, dependent columns."""
    problem = random_lp(7, 10, 14)
    rng = np.random.default_rng(seed)
    basis = Basis(rng.integers(0, 5, 14).astype(np.int8), rng.integers(0, 5, 10).astype(np.int8))
    if seed == 0:
        basis = Basis(np.full(14, BasisStatus.BASIC), np.full(10, BasisStatus.BASIC))
    outcome = simplex(problem, Start(basis=basis))
    assert outcome.solution_status is simplex(problem).solution_status
    assert outcome.objective == pytest.approx(simplex(problem).objective, abs=1e-9)


def test_a_singular_basis_is_repaired() -> None:
    problem = Problem.from_arrays([1.0, 2.0], [[1, 1], [2, 2]], [1, -np.inf], [np.inf, 9])
    status = np.full(2, BasisStatus.BASIC, dtype=np.int8)
    outcome = simplex(problem, Start(basis=Basis(status, np.zeros(2, dtype=np.int8))))
    assert outcome.objective == pytest.approx(1.0)
    assert_optimal(problem, outcome)


def test_starts_of_another_shape_are_left_out() -> None:
    problem = random_lp(7, 10, 14)
    wrong = Basis(np.zeros(3, dtype=np.int8), np.zeros(10, dtype=np.int8))
    plain = simplex(problem)
    for start in (Start(basis=wrong), Start(x=np.full(14, np.nan)), Start(x=np.zeros(2)), Start()):
        assert simplex(problem, start).statistics == plain.statistics
