"""How rows and columns are shared out: everything once, and everybody gets what it reads."""

from __future__ import annotations

from itertools import cycle

import numpy as np
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.core.linear_algebra import SparseRows
from solvers.pdlp.distributed.sides import Side, owners, sides_of
from solvers.sparse.shape import CPU_PLAN, Plan
from tests.matrices import (
    NAMES,
    Which,
    any_matrix,
    as_problem_matrix,
    each,
    matrix_of,
)


def sides(which: Which, devices: int, plan: Plan) -> tuple[Side, Side]:
    matrix = matrix_of(which)
    rows, columns = SparseRows.of(matrix), SparseRows.of(matrix.tocsc())
    return sides_of(rows, columns, np.full(devices, 1.0 / devices), plan)


PLANS = {"cpu": CPU_PLAN, "usual": Plan()}


@each(which=NAMES * 2, devices=cycle([1, 2, 3, 5, 4]), plan=cycle(PLANS))
@given(any_matrix(), st.integers(1, 8), st.sampled_from([*PLANS]))
@settings(max_examples=40)
def test_devices_get_what_their_rows_read(which, devices, plan):
    matrix = matrix_of(which)
    own, other = sides(which, devices, PLANS[plan])
    for side, size in ((own, matrix.shape[0]), (other, matrix.shape[1])):
        assert np.array_equal(np.sort(side.order), np.arange(size))
        assert side.devices == devices
    for here, there, by_row in ((own, other, matrix), (other, own, matrix.T.tocsr())):
        held = copies(there)
        for device in range(devices):
            rows = here.order[here.range_of(device)]
            read = np.unique(by_row[rows].indices)
            assert set(read) <= set(held[device])
            position = there.positions(device)
            assert np.array_equal(held[device][position[read]], read)
            assert there.lengths[device] == held[device].size


def copies(side: Side) -> list[np.ndarray]:
    """Return the numbers of the elements on each device after the transfers."""
    own = [side.order[side.range_of(device)] for device in range(side.devices)]
    held = [np.full(length, -1) for length in side.lengths]
    for device, numbers in enumerate(own):
        held[device][: numbers.size] = numbers
    for transfer in side.transfers:
        places = np.arange(own[transfer.source].size)[transfer.places]
        assert places.max() < side.bounds[transfer.source][1]
        end = transfer.begin + transfer.count
        assert (held[transfer.target][transfer.begin : end] == -1).all()
        held[transfer.target][transfer.begin : end] = own[transfer.source][places]
    assert all((numbers >= 0).all() for numbers in held)
    return held


def test_work_is_shared_as_asked_for():
    generator = np.random.default_rng(1)
    lengths = generator.integers(0, 50, 10_000)
    shares = np.array([0.5, 0.3, 0.2])
    lumps = np.round(generator.random(lengths.size) * 7) / 7
    for places in (None, generator.random(lengths.size), np.full(lengths.size, 0.5), lumps):
        starts = np.concatenate([[0], np.cumsum(lengths)])
        work = np.bincount(owners(starts, shares, places), lengths + 8.0)
        np.testing.assert_allclose(work / work.sum(), shares, atol=0.01)


def test_what_belongs_together_goes_together():
    """Columns are listed technology by technology, each hour by hour, and stores link hours."""
    hours, kinds = 500, 10
    column = np.arange(hours * kinds).reshape(kinds, hours)
    hour = np.arange(hours)
    row = np.concatenate([np.tile(hour, kinds), hours + hour, hours + hour])
    entry = np.concatenate([column.ravel(), column[-1], np.roll(column[-1], -1)])
    matrix = as_problem_matrix(
        sp.csr_array((np.ones(row.size), (row, entry)), (2 * hours, hours * kinds))
    )
    rows, columns = SparseRows.of(matrix), SparseRows.of(matrix.tocsc())
    own, other = sides_of(rows, columns, np.array([0.5, 0.5]), CPU_PLAN)
    assert own.received + other.received < 0.05 * sum(matrix.shape)


def test_more_devices_than_rows_leave_some_without():
    own, _ = sides("one row", 5, CPU_PLAN)
    assert sorted(own.owned(device) for device in range(5)) == [0, 0, 0, 0, 1]
