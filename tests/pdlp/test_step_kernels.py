"""Twins of the two half iterations, and of whole blocks, against the formulas in plain NumPy."""

from __future__ import annotations

from itertools import cycle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.pdlp.bounds import OTHERS
from solvers.pdlp.control import Control, Stop
from solvers.pdlp.kernels.staying import STAYING
from solvers.pdlp.kernels.step import KEEP_FIRST, KEEP_LAST, KEEP_NONE, STEP
from tests.matrices import NAMES, Which, any_matrix, each, matrix_of
from tests.pdlp.matrices import PLANS, lay_out
from tests.pdlp.step_cases import POISON, StepCase, Vectors, make_case

CLOSE = {"rtol": 1e-11, "atol": 1e-11}

TAU, SIGMA = 0.3, 0.7
"""The step sizes of :func:`make_case`."""


def case_of(which: Which, seed: int, gamma: float = 1.0, plan: str = "cpu") -> StepCase:
    return make_case(lay_out(matrix_of(which), PLANS[plan]).plain, seed, gamma)


def halpern(current, mirrored, anchor, gamma, k):
    weight = (k + 1) / (k + 2)
    return weight * (gamma * mirrored + (1 - gamma) * current) + (1 - weight) * anchor


def primal_formula(case: StepCase, gamma: float, k: float):
    """Return the projected, the reflected and the next primal point."""
    x = case.x
    gradient = case.cost - case.matrix.T @ case.y.point
    projected = np.clip(x.point - TAU * x.metric * gradient, x.low, x.high)
    mirrored = 2 * projected - x.point
    return projected, mirrored, halpern(x.point, mirrored, x.anchor, gamma, k)


def dual_formula(case: StepCase, gamma: float, k: float):
    """Return the projected, the reflected and the next dual point."""
    y = case.y
    step = SIGMA * y.metric
    moved = y.point - step * (case.matrix @ case.reflected)
    projected = moved - np.clip(moved, -step * y.high, -step * y.low)
    mirrored = 2 * projected - y.point
    return projected, mirrored, halpern(y.point, mirrored, y.anchor, gamma, k)


def assert_kept(side: Vectors, keep: int, projected, step) -> None:
    """Check what was kept, and that nothing else was written."""
    untouched = np.full(projected.size, POISON)
    last, first = bool(keep & KEEP_LAST), bool(keep & KEEP_FIRST)
    np.testing.assert_allclose(side.projection, projected if last else untouched, **CLOSE)
    np.testing.assert_allclose(side.difference, step if last else untouched, **CLOSE)
    np.testing.assert_allclose(side.first_difference, step if first else untouched, **CLOSE)


KEPT = [KEEP_NONE, KEEP_FIRST, KEEP_LAST, KEEP_FIRST | KEEP_LAST]


@each(which=NAMES * 4, plan=cycle(PLANS), gamma=cycle([1.0, 0.5, 0.9]), keep=cycle(KEPT[:3]))
@given(any_matrix(), st.sampled_from([*PLANS]), st.floats(0.0, 1.0), st.sampled_from(KEPT))
@settings(max_examples=40)
def test_steps_are_the_formulas(which, plan, gamma, keep):
    case = case_of(which, 1, gamma, plan)
    before = case.x.point.copy()
    projected, mirrored, following = primal_formula(case, gamma, 5 + 3)
    STEP["primal_step"](*case.primal_arguments(), 3, keep)
    np.testing.assert_allclose(case.reflected, mirrored, **CLOSE)
    np.testing.assert_allclose(case.x.point, following, **CLOSE)
    assert_kept(case.x, keep, projected, mirrored - before)
    before = case.y.point.copy()
    projected, mirrored, following = dual_formula(case, gamma, 5 + 3)
    STEP["dual_step"](*case.dual_arguments(), 3, keep)
    np.testing.assert_allclose(case.y.point, following, **CLOSE)
    assert_kept(case.y, keep, projected, mirrored - before)


def test_points_stay_in_bounds_and_duals_lean_on_no_infinite_side():
    case = case_of("large", 3)
    STEP["primal_step"](*case.primal_arguments(), 0, KEEP_LAST)
    STEP["dual_step"](*case.dual_arguments(), 0, KEEP_LAST)
    x, y = case.x, case.y
    assert np.all((x.projection >= x.low) & (x.projection <= x.high))
    assert np.all(y.projection[~np.isfinite(y.low)] <= 0)
    assert np.all(y.projection[~np.isfinite(y.high)] >= 0)


def state_of(case: StepCase) -> list[np.ndarray]:
    sides = [[side.point, *side.outputs] for side in (case.x, case.y)]
    return [array.copy() for array in (*sides[0], *sides[1], case.reflected)]


def assert_same(left: list[np.ndarray], right: list[np.ndarray]) -> None:
    for one, other in zip(left, right, strict=True):
        assert np.array_equal(one, other)


@pytest.mark.parametrize("stop", [Stop.OPTIMAL, Stop.BROKEN])
def test_nothing_happens_while_control_says_stop(stop):
    case = case_of("square 33", 4)
    case.control[Control.STOP] = stop
    before = state_of(case)
    STEP["primal_step"](*case.primal_arguments(), 0, KEEP_FIRST | KEEP_LAST)
    STEP["dual_step"](*case.dual_arguments(), 0, KEEP_FIRST | KEEP_LAST)
    for kernel in STAYING.kernels:
        STAYING[kernel](*case.staying_arguments(STAYING.kernels[kernel], 3))
    assert_same(state_of(case), before)


@each(which=["square 1", "empty rows", "long row", "large", "no columns"], threads=cycle([1, 2]))
@given(any_matrix(), st.integers(1, 3))
@settings(max_examples=20)
def test_steps_fast_equals_single_steps(which, threads):
    fast, single = case_of(which, 5), case_of(which, 5)
    STEP.twin.steps_fast(2, 5, *fast.primal_arguments(), *fast.dual_arguments(), threads)
    for offset in range(2, 7):
        STEP["primal_step"](*single.primal_arguments(), offset, KEEP_NONE)
        STEP["dual_step"](*single.dual_arguments(), offset, KEEP_NONE)
    assert_same(state_of(fast), state_of(single))


@pytest.mark.parametrize("kernel", STAYING.kernels)
@each(which=NAMES, plan=cycle(["cpu", "many units"]), count=cycle([1, 2, 5]))
@given(any_matrix(), st.sampled_from([*PLANS]), st.integers(1, 6))
@settings(max_examples=20)
def test_a_block_equals_single_steps(kernel, which, plan, count):
    whole, single = case_of(which, 6, plan=plan), case_of(which, 6, plan=plan)
    STAYING[kernel](*whole.staying_arguments(STAYING.kernels[kernel], count))
    for offset in range(count):
        keep = KEEP_FIRST if offset == 0 else KEEP_NONE
        keep |= KEEP_LAST if offset == count - 1 else KEEP_NONE
        STEP["primal_step"](*single.primal_arguments(), offset, keep)
        STEP["dual_step"](*single.dual_arguments(), offset, keep)
    own = -1 if kernel == "flow_steps" else None  # which keeps the reflected point to itself
    assert_same(state_of(whole)[:own], state_of(single)[:own])


def test_declared_bytes_count_matrix_gather_and_vectors():
    case = case_of("large", 7)
    m, n, nnz = *case.matrix.shape, case.matrix.nnz
    kernel = STEP.kernels["dual_step"]
    values = kernel.by_name((*case.dual_arguments(), 0, 0))
    # twelve bytes an entry, four for where a row begins, and xb gathered; then y read and written,
    # anchor, metric and codes read, and sides where they have no code
    sides = m + 16 * int((case.y.codes == OTHERS).sum())
    assert kernel.bytes_moved(values) == 12 * nnz + 4 * (m + 1) + 8 * n + 4 * 8 * m + sides
