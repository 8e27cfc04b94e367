"""The projection's linear program against the distance it is to minimise."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from solvers.core.problem import Problem
from solvers.mip.heuristics.feasibility_pump.projection import Augmented
from solvers.mip.model import MipModel
from tests.mip.heuristics.feasibility_pump.cases import knapsack, random_mip
from tests.pdlp.lps import solve_with_highs


def as_problem(augmented: Augmented, request) -> Problem:
    names = ("cost", "lower", "upper", "row_lower", "row_upper")
    return dataclasses.replace(
        augmented.problem, **{name: getattr(request, name) for name in names}, offset=0.0
    )


def split_distance(model: MipModel, rounded) -> Problem:
    """Return the same projection with two columns for each distance, another formulation."""
    n, m = model.num_columns, model.num_rows
    k = model.integers.size
    A = np.zeros((m + k, n + 2 * k))
    A[:m, :n] = model.problem.matrix.toarray()
    for place, j in enumerate(model.integers):
        A[m + place, j] = 1.0
        A[m + place, n + place] = -1.0
        A[m + place, n + k + place] = 1.0
    value = rounded[model.integers]
    return Problem(
        np.concatenate([np.zeros(n), np.ones(2 * k)]),
        A,
        np.concatenate([model.row_lower, value]),
        np.concatenate([model.row_upper, value]),
        np.concatenate([model.lower, np.zeros(2 * k)]),
        np.concatenate([model.upper, np.full(2 * k, np.inf)]),
        np.zeros(n + 2 * k, bool),
    )


def constant(model: MipModel, rounded, active) -> float:
    """Return what the distance has beside its linear part: the columns at their bounds."""
    low = active & (rounded <= model.lower)
    high = active & ~low & (rounded >= model.upper)
    return float(model.upper[high].sum() - model.lower[low].sum())


@pytest.mark.parametrize("seed", range(6))
def test_a_projection_minimises_the_distance_of_the_integers(seed):
    model = random_mip(seed, 12, 16)
    augmented = Augmented.of(model)
    generator = np.random.default_rng(seed)
    rounded = model.rounded(generator.uniform(-4.0, 6.0, model.num_columns))
    request = augmented.projection(rounded, augmented.movable, 0.0, np.inf)
    status, found = solve_with_highs(as_problem(augmented, request))
    other, expected = solve_with_highs(split_distance(model, rounded))
    assert status == other == "kOptimal"
    distance = found + constant(model, rounded, augmented.movable)
    assert distance == pytest.approx(expected, abs=1e-6)


def test_only_active_columns_count():
    model = random_mip(3, 12, 16)
    augmented = Augmented.of(model)
    request = augmented.projection(model.rounded(model.upper), augmented.binary, 0.0, np.inf)
    n = model.num_columns
    assert not request.cost[:n][~augmented.binary].any()
    assert np.abs(request.cost[:n][augmented.binary]).min() == 1.0
    assert not request.cost[n:].any()
    assert not request.upper[n:].any()
    assert np.isinf(request.row_lower[model.num_rows :]).all()


def test_the_cutoff_is_a_row():
    model = knapsack(0, 10)
    augmented = Augmented.of(model)
    zero = np.zeros(model.num_columns)
    open_status, nearest = solve_with_highs(
        as_problem(augmented, augmented.projection(zero, augmented.movable, 0.0, np.inf))
    )
    target = 0.5 * model.cost.sum() * 0.5
    request = augmented.projection(zero, augmented.movable, 0.0, target)
    status, farther = solve_with_highs(as_problem(augmented, request))
    assert (open_status, status) == ("kOptimal", "kOptimal")
    assert nearest == 0.0
    assert farther > 0.0
    assert request.row_upper[model.num_rows] == target


def test_alpha_mixes_objective_and_distance():
    model = knapsack(1, 12)
    augmented = Augmented.of(model)
    zero, active = np.zeros(model.num_columns), augmented.movable
    all_cost = augmented.projection(zero, active, 1.0, np.inf).cost
    no_cost = augmented.projection(zero, active, 0.0, np.inf).cost
    np.testing.assert_allclose(np.linalg.norm(all_cost), np.linalg.norm(no_cost))
    np.testing.assert_allclose(all_cost / all_cost[0], model.cost / model.cost[0])
    np.testing.assert_allclose(
        augmented.projection(zero, active, 0.25, np.inf).cost, 0.25 * all_cost + 0.75 * no_cost
    )


def test_a_model_without_objective_has_no_cutoff_row():
    model = MipModel.of(Problem.from_arrays([0.0, 0.0], [[1.0, 1.0]], 1.0, 1.0, integrality=True))
    augmented = Augmented.of(model)
    assert not augmented.has_cutoff
    assert augmented.problem.num_rows == 1 + 2 * 2
    request = augmented.projection(np.array([3.0, 0.0]), augmented.movable, 0.5, np.inf)
    np.testing.assert_array_equal(request.cost, [0.0, 0.5, 0.5, 0.0])
    np.testing.assert_array_equal(request.upper[2:], [np.inf, 0.0])


def test_columns_of_width_one_need_no_distance_of_their_own():
    model = MipModel.of(
        Problem.from_arrays(
            [1.0, 1.0, 1.0],
            [[1.0, 1.0, 1.0]],
            0.0,
            9.0,
            lower=[3.0, 0.0, 2.0],
            upper=[4.0, 2.0, 2.0],
            integrality=True,
        )
    )
    augmented = Augmented.of(model)
    np.testing.assert_array_equal(augmented.general, [1])
    np.testing.assert_array_equal(augmented.binary, [True, False, False])
    np.testing.assert_array_equal(augmented.movable, [True, True, False])


def test_a_start_has_the_distances_and_scaled_duals():
    model = random_mip(2, 8, 12)
    augmented = Augmented.of(model)
    x = np.clip(np.full(model.num_columns, 1.5), model.lower, model.upper)
    rounded = model.rounded(x)
    start, y = augmented.start(x, np.ones(model.num_rows), rounded, 0.5)
    np.testing.assert_array_equal(start[: model.num_columns], x)
    np.testing.assert_allclose(start[model.num_columns :], 0.5)
    np.testing.assert_array_equal(y[: model.num_rows], 0.5)
    assert not y[model.num_rows :].any()
    assert (start.size, y.size) == (augmented.problem.num_columns, augmented.problem.num_rows)
