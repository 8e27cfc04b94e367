"""Singular bases are repaired by logicals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.simplex.factor.basis import BasisFactor
from tests.simplex.factor.bases import columns_of, form_of, random_form
from tests.simplex.factor.test_solves import assert_solves


def assert_repaired(factor: BasisFactor, basic: np.ndarray, expected: int) -> None:
    """Factorise a basis of rank m - expected; check what was exchanged and the result."""
    before = basic.copy()
    repaired = factor.factorise(basic)
    assert len(repaired.positions) == len(set(repaired.positions)) == expected
    assert bool(repaired) == (expected > 0)
    assert np.flatnonzero(basic != before).tolist() == sorted(repaired.positions)
    assert basic[list(repaired.positions)].tolist() == list(repaired.logicals)
    assert all(logical >= factor.form.num_structurals for logical in repaired.logicals)
    assert len(set(basic.tolist())) == basic.size
    assert np.linalg.matrix_rank(columns_of(factor.form, basic).toarray()) == basic.size
    assert_solves(factor, basic, 1e-9)
    assert not factor.factorise(basic)


@pytest.mark.parametrize("density", [0.1, 1.0])
@pytest.mark.parametrize("deficiency", [1, 2, 7])
def test_dependent_columns(density, deficiency):
    """Columns that are sums of others, in the nucleus; sparse and dense."""
    rng = np.random.default_rng(deficiency)
    m = 60
    matrix = rng.standard_normal((m, m)) * (rng.random((m, m)) < density)
    matrix += np.diag(2.0 + rng.random(m))
    for column in range(deficiency):
        others = rng.permutation(np.arange(deficiency, m))[:3]
        matrix[:, column] = matrix[:, others] @ rng.standard_normal(3)
    form = form_of(matrix[:, rng.permutation(m)])
    assert_repaired(BasisFactor(form), np.arange(m, dtype=np.int64), deficiency)


def test_duplicate_columns():
    matrix = np.hstack([np.eye(4)[:, [0, 0, 2]], np.ones((4, 2))])
    basic = np.array([0, 1, 3, 4], dtype=np.int64)
    assert_repaired(BasisFactor(form_of(matrix)), basic, 2)


def test_the_same_variable_twice():
    form = random_form(5, 8, 0.9, seed=1)
    assert_repaired(BasisFactor(form), np.array([1, 1, 2, 3, 4], dtype=np.int64), 1)
    assert_repaired(BasisFactor(form), np.array([8, 8, 9, 9, 9], dtype=np.int64), 3)


def test_empty_columns_and_rows():
    matrix = np.zeros((4, 4))
    matrix[:2, 2:] = [[2.0, 1.0], [1.0, 3.0]]
    assert_repaired(BasisFactor(form_of(matrix)), np.arange(4, dtype=np.int64), 2)
    assert_repaired(BasisFactor(form_of(np.zeros((3, 3)))), np.arange(3, dtype=np.int64), 3)


def test_a_nearly_dependent_column():
    """1e-14 beside ones is a rounding error, 1e-6 is not."""
    for difference, expected in ((1e-14, 1), (1e-6, 0)):
        matrix = np.array([[1.0, 1.0, 2.0], [1.0, 1.0 + difference, 1.0], [1.0, 1.0, 1.0]])
        factor = BasisFactor(form_of(matrix))
        assert len(factor.factorise(np.arange(3, dtype=np.int64)).positions) == expected


@given(st.integers(0, 10_000), st.integers(1, 12), st.integers(0, 6))
@settings(max_examples=80, deadline=None)
def test_small_integer_bases_of_any_rank(seed, m, kinds):
    """Entries -1, 0, 1: the rank is exactly what exact elimination finds."""
    rng = np.random.default_rng(seed)
    matrix = rng.integers(-1, 2, (m, m)).astype(float)
    matrix[:, rng.integers(0, m, min(kinds, m))] = matrix[:, [0]]
    form = form_of(matrix)
    basic = np.where(rng.random(m) < 0.3, m + rng.permutation(m), rng.permutation(m))
    basic = basic.astype(np.int64)
    rank = np.linalg.matrix_rank(columns_of(form, basic).toarray())
    assert_repaired(BasisFactor(form), basic, m - int(rank))


def test_factorising_again_reuses_the_memory():
    form = random_form(100, 150, 0.05, seed=3)
    factor = BasisFactor(form)
    basic = np.arange(100, dtype=np.int64)
    factor.factorise(basic)
    arrays = factor.arrays
    factor.factorise(basic)
    assert factor.arrays.upper.indices is arrays.upper.indices
    assert factor.arrays.lower.values is arrays.lower.values
    assert factor.arrays.counters is arrays.counters
