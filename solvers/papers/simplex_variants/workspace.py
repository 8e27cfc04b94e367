"""The arrays of a solve where its kernels run, and the largest of them, the inverse of a basis.

The inverse is made anew by LU (paper, appendix A: "LSE-style refactorization").
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse.linalg as sparse

from solvers.core.device import Device
from solvers.core.problem import FloatArray
from solvers.papers.simplex_variants.basic_solution import Basis, basis_matrix
from solvers.papers.simplex_variants.kernels.layout import BLOCK, CONTROL_SIZE, SLOTS, parts_for
from solvers.papers.simplex_variants.kernels.resident import RESIDENT
from solvers.papers.simplex_variants.standard_form import ScaledForm

ALIGNMENT = 16
"""Columns of the inverse start at multiples of so many numbers, 128 bytes."""

LONG_COLUMN = 2048
"""Rows from which a whole block streams over a column of the inverse, instead of a warp."""

LANES = (1, 2, 4, 8, 16, 32)
"""Threads that may share a column of A in pricing."""

USABLE = 1e-3
"""Error of B^-1 (B e), for a vector e of ones, up to which an inverse is taken.

Pivots lead on from ill-conditioned bases, and no answer is taken from them; but a basis that is
called singular loses columns, and feasibility with them: with 1e-6 greenbea went round in circles.
A step of Newton's iteration was tried, and makes this error larger where it is large.
"""


@dataclass(eq=False)
class Workspace:
    """Everything that pivots read and change; names are those of ``kernels/iterate.py``.

    ``inverse`` (m * stride,) holds column k of B^-1 in its row k. Sizes: ``y``, ``x``, ``d``,
    ``basic_cost``, ``pivot_row``, ``rhs`` are (m,), ``weight`` and ``reduced`` (n,).
    """

    device: Device
    size: int
    stride: int
    columns: int
    lanes: int
    team: int
    column_parts: int
    row_parts: int
    starts: Any
    rows: Any
    values: Any
    cost: Any
    rhs: Any
    inverse: Any
    basic: Any
    position: Any
    x: Any
    y: Any
    d: Any
    basic_cost: Any
    pivot_row: Any
    weight: Any
    reduced: Any
    offers: Any
    nearest: Any
    chosen: Any
    control: Any


def workspace(form: ScaledForm, device: Device) -> Workspace:
    """Allocate the arrays of a solve; the inverse is not filled."""
    m, n = form.num_rows, form.num_columns
    stride = -(-m // ALIGNMENT) * ALIGNMENT
    lanes = _lanes(form.matrix.nnz, n)
    column_parts, row_parts = parts_for(n, lanes), parts_for(m)

    def reals(count: int) -> Any:
        return device.to_device(np.zeros(count))

    return Workspace(
        device=device,
        size=m,
        stride=stride,
        columns=n,
        lanes=lanes,
        team=BLOCK if m >= LONG_COLUMN else 32,
        column_parts=column_parts,
        row_parts=row_parts,
        starts=device.to_device(form.matrix.indptr.astype(np.int32)),
        rows=device.to_device(form.matrix.indices.astype(np.int32)),
        values=device.to_device(form.matrix.data),
        cost=device.to_device(form.cost),
        rhs=device.to_device(form.rhs),
        inverse=reals(m * stride),
        basic=device.to_device(np.zeros(m, dtype=np.int32)),
        position=device.to_device(np.zeros(n + m, dtype=np.int32)),
        x=reals(m),
        y=reals(m),
        d=reals(m),
        basic_cost=reals(m),
        pivot_row=reals(m),
        weight=device.to_device(np.ones(n)),
        reduced=reals(n),
        offers=reals(SLOTS * column_parts),
        nearest=reals(SLOTS * row_parts),
        chosen=reals(SLOTS * row_parts),
        control=reals(CONTROL_SIZE),
    )


def _lanes(entries: int, columns: int) -> int:
    """Return the power of two next to the mean number of entries in a column, up to a warp."""
    mean = entries / max(1, columns)
    return next((lanes for lanes in LANES if lanes >= mean), LANES[-1])


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
