"""Kernels on the CPU against the formulas of their contracts, with dense arrays."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.linalg.kernels.iteration import (
    ALPHA,
    BETA,
    BREAKDOWN,
    CONVERGED,
    FRESH,
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

SMALL = [name for name in sorted(MATRICES) if name != "long row"]
names = pytest.mark.parametrize("name", SMALL)


def calls(name, kernel, slots=1):
    """Give each call of a kernel by argument name: what went in, and what came out."""
    for family, which, values in cases(MATRICES[name], 1, slots):
        if which != kernel:
            continue
        declared = family.kernels[which]
        before = declared.by_name([np.copy(v) if isinstance(v, np.ndarray) else v for v in values])
        family[which](*values)
        yield before, declared.by_name(values)


def close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11)


@names
def test_products(name):
    A = MATRICES[name].toarray()
    for given, found in calls(name, "multiply"):
        matrix = np.abs(A) if given["magnitudes"] else A
        close(found["product"], matrix @ given["vector"])
    for given, found in calls(name, "residual"):
        close(found["r"], given["side"] - A @ given["vector"])
    for given, found in calls(name, "columns_step"):
        p = 0.3 * given["p"] if given["with_p"] else 0.0
        close(found["q"], given["weight"] * (A @ (given["u"] + p)))


@names
def test_diagonals_and_blocks(name):
    A = MATRICES[name].toarray()
    m, n = A.shape
    for kernel in ("diagonal", "diagonal_blocks"):
        for given, found in calls(name, kernel):
            M = (A * given["weight"]) @ A.T if given["normal"] else np.zeros((m, max(m, n)))
            if not given["normal"]:
                M[:, :n] = A
            if kernel == "diagonal":
                close(found["product"], M[np.arange(m), np.arange(m)])
                continue
            size = given["block_size"]
            blocks = found["blocks"].reshape(-1, size, size)
            for number, block in enumerate(blocks):
                rows = np.arange(number * size, min((number + 1) * size, m))
                close(block[: rows.size, : rows.size], M[np.ix_(rows, rows)])


@names
@pytest.mark.parametrize("slots", [1, 3])
def test_single_product_finds_the_step_sizes(name, slots):
    A = MATRICES[name].toarray()
    for given, found in calls(name, "product_single", slots):
        w = A @ given["gathered"]
        close(found["w"], w)
        gamma, delta = given["r"] @ given["u"], given["u"] @ w
        control, fresh = found["control"], given["control"][FRESH] != 0
        beta = 0.0 if fresh else gamma / 1.4
        curvature = delta - (0.0 if fresh else beta * gamma / 0.7)
        close(control[RR], given["r"] @ given["r"])
        if curvature > 0:
            close(control[[ALPHA, BETA, RZ]], [gamma / curvature, beta, gamma])
            assert control[[ITERATIONS, FRESH, STOP]].tolist() == [4, 0, 0]
        else:
            assert control[STOP] == BREAKDOWN
            assert control[ITERATIONS] == 3


@names
@pytest.mark.parametrize("slots", [1, 3])
def test_classic_product_finds_the_step_size(name, slots):
    A = MATRICES[name].toarray()
    for given, found in calls(name, "product_classic", slots):
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


def block_diagonal(given, m):
    size = given["block_size"]
    B = np.zeros((m + size, m + size))
    for number, block in enumerate(given["inverse"].reshape(-1, size, size)):
        place = slice(number * size, (number + 1) * size)
        B[place, place] = block
    return B[:m, :m]


@names
@pytest.mark.parametrize("slots", [1, 3])
def test_updates_take_the_step(name, slots):
    m = MATRICES[name].shape[0]
    for given, found in calls(name, "update_single", slots):
        p, s = given["u"] + 0.3 * given["p"], given["w"] + 0.3 * given["s"]
        r = given["r"] - 0.7 * s
        for which, expected in zip("psxr", (p, s, given["x"] + 0.7 * p, r), strict=True):
            close(found[which], expected)
        close(found["u"], block_diagonal(given, m) @ r)
    for given, found in calls(name, "update_classic", slots):
        r = given["r"] - 0.7 * given["s"]
        u = block_diagonal(given, m) @ r
        close(found["x"], given["x"] + 0.7 * given["p"])
        close(found["r"], r)
        close(found["u"], u)
        close(found["control"][[RR, RZ, BETA]], [r @ r, r @ u, (r @ u) / 1.4])
        assert found["control"][STOP] == (0 if r @ u > 0 else BREAKDOWN)
    for given, found in calls(name, "precondition"):
        close(found["u"], block_diagonal(given, m) @ given["r"])


@names
def test_polynomial_step(name):
    A = MATRICES[name].toarray()
    for given, found in calls(name, "polynomial_step"):
        moved = 0.3 * given["direction"]
        moved += 0.8 * given["inverse"] * (given["r"] - A @ given["gathered"])
        close(found["direction_next"], moved)
        close(found["u_next"], given["u"] + moved)


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
@pytest.mark.parametrize("kernel", ["product_single", "update_classic"])
def test_reasons_to_stop(kernel, place, value, stop):
    """A fresh, nearly identity system, so that nothing else stops it."""
    n = 33
    r = np.ones(n)
    control = np.zeros(9)
    control[[ITERATIONS, LIMIT, TARGET, FRESH, RZ]] = [3, 10, 1e-30, 1, 1.0]
    control[place] = value
    reduction = [1, np.zeros(3), np.zeros(1, dtype=np.int32)]
    if kernel == "product_single":
        starts, indices = np.arange(n + 1, dtype=np.int32), np.arange(n, dtype=np.int32)
        layout = [n, starts, indices, np.ones(n), 0, np.zeros(0, dtype=np.int32), 9, 1]
        ITERATION[kernel](*layout, r, r, r, np.zeros(n), *reduction, control)
    else:
        vectors = [np.ones(n), np.zeros(n), np.zeros(n), r, np.zeros(n)]
        ITERATION[kernel](n, 1, np.ones(n), *vectors, *reduction, control)
    assert control[STOP] == stop


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_residual_that_is_not_finite_is_a_breakdown(bad):
    control = np.zeros(9)
    control[[LIMIT, RZ]] = [10, 1.0]
    vectors = [np.ones(3), np.zeros(3), np.zeros(3), np.array([1.0, bad, 1.0]), np.zeros(3)]
    reduction = [1, np.zeros(3), np.zeros(1, dtype=np.int32)]
    ITERATION["update_classic"](3, 1, np.ones(3), *vectors, *reduction, control)
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
