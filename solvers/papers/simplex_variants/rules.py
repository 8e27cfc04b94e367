"""Pricing and ratio test of the variants "cpu" and "naive", in NumPy on the host.

They are the rules of ``kernels/iterate.py``, so that all variants would make the same pivots in
exact arithmetic; ties go to the smaller index there and here.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from solvers.core.problem import FloatArray
from solvers.papers.simplex_variants.kernels.layout import (
    BLAND,
    DUAL_TOLERANCE,
    PRIMAL_TOLERANCE,
    ZERO_PIVOT,
)

Flags = npt.NDArray[np.bool_]


def entering(reduced: FloatArray, weight: FloatArray, nonbasic: Flags, control: FloatArray) -> int:
    """Return the nonbasic variable with the largest s^2 / w; -1 where none prices out.

    Bland's rule takes the first.
    """
    eligible = nonbasic & (reduced < -control[DUAL_TOLERANCE])
    if not eligible.any():
        return -1
    key = np.where(eligible, 1.0 if control[BLAND] else reduced**2 / weight, -1.0)
    return int(np.argmax(key))


def ratios(
    x: FloatArray, d: FloatArray, artificial: Flags, control: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the exact and the relaxed steps (m,) to the bounds of the basic variables."""
    tolerance = control[PRIMAL_TOLERANCE]
    allowed = 0.0 if control[BLAND] else tolerance
    falling = (d > control[ZERO_PIVOT]) & (x >= -tolerance)
    rising = (d < -control[ZERO_PIVOT]) & ((x < -tolerance) | (artificial & (x <= tolerance)))
    room = np.maximum(np.where(falling, x, -x), 0.0)
    size = np.where(falling | rising, np.abs(d), 1.0)
    exact = np.where(falling | rising, room / size, np.inf)
    return exact, np.where(falling | rising, (room + allowed) / size, np.inf)


def leaving(
    x: FloatArray,
    d: FloatArray,
    basic: npt.NDArray[np.int64],
    artificial: Flags,
    control: FloatArray,
) -> tuple[int, float]:
    """Return the position that leaves and the step, by Harris's two passes; -1 without a bound."""
    exact, relaxed = ratios(x, d, artificial, control)
    farthest = float(np.min(relaxed))
    if not farthest < np.inf:
        return -1, np.inf
    among = exact <= farthest
    key = np.where(among, -basic.astype(np.float64) if control[BLAND] else np.abs(d), -np.inf)
    r = int(np.argmax(key))
    return r, float(exact[r])
