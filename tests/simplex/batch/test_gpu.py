"""The batched simplex kernel on a GPU against its twin."""

from __future__ import annotations

import dataclasses
from importlib import import_module

import numpy as np
import pytest

from solvers.core.options import EngineOptions
from solvers.core.progress import Progress
from solvers.simplex import batch as engine
from solvers.simplex.batch import Ending
from tests.simplex.batch.cases import batch_of, boxed_batch, member, mixed_batch, mixed_problem

pytestmark = pytest.mark.gpu

run = import_module("solvers.simplex.batch.run")

PLACES = {
    "held": {},
    "near": {"HELD_COLUMNS": 0},
    "dictionary far": {"HELD_COLUMNS": 0, "far": True},
    "all far": {"DECLARED_SHARED": 10**9},
}


@pytest.fixture(params=list(PLACES))
def place(request, monkeypatch):
    """Force where LPs are kept, whatever their size."""
    wanted = dict(PLACES[request.param])
    if wanted.pop("far", False):
        find = run.find_layout

        def far(rows, columns, **more):
            vectors = run.vector_bytes(rows, columns, run.LARGEST_BLOCK)
            room = vectors + run.DECLARED_SHARED
            return find(rows, columns, **{**more, "shared_memory": room})

        monkeypatch.setattr(run, "find_layout", far)
    for name, value in wanted.items():
        monkeypatch.setattr(run, name, value)


def both(data):
    here, there = (
        engine.solve(data, EngineOptions(device=device), Progress()) for device in ("cpu", "cuda")
    )
    assert there.device == "cuda"
    return here, there


def assert_same(data):
    """Compare endings and objectives, and points where the pivots were the same."""
    here, there = both(data)
    np.testing.assert_array_equal(there.ending, here.ending)
    for k in np.flatnonzero(here.ending == Ending.OPTIMAL).tolist():
        problem = member(data, k)
        ours, theirs = problem.objective_at(there.x[k]), problem.objective_at(here.x[k])
        assert ours == pytest.approx(theirs, rel=1e-9, abs=1e-9)
    same = (here.basis == there.basis).all(axis=1)
    np.testing.assert_allclose(there.x[same], here.x[same], rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(there.row_dual[same], here.row_dual[same], rtol=1e-7, atol=1e-7)
    assert set(there.rays) == set(here.rays)
    return here, there


@pytest.mark.parametrize("name", ["cost", "lower", "upper", "row_lower", "row_upper", "values"])
def test_each_kind_of_data(place, name):
    here, there = assert_same(boxed_batch(3, 40, 11, 19, (name,)))
    assert (there.ending == Ending.OPTIMAL).all()
    np.testing.assert_array_equal(there.basis, here.basis)


SHAPES = [(1, 1), (1, 40), (3, 7), (9, 17), (40, 1), (31, 33), (33, 70), (50, 100), (0, 5), (5, 0)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("whole", [False, True])
def test_shapes_and_endings(place, shape, whole):
    assert_same(mixed_batch(5, 30, *shape, whole=whole))


@pytest.mark.parametrize("shape", [(1, 9), (20, 40), (33, 64), (50, 100), (73, 250), (100, 200)])
def test_entries_in_registers(shape):
    assert_same(boxed_batch(7, 40, *shape, ("cost", "row_upper")))
    assert_same(mixed_batch(7, 40, *shape, whole=True))


def test_sizes_of_the_benchmark():
    for shape in ((20, 40), (50, 100), (100, 200), (200, 300)):
        _, there = assert_same(boxed_batch(7, 20, *shape, ("cost", "row_upper")))
        assert (there.ending == Ending.OPTIMAL).all()


def test_one_row_of_a_hundred_thousand_entries():
    assert_same(boxed_batch(8, 3, 1, 100_000, ("cost",)))


def test_empty_rows_and_infinite_sides(place):
    problems = [mixed_problem(k, 9, 14, whole=True, density=0.1) for k in range(20)]
    assert_same(batch_of(problems))


@pytest.mark.parametrize("rows", [1, 30])
def test_bases_to_start_from(place, rows):
    data = mixed_batch(6, 30, 12, 18, whole=True)
    basis = np.random.default_rng(0).integers(0, 4, (rows, 30)).astype(np.int8)
    assert_same(dataclasses.replace(data, basis=basis))


def test_a_sweep_from_a_basis_of_one():
    data = boxed_batch(6, 300, 30, 50, ("row_upper",))
    cold, _ = both(data)
    _, warm = assert_same(dataclasses.replace(data, basis=cold.basis[:1]))
    assert warm.iterations.sum() < cold.iterations.sum()


def test_repeated_solves_give_the_same_bits():
    data = boxed_batch(8, 2000, 20, 40, ("cost", "values"))
    options = EngineOptions(device="cuda")
    one, other = (engine.solve(data, options, Progress()) for _ in range(2))
    for name in ("x", "row_dual", "basis", "iterations"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_slices_change_nothing():
    data = boxed_batch(8, 5000, 5, 8, ("values",))
    options = EngineOptions(device="cuda")
    whole = engine.solve(data, options, Progress())
    sliced = engine.solve(data, options, Progress(1e6))
    np.testing.assert_array_equal(sliced.x, whole.x)
    assert (whole.ending == Ending.OPTIMAL).all()
