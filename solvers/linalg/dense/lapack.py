"""LAPACK on the host, through SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import lapack

from solvers.linalg.dense.factors import Factors


def factorise(columns: Any, _: Any) -> tuple[Any, Any]:
    """Factorise in place (getrf); return the interchanges and no memory worth keeping."""
    _, interchanges, _ = lapack.dgetrf(columns.T, overwrite_a=1)
    return interchanges, None


def solve(factors: Factors, sides: Any, transposed: bool) -> None:
    """Put the solutions in place of the right-hand sides (k, n) (getrs)."""
    lapack.dgetrs(
        factors.columns.T, factors.interchanges, sides.T, trans=int(transposed), overwrite_b=1
    )


def inverse(factors: Factors) -> Any:
    """Return the inverse (n, n), row-major (getri)."""
    space, _ = lapack.dgetri_lwork(factors.size)
    found, _ = lapack.dgetri(factors.columns.T, factors.interchanges, lwork=int(space))
    return np.ascontiguousarray(found)
