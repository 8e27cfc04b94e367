"""The device code itself, run on the host block beside block, against its twin: bit by bit."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.mip.heuristics.local_search.kernels.grid_walk import Control
from solvers.mip.heuristics.local_search.kernels.walk import Field
from solvers.mip.heuristics.local_search.layout import Layout
from tests.emulator import needs_compiler
from tests.mip.heuristics.local_search.grid_wide.cases import (
    CASES,
    Whole,
    huge_row,
    start_grid_wide,
)
from tests.mip.heuristics.local_search.test_emulated import run_emulated

pytestmark = needs_compiler

CARRIED = ("records", "values", "cells", "kept", "tree", "claims", "moves", "slots", "shares")
LAUNCHES = (0, 1, 2, 25)
WIDE_TEAMS = {"long line": 40, "wide covering": 24}


def assert_same(one: Whole, other: Whole) -> None:
    for name in CARRIED:
        assert np.array_equal(one.host(name), other.host(name)), name
    plans = [whole.host("control")[: Control.ARRIVED] for whole in (one, other)]
    assert np.array_equal(*plans)


def walk_both(twin: Whole, device: Whole, launches: tuple[int, ...] = LAUNCHES) -> None:
    for steps in launches:
        for whole in (twin, device):
            whole.walk(steps)
        assert_same(twin, device)
    assert twin.record[Field.MOVES] > 0


@pytest.mark.parametrize("name", CASES)
def test_the_grid_walks_as_its_twin(name):
    layout, teams = Layout.of(CASES[name](), wide=True), WIDE_TEAMS.get(name, 5)
    twin = start_grid_wide(layout, teams)
    walk_both(twin, start_grid_wide(layout, teams, launcher=run_emulated))


def test_a_row_of_a_hundred_thousand_entries():
    layout = Layout.of(huge_row(), wide=True)
    twin = start_grid_wide(layout, 24)
    walk_both(twin, start_grid_wide(layout, 24, launcher=run_emulated), (1, 6))


@pytest.mark.parametrize("blocks", [1, 3])
def test_the_number_of_blocks_makes_no_difference(blocks):
    layout = Layout.of(CASES["mixed"](), wide=True)
    twin = start_grid_wide(layout, 20)
    device = start_grid_wide(layout, 20, launcher=run_emulated, blocks=blocks)
    walk_both(twin, device, (20,))


def test_weights_go_down_and_clocks_start_anew_as_in_the_twin():
    layout = Layout.of(CASES["partition"](), wide=True)
    pair = [start_grid_wide(layout, 5), start_grid_wide(layout, 5, launcher=run_emulated)]
    for whole in pair:
        whole.set_record(Field.SMOOTHING, 0.5)
    walk_both(pair[0], pair[1], (30,))
    for whole in pair:
        whole.set_record(Field.STEP, whole.record[Field.ORIGIN] + 1e6 - 5.0)
        whole.set_record(Field.JUMP, 0.0)
    walk_both(pair[0], pair[1], (20,))


def test_short_numbers_walk_as_long_ones():
    """32 bits hold a model of small whole numbers exactly, so that the walk is the same."""
    model = CASES["covering"]()
    long, short = Layout.of(model, wide=True), Layout.of(model)
    assert (long.real, short.real) == ("float64", "float32")
    twin = start_grid_wide(long, 7)
    walk_both(twin, start_grid_wide(short, 7, launcher=run_emulated))
