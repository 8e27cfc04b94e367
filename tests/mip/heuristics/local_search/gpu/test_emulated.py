"""The device code itself, run on the host lane by lane, against its twin: bit by bit the same."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

from solvers.kernels.family import Family
from solvers.mip.heuristics.local_search.gpu.kernels.fields import Field
from solvers.mip.heuristics.local_search.gpu.kernels.walk import WALKS
from solvers.mip.heuristics.local_search.gpu.layout import Layout
from tests.mip.heuristics.local_search.gpu.cases import CASES, Fleet, restart, run_twin, start_fleet
from tests.mip.heuristics.local_search.gpu.emulated import COMPILER, build, launch

pytestmark = pytest.mark.skipif(COMPILER is None, reason="there is no C++ compiler")

SEED = 3
CARRIED = ("values", "cells", "kept", "records")


class Emulated:
    """Families built for the host, each once."""

    def __init__(self, folder: Any) -> None:
        self._folder = folder
        self._built: dict[tuple[str, str], ctypes.CDLL] = {}

    def launcher(self, real: str) -> Any:
        def run(family: Family, name: str, values: tuple[Any, ...]) -> None:
            key = (family.stem, real)
            if key not in self._built:
                self._built[key] = build(family, self._folder, real)
            launch(self._built[key], family.kernels[name], values)

        return run


@pytest.fixture(scope="module")
def emulated(tmp_path_factory):
    return Emulated(tmp_path_factory.mktemp("emulated"))


def assert_same(one: Fleet, other: Fleet) -> None:
    for name in CARRIED:
        assert np.array_equal(one.host(name), other.host(name)), name
    for walker, record in enumerate(one.records):
        count = int(record[Field.VIOLATED])
        lists = [fleet.host("violated")[walker, :count] for fleet in (one, other)]
        assert np.array_equal(*lists)


def both(emulated: Emulated, layout: Layout, walkers: int) -> tuple[Fleet, Fleet, Any]:
    run = emulated.launcher(layout.real)
    twin = start_fleet(layout, walkers)
    return twin, start_fleet(layout, walkers, launch=run), run


@pytest.mark.parametrize("name", CASES)
def test_warps_walk_as_their_twin(emulated, name):
    twin, device, run = both(emulated, Layout.of(CASES[name](), wide=True), 4)
    for steps in (0, 150, 150):
        for fleet, how in ((twin, run_twin), (device, run)):
            how(WALKS, "walk", (*fleet.model, *fleet.state.arguments, steps, SEED))
        assert_same(twin, device)
    assert twin.records[:, Field.MOVES].sum() > 0


@pytest.mark.parametrize("name", ["mixed", "long lines", "single"])
def test_blocks_walk_as_their_twin(emulated, name):
    twin, device, run = both(emulated, Layout.of(CASES[name](), wide=True), 2)
    for fleet, how in ((twin, run_twin), (device, run)):
        how(WALKS, "walk_wide", (*fleet.model, *fleet.state.arguments, 60, SEED))
    assert_same(twin, device)


def test_short_numbers_walk_as_long_ones(emulated):
    """32 bits hold a model of small whole numbers exactly, so that the walk is the same."""
    model = CASES["covering"]()
    long, short = Layout.of(model, wide=True), Layout.of(model)
    assert (long.real, short.real) == ("float64", "float32")
    twin, run = start_fleet(long, 4), emulated.launcher("float32")
    device = start_fleet(short, 4, launch=run)
    for fleet, how in ((twin, run_twin), (device, run)):
        how(WALKS, "walk", (*fleet.model, *fleet.state.arguments, 200, SEED))
    assert_same(twin, device)


def test_restart_does_as_its_twin(emulated):
    twin, device, run = both(emulated, Layout.of(CASES["mixed"](), wide=True), 4)
    point = twin.host("values")[0, 0::2]
    origins, modes, shares = np.array([-1, 0, 4, 4]), np.array([0, 2, 1, 0]), np.full(4, 0.4)
    for fleet, how in ((twin, run_twin), (device, run)):
        how(WALKS, "walk", (*fleet.model, *fleet.state.arguments, 80, SEED))
        restart(fleet, point[None], origins, modes, shares, SEED, how)
        how(WALKS, "walk", (*fleet.model, *fleet.state.arguments, 80, SEED))
    assert_same(twin, device)
