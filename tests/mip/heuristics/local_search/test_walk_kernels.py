"""What walkers promise after every slice: slack, list and objective are those of their points."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.mip.heuristics.local_search.kernels.walk import (
    NONE,
    TOLERANCE,
    WALKS,
    Field,
    Weights,
)
from solvers.mip.heuristics.local_search.layout import Layout
from solvers.mip.model import is_feasible
from tests.mip.heuristics.local_search.cases import CASES, Fleet, restart, run_twin, start_fleet

SEED = 3
STEPS = 120


def walk(fleet: Fleet, steps: int) -> None:
    run_twin(WALKS, "walk", fleet.arguments(steps, SEED))


def assert_consistent(fleet: Fleet) -> None:
    layout, arrays = fleet.layout, fleet.layout.arrays
    low, high = arrays["bounds"][0::2], arrays["bounds"][1::2]
    matrix = layout.by_row.csr
    width = np.full(layout.rows, np.inf)
    width[layout.inequalities :] = arrays["ranges"]
    for walker, record in enumerate(fleet.records):
        x = fleet.host("values")[walker, 0::2]
        assert np.all((low <= x) & (x <= high))
        assert np.array_equal(x[: layout.integers], np.round(x[: layout.integers]))
        slack = arrays["sides"] - matrix @ x
        held = fleet.host("cells")[walker, : 2 * layout.rows : 2]
        np.testing.assert_allclose(held, slack, atol=1e-6 * max(1.0, np.abs(x).max()))
        outside = np.maximum(-held, held - width) > TOLERANCE
        count = int(record[Field.VIOLATED])
        listed = fleet.host("violated")[walker, :count]
        assert sorted(listed) == list(np.flatnonzero(outside))
        assert np.array_equal(fleet.host("place")[walker, listed], np.arange(count))
        assert record[Field.OBJECTIVE] == pytest.approx(arrays["costs"] @ x, abs=1e-6, rel=1e-9)
        units = arrays["scales"] if record[Field.JUMP] else np.ones(layout.rows)
        weights = fleet.host("cells")[walker, 1 : 2 * layout.rows : 2] / units
        assert np.all((weights >= 1.0) & (weights == np.round(weights)))


@pytest.mark.parametrize("name", CASES)
def test_state_belongs_to_the_point_after_every_slice(name):
    fleet = start_fleet(Layout.of(CASES[name](), wide=True))
    for steps in (0, 1, STEPS, STEPS):
        walk(fleet, steps)
        assert_consistent(fleet)
    if name != "no objective":
        assert fleet.records[:, Field.STEP].tolist() == [1 + 2 * STEPS] * 5


@pytest.mark.parametrize("name", ["covering", "mixed", "partition", "single", "no rows"])
def test_kept_points_are_feasible_and_have_the_objective_they_claim(name):
    model = CASES[name]()
    fleet = start_fleet(Layout.of(model, wide=True))
    kept = 0
    for _ in range(4):
        walk(fleet, 300)
        for walker, record in enumerate(fleet.records):
            if record[Field.BEST] < NONE:
                x = fleet.layout.point_of(fleet.host("kept")[walker])
                assert is_feasible(model, model.rounded(x))
                assert model.cost @ x == pytest.approx(record[Field.BEST], abs=1e-6)
                kept += 1
    assert kept


def test_slices_of_any_length_walk_the_same_way():
    whole, pieces = (start_fleet(Layout.of(CASES["mixed"](), wide=True)) for _ in range(2))
    walk(whole, 90)
    for steps in (30, 1, 0, 59):
        walk(pieces, steps)
    for name in ("values", "cells"):
        assert np.array_equal(whole.host(name), pieces.host(name))


def test_walkers_and_seeds_differ():
    layout = Layout.of(CASES["mixed"](), wide=True)
    fleet, other = start_fleet(layout, seed=3), start_fleet(layout, seed=4)
    for one in (fleet, other):
        run_twin(WALKS, "walk", one.arguments(STEPS, 3 + (one is other)))
    points = [tuple(row) for one in (fleet, other) for row in one.host("values")[:, 0::2]]
    assert len(set(points)) == len(points)


def test_a_pair_swaps_members_of_partition_rows():
    """From a full assignment no single move keeps its rows; pairs lead on to better ones."""
    layout = Layout.of(CASES["partition"](), wide=True)
    fleet = start_fleet(layout, walkers=4)
    point = np.eye(6).ravel()
    restart(fleet, point[None], np.full(4, 4), np.zeros(4), np.zeros(4), SEED)
    fleet.state.records.reshape(4, -1)[:, Field.PAIRS] = 1.0
    walk(fleet, 600)
    start = layout.arrays["costs"] @ point
    assert (fleet.records[:, Field.BEST] < start).all()


def test_restart_follows_walkers_and_points_with_their_weights():
    layout = Layout.of(CASES["mixed"](), wide=True)
    fleet = start_fleet(layout)
    walk(fleet, 400)
    jumps = fleet.records[:, Field.JUMP]
    assert jumps.tolist() == [0.0, 1.0, 0.0, 1.0, 0.0]
    units = np.where(jumps[:, None] > 0.0, layout.arrays["scales"], 1.0)
    before, weights = fleet.host("values").copy(), fleet.host("cells")[:, 1::2] / units
    objectives = fleet.records[:, Field.OBJECTIVE_WEIGHT].copy()
    point = np.clip(np.arange(33.0), -1.0, layout.arrays["bounds"][1::2])
    origins = np.array([-1, 0, 0, 5, 5])
    modes = np.array([0, Weights.KEEP, Weights.HALVE, Weights.RESET, Weights.KEEP])
    restart(fleet, point[None], origins, modes, np.array([0.0, 0.0, 0.0, 0.0, 1.0]), SEED)
    after, now = fleet.host("values"), fleet.host("cells")[:, 1::2] / units
    assert np.array_equal(after[0], before[0])
    assert np.array_equal(after[1, 0::2], before[0, 0::2])
    assert np.array_equal(after[3, 0::2], point)
    changed = np.mean(after[4, 0::2] != point)
    assert 0.5 < changed <= 1.0
    assert np.array_equal(now[1], weights[0])
    assert np.array_equal(now[2], np.maximum(1.0, np.floor(weights[0] / 2)))
    assert np.all(now[3] == 1.0)
    assert np.array_equal(now[4], weights[4])
    assert weights[0].max() >= 2.0
    expected = [
        objectives[0], objectives[0], max(1.0, objectives[0] // 2), 0.0, objectives[4]
    ]  # fmt: skip
    assert fleet.records[:, Field.OBJECTIVE_WEIGHT].tolist() == expected
    assert fleet.records[:, Field.REFRESH].tolist() == [0.0, 1.0, 1.0, 1.0, 1.0]
    walk(fleet, 1)
    assert_consistent(fleet)
