"""The inverse of a basis, made anew by LU (paper, appendix A: "LSE-style refactorization")."""

from __future__ import annotations

import numpy as np
import scipy.sparse.linalg as sparse

from solvers.simplex.paper.basic_solution import Basis, basis_matrix
from solvers.simplex.paper.kernels.resident import RESIDENT
from solvers.simplex.paper.scaling import ScaledForm
from solvers.simplex.paper.workspace import Workspace

ACCURATE = 1e-6
"""Largest error of T'(B'e) for a vector e of ones at which an inverse is taken."""


def invert(form: ScaledForm, basic: Basis, space: Workspace) -> bool:
    """Put the inverse of a basis into the workspace; return False where it is singular.

    On a GPU by a dense LU of cuSOLVER, on the CPU by SuperLU, as the bases are sparse.
    """
    if space.device.kind == "cpu":
        return _by_sparse_lu(form, basic, space)
    return _by_dense_lu(space)


def _by_sparse_lu(form: ScaledForm, basic: Basis, space: Workspace) -> bool:
    matrix = basis_matrix(form, basic)
    try:
        found = sparse.splu(matrix).solve(np.eye(space.size)).T
    except RuntimeError:  # exactly singular
        return False
    space.inverse.reshape(space.size, space.stride)[:, : space.size] = found
    return bool(np.max(np.abs(found.T @ (matrix @ np.ones(space.size)) - 1.0)) < ACCURATE)


def _by_dense_lu(space: Workspace) -> bool:
    xp, m = space.device.xp, space.size
    transposed = xp.zeros((m, m))
    RESIDENT["basis_rows"](
        m, space.columns, space.starts, space.rows, space.values, space.basic,
        transposed.reshape(-1), space.control,
    )  # fmt: skip
    ones = xp.ones(m)
    right = ones @ transposed  # B e
    found = xp.linalg.inv(transposed)
    space.inverse.reshape(m, space.stride)[:, :m] = found
    error = xp.abs(right @ found - ones).max()
    return bool(error < ACCURATE)  # False for a NaN too
