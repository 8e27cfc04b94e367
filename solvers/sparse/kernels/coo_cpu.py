"""Numba twins of ``coo.cu``."""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

from numba import prange, uint64

from solvers.kernels.twin import twin


@twin
def coo_clear(rows, product):
    """Set the product to zero."""
    for row in prange(rows):
        product[row] = 0.0


@twin
def coo_segments(entries, chunk, row_indices, indices, values, vector, product, carries):
    """Sum the rows within each chunk of entries."""
    for own in prange((entries + chunk - 1) // chunk):
        begin = own * chunk
        end = min(begin + chunk, entries)
        first_row = row_indices[begin]
        open_row = first_row
        open_sum = 0.0
        first_sum = 0.0
        for entry in range(uint64(begin), uint64(end)):
            row = row_indices[entry]
            if row != open_row:
                if open_row == first_row:
                    first_sum = open_sum
                else:
                    product[open_row] = open_sum
                open_row = row
                open_sum = 0.0
            open_sum += values[entry] * vector[uint64(indices[entry])]
        if open_row == first_row:
            carries[2 * own] = open_sum
            carries[2 * own + 1] = 0.0
        else:
            carries[2 * own] = first_sum
            carries[2 * own + 1] = open_sum


@twin
def coo_carries(entries, chunk, row_indices, carries, product):
    """Add up what neighbouring chunks hold of the same row."""
    count = 2 * ((entries + chunk - 1) // chunk)
    for own in prange(count):
        begin = (own // 2) * chunk
        row = row_indices[begin] if own % 2 == 0 else row_indices[min(begin + chunk, entries) - 1]
        head = own == 0
        if own > 0:
            before = ((own - 1) // 2) * chunk
            if own % 2 == 0:
                head = row_indices[min(before + chunk, entries) - 1] != row
            else:
                head = row_indices[before] != row
        if head:
            total = 0.0
            for q in range(own, count):
                place = (q // 2) * chunk
                if q % 2 == 1:
                    place = min(place + chunk, entries) - 1
                if row_indices[place] != row:
                    break
                total += carries[q]
            product[row] = total
