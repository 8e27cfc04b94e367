"""Sharing rows out over GPU threads: every row exactly once, each with threads for its length."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.papers.sparse_formats.kernels.csr import BLOCK, LANES, launch
from solvers.papers.sparse_formats.schedule import share_rows
from tests.papers.sparse_formats.matrices import MATRICES


def starts_for(lengths: list[int]) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)


def entries_done(starts, long_length: int | None, chunk: int | None, **how: int) -> np.ndarray:
    """Go through the launch as the kernel does; return how often each entry is read."""
    shared = share_rows(starts, long_length, chunk, **how)
    long_length, chunk = shared.long_length, shared.chunk
    done = np.zeros(starts[-1], dtype=int)
    for own, row in enumerate(shared.chunk_rows):
        first = starts[row] + (own - shared.chunk_firsts[own]) * chunk
        done[first : min(first + chunk, starts[row + 1])] += 1
    begin = 0
    for end in shared.ends:
        for place in range(begin, end):
            row = shared.order[place] if shared.order.size else place
            if starts[row + 1] - starts[row] <= long_length:
                done[starts[row] : starts[row + 1]] += 1
        begin = end
    return done


@pytest.mark.parametrize(("long_length", "chunk"), [(None, None), (1024, 8192), (40, 64), (5, 6)])
def test_every_entry_is_read_exactly_once(long_length, chunk):
    for name, matrix in MATRICES.items():
        assert np.all(entries_done(matrix.indptr, long_length, chunk) == 1), name


row_lengths = st.lists(st.integers(0, 40) | st.sampled_from([0, 1, 1000, 5000]), max_size=300)


@given(row_lengths, st.integers(1, 2000), st.integers(1, 300).map(lambda n: 32 * n), st.data())
@settings(max_examples=60)
def test_every_entry_is_read_however_the_sharing_is_given(lengths, long_length, chunk, data):
    given_how = [{}, {"lanes": 1}, {"lanes": 32}, {"entries_per_lane": 4}]
    how = data.draw(st.sampled_from(given_how))
    assert np.all(entries_done(starts_for(lengths), long_length, chunk, **how) == 1)


def test_rows_of_one_length_stay_in_their_order():
    shared = share_rows(starts_for([8] * 1000))
    assert shared.order.size == 0
    assert shared.ends == (0, 0, 1000, 1000, 1000, 1000), "four threads, two steps each"


def test_rows_of_very_different_lengths_are_ordered_by_threads():
    lengths = ([2] * 19 + [120]) * 50000
    shared = share_rows(starts_for(lengths))
    assert np.array_equal(np.sort(shared.order), np.arange(1_000_000))
    assert shared.ends == (950_000,) * 5 + (1_000_000,)
    assert set(np.array(lengths)[shared.order[:950_000]]) == {2}


def test_one_long_row_is_cut_and_leaves_the_others_alone():
    shared = share_rows(starts_for([2] * 300 + [100_000] + [2] * 300))
    assert shared.order.size == 0
    assert shared.chunk == 1024
    assert list(shared.chunk_rows) == [300] * 98
    assert list(shared.chunk_firsts) == [0] * 98
    assert shared.partials.size == shared.tickets.size == 98


@pytest.mark.parametrize(
    ("count", "length", "limit", "chunk"),
    [
        (600, 700, 128, 1024),
        (1024, 300, 128, 1024),
        (1025, 300, 512, 1024),
        (50, 100_000, 128, 8192),
        (2000, 3000, 1024, 8192),
    ],
)
def test_long_rows_get_the_blocks_that_run_at_once(count, length, limit, chunk):
    shared = share_rows(starts_for([length] * count))
    assert (shared.long_length, shared.chunk) == (limit, chunk)


def test_few_rows_get_enough_threads_to_be_read_at_once():
    assert share_rows(starts_for([100] * 50)).ends == (0, 0, 0, 0, 0, 50), "32 threads, 4 each"
    assert share_rows(starts_for([16] * 50)).ends[2:] == (50,) * 4, "four threads, 4 each"


def test_launch_has_blocks_for_chunks_and_for_each_class():
    places = (300, 300, 300, 301, 301, 310)
    ends = {f"end_{lanes}": place for lanes, place in zip(LANES, places, strict=True)}
    shape = launch({"chunks": 3, **ends})
    assert (shape.grid, shape.block) == (3 + 2 + 1 + 2, BLOCK)
