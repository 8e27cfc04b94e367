"""Matrices of awkward shapes and vectors for them, for every test of the sparse layer."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

SIZES = (0, 1, 31, 32, 33, 257)


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
    return with_int32(matrix)


def with_int32(matrix: sp.csr_array) -> sp.csr_array:
    matrix.indices = matrix.indices.astype(np.int32)
    matrix.indptr = matrix.indptr.astype(np.int32)
    matrix.sort_indices()
    return matrix


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
    return with_int32(
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
    return with_int32(sp.csr_array((values, indices.ravel(), starts), shape=(rows, columns)))


def sparse_matrices() -> dict[str, sp.csr_array]:
    found = {f"square {size}": random_matrix(size, size, 0.2, size) for size in SIZES}
    found["wide"] = random_matrix(7, 400, 0.3, 1)
    found["one column"] = random_matrix(200, 1, 0.5, 2)
    found["one row"] = random_matrix(1, 300, 0.9, 3)
    found["no columns"] = with_int32(sp.csr_array((5, 0)))
    empty_rows = random_matrix(90, 40, 0.3, 4).tolil()
    empty_rows[::3] = 0.0
    found["empty rows"] = with_int32(sp.csr_array(empty_rows))
    generator = np.random.default_rng(5)
    long_row = sp.csr_array(generator.uniform(-1.0, 1.0, (1, 100_000)))
    short = random_matrix(70, 100_000, 2e-5, 6)
    found["long row"] = with_int32(sp.csr_array(sp.vstack([short, long_row, short])))
    found["large"] = random_matrix(3000, 2000, 0.01, 7)
    found["no rows"] = with_int32(sp.csr_array((0, 7)))
    found["no entries"] = with_int32(sp.csr_array((70, 9)))
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
