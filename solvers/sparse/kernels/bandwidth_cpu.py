"""Numba twin of ``bandwidth.cu``, and a loop that reads the way a processor likes it."""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

from numba import prange

from solvers.kernels.twin import twin


@twin
def stream_read(readers, size, repeats, source, sums):
    """Sum what each reader reads."""
    for own in prange(readers):
        place = own
        total = 0.0
        for _ in range(repeats):
            total += source[place]
            place += readers
            if place >= size:
                place -= size
        sums[own] = total


@twin
def read_fast(parts, part, repeats, source, sums):
    """Let each of ``parts`` workers read its ``part`` neighbouring integers ``repeats`` times.

    Integers, because their sums may be taken in any order and so by whole vectors; a chain of
    floating-point additions would be slower than the reading.
    """
    for own in prange(parts):
        first = own * part
        total = 0
        for r in range(repeats):
            own_part = source[first + (r & 1) : first + part]
            for k in range(own_part.size):
                total += own_part[k]
        sums[own] = total
