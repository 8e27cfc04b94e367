"""Symmetric systems for tests, with names."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp


def laplacian(side: int) -> sp.csr_array:
    """Return the five-point Laplacian of a square grid."""
    line = sp.diags_array(
        [np.full(side - 1, -1.0), np.full(side, 2.0), np.full(side - 1, -1.0)],
        offsets=[-1, 0, 1],
        dtype=np.float64,
    )
    eye = sp.eye_array(side)
    return sp.csr_array(sp.kron(line, eye) + sp.kron(eye, line))


def random_spd(size: int, seed: int, density: float = 0.1) -> sp.csr_array:
    generator = np.random.default_rng(seed)
    factor = sp.random_array((size, size), density=density, rng=generator, format="csr")
    return sp.csr_array(factor @ factor.T + sp.eye_array(size) * 0.1)


def arrow(size: int) -> sp.csr_array:
    """Return a matrix with one full row and column: a long row among short ones."""
    matrix = sp.lil_array((size, size))
    matrix.setdiag(4.0)
    matrix[0, 1:] = 0.01
    matrix[1:, 0] = 0.01
    matrix[0, 0] = 10.0 + 0.01 * size
    return sp.csr_array(matrix)


def scaled(matrix: sp.csr_array, spread: float, seed: int) -> sp.csr_array:
    """Scale rows and columns alike by powers of ten up to ``spread``."""
    generator = np.random.default_rng(seed)
    scale = sp.diags_array(10.0 ** generator.uniform(-spread, spread, matrix.shape[0]))
    result = sp.csr_array(scale @ matrix @ scale)
    # Rounding in the two products differs above and below the diagonal.
    return sp.csr_array(0.5 * (result + result.T))


SYSTEMS = {
    "1x1": sp.csr_array([[2.5]]),
    "diagonal": sp.csr_array(sp.diags_array(np.arange(1.0, 34.0))),
    "laplacian": laplacian(17),
    "random 33": random_spd(33, 1),
    "random 257": random_spd(257, 2, 0.02),
    "arrow": arrow(3000),
    "scaled": scaled(laplacian(9), 2.0, 3),
}
