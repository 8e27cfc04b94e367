"""Replicas on tempering: what the kernel promises, and what a few turns find."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.core.device import cpu
from solvers.knapsack.multidimensional.items import MultidimensionalKnapsack, RelaxedKnapsack
from solvers.knapsack.multidimensional.kernels.anneal import ANNEAL, FAMILY, LANES, LARGEST_RISE
from solvers.knapsack.multidimensional.parallel_tempering import (
    LIFE,
    NONE,
    TRIALS,
    ParallelTempering,
    exponential_draws,
    flags_of,
    scaled,
    words_of,
)
from solvers.knapsack.multidimensional.tree import make_rows, root_node
from solvers.native.knapsack_multidimensional_tree import reoptimise
from tests.knapsack.multidimensional.cases import SETTINGS, SIZES, awkward, call
from tests.knapsack.multidimensional.instances import best_profit, drawn

STOP = np.zeros(1, dtype=np.int8)


def tempering(problem, **more):
    rows = make_rows(problem.profit, problem.weight)
    root = root_node(rows, problem.capacity)
    reoptimise(rows, root, 0)
    bound = float(root.bound[0])
    return ParallelTempering(
        RelaxedKnapsack(problem, root.dual * rows.scale, root.reduced, bound), cpu(), **more
    )


@pytest.mark.parametrize(("items", "rows"), SIZES)
def test_values_and_energies_are_those_of_the_packings(items, rows):
    problem = drawn(items, rows, 0.5, seed=rows)
    values = call(problem, trials=3000)
    FAMILY["anneal"](*values.values(), threads=1)
    assert (values["value"] > 0).any()
    for replica in range(values["replicas"]):
        words = slice(replica * LANES, (replica + 1) * LANES)
        x = flags_of(values["packing"][words], items)
        weight = values["weight"].reshape(items + 1, rows)[:items]
        excess = np.maximum(weight[x].sum(axis=0) - values["capacity"], 0)
        energy = excess @ values["price"] - values["worth"][:items][x].sum()
        assert values["energy"][replica] == energy
        if values["value"][replica] != NONE:
            best = flags_of(values["champion"][words], items)
            assert problem.fits(best)
            assert problem.profit[best].sum() == values["value"][replica]


def test_numbers_of_walkers_and_turns_are_all_that_tells_them_apart():
    problem = drawn(40, 5, 0.5, seed=1)
    one, other = (call(problem, replicas=replicas, trials=60) for replicas in (12, 6))
    for values in (one, other):
        FAMILY["anneal"](*values.values(), threads=1)
    np.testing.assert_array_equal(one["packing"][: 6 * LANES], other["packing"])
    assert len({tuple(row) for row in one["packing"].reshape(12, LANES)}) == 12
    later = call(problem, replicas=6, trials=60, seed=1)
    FAMILY["anneal"](*later.values(), threads=1)
    assert not np.array_equal(later["packing"], other["packing"])


@pytest.mark.parametrize("problem", awkward())
def test_scaled_numbers_are_small_and_what_fits_there_fits(problem):
    rng = np.random.default_rng(3)
    movable = np.arange(0, problem.num_items, 2)
    x = np.zeros(problem.num_items, dtype=np.bool_)
    data = scaled(problem, np.full(problem.num_rows, 0.5), SETTINGS[1], movable, x)
    weight = data.weight[:-1].astype(np.int64)
    assert (data.price * weight.max(axis=0)).sum() < 2**24
    assert np.abs(data.worth).max() < 2**24
    assert weight.sum(axis=0).max() < LARGEST_RISE
    assert not data.weight[-1].any()
    for _ in range(200):
        flags = rng.random(movable.size) < rng.random()
        if (weight[flags].sum(axis=0) <= data.capacity).all():
            x[movable] = flags
            assert problem.fits(x)


@pytest.mark.parametrize("items", [1, 32, 33, 100, 256])
def test_words_hold_flags(items):
    flags = np.random.default_rng(items).random(items) < 0.5
    words = words_of(flags)
    assert words.size == LANES
    np.testing.assert_array_equal(flags_of(words, items), flags)


def test_draws_are_exponential():
    draws = exponential_draws() / 2**16
    assert draws.mean() == pytest.approx(1.0, abs=1e-3)
    assert draws.std() == pytest.approx(1.0, abs=1e-2)
    assert (draws > 0).all()


def test_packings_of_small_problems_are_nearly_the_best():
    for seed in range(5):
        problem = drawn(14, 3, 0.5, seed)
        nothing = np.zeros(problem.num_items, dtype=np.bool_)
        found = tempering(problem, seed=seed).run(nothing, 0, TRIALS, STOP)
        assert found is not None
        assert problem.fits(found)
        assert problem.profit[found].sum() >= 0.99 * best_profit(problem)


def test_walks_go_on_and_begin_anew(monkeypatch):
    monkeypatch.setattr("solvers.knapsack.multidimensional.parallel_tempering.TRIALS", 300)
    problem = drawn(200, 10, 0.5, seed=4)
    x, profit = np.zeros(200, dtype=np.bool_), 0
    walking = tempering(problem, count=2)
    again = tempering(problem, count=2)
    for _ in range(3):
        found, same = (walk.run(x, profit, LIFE * 100, STOP) for walk in (walking, again))
        np.testing.assert_array_equal(found, same)
        if found is not None:
            assert problem.fits(found)
            assert problem.profit[found].sum() > profit
            x, profit = found, int(problem.profit[found].sum())
    walking.run(x, profit, 2 * LIFE * 300, STOP)
    assert profit > 0


def test_a_walk_that_is_stopped_ends():
    problem = drawn(30, 3, 0.5, seed=5)
    nothing = np.zeros(30, dtype=np.bool_)
    assert tempering(problem).run(nothing, 0, 10**12, np.ones(1, dtype=np.int8)) is None


def test_numbers_too_large_for_the_kernel_are_rounded_safely():
    rng = np.random.default_rng(6)
    weight = rng.integers(1, 2**42, (5, 60))
    problem = MultidimensionalKnapsack(weight.sum(axis=0) // 5, weight, weight.sum(axis=1) // 2)
    nothing = np.zeros(60, dtype=np.bool_)
    found = tempering(problem).run(nothing, 0, TRIALS, STOP)
    assert found is not None
    assert problem.fits(found)


def test_the_kernel_is_asked_for_the_memory_that_it_uses():
    values = call(drawn(100, 30, 0.5, seed=1), replicas=20)
    shape = ANNEAL.launch(values)
    assert (shape.grid, shape.block) == (3, 256)
    assert shape.shared == 8 * 101 + 4 * (101 * 30 + 101 + 2048)


def test_the_best_seen_are_different_packings_that_fit():
    problem = drawn(60, 5, 0.5, seed=2)
    many = tempering(problem, count=2)
    nothing = np.zeros(60, dtype=np.bool_)
    assert many.best_seen(5) == []
    best = many.run(nothing, 0, TRIALS, STOP)
    seen = many.best_seen(5)
    assert len({x.tobytes() for x in seen}) == 5
    profits = [problem.profit[x].sum() for x in seen]
    assert profits == sorted(profits, reverse=True)
    assert profits[0] == problem.profit[best].sum()
    assert all(problem.fits(x) for x in seen)


def test_walkers_that_begin_anew_see_packings_of_their_own():
    problem = drawn(60, 5, 0.5, seed=2)
    one, other = tempering(problem, seed=1), tempering(problem, seed=1)
    nothing = np.zeros(60, dtype=np.bool_)
    first, second = (one.begin_anew(nothing, 1, STOP) for _ in range(2))
    assert problem.fits(first)
    assert problem.fits(second)
    assert np.array_equal(first, other.begin_anew(nothing, 1, STOP))
    assert one.begin_anew(nothing, 1, np.ones(1, dtype=np.int8)) is None
