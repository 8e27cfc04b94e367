"""The kernels of ``resident.py`` in NumPy."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from solvers.core.problem import FloatArray
from solvers.papers.simplex_variants.basic_solution import cost_of, phase_one_cost
from solvers.papers.simplex_variants.kernels import layout as word
from solvers.papers.simplex_variants.kernels.iterate_cpu import exchange
from solvers.papers.simplex_variants.kernels.rules import leaving, ratios

Ints = npt.NDArray[np.int32]


def ratio_test(
    size: int, columns: int, x: FloatArray, d: FloatArray, basic: Ints, position: Ints,
    control: FloatArray, threads: int,
) -> None:  # fmt: skip
    """Make both passes of Harris's ratio test, and exchange the variables of the pivot."""
    if control[word.STOP] != word.RUNNING:
        return
    exact, relaxed = ratios(x, d, basic >= columns, control)
    farthest = float(np.min(relaxed))
    if farthest == np.inf:
        control[word.STOP] = word.NO_RATIO
        return
    r = leaving(exact, farthest, d, basic, control)
    exchange(r, exact[r], d[r], basic, position, control)


def update_in_place(
    size: int, stride: int, team: int, d: FloatArray, inverse: FloatArray, pivot_row: FloatArray,
    control: FloatArray, threads: int,
) -> None:  # fmt: skip
    """Update the inverse by one term of rank one."""
    if control[word.STOP] != word.RUNNING:
        return
    r = int(control[word.LEAVING])
    whole = inverse.reshape(size, stride)[:, :size]
    pivot_row[:] = whole[:, r] / control[word.PIVOT]
    whole -= pivot_row[:, None] * d
    whole[:, r] = pivot_row


def solution(
    size: int, stride: int, columns: int, inverse: FloatArray, rhs: FloatArray, cost: FloatArray,
    basic: Ints, x: FloatArray, basic_cost: FloatArray, control: FloatArray, threads: int,
) -> None:  # fmt: skip
    """Compute x = B^-1 b, and the costs of the basic variables."""
    if control[word.STOP] != word.RUNNING:
        return
    x[:] = rhs @ inverse.reshape(size, stride)[:, :size]
    if control[word.PHASE] == 2:
        basic_cost[:] = cost_of(cost, basic)
    else:
        basic_cost[:] = phase_one_cost(x, basic >= columns, control[word.PRIMAL_TOLERANCE])


def basis_rows(
    size: int, columns: int, starts: Ints, rows: Ints, values: FloatArray, basic: Ints,
    transposed: FloatArray, threads: int,
) -> None:  # fmt: skip
    """Write the basis into a dense matrix."""
    for row, j in zip(transposed.reshape(size, size), basic.tolist(), strict=True):
        if j >= columns:
            row[j - columns] = 1.0
        else:
            own = slice(starts[j], starts[j + 1])
            row[rows[own]] = values[own]


def dual(
    size: int, stride: int, team: int, inverse: FloatArray, basic_cost: FloatArray, y: FloatArray,
    control: FloatArray, threads: int,
) -> None:  # fmt: skip
    """Compute y = B^-T c_B."""
    if control[word.STOP] == word.RUNNING:
        y[:] = inverse.reshape(size, stride)[:, :size] @ basic_cost
