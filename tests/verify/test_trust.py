"""Claims that no engine is believed: refuted ones, and those beyond what doubles can hold."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

import gpu_bridge as gb
from gpu_bridge.options import make_options
from gpu_bridge.verify.refutation import holds_exactly, refuting_point, rounded_bound
from gpu_bridge.verify.residuals import UNSAFE, is_wider, largest_relative_violation, widest_span
from gpu_bridge.verify.verify import verify
from solvers.core.outcome import Outcome, Proof, SolutionStatus, StopReason
from solvers.core.problem import Problem
from tests.cases import through
from tests.properties.exact import Truth, solve_exactly

OPTIONS = make_options()


def wild_problem(seed: int) -> Problem:
    """Return a small integer program whose coefficients span up to 17 orders of magnitude."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(2, 6)), int(rng.integers(1, 4))
    size = 10.0 ** rng.integers(0, rng.integers(6, 18), (m, n))
    A = np.floor(rng.random((m, n)) * size) * rng.choice([1, 1, 1, -1, 0], (m, n))
    cost = np.floor((rng.random(n) - 0.5) * 10.0 ** rng.integers(1, 17))
    lower, upper = -np.floor(rng.random(n) * 2), np.floor(rng.random(n) * 3) + 1
    x = np.array([rng.integers(a, b + 1) for a, b in zip(lower, upper, strict=True)])
    activity = np.array(
        [float(sum(int(a) * int(v) for a, v in zip(row, x, strict=True))) for row in A]
    )
    kind = rng.integers(4, size=m)
    return Problem.from_arrays(
        cost,
        A,
        np.where(kind < 2, activity, -np.inf),
        np.where(kind > 0, np.where(kind == 3, np.floor(np.abs(A).sum(1) / 3), activity), np.inf),
        lower=lower,
        upper=upper,
        integrality=True,
    )


def best_of_all(problem: Problem) -> int | None:
    """Return the least objective of all points that meet the model exactly, in whole numbers."""
    rows = [[int(a) for a in row] for row in problem.matrix.toarray()]
    cost = [int(c) for c in problem.cost]
    ranges = [range(int(a), int(b) + 1) for a, b in zip(problem.lower, problem.upper, strict=True)]
    found = [
        sum(c * v for c, v in zip(cost, x, strict=True))
        for x in itertools.product(*ranges)
        if all(
            low <= sum(a * v for a, v in zip(row, x, strict=True)) <= high
            for row, low, high in zip(
                rows, problem.row_lower.tolist(), problem.row_upper.tolist(), strict=True
            )
        )
    ]
    return min(found, default=None)


@pytest.mark.parametrize("method", ["auto", "highs", "mip"])
def test_no_claim_on_wild_magnitudes_is_wrong(method: str) -> None:
    for seed in range(60):
        problem = wild_problem(seed)
        if problem.num_nonzeros == 0:
            continue
        least = best_of_all(problem)
        outcome = gb.solve(problem, method=method, explain=False, time_limit=30)
        if least is None:
            continue  # a point within the tolerance may be there
        assert outcome.solution_status is SolutionStatus.OPTIMAL, seed
        assert outcome.bound <= least, seed
        assert outcome.objective <= least + 1e-4 * abs(least) + 1e-6, seed


def engine_says(**fields: object) -> Outcome:
    """Return a claim of the reference engine."""
    claim = Outcome(
        SolutionStatus.INFEASIBLE, StopReason.CONVERGED, proof=Proof.SEARCH, engine="highs"
    )
    return replace(claim, **fields)  # type: ignore[arg-type]


def big_knapsack(smallest: float = 1.0) -> Problem:
    """Return a knapsack problem of three rows, the first with a span of 1e15 / smallest."""
    return Problem.from_arrays(
        [-3.0, -2.0],
        [[1e15, smallest], [1.0, 1.0], [1.0, -1.0]],
        row_upper=[1e15, 1.0, 1.0],
        upper=1.0,
        integrality=True,
    )


def test_a_claim_of_infeasibility_is_refuted_by_a_plain_point() -> None:
    answer = verify(big_knapsack(1e15), engine_says(), OPTIONS)
    assert answer.solution_status is SolutionStatus.FEASIBLE
    assert answer.stop_reason is StopReason.NUMERICAL_TROUBLE
    assert "refutes" in answer.message


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("integer", [False, True])
def test_the_span_of_the_model_stands_for_that_of_its_rows(seed: int, integer: bool) -> None:
    rng = np.random.default_rng(seed)
    A = np.where(rng.random((4, 6)) < 0.6, 10.0 ** rng.integers(-6, 6, (4, 6)), 0.0)
    upper = np.where(rng.random(6) < 0.3, np.inf, 10.0 ** rng.integers(0, 5, 6))
    problem = Problem.from_arrays(np.ones(6), A, row_upper=1.0, upper=upper, integrality=integer)
    widest = widest_span(problem).ratio
    for ratio in (0.5 * widest, widest, 2.0 * widest, UNSAFE):
        assert is_wider(problem, ratio) == (widest > ratio)


def test_a_bound_in_unsafe_magnitudes_is_passed_on_only_if_it_is_exact() -> None:
    problem = big_knapsack()
    assert widest_span(problem).ratio > UNSAFE
    claim = engine_says(solution_status=SolutionStatus.OPTIMAL, x=np.array([1.0, 0.0]), bound=-3.0)
    doubted = verify(problem, claim, OPTIONS)
    assert doubted.solution_status is SolutionStatus.FEASIBLE
    assert doubted.bound == -np.inf
    assert "terms from 1 to 1e+15" in doubted.message
    exact = verify(problem, replace(claim, proof=Proof.EXACT), OPTIONS)
    assert exact.solution_status is SolutionStatus.OPTIMAL


def test_infeasibility_in_unsafe_magnitudes_is_passed_on_only_if_it_is_exact() -> None:
    problem = replace(big_knapsack(), row_lower=np.array([-np.inf, 0.5, 0.5]))
    problem = replace(problem, row_upper=np.array([0.5, 1.0, 1.0]))
    doubted = verify(problem, engine_says(), OPTIONS)
    assert doubted.solution_status is SolutionStatus.NOTHING
    assert "not proven" in doubted.message
    exact = verify(problem, engine_says(proof=Proof.EXACT), OPTIONS)
    assert exact.solution_status is SolutionStatus.INFEASIBLE


def test_a_large_model_of_unsafe_magnitudes_keeps_its_point_and_says_why_it_has_no_bound() -> None:
    rng = np.random.default_rng(0)
    m, n = 40, 60
    A = np.floor(rng.random((m, n)) * 10)
    A[0] *= 10.0 ** rng.integers(0, 14, n)
    problem = Problem.from_arrays(
        -np.floor(rng.random(n) * 9), A, row_upper=A.sum(axis=1) / 2, upper=1.0, integrality=True
    )
    for method in ("highs", "mip"):
        outcome = gb.solve(problem, method=method, time_limit=10, rel_gap=0.05)
        assert outcome.solution_status is SolutionStatus.FEASIBLE
        assert outcome.bound == -np.inf
        assert "cannot hold together" in outcome.message


def test_points_are_held_against_rows_without_rounding() -> None:
    tenth = Problem.from_arrays([1.0] * 3, [[0.1, 0.2, -0.3]], row_upper=[0.0])
    assert not holds_exactly(tenth, np.ones(3))  # what the doubles stand for adds up to 2.8e-17
    assert holds_exactly(replace(tenth, row_upper=np.full(1, 2.8e-17)), np.ones(3))
    large = Problem.from_arrays([0.0, 0.0], [[2.0**60, 1.0]], row_upper=[2.0**60])
    assert holds_exactly(large, np.array([1.0, 0.0]))
    assert not holds_exactly(large, np.array([1.0, 1.0]))


def test_a_row_of_huge_integers_is_held_to_its_tolerance() -> None:
    problem = Problem.from_arrays(
        [1.0, 1.0, 1.0], [[6e16, 2e16, 78.0]], row_upper=[7e16], integrality=[True, True, False]
    )
    for x, violation in (([1.0, 1.0, 0.0], 1 / 7), ([1.0, 0.0, 0.0], 0.0)):
        assert largest_relative_violation(problem, np.array(x)) == pytest.approx(violation)


def test_terms_that_cancel_hide_no_violation_of_integers() -> None:
    problem = Problem.from_arrays([1.0, 1.0], [[2.0**58, -(2.0**58)]], 64.0, integrality=True)
    assert largest_relative_violation(problem, np.array([3.0, 3.0])) == 1.0
    continuous = replace(problem, integrality=np.zeros(2, dtype=bool))
    assert largest_relative_violation(continuous, np.array([3.0, 3.0])) == 0.0


@through("seed", range(30))
def test_only_feasible_models_are_refuted(seed: int) -> None:
    problem = wild_problem(seed)
    point = refuting_point(problem)
    if point is not None:
        assert solve_exactly(replace(problem, cost=problem.cost * 0)).truth is Truth.OPTIMAL


@pytest.mark.parametrize(
    ("cost", "bound", "rounded"),
    [
        ([2.0, 4.0], 60.5, 62.0),
        ([2.0, 4.0], 60.0000000001, 60.0),
        ([2.0, 4.0], 59.9999999, 60.0),
        ([2.0, 0.5], 60.5, 60.5),
        ([1.0, 3.0], -61.0000000001, -61.0),
        ([1.0, 0.0], 1e13 + 0.5, 1e13 + 0.5),
    ],
)
def test_bounds_are_rounded_to_objectives_that_can_be(
    cost: list[float], bound: float, rounded: float
) -> None:
    problem = Problem.from_arrays(cost, integrality=True, upper=9.0)
    assert rounded_bound(problem, bound) == rounded


def test_a_bound_is_not_rounded_where_a_continuous_column_has_costs() -> None:
    problem = Problem.from_arrays([1.0, 1.0], integrality=[True, False], upper=9.0)
    assert rounded_bound(problem, 0.5) == 0.5


def mixed_problem(seed: int) -> Problem:
    """Return a mixed-integer program with a point, and with columns and rows without limits."""
    rng = np.random.default_rng(seed)
    m, n = int(rng.integers(1, 5)), int(rng.integers(2, 7))
    A = np.round(rng.standard_normal((m, n)) * 5.0) * (rng.random((m, n)) < 0.8)
    whole = rng.random(n) < 0.5
    whole[0] = False
    x = np.round(rng.random(n) * 4.0)
    return Problem.from_arrays(
        np.round(rng.random(n) * 9.0),
        A,
        A @ x - np.round(rng.random(m) * 3.0),
        np.full(m, np.inf),
        lower=np.zeros(n),
        upper=np.where(whole, 5.0, np.inf),
        integrality=whole,
    )


@pytest.fixture(scope="module")
def without_limits() -> list[gb.Outcome]:
    return [gb.solve(mixed_problem(seed), method="highs", time_limit=30) for seed in range(24)]


@through("entries", [0, 2000])
@through("far", [1e12, 1e15, 1e18, 9.9e19])
def test_far_limits_change_no_answer(
    far: float, entries: int, without_limits: list[gb.Outcome], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gpu_bridge.verify.trust.MOST_ENTRIES", entries)
    for seed, best in enumerate(without_limits):
        problem = mixed_problem(seed)
        with_limits = replace(
            problem,
            row_upper=np.where(np.isinf(problem.row_upper), far, problem.row_upper),
            upper=np.where(np.isinf(problem.upper), far, problem.upper),
        )
        presolve = bool(seed % 2)
        told = gb.solve(with_limits, method="highs", presolve=presolve, time_limit=30)
        assert told.solution_status is best.solution_status is SolutionStatus.OPTIMAL, seed
        assert told.objective == pytest.approx(best.objective, rel=1e-4, abs=1e-6), seed
        assert told.bound == pytest.approx(best.bound, rel=1e-4, abs=1e-6), seed


@pytest.mark.parametrize("far", [1e12, 1e18, 9.9e19])
@pytest.mark.parametrize("method", ["highs", "simplex"])
def test_far_limits_spoil_no_proof_of_a_linear_program(method: str, far: float) -> None:
    for seed in range(60):
        problem = mixed_problem(seed).relaxation()
        with_limits = replace(
            problem,
            row_upper=np.where(np.isinf(problem.row_upper), far, problem.row_upper),
            lower=np.full(problem.num_columns, -far),
            upper=np.where(np.isinf(problem.upper), far, problem.upper),
            cost=problem.matrix.T @ np.full(problem.num_rows, 1.0 / 3.0),  # reduced costs round
        )
        told = gb.solve(with_limits, method=method, presolve=bool(seed % 2), time_limit=30)
        assert told.solution_status is SolutionStatus.OPTIMAL, seed


def test_limits_that_are_far_but_needed_are_kept() -> None:
    far = Problem.from_arrays(
        [-1.0, -1.0], [[1.0, 1.0]], row_upper=[np.inf], upper=[1e18, 3.5], integrality=[False, True]
    )
    outcome = gb.solve(far, method="highs")
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert outcome.objective == pytest.approx(-1e18)


def test_a_bound_that_leans_on_a_far_limit_is_not_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpu_bridge.verify.trust.MOST_ENTRIES", 0)
    far = Problem.from_arrays(
        [-1.0, -1.0], [[1.0, 1.0]], row_upper=[np.inf], upper=[1e18, 3.5], integrality=[False, True]
    )
    outcome = gb.solve(far, method="highs")
    assert outcome.solution_status is SolutionStatus.FEASIBLE
    assert outcome.bound == -np.inf
    assert "'c0' is limited by 1e+18" in outcome.message
