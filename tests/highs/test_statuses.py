"""Every kind of model gets the right status, by every algorithm and in both places."""

from __future__ import annotations

import numpy as np
import pytest

from gpu_bridge.files import read_problem
from solvers.core.lp_answer import proves_unbounded
from solvers.core.options import EngineOptions
from solvers.core.outcome import SolutionStatus, StopReason
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.highs import solve
from tests.cases import through
from tests.highs.kkt import assert_basis, assert_farkas, assert_improving_ray, assert_optimal_lp
from tests.locations import DATA
from tests.problems import INTEGER, LINEAR

SETTINGS = [
    EngineOptions(),
    EngineOptions(presolve=False),
    EngineOptions(lp_algorithm="simplex"),
    EngineOptions(lp_algorithm="ipm"),
    EngineOptions(lp_algorithm="pdlp"),
]


def label(options: EngineOptions) -> str:
    return options.lp_algorithm + ("" if options.presolve else " without presolve")


@pytest.mark.parametrize("options", SETTINGS, ids=label)
@through("case", LINEAR)
def test_linear(case, options):
    problem = case.problem
    outcome = solve(problem, options, Progress())
    assert outcome.solution_status is case.status
    assert outcome.stop_reason is StopReason.CONVERGED
    assert outcome.engine == "highs"
    if case.status is SolutionStatus.OPTIMAL:
        sign = -1 if problem.maximize else 1
        assert sign * outcome.objective == pytest.approx(case.objective, abs=1e-7)
        assert outcome.bound == pytest.approx(outcome.objective, abs=1e-7)
        assert_optimal_lp(problem, outcome)
        assert_basis(problem, outcome)
    if case.status is SolutionStatus.UNBOUNDED:
        assert_improving_ray(problem, outcome.primal_ray)
        assert np.all(problem.matrix @ outcome.x >= problem.row_lower - 1e-9)
    if case.status is SolutionStatus.INFEASIBLE and problem.num_columns:
        assert_farkas(problem, outcome.dual_ray)


@pytest.mark.parametrize("presolve", [True, False])
@through("case", INTEGER)
def test_integer(case, presolve):
    outcome = solve(case.problem, EngineOptions(presolve=presolve), Progress())
    assert outcome.solution_status is case.status
    assert outcome.stop_reason is StopReason.CONVERGED
    if case.status is SolutionStatus.OPTIMAL:
        sign = -1 if case.problem.maximize else 1
        assert sign * outcome.objective == pytest.approx(case.objective, abs=1e-9)
        assert outcome.bound == pytest.approx(outcome.objective, abs=1e-3)
        integers = outcome.x[case.problem.integrality]
        np.testing.assert_array_equal(integers, np.round(integers))
        assert outcome.row_dual is None
    if case.status is SolutionStatus.UNBOUNDED:
        assert_improving_ray(case.problem, outcome.primal_ray)


@through("case", [*LINEAR[:4], *LINEAR[-9:-1], *INTEGER[:2], INTEGER[-1]])
def test_a_child_says_the_same(case, in_child):
    outcome = solve(case.problem, EngineOptions(), Progress())
    assert outcome.solution_status is case.status
    if case.status is SolutionStatus.OPTIMAL:
        sign = -1 if case.problem.maximize else 1
        assert sign * outcome.objective == pytest.approx(case.objective, abs=1e-7)


@pytest.mark.parametrize("options", SETTINGS, ids=label)
def test_the_cost_of_a_fixed_column_does_not_hide_a_ray(options):
    problem = Problem.from_arrays(
        [1.0, 0.25, 1e9],
        [[0.0, 3000.0, 0.0], [-100.0, 0.0, -3e4]],
        [-9000.0, -2e6],
        lower=[-np.inf, -np.inf, -5.0],
        upper=[0.0, np.inf, -5.0],
    )
    outcome = solve(problem, options, Progress())
    assert outcome.solution_status is SolutionStatus.UNBOUNDED
    assert_improving_ray(problem, outcome.primal_ray)


@pytest.mark.parametrize("seed", [0, 2, 26, 28, 40])
def test_equations_that_only_rounding_contradicts_are_feasible(seed):
    rng = np.random.default_rng(seed)
    m, n = int(rng.integers(3, 7)), int(rng.integers(2, 6))
    matrix = 10.0 ** rng.uniform(-4, 4, (m, n)) * rng.choice([-1, 1], (m, n))
    matrix *= rng.random((m, n)) < 0.6
    side = matrix @ np.round(rng.uniform(0, 5, n))
    problem = Problem.from_arrays(np.ones(n), matrix, side, side)
    outcome = solve(problem, EngineOptions(tolerance=1e-9), Progress())
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert np.all(np.abs(matrix @ outcome.x - side) <= 1e-9 * np.maximum(1.0, np.abs(side)))


def test_infeasible_is_told_from_unbounded_with_integers():
    rows = [[1.0, -1.0, 0.0], [0.0, 0.0, 2.0]]
    problem = Problem.from_arrays([-1, -1, 0], rows, [0, 1], [np.inf, 1], integrality=True)
    assert solve(problem, EngineOptions(), Progress()).solution_status is SolutionStatus.INFEASIBLE
    problem = Problem.from_arrays([-1, -1], [[1, -1]], [0], integrality=True)
    outcome = solve(problem, EngineOptions(), Progress())
    assert outcome.solution_status is SolutionStatus.UNBOUNDED
    assert_improving_ray(problem, outcome.primal_ray)


def test_bounds_of_1e20_are_none():
    problem = Problem.from_arrays([-1, 1], [[1, 0]], [-1e20], [1e30], lower=-1e20, upper=1e20)
    outcome = solve(problem, EngineOptions(), Progress())
    assert outcome.solution_status is SolutionStatus.UNBOUNDED


def test_a_point_comes_without_a_vertex_when_crossover_is_off():
    problem = Problem.from_arrays([1, 1, 1], [[1, 1, 1]], [1], [1])
    for algorithm in ("ipm", "pdlp"):
        options = EngineOptions(lp_algorithm=algorithm, crossover="off", presolve=False)
        outcome = solve(problem, options, Progress())
        assert outcome.objective == pytest.approx(1.0, abs=1e-5)
        assert outcome.basis is None
        assert f"{algorithm}_iterations" in outcome.statistics


FEASIBLE_BUT_REFUSED = Problem.from_arrays(
    [2, -4],
    [[0, 0], [-4, 0], [0, 0], [0, 0]],
    [-np.inf, 4, -np.inf, -2],
    [np.inf, 9, np.inf, np.inf],
    lower=[-1, 4],
    upper=[1, 4],
)
ENDLESS = Problem.from_arrays([0, -2], [[0, 1]], lower=[-4, -np.inf])


@pytest.mark.parametrize("presolve", [True, False])
def test_interior_point_is_not_believed_where_it_errs(presolve):
    """HiGHS 1.15 calls the first infeasible and never ends on the second."""
    options = EngineOptions(lp_algorithm="ipm", presolve=presolve)
    outcome = solve(FEASIBLE_BUT_REFUSED, options, Progress())
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert outcome.objective == pytest.approx(-18.0)
    outcome = solve(ENDLESS, options, Progress(60.0))
    assert outcome.solution_status is SolutionStatus.UNBOUNDED
    assert outcome.stop_reason is StopReason.CONVERGED


MUTE = Problem.from_arrays(
    [1, 2],
    [[0, 2], [1, 0], [2, 2]],
    [-np.inf, -6, -np.inf],
    [2, 0, np.inf],
    lower=-np.inf,
    upper=[-1, -4],
)


@pytest.mark.parametrize("presolve", [True, False])
@pytest.mark.parametrize("algorithm", ["auto", "simplex", "ipm"])
def test_simplex_that_ends_without_a_word_is_asked_again(algorithm, presolve):
    """HiGHS 1.15 returns the status "unknown" here."""
    options = EngineOptions(lp_algorithm=algorithm, presolve=presolve)
    outcome = solve(MUTE, options, Progress())
    assert outcome.solution_status is SolutionStatus.UNBOUNDED
    assert_improving_ray(MUTE, outcome.primal_ray)


@pytest.mark.parametrize("presolve", [True, False])
def test_the_drop_threshold_of_highs_is_left_alone_without_tiny_entries(presolve):
    # With small_matrix_value at 1e-12 HiGHS 1.15 ends this infeasible model as "unknown".
    path = DATA / "klein1.mps.gz"
    outcome = solve(read_problem(path), EngineOptions(presolve=presolve), Progress())
    assert outcome.solution_status is SolutionStatus.INFEASIBLE


@through("seed", range(40))
def test_units_make_no_difference_to_unbounded_models(seed: int) -> None:
    rng = np.random.default_rng(seed)
    m, n = int(rng.integers(2, 7)), int(rng.integers(2, 8))
    A = np.round(rng.standard_normal((m, n)) * 3) * (rng.random((m, n)) < 0.7)
    d, x = np.append(1.0, np.round(rng.random(n - 1) * 3)), np.round(rng.random(n) * 4)
    cost = np.round(rng.standard_normal(n) * 5)
    cost = np.where(d > 0, cost - (cost @ d + 1.0) / (d @ d) * d, cost) if cost @ d >= 0 else cost
    rows = 2.0 ** rng.integers(-16, 20, m)
    columns = 2.0 ** rng.integers(-16, 20, n)
    problem = Problem.from_arrays(
        cost * columns,
        rows[:, None] * A * columns,
        np.where(A @ d >= 0, rows * (A @ x), -np.inf),
        np.where(A @ d <= 0, rows * (A @ x), np.inf),
    )
    outcome = solve(problem, EngineOptions(), Progress())
    assert outcome.solution_status is SolutionStatus.UNBOUNDED
    assert proves_unbounded(problem, outcome.primal_ray)


@pytest.mark.parametrize("trace", [1e-13, 1e-20, 1e-26])
@pytest.mark.parametrize("presolve", [True, False])
def test_entries_that_highs_would_drop_hide_no_direction(trace: float, presolve: bool) -> None:
    A = np.array([[1.0, 1.0], [1.0, trace]])
    problem = Problem.from_arrays([-1.0, -1.0], A, [-1.0, -1.0], [np.inf, np.inf])
    outcome = solve(problem, EngineOptions(presolve=presolve), Progress())
    assert outcome.solution_status is SolutionStatus.UNBOUNDED
    assert proves_unbounded(problem, outcome.primal_ray)


@pytest.mark.parametrize("presolve", [True, False])
@pytest.mark.parametrize(
    ("side", "status"),
    [(2.5e-9, SolutionStatus.OPTIMAL), (1.0, SolutionStatus.INFEASIBLE)],
)
def test_a_row_without_coefficients_does_no_harm(
    side: float, status: SolutionStatus, presolve: bool
) -> None:
    problem = Problem.from_arrays([0.0], [[0.0]], side, side, lower=-1e-25, upper=-1e-25)
    outcome = solve(problem, EngineOptions(presolve=presolve), Progress())
    assert outcome.solution_status is status
