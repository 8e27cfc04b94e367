"""Dense LU with partial pivoting, on CPU and GPU.

    factors = factorise(matrix, device)
    x = solve(factors, b)                       # any number of right-hand sides, A or A'
    condition(factors), inverse(factors), determinant(factors)
    refined = refine(matrix, factors, b)        # x to rounding, with its backward error

The factorisation and the triangular solves are the library's: LAPACK's getrf and getrs, and
cuSOLVER's. On a GPU, a matrix that fits into one block's shared memory is treated there instead,
by the kernels for many small matrices (``lu_many.py``). What is added is what the libraries leave
to the caller: memory kept from one factorisation to the next, a verdict on the pivots, a condition
estimate, and refinement with residuals in twice the precision. A GPU must be the current one
(``with device.activate()``).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.core.device import Device
from solvers.core.errors import ProblemError
from solvers.papers.dense_lu.factors import Factors, Library, SingularMatrixError
from solvers.papers.dense_lu.refinement import MOST_STEPS, Refined, norm_of_inverse
from solvers.papers.dense_lu.refinement import refine as _refine

ONE_BLOCK_UP_TO = 64
"""Rows up to which one block factorises a single matrix. On an H200 it took 0.10 ms for 16 rows,
0.18 for 64, 0.37 for 100 and 0.72 for 160; cuSOLVER, which needs 0.05 more for the report on its
factors, 0.06, 0.13, 0.2 and 0.3."""

__all__ = [
    "Factors",
    "Refined",
    "SingularMatrixError",
    "condition",
    "determinant",
    "factorise",
    "inverse",
    "refine",
    "row_order",
    "solve",
]


def library_for(device: Device, n: int) -> Library:
    """Return what factorises matrices with n rows on a device."""
    if device.kind == "cpu":
        from solvers.papers.dense_lu import lapack

        return lapack
    from solvers.papers.dense_lu import cusolver, one_block

    small = n <= ONE_BLOCK_UP_TO and one_block.fits(device, n)
    return one_block if small else cusolver


def factorise(matrix: Any, device: Device, *, reuse: Factors | None = None) -> Factors:
    """Factorise a square matrix, which is left as it is.

    Parameters
    ----------
    matrix : array (n, n)
        On the host or on the device.
    device : Device
        Where to factorise, and where the factors live.
    reuse : Factors, optional
        Factors no longer needed, whose memory the new ones take over if the size is the same.

    Raises
    ------
    SingularMatrixError
        A column has no pivot that is more than rounding; it says which.
    ProblemError
        The matrix is not square, or an entry is not finite.
    """
    held = _on(device, matrix)
    n = _size(held)
    library = library_for(device, n)
    if n == 0:
        return Factors(device, library, held, np.empty(0, np.int32), 0.0, None)
    if reuse is not None and (reuse.size, reuse.library, reuse.device) != (n, library, device):
        reuse = None
    return library.factorise(held, device, reuse)


def solve(factors: Factors, sides: Any, *, transposed: bool = False) -> Any:
    """Solve A x = b, or A' x = b.

    Parameters
    ----------
    factors : Factors
    sides : array (n,) or (n, k)
        One right-hand side or several; left as they are.
    transposed : bool
        Solve with the transposed matrix.

    Returns
    -------
    array (n,) or (n, k)
        On the device of the factors.
    """
    by_row = _rows(factors, sides)
    if by_row.size:
        factors.library.solve(factors, by_row, transposed)
    return by_row[0] if sides.ndim == 1 else by_row.T


def inverse(factors: Factors) -> Any:
    """Return the inverse (n, n), row-major, on the device of the factors."""
    if factors.size == 0:
        return factors.device.xp.empty((0, 0))
    return factors.library.inverse(factors)


def condition(factors: Factors) -> float:
    """Return an estimate of the 1-norm condition number of A, from some five solves.

    It is a lower bound, nearly always within a factor of three; 0 for a matrix without rows.
    """
    device = factors.device

    def solved(side: Any, transposed: bool) -> Any:
        return device.to_host(solve(factors, side, transposed=transposed))

    return factors.norm * norm_of_inverse(factors.size, solved)


def determinant(factors: Factors) -> tuple[float, float]:
    """Return the sign of the determinant and the logarithm of its magnitude."""
    if factors.size == 0:
        return 1.0, 0.0
    pivots = factors.library.pivots(factors)
    odd = int(np.count_nonzero(pivots < 0.0)) + _interchanges(row_order(factors))
    return (-1.0 if odd % 2 else 1.0), float(np.log(np.abs(pivots)).sum())


def row_order(factors: Factors) -> npt.NDArray[np.int32]:
    """Return for each place the row of A that stands there, (n,), on the host: A[order] = L U."""
    if factors.size == 0:
        return np.empty(0, np.int32)
    order: npt.NDArray[np.int32] = factors.library.order(factors)
    return order


def refine(
    matrix: Any, factors: Factors, sides: Any, x: Any = None, *, most_steps: int = MOST_STEPS
) -> Refined:
    """Solve A x = b to rounding, by iterative refinement.

    Parameters
    ----------
    matrix : array (n, n)
        The matrix that was factorised, or one close to it: x solves the system of this one.
    factors : Factors
    sides : array (n,) or (n, k)
    x : array like the right-hand sides, optional
        A solution to start from; by default what the factors give.
    most_steps : int
        0 measures the backward error only.
    """
    device = factors.device
    held = _on(device, matrix)
    if _size(held) != factors.size:
        raise ProblemError(
            f"The matrix has {_size(held)} rows and the factors have {factors.size}; refinement "
            "needs the matrix that was factorised."
        )
    by_row = _rows(factors, sides)
    start = _rows(factors, solve(factors, sides) if x is None else x)
    if not by_row.size:
        return Refined(start.T, 0.0, 0.0, 0) if sides.ndim > 1 else Refined(start[0], 0.0, 0.0, 0)
    found = _refine(held, factors, by_row, start, most_steps)
    shaped = found.x[0] if sides.ndim == 1 else found.x.T
    return Refined(shaped, found.backward_error, found.correction, found.steps)


def _interchanges(order: npt.NDArray[np.int32]) -> int:
    """Return how many interchanges lead to an order: its places less its cycles."""
    successor, cycles = order.tolist(), 0
    seen = [False] * len(successor)
    for start in range(len(successor)):
        at, cycles = start, cycles + (not seen[start])
        while not seen[at]:
            seen[at], at = True, successor[at]
    return len(successor) - cycles


def _on(device: Device, matrix: Any) -> Any:
    """Return a matrix as contiguous rows of doubles on a device, copied only if need be."""
    xp = device.xp
    return xp.ascontiguousarray(xp.asarray(matrix, dtype=xp.float64))


def _size(matrix: Any) -> int:
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ProblemError(
            f"LU takes a square matrix, and this one has the shape {tuple(matrix.shape)}."
        )
    return int(matrix.shape[0])


def _rows(factors: Factors, sides: Any) -> Any:
    """Return right-hand sides (n,) or (n, k) as a copy (k, n) on the device of the factors."""
    if sides.ndim not in (1, 2) or sides.shape[0] != factors.size:
        raise ProblemError(
            f"A right-hand side of shape {tuple(sides.shape)} does not fit a matrix with "
            f"{factors.size} rows."
        )
    xp = factors.device.xp
    held = xp.asarray(sides, dtype=xp.float64)
    columns = held[:, None] if held.ndim == 1 else held
    return xp.array(columns.T, order="C", copy=True)
