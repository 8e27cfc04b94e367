"""The device code of walkers, run on the host, against its twin."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.knapsack.rows.kernels.anneal import FAMILY
from tests.knapsack.rows import emulated
from tests.knapsack.rows.cases import SETTINGS, SIZES, awkward, call
from tests.knapsack.rows.instances import drawn

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
    assert_same(library, awkward()[number], walkers=3, trials=200)


@pytest.mark.parametrize("trials", [0, 1, 31, 32, 33])
@pytest.mark.parametrize("walkers", [1, 9])
def test_trials_and_walkers(library, trials, walkers):
    assert_same(library, drawn(30, 5, 0.25, seed=2), trials=trials, walkers=walkers)


def test_hot_and_strict_walkers(library):
    problem = drawn(80, 10, 0.75, seed=3)
    assert_same(library, problem, setting=SETTINGS[1], walkers=8, trials=600, seed=7)
