"""Which rows share steps: those whose gathers then touch fewer sectors of memory."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.core.linear_algebra import SparseRows
from solvers.native.sparse_locality import choose_lanes
from solvers.sparse.order import order_rows
from solvers.sparse.shape import GROUP, Plan
from solvers.sparse.slices import Packed, Slices, in_slices
from tests.matrices import as_problem_matrix

LOOKED_AT, SECTOR, LANES, STORED, GOOD = 64, 4, 32, 0.25, 0.5
PLAN = Plan(steps=2, unit_from=64, units_from=512, joins=True)


def cost(rows: list[np.ndarray], lanes: int) -> float:
    """Return the sectors gathered for each entry, and what storing it costs, the slow way."""
    together, sectors, gathered, stored = LANES // lanes, 0, 0, 0
    for first in range(0, GROUP, together):
        own = rows[first : first + together]
        stored += together * own[0].size
        skipped = [max(0, row.size - LOOKED_AT) // 2 for row in own]
        for step in range(0, LOOKED_AT, lanes):
            parts = [
                row[skip:][step : step + lanes] for row, skip in zip(own, skipped, strict=True)
            ]
            found = np.concatenate(parts)
            sectors += np.unique(found // SECTOR).size
            gathered += found.size
    entries = sum(row.size for row in rows)
    return sectors / max(1, gathered) + STORED * stored / max(1, entries)


def rows_of(positions: list[np.ndarray]) -> SparseRows:
    starts = np.concatenate([[0], np.cumsum([row.size for row in positions])]).astype(np.int32)
    indices = np.concatenate([*positions, np.zeros(0)]).astype(np.int32)
    return SparseRows(np.ones(indices.size), indices, starts, (len(positions), 5000))


@settings(max_examples=60)
@given(
    patterns=st.lists(
        st.tuples(
            st.integers(0, 300), st.integers(0, 4), st.integers(0, 700), st.sampled_from([1, 9])
        ),
        min_size=2 * GROUP + 3,
        max_size=2 * GROUP + 3,
    ),
    threads=st.sampled_from([1, 3]),
)
def test_lanes_are_those_of_the_cheapest_gathers(patterns, threads):
    patterns = sorted(patterns, key=lambda one: -one[0])
    positions = [shift + first + step * np.arange(size) for size, shift, first, step in patterns]
    matrix = rows_of(positions)
    lanes = np.empty(2, dtype=np.int64)
    same = np.arange(5000, dtype=np.int32)
    order = np.arange(len(positions), dtype=np.int32)
    choose_lanes(matrix.indptr, matrix.indices, order, same, lanes, threads)
    for which, found in enumerate(lanes.tolist()):
        group = positions[which * GROUP : (which + 1) * GROUP]
        costs = {each: cost(group, each) for each in (32, 16, 8, 4)}
        if costs[32] <= STORED + GOOD:
            assert found == 32, "gathers are good enough"
        else:
            assert costs[found] == pytest.approx(min(costs.values()))


def laid(matrix: sp.csr_array, plan: Plan) -> Slices:
    rows = SparseRows.of(as_problem_matrix(sp.csr_array(matrix)))
    position = np.arange(matrix.shape[1])
    return in_slices(rows, plan, order_rows(rows).order, position, Packed())


def lanes_of(slices: Slices) -> set[int]:
    """Return the lanes for each row, of slices with rows in them."""
    codes = slices.meta[slices.meta[:, 1] > 0, 3]
    return set((1 << (codes & 15)).tolist())


@pytest.mark.parametrize("length", [70, 300])
def test_rows_of_strided_neighbours_share_steps(length):
    strided = sp.hstack([sp.eye_array(16)] * length)
    assert lanes_of(laid(strided, PLAN)) == {LANES // SECTOR}


@pytest.mark.parametrize("length", [70, 300])
def test_rows_with_stretches_of_their_own_share_none(length):
    own = sp.kron(sp.eye_array(16), np.ones((1, length + -length % SECTOR)))
    assert lanes_of(laid(own, PLAN)) == {32}


def test_rows_of_very_unequal_length_share_steps_in_pairs_at_the_most():
    lengths = [2000, 1100, 600, 330, 180, 100, 90, 80]
    columns = [16 * np.arange(length) + which for which, length in enumerate(lengths)]
    entries = (np.ones(sum(lengths)), (np.repeat(np.arange(8), lengths), np.concatenate(columns)))
    slices = laid(sp.csr_array(entries, shape=(8, 32_000)), PLAN)
    assert min(lanes_of(slices)) == 16
    assert slices.padding < 0.5


def test_short_rows_and_plans_that_join_none_stay_apart():
    strided = sp.hstack([sp.eye_array(16)] * 300)
    assert lanes_of(laid(strided, Plan(steps=2, unit_from=64, units_from=512))) == {32}
    assert lanes_of(laid(sp.hstack([sp.eye_array(16)] * 2), PLAN)) == {1}


def test_units_of_joined_rows_number_a_partial_sum_for_each_row():
    slices = laid(sp.hstack([sp.eye_array(16)] * 300), PLAN)
    units = -(-SECTOR * 300 // (PLAN.units_from // 2))
    assert slices.splits[:, 2].tolist() == [units] * 4 * units
    assert slices.splits[:, 1].tolist() == [*range(units)] * 4
    assert slices.splits[:, 0].tolist() == np.repeat(np.arange(4) * 4 * units, units).tolist()
    assert slices.partials.shape == (16 * units, 3)
