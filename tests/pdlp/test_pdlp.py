"""The engine as a whole: known optima, awkward shapes, starts, a milestone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers import pdlp
from solvers.core.options import EngineOptions
from solvers.core.outcome import SolutionStatus, Start, StopReason
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.pdlp.settings import DEFAULT
from tests.cases import through
from tests.locations import DATA
from tests.pdlp.lps import random_lp, read_mps, solve_with_highs
from tests.pdlp.solving import assert_kkt, solve

INF = np.inf


NETLIB = {"afiro": -464.753142857, "adlittle": 225494.963162}


@pytest.mark.parametrize("name", NETLIB)
@pytest.mark.parametrize("presolve", [False, True])
@pytest.mark.parametrize("tolerance", [1e-4, 1e-6, 1e-8])
def test_netlib_models_reach_their_optima(name, presolve, tolerance):
    problem = read_mps(str(DATA / f"{name}.mps.gz"), presolve)
    outcome = solve(problem, tolerance=tolerance)
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert_kkt(problem, outcome, tolerance)
    assert outcome.objective == pytest.approx(NETLIB[name], rel=20 * tolerance)


@through("seed", range(8))
def test_random_problems_agree_with_highs(seed):
    problem = random_lp(seed, rows=40, columns=60)
    outcome = solve(problem, tolerance=1e-8)
    status, objective = solve_with_highs(problem)
    assert status == "kOptimal"
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert_kkt(problem, outcome, 1e-8)
    assert outcome.objective == pytest.approx(objective, rel=1e-6, abs=1e-6)


@settings(max_examples=40)
@given(
    seed=st.integers(0, 10_000),
    rows=st.integers(0, 12),
    columns=st.integers(0, 12),
    density=st.sampled_from([0.1, 0.5, 1.0]),
)
def test_any_small_problem_is_solved_to_optimality(seed, rows, columns, density):
    problem = random_lp(seed, rows, columns, density)
    outcome = solve(problem)
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert_kkt(problem, outcome, 1e-6)


@settings(max_examples=30)
@given(seed=st.integers(0, 10_000), limit=st.sampled_from([0, 1, 2, 150, 201]))
def test_a_proven_bound_is_never_above_the_optimum(seed, limit):
    problem = random_lp(seed, 8, 8)
    boxed = replace(
        problem,
        lower=np.maximum(problem.lower, -50.0),
        upper=np.minimum(problem.upper, 50.0),
    )
    status, optimum = solve_with_highs(boxed)
    assert status == "kOptimal"
    outcome = solve(boxed, tolerance=1e-10, iteration_limit=limit)
    if outcome.solution_status is not SolutionStatus.OPTIMAL:
        assert outcome.bound > -INF
        assert outcome.bound <= optimum + 1e-7 * (1.0 + abs(optimum))


SHAPES = {
    "no rows": (Problem.from_arrays([1.0, -1.0], upper=3.0), -3.0),
    "no columns": (Problem.from_arrays([], np.zeros((2, 0)), [-1.0, 0.0], [1.0, 0.0]), 0.0),
    "nothing at all": (Problem.from_arrays([]), 0.0),
    "only zeros": (Problem.from_arrays([2.0, 0.0], np.zeros((1, 2)), -INF, 1.0, lower=1.5), 3.0),
    "one of each": (Problem.from_arrays([1.0], [[2.0]], 3.0, INF), 1.5),
    "free column": (Problem.from_arrays([1.0], [[2.0]], 3.0, 5.0, lower=-INF), 1.5),
    "fixed column": (
        Problem.from_arrays([1.0, 1.0], [[1.0, 1.0]], 5.0, INF, lower=[2, 0], upper=[2, 9]),
        5.0,
    ),
    "free row": (Problem.from_arrays([1.0], [[2.0], [1.0]], [-INF, 1.0], [INF, INF]), 1.0),
    "ranged row": (Problem.from_arrays([-1.0, 0.0], [[1.0, 1.0]], 1.0, 2.0), -2.0),
    "zero row and column": (
        Problem.from_arrays(
            [1.0, 5.0, -1.0], [[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]], [2.0, -1.0], [INF, 1.0],
            upper=[INF, INF, 1e6],
        ),
        2.0 - 1e6,
    ),
    "no objective": (Problem.from_arrays([0.0, 0.0], [[1.0, 1.0]], 1.0, 1.0), 0.0),
    "far bounds": (Problem.from_arrays([-1.0, -1.0], [[1.0, 1.0]], -INF, 1e4, upper=1e9), -1e4),
}  # fmt: skip


@through("name", SHAPES)
def test_awkward_shapes(name):
    problem, optimum = SHAPES[name]
    outcome = solve(problem)
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert outcome.stop_reason is StopReason.CONVERGED
    assert outcome.objective == pytest.approx(optimum, rel=1e-5, abs=1e-5)
    assert outcome.x.shape == (problem.num_columns,)
    assert outcome.row_dual.shape == (problem.num_rows,)
    assert_kkt(problem, outcome, 1e-6)


def test_without_coefficients_infeasible_rows_and_endless_columns_are_told():
    infeasible = solve(Problem.from_arrays([1.0], np.zeros((2, 1)), [-1.0, -INF], [1.0, -2.0]))
    assert infeasible.solution_status is SolutionStatus.INFEASIBLE
    assert infeasible.dual_ray.tolist() == [0.0, -1.0]
    endless = solve(Problem.from_arrays([1.0, -1.0], np.zeros((0, 2))))
    assert endless.solution_status is SolutionStatus.UNBOUNDED
    assert endless.primal_ray.tolist() == [0.0, 1.0]
    assert endless.x.tolist() == [0.0, 0.0]


def test_warm_start_at_the_optimum_needs_no_iteration():
    problem = random_lp(6, 40, 60)
    cold = solve(problem, tolerance=1e-7)
    warm = solve(problem, Start(x=cold.x, row_dual=cold.row_dual), tolerance=1e-6)
    assert warm.solution_status is SolutionStatus.OPTIMAL
    assert warm.statistics["iterations"] == 0 < cold.statistics["iterations"]


def test_start_may_be_partly_unknown_and_out_of_bounds():
    problem = random_lp(7, 20, 30)
    x = np.full(30, np.nan)
    x[:10] = 1e3
    y = np.full(20, np.nan)
    assert solve(problem, Start(x=x, row_dual=y)).solution_status is SolutionStatus.OPTIMAL


def test_integrality_is_ignored():
    problem = replace(Problem.from_arrays([-1.0], [[2.0]], -INF, 3.0), integrality=np.array([True]))
    assert solve(problem).objective == pytest.approx(-1.5, rel=1e-5)


@pytest.mark.parametrize("spread", [1e-3, 1e6])
def test_badly_scaled_rows_and_columns(spread):
    problem = random_lp(15, 20, 30)
    generator = np.random.default_rng(15)
    rows, columns = (spread ** generator.uniform(0.0, 1.0, size) for size in (20, 30))
    scaled = Problem(
        problem.cost * columns,
        problem.matrix.multiply(rows[:, None]).multiply(columns[None, :]).tocsr(),
        problem.row_lower * rows,
        problem.row_upper * rows,
        problem.lower / columns,
        problem.upper / columns,
        problem.integrality,
    )
    outcome = solve(scaled, tolerance=1e-8)
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert outcome.objective == pytest.approx(solve_with_highs(scaled)[1], rel=1e-5, abs=1e-5)


def test_degenerate_assignment_problem():
    size = 8
    generator = np.random.default_rng(16)
    rows = np.zeros((2 * size, size * size))
    for i in range(size):
        rows[i, i * size : (i + 1) * size] = 1.0
        rows[size + i, i::size] = 1.0
    problem = Problem.from_arrays(generator.integers(1, 9, size * size), rows, 1.0, 1.0)
    outcome = solve(problem, tolerance=1e-8)
    assert outcome.objective == pytest.approx(solve_with_highs(problem)[1], rel=1e-6)


def test_memory_needed_covers_the_matrix_and_its_transpose():
    problem = random_lp(17, 50, 70)
    assert pdlp.memory_needed(problem) > 2 * 12 * problem.num_nonzeros + 8 * 20 * 50


def test_packed_entries_take_less_memory():
    problem = random_lp(17, 50, 70)
    signs = replace(problem, matrix=problem.matrix.sign())
    always = DEFAULT.changed(execution={"pack_from": 1})
    plain = pdlp.memory_needed(problem)
    assert pdlp.memory_needed(problem, packed=True) == plain  # too small to be packed
    two_bytes, one_byte = (
        pdlp.memory_needed(one, packed=True, settings=always) for one in (problem, signs)
    )
    assert one_byte < two_bytes < plain


def test_a_milestone_hands_out_a_point_once_and_the_solve_goes_on():
    problem = random_lp(41, 60, 90)
    handed = []
    options = EngineOptions(device="cpu", tolerance=1e-8)
    milestone = pdlp.Milestone(1e-3, handed.append)
    outcome = pdlp.solve(problem, options, Progress(600.0), milestone=milestone)
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert len(handed) == 1
    early = handed[0]
    assert early.solution_status is SolutionStatus.OPTIMAL
    assert early.statistics["iterations"] < outcome.statistics["iterations"]
    assert_kkt(problem, early, 1e-3)
    assert early.objective != outcome.objective
    without = solve(problem, tolerance=1e-8)
    assert np.array_equal(outcome.x, without.x)
