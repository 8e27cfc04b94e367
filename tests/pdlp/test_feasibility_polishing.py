"""Long solves that end at a feasible point near by: when it is tried, and what comes of it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from solvers import pdlp
from solvers.core.device import cpu
from solvers.core.lp_answer import LpErrors, judge
from solvers.core.options import EngineOptions
from solvers.core.outcome import Outcome, SolutionStatus, Start, StopReason
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.pdlp.feasibility_polishing import PolishingSchedule, UntilFeasible
from solvers.pdlp.settings import DEFAULT
from tests.cases import through
from tests.pdlp.lps import random_lp, solve_with_highs

TOLERANCE = 1e-4
OPTIONS = EngineOptions(device="cpu", threads=1, tolerance=TOLERANCE)
SETTINGS = DEFAULT.changed(
    polishing={"from_iterations": 1000, "share": 10.0},
    alternation={"iterations": None},
    shrinking={"enabled": False},
)
NEAR_BY = "A feasible point near by"


def statistics(primal: float, dual: float, gap: float) -> LpErrors:
    """Return figures with these three relative errors."""
    return LpErrors(primal, dual, gap / (1.0 - gap), 0.0, side_norm=0.0, cost_norm=0.0)


class Listener(Progress):
    """Keeps what is logged."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def log(self, line: str) -> None:
        self.lines.append(line)

    @property
    def tried(self) -> bool:
        """Whether the end came by a feasible point near by."""
        return any(NEAR_BY in line for line in self.lines)


@through(
    ("errors", "expected"),
    [
        ((1e-1, 1e-5, 1e-5), True),
        ((1e-5, 1e-1, 1e-5), True),
        ((1e-1, 1e-1, 1e-5), False),
        ((9e-4, 1e-5, 1e-5), False),
        ((1.1e-3, 1e-5, 1e-5), True),
        ((1e-1, 1e-5, 1e-3), False),
        ((1e-5, 1e-5, 1e-5), False),
        ((math.nan, 1e-5, 1e-5), False),
        ((1e-5, math.nan, 1e-5), False),
        ((1e-1, 1e-5, math.nan), False),
    ],
)
def test_a_try_is_due_where_one_residual_is_left(errors, expected) -> None:
    schedule = PolishingSchedule(SETTINGS, TOLERANCE, 0, pdlp.run)
    assert schedule.is_due(1000, statistics(*errors)) is expected
    assert not schedule.is_due(800, statistics(*errors))


def test_tighter_tolerances_begin_later() -> None:
    almost = statistics(1.0, 0.0, 0.0)
    assert not PolishingSchedule(SETTINGS, 1e-8, 0, pdlp.run).is_due(1800, almost)
    assert PolishingSchedule(SETTINGS, 1e-8, 0, pdlp.run).is_due(2000, almost)


def test_larger_problems_begin_later() -> None:
    almost = statistics(1.0, 0.0, 0.0)
    schedule = PolishingSchedule(SETTINGS, TOLERANCE, 2 * SETTINGS.polishing.entries, pdlp.run)
    assert not schedule.is_due(2800, almost)
    assert schedule.is_due(3000, almost)


def try_from(
    problem: Problem, x: np.ndarray, y: np.ndarray, iterations: int = 1000, **options: object
):
    """Try from a point as a solve would; return what came of it, and the iterations spent."""
    state = pdlp.prepare(problem, OPTIONS, cpu(), Progress(), Start(x, y), SETTINGS)
    schedule = PolishingSchedule(SETTINGS, TOLERANCE, 0, pdlp.run)
    found = schedule.polish(
        state, judge(problem, x, y), iterations, replace(OPTIONS, **options), Progress()
    )
    assert not schedule.is_due(iterations, statistics(1.0, 0.0, 0.0))
    assert schedule.is_due(round(1.5 * iterations), statistics(1.0, 0.0, 0.0))
    return found


def solved(problem: Problem) -> Outcome:
    """Return an answer to 1e-9."""
    outcome = pdlp.solve(problem, replace(OPTIONS, tolerance=1e-9), Progress())
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    return outcome


@pytest.mark.parametrize("seed", range(4))
def test_rows_that_do_not_hold_are_mended(seed) -> None:
    problem = random_lp(seed, 30, 40)
    problem = replace(problem, cost=1e-3 * problem.cost)  # so the gap bears the move
    answer = solved(problem)
    moved = answer.x + 1e-3 * np.random.default_rng(seed).standard_normal(40)
    before = judge(problem, moved, answer.row_dual)
    assert before.statistics.relative_primal > TOLERANCE
    found, spent = try_from(problem, moved, answer.row_dual)
    assert found is not None
    assert spent > 0
    assert judge(problem, found.x, found.row_dual).statistics.worst <= TOLERANCE
    np.testing.assert_array_equal(found.row_dual, before.row_dual)


@pytest.mark.parametrize("seed", range(4))
def test_duals_of_the_wrong_sign_are_mended(seed) -> None:
    problem = random_lp(seed, 30, 40)
    sides = ("row_lower", "row_upper", "lower", "upper")
    problem = replace(problem, **{name: 1e-3 * getattr(problem, name) for name in sides})
    answer = solved(problem)
    moved = answer.row_dual + 1e-3 * np.random.default_rng(seed).standard_normal(30)
    before = judge(problem, answer.x, moved)
    assert before.statistics.relative_dual > TOLERANCE
    found, spent = try_from(problem, answer.x, moved)
    assert found is not None
    assert spent > 0
    assert judge(problem, found.x, found.row_dual).statistics.worst <= TOLERANCE
    np.testing.assert_array_equal(found.x, before.x)


def test_a_point_that_would_cost_too_much_is_none() -> None:
    # x = 1 is feasible at a cost of 1000 only, while the point is at 0.999
    problem = Problem.from_arrays([0.0, 1e6], [[1.0, 1.0]], [1.0], upper=[0.999, 1.0])
    found, spent = try_from(problem, np.array([0.999, 0.0]), np.array([0.0]))
    assert found is None
    assert spent > 0


def test_the_iterations_of_a_try_are_limited() -> None:
    problem = random_lp(1, 30, 40)
    answer = solved(problem)
    limited, spent = try_from(problem, answer.x + 0.5, answer.row_dual, iteration_limit=7)
    assert limited is None
    assert spent == 7
    assert try_from(problem, answer.x + 0.5, answer.row_dual, iteration_limit=0)[1] == 0


EAGER = SETTINGS.changed(
    polishing={"from_iterations": 20, "beyond": 1.0, "growth": 1.05}, restart={"check_interval": 20}
)


@pytest.mark.parametrize("seed", range(6))
def test_a_solve_that_ends_so_has_the_optimum(seed) -> None:
    problem = random_lp(seed, rows=40, columns=60)
    problem = replace(problem, cost=1e-3 * problem.cost)  # so the gap bears the move
    listener = Listener()
    outcome = pdlp.solve(problem, OPTIONS, listener, settings=EAGER)
    assert listener.tried
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert outcome.stop_reason is StopReason.CONVERGED
    size = 1.0 + 2.0 * abs(outcome.objective)
    expected = solve_with_highs(problem)[1]
    assert outcome.objective == pytest.approx(expected, abs=10 * TOLERANCE * size)
    assert judge(problem, outcome.x, outcome.row_dual).statistics.worst <= TOLERANCE


def test_without_memory_for_a_try_the_solve_goes_on(monkeypatch) -> None:
    def exhausted(*arguments: object, **options: object) -> None:
        raise MemoryError

    problem = random_lp(0, rows=40, columns=60)
    answer = solved(problem)
    state = pdlp.prepare(problem, OPTIONS, cpu(), Progress(), None, SETTINGS)
    monkeypatch.setattr("solvers.pdlp.feasibility_polishing.prepare", exhausted)
    before = judge(problem, answer.x + 0.5, answer.row_dual)
    found = PolishingSchedule(SETTINGS, TOLERANCE, 0, pdlp.run).polish(
        state, before, 1000, OPTIONS, Progress()
    )
    assert found == (None, 0)


@pytest.mark.parametrize("limit", [100, 177, 200])
def test_tries_count_for_the_limit_on_iterations(limit) -> None:
    # measured so, the rows never hold, while duals and gap are good enough from the start
    norms = pdlp.Norms(sides=-1.0 + 1e-13, cost=1e9)
    problem = random_lp(2, 60, 90)
    problem = replace(problem, cost=1e-9 * problem.cost)
    options = replace(OPTIONS, iteration_limit=limit)
    outcome = pdlp.solve(problem, options, Progress(), settings=EAGER, norms=norms)
    assert outcome.stop_reason is StopReason.ITERATION_LIMIT
    assert outcome.statistics["iterations"] == limit


def test_polishing_leaves_room_on_the_gpu_where_its_caller_has_to() -> None:
    class InCompany(Progress):
        shares_gpu = True

    assert UntilFeasible(InCompany(), TOLERANCE).shares_gpu
    assert not UntilFeasible(Progress(), TOLERANCE).shares_gpu
