"""Factors of a matrix, and whether they are any good."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.device import Device
from solvers.errors import ProblemError
from solvers.linalg.dense.errors import SingularMatrixError
from solvers.linalg.dense.kernels.inspect import PIVOTS, ROUNDING, SUMS

EPSILON = float(np.finfo(np.float64).eps)

PIVOT_EPSILON = 10.0 * EPSILON
"""Rounding of one operation, as far as zero pivots are concerned.

The block that is already eliminated amplifies rounding; ten times covers 98 % of 420 random
matrices of low rank (n from 20 to 400), once covers 93 %. Pivots that mean something were 1e8
times above it there, and 4 times for the Hilbert matrix with 12 rows, whose condition is 1.6e16.
"""


@dataclass(frozen=True, eq=False)
class Factors:
    """P A = L U, with L unit lower and U upper triangular.

    Parameters
    ----------
    device : Device
        Where the arrays live.
    columns : array (n, n)
        On and above the diagonal of ``columns.T`` stands U, and below it L.
    interchanges : array (n,) of int32
        Row k was interchanged with this row in step k, as the library of the device counts.
    pivots : ndarray (n,)
        The diagonal of U, on the host.
    norm : float
        1-norm of A: the largest sum of magnitudes of a column.
    memory : object
        What the library worked in; a later factorisation may use it again.
    """

    device: Device
    columns: Any
    interchanges: Any
    pivots: npt.NDArray[np.float64]
    norm: float
    memory: Any

    @property
    def size(self) -> int:
        """Rows and columns of A."""
        return int(self.columns.shape[0])


def check(report: npt.NDArray[np.float64]) -> float:
    """Return the 1-norm of A after having judged its factorisation.

    A pivot counts as zero when it is no larger than what rounding may have left of a zero: with
    ``|PA - LU| <= k eps |L| |U|`` (Higham, *Accuracy and Stability of Numerical Algorithms*, 2002,
    theorem 9.3) that is ``k eps (|L| |U|)[k, k]`` over the earlier columns, and a margin
    (:data:`PIVOT_EPSILON`). It scales with rows and columns, so that a matrix is not called
    singular for its units. What hides from it, a
    nearly singular matrix with larger pivots, shows in the condition estimate.

    Parameters
    ----------
    report : ndarray (3, n)
        See ``kernels/inspect.py``.

    Raises
    ------
    ProblemError
        An entry is not finite.
    SingularMatrixError
        A pivot is zero or rounding.
    """
    sums, pivots = report[SUMS], report[PIVOTS]
    if not np.all(np.isfinite(sums)):
        column = int(np.argmin(np.isfinite(sums)))
        raise ProblemError(
            f"Column {column} of the matrix has an entry that is not finite, or a sum beyond the "
            f"range of numbers ({sums[column]}); correct it before factorising."
        )
    if not np.all(np.isfinite(report)):
        column = int(np.argmin(np.all(np.isfinite(report), axis=0)))
        raise ProblemError(
            f"Numbers ran out of range when column {column} was eliminated; scale the matrix."
        )
    rounding = np.arange(pivots.size) * PIVOT_EPSILON * report[ROUNDING]
    bad = np.flatnonzero(np.abs(pivots) <= rounding)
    if bad.size:
        column = int(bad[0])
        raise SingularMatrixError(column, float(pivots[column]), float(rounding[column]))
    return float(sums.max(initial=0.0))
