"""The device code itself, run on the host lane by lane, against its twin: bit by bit the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from solvers.kernels.family import Family
from solvers.mip.heuristics.local_search.kernels.walk import WALKS, Field
from solvers.mip.heuristics.local_search.layout import Layout
from tests.emulator import emulated, needs_compiler
from tests.mip.heuristics.local_search.cases import CASES, Fleet, restart, run_twin, start_fleet

pytestmark = needs_compiler

SEED = 3
CARRIED = ("values", "cells", "kept", "records")


def run_emulated(family: Family, name: str, values: tuple[Any, ...]) -> None:
    emulated(family)[name](*values)


def assert_same(one: Fleet, other: Fleet) -> None:
    for name in CARRIED:
        assert np.array_equal(one.host(name), other.host(name)), name
    for walker, record in enumerate(one.records):
        count = int(record[Field.VIOLATED])
        lists = [fleet.host("violated")[walker, :count] for fleet in (one, other)]
        assert np.array_equal(*lists)


def both(layout: Layout, walkers: int) -> tuple[Fleet, Fleet]:
    return start_fleet(layout, walkers), start_fleet(layout, walkers, launch=run_emulated)


@pytest.mark.parametrize("name", CASES)
def test_warps_walk_as_their_twin(name):
    twin, device = both(Layout.of(CASES[name](), wide=True), 4)
    for steps in (0, 150, 150):
        for fleet, how in ((twin, run_twin), (device, run_emulated)):
            how(WALKS, "walk", fleet.arguments(steps, SEED))
        assert_same(twin, device)
    assert twin.records[:, Field.MOVES].sum() > 0


def test_short_numbers_walk_as_long_ones():
    """32 bits hold a model of small whole numbers exactly, so that the walk is the same."""
    model = CASES["covering"]()
    long, short = Layout.of(model, wide=True), Layout.of(model)
    assert (long.real, short.real) == ("float64", "float32")
    twin, device = start_fleet(long, 4), start_fleet(short, 4, launch=run_emulated)
    for fleet, how in ((twin, run_twin), (device, run_emulated)):
        how(WALKS, "walk", fleet.arguments(200, SEED))
    assert_same(twin, device)


def test_restart_does_as_its_twin():
    twin, device = both(Layout.of(CASES["mixed"](), wide=True), 4)
    point = twin.host("values")[0, 0::2]
    origins, modes, shares = np.array([-1, 0, 4, 4]), np.array([0, 2, 1, 0]), np.full(4, 0.4)
    for fleet, how in ((twin, run_twin), (device, run_emulated)):
        how(WALKS, "walk", fleet.arguments(80, SEED))
        restart(fleet, point[None], origins, modes, shares, SEED, how)
        how(WALKS, "walk", fleet.arguments(80, SEED))
    assert_same(twin, device)
