"""The primal pivots of the CPU core by themselves."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.problem import Problem
from solvers.simplex.core import Halt
from solvers.simplex.form import slack_form
from solvers.simplex.measure import bound_violation, infeasibility
from solvers.simplex.pivots.core import SparseCore
from solvers.simplex.state import BASIC, LOWER, UPPER, SimplexState, slack_start
from tests.simplex.checks import INF, reference


def go_on() -> bool:
    return False


def packing(seed: int, rows: int = 25, columns: int = 40) -> Problem:
    rng = np.random.default_rng(seed)
    matrix = rng.integers(0, 4, (rows, columns)) * (rng.random((rows, columns)) < 0.4) + 0.0
    upper = np.where(rng.random(columns) < 0.5, 2.0, 50.0)
    return Problem.from_arrays(
        -rng.integers(1, 9, columns), matrix, row_upper=rng.integers(3, 20, rows), upper=upper
    )


def started(problem: Problem) -> tuple[SparseCore, SimplexState]:
    """Start from the slack basis with every column at its lower bound."""
    form = slack_form(problem)
    core, state = SparseCore(form), slack_start(form)
    at_lower = (state.status == UPPER) & np.isfinite(state.lower)
    state.status[at_lower] = LOWER
    core.load(state)
    return core, state


@pytest.mark.parametrize("seed", range(5))
def test_from_a_feasible_point_it_stays_feasible_and_descends(seed: int) -> None:
    problem = packing(seed)
    core, state = started(problem)
    core.store(state)
    halt, objective = Halt.LIMIT, state.form.cost @ state.x
    while halt is Halt.LIMIT:
        halt = core.primal(3, go_on)
        core.store(state)
        assert infeasibility(state).primal <= state.tolerance
        assert state.form.cost @ state.x <= objective + 1e-9
        objective = state.form.cost @ state.x
    assert halt is Halt.DONE
    assert infeasibility(state).dual <= state.tolerance
    assert objective == pytest.approx(reference(problem).objective, rel=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_the_first_phase_finds_a_feasible_point(seed: int) -> None:
    rng = np.random.default_rng(seed)
    matrix = rng.integers(-3, 4, (20, 30)) * (rng.random((20, 30)) < 0.4) + 0.0
    activity = matrix @ rng.integers(-2, 3, 30)
    problem = Problem.from_arrays(
        rng.integers(-3, 4, 30), matrix, activity - 1, activity + 1, lower=-4.0, upper=4.0
    )
    core, state = started(problem)
    core.store(state)
    assert bound_violation(state).max() > 1.0
    assert core.primal(10_000, go_on) is Halt.DONE
    core.store(state)
    assert infeasibility(state).primal <= state.tolerance
    assert state.form.cost @ state.x == pytest.approx(reference(problem).objective, rel=1e-9)


def test_the_first_phase_ends_at_the_least_violation() -> None:
    """x <= 2 and x >= 3 at once: the sum of violations cannot be less than one."""
    problem = Problem.from_arrays([0.0], [[1.0], [1.0]], [3.0, -INF], [INF, 2.0], upper=9.0)
    core, state = started(problem)
    assert core.primal(100, go_on) is Halt.DONE
    core.store(state)
    assert bound_violation(state).sum() == pytest.approx(1.0)


def test_a_step_to_the_other_bound_is_no_pivot() -> None:
    problem = Problem.from_arrays([-1.0, 1.0], [[1, 1]], row_upper=[9], upper=[2, INF])
    core, state = started(problem)
    assert core.primal(10, go_on) is Halt.DONE
    core.store(state)
    np.testing.assert_array_equal(state.status, [UPPER, LOWER, BASIC])
    assert state.iterations == 1


def test_an_endless_step_names_its_column() -> None:
    problem = Problem.from_arrays([0.0, -1.0], [[1.0, -1.0]], row_upper=[4.0])
    core, _ = started(problem)
    assert core.primal(10, go_on) is Halt.NO_PIVOT
    assert core.pivot_column == 1
    assert core.pivot_row == -1


def test_free_variables_enter_and_stay() -> None:
    problem = Problem.from_arrays(
        [1.0, 0.0], [[1, 1], [1, -1]], [2, 0], [INF, INF], lower=-INF, upper=INF
    )
    core, state = started(problem)
    assert core.primal(10, go_on) is Halt.DONE
    core.store(state)
    np.testing.assert_allclose(state.x[:2], [1.0, 1.0])
    np.testing.assert_array_equal(state.status[:2], BASIC)


def test_degenerate_corners_are_left() -> None:
    """Many rows through the origin, all of which block the first steps."""
    rng = np.random.default_rng(0)
    matrix = np.vstack([rng.integers(-2, 3, (60, 12)), np.ones((1, 12))])
    row_upper = np.concatenate([np.zeros(60), [10.0]])
    problem = Problem.from_arrays(-rng.random(12), matrix, row_upper=row_upper)
    core, state = started(problem)
    assert core.primal(5_000, go_on) is Halt.DONE
    core.store(state)
    assert state.form.cost @ state.x == pytest.approx(reference(problem).objective, abs=1e-4)
