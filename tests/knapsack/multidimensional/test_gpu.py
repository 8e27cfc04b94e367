"""Replicas among packings on a GPU against their twins, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.core.device import cpu, find_device
from solvers.core.progress import Progress
from solvers.knapsack.multidimensional.engine import solve_multidimensional
from solvers.knapsack.multidimensional.items import RelaxedKnapsack
from solvers.knapsack.multidimensional.kernels.anneal import FAMILY
from solvers.knapsack.multidimensional.parallel_tempering import LIFE, TRIALS, ParallelTempering
from solvers.knapsack.multidimensional.tree import make_rows, root_node
from solvers.native.knapsack_multidimensional_tree import reoptimise
from tests.knapsack.multidimensional.cases import SETTINGS, SIZES, awkward, call
from tests.knapsack.multidimensional.instances import drawn

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
    assert_same(drawn(items, rows, 0.5, seed=items + rows), replicas=300, trials=5000)


@pytest.mark.parametrize("number", range(len(awkward())))
@pytest.mark.parametrize("setting", SETTINGS)
def test_awkward_problems(number, setting):
    assert_same(awkward()[number], replicas=33, trials=3000, setting=setting)


@pytest.mark.parametrize("trials", [0, 1, 31, 32, 33, 100_000])
@pytest.mark.parametrize("replicas", [1, 7, 8, 9])
def test_trials_and_walkers(trials, replicas):
    assert_same(drawn(100, 30, 0.25, seed=2), trials=trials, replicas=replicas)


def test_ladders_take_the_same_way():
    problem = drawn(250, 10, 0.5, seed=4)
    rows = make_rows(problem.profit, problem.weight)
    root = root_node(rows, problem.capacity)
    reoptimise(rows, root, 0)
    stop, nothing = np.zeros(1, dtype=np.int8), np.zeros(250, dtype=np.bool_)
    data = RelaxedKnapsack(problem, root.dual * rows.scale, root.reduced, float(root.bound[0]))
    here = ParallelTempering(data, cpu(), count=3).run(nothing, 0, (LIFE + 2) * TRIALS, stop)
    device = find_device("cuda")
    with device.activate():
        there = ParallelTempering(data, device, count=3).run(nothing, 0, (LIFE + 2) * TRIALS, stop)
    np.testing.assert_array_equal(there, here)


def test_a_search_with_walkers_on_the_gpu_finds_the_optimum(monkeypatch):
    monkeypatch.setattr("solvers.knapsack.multidimensional.primal_heuristics.PATIENCE", 0)
    monkeypatch.setattr("solvers.knapsack.multidimensional.primal_heuristics.LEAST_WORK", 1)
    problem = drawn(60, 5, 0.5, seed=3)
    here = solve_multidimensional(problem, Progress())
    there = solve_multidimensional(problem, Progress(), device=find_device("cuda"))
    assert there.is_optimal
    assert there.profit == here.profit
