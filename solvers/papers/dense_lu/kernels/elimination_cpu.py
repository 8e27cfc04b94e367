"""The kernels of ``elimination.py`` in NumPy."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np


def find_pivot(a: SimpleNamespace) -> None:
    """Find the largest entry of a column, from a row on."""
    size = np.abs(a.augmented[a.k :, a.k])
    a.row[0] = a.n if np.isnan(size).all() else a.k + np.nanargmax(size)


def swap_rows(a: SimpleNamespace) -> None:
    """Interchange two rows."""
    a.augmented[[a.k, a.other]] = a.augmented[[a.other, a.k]]


def eliminate(a: SimpleNamespace) -> None:
    """Subtract multiples of a row from those below."""
    below, row = a.augmented[a.k + 1 :], a.augmented[a.k]
    with np.errstate(divide="ignore", invalid="ignore"):  # a singular matrix is noticed later
        multipliers = below[:, a.k] / row[a.k]
        below[:, a.k + 1 :] -= multipliers[:, None] * row[a.k + 1 :]
