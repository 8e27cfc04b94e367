"""What an iteration of conjugate gradients computes and moves, by formula.

The counting is that of the tutorial "Performance Engineering for Sparse Linear Solvers" (ISC
2026): an entry of a CSR matrix is 12 bytes and 2 floating point operations, vectors pass through
memory once for each kernel that reads or writes them, and what is gathered is counted once. The
*textbook* iteration runs every line of the algorithm as a kernel of its own; the *fused* one is
that of ``solvers/linalg/kernels/iteration.py``. The tests compare the fused counts with what the
kernels declare, and with the operations of their loops.
"""

from __future__ import annotations

from dataclasses import dataclass

from solvers.linalg.kernels.iteration import REAL_BYTES
from solvers.linalg.operator import Operator
from solvers.linalg.precondition import Preconditioner
from solvers.linalg.workspace import CLASSIC


@dataclass(frozen=True)
class Cost:
    """Floating point operations, bytes to and from memory, products with a matrix, launches."""

    flops: int
    bytes: int
    products: int = 0
    launches: int = 1

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.flops + other.flops,
            self.bytes + other.bytes,
            self.products + other.products,
            self.launches + other.launches,
        )

    def __mul__(self, times: int) -> Cost:
        return Cost(
            times * self.flops, times * self.bytes, times * self.products, times * self.launches
        )

    @property
    def intensity(self) -> float:
        """Operations per byte; times the memory bandwidth, the roofline's bound on flop/s."""
        return self.flops / self.bytes if self.bytes else 0.0


NOTHING = Cost(0, 0, 0, 0)


@dataclass(frozen=True)
class Shape:
    """Size of a CSR matrix: rows, columns, entries, bytes of an index."""

    rows: int
    columns: int
    nonzeros: int
    index_bytes: int = 4

    @property
    def transposed(self) -> Shape:
        """Size of the transposed matrix."""
        return Shape(self.columns, self.rows, self.nonzeros, self.index_bytes)

    @property
    def bytes(self) -> int:
        """Bytes of values, indices and starts."""
        entry = REAL_BYTES + self.index_bytes
        return entry * self.nonzeros + self.index_bytes * (self.rows + 1)


def spmv(shape: Shape) -> Cost:
    """Return the cost of y = A x: 12 nnz + 4 (rows + 1) + 8 columns + 8 rows bytes."""
    vectors = REAL_BYTES * (shape.columns + shape.rows)
    return Cost(2 * shape.nonzeros, shape.bytes + vectors, 1)


def tutorial_spmv(shape: Shape) -> Cost:
    """Return the tutorial's cost of y += A x: 12 nnz + 20 rows + 8 columns bytes."""
    entry = REAL_BYTES + shape.index_bytes
    moved = entry * shape.nonzeros + 20 * shape.rows + 8 * shape.columns
    return Cost(2 * shape.nonzeros, moved, 1)


def dot(size: int, *, of_one: bool = False) -> Cost:
    """Return the cost of x'y, or of x'x."""
    return Cost(2 * size, (1 if of_one else 2) * REAL_BYTES * size)


def axpy(size: int) -> Cost:
    """Return the cost of y = y + a x, or of y = x + a y."""
    return Cost(2 * size, 3 * REAL_BYTES * size)


def textbook_cg(shape: Shape) -> Cost:
    """Return the cost of an unfused iteration: a product, two dots, three axpys."""
    n = shape.rows
    return spmv(shape) + dot(n) + axpy(n) * 3 + dot(n, of_one=True)


def textbook_pcg(shape: Shape) -> Cost:
    """Return the cost of an unfused iteration with Jacobi: z = D^-1 r and r'z besides."""
    n = shape.rows
    return textbook_cg(shape) + Cost(n, 3 * REAL_BYTES * n) + dot(n)


def fused_iteration(
    shape: Shape,
    variant: str = "single",
    *,
    block_size: int = 1,
    degree: int = 0,
    normal: bool = False,
) -> Cost:
    """Return the cost of an iteration as the kernels run it.

    Parameters
    ----------
    shape : Shape
        Of the symmetric M, or of A (m, n) with ``normal``, where M = A D A'.
    variant : {'single', 'classic'}
    block_size : int
        Of the diagonal blocks of the preconditioner; 1 for none, Jacobi and polynomials.
    degree : int
        Products that the preconditioner's polynomial takes.
    normal : bool
    """
    m = shape.rows
    inverse = -(-m // block_size) * block_size * block_size
    # The rows of the last block multiply only what there is of it.
    applied = 2 * sum_of_squares(m, block_size)
    if variant == CLASSIC:
        columns = _columns(shape, with_p=True) if normal else NOTHING
        entry_flops = 2 if normal else 4
        vectors = 4 * m + (shape.columns if normal else 0)
        product = Cost(entry_flops * shape.nonzeros + 4 * m, shape.bytes + REAL_BYTES * vectors, 1)
        update = Cost(8 * m + applied, REAL_BYTES * (7 * m + inverse))
        return columns + product + update
    columns = _columns(shape, with_p=False) if normal else NOTHING
    vectors = 3 * m + (shape.columns if normal else 0)
    product = Cost(2 * shape.nonzeros + 6 * m, shape.bytes + REAL_BYTES * vectors, 1)
    update = Cost(8 * m + applied, REAL_BYTES * (11 * m + inverse))
    return columns + product + update + _polynomial(shape, degree, normal)


def iteration_cost(operator: Operator, preconditioner: Preconditioner, variant: str) -> Cost:
    """Return :func:`fused_iteration` for an operator and its preconditioner."""
    starts, values = operator.by_row.arguments[1], operator.by_row.arguments[3]
    shape = Shape(
        operator.by_row.rows, operator.by_row.columns, int(values.size), int(starts.itemsize)
    )
    return fused_iteration(
        shape,
        variant,
        block_size=preconditioner.block_size,
        degree=preconditioner.products,
        normal=operator.is_normal,
    )


def sum_of_squares(size: int, block_size: int) -> int:
    """Return the entries of all diagonal blocks, the last as small as it is."""
    last = size % block_size
    return size // block_size * block_size * block_size + last * last


def _columns(shape: Shape, *, with_p: bool) -> Cost:
    """Return the cost of q = D A'u, or of q = D A'(u + beta p)."""
    gathered = shape.rows * (2 if with_p else 1)
    flops = (4 if with_p else 2) * shape.nonzeros + shape.columns
    moved = shape.transposed.bytes + REAL_BYTES * (gathered + 2 * shape.columns)
    return Cost(flops, moved, 1)


def _polynomial(shape: Shape, degree: int, normal: bool) -> Cost:
    """Return the cost of the polynomial's steps; the first needs no direction but u."""
    if degree == 0:
        return NOTHING
    m = shape.rows
    columns = _columns(shape, with_p=False) if normal else NOTHING
    flops = 2 * shape.nonzeros + 6 * m
    gathered = shape.columns if normal else 0
    first = Cost(flops, shape.bytes + REAL_BYTES * (5 * m + gathered), 1)
    later = Cost(flops, shape.bytes + REAL_BYTES * (6 * m + gathered), 1)
    return (columns + first) + (columns + later) * (degree - 1)
