"""Arguments for every kernel of dense linear algebra, on matrices easy and awkward."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from solvers.kernels.family import Family
from solvers.papers.dense_lu.factors import PIVOT_EPSILON
from solvers.papers.dense_lu.kernels.batched import BATCHED
from solvers.papers.dense_lu.kernels.elimination import ELIMINATION
from solvers.papers.dense_lu.kernels.inspect import INSPECT, PART, parts

POISON = -7.25
SIZES = (1, 2, 3, 31, 32, 33, 40)
PART_SIZES = (PART - 1, PART, PART + 1, 2 * PART + 5)
"""For the kernels that share a column among blocks."""

Case = tuple[Family, str, list[Any]]


def _out(*shape: int) -> np.ndarray:
    return np.full(shape, POISON)


def _places(*shape: int) -> np.ndarray:
    return np.full(shape, -7, dtype=np.int32)


def random_matrices(count: int, n: int, seed: int) -> np.ndarray:
    """Return matrices whose rows and columns differ in scale, with zeros among their entries."""
    generator = np.random.default_rng(seed)
    matrices = generator.standard_normal((count, n, n))
    matrices[generator.random((count, n, n)) < 0.2] = 0.0
    matrices += 0.5 * np.eye(n)[generator.permutation(n)]
    rows = 2.0 ** generator.integers(-6, 7, (count, n, 1))
    return np.ascontiguousarray(matrices * rows)


def inspect_cases(n: int, seed: int) -> Iterator[Case]:
    generator = np.random.default_rng(seed)
    matrix = random_matrices(1, n, seed)[0]
    shape = (parts(n), n)
    yield INSPECT, "take_in", [n, matrix, _out(n, n), _out(*shape)]
    yield INSPECT, "weigh", [n, matrix, _out(*shape)]
    sums, weights = np.abs(generator.standard_normal((2, *shape)))
    yield (
        INSPECT,
        "conclude",
        [n, parts(n), PIVOT_EPSILON, matrix, sums, weights, _out(3, n)],
    )
    for sides in (1, 3):
        x, b = generator.standard_normal((2, sides, n))
        b[:, 0] = 0.0
        yield INSPECT, "residual", [n, sides, matrix, x, b, _out(sides, n), _out(sides, n)]


def elimination_cases(n: int, seed: int) -> Iterator[Case]:
    augmented = random_matrices(1, n + 1, seed)[0, :n]
    augmented = np.ascontiguousarray(augmented)
    equal = augmented.copy()
    equal[:, 0] = np.where(np.arange(n) % 2, -2.0, 1.0)  # several rows with the largest magnitude
    nothing = augmented.copy()
    nothing[:, n // 2] = 0.0
    nothing[:, 0] = np.nan
    for k in sorted({0, n // 2, n - 1}):
        for matrix in (augmented, equal, nothing):
            yield ELIMINATION, "find_pivot", [n, k, matrix.copy(), _places(1)]
        yield ELIMINATION, "swap_rows", [n, k, n - 1, augmented.copy()]
        regular = augmented.copy()
        regular[k, k] = 3.0
        yield ELIMINATION, "eliminate", [n, k, regular]


def batched_cases(n: int, seed: int) -> Iterator[Case]:
    """Give the kernels that start from matrices; ``solve`` needs factors."""
    count = 4
    matrices = random_matrices(count, n, seed)
    matrices[1] = np.eye(n)[np.random.default_rng(seed).permutation(n)]
    yield (
        BATCHED,
        "factorise",
        [
            count,
            n,
            PIVOT_EPSILON,
            matrices,
            _out(count, n, n),
            _places(count, n),
            _places(count),
            _out(count, 4),
        ],
    )
    yield (
        BATCHED,
        "invert",
        [count, n, matrices, _out(count, n, n), _out(2, count), _places(count)],
    )


def singular_cases() -> Iterator[Case]:
    """Give matrices without a pivot: zeros, equal rows, rank two, no numbers."""
    generator = np.random.default_rng(3)
    n = 6
    rank_two = generator.standard_normal((n, 2)) @ generator.standard_normal((2, n))
    missing = generator.standard_normal((n, n))
    missing[4, 3] = np.nan
    matrices = np.stack([np.zeros((n, n)), np.ones((n, n)), rank_two, missing, np.eye(n)])
    count = len(matrices)
    yield (
        BATCHED,
        "factorise",
        [
            count,
            n,
            PIVOT_EPSILON,
            matrices,
            _out(count, n, n),
            _places(count, n),
            _places(count),
            _out(count, 4),
        ],
    )
    yield (
        BATCHED,
        "invert",
        [count, n, matrices, _out(count, n, n), _out(2, count), _places(count)],
    )


def solve_cases(n: int, seed: int) -> Iterator[Case]:
    count = 3
    matrices = random_matrices(count, n, seed)
    factors, order = _out(count, n, n), _places(count, n)
    singular, verdict = _places(count), _out(count, 4)
    BATCHED["factorise"](count, n, PIVOT_EPSILON, matrices, factors, order, singular, verdict)
    generator = np.random.default_rng(seed)
    for sides in (1, 8, 11):
        b = generator.standard_normal((count, sides, n))
        for transposed in (0, 1):
            x = _out(count, sides, n)
            yield BATCHED, "solve", [count, n, sides, transposed, factors, order, b, x]


def all_cases(n: int) -> Iterator[Case]:
    for make in (inspect_cases, elimination_cases, batched_cases, solve_cases):
        yield from make(n, 100 + n)
