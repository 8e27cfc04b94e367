"""How many walkers there are, who starts again, and how long slices are: pure functions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solvers.core.device import Device, cpu
from solvers.mip.heuristics.local_search.fleet import (
    CPU_WALKERS,
    FIRST_STEPS,
    MOST_STEPS,
    WARP_LADDER,
    plan_for,
    steps_for,
)
from solvers.mip.heuristics.local_search.grid_wide import suits_grid
from solvers.mip.heuristics.local_search.kernels.walk import NONE, RECORD, Field
from solvers.mip.heuristics.local_search.layout import (
    SAMPLED_ROWS,
    Layout,
    bytes_per_walker,
    first_records,
    make_state,
)
from solvers.mip.heuristics.local_search.restarts import (
    FOLLOW,
    PATIENCES,
    Lives,
    Places,
    first_origins,
    gather_points,
    ranking,
    restarts,
)
from solvers.mip.solutions.incumbents import CAPACITY
from tests.mip.heuristics.local_search.cases import CASES

GPU = Device("cuda", "pretended", memory_total=8 << 30, memory_free=8 << 30)
LAYOUT = Layout.of(CASES["mixed"](), wide=True)


def records_of(*rows: tuple[float, float, float, float]) -> np.ndarray:
    records = np.zeros((len(rows), RECORD))
    fields = (Field.VIOLATED, Field.WEIGHTED, Field.OBJECTIVE, Field.BEST)
    for field, column in zip(fields, np.array(rows).T, strict=True):
        records[:, field] = column
    return records


def test_memory_of_a_walker_is_what_its_arrays_take():
    state = make_state(LAYOUT, cpu(), 3, 0)
    arrays = [value for value in vars(state).values() if isinstance(value, np.ndarray)]
    assert sum(array.nbytes for array in arrays) == 3 * bytes_per_walker(LAYOUT)


def test_small_models_get_the_whole_ladder():
    plan = plan_for(LAYOUT, GPU)
    assert (plan.kernel, plan.ladder, plan.first) == ("walk", WARP_LADDER, 1056)
    assert "4224 warp walkers" in str(plan)


def test_memory_shortens_the_ladder():
    size = bytes_per_walker(LAYOUT)
    tight = replace(GPU, memory_free=4 * 600 * size)
    assert plan_for(LAYOUT, tight).ladder == (132, 264, 528)
    assert plan_for(LAYOUT, replace(GPU, memory_free=4 * 50 * size)).ladder == (50,)
    assert plan_for(LAYOUT, replace(GPU, memory_free=4 * 50)).ladder == ()


def test_a_full_memory_halves_the_plan_until_nothing_is_left():
    plan = plan_for(LAYOUT, GPU)
    tops = []
    while plan.ladder:
        tops.append(plan.ladder[-1])
        assert plan.first <= plan.ladder[-1]
        plan = plan.halved()
    assert tops == [4224, 2112, 1056, 528, 264, 132, 66, 33, 16, 8, 4, 2, 1]


def test_the_whole_gpu_walks_where_lines_are_long_or_state_is_large():
    dense = replace(LAYOUT, by_row=replace(LAYOUT.by_row, data=np.zeros(40 * 300)))
    assert suits_grid(dense)
    assert suits_grid(replace(LAYOUT, rows=600_000))
    assert not suits_grid(LAYOUT)


def test_the_cpu_gets_a_few():
    assert plan_for(LAYOUT, cpu()).ladder == (CPU_WALKERS,)


def test_parameters_differ_and_half_a_dozen_of_them_are_drawn():
    records = first_records(LAYOUT, 400, 7)
    assert set(records[:, Field.ROWS]) == set(map(float, SAMPLED_ROWS))
    assert records[:, Field.JUMP].mean() == 0.5
    assert np.array_equal(records[:, Field.OBJECTIVE_WEIGHT], 1.0 - records[:, Field.JUMP])
    assert np.array_equal(records, first_records(LAYOUT, 400, 7))
    assert not np.array_equal(records, first_records(LAYOUT, 400, 8))


def test_ranking_prefers_points_then_few_violated_rows_then_little_weight():
    records = records_of(
        (3, 1.0, 0.0, NONE),
        (2, 9.0, 0.0, NONE),
        (2, 5.0, 7.0, NONE),
        (2, 5.0, 6.0, NONE),
        (8, 1.0, 0.0, 40.0),
        (9, 1.0, 0.0, 30.0),
    )
    assert ranking(records).tolist() == [5, 4, 3, 2, 1, 0]


def test_the_bottom_quarter_starts_again_from_the_top_tenth_or_points():
    rng = np.random.default_rng(0)
    walkers = 200
    records = records_of(*((float(v), 0.0, 0.0, NONE) for v in rng.permutation(walkers)))
    origins, weights, shares = restarts(records, 4, rng)
    violated = records[:, Field.VIOLATED]
    again = origins >= 0
    assert violated[again].min() == 150.0
    assert again.sum() == 50
    followed = origins[again & (origins < walkers)]
    assert violated[followed].max() < 20.0
    places = origins[origins >= walkers] - walkers
    assert set(places) <= {0, 1, 2, 3}
    assert 2 <= places.size <= 30
    assert set(weights[again]) == {1, 2}
    assert np.all((shares >= 0.02) & (shares <= 0.10))


@pytest.mark.parametrize(("walkers", "again"), [(1, 0), (2, 1), (3, 1), (4, 1), (8, 2)])
def test_few_walkers_keep_a_leader_that_does_not_restart(walkers, again):
    records = records_of(*((float(v), 0.0, 0.0, NONE) for v in range(walkers)))
    origins, _, _ = restarts(records, 0, np.random.default_rng(0))
    assert (origins >= 0).sum() == again
    assert all(origins[leader] < 0 for leader in origins[origins >= 0])


def test_starts_hold_zero_given_points_and_fit_the_bounds():
    given = [np.full(33, 2.0), np.full(33, np.nan)]
    places = gather_points(LAYOUT, given * 40)
    points = places.points
    low, high = LAYOUT.arrays["bounds"][0::2], LAYOUT.arrays["bounds"][1::2]
    assert (len(points), places.known) == (CAPACITY, 0)
    assert np.all((low <= points) & (points <= high))
    assert np.array_equal(LAYOUT.values_of(given[0]), points[2])


def test_first_origins_leave_each_point_as_it_is_once():
    places = Places(np.zeros((3, 1)), 0)
    origins, _, shares = first_origins(10, places, np.random.default_rng(0))
    assert origins.tolist() == [10 + walker % 3 for walker in range(10)]
    assert shares[:3].tolist() == [0.0, 0.0, 0.0]


def test_most_walkers_start_near_feasible_points_where_there_are_some():
    known = [np.full(33, float(value)) for value in range(40)]
    places = gather_points(LAYOUT, [], known)
    assert places.known == (CAPACITY - 2) // 2
    assert np.array_equal(places.points[0], LAYOUT.values_of(known[0]))
    origins, weights, shares = first_origins(400, places, np.random.default_rng(0))
    near = origins - 400 < places.known
    assert 0.75 <= near.mean() <= 0.95
    assert shares[near].max() == 0.05
    assert shares[: len(places.points)].max() == 0.0
    assert not weights.any()


def test_half_of_the_walkers_follow_a_better_point_and_leaders_stay():
    records = records_of(*((0.0, 0.0, 0.0, 5.0 if k < 10 else NONE) for k in range(400)))
    places = Places(np.zeros((6, 1)), 4)
    lives = Lives(400, np.random.default_rng(0))
    none, _, _ = lives.restarts(records, places, 5.0, renewed=False)
    assert np.all(none == -1)
    origins, weights, shares = lives.restarts(records, places, 5.0, renewed=True)
    again = origins >= 0
    assert not again[:10].any()
    assert abs(again[10:].mean() - FOLLOW) < 0.1
    chosen = origins[again] - 400
    assert set(chosen) == {0, 1, 2, 3, 4, 5}
    assert (chosen == 0).mean() > 0.5
    assert (chosen >= 4).mean() < 0.2
    assert np.array_equal(weights[again] == 0, chosen >= 4)
    assert shares.max() <= 0.05


def test_walkers_without_a_better_point_restart_when_their_patience_is_over():
    records = records_of(*((0.0, 0.0, 0.0, NONE) for _ in range(300)))
    places = Places(np.zeros((3, 1)), 1)
    lives = Lives(300, np.random.default_rng(0))
    records[:, Field.STEP] = PATIENCES[1] + 1.0
    lives.note(np.arange(0, 300, 2), records)
    origins, _, _ = lives.restarts(records, places, 5.0, renewed=False)
    assert np.all(origins[0::2] == -1)
    assert 0.2 < (origins[1::2] >= 0).mean() < 0.6
    again, _, _ = lives.restarts(records, places, 5.0, renewed=False)
    assert np.all(again == -1)


@pytest.mark.parametrize(
    ("steps", "took", "expected"),
    [
        (100, 0.03, 100),
        (100, 0.06, 50),
        (100, 1e-9, 800),
        (100, 1e9, 1),
        (15_000, 0.01, MOST_STEPS),
    ],
)
def test_slices_grow_and_shrink_towards_their_length(steps, took, expected):
    assert steps_for(0.03, steps, took) == expected
    assert FIRST_STEPS >= 1
