"""Where LPs are kept on a GPU: a pure function of sizes."""

from __future__ import annotations

import pytest

from solvers.pdlp.batch.kernels.solve import DENSE, LARGE, MIXED, SPARSE
from solvers.pdlp.batch.layout import DECLARED_SHARED, SHARED_MEMORY, find_layout

CASES = {
    "one by one": (1, 1, 1, DENSE),
    "headline": (50, 100, 5000, DENSE),
    "dense, larger": (100, 200, 20_000, DENSE),
    "sparse": (50, 100, 500, SPARSE),
    "too large to be dense": (200, 400, 80_000, MIXED),
    "sparse, medium": (500, 1000, 8000, MIXED),
    "long vectors": (2000, 4000, 20_000, LARGE),
    "one row": (1, 500, 500, DENSE),
    "one column": (500, 1, 500, DENSE),
}


def layout(rows, columns, nonzeros, own_matrix=True, count=10_000):
    return find_layout(rows, columns, nonzeros, own_matrix=own_matrix, count=count, processors=132)


@pytest.mark.parametrize("case", CASES)
def test_place(case):
    rows, columns, nonzeros, storage = CASES[case]
    found = layout(rows, columns, nonzeros)
    assert found.storage == storage
    assert found.shared <= SHARED_MEMORY - DECLARED_SHARED
    assert found.block % 32 == 0
    assert 32 <= found.block <= 512
    assert found.leading >= columns
    assert found.vertex_limit <= min(rows, columns)


def test_a_matrix_of_its_own_takes_scratch_only_where_it_is_not_in_shared_memory():
    assert layout(50, 100, 5000).scratch_step == 0
    own, shared = layout(500, 1000, 8000), layout(500, 1000, 8000, own_matrix=False)
    assert own.scratch_step - shared.scratch_step == 16_000


def test_no_more_blocks_than_lps():
    assert layout(50, 100, 5000, count=7).blocks == 7


@pytest.mark.parametrize("columns", [17, 64, 99, 100, 128])
def test_neighbouring_rows_start_in_other_banks(columns):
    found = layout(50, columns, 50 * columns)
    lanes = max(1, found.block // 64)  # the power of two of lanes that 50 rows get
    starts = {
        (row * found.leading + lane) % 16 for row in range(16 // lanes) for lane in range(lanes)
    }
    assert len(starts) == 16
