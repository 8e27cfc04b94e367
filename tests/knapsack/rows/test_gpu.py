"""Walkers among packings, and searches below nodes, on a GPU against their twins, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.device import cpu, find_device
from solvers.knapsack.rows import solve_rows
from solvers.knapsack.rows.forest import searches_for
from solvers.knapsack.rows.kernels.anneal import FAMILY
from solvers.knapsack.rows.kernels.subtrees import FAMILY as SUBTREES
from solvers.knapsack.rows.ladders import LIFE, TRIALS, Ladders
from solvers.knapsack.rows.node import make_rows, root_node
from solvers.knapsack.rows.relaxation import reoptimise
from solvers.progress import Progress
from tests.knapsack.rows.cases import SETTINGS, SIZES, awkward, call
from tests.knapsack.rows.forests import Compared, planted, searched
from tests.knapsack.rows.forests import awkward as awkward_for_searches
from tests.knapsack.rows.instances import best_profit, drawn

pytestmark = pytest.mark.gpu

CHANGED = ("packing", "champion", "value", "energy")


def assert_same(problem, **more):
    device = find_device("cuda")
    here, there = call(problem, **more), call(problem, **more)
    FAMILY["anneal"](*here.values(), threads=1)
    with device.activate():
        values = {
            name: device.to_device(value) if isinstance(value, np.ndarray) else value
            for name, value in there.items()
        }
        FAMILY["anneal"](*values.values())
        for name in CHANGED:
            found = device.to_host(values[name])
            np.testing.assert_array_equal(found, here[name], err_msg=name)


@pytest.mark.parametrize(("items", "rows"), SIZES)
def test_sizes(items, rows):
    assert_same(drawn(items, rows, 0.5, seed=items + rows), walkers=300, trials=5000)


@pytest.mark.parametrize("number", range(len(awkward())))
@pytest.mark.parametrize("setting", SETTINGS)
def test_awkward_problems(number, setting):
    assert_same(awkward()[number], walkers=33, trials=3000, setting=setting)


@pytest.mark.parametrize("trials", [0, 1, 31, 32, 33, 100_000])
@pytest.mark.parametrize("walkers", [1, 7, 8, 9])
def test_trials_and_walkers(trials, walkers):
    assert_same(drawn(100, 30, 0.25, seed=2), trials=trials, walkers=walkers)


def test_ladders_take_the_same_way():
    problem = drawn(250, 10, 0.5, seed=4)
    rows = make_rows(problem.profit, problem.weight)
    root = root_node(rows, problem.capacity)
    reoptimise(rows, root, 0)
    stop, nothing = np.zeros(1, dtype=np.int8), np.zeros(250, dtype=np.bool_)
    data = (problem, root.dual * rows.scale, root.reduced, float(root.bound[0]))
    here = Ladders(*data, cpu(), count=3).run(nothing, 0, (LIFE + 2) * TRIALS, stop)
    device = find_device("cuda")
    with device.activate():
        there = Ladders(*data, device, count=3).run(nothing, 0, (LIFE + 2) * TRIALS, stop)
    np.testing.assert_array_equal(there, here)


def test_a_search_with_walkers_on_the_gpu_finds_the_optimum(monkeypatch):
    monkeypatch.setattr("solvers.knapsack.rows.scouts.PATIENCE", 0)
    monkeypatch.setattr("solvers.knapsack.rows.scouts.LEAST_WORK", 1)
    problem = drawn(60, 5, 0.5, seed=3)
    here = solve_rows(problem, Progress())
    there = solve_rows(problem, Progress(), device=find_device("cuda"))
    assert there.is_optimal
    assert there.profit == here.profit


@pytest.fixture
def compared(monkeypatch):
    """Launches of searches with their twins; the device's answers go on."""
    device = find_device("cuda")
    family = Compared(device, lambda name, values: SUBTREES[name](*values))
    monkeypatch.setattr("solvers.knapsack.rows.forest.FAMILY", family)
    with device.activate():
        yield device, family


@pytest.mark.parametrize(
    ("items", "rows", "rounds"),
    [(20, 1, 30), (33, 5, 30), (64, 32, 8), (100, 5, 8), (500, 30, 3), (1024, 3, 2), (70, 127, 3)],
)
@pytest.mark.parametrize("searches", [1, 5, 130])
def test_searches_go_the_same_way(compared, items, rows, rounds, searches):
    device, family = compared
    problem = drawn(items, rows, 0.5, seed=items + rows)
    progress = Progress()
    progress.interrupt()
    target = int(0.995 * solve_rows(problem, progress).profit) if items > 100 else 1
    forest = planted(problem, device, searches, target)
    profit = searched(forest, problem, rounds)
    assert "grow" in family.launches
    assert forest.nodes > 0
    assert profit > 0 or items > 100


@pytest.mark.parametrize("number", range(len(awkward_for_searches())))
def test_searches_solve_awkward_problems(compared, number):
    device, _ = compared
    problem = awkward_for_searches()[number]
    profit = searched(planted(problem, device, 33), problem)
    assert profit == solve_rows(problem, Progress()).profit


@pytest.mark.parametrize("seed", range(20))
def test_searches_find_the_best_of_all_packings(compared, seed):
    device, _ = compared
    problem = drawn(12, 1 + seed % 5, (0.25, 0.5, 0.75)[seed % 3], seed)
    assert searched(planted(problem, device, 7), problem) == best_profit(problem)


def test_thousands_of_searches_prove_an_optimum():
    device = find_device("cuda")
    problem = drawn(100, 5, 0.5, seed=105)
    here = solve_rows(problem, Progress())
    forest = planted(problem, device, searches_for(device))
    assert searched(forest, problem) == here.profit == here.bound
    assert forest.is_done


def test_a_search_with_the_gpu_beside_the_trees_proves_the_optimum(monkeypatch):
    monkeypatch.setattr("solvers.knapsack.rows.crew.FOREST_PATIENCE", 0)
    problem = drawn(60, 5, 0.5, seed=3)
    here = solve_rows(problem, Progress())
    there = solve_rows(problem, Progress(), device=find_device("cuda"))
    assert there.is_optimal
    assert there.profit == here.profit
