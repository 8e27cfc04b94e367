"""Matrices of awkward shapes for kernel tests."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from solvers.device import Device, cpu
from solvers.pdlp.matrix import CompressedRows, to_device

SIZES = (0, 1, 31, 32, 33, 129, 255, 256, 257)


def random_matrix(rows: int, columns: int, density: float, seed: int) -> sp.csr_array:
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
    found["no columns"] = as_problem_matrix(sp.csr_array((5, 0)))
    empty_rows = random_matrix(90, 40, 0.3, 4).tolil()
    empty_rows[::3] = 0.0
    found["empty rows"] = as_problem_matrix(sp.csr_array(empty_rows))
    generator = np.random.default_rng(5)
    long_row = sp.csr_array(generator.uniform(-1.0, 1.0, (1, 100_000)))
    short = random_matrix(70, 100_000, 2e-5, 6)
    found["long row"] = as_problem_matrix(sp.csr_array(sp.vstack([short, long_row, short])))
    found["large"] = random_matrix(3000, 2000, 0.01, 7)
    return found


MATRICES = awkward_matrices()


def compressed(matrix: sp.csr_array, device: Device | None = None) -> CompressedRows:
    return to_device(matrix, cpu() if device is None else device, long_row=2048)
