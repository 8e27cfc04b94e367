"""The batched simplex kernel's device code, run on the host, against its twin."""

from __future__ import annotations

import dataclasses
import sys

import numpy as np
import pytest

from gpu_bridge.batch.verify import find_figures
from solvers.core.options import EngineOptions
from solvers.core.progress import Progress
from solvers.simplex import batch as engine
from solvers.simplex.batch import Ending, Parameters, Settings
from solvers.simplex.batch.kernels.simplex import (
    ALL_FAR,
    ALL_NEAR,
    FAMILY,
    INFEASIBLE,
    MATRIX_FAR,
    OPTIMAL,
    UNBOUNDED,
)
from solvers.simplex.batch.run import REAL, SHARED_MEMORY, _held_layout, find_layout, vector_bytes
from tests.emulator import Emulated, needs_compiler
from tests.emulator.gpu import EmulatedGpu
from tests.simplex.batch.cases import boxed_batch, mixed_batch, run_kernel

pytestmark = needs_compiler


@pytest.fixture(scope="module")
def device_code():
    return Emulated(FAMILY)


def by_twin(values):
    FAMILY["simplex"](*values, threads=1)


def layout_of(shape, count, place=ALL_NEAR, block=None):
    """Return a layout with the LP where it is wanted, whatever its size, and nothing held."""
    m, n = shape
    usual = find_layout(m, n, count=count, processors=1)
    block = block or usual.block
    vectors, leading = vector_bytes(m, n, block), usual.leading
    matrix = REAL * leading * n
    shared = {ALL_NEAR: vectors + matrix, MATRIX_FAR: vectors, ALL_FAR: 0}[place]
    scratch = {ALL_NEAR: 0, MATRIX_FAR: matrix, ALL_FAR: matrix + vectors}[place] // REAL
    changes = {"place": place, "held": False, "block": block, "shared": shared}
    return dataclasses.replace(usual, **changes, scratch_step=scratch)


def held_layout(shape, count):
    """Return a layout with the dictionary in registers."""
    found = _held_layout(*shape, SHARED_MEMORY, count, 1)
    assert found is not None
    return found


def assert_same(data, device_code, layout):
    here = run_kernel(data, by_twin)
    kernel = device_code["simplex_held" if layout.held else "simplex"]
    there = run_kernel(data, lambda values: kernel(*values), layout)
    np.testing.assert_array_equal(there["ending"], here["ending"])
    np.testing.assert_array_equal(there["iterations"], here["iterations"])
    np.testing.assert_array_equal(there["basis"], here["basis"])
    unbounded = here["ending"][:, 0] == UNBOUNDED
    for name in ("x", "y"):
        np.testing.assert_allclose(there[name], here[name], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(there["ray"][unbounded], here["ray"][unbounded], atol=1e-9)
    return here


SHAPES = [
    (1, 1),
    (1, 40),
    (3, 7),
    (9, 17),
    (40, 1),
    (31, 33),
    (32, 20),
    (33, 40),
    (0, 5),
    (5, 0),
    (0, 0),
]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_shapes(device_code, shape):
    data = mixed_batch(1, 6, *shape, whole=True)
    assert_same(data, device_code, layout_of(shape, 6))


@pytest.mark.parametrize("block", [32, 64, 256])
@pytest.mark.parametrize("place", [ALL_NEAR, MATRIX_FAR, ALL_FAR])
def test_places_and_blocks(device_code, place, block):
    data = mixed_batch(2, 3, 20, 30, whole=False)
    assert_same(data, device_code, layout_of((20, 30), 3, place, block))


@pytest.mark.parametrize(
    "shape", [(1, 1), (1, 40), (9, 17), (8, 65), (12, 128), (20, 200)], ids=str
)
def test_dictionaries_held_in_registers(device_code, shape):
    layout = held_layout(shape, 6)
    assert_same(mixed_batch(1, 4, *shape, whole=True), device_code, layout)
    here = assert_same(boxed_batch(3, 2, *shape, ("cost", "row_upper")), device_code, layout)
    assert (here["ending"] == OPTIMAL).all()


@pytest.mark.parametrize("columns", [40, 100, 160])
def test_groups_of_equal_ratios_in_held_dictionaries(device_code, columns):
    data = boxed_batch(3, 6, 6, columns, ("row_upper",))
    alike = np.repeat(data.cost.reshape(-1, 4)[:, :1], 4, axis=1).reshape(1, -1)
    values = np.repeat(data.values.reshape(6, -1, 4)[:, :, :1], 4, axis=2).reshape(1, -1)
    # sides at which some columns of a group are at their upper bounds, and some are not
    sides = 0.3 * data.row_upper + 1.0
    data = dataclasses.replace(data, cost=alike, values=values, row_upper=sides)
    assert_same(data, device_code, held_layout((6, columns), 6))


def test_held_dictionaries_between_looks_at_their_accuracy(device_code, monkeypatch):
    often = Settings(Parameters(check_every=3.0, stalled=2.0))
    monkeypatch.setattr("tests.simplex.batch.cases.DEFAULT", often)
    data = mixed_batch(9, 20, 12, 85, whole=True)
    assert_same(data, device_code, held_layout((12, 85), 20))


@pytest.mark.parametrize("varying", ["cost", "lower", "upper", "row_upper", "values"])
def test_data_that_varies_or_is_shared(device_code, varying):
    data = boxed_batch(3, 4, 11, 17, (varying,))
    here = assert_same(data, device_code, layout_of((11, 17), 4))
    assert (here["ending"] == OPTIMAL).all()


@pytest.mark.parametrize("rows", [1, 5])
def test_bases_to_start_from(device_code, rows):
    data = mixed_batch(4, 5, 12, 18, whole=True)
    basis = np.random.default_rng(0).integers(0, 4, (rows, 30)).astype(np.int8)
    started = dataclasses.replace(data, basis=basis)
    assert_same(started, device_code, layout_of((12, 18), 5))
    shared = boxed_batch(3, 5, 12, 18, ("row_upper",))
    assert_same(dataclasses.replace(shared, basis=basis), device_code, layout_of((12, 18), 5))


def test_many_kinds_of_endings(device_code):
    data = mixed_batch(5, 60, 6, 7, whole=True)
    here = assert_same(data, device_code, layout_of((6, 7), 60))
    assert set(here["ending"].ravel()) == {OPTIMAL, INFEASIBLE, UNBOUNDED}


def test_a_batch_larger_than_its_grid(device_code):
    data = boxed_batch(6, 50, 3, 4, ("cost", "values"))
    layout = dataclasses.replace(layout_of((3, 4), 50), blocks=1)
    assert_same(data, device_code, layout)


@pytest.mark.parametrize("limit", [np.inf, 1e6], ids=["at once", "in slices"])
def test_the_engine_on_the_way_to_a_gpu_and_back(device_code, monkeypatch, limit):
    data = mixed_batch(5, 90, 6, 7, whole=True)
    here = engine.solve(data, EngineOptions(device="cpu", threads=1), Progress())
    running = sys.modules["solvers.simplex.batch.run"]
    monkeypatch.setattr(engine, "find_devices", lambda wanted: [EmulatedGpu("cuda", "")])
    monkeypatch.setattr(running, "find_device", lambda wanted: EmulatedGpu("cuda", ""))
    monkeypatch.setattr(running, "FAMILY", device_code)
    there = engine.solve(data, EngineOptions(device="cuda"), Progress(limit), check=True)
    assert there.device == "cuda"
    optimal = here.ending == Ending.OPTIMAL
    expected = find_figures(data, there.x, there.row_dual, optimal, 1)
    np.testing.assert_array_equal(there.figures, expected)
    assert there.basis.dtype == np.int8
    for name in ("ending", "iterations", "basis"):
        np.testing.assert_array_equal(getattr(there, name), getattr(here, name))
    np.testing.assert_allclose(there.x, here.x, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(there.row_dual, here.row_dual, rtol=1e-9, atol=1e-9)
    assert set(there.rays) == set(here.rays)
    for k, ray in here.rays.items():
        np.testing.assert_allclose(there.rays[k], ray, rtol=1e-9, atol=1e-9)
