"""LAPACK on the host, through SciPy."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from scipy.linalg import lapack

from solvers.core.device import Device
from solvers.papers.dense_lu import by_columns
from solvers.papers.dense_lu.factors import Factors


def factorise(matrix: Any, device: Device, reuse: Factors | None) -> Factors:
    """Factorise by getrf."""
    return by_columns.factorise(matrix, device, reuse, sys.modules[__name__], _getrf)


def _getrf(columns: Any, _: Any) -> tuple[Any, Any]:
    _, interchanges, _ = lapack.dgetrf(columns.T, overwrite_a=1)
    return interchanges, None


def solve(factors: Factors, sides: Any, transposed: bool) -> None:
    """Put the solutions in place of the right-hand sides (k, n), by getrs."""
    lapack.dgetrs(factors.lu.T, factors.rows, sides.T, trans=int(transposed), overwrite_b=1)


def inverse(factors: Factors) -> Any:
    """Return the inverse (n, n), row-major, by getri."""
    space, _ = lapack.dgetri_lwork(factors.size)
    found, _ = lapack.dgetri(factors.lu.T, factors.rows, lwork=int(space))
    return np.ascontiguousarray(found)


def order(factors: Factors) -> Any:
    """Return for each place the row of A that stands there."""
    return by_columns.order(factors.rows)


def pivots(factors: Factors) -> Any:
    """Return the diagonal of U."""
    return np.diagonal(factors.lu).copy()
