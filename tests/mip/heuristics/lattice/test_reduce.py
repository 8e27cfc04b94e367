from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from solvers.native.mip_heuristics_lattice import reduce_basis


def reduced(basis: np.ndarray, depth: int = 1, limit: int = 10**9) -> np.ndarray:
    n = basis.shape[0]
    new = np.ascontiguousarray(basis, dtype=float).copy()
    place = np.zeros(1, dtype=np.int64)
    product = np.ascontiguousarray(new @ new.T)
    factor, length = np.zeros((n, n)), np.zeros(n)
    while place[0] < n:
        reduce_basis(new, product, factor, length, place, depth, limit)
    np.testing.assert_array_equal(product, new @ new.T)
    return new


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 12),
    size=st.sampled_from([2, 30, 5000]),
    depth=st.sampled_from([1, 20]),
)
def test_a_reduced_basis_spans_the_same_lattice_with_short_vectors(seed, n, size, depth):
    rng = np.random.default_rng(seed)
    old = rng.integers(-size, size + 1, (n, n + 2)).astype(float)
    assume(np.linalg.matrix_rank(old) == n)
    assume(np.linalg.cond(old) < 1e6)
    new = reduced(old, depth)
    change = np.linalg.lstsq(old.T, new.T, rcond=None)[0].T  # new = change @ old
    assert np.abs(change - np.round(change)).max() < 1e-4
    np.testing.assert_array_equal(np.round(change) @ old, new)
    assert abs(np.linalg.det(np.round(change))) == pytest.approx(1.0, rel=1e-3)
    factor = np.linalg.qr(new.T)[1]
    own = np.abs(np.diag(factor))
    part = factor / np.diag(factor)[:, None]
    for k in range(1, n):
        assert np.abs(part[:k, k]).max() <= 0.51  # size reduced
        assert own[k] ** 2 >= (0.9 - part[k - 1, k] ** 2) * own[k - 1] ** 2  # Lovász


def test_a_reduction_in_slices_is_that_in_one_go():
    rng = np.random.default_rng(3)
    basis = rng.integers(-100, 100, (10, 12)).astype(float)
    np.testing.assert_array_equal(reduced(basis), reduced(basis, limit=1))


def test_two_dimensions_by_hand():
    # (1, 0) and (0, 1) span what (5, 3) and (8, 5) do
    assert sorted(np.abs(reduced(np.array([[5.0, 3.0], [8.0, 5.0]]))).sum(axis=1)) == [1.0, 1.0]


def test_deep_insertions_shorten_the_first_vector():
    rng = np.random.default_rng(0)
    plain, deep = [], []
    for _ in range(5):
        basis = np.hstack([np.eye(40), 1e4 * rng.integers(1, 60, (40, 8))])
        plain.append(np.linalg.norm(reduced(basis)[0]))
        deep.append(np.linalg.norm(reduced(basis, depth=20)[0]))
    assert np.all(np.array(deep) <= plain)
    assert sum(deep) < 0.95 * sum(plain)
