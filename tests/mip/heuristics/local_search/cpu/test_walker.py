"""The walker against enumeration, SciPy and its own promises."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from solvers.mip.heuristics.local_search.cpu.layout import BALANCED, FAST, JUMP, V1, V2
from solvers.mip.heuristics.local_search.cpu.walker import Walker
from solvers.mip.model import MipModel, is_feasible
from tests.cases import through
from tests.mip.heuristics.local_search.cpu.models import (
    INF,
    assignment,
    best_by_enumeration,
    knapsack,
    lot_sizing,
    model,
    random_model,
    set_cover,
)

PRESETS = {"fast": FAST, "balanced": BALANCED, "v1": V1, "v2": V2, "jump": JUMP}


def best_found(found: MipModel, preset: str, work: int, seed: int = 0) -> float:
    walker = Walker(found, PRESETS[preset], seed)
    best = INF
    for _ in range(20):
        report = walker.run(work // 20)
        if report.x is not None:
            assert report.objective < best
            assert is_feasible(found, report.x)
            best = report.objective
    return best


@through("preset", PRESETS)
@through("seed", range(3))
def test_activities_stay_those_of_the_point(preset, seed):
    found = random_model(seed, rows=30, columns=25)
    walker = Walker(found, PRESETS[preset], seed)
    for work in (100, 1000, 5000):
        walker.run(work)
        activity = found.activity(walker.x)
        scale = 1.0 + np.abs(activity).max()
        assert walker.moves > 0
        np.testing.assert_allclose(walker.activity, activity, atol=1e-9 * scale)
        outside = np.maximum(found.row_lower - activity, activity - found.row_upper)
        assert walker.num_violated == np.count_nonzero(outside > 5e-7)


@through("preset", PRESETS)
@through("seed", range(4))
def test_points_stay_within_bounds_and_whole(preset, seed):
    found = random_model(seed, rows=20, columns=15)
    walker = Walker(found, PRESETS[preset], seed)
    for _ in range(10):
        walker.run(500)
        assert np.all((walker.x >= found.lower) & (walker.x <= found.upper))
        assert np.array_equal(walker.x[found.integers], np.round(walker.x[found.integers]))


@through("preset", ["fast", "balanced", "v2", "jump"])
@through("seed", range(3))
def test_small_optima_are_reached(preset, seed):
    for found in (knapsack(seed), set_cover(seed)):
        assert best_found(found, preset, 2_000_000) == best_by_enumeration(found)


@pytest.mark.parametrize("preset", ["balanced", "v2"])
@pytest.mark.parametrize("seed", range(3))
def test_assignments_are_improved_by_exchanges(preset, seed):
    found, cost = assignment(seed)
    rows, columns = linear_sum_assignment(cost)
    assert best_found(found, preset, 5_000_000) == pytest.approx(cost[rows, columns].sum())


def test_chains_walk_on_balance_equations():
    found = lot_sizing()
    assert best_found(found, "balanced", 5_000_000) < INF


def test_lifts_keep_a_feasible_point_feasible_and_improve_it():
    found = model(
        [-3, -2, -1], [[2, 1, 1], [1, 3, 0]], row_upper=[10, 12], upper=8.0,
        integrality=[True, False, True],
    )  # fmt: skip
    walker = Walker(found, BALANCED, 0)
    assert walker.num_violated == 0
    report = walker.run(200)
    assert report.x is not None
    assert report.objective < -10
    assert is_feasible(found, report.x)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(sorted(PRESETS)), st.booleans())
def test_what_is_reported_is_feasible(seed, preset, feasible):
    found = random_model(seed, feasible=feasible)
    walker = Walker(found, PRESETS[preset], seed)
    best = INF
    for _ in range(5):
        report = walker.run(4000)
        assert np.isfinite(report.objective) == (report.x is not None)
        if report.x is not None:
            assert is_feasible(found, report.x)
            assert report.objective == found.objective_at(report.x) < best
            best = report.objective


@pytest.mark.parametrize("preset", PRESETS)
def test_a_seed_gives_one_walk(preset):
    found = random_model(3, rows=40, columns=30)
    runs = []
    for _ in range(2):
        walker = Walker(found, PRESETS[preset], 7)
        reports = [walker.run(3000) for _ in range(5)]
        runs.append((walker.x, [report.objective for report in reports], walker.moves))
    assert np.array_equal(runs[0][0], runs[1][0])
    assert runs[0][1:] == runs[1][1:]


def test_an_infeasible_model_ends_with_the_budget_and_without_a_claim():
    found = model([1, 1], [[2, 2]], [3], [3], upper=5.0, integrality=True)
    walker = Walker(found, BALANCED, 0)
    report = walker.run(100_000)
    assert report.x is None
    assert not report.done
    x, violated = walker.least_violated
    assert violated == 1
    assert not is_feasible(found, x)
    assert np.argmax(walker.weights) == 0
    assert walker.weights[0] > 1


def test_a_row_of_a_hundred_thousand_columns():
    columns = 100_000
    value = np.ones((1, columns))
    found = model(np.arange(1.0, columns + 1), value, 50, 50, upper=1.0, integrality=True)
    best = best_found(found, "balanced", 20_000_000)
    assert best < 50 * columns / 2


@pytest.mark.parametrize("whole", [False, True])
def test_a_long_equation_is_kept_by_the_column_that_depends_on_the_others(whole):
    rng = np.random.default_rng(0)
    size = 5000
    A = np.zeros((51, size + 1))
    A[0, :size], A[0, size] = rng.integers(1, 9, size), -1.0
    A[1 + np.arange(size) % 50, np.arange(size)] = 1.0
    found = model(
        np.append(np.zeros(size), 1.0), A, [0] + [3] * 50, [0] + [4] * 50,
        upper=np.append(np.ones(size), 1e5), integrality=[True] * size + [whole],
    )  # fmt: skip
    pivots = Walker(found, BALANCED, 0)._state.pivots
    assert list(pivots["place"]) == [size] + [-1] * 50
    assert pivots["value"][0] == -1.0
    assert best_found(found, "balanced", 2_000_000) < 51 * 4 * 9


def test_integers_without_bounds_walk_beyond_the_box():
    found = model(
        [0, 0], [[1, 0], [1, 1]], [5e7, 0], [INF, 0], lower=-INF, upper=INF, integrality=True
    )
    report = Walker(found, BALANCED, 0).run(100_000)
    assert report.x is not None
    assert report.x[0] >= 5e7
    assert report.done


@pytest.mark.parametrize("preset", PRESETS)
def test_odd_shapes(preset):
    empty = model([0.0, 0.0], None, upper=3.0, integrality=True)
    assert Walker(empty, PRESETS[preset], 0).run(1000).done
    one = model([-1.0], [[0.0], [2.0]], [-INF, 1], [INF, 7], upper=9.0, integrality=True)
    assert best_found(one, preset, 20_000) == -3.0
    fixed = model([1.0], [[1.0]], [2], lower=2.0, upper=2.0, integrality=True)
    assert best_found(fixed, preset, 20_000) == 2.0
    unbounded = model([-1.0, 1.0], [[1.0, -1.0]], [0], integrality=[False, True])
    assert best_found(unbounded, preset, 20_000) <= 0.0


def test_a_start_that_is_partly_known_is_completed():
    found = set_cover(1)
    walker = Walker(found, BALANCED, 0)
    start = np.full(found.num_columns, np.nan)
    start[:3] = 1.0
    walker.start(start)
    assert list(walker.x) == [1.0] * 3 + [0.0] * (found.num_columns - 3)


def test_the_cutoff_is_beaten_or_nothing_is_reported():
    found = set_cover(2)
    optimum = best_by_enumeration(found)
    assert Walker(found, BALANCED, 0).run(500_000, cutoff=optimum).x is None
    report = Walker(found, BALANCED, 0).run(500_000, cutoff=optimum + 1)
    assert report.objective == optimum


def test_weights_are_halved_and_not_lost():
    found = model([1, 1], [[2, 2]], [3], [3], upper=5.0, integrality=True)
    walker = Walker(found, V2, 0)
    walker._state.rows["lower_weight"] = walker._state.rows["upper_weight"] = 1e9 - 1
    walker.run(10_000)
    assert 1e8 < walker.weights[0] <= 1e9
