"""The awkward matrices, and those that compressed formats are for, with vectors for them."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as st

from tests import matrices
from tests.matrices import as_problem_matrix, random_matrix


def with_values(matrix: sp.csr_array, values: list[float], seed: int) -> sp.csr_array:
    """Return the matrix with its coefficients drawn from a few values."""
    generator = np.random.default_rng(seed)
    made = matrix.copy()
    made.data = generator.choice(values, matrix.nnz)
    return made


def of_row_lengths(lengths: list[int], columns: int, seed: int) -> sp.csr_array:
    """Return a random matrix whose rows have these lengths."""
    generator = np.random.default_rng(seed)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    indices = [generator.choice(columns, length, replace=False) for length in lengths]
    values = generator.uniform(-2.0, 2.0, starts[-1])
    joined = np.concatenate(indices) if indices else np.zeros(0)
    return as_problem_matrix(
        sp.csr_array((values, joined.astype(np.int32), starts), shape=(len(lengths), columns))
    )


def banded(rows: int, columns: int, width: int, seed: int) -> sp.csr_array:
    """Return a wide matrix whose rows keep to a band, so that short columns need bases."""
    generator = np.random.default_rng(seed)
    first = np.linspace(0, columns - width, rows).astype(np.int64)
    indices = first[:, None] + np.sort(
        np.stack([generator.choice(width, 5, replace=False) for _ in range(rows)]), axis=1
    )
    values = generator.choice([1.0, -1.0, 2.5], 5 * rows)
    starts = np.arange(0, 5 * rows + 1, 5)
    return as_problem_matrix(sp.csr_array((values, indices.ravel(), starts), shape=(rows, columns)))


def sparse_matrices() -> dict[str, sp.csr_array]:
    found = dict(matrices.MATRICES)
    found["of ones"] = with_values(random_matrix(300, 200, 0.05, 8), [1.0, -1.0], 8)
    found["of halves"] = with_values(
        random_matrix(300, 200, 0.1, 9), list(np.arange(3000) / 2.0), 9
    )
    found["of tenths"] = with_values(
        random_matrix(90, 80, 0.9, 10), list(np.arange(900) / 10.0), 10
    )
    lengths = [1, 40, 0, 3, 900, 2, 2, 1500, 7, 70, 1, 0, 15000, 5, 17] * 9
    found["mixed rows"] = of_row_lengths(lengths, 20000, 11)
    found["wide band"] = banded(700, 900_000, 4000, 12)
    return found


MATRICES = sparse_matrices()
NAMES = sorted(MATRICES)


def vector_for(size: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(size)


VALUES: dict[str, list[float]] = {
    "any": [],
    "few": [1.0, -1.0],
    "halves": [count / 2.0 for count in range(3000)],
    "tenths": [count / 10.0 for count in range(900)],
}
"""What coefficients are drawn from, for each way to compress them."""

Which = str | tuple[matrices.Which, str]


def matrix_of(which: Which) -> sp.csr_array:
    """Return the matrix that a property drew; nobody may change it."""
    if isinstance(which, str):
        return MATRICES[which]
    matrix = matrices.matrix_of(which[0])
    return with_values(matrix, VALUES[which[1]], 13) if VALUES[which[1]] else matrix


def any_matrix() -> st.SearchStrategy[Which]:
    """Draw a matrix with coefficients of each kind."""
    return st.sampled_from(NAMES) | st.tuples(matrices.any_matrix(), st.sampled_from([*VALUES]))
