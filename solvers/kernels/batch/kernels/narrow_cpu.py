"""Twin of narrow.cu."""
# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators

from __future__ import annotations

from numba import prange

from solvers.kernels.twin import twin


@twin
def narrow(count, wide, values):
    """Copy number after number."""
    for i in prange(count):
        values[i] = wide[i]
