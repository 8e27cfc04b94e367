"""The dual pivots of the CPU core by themselves."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.problem import Problem
from solvers.simplex.core import Halt
from solvers.simplex.form import slack_form
from solvers.simplex.measure import flip_boxed, infeasibility
from solvers.simplex.pivots.core import SparseCore
from solvers.simplex.state import BASIC, LOWER, UPPER, SimplexState, slack_start
from tests.simplex.checks import INF, reference


def go_on() -> bool:
    return False


def feasible_dual(seed: int, rows: int = 30, columns: int = 40) -> Problem:
    """Positive costs, so that the slack basis is dual feasible, and rows that it violates."""
    rng = np.random.default_rng(seed)
    matrix = rng.integers(-3, 4, (rows, columns)) * (rng.random((rows, columns)) < 0.3)
    activity = matrix @ rng.integers(0, 4, columns)
    upper = np.where(rng.random(columns) < 0.5, 5.0, INF)
    return Problem.from_arrays(
        rng.integers(1, 9, columns), matrix, activity, activity + 3, upper=upper
    )


def started(problem: Problem) -> tuple[SparseCore, SimplexState]:
    form = slack_form(problem)
    core, state = SparseCore(form), slack_start(form)
    core.load(state)
    return core, state


def inverse_row_norms(core: SparseCore, m: int) -> np.ndarray:
    return np.array([np.sum(core.solve_transposed(unit) ** 2) for unit in np.eye(m)])


@pytest.mark.parametrize("seed", range(5))
def test_it_ends_optimal_with_duals_feasible_all_the_way(seed: int) -> None:
    problem = feasible_dual(seed)
    core, state = started(problem)
    halt = Halt.LIMIT
    while halt is Halt.LIMIT:
        halt = core.dual(5, go_on)
        core.store(state)
        assert infeasibility(state).dual <= 1e-9
    assert halt is Halt.DONE
    assert infeasibility(state).primal <= state.tolerance
    shifts = np.abs(state.cost - state.form.cost).sum()
    expected = reference(problem).objective
    assert state.form.cost @ state.x == pytest.approx(expected, rel=1e-9, abs=1e3 * shifts)


@pytest.mark.parametrize("seed", range(3))
def test_steepest_edge_weights_are_norms_of_rows_of_the_inverse(seed: int) -> None:
    core, state = started(feasible_dual(seed))
    assert core.dual(12, go_on) is Halt.LIMIT
    core.store(state)
    expected = inverse_row_norms(core, state.form.num_rows)
    np.testing.assert_allclose(state.edge_weight, np.maximum(expected, 1e-4), rtol=1e-9)


def test_one_pivot_flips_the_boxed_variables_it_passes() -> None:
    """x1 + x2 + x3 >= 2.5 with costs 1, 2, 3 in boxes of one: x1 and x2 flip, x3 enters."""
    problem = Problem.from_arrays([1, 2, 3], [[1, 1, 1]], [2.5], upper=1.0)
    core, state = started(problem)
    assert core.dual(10, go_on) is Halt.DONE
    core.store(state)
    assert state.iterations == 1
    assert core.bound_flips == 2
    np.testing.assert_array_equal(state.status, [UPPER, UPPER, BASIC, LOWER])
    np.testing.assert_allclose(state.x, [1.0, 1.0, 0.5, 2.5])


def test_no_pivot_where_all_flips_are_not_enough() -> None:
    problem = Problem.from_arrays([1, 2, 3], [[1, 1, 1]], [3.5], upper=1.0)
    core, _ = started(problem)
    assert core.dual(10, go_on) is Halt.NO_PIVOT
    assert core.pivot_row == 0
    np.testing.assert_allclose(np.abs(core.solve_transposed(np.ones(1))), [1.0])


def test_a_wrong_dual_start_is_made_right_by_flips_and_shifts() -> None:
    """The boxed variable flips, the other one's cost is shifted; both are stored as they are."""
    problem = Problem.from_arrays([-1.0, -1.0], [[1, 1]], row_upper=[9], upper=[2, INF])
    form = slack_form(problem)
    core, state = SparseCore(form), slack_start(form)
    state.status[0] = LOWER
    core.load(state)
    assert core.dual(10, go_on) is Halt.DONE
    core.store(state)
    np.testing.assert_array_equal(state.status, [UPPER, LOWER, BASIC])
    np.testing.assert_array_equal(state.cost, [-1.0, 0.0, 0.0])


def test_flip_boxed_moves_only_what_has_two_bounds() -> None:
    problem = Problem.from_arrays([-1.0, -1.0], [[1, 1]], row_upper=[9], upper=[2, INF])
    core, state = started(problem)
    state.status[0] = LOWER
    core.load(state)
    core.store(state)
    assert infeasibility(state).stuck == 1.0
    assert flip_boxed(state, 0.0) == 1
    np.testing.assert_array_equal(state.status[:2], [UPPER, LOWER])


def test_stopping_and_limits() -> None:
    problem = feasible_dual(1)
    core, state = started(problem)
    assert core.dual(3, go_on) is Halt.LIMIT
    core.store(state)
    assert state.iterations == 3
    assert core.dual(3, lambda: True) is Halt.STOPPED


def test_no_rows_and_nothing_at_all() -> None:
    for problem in (Problem.from_arrays([1.0, 2.0]), Problem.from_arrays([])):
        core, state = started(problem)
        assert core.dual(5, go_on) is Halt.DONE
        core.store(state)
        assert state.iterations == 0


def test_a_singular_basis_is_repaired_on_loading() -> None:
    problem = Problem.from_arrays([1, 1, 1], [[1, 2, 0], [2, 4, 1]], [1, 1], [5, 5])
    form = slack_form(problem)
    core, state = SparseCore(form), slack_start(form)
    state.basic[:] = [0, 1]
    state.status[:] = [BASIC, BASIC, LOWER, LOWER, LOWER]
    core.load(state)
    core.store(state)
    assert np.count_nonzero(state.status == BASIC) == 2
    assert np.count_nonzero(state.basic >= form.num_structurals) == 1
    np.testing.assert_array_equal(state.status[state.basic], BASIC)
    balance = problem.matrix @ (state.x[:3] * form.column_scale) - state.x[3:] / form.row_scale
    np.testing.assert_allclose(balance, 0.0, atol=1e-12)
