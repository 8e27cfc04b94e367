"""The kernels of ``resident.py`` in NumPy."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from solvers.papers.simplex_variants.basic_solution import cost_of, phase_one_cost
from solvers.papers.simplex_variants.kernels import layout as word
from solvers.papers.simplex_variants.kernels.iterate_cpu import exchange, whole_inverse
from solvers.papers.simplex_variants.kernels.rules import leaving, ratios


def ratio_test(a: SimpleNamespace) -> None:
    """Make both passes of Harris's ratio test, and exchange the variables of the pivot."""
    if a.control[word.STOP] != word.RUNNING:
        return
    exact, relaxed = ratios(a.x, a.d, a.basic >= a.columns, a.control)
    farthest = float(np.min(relaxed))
    if farthest == np.inf:
        a.control[word.STOP] = word.NO_RATIO
        return
    r = leaving(exact, farthest, a.d, a.basic, a.control)
    exchange(a, r, exact[r])


def update_in_place(a: SimpleNamespace) -> None:
    """Update the inverse by one term of rank one."""
    if a.control[word.STOP] != word.RUNNING:
        return
    r, whole = int(a.control[word.LEAVING]), whole_inverse(a)
    a.pivot_row[:] = whole[:, r] / a.control[word.PIVOT]
    whole -= a.pivot_row[:, None] * a.d
    whole[:, r] = a.pivot_row


def solution(a: SimpleNamespace) -> None:
    """Compute x = B^-1 b, and the costs of the basic variables."""
    if a.control[word.STOP] != word.RUNNING:
        return
    a.x[:] = a.rhs @ whole_inverse(a)
    if a.control[word.PHASE] == 2:
        a.basic_cost[:] = cost_of(a.cost, a.basic)
    else:
        tolerance = a.control[word.PRIMAL_TOLERANCE]
        a.basic_cost[:] = phase_one_cost(a.x, a.basic >= a.columns, tolerance)


def basis_rows(a: SimpleNamespace) -> None:
    """Write the basis into a dense matrix."""
    for row, j in zip(a.transposed.reshape(a.size, a.size), a.basic.tolist(), strict=True):
        if j >= a.columns:
            row[j - a.columns] = 1.0
        else:
            own = slice(a.starts[j], a.starts[j + 1])
            row[a.rows[own]] = a.values[own]


def dual(a: SimpleNamespace) -> None:
    """Compute y = B^-T c_B."""
    if a.control[word.STOP] == word.RUNNING:
        a.y[:] = whole_inverse(a) @ a.basic_cost
