"""Dense LU with partial pivoting, on CPU and GPU.

    factors = factorise(matrix, device)
    x = solve(factors, b)                       # any number of right-hand sides, A or A'
    condition(factors), inverse(factors), determinant(factors)
    refined = refine(matrix, factors, b)        # x to rounding, with its backward error

The factorisation and the triangular solves are the library's: LAPACK's getrf and getrs, and
cuSOLVER's. On a GPU, a matrix that fits into one block's shared memory is treated there instead,
by the kernels for many small matrices (``factorise_many``). Added is what the libraries leave
to the caller: memory kept from one factorisation to the next, a verdict on the pivots, a condition
estimate, and refinement with residuals in twice the precision. A GPU must be the current one
(``with device.activate()``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.core.device import Device
from solvers.core.errors import ProblemError
from solvers.papers.dense_lu import one_block
from solvers.papers.dense_lu.factors import (
    MOST_STEPS,
    PIVOT_EPSILON,
    Factors,
    Library,
    Refined,
    SingularMatrixError,
    norm_of_inverse,
)
from solvers.papers.dense_lu.factors import refine as _refine
from solvers.papers.dense_lu.kernels.batched import BATCHED

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


# Dense LU, inverses and solutions of many small matrices of one size.
#
# On a GPU one block takes each matrix from its first column to its last, in shared memory
# (``dense_lu/kernels/batched.py``), while it fits there: 169 rows with the 227 KB of a Hopper GPU.
# Larger ones are inverted by cuBLAS and factorised one by one, as are on a CPU those from
# :data:`LAPACK_FROM` rows on. No matrix spoils the others: each has a verdict of its own.


LAPACK_FROM = 64
"""Rows from which LAPACK takes no longer than the plain loops of the twins, whose calls cost less:
on one core of a server 16 us against 51 us for a factorisation with 32 rows, about 120 us each
with 64, and 890 us against 230 us with 128."""


def _invert_by_cublas(matrices: Any, inverses: Any) -> Any:
    """Invert matrices (count, n, n) by getrfBatched and getriBatched, and return their status.

    ``cupy.linalg.inv`` calls the same two, but keeps the status of each matrix to itself.

    cuBLAS takes the rows for columns, and so inverts the transposed matrices into transposed
    inverses, which is the same.

    Returns
    -------
    ndarray (count,)
        On the host: the first column (of the transposed matrix) without a pivot, counted from 0,
        or -1.
    """
    import cupy
    from cupy.cuda import cublas, device

    count, n = int(matrices.shape[0]), int(matrices.shape[1])
    work = matrices.copy()
    pivots = cupy.empty((count, n), dtype=cupy.int32)
    status = cupy.empty((2, count), dtype=cupy.int32)
    step = matrices.itemsize * n * n * np.arange(count, dtype=np.uint64)
    factors, targets = (
        cupy.asarray(np.uint64(array.data.ptr) + step) for array in (work, inverses)
    )
    handle = device.get_cublas_handle()
    of_factors, of_inverses = status[0].data.ptr, status[1].data.ptr
    given = (handle, n, factors.data.ptr, n, pivots.data.ptr)
    cublas.dgetrfBatched(*given, of_factors, count)
    cublas.dgetriBatched(*given, targets.data.ptr, n, of_inverses, count)
    return cupy.asnumpy(status[0]) - 1


@dataclass(frozen=True, eq=False)
class ManyFactors:
    """Factors of many matrices: A[order] = L U for each.

    Parameters
    ----------
    device : Device
    factors : array (count, n, n)
        L below the diagonal, U on and above it, row-major.
    order : array (count, n) of int32
        The row of A that stands at each place.
    singular : array (count,) of int32
        The first column without a pivot that is more than rounding; -1 where there is none.
    """

    device: Device
    factors: Any
    order: Any
    singular: Any


@dataclass(frozen=True, eq=False)
class ManyInverses:
    """Inverses of many matrices.

    Parameters
    ----------
    inverses : array (count, n, n)
    condition : ndarray (count,)
        1-norm condition numbers, exact but for rounding, on the host; not finite where there is
        no inverse.
    singular : array (count,) of int32
        The first column whose pivot is zero; -1 where there is none. It is a row where cuBLAS
        inverted (a GPU, above the size of a block).
    """

    inverses: Any
    condition: npt.NDArray[np.float64]
    singular: Any


def factorise_many(matrices: Any, device: Device) -> ManyFactors:
    """Factorise matrices (count, n, n) with partial pivoting; singular ones are marked."""
    held = _squares_on(device, matrices)
    count, n = int(held.shape[0]), int(held.shape[1])
    xp = device.xp
    factors, order = xp.empty(held.shape), xp.empty((count, n), dtype=xp.int32)
    singular = xp.full(count, -1, dtype=xp.int32)
    if held.size and in_one_block(device, n):
        verdict = xp.empty((count, 4))
        BATCHED["factorise"](count, n, PIVOT_EPSILON, held, factors, order, singular, verdict)
    elif held.size:
        for which in range(count):
            _factorise_one(held[which], device, factors[which], order[which], singular, which)
    return ManyFactors(device, factors, order, singular)


def solve_many(factors: ManyFactors, sides: Any, *, transposed: bool = False) -> Any:
    """Solve A x = b or A' x = b for each matrix.

    Parameters
    ----------
    factors : ManyFactors
    sides : array (count, n) or (count, k, n)
        One right-hand side or several for each matrix.

    Returns
    -------
    array like ``sides``
        Not finite, or meaningless, for matrices marked as singular.
    """
    device = factors.device
    xp = device.xp
    b = xp.ascontiguousarray(xp.asarray(sides, dtype=xp.float64))
    count, n = factors.order.shape
    if b.ndim not in (2, 3) or b.shape[0] != count or b.shape[-1] != n:
        raise ProblemError(
            f"Right-hand sides of shape {tuple(b.shape)} do not fit {count} matrices with {n} rows."
        )
    x = xp.empty(b.shape)
    k = b.size // (count * n) if b.size else 0
    if k == 0:
        return x
    by_side, solutions = b.reshape(count, k, n), x.reshape(count, k, n)
    if in_one_block(device, n):
        arguments = (factors.factors, factors.order, by_side, solutions)
        BATCHED["solve"](count, n, k, int(transposed), *arguments)
    else:
        for which in range(count):
            _solve_one(factors, which, by_side[which], solutions[which], transposed)
    return x


def inverse_many(matrices: Any, device: Device) -> ManyInverses:
    """Invert matrices (count, n, n), by Gauss-Jordan elimination where they fit into a block.

    With partial pivoting its errors are those of Gaussian elimination (Peters and Wilkinson, *On
    the stability of Gauss-Jordan elimination with pivoting*, CACM 18, 1975).
    """
    held = _squares_on(device, matrices)
    count, n = int(held.shape[0]), int(held.shape[1])
    xp = device.xp
    inverses, singular = xp.empty(held.shape), xp.full(count, -1, dtype=xp.int32)
    if not held.size:
        return ManyInverses(inverses, np.zeros(count), singular)
    if in_one_block(device, n):
        norms = xp.empty((2, count))
        with np.errstate(all="ignore"):
            BATCHED["invert"](count, n, held, inverses, norms, singular)
        known = device.to_host(norms)
        return ManyInverses(inverses, known[0] * known[1], singular)
    if device.kind == "cuda":
        return _inverses_by_cublas(held, device)
    condition = np.full(count, np.inf)
    for which in range(count):
        try:
            found = factorise(held[which], device)
        except ProblemError as error:
            singular[which] = getattr(error, "column", 0)
            inverses[which] = np.nan
            continue
        inverses[which] = inverse(found)
        condition[which] = found.norm * np.abs(inverses[which]).sum(axis=0).max()
    return ManyInverses(inverses, condition, singular)


def in_one_block(device: Device, n: int) -> bool:
    """Whether matrices with n rows are treated by the kernels, and not one by one."""
    return n < LAPACK_FROM if device.kind == "cpu" else one_block.fits(device, n)


def _inverses_by_cublas(matrices: Any, device: Device) -> ManyInverses:

    xp = device.xp
    inverses = xp.empty(matrices.shape)
    singular = _invert_by_cublas(matrices, inverses)
    norms = [xp.abs(each).sum(axis=1).max(axis=1) for each in (matrices, inverses)]
    condition = device.to_host(norms[0]) * device.to_host(norms[1])
    condition[singular >= 0] = np.inf
    return ManyInverses(inverses, condition, xp.asarray(singular))


def _factorise_one(
    matrix: Any, device: Device, factors: Any, order: Any, singular: Any, which: int
) -> None:
    """Factorise a matrix by the library, and lay the factors out as the kernels do."""
    try:
        found = factorise(matrix, device)
    except ProblemError as error:
        singular[which] = getattr(error, "column", 0)
        factors[...] = np.nan
        order[...] = device.xp.arange(order.size, dtype=order.dtype)
        return
    factors[...] = found.lu.T  # by LAPACK or cuSOLVER, which hold columns
    order[...] = device.xp.asarray(row_order(found))


def _solve_one(
    factors: ManyFactors, which: int, sides: Any, solutions: Any, transposed: bool
) -> None:
    """Solve with one matrix's factors by two triangular solves of the library."""
    order = factors.order[which]
    if factors.device.kind == "cpu":
        from scipy.linalg import solve_triangular
    else:
        from cupyx.scipy.linalg import solve_triangular

    held = factors.factors[which]

    def by(lower: bool, right: Any) -> Any:
        return solve_triangular(
            held,
            right,
            lower=lower,
            trans=int(transposed),
            unit_diagonal=lower,
            check_finite=False,
        )

    if transposed:
        solutions[:, order] = by(True, by(False, sides.T)).T
    else:
        solutions[...] = by(False, by(True, sides.T[order])).T


def _squares_on(device: Device, matrices: Any) -> Any:
    xp = device.xp
    held = xp.ascontiguousarray(xp.asarray(matrices, dtype=xp.float64))
    if held.ndim != 3 or held.shape[1] != held.shape[2]:
        raise ProblemError(
            f"Square matrices of one size are needed, (count, n, n); the shape given is "
            f"{tuple(held.shape)}."
        )
    return held
