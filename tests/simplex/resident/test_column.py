"""Solving with the inverse alone, where right sides are lists of any length."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from solvers.simplex.resident import control as word
from solvers.simplex.resident.kernels.column import COLUMN
from tests.simplex.resident.device_code import COMPILER
from tests.simplex.resident.side_by_side import compare

ROWS, SLOTS, MOST, MADE = 43, 20, 6, 4


def listed(entries: int, of_flips: int, steepest: int = 0) -> dict[str, Any]:
    """Return what the solve is given: a list of entries, in slots and in rows of unit columns."""
    random = np.random.default_rng(entries)
    control = np.zeros(word.CONTROL_WORDS, dtype=np.int32)
    control[word.SLOTS], control[word.PIVOTS] = SLOTS, MADE
    control[word.ENTRIES], control[word.FLIP_ENTRIES] = entries, of_flips
    control[word.FLIPS] = 1 if of_flips else 0
    rows = random.integers(0, ROWS, entries)
    unit_row = np.full(ROWS, -1, dtype=np.int32)
    unit_row[random.permutation(ROWS)[: ROWS - SLOTS]] = np.arange(SLOTS, ROWS)
    return {
        "rows": ROWS, "capacity": SLOTS + 3, "most": MOST, "dual": 1, "steepest": steepest,
        "inverse": random.uniform(-1.0, 1.0, (ROWS, SLOTS + 3)), "unit_row": unit_row,
        "etas": random.uniform(-1.0, 1.0, (ROWS, MOST)),
        "eta_rows": random.uniform(-1.0, 1.0, (MOST, ROWS)),
        "row_slots": random.uniform(-1.0, 1.0, SLOTS + 3),
        "places": np.where(rows < SLOTS, rows, -1 - rows).astype(np.int32),
        "amounts": random.uniform(-1.0, 1.0, entries),
        "column": np.zeros(ROWS), "column_slots": np.zeros(SLOTS + 3),
        "flip_column": np.zeros(ROWS), "flip_slots": np.zeros(SLOTS + 3),
        "column_dots": random.uniform(-1.0, 1.0, MOST),
        "flip_dots": random.uniform(-1.0, 1.0, MOST), "dots": random.uniform(-1.0, 1.0, MOST + 1),
        "control": control, "alpha": np.zeros(ROWS), "beta": np.zeros(ROWS), "tau": np.zeros(ROWS),
    }  # fmt: skip


LISTS = [(1, 0), (64, 30), (65, 0), (300, 299), (1024, 1000), (1025, 1024), (5000, 2100)]
"""Numbers of entries, and of those of flips."""


def test_list_stands_for_the_sum_of_its_entries():
    values = listed(300, 120)
    COLUMN["solve_column"](*values.values())
    whole = np.zeros((ROWS, ROWS))  # the inverse without delayed pivots, by row of the basis
    whole[:, :SLOTS] = values["inverse"][:, :SLOTS]
    unit = np.flatnonzero(values["unit_row"] >= 0)
    whole[unit, values["unit_row"][unit]] = -1.0
    places = values["places"]
    rows = np.where(places >= 0, places, -1 - places)
    for name, part, dots in (
        ("beta", slice(0, 120), "flip_dots"),
        ("alpha", slice(120, None), "column_dots"),
    ):
        right = np.bincount(rows[part], values["amounts"][part], ROWS)
        expected = whole @ right + values["etas"][:, :MADE] @ values[dots][:MADE]
        np.testing.assert_allclose(values[name], expected, rtol=1e-12, atol=1e-12)


@pytest.mark.skipif(COMPILER is None, reason="no C++ compiler")
@pytest.mark.parametrize("steepest", [0, 1])
@pytest.mark.parametrize("size", LISTS)
def test_device_code_solves_as_the_twin(size, steepest, emulator):
    twin = listed(*size, steepest)
    device = {k: v.copy() if isinstance(v, np.ndarray) else v for k, v in twin.items()}
    COLUMN["solve_column"](*twin.values())
    emulator.kernel(COLUMN, "solve_column")(*device.values())
    compare(COLUMN.kernels["solve_column"], list(twin.values()), list(device.values()))
