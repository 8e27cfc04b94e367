"""The basis of a relaxation: its inverse, and the right side that belongs to it."""

from __future__ import annotations

import numpy as np

from solvers.kernels.twin import compiled
from solvers.knapsack.rows.node import (
    AT_LOWER,
    AT_UPPER,
    BASIC,
    PIVOTS,
    UNDECIDED,
    Node,
    Rows,
)
from solvers.problem import FloatArray

SMALLEST_PIVOT = 1e-9
"""Entries of a pivot row below this count as zero; largest coefficients are one half to one."""

REFRESH = 60
"""Pivots after which the basis inverse is computed from the basis again."""


@compiled
def refresh(rows: Rows, node: Node) -> None:
    """Compute inverse and right side from the basis; begin at the slacks where it is singular."""
    n, m = rows.column.shape
    work = np.zeros((m, 2 * m))
    for k in range(m):
        j = node.basis[k]
        for i in range(m):
            work[i, k] = rows.column[j, i] if j < n else (1.0 if j - n == i else 0.0)
        work[k, m + k] = 1.0
    if eliminate(work):
        node.inverse[:, :] = work[:, m:]
    else:
        slack_basis(rows, node)
    node.counts[PIVOTS] = 0
    set_side(rows, node)


@compiled
def eliminate(work: FloatArray) -> bool:
    """Turn (m, 2m) [B I] into [I inverse of B], with row exchanges; False where B is singular."""
    m = work.shape[0]
    for k in range(m):
        pivot = k
        for i in range(k + 1, m):
            if abs(work[i, k]) > abs(work[pivot, k]):
                pivot = i
        if abs(work[pivot, k]) < SMALLEST_PIVOT:
            return False
        for c in range(2 * m):
            work[k, c], work[pivot, c] = work[pivot, c], work[k, c]
        factor = 1.0 / work[k, k]
        for c in range(2 * m):
            work[k, c] *= factor
        for i in range(m):
            factor = work[i, k]
            if i != k and factor != 0.0:
                for c in range(2 * m):
                    work[i, c] -= factor * work[k, c]
    return True


@compiled
def slack_basis(rows: Rows, node: Node) -> None:
    """Make the slacks basic, and what was basic nonbasic."""
    n, m = rows.column.shape
    for k in range(m):
        j = node.basis[k]
        node.place[j] = AT_UPPER if j < n and node.value[j] == 1 else AT_LOWER
    for k in range(m):
        node.basis[k] = n + k
        node.place[n + k] = BASIC
        for i in range(m):
            node.inverse[i, k] = 1.0 if i == k else 0.0


@compiled
def set_side(rows: Rows, node: Node) -> None:
    """Compute the right side without nonbasic columns at their upper bound, from whole numbers."""
    n, m = rows.column.shape
    for i in range(m):
        node.side[i] = node.residual[i] * rows.scale[i]
    for j in range(n):
        if node.value[j] == 1 and node.place[j] != AT_UPPER:  # decided, still in the basis
            for i in range(m):
                node.side[i] += rows.column[j, i]
        elif node.value[j] == UNDECIDED and node.place[j] == AT_UPPER:
            for i in range(m):
                node.side[i] -= rows.column[j, i]
