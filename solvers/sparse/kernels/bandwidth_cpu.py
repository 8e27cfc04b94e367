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
    """Let each of ``parts`` workers read its ``part`` neighbouring words ``repeats`` times."""
    for own in prange(parts):
        first = own * part
        a, b, c, d = 0.0, 0.0, 0.0, 0.0
        for r in range(repeats):
            for k in range(first + (r & 1), first + part - 7, 8):
                a += source[k] + source[k + 4]
                b += source[k + 1] + source[k + 5]
                c += source[k + 2] + source[k + 6]
                d += source[k + 3] + source[k + 7]
        sums[own] = a + b + c + d
