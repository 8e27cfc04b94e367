"""The device code of replicas, run on the host, against its twin."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.core.device import cpu
from solvers.core.progress import Progress
from solvers.knapsack.multidimensional.engine import solve_multidimensional
from solvers.knapsack.multidimensional.items import RelaxedKnapsack
from solvers.knapsack.multidimensional.kernels.anneal import FAMILY
from solvers.knapsack.multidimensional.parallel_tempering import ParallelTempering
from solvers.knapsack.multidimensional.tree import make_rows, root_node
from solvers.native.knapsack_multidimensional_tree import reoptimise
from tests.emulator import Emulated, needs_compiler
from tests.emulator.gpu import EmulatedGpu
from tests.knapsack.multidimensional.cases import SETTINGS, SIZES, awkward, call
from tests.knapsack.multidimensional.instances import drawn

pytestmark = needs_compiler

CHANGED = ("packing", "champion", "value", "energy")


@pytest.fixture(scope="module")
def device_code():
    return Emulated(FAMILY)


def assert_same(device_code, problem, **more):
    here, there = call(problem, **more), call(problem, **more)
    FAMILY["anneal"](*here.values(), threads=1)
    device_code["anneal"](*there.values())
    for name in CHANGED:
        np.testing.assert_array_equal(there[name], here[name], err_msg=name)
    return here


@pytest.mark.parametrize(("items", "rows"), SIZES)
def test_sizes(device_code, items, rows):
    here = assert_same(device_code, drawn(items, rows, 0.5, seed=items + rows), trials=150)
    assert here["packing"].any()


@pytest.mark.parametrize("number", range(len(awkward())))
def test_awkward_problems(device_code, number):
    assert_same(device_code, awkward()[number], replicas=3, trials=200)


@pytest.mark.parametrize("trials", [0, 1, 31, 32, 33])
@pytest.mark.parametrize("replicas", [1, 9])
def test_trials_and_walkers(device_code, trials, replicas):
    assert_same(device_code, drawn(30, 5, 0.25, seed=2), trials=trials, replicas=replicas)


def test_hot_and_strict_walkers(device_code):
    problem = drawn(80, 10, 0.75, seed=3)
    assert_same(device_code, problem, setting=SETTINGS[1], replicas=8, trials=600, seed=7)


@pytest.fixture
def gpu(device_code, monkeypatch):
    monkeypatch.setattr("solvers.knapsack.multidimensional.parallel_tempering.FAMILY", device_code)
    monkeypatch.setattr("solvers.knapsack.multidimensional.parallel_tempering.TRIALS", 50)
    monkeypatch.setattr("solvers.knapsack.multidimensional.parallel_tempering.LIFE", 3)
    return EmulatedGpu("cuda", "")


def test_ladders_take_the_same_way(gpu):
    problem = drawn(60, 10, 0.5, seed=4)
    rows = make_rows(problem.profit, problem.weight)
    root = root_node(rows, problem.capacity)
    reoptimise(rows, root, 0)
    stop, nothing = np.zeros(1, dtype=np.int8), np.zeros(60, dtype=np.bool_)
    data = RelaxedKnapsack(problem, root.dual * rows.scale, root.reduced, float(root.bound[0]))
    here, there = (
        ParallelTempering(data, device, count=1).run(nothing, 0, 250, stop)
        for device in (cpu(), gpu)
    )
    assert here is not None
    np.testing.assert_array_equal(there, here)


def test_a_search_with_walkers_on_a_gpu_finds_the_optimum(gpu, device_code, monkeypatch):
    monkeypatch.setattr(
        "solvers.knapsack.multidimensional.primal_heuristics.STEPS_PER_GPU_TRIAL", 10**5
    )
    monkeypatch.setattr("solvers.knapsack.multidimensional.primal_heuristics.PATIENCE", 0)
    monkeypatch.setattr("solvers.knapsack.multidimensional.primal_heuristics.LEAST_WORK", 1)
    before = device_code.launches
    problem = drawn(30, 4, 0.5, seed=3)
    there = solve_multidimensional(problem, Progress(), device=gpu)
    assert device_code.launches > before
    assert there.is_optimal
    assert there.profit == solve_multidimensional(problem, Progress()).profit
