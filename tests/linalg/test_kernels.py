"""Kernels on the CPU against the formulas of their contracts, with dense arrays."""

from __future__ import annotations

import hypothesis
import numpy as np
import pytest

from solvers.linalg.kernels.iteration import (
    ALPHA,
    BETA,
    BREAKDOWN,
    CONTROL_SIZE,
    CONVERGED,
    ITERATION,
    ITERATIONS,
    LIMIT,
    MOST_BLOCKS,
    OUT_OF_ITERATIONS,
    RR,
    RZ,
    STOP,
    TARGET,
    launch_rows,
    launch_vector,
)
from tests.linalg.kernel_cases import MATRICES, cases
from tests.matrices import any_matrix, each, matrix_of

SMALL = [name for name in sorted(MATRICES) if name not in ("long row", "large")]


def every_matrix(test):
    """Let a test go through awkward matrices and drawn ones that have rows."""
    drawn = any_matrix().filter(lambda which: which[0] != 0)
    return each(which=SMALL)(
        hypothesis.settings(max_examples=20)(hypothesis.given(which=drawn)(test))
    )


def calls(which, kernel, slots=1):
    """Give each call of a kernel by argument name: what went in, and what came out."""
    for family, name, values in cases(matrix_of(which), 1, slots):
        if name != kernel:
            continue
        declared = family.kernels[name]
        before = declared.by_name([np.copy(v) if isinstance(v, np.ndarray) else v for v in values])
        family[name](*values)
        yield before, declared.by_name(values)


def close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11)


@every_matrix
def test_products(which):
    A = matrix_of(which).toarray()
    for given, found in calls(which, "multiply"):
        matrix = np.abs(A) if given["magnitudes"] else A
        close(found["product"], matrix @ given["vector"])
    for given, found in calls(which, "residual"):
        close(found["r"], given["side"] - A @ given["vector"])
    for given, found in calls(which, "columns_step"):
        close(found["q"], given["weight"] * (A @ (given["u"] + 0.3 * given["p"])))


@every_matrix
def test_diagonals(which):
    A = matrix_of(which).toarray()
    m, n = A.shape
    for given, found in calls(which, "diagonal"):
        M = (A * given["weight"]) @ A.T if given["normal"] else np.zeros((m, max(m, n)))
        if not given["normal"]:
            M[:, :n] = A
        close(found["product"], M[np.arange(m), np.arange(m)])


@pytest.mark.parametrize("slots", [1, 3])
@every_matrix
def test_product_finds_the_step_size(slots, which):
    A = matrix_of(which).toarray()
    for given, found in calls(which, "product", slots):
        p = given["u"] + 0.3 * given["p"]
        s = A @ (p if given["direct"] else given["gathered"])
        close(found["p_next"], p)
        close(found["s"], s)
        control = found["control"]
        if p @ s > 0:
            close(control[ALPHA], 1.4 / (p @ s))
            assert control[[ITERATIONS, STOP]].tolist() == [4, 0]
        else:
            assert control[[ITERATIONS, STOP]].tolist() == [3, BREAKDOWN]


@pytest.mark.parametrize("slots", [1, 3])
@every_matrix
def test_update_takes_the_step(slots, which):
    for given, found in calls(which, "update", slots):
        r = given["r"] - 0.7 * given["s"]
        u = given["inverse"] * r
        close(found["x"], given["x"] + 0.7 * given["p"])
        close(found["r"], r)
        close(found["u"], u)
        close(found["control"][[RR, RZ, BETA]], [r @ r, r @ u, (r @ u) / 1.4])
        assert found["control"][STOP] == (0 if r @ u > 0 else BREAKDOWN)


STEPS = [k.name for k in ITERATION if "control" in {one.name for one in k.arguments}]


@pytest.mark.parametrize("kernel", STEPS)
def test_nothing_changes_once_it_has_stopped(kernel):
    seen = 0
    for family, which, values in cases(MATRICES["square 33"], 2):
        if which != kernel:
            continue
        seen += 1
        values[-1 if kernel != "columns_step" else -2][STOP] = CONVERGED
        before = [np.copy(v) if isinstance(v, np.ndarray) else v for v in values]
        family[which](*values)
        for old, new in zip(before, values, strict=True):
            np.testing.assert_array_equal(old, new)
    assert seen


@pytest.mark.parametrize(
    ("place", "value", "stop"),
    [(TARGET, 1e9, CONVERGED), (LIMIT, 3, OUT_OF_ITERATIONS), (TARGET, np.nan, 0)],
)
def test_reasons_to_stop(place, value, stop):
    """A nearly identical system, so that nothing else stops it."""
    n = 33
    control = np.zeros(CONTROL_SIZE)
    control[[ITERATIONS, LIMIT, TARGET, RZ]] = [3, 10, 1e-30, 1.0]
    control[place] = value
    vectors = [np.ones(n), np.ones(n), np.zeros(n), np.zeros(n), np.ones(n), np.zeros(n)]
    ITERATION["update"](n, *vectors, 1, np.zeros(3), np.zeros(1, dtype=np.int32), control)
    assert control[STOP] == stop


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_residual_that_is_not_finite_is_a_breakdown(bad):
    control = np.zeros(CONTROL_SIZE)
    control[[LIMIT, RZ]] = [10, 1.0]
    vectors = [np.ones(3), np.zeros(3), np.zeros(3), np.array([1.0, bad, 1.0]), np.zeros(3)]
    reduction = [1, np.zeros(3), np.zeros(1, dtype=np.int32)]
    ITERATION["update"](3, np.ones(3), *vectors, *reduction, control)
    assert control[STOP] == BREAKDOWN


@pytest.mark.parametrize("name", ["empty rows", "long row", "large"])
def test_threads_give_the_same_bits(name):
    once = list(cases(MATRICES[name], 3, slots=4))
    again = list(cases(MATRICES[name], 3, slots=4))
    for (family, which, values), (_, _, others) in zip(once, again, strict=True):
        loop = getattr(family.twin, which)
        loop(*values, 1)
        loop(*others, 2)
        for one, other in zip(values, others, strict=True):
            np.testing.assert_array_equal(one, other)


def test_launches_stay_within_a_full_gpu():
    shape = launch_rows({"rows": 10**7, "lanes": 8, "long_count": 3})
    assert shape.grid == MOST_BLOCKS + 3
    assert launch_rows({"rows": 0, "lanes": 8, "long_count": 0}).grid == 0
    assert launch_rows({"rows": 257, "lanes": 1, "long_count": 0}).grid == 2
    assert launch_vector({"rows": 10**7}).grid == MOST_BLOCKS
    assert launch_vector({"rows": 1}).grid == 1


def test_every_kernel_has_a_case():
    seen = {(family.stem, which) for family, which, _ in cases(MATRICES["square 31"], 1)}
    declared = {(family.stem, k.name) for family in (ITERATION,) for k in family}
    assert seen == declared
