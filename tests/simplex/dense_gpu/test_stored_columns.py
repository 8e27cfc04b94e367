"""The host's record of stored columns, against one that is kept pivot by pivot."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.simplex.dense_gpu.nucleus import StoredColumns

ROWS, STRUCTURALS = 7, 5


def random_pivots(seed, count, basic):
    """Return a log of pivots that exchange a basic variable for one that is not."""
    random = np.random.default_rng(seed)
    now, log = basic.copy(), []
    for _ in range(count):
        position = int(random.integers(ROWS))
        outside = np.setdiff1d(np.arange(ROWS + STRUCTURALS), now)
        entering = int(random.choice(outside))
        log.append((position, int(now[position]), entering))
        now[position] = entering
    return np.array(log, dtype=np.int32).reshape(count, 3), now


@given(st.integers(0, 10**6), st.lists(st.integers(1, 12), min_size=1, max_size=4))
@settings(max_examples=60)
def test_slots_belong_to_rows_whose_logical_is_nonbasic(seed, counts):
    basic = np.random.default_rng(seed).permutation(ROWS + STRUCTURALS)[:ROWS]
    slots = StoredColumns(ROWS, STRUCTURALS)
    slots.restart(basic, np.flatnonzero(basic >= STRUCTURALS))
    columns = [int(row) for row in slots.row_of_slot]  # what each stored column holds
    for turn, count in enumerate(counts):
        was = slots.unit_position.copy()
        log, after = random_pivots(seed + turn, count, basic)
        joined, positions, left = slots.follow(log, basic)
        np.testing.assert_array_equal(basic, after)
        np.testing.assert_array_equal(was[joined], positions)
        opened = slots.open(joined)
        np.testing.assert_array_equal(opened, len(columns) + np.arange(joined.size))
        columns += joined.tolist()
        targets, sources = slots.close(left)
        assert not set(targets.tolist()) & set(sources.tolist())
        for target, source in zip(targets.tolist(), sources.tolist(), strict=True):
            if target >= 0:
                columns[target] = columns[source]
        del columns[len(columns) - left.size :]
        assert columns == slots.row_of_slot.tolist()
        logical = np.flatnonzero(basic >= STRUCTURALS)
        expected = np.full(ROWS, -1)
        expected[basic[logical] - STRUCTURALS] = logical
        np.testing.assert_array_equal(slots.unit_position, expected)
        rows = np.full(ROWS, -1)
        rows[logical] = basic[logical] - STRUCTURALS
        np.testing.assert_array_equal(slots.unit_row, rows)
        assert sorted(columns) == np.flatnonzero(expected < 0).tolist()
        assert slots.slot_of_row[columns] == pytest.approx(np.arange(len(columns)))
        assert (slots.slot_of_row[expected >= 0] == -1).all()
