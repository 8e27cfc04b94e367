"""The device code for many knapsack problems, run on the host, against its twin."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest

from solvers.device import Device
from solvers.knapsack.items import Knapsack
from solvers.knapsack.many import solve_many_knapsacks
from solvers.knapsack.many.kernels.many import FAMILY, INFEASIBLE, OUTGROWN, SOLVED, TOO_LARGE
from tests.knapsack.brute import CLASSES, instance
from tests.knapsack.many import emulated
from tests.knapsack.many.cases import awkward, flat, run_kernel

pytestmark = pytest.mark.skipif(emulated.COMPILER is None, reason="there is no C++ compiler")


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return emulated.build(tmp_path_factory.mktemp("emulated"))


def assert_same(library, problems, **more):
    here = run_kernel(problems, lambda values: FAMILY["many"](*values, threads=1), **more)
    there = run_kernel(problems, lambda values: emulated.launch(library, values), **more)
    for name, values in here.items():
        np.testing.assert_array_equal(there[name], values, err_msg=name)
    return here


@pytest.mark.parametrize("words", [1, 2])
@pytest.mark.parametrize("near", [0, 2, 96])
def test_awkward_problems(library, words, near):
    here = assert_same(library, awkward(60, 64 * words, seed=words), words=words, near=near)
    assert {SOLVED, INFEASIBLE} <= set(here["ending"])


@pytest.mark.parametrize("items", [1, 31, 33, 63, 64, 65, 127, 128])
def test_sizes(library, items):
    words = 1 if items <= 64 else 2
    problems = [instance(kind, items, 30, items) for kind in CLASSES]
    here = assert_same(library, problems, words=words, slots=5)
    assert (here["ending"] == SOLVED).all()


def test_what_does_not_fit(library):
    problems = [instance("strongly", 40, 1000, 3)]
    assert assert_same(library, problems, room=64)["ending"] == OUTGROWN
    assert assert_same(library, problems, most=100)["ending"] == OUTGROWN
    assert assert_same(library, [instance("weakly", 65, 9, 1)])["ending"] == TOO_LARGE
    large = Knapsack.binary([2**40, 3], [2**22, 5], 2**22)
    assert assert_same(library, [large])["ending"] == TOO_LARGE
    huge = Knapsack.binary([3, 4], [2, 2], 2**61)
    assert assert_same(library, [huge])["ending"] == SOLVED


def test_no_problems_and_no_items(library):
    assert_same(library, [])
    empty = [Knapsack.binary([], [], capacity) for capacity in (-1, 0, 1)]
    here = assert_same(library, empty)
    np.testing.assert_array_equal(here["ending"], [INFEASIBLE, SOLVED, SOLVED])


class EmulatedGpu(Device):
    """A GPU whose memory is the host's, for what happens on the way to a launch."""

    @property
    def xp(self):
        device = SimpleNamespace(attributes={"MultiProcessorCount": 1})
        cuda = SimpleNamespace(Device=lambda: device)
        return SimpleNamespace(empty=np.empty, zeros=np.zeros, cuda=cuda)

    def activate(self):
        return nullcontext()

    def to_device(self, array):
        return np.array(array, order="C", copy=True)

    def to_host(self, array):
        return np.array(array, copy=True)

    def synchronize(self):
        pass


def test_the_way_to_a_gpu_and_back(library, monkeypatch):
    def emulate(*values, threads):
        emulated.launch(library, values)

    problems = [instance(kind, 20, 50, seed) for kind in CLASSES for seed in range(8)]
    starts, profit, weight, capacity = flat([*problems, instance("weakly", 150, 50, 1)])
    here = solve_many_knapsacks(profit, weight, capacity, "cpu", starts=starts)
    running = sys.modules["solvers.knapsack.many.run"]
    monkeypatch.setattr(running, "FAMILY", {"many": emulate})
    monkeypatch.setitem(running.FIRST_SLICE, "cuda", 40)
    gpu = EmulatedGpu("cuda", "", memory_free=2**26)
    there = solve_many_knapsacks(profit, weight, capacity, gpu, starts=starts)
    assert there.device == "cuda"
    assert there.alone == here.alone == 1
    for name in ("packed", "profit", "bound", "feasible", "proven", "states"):
        np.testing.assert_array_equal(getattr(there, name), getattr(here, name))
