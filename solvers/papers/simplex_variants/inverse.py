"""The inverse of a basis, made anew by LU (paper, appendix A: "LSE-style refactorization")."""

from __future__ import annotations

import numpy as np
import scipy.sparse.linalg as sparse

from solvers.core.problem import FloatArray
from solvers.papers.simplex_variants.basic_solution import Basis, basis_matrix
from solvers.papers.simplex_variants.kernels.resident import RESIDENT
from solvers.papers.simplex_variants.scaling import ScaledForm
from solvers.papers.simplex_variants.workspace import Workspace

USABLE = 1e-3
"""Error of B^-1 (B e), for a vector e of ones, up to which an inverse is taken.

Pivots lead on from ill-conditioned bases, and no answer is taken from them; but a basis that is
called singular loses columns, and feasibility with them: with 1e-6 greenbea went round in circles.
A step of Newton's iteration was tried, and makes this error larger where it is large.
"""


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
    return _error(found.T @ (matrix @ np.ones(space.size))) < USABLE


def _by_dense_lu(space: Workspace) -> bool:
    xp, m = space.device.xp, space.size
    transposed = xp.zeros((m, m))
    RESIDENT["basis_rows"](
        m, space.columns, space.starts, space.rows, space.values, space.basic,
        transposed.reshape(-1), space.control,
    )  # fmt: skip
    right = space.device.to_device(np.ones(m)) @ transposed  # B e
    found = xp.linalg.inv(transposed)
    space.inverse.reshape(m, space.stride)[:, :m] = found
    return _error(space.device.to_host(right @ found)) < USABLE


def _error(ones: FloatArray) -> float:
    """Return the largest difference from one; infinite where it is none of a number."""
    worst = float(np.max(np.abs(ones - 1.0)))
    return worst if worst < np.inf else np.inf
