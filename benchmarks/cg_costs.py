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


def fused_iteration(shape: Shape, *, normal: bool = False) -> Cost:
    """Return the cost of an iteration with Jacobi as the kernels run it.

    Parameters
    ----------
    shape : Shape
        Of the symmetric M, or of A (m, n) with ``normal``, where M = A D A'.
    normal : bool
    """
    m, n = shape.rows, shape.columns
    columns = NOTHING
    if normal:
        moved = shape.transposed.bytes + REAL_BYTES * (2 * m + 2 * n)
        columns = Cost(4 * shape.nonzeros + n, moved, 1)
    entry_flops = 2 if normal else 4
    vectors = 4 * m + (n if normal else 0)
    product = Cost(entry_flops * shape.nonzeros + 4 * m, shape.bytes + REAL_BYTES * vectors, 1)
    update = Cost(10 * m, 8 * REAL_BYTES * m)
    return columns + product + update


def iteration_cost(operator: Operator) -> Cost:
    """Return :func:`fused_iteration` for an operator."""
    starts, values = operator.by_row.arguments[1], operator.by_row.arguments[3]
    shape = Shape(
        operator.by_row.rows, operator.by_row.columns, int(values.size), int(starts.itemsize)
    )
    return fused_iteration(shape, normal=operator.is_normal)
