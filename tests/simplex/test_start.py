"""First states and perturbed costs."""

from __future__ import annotations

import numpy as np

from solvers.core.outcome import Basis, BasisStatus, Start
from solvers.core.problem import Problem
from solvers.simplex.phases import BASE, perturbed_costs
from solvers.simplex.state import (
    BASIC,
    LOWER,
    UPPER,
    ZERO,
    fitted_status,
    flip_boxed,
    infeasibility,
    slack_form,
    slack_start,
    start_state,
)
from tests.cases import through
from tests.simplex.checks import INF, random_lp


def test_statuses_without_their_bound_are_changed() -> None:
    lower = np.array([-INF, 0.0, -INF, 1.0, 0.0])
    upper = np.array([5.0, INF, INF, 1.0, 4.0])
    cost = np.array([1.0, 1.0, 1.0, -1.0, -1.0])
    status = np.array([LOWER, UPPER, LOWER, UPPER, BasisStatus.NONBASIC], dtype=np.int8)
    fitted = fitted_status(lower, upper, cost, status)
    np.testing.assert_array_equal(fitted, [UPPER, LOWER, ZERO, LOWER, UPPER])


def test_statuses_that_fit_stay() -> None:
    lower, upper = np.array([0.0, 0.0, -INF]), np.array([4.0, 4.0, INF])
    status = np.array([UPPER, BASIC, ZERO], dtype=np.int8)
    np.testing.assert_array_equal(fitted_status(lower, upper, np.ones(3), status), status)


@through("seed", range(8))
def test_a_start_has_as_many_basics_as_rows(seed: int) -> None:
    form = slack_form(random_lp(seed, 9, 12))
    rng = np.random.default_rng(seed)
    basis = Basis(rng.integers(0, 5, 12).astype(np.int8), rng.integers(0, 5, 9).astype(np.int8))
    for start in (None, Start(basis=basis), Start(x=rng.integers(-3, 4, 12).astype(float))):
        state = start_state(form, start)
        assert state.basic.shape == (9,)
        np.testing.assert_array_equal(np.sort(state.basic), np.flatnonzero(state.status == BASIC))


def test_a_point_makes_what_lies_between_bounds_basic() -> None:
    problem = Problem.from_arrays([1, 1, 1], [[1, 1, 1], [1, 0, 2]], [2, 0], [2, 9], upper=2.0)
    state = start_state(slack_form(problem), Start(x=np.array([0.0, 2.0, 0.0])))
    np.testing.assert_array_equal(state.status[:3], [LOWER, UPPER, LOWER])
    state = start_state(slack_form(problem), Start(x=np.array([1.0, 1.0, 0.0])))
    np.testing.assert_array_equal(state.status[:3], [BASIC, BASIC, LOWER])


def test_perturbed_costs_keep_duals_feasible() -> None:
    """Dearer at a lower bound, cheaper at an upper one, by the sign of the cost in a box."""
    problem = Problem.from_arrays(
        [1.0, 1.0, 2.0, -2.0, 3.0, 1.0],
        np.ones((1, 6)),
        [0.0],
        lower=[0, -INF, 0, 0, -INF, 2],
        upper=[INF, 0, 1, 1, INF, 2],
    )
    state = slack_start(slack_form(problem))
    change = perturbed_costs(state, seed=0) - state.cost
    np.testing.assert_array_equal(np.sign(change[:6]), [1, -1, 1, -1, 0, 0])
    assert np.all(np.abs(change) <= 2 * BASE * 3.0 * (1.0 + np.abs(state.cost)))
    np.testing.assert_array_equal(change, perturbed_costs(state, seed=0) - state.cost)
    assert np.any(change != perturbed_costs(state, seed=1) - state.cost)


def test_costs_of_zero_are_perturbed_too() -> None:
    state = slack_start(slack_form(Problem.from_arrays([0.0, 0.0], [[1, 1]], [1])))
    assert np.all(perturbed_costs(state, 0)[:2] >= BASE)


def test_flip_boxed_moves_only_what_has_two_bounds() -> None:
    problem = Problem.from_arrays([-1.0, -1.0], [[1, 1]], row_upper=[9], upper=[2, INF])
    state = slack_start(slack_form(problem))
    state.status[0] = LOWER
    assert infeasibility(state).stuck == 1.0
    assert flip_boxed(state, 0.0) == 1
    np.testing.assert_array_equal(state.status[:2], [UPPER, LOWER])
