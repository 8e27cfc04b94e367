"""Annealing over groups finds what single steps do not, and keeps the groups on its way."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.mip.heuristics.annealing.group_annealing import SwapMoves
from solvers.mip.heuristics.annealing.groups import find_groups
from solvers.mip.heuristics.annealing.state import ENERGY, MOVES
from solvers.mip.heuristics.local_search.cpu.walk import Walk
from solvers.mip.model import is_feasible
from solvers.mip.portfolio.budget import Budget
from solvers.native.mip_heuristics_annealing import anneal, sum_up
from tests.mip.heuristics.annealing.squares import placing
from tests.mip.inference.domain.models import model_of


def search(model, seed=0, work=2e8):
    """Run a search; return it, what it submitted and what was nearly feasible."""
    points, infeasible_points = [], []

    def submit(x, source):
        assert source == "swap moves"
        points.append(x.copy())
        return True

    groups = find_groups(model)
    assert groups is not None
    found = SwapMoves(model, groups, submit, lambda x, v: infeasible_points.append((x, v)), seed)
    found.run(Budget(work=work))
    return found, points, infeasible_points


@pytest.mark.parametrize(("size", "sums"), [(10, 2), (20, 4), (25, 6)])
def test_numbers_are_placed(size, sums):
    model = placing(size, sums, seed=1)
    found, points, _ = search(model)
    assert found.is_over
    assert len(points) == 1
    assert is_feasible(model, points[0])


def test_a_walk_in_single_steps_finds_none_of_these():
    model, submitted = placing(25, 6, seed=1), []
    walk = Walk(model, lambda x, source: bool(submitted.append(x)), 0)
    walk.run(Budget(work=2e7, stop=lambda: bool(submitted)))
    assert not submitted


def test_the_same_seed_takes_the_same_path():
    model = placing(20, 4, seed=2)
    first, second = search(model, seed=3), search(model, seed=3)
    assert first[0].moves == second[0].moves
    np.testing.assert_array_equal(first[1][0], second[1][0])


def test_turns_make_no_difference_to_the_path():
    model = placing(20, 4, seed=2)
    whole, points, _ = search(model, seed=3)
    groups, pieces = find_groups(model), []
    assert groups is not None
    parts = SwapMoves(model, groups, lambda x, s: bool(pieces.append(x)), lambda x, v: None, 3)
    for _ in range(10_000):
        if parts.is_over:
            break
        parts.run(Budget(work=3e4))
    assert parts.moves == whole.moves
    np.testing.assert_array_equal(pieces[0], points[0])


def test_what_is_nearly_feasible_keeps_the_groups():
    model = placing(8, 2, seed=0)
    odd = model_of(
        np.zeros(64),
        np.vstack([model.problem.matrix.toarray(), 2.0 * np.arange(64.0)[None, :]]),
        np.r_[model.row_lower, 101.0],
        np.r_[model.row_upper, 101.0],
        lower=0.0,
        upper=1.0,
        integrality=True,
    )  # a sum of even numbers is not odd
    found, points, infeasible_points = search(odd, work=2e6)
    assert not points
    assert not found.is_over
    assert infeasible_points
    for x, violated in infeasible_points:
        activity = odd.activity(x)
        np.testing.assert_array_equal(activity[:8], 1.0)
        assert violated == np.count_nonzero(np.abs(activity - odd.row_lower) > 1e-6) > 0


def test_the_violation_that_is_kept_up_to_date_is_that_of_the_point():
    model = placing(12, 3, seed=4)
    groups = find_groups(model)
    assert groups is not None
    found = SwapMoves(model, groups, lambda x, source: True, lambda x, v: None, 0)
    found._begin()
    state = found._state
    sum_up(state)
    anneal(state, 3000, 1.0, 0.5, -1.0)  # hot, and not to end at any point
    assert state.numbers[MOVES] > 100
    kept, activity = float(state.numbers[ENERGY]), state.activity.copy()
    holder = state.holder.copy()
    sum_up(state)
    assert kept == pytest.approx(float(state.numbers[ENERGY]), abs=1e-8)
    np.testing.assert_allclose(activity, state.activity, atol=1e-8)
    np.testing.assert_array_equal(holder, state.holder)


def test_a_start_without_violation_is_a_point():
    matrix = np.kron(np.eye(5), np.ones(3))
    model = model_of(np.zeros(15), matrix, 1.0, 1.0, lower=0.0, upper=1.0, integrality=True)
    found, points, _ = search(model)
    assert found.is_over
    assert found.moves < 1000
    assert is_feasible(model, points[0])


def test_other_columns_stay_at_their_bound_next_to_zero():
    # ten groups of two, and a column from 2 to 5 that is not in any
    matrix = np.zeros((11, 21))
    matrix[:10, :20] = np.kron(np.eye(10), np.ones(2))
    matrix[10] = np.r_[np.tile([0.0, 1.0], 10), 1.0]
    side = np.r_[np.ones(10), 6.0]
    model = model_of(
        np.zeros(21),
        matrix,
        side,
        side,
        lower=np.r_[np.zeros(20), 2.0],
        upper=np.r_[np.ones(20), 5.0],
        integrality=True,
    )
    _, points, _ = search(model)
    assert points[0][20] == 2.0
    assert is_feasible(model, points[0])
