"""What all variants go by on the host: pricing, Harris's ratio test, and what counts as a pivot.

``rules.cuh`` has the same for the device. Ties go to the smaller index.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.core.problem import FloatArray
from solvers.papers.simplex_variants.kernels import layout as word

Flags = npt.NDArray[np.bool_]

ENDLESS = 1e300
"""Steps from here on count as endless."""


def entering(reduced: FloatArray, weight: FloatArray, nonbasic: Flags, control: FloatArray) -> int:
    """Return the nonbasic variable with the largest s^2 / w; -1 where none prices out.

    Bland's rule takes the first.
    """
    eligible = nonbasic & (reduced < -control[word.DUAL_TOLERANCE])
    if not eligible.any():
        return -1
    key = np.where(eligible, 1.0 if control[word.BLAND] else reduced**2 / weight, -1.0)
    return int(np.argmax(key))


def ratios(
    x: FloatArray, d: FloatArray, artificial: Flags, control: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the exact and the relaxed steps (m,) to the bounds of the basic variables."""
    tolerance = control[word.PRIMAL_TOLERANCE]
    allowed = 0.0 if control[word.BLAND] else tolerance
    falling = (d > control[word.ZERO_PIVOT]) & (x >= -tolerance)
    rising = (d < -control[word.ZERO_PIVOT]) & ((x < -tolerance) | (artificial & (x <= tolerance)))
    blocks = falling | rising
    room = np.maximum(np.where(falling, x, -x), 0.0)
    size = np.where(blocks, np.abs(d), 1.0)
    relaxed = (room + allowed) / size
    blocks &= relaxed < ENDLESS
    return np.where(blocks, room / size, np.inf), np.where(blocks, relaxed, np.inf)


def leaving(
    exact: FloatArray, farthest: float, d: FloatArray, basic: npt.NDArray[Any], control: FloatArray
) -> int:
    """Return the position with the largest pivot among steps up to the farthest relaxed one.

    Bland's rule takes the smallest variable.
    """
    key = -basic.astype(np.float64) if control[word.BLAND] else np.abs(d)
    return int(np.argmax(np.where(exact <= farthest, key, -np.inf)))
