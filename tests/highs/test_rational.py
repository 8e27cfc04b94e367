"""Proofs in rational arithmetic, against enumeration and another exact solver."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from solvers.core.options import EngineOptions
from solvers.core.problem import FloatArray, Problem
from solvers.core.progress import Progress
from solvers.highs.model import prepare
from solvers.highs.rational import Proof, prove
from solvers.highs.rational.model import RationalModel, solve_square
from tests.cases import through
from tests.highs.models import market_split
from tests.properties.exact import TooLongError, Truth, solve_exactly, violation

EXACT = EngineOptions(rel_gap=0.0, abs_gap=0.0)


def proof_of(problem: Problem, options: EngineOptions = EXACT, seconds: float = 60.0) -> Proof:
    """Return the proof of a model whose points have to meet it exactly."""

    def accepts(x: FloatArray) -> bool:
        return violation(problem, x) == 0.0

    found = prove(problem, options, Progress(seconds), accepts)
    assert found is not None
    return found


def random_problem(seed: int) -> Problem:
    """Return a small mixed-integer program with and without bounds, ranges and equations."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 6)), int(rng.integers(1, 5))
    A = (
        rng.integers(-5, 6, (m, n))
        * (rng.random((m, n)) < 0.7)
        * 10.0 ** rng.integers(0, 9, (m, 1))
    )
    low = np.where(rng.random(m) < 0.5, np.floor(A.sum(1) * rng.random(m)), -np.inf)
    high = np.where(rng.random(m) < 0.6, np.maximum(low, np.floor(A.sum(1) * 2)), np.inf)
    return Problem.from_arrays(
        rng.integers(-9, 10, n),
        A,
        low,
        high,
        lower=np.where(rng.random(n) < 0.8, -2.0, -np.inf),
        upper=np.where(rng.random(n) < 0.7, 3.0, np.inf),
        integrality=rng.random(n) < 0.7,
    )


@through("seed", range(40))
def test_what_is_proven_is_true(seed: int) -> None:
    problem = random_problem(seed)
    try:
        truth = solve_exactly(problem, seconds=5.0)
    except TooLongError:
        return
    found = proof_of(problem, seconds=0.5)
    if truth.truth is Truth.UNBOUNDED:
        assert found.bound == -np.inf
    elif truth.objective is None:
        assert found.x is None
    else:
        assert found.bound == -np.inf or Fraction(found.bound) <= truth.objective  # out of time
        if found.x is not None:
            assert problem.objective_at(found.x) >= float(truth.objective) - 1e-9


@through("seed", range(20))
def test_bounded_whole_numbers_are_decided(seed: int) -> None:
    problem = random_problem(seed)
    n = problem.num_columns
    problem = replace(
        problem,
        lower=np.full(n, -2.0),
        upper=np.full(n, 3.0),
        integrality=np.ones(n, dtype=bool),
    )
    try:
        truth = solve_exactly(problem, seconds=5.0)
    except TooLongError:
        return
    found = proof_of(problem)
    if truth.objective is None:
        assert found.bound == np.inf
        assert found.x is None
    else:
        assert found.x is not None
        assert problem.objective_at(found.x) == found.bound == float(truth.objective)


def test_the_bound_holds_when_time_is_up() -> None:
    problem = market_split(3, 20)
    n = problem.num_columns
    problem = replace(problem, cost=-np.ones(n), integrality=np.ones(n, dtype=bool))
    early, late = proof_of(problem, seconds=0.2), proof_of(problem, seconds=1.0)
    assert early.bound <= late.bound


def test_columns_without_bounds_need_exact_multipliers() -> None:
    # The multipliers 1/3 and 1/7 are no doubles, so that reduced costs of x and y are not zero.
    problem = Problem.from_arrays(
        [1.0, 1.0, 1.0],
        [[3.0, 0.0, 1.0], [0.0, 7.0, 1.0]],
        [10.0, 10.0],
        lower=[-np.inf, -np.inf, 0.0],
        upper=[np.inf, np.inf, 1.0],
        integrality=[False, False, True],
    )
    found = proof_of(problem, EngineOptions())
    assert found.bound == pytest.approx(10 / 3 + 10 / 7, rel=1e-12)


def test_objectives_differ_by_their_greatest_common_divisor() -> None:
    problem = Problem.from_arrays([0.75, 1.5, 0.0], integrality=[True, True, False], upper=3.0)
    assert RationalModel.of(prepare(problem).model).objective_step() == Fraction(3, 4)
    mixed = replace(problem, cost=np.array([1.0, 1.0, 1.0]))
    assert RationalModel.of(prepare(mixed).model).objective_step() == 0


def test_systems_without_a_single_solution_have_none() -> None:
    one = Fraction(1)
    assert solve_square([[one, one], [one, one]], [one, one]) is None
    assert solve_square([[one, one]], [one]) is None
    assert solve_square([[Fraction(0), 2 * one], [one, one]], [one, one]) == [one / 2, one / 2]
