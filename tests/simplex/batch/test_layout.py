"""Where the blocks of the batched simplex kernel keep their LPs."""

from __future__ import annotations

import pytest

from solvers.simplex.batch.kernels.simplex import ALL_FAR, ALL_NEAR, MATRIX_FAR
from solvers.simplex.batch.run import (
    DECLARED_SHARED,
    LARGEST_BLOCK,
    REAL,
    SHARED_MEMORY,
    find_layout,
    vector_bytes,
)
from tests.cases import through


def layout(rows, columns, **changes):
    return find_layout(rows, columns, **{"count": 10_000, "processors": 132, **changes})


@pytest.mark.parametrize(
    ("shape", "place"),
    [
        ((20, 40), ALL_NEAR),
        ((50, 100), ALL_NEAR),
        ((100, 200), ALL_NEAR),
        ((200, 400), MATRIX_FAR),
        ((100, 2000), MATRIX_FAR),
        ((3000, 6000), ALL_FAR),
    ],
)
def test_small_lps_are_kept_in_shared_memory(shape, place):
    found = layout(*shape)
    assert found.place == place
    assert found.shared <= SHARED_MEMORY - DECLARED_SHARED
    kept = found.shared + REAL * found.scratch_step
    assert kept >= REAL * shape[0] * shape[1] + vector_bytes(*shape, found.block)


def test_an_older_gpu_has_less_room():
    assert layout(100, 200, shared_memory=100 * 1024).place == MATRIX_FAR


@pytest.mark.parametrize("shape", [(0, 0), (1, 1), (31, 5), (32, 5), (33, 5), (5000, 1), (1, 5000)])
def test_blocks_are_whole_warps_and_of_no_more_threads_than_allowed(shape):
    found = layout(*shape)
    assert found.block % 32 == 0
    assert 32 <= found.block <= LARGEST_BLOCK


def test_rows_of_shared_memory_meet_different_banks():
    assert layout(20, 40).leading == 21
    assert layout(21, 40).leading == 21


def test_no_more_blocks_than_lps():
    assert layout(20, 40, count=7).blocks == 7


@through(
    ("shape", "held", "block"),
    [
        ((20, 40), True, 32),
        ((50, 100), True, 160),
        ((100, 200), True, 512),
        ((512, 3), True, 512),
        ((513, 3), False, 512),
        ((10, 257), False, 128),
        ((110, 210), False, 512),
        ((0, 5), False, 32),
        ((5, 0), False, 32),
    ],
)
def test_threads_hold_dictionaries_of_few_columns_for_whose_rows_there_are_enough(
    shape, held, block
):
    found = layout(*shape)
    assert (found.held, found.block) == (held, block)


def test_held_dictionaries_need_room_for_their_vectors_too():
    usual = layout(50, 100)
    assert usual.held
    assert not layout(50, 100, shared_memory=usual.shared + DECLARED_SHARED - 1).held
