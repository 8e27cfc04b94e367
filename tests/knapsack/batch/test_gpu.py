"""Many small knapsack problems on a GPU against the twin, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.knapsack.batch import solve as running
from solvers.knapsack.batch import solve_many_knapsacks
from tests.knapsack.batch.cases import awkward, flat
from tests.knapsack.brute import CLASSES, instance

pytestmark = pytest.mark.gpu


def assert_same(problems):
    starts, profit, weight, capacity = flat(problems)
    here, there = (
        solve_many_knapsacks(profit, weight, capacity, device, starts=starts)
        for device in ("cpu", "cuda")
    )
    assert there.device == "cuda"
    for name in ("packed", "profit", "bound", "feasible", "proven", "states"):
        np.testing.assert_array_equal(getattr(there, name), getattr(here, name), err_msg=name)
    assert there.alone == here.alone
    return there


@pytest.mark.parametrize("near", [0, 2, 96])
@pytest.mark.parametrize("items", [10, 64, 128])
def test_awkward_problems(monkeypatch, items, near):
    monkeypatch.setattr(running, "NEAR_ROOM", near)
    assert_same(awkward(3000, items, seed=items))


@pytest.mark.parametrize("items", [1, 31, 32, 33, 50, 63, 64, 65, 127, 128])
def test_classes_and_sizes(items):
    there = assert_same([instance(kind, items, 50, seed) for kind in CLASSES for seed in range(40)])
    assert there.proven.all()


def test_long_lists():
    there = assert_same([instance(kind, 60, 3000, seed) for kind in CLASSES for seed in range(4)])
    assert there.proven.all()


def test_what_is_too_large_or_outgrows_its_limits(monkeypatch):
    monkeypatch.setattr(running, "ROOM", 128)
    problems = [instance(kind, 50, 1000, seed) for kind in CLASSES for seed in range(3)]
    assert assert_same([*problems, instance("weakly", 300, 50, 1)]).alone > 1


def test_more_problems_than_warps_and_slices(monkeypatch):
    monkeypatch.setitem(running.FIRST_SLICE, "cuda", 1000)
    rng = np.random.default_rng(5)
    shape = (20_000, 50)
    weight = rng.integers(1, 1000, shape)
    profit, capacity = weight + rng.integers(-100, 101, shape), weight.sum(axis=1) // 2
    here, there = (
        solve_many_knapsacks(profit, weight, capacity, device) for device in ("cpu", "cuda")
    )
    np.testing.assert_array_equal(there.packed, here.packed)
    np.testing.assert_array_equal(there.states, here.states)


def test_no_problems():
    none = np.zeros((0, 4), int)
    assert len(solve_many_knapsacks(none, none, [], "cuda")) == 0
