"""The inverse of a basis, made anew by LU (paper, appendix A: "LSE-style refactorization")."""

from __future__ import annotations

import numpy as np
import scipy.sparse.linalg as sparse

from solvers.problem import FloatArray
from solvers.simplex.paper.basic_solution import Basis, basis_matrix
from solvers.simplex.paper.kernels.resident import RESIDENT
from solvers.simplex.paper.scaling import ScaledForm
from solvers.simplex.paper.workspace import Workspace

ACCURATE = 1e-8
"""Error of B^-1 (B e), for a vector e of ones, from which an inverse is refined by Newton's step."""

USABLE = 1e-3
"""The same error, up to which a refined inverse is taken: pivots lead on from ill-conditioned bases,
while a basis called singular loses columns, and feasibility with them."""


def invert(form: ScaledForm, basic: Basis, space: Workspace) -> bool:
    """Put the inverse of a basis into the workspace; return False where it is singular.

    On a GPU by a dense LU of cuSOLVER, on the CPU by SuperLU, as the bases are sparse.
    """
    if space.device.kind == "cpu":
        return _by_sparse_lu(form, basic, space)
    return _by_dense_lu(space)


def _by_sparse_lu(form: ScaledForm, basic: Basis, space: Workspace) -> bool:
    matrix = basis_matrix(form, basic)
    identity = np.eye(space.size)
    try:
        factor = sparse.splu(matrix)
    except RuntimeError:  # exactly singular
        return False
    found = factor.solve(identity)
    error = _error(found @ (matrix @ np.ones(space.size)))
    if error > ACCURATE:
        found += factor.solve(identity - matrix @ found)
        error = _error(found @ (matrix @ np.ones(space.size)))
    space.inverse.reshape(space.size, space.stride)[:, : space.size] = found.T
    return error < USABLE


def _by_dense_lu(space: Workspace) -> bool:
    xp, to_host, m = space.device.xp, space.device.to_host, space.size
    transposed = xp.zeros((m, m))
    RESIDENT["basis_rows"](
        m, space.columns, space.starts, space.rows, space.values, space.basic,
        transposed.reshape(-1), space.control,
    )  # fmt: skip
    right = space.device.to_device(np.ones(m)) @ transposed  # B e
    found = xp.linalg.inv(transposed)
    error = _error(to_host(right @ found))
    if error > ACCURATE:
        found += found @ (xp.eye(m) - transposed @ found)
        error = _error(to_host(right @ found))
    space.inverse.reshape(m, space.stride)[:, :m] = found
    return error < USABLE


def _error(ones: FloatArray) -> float:
    """Return the largest difference from one; infinite where it is none of a number."""
    worst = float(np.max(np.abs(ones - 1.0)))
    return worst if worst < np.inf else np.inf
