"""Dense LU, inverses and solutions of many small matrices of one size.

On a GPU one block takes each matrix from its first column to its last, in shared memory
(``dense_lu/kernels/batched.py``), while it fits there: 169 rows with the 227 KB of a Hopper GPU.
Larger ones are inverted by cuBLAS and factorised one by one, as are on a CPU those from
:data:`LAPACK_FROM` rows on. No matrix spoils the others: each has a verdict of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.core.device import Device
from solvers.core.errors import ProblemError
from solvers.papers.dense_lu import lu, one_block
from solvers.papers.dense_lu.factors import PIVOT_EPSILON
from solvers.papers.dense_lu.kernels.batched import BATCHED

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
    held = _on(device, matrices)
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
    held = _on(device, matrices)
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
            found = lu.factorise(held[which], device)
        except ProblemError as error:
            singular[which] = getattr(error, "column", 0)
            inverses[which] = np.nan
            continue
        inverses[which] = lu.inverse(found)
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
        found = lu.factorise(matrix, device)
    except ProblemError as error:
        singular[which] = getattr(error, "column", 0)
        factors[...] = np.nan
        order[...] = device.xp.arange(order.size, dtype=order.dtype)
        return
    factors[...] = found.lu.T  # by LAPACK or cuSOLVER, which hold columns
    order[...] = device.xp.asarray(lu.row_order(found))


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


def _on(device: Device, matrices: Any) -> Any:
    xp = device.xp
    held = xp.ascontiguousarray(xp.asarray(matrices, dtype=xp.float64))
    if held.ndim != 3 or held.shape[1] != held.shape[2]:
        raise ProblemError(
            f"Square matrices of one size are needed, (count, n, n); the shape given is "
            f"{tuple(held.shape)}."
        )
    return held
