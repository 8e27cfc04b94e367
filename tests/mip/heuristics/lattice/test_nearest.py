from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.mip.heuristics.lattice.nearest import Lattice
from solvers.mip.portfolio.budget import Budget
from tests.mip.heuristics.lattice.models import random_system


def reduced(A, b) -> Lattice:
    lattice = Lattice(sp.csr_array(np.atleast_2d(np.asarray(A, float))), np.asarray(b, float))
    assert lattice.reduce(Budget())
    return lattice


@settings(max_examples=40)
@given(
    seed=st.integers(0, 10**6),
    rows=st.integers(1, 6),
    columns=st.integers(2, 25),
    largest=st.sampled_from([1, 9, 400]),
)
def test_the_nearest_point_solves_the_equations(seed, rows, columns, largest):
    A, b, hidden = random_system(seed, rows, columns, largest)
    lattice = reduced(A, b)
    kernel = lattice.kernel
    assert not (A @ kernel.T).any()
    assert kernel.shape[0] == columns - np.linalg.matrix_rank(A)
    for reference in (hidden, hidden + np.random.default_rng(seed).normal(size=columns)):
        x, missed = lattice.nearest(reference)
        assert missed.size == 0
        np.testing.assert_array_equal(A @ x, b)
        np.testing.assert_array_equal(x, np.round(x))
    np.testing.assert_array_equal(lattice.nearest(hidden)[0], hidden)  # nothing is nearer


@pytest.mark.parametrize("seed", range(5))
def test_the_kernel_spans_all_differences_of_solutions(seed):
    rng = np.random.default_rng(seed)
    A = rng.integers(-6, 7, (2, 5)).astype(float)
    kernel = reduced(A, [0.0, 0.0]).kernel
    box = itertools.product(range(-3, 4), repeat=5)
    solutions = np.array([x for x in box if not (A @ np.array(x)).any()], dtype=float)
    assert len(solutions) > 1
    times = np.linalg.lstsq(kernel.T, solutions.T, rcond=None)[0]
    np.testing.assert_allclose(times, np.round(times), atol=1e-8)
    np.testing.assert_allclose(np.round(times).T @ kernel, solutions)


def test_equations_without_an_integer_solution_are_missed():
    # x + y = 1 and x - y = 0 have x = y = 1/2 alone
    x, missed = reduced([[1, 1], [1, -1]], [1, 0]).nearest(np.array([0.5, 0.5]))
    assert missed.size > 0
    np.testing.assert_array_equal(x, np.round(x))


def test_large_coefficients_need_a_heavier_penalty_and_get_it():
    A = np.array([[31013.0, -41014.0, -51015.0]])
    lattice = reduced(A, [0.0])
    assert lattice.kernel.shape[0] == 2
    assert not (A @ lattice.kernel.T).any()
    x, missed = lattice.nearest(np.array([24305.0, 8191.0, 8191.0]))
    assert missed.size == 0
    assert not (A @ x).any()


def test_a_reduction_ends_with_its_budget_and_goes_on_with_the_next():
    A, b, _ = random_system(1, 4, 40)
    lattice = Lattice(sp.csr_array(A), b)
    assert not lattice.reduce(Budget(work=1.0))
    calls = 0
    while not lattice.reduce(Budget(work=50_000.0)):
        calls += 1
    assert calls > 2
    np.testing.assert_array_equal(lattice.kernel, reduced(A, b).kernel)
