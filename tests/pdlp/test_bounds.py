"""Codes of bounds: what a code stands for is what is there, to the bit."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.core.device import cpu
from solvers.pdlp.bounds import OTHERS, Coded

bounds = st.sampled_from([0.0, -0.0, 1.0, np.inf, -np.inf, 1e300, 5e-324]) | st.floats(
    allow_nan=False
)


def assert_stands_for(coded: Coded, lower, upper) -> None:
    known = coded.codes != OTHERS
    found = coded.pairs[coded.codes[known]].view(np.int64)
    wanted = np.stack([lower, upper], axis=1)[known].view(np.int64)
    np.testing.assert_array_equal(found, wanted)
    assert coded.bytes == lower.size + 16 * int((~known).sum())


@given(st.lists(st.tuples(bounds, bounds), max_size=60), st.sampled_from([1, 2, 5]))
def test_few_pairs_all_have_codes(pairs, threads):
    lower, upper = np.array(pairs, dtype=float).reshape(-1, 2).T.copy()
    coded = Coded.of(lower, upper, threads)
    assert_stands_for(coded, lower, upper)
    assert not np.any(coded.codes == OTHERS)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 999), size=st.sampled_from([300, 70_000, 200_001]))
def test_the_most_frequent_pairs_have_codes(seed, size):
    generator = np.random.default_rng(seed)
    lower, upper = np.zeros(size), generator.uniform(1.0, 2.0, size)
    often = generator.random(size) < 0.5
    upper[often] = np.where(generator.random(int(often.sum())) < 0.5, np.inf, 1.0)
    coded = Coded.of(lower, upper)
    assert_stands_for(coded, lower, upper)
    assert not np.any(coded.codes[often] == OTHERS)


def test_any_number_of_threads_gives_the_same_codes():
    generator = np.random.default_rng(3)
    lower = np.round(generator.standard_normal(300_000), 1)
    alone, shared = (Coded.of(lower, lower + 1.0, threads) for threads in (1, 3))
    np.testing.assert_array_equal(alone.codes, shared.codes)
    np.testing.assert_array_equal(alone.pairs, shared.pairs)


def test_a_copy_on_a_device_follows_the_order():
    lower = np.array([0.0, 1.0, 0.0])
    coded = Coded.of(lower, lower)
    there = coded.to_device(cpu(), np.array([1, 0, 2]), np.copy)
    assert there.pairs[there.codes, 0].tolist() == [1.0, 0.0, 0.0]
    assert coded.to_device(cpu(), None, np.copy).codes.tolist() == coded.codes.tolist()
