"""The device code for many knapsack problems, run on the host, against its twin."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import gpu_bridge
from gpu_bridge import Batch
from solvers.core.problem import Problem
from solvers.knapsack.batch import solve_many_knapsacks
from solvers.knapsack.batch.kernels.many import FAMILY, INFEASIBLE, OUTGROWN, SOLVED, TOO_LARGE
from solvers.knapsack.items import Knapsack
from tests.emulator import Emulated, needs_compiler
from tests.emulator.gpu import EmulatedGpu
from tests.knapsack.batch.cases import awkward, flat, run_kernel
from tests.knapsack.brute import CLASSES, instance

pytestmark = needs_compiler


@pytest.fixture(scope="module")
def device_code():
    return Emulated(FAMILY)


def assert_same(device_code, problems, **more):
    here = run_kernel(problems, lambda values: FAMILY["many"](*values, threads=1), **more)
    there = run_kernel(problems, lambda values: device_code["many"](*values), **more)
    for name, values in here.items():
        np.testing.assert_array_equal(there[name], values, err_msg=name)
    return here


@pytest.mark.parametrize("words", [1, 2])
@pytest.mark.parametrize("near", [0, 2, 96])
def test_awkward_problems(device_code, words, near):
    here = assert_same(device_code, awkward(60, 64 * words, seed=words), words=words, near=near)
    assert {SOLVED, INFEASIBLE} <= set(here["ending"])


@pytest.mark.parametrize("items", [1, 31, 33, 63, 64, 65, 127, 128])
def test_sizes(device_code, items):
    words = 1 if items <= 64 else 2
    problems = [instance(kind, items, 30, items) for kind in CLASSES]
    here = assert_same(device_code, problems, words=words, slots=5)
    assert (here["ending"] == SOLVED).all()


def test_what_does_not_fit(device_code):
    problems = [instance("strongly", 40, 1000, 3)]
    assert assert_same(device_code, problems, room=64)["ending"] == OUTGROWN
    assert assert_same(device_code, problems, most=100)["ending"] == OUTGROWN
    assert assert_same(device_code, [instance("weakly", 65, 9, 1)])["ending"] == TOO_LARGE
    large = Knapsack.binary([2**40, 3], [2**22, 5], 2**22)
    assert assert_same(device_code, [large])["ending"] == TOO_LARGE
    huge = Knapsack.binary([3, 4], [2, 2], 2**61)
    assert assert_same(device_code, [huge])["ending"] == SOLVED


def test_no_problems_and_no_items(device_code):
    assert_same(device_code, [])
    empty = [Knapsack.binary([], [], capacity) for capacity in (-1, 0, 1)]
    here = assert_same(device_code, empty)
    np.testing.assert_array_equal(here["ending"], [INFEASIBLE, SOLVED, SOLVED])


@pytest.fixture
def gpu(device_code, monkeypatch):
    def emulate(*values, threads):
        kinds.add(str(values[1].dtype))
        device_code["many"](*values)

    def take():
        running = sys.modules["solvers.knapsack.batch.solve"]
        monkeypatch.setattr(running, "FAMILY", {"many": emulate})
        monkeypatch.setitem(running.FIRST_SLICE, "cuda", 40)
        return EmulatedGpu("cuda", "", memory_free=2**26), kinds

    kinds = set()
    return take


@pytest.mark.parametrize("kind", ["uint16", "int32", "int64"])
def test_the_way_to_a_gpu_and_back(gpu, kind):
    problems = [instance(kind, 20, 50, seed) for kind in CLASSES for seed in range(8)]
    odd = Knapsack.binary([7, 9], [{"uint16": 5, "int32": -5, "int64": 2**40}[kind], 3], 6)
    starts, profit, weight, capacity = flat([*problems, instance("weakly", 150, 50, 1), odd])
    here = solve_many_knapsacks(profit, weight, capacity, "cpu", starts=starts)
    device, kinds = gpu()
    there = solve_many_knapsacks(profit, weight, capacity, device, starts=starts)
    assert kinds == {kind}
    assert there.device == "cuda"
    assert there.alone == here.alone == 1
    for name in ("packed", "profit", "bound", "feasible", "proven", "states"):
        np.testing.assert_array_equal(getattr(there, name), getattr(here, name))


def test_a_batch_goes_there_in_narrow_types(gpu, monkeypatch):
    rng = np.random.default_rng(0)
    shape = (70, 12)
    profit, weight = rng.integers(-5, 60, shape), rng.integers(1, 60, shape)
    capacity = weight.sum(axis=1, keepdims=True) // 2
    base = Problem.from_arrays(
        np.ones(12), np.ones((1, 12)), upper=1.0, integrality=True, maximize=True
    )
    batch = Batch.from_model_data(base, cost=profit, coefficients=weight, row_upper=capacity)
    here = gpu_bridge.solve_many(batch, method="knapsack", device="cpu")
    device, kinds = gpu()
    monkeypatch.setattr("gpu_bridge.batch.knapsack_models.find_device", lambda wanted: device)
    there = gpu_bridge.solve_many(batch, method="knapsack", device="cuda")
    assert kinds == {"int32"}
    np.testing.assert_array_equal(there.x, here.x)
    np.testing.assert_array_equal(there.objectives, here.objectives)
    np.testing.assert_array_equal((there.x * profit).sum(axis=1), there.objectives)
    np.testing.assert_array_equal(there.row_activity[:, 0], (there.x * weight).sum(axis=1))
