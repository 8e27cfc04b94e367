"""Parts of a start that are near are taken, and those that are farther off than nothing are not."""

from __future__ import annotations

import numpy as np
import pytest

from solvers import pdlp
from solvers.core.options import EngineOptions
from solvers.core.outcome import SolutionStatus, Start
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.pdlp.start import filtered
from tests.pdlp.lps import random_lp

OPTIONS = EngineOptions(device="cpu", tolerance=1e-6)
FAR = 1e4


def solved(problem: Problem, start: Start | None = None) -> pdlp.Outcome:
    outcome = pdlp.solve(problem, OPTIONS, Progress(), start)
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    return outcome


def noise(problem: Problem, size: float) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(1)
    sizes = problem.num_columns, problem.num_rows
    return tuple(size * generator.standard_normal(count) for count in sizes)  # type: ignore[return-value]


def kept(problem: Problem, start: Start) -> tuple[bool, bool]:
    """Return whether point and duals of a start are kept."""
    found = filtered(problem, start)
    assert found is not None
    assert found.x is None or found.x is start.x
    assert found.row_dual is None or found.row_dual is start.row_dual
    return found.x is not None, found.row_dual is not None


@pytest.mark.parametrize("seed", range(5))
def test_near_parts_are_kept_and_far_ones_are_not(seed: int) -> None:
    problem = random_lp(seed, rows=40, columns=60)
    outcome = solved(problem)
    (near_x, near_y), (far_x, far_y) = noise(problem, 1e-3), noise(problem, FAR)
    near_x, near_y = outcome.x + near_x, outcome.row_dual + near_y
    assert kept(problem, Start(x=near_x, row_dual=near_y)) == (True, True)
    assert kept(problem, Start(x=near_x, row_dual=far_y)) == (True, False)
    assert kept(problem, Start(x=far_x, row_dual=near_y)) == (False, True)
    assert kept(problem, Start(x=far_x, row_dual=far_y)) == (False, False)


def test_no_start_is_no_start() -> None:
    problem = random_lp(0, rows=5, columns=8)
    assert filtered(problem, None) is None
    assert kept(problem, Start()) == (False, False)


def homogeneous() -> Problem:
    """Return a problem whose rows all have sides of zero, so that zeros violate nothing."""
    A = [[1.0, -2.0, 0.5, 0.0], [0.0, 1.0, -1.0, 3.0]]
    return Problem.from_arrays([-1.0, 2.0, 1.0, 3.0], A, 0.0, 0.0, upper=[1e3, 1e4, 1e4, 1e4])


def test_where_zeros_violate_nothing_near_points_are_kept_all_the_same() -> None:
    problem = homogeneous()
    outcome = solved(problem)
    x = outcome.x * (1.0 + noise(problem, 1e-3)[0])
    assert kept(problem, Start(x=x, row_dual=outcome.row_dual)) == (True, True)
    assert kept(problem, Start(x=np.abs(noise(problem, FAR)[0])))[0] is False


def test_a_point_that_costs_more_than_a_feasible_one_at_hand_is_not_kept() -> None:
    problem = Problem.from_arrays([1.0, 1.0], [[1.0, 2.0]], -np.inf, 1e9)
    assert kept(problem, Start(x=np.array([1e6, 0.0])))[0] is False
    assert kept(problem, Start(row_dual=np.array([-1e6])))[1] is False  # no feasible one is so bad


def test_values_that_are_not_known_are_no_reason_to_drop_the_others() -> None:
    problem = Problem.from_arrays([1.0, 1.0], [[1.0, 0.0], [0.0, 1.0]], [3.0, 5.0])
    assert kept(problem, Start(x=np.array([3.0, np.nan])))[0] is True


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("parts", ["x", "y", "both"])
def test_a_far_start_takes_about_as_long_as_none(seed: int, parts: str) -> None:
    problem = random_lp(seed, rows=40, columns=60)
    x, y = noise(problem, FAR)
    start = Start(x=None if parts == "y" else x, row_dual=None if parts == "x" else y)
    least = solved(problem).statistics["iterations"]
    assert solved(problem, start).statistics["iterations"] <= 1.2 * least
