"""The batch kernel against its twin, with the matrix in each of its places."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from gpu_bridge.many_batch import VARIABLE_DATA
from solvers.options import EngineOptions
from solvers.pdlp import batch as engine
from solvers.pdlp.batch import Ending, layout
from solvers.progress import Progress
from tests.pdlp.batch.families import (
    boxed_family,
    engine_data,
    family,
    infeasible_and_unbounded,
)

pytestmark = pytest.mark.gpu

SOLVED = (Ending.CONVERGED, Ending.VERTEX)
ANY = 9.0

PLACES = {
    "dense": {"DENSE_FROM": 0.0},
    "dense, basis far": {"DENSE_FROM": 0.0, "VERTEX_SHARED": 0},
    "sparse": {"DENSE_FROM": ANY},
    "mixed": {"DENSE_FROM": ANY, "mixed": True},
    "large": {"DENSE_FROM": ANY, "DECLARED_SHARED": 10**9},
}


@pytest.fixture(params=list(PLACES))
def place(request, monkeypatch):
    """Force the storage of a case, whatever its size."""
    wanted = dict(PLACES[request.param])
    if wanted.pop("mixed", False):
        monkeypatch.setattr(
            layout, "_storage", lambda *sizes: (layout.MIXED, layout.REAL * 2 * sizes[2])
        )
    for name, value in wanted.items():
        monkeypatch.setattr(layout, name, value)


def both(batch, tolerance=1e-8, **start):
    here, there = (
        engine.solve(
            engine_data(batch, **start),
            EngineOptions(device=device, tolerance=tolerance),
            Progress(),
        )
        for device in ("cpu", "cuda")
    )
    assert there.device == "cuda"
    return here, there


def assert_same(here, there, atol=1e-6):
    np.testing.assert_array_equal(np.isin(here.ending, SOLVED), np.isin(there.ending, SOLVED))
    vertex = (here.ending == Ending.VERTEX) & (there.ending == Ending.VERTEX)
    np.testing.assert_allclose(there.x[vertex], here.x[vertex], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(there.row_dual[vertex], here.row_dual[vertex], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", VARIABLE_DATA)
def test_each_kind_of_data(place, name):
    here, there = both(boxed_family(3, 40, 11, 19, [name]))
    assert np.isin(there.ending, SOLVED).all()
    assert (there.ending == Ending.VERTEX).mean() > 0.9
    assert_same(here, there)


@pytest.mark.parametrize("shape", [(1, 1), (1, 40), (40, 1), (31, 33), (33, 70), (50, 100)])
def test_shapes(place, shape):
    here, there = both(boxed_family(5, 30, *shape, ["cost", "coefficients"]))
    assert_same(here, there)


@pytest.mark.parametrize("seed", range(3))
def test_every_kind_of_row_and_column(place, seed):
    batch = family(seed, 20, 14, 23, ["lower", "upper", "row_lower", "row_upper"])
    here, there = both(batch)
    assert np.isin(there.ending, SOLVED).all()
    for k in range(20):
        problem = batch.member(k)
        ours, theirs = problem.objective_at(there.x[k]), problem.objective_at(here.x[k])
        assert ours == pytest.approx(theirs, rel=1e-5, abs=1e-5)


def test_rays(place):
    here, there = both(infeasible_and_unbounded())
    np.testing.assert_array_equal(here.ending[1:], there.ending[1:])
    np.testing.assert_allclose(
        there.row_dual[1] / np.abs(there.row_dual[1]).max(),
        here.row_dual[1] / np.abs(here.row_dual[1]).max(),
        atol=1e-6,
    )


def test_repeated_solves_give_the_same_bits():
    data = engine_data(boxed_family(8, 2000, 20, 40, ["cost", "coefficients"]))
    options = EngineOptions(device="cuda", tolerance=1e-6)
    one, other = (engine.solve(data, options, Progress()) for _ in range(2))
    np.testing.assert_array_equal(one.x, other.x)
    np.testing.assert_array_equal(one.iterations, other.iterations)


def test_more_lps_than_blocks_and_slices():
    batch = boxed_family(8, 5000, 5, 8, ["coefficients"])
    here, there = both(batch, 1e-6)
    assert np.isin(there.ending, SOLVED).all()
    sliced = engine.solve(
        engine_data(batch), EngineOptions(device="cuda", tolerance=1e-6), Progress(1e6)
    )
    np.testing.assert_array_equal(there.x, sliced.x)
    assert_same(here, there)


def test_large_lps_of_their_own_kind():
    here, there = both(boxed_family(8, 12, 200, 400, ["cost"]), 1e-6)
    assert_same(here, there)
    here, there = both(family(8, 6, 1500, 3000, ["row_upper"], density=0.002), 1e-3)
    assert_same(here, there)


def points_after(iterations, batch):
    """Return the points and duals of the twin and of the device after so many iterations."""
    found = []
    for device in ("cpu", "cuda"):
        options = EngineOptions(device=device, tolerance=1e-10, iteration_limit=iterations)
        answer = engine.solve(engine_data(batch), options, Progress())
        found.append((answer.x, answer.row_dual, answer.iterations))
    return found


@pytest.mark.parametrize("shape", [(1, 1), (1, 40), (40, 1), (31, 33), (33, 70), (50, 100)])
@pytest.mark.parametrize("varying", [["cost"], ["coefficients"]], ids=["shared", "own"])
def test_the_same_points_after_some_iterations(place, shape, varying):
    here, there = points_after(30, boxed_family(6, 20, *shape, varying))
    np.testing.assert_array_equal(there[2], here[2])
    np.testing.assert_allclose(there[0], here[0], rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(there[1], here[1], rtol=1e-8, atol=1e-9)


def test_one_row_of_a_hundred_thousand_entries():
    here, there = points_after(30, boxed_family(8, 4, 1, 100_000, ["cost"]))
    np.testing.assert_allclose(there[0], here[0], rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(there[1], here[1], rtol=1e-8, atol=1e-8)


def test_large_data_goes_through_locked_memory(monkeypatch):
    batch = boxed_family(9, 3000, 10, 20, ["coefficients", "cost"])
    options = EngineOptions(device="cuda", tolerance=1e-6)
    direct = engine.solve(engine_data(batch), options, Progress())
    monkeypatch.setattr("solvers.kernels.batch.inputs.TOGETHER_BYTES", 0)
    monkeypatch.setattr("solvers.kernels.upload.DIRECT_BYTES", 0)
    # the package has a function of the module's name
    monkeypatch.setattr(sys.modules["solvers.pdlp.batch.run"], "SLICE_BYTES", 2**20)
    locked = engine.solve(engine_data(batch), options, Progress())
    np.testing.assert_array_equal(locked.x, direct.x)
