"""Sparse matrices of awkward shapes, and any number of random ones, for tests by properties.

A property draws what a matrix is, by name or by size, density and seed, which a failure then shows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp
from hypothesis import example
from hypothesis import strategies as st

SIZES = (0, 1, 31, 32, 33, 129, 255, 256, 257)


def random_matrix(rows: int, columns: int, density: float, seed: int) -> sp.csr_array:
    """Return a matrix with entries anywhere, drawn from (-2, 2)."""
    generator = np.random.default_rng(seed)
    matrix = sp.random_array(
        (rows, columns),
        density=density,
        format="csr",
        rng=generator,
        data_sampler=lambda size: generator.uniform(-2.0, 2.0, size),
    )
    return as_problem_matrix(matrix)


def as_problem_matrix(matrix: sp.csr_array) -> sp.csr_array:
    """Give a matrix the types and the order of a problem's, in place."""
    matrix.indices = matrix.indices.astype(np.int32)
    matrix.indptr = matrix.indptr.astype(np.int32)
    matrix.sort_indices()
    return matrix


def awkward_matrices() -> dict[str, sp.csr_array]:
    """Return named matrices: every size, empty rows, one column, one very long row."""
    found = {f"square {size}": random_matrix(size, size, 0.2, size) for size in SIZES}
    found["wide"] = random_matrix(7, 400, 0.3, 1)
    found["one column"] = random_matrix(200, 1, 0.5, 2)
    found["one row"] = random_matrix(1, 300, 0.9, 3)
    found["no rows"] = as_problem_matrix(sp.csr_array((0, 7)))
    found["no columns"] = as_problem_matrix(sp.csr_array((5, 0)))
    found["no entries"] = as_problem_matrix(sp.csr_array((70, 9)))
    empty_rows = random_matrix(90, 40, 0.3, 4).tolil()
    empty_rows[::3] = 0.0
    found["empty rows"] = as_problem_matrix(sp.csr_array(empty_rows))
    generator = np.random.default_rng(5)
    long_row = sp.csr_array(generator.uniform(-1.0, 1.0, (1, 100_000)))
    short = random_matrix(70, 100_000, 2e-5, 6)
    found["long row"] = as_problem_matrix(sp.csr_array(sp.vstack([short, long_row, short])))
    neighbours = sp.hstack([sp.eye_array(20)] * 150)  # each row's entries stand far apart
    found["neighbours"] = as_problem_matrix(sp.csr_array(neighbours.multiply(long_row[:, :3000])))
    found["large"] = random_matrix(3000, 2000, 0.01, 7)
    return found


MATRICES = awkward_matrices()
NAMES = sorted(MATRICES)

Which = str | tuple[int, int, float, int]
"""The name of an awkward matrix, or rows, columns, density and seed of a random one."""


def matrix_of(which: Which) -> sp.csr_array:
    """Return the matrix that a property drew; nobody may change it."""
    return MATRICES[which] if isinstance(which, str) else random_matrix(*which)


def any_matrix() -> st.SearchStrategy[Which]:
    """Draw a matrix: its rows short, of up to a few units, or empty."""
    size = st.integers(0, 40) | st.integers(0, 400)
    density = st.sampled_from([0.0, 0.02, 0.1, 0.3, 0.9])
    return st.tuples(size, size, density, st.integers(0, 9999))


def each(**axes: Iterable[Any]) -> Callable[[Any], Any]:
    """Let a property try given values before any that it draws; the shortest axis ends it.

    ``each(which=NAMES, plan=cycle(PLANS))`` tries every name once, and the plans in turn.
    """

    def decorate(test: Any) -> Any:
        for values in zip(*axes.values(), strict=False):
            test = example(**dict(zip(axes, values, strict=True)))(test)
        return test

    return decorate
