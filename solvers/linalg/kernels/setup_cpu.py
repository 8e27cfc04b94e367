"""Numba twins of ``setup.cu``."""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

from numba import prange

from solvers.kernels.twin import twin


@twin
def multiply(
    rows, starts, indices, values, long_count, long_rows, long_length, lanes,
    vector, magnitudes, product,
):  # fmt: skip
    """Multiply the matrix, or its magnitudes, by a vector."""
    for i in prange(rows):
        total = 0.0
        for k in range(starts[i], starts[i + 1]):
            total += (abs(values[k]) if magnitudes else values[k]) * vector[indices[k]]
        product[i] = total


@twin
def residual(
    rows, starts, indices, values, long_count, long_rows, long_length, lanes, vector, side, r,
):  # fmt: skip
    """Subtract the product from a right-hand side."""
    for i in prange(rows):
        total = 0.0
        for k in range(starts[i], starts[i + 1]):
            total += values[k] * vector[indices[k]]
        r[i] = side[i] - total


@twin
def diagonal(
    rows, starts, indices, values, long_count, long_rows, long_length, lanes,
    weight, normal, product,
):  # fmt: skip
    """Find the diagonal of M."""
    for i in prange(rows):
        total = 0.0
        for k in range(starts[i], starts[i + 1]):
            if normal:
                total += values[k] * values[k] * weight[indices[k]]
            elif indices[k] == i:
                total += values[k]
        product[i] = total


@twin
def diagonal_blocks(
    rows, starts, indices, values, long_count, long_rows, long_length, lanes,
    weight, normal, block_size, blocks,
):  # fmt: skip
    """Find the diagonal blocks of M, merging the rows of A where M is A D A'."""
    for i in prange(rows):
        first = i // block_size * block_size
        for other in range(first, min(first + block_size, rows)):
            k, end = starts[i], starts[i + 1]
            total = 0.0
            if normal:
                m = starts[other]
                while k < end and m < starts[other + 1]:
                    if indices[k] == indices[m]:
                        total += values[k] * values[m] * weight[indices[k]]
                        k += 1
                        m += 1
                    elif indices[k] < indices[m]:
                        k += 1
                    else:
                        m += 1
            else:
                while k < end:
                    if indices[k] == other:
                        total += values[k]
                    k += 1
            blocks[i * block_size + other - first] = total
