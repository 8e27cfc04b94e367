"""Corrections of points of linear programs against dense least squares."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.core.errors import ProblemError
from solvers.sparse.projection import project_on_rows, strictly_between

INF = np.inf


def random_case(seed, m=12, n=30):
    generator = np.random.default_rng(seed)
    A = sp.random_array((m, n), density=0.3, rng=generator, format="csr")
    x = generator.uniform(1.0, 3.0, n)
    return A, x, generator


def violation(A, x, row_lower, row_upper):
    activity = A @ x
    return np.linalg.norm(activity - np.clip(activity, row_lower, row_upper))


@pytest.mark.parametrize("seed", range(5))
def test_equations_are_mended_by_the_least_change(seed):
    A, x, generator = random_case(seed)
    b = A @ x
    start = x + 1e-3 * generator.standard_normal(x.size)
    found = project_on_rows(A, start, np.full(30, -INF), np.full(30, INF), b, b, iterations=200)
    size = np.linalg.norm(A.toarray(), axis=0)
    size[size == 0] = 1.0
    least = np.linalg.lstsq(A.toarray() / size, b - A @ start, rcond=None)[0] / size
    assert found.after <= 1e-9 * found.before
    np.testing.assert_allclose(found.values - start, least, atol=1e-8)
    assert found.before == pytest.approx(violation(A, start, b, b))
    assert found.after == pytest.approx(violation(A, found.values, b, b), abs=1e-15)


def test_columns_at_a_bound_stay():
    A = sp.csr_array([[1.0, 1.0, 1.0]])
    x = np.array([0.0, 1.0, 5.0])
    found = project_on_rows(
        A, x, np.zeros(3), np.array([9.0, 9.0, 5.0]), np.array([6.5]), np.array([6.5])
    )
    np.testing.assert_allclose(found.values, [0.0, 1.5, 5.0])


def test_what_is_clipped_is_made_good_by_others():
    A = sp.csr_array([[1.0, 1.0]])
    lower, upper = np.zeros(2), np.array([1.0, 10.0])
    found = project_on_rows(A, np.array([0.9, 0.9]), lower, upper, np.array([4.0]), np.array([4.0]))
    np.testing.assert_allclose(found.values, [1.0, 3.0])
    assert found.rounds == 2


def test_slack_rows_stay_out_of_it():
    """Row 1 is slack: minding it would change the answer."""
    A = sp.csr_array([[1.0, 1.0], [1.0, -1.0]])
    found = project_on_rows(
        A,
        np.array([1.0, 1.0]),
        np.full(2, -INF),
        np.full(2, INF),
        np.array([4.0, -100.0]),
        np.array([INF, 100.0]),
    )
    np.testing.assert_allclose(found.values, [2.0, 2.0])


@settings(max_examples=40)
@given(seed=st.integers(0, 10_000), shift=st.floats(1e-6, 1.0))
def test_point_is_never_worse_and_never_outside(seed, shift):
    A, x, generator = random_case(seed)
    activity = A @ x
    row_lower = np.where(generator.random(12) < 0.3, -INF, activity - generator.random(12))
    row_upper = np.where(generator.random(12) < 0.3, INF, activity)
    lower, upper = x - generator.random(30) * 0.5, x + generator.random(30) * 0.5
    start = x + shift * generator.standard_normal(30)
    found = project_on_rows(A, start, lower, upper, row_lower, row_upper)
    assert (found.values >= lower).all()
    assert (found.values <= upper).all()
    assert found.after <= found.before
    given_point = np.clip(start, lower, upper)
    assert found.before == pytest.approx(violation(A, given_point, row_lower, row_upper))


def test_feasible_point_is_left_alone():
    A, x, _ = random_case(1)
    b = A @ x
    found = project_on_rows(A, x, np.zeros(30), np.full(30, INF), b, b, target=1e-12)
    assert found.rounds == 0
    np.testing.assert_array_equal(found.values, x)


def test_target_ends_it_early():
    A, x, _ = random_case(2)
    b = A @ x
    found = project_on_rows(A, x + 1e-3, np.zeros(30), np.full(30, INF), b, b, target=1e-2)
    assert found.after <= 1e-2
    assert found.rounds <= 1


def test_impossible_rows_end_in_the_nearest_point():
    A = sp.csr_array([[1.0, 0.0], [1.0, 0.0], [0.0, 0.0]])
    b = np.array([1.0, 3.0, 1.0])
    found = project_on_rows(A, np.zeros(2), np.full(2, -INF), np.full(2, INF), b, b)
    np.testing.assert_allclose(found.values, [2.0, 0.0])
    assert found.after == pytest.approx(np.sqrt(3.0))


def test_no_free_column_means_no_change():
    A = sp.csr_array([[1.0, 1.0]])
    found = project_on_rows(A, np.ones(2), np.ones(2), np.ones(2), np.array([5.0]), np.array([5.0]))
    assert found.iterations == 0
    assert found.after == found.before == 3.0


def test_no_rows_and_no_columns():
    empty = np.zeros(0)
    found = project_on_rows(sp.csr_array((0, 2)), np.ones(2), np.zeros(2), np.ones(2), empty, empty)
    assert found.after == 0.0
    one = np.ones(1)
    found = project_on_rows(sp.csr_array((1, 0)), empty, empty, empty, one, one)
    assert found.after == 1.0


def test_point_that_is_not_finite_is_refused():
    A = sp.csr_array([[1.0, 1.0]])
    with pytest.raises(ProblemError, match="not finite"):
        project_on_rows(
            A, np.array([np.nan, 1.0]), np.zeros(2), np.full(2, 9.0), np.ones(1), np.ones(1)
        )


def test_strictly_between_minds_infinities():
    x = np.array([0.0, 1.0, 1.0, 1.0, -5.0])
    lower = np.array([0.0, 0.0, -INF, -INF, -INF])
    upper = np.array([INF, INF, 1.0, INF, INF])
    assert strictly_between(x, lower, upper).tolist() == [False, True, False, True, True]


@pytest.mark.gpu
def test_a_gpu_projects_as_the_cpu():
    from solvers.core.device import find_device

    A, x, generator = random_case(3, 60, 150)
    b, free = A @ x, np.full(150, INF)
    start = x + 1e-3 * generator.standard_normal(150)
    here = project_on_rows(A, start, -free, free, b, b, iterations=200)
    there = project_on_rows(A, start, -free, free, b, b, iterations=200, device=find_device("cuda"))
    np.testing.assert_allclose(there.values, here.values, atol=1e-10)
