"""The device code of replicas, run on the host, against its twin."""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest

from solvers.core.device import Device, cpu
from solvers.core.progress import Progress
from solvers.knapsack.multidimensional import solve_multidimensional
from solvers.knapsack.multidimensional.items import RelaxedKnapsack
from solvers.knapsack.multidimensional.kernels.anneal import FAMILY
from solvers.knapsack.multidimensional.node import make_rows, root_node
from solvers.knapsack.multidimensional.parallel_tempering import ParallelTempering
from solvers.native.knapsack_multidimensional_tree import reoptimise
from tests.knapsack.multidimensional import emulated
from tests.knapsack.multidimensional.cases import SETTINGS, SIZES, awkward, call
from tests.knapsack.multidimensional.instances import drawn

pytestmark = pytest.mark.skipif(emulated.COMPILER is None, reason="there is no C++ compiler")

CHANGED = ("packing", "champion", "value", "energy")


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return emulated.build(tmp_path_factory.mktemp("emulated"))


def assert_same(library, problem, **more):
    here, there = call(problem, **more), call(problem, **more)
    FAMILY["anneal"](*here.values(), threads=1)
    emulated.launch(library, tuple(there.values()))
    for name in CHANGED:
        np.testing.assert_array_equal(there[name], here[name], err_msg=name)
    return here


@pytest.mark.parametrize(("items", "rows"), SIZES)
def test_sizes(library, items, rows):
    here = assert_same(library, drawn(items, rows, 0.5, seed=items + rows), trials=150)
    assert here["packing"].any()


@pytest.mark.parametrize("number", range(len(awkward())))
def test_awkward_problems(library, number):
    assert_same(library, awkward()[number], replicas=3, trials=200)


@pytest.mark.parametrize("trials", [0, 1, 31, 32, 33])
@pytest.mark.parametrize("replicas", [1, 9])
def test_trials_and_walkers(library, trials, replicas):
    assert_same(library, drawn(30, 5, 0.25, seed=2), trials=trials, replicas=replicas)


def test_hot_and_strict_walkers(library):
    problem = drawn(80, 10, 0.75, seed=3)
    assert_same(library, problem, setting=SETTINGS[1], replicas=8, trials=600, seed=7)


class EmulatedGpu(Device):
    """A GPU whose memory is the host's, for what happens on the way to a launch."""

    @property
    def xp(self):
        device = SimpleNamespace(attributes={"MultiProcessorCount": 1})
        return SimpleNamespace(cuda=SimpleNamespace(Device=lambda: device))

    def activate(self):
        return nullcontext()

    def to_device(self, array):
        return np.array(array, order="C", copy=True)

    def to_host(self, array):
        return np.array(array, copy=True)


@pytest.fixture
def gpu(library, monkeypatch):
    kernels = {"anneal": lambda *values: emulated.launch(library, values)}
    family = type("Family", (), {"twin": FAMILY.twin, "__getitem__": lambda _, k: kernels[k]})()
    monkeypatch.setattr("solvers.knapsack.multidimensional.parallel_tempering.FAMILY", family)
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


def test_a_search_with_walkers_on_a_gpu_finds_the_optimum(gpu, monkeypatch):
    monkeypatch.setattr(
        "solvers.knapsack.multidimensional.primal_heuristics.STEPS_PER_GPU_TRIAL", 10**5
    )
    monkeypatch.setattr("solvers.knapsack.multidimensional.primal_heuristics.PATIENCE", 0)
    monkeypatch.setattr("solvers.knapsack.multidimensional.primal_heuristics.LEAST_WORK", 1)
    launches = []
    launch = emulated.launch
    monkeypatch.setattr(emulated, "launch", lambda *values: (launches.append(1), launch(*values)))
    problem = drawn(30, 4, 0.5, seed=3)
    there = solve_multidimensional(problem, Progress(), device=gpu)
    assert launches
    assert there.is_optimal
    assert there.profit == solve_multidimensional(problem, Progress()).profit
