"""The awkward matrices, in every format, with vectors for them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as st

from solvers.papers.sparse_formats.formats import (
    CONVERSIONS,
    CSR,
    SparseMatrix,
    to_coo,
    to_sell,
)
from tests import matrices
from tests.matrices import as_problem_matrix, random_matrix

MOST_PADDED = 2**22
"""Entries of ELL that a test makes at the most."""


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


def sparse_matrices() -> dict[str, sp.csr_array]:
    found = dict(matrices.MATRICES)
    found["some"] = random_matrix(300, 200, 0.05, 8)
    found["dense"] = random_matrix(90, 80, 0.9, 10)
    lengths = [1, 40, 0, 3, 900, 2, 2, 1500, 7, 70, 1, 0, 15000, 5, 17] * 9
    found["mixed rows"] = of_row_lengths(lengths, 20000, 11)
    return found


MATRICES = sparse_matrices()
NAMES = sorted(MATRICES)


def vector_for(size: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(size)


Which = str | matrices.Which


def matrix_of(which: Which) -> sp.csr_array:
    """Return the matrix that a property drew; nobody may change it."""
    return MATRICES[which] if isinstance(which, str) else matrices.matrix_of(which)


def any_matrix() -> st.SearchStrategy[Which]:
    """Draw a matrix."""
    return st.sampled_from(NAMES) | matrices.any_matrix()


FORMS: dict[str, Callable[[CSR], SparseMatrix]] = {
    **CONVERSIONS,
    "coo of small chunks": lambda matrix: to_coo(matrix, chunk=32),
    "sell of 8 in place": lambda matrix: to_sell(matrix, slice_shift=3, sigma=1),
}


def forms_of(matrix: CSR) -> dict[str, SparseMatrix]:
    """Return a matrix in every format that suits it."""
    wide = int(matrix.lengths.max(initial=0)) * matrix.rows > MOST_PADDED
    return {name: form(matrix) for name, form in FORMS.items() if name != "ell" or not wide}
