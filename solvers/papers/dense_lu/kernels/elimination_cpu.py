"""The kernels of ``elimination.py`` in NumPy."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from solvers.core.problem import FloatArray


def find_pivot(
    n: int, k: int, augmented: FloatArray, row: npt.NDArray[np.int32], threads: int
) -> None:
    """Find the largest entry of a column, from a row on."""
    size = np.abs(augmented[k:, k])
    row[0] = n if np.isnan(size).all() else k + np.nanargmax(size)


def swap_rows(n: int, k: int, other: int, augmented: FloatArray, threads: int) -> None:
    """Interchange two rows."""
    augmented[[k, other]] = augmented[[other, k]]


def eliminate(n: int, k: int, augmented: FloatArray, threads: int) -> None:
    """Subtract multiples of a row from those below."""
    with np.errstate(divide="ignore", invalid="ignore"):  # a singular matrix is noticed later
        multipliers = augmented[k + 1 :, k] / augmented[k, k]
    augmented[k + 1 :, k + 1 :] -= multipliers[:, None] * augmented[k, k + 1 :]
