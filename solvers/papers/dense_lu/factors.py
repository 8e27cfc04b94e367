"""Factors of a matrix, and whether they are any good."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from solvers.core.device import Device
from solvers.core.errors import ProblemError
from solvers.papers.dense_lu.kernels.inspect import INSPECT, PIVOTS, ROUNDING, SUMS


class SingularMatrixError(ProblemError):
    """A column has no pivot that is more than rounding.

    Parameters
    ----------
    column : int
        The first such column, counted from 0.
    pivot : float
        The largest magnitude left in it, with its sign.
    rounding : float
        What rounding alone may have left there.
    """

    def __init__(self, column: int, pivot: float, rounding: float) -> None:
        super().__init__(
            f"The matrix is singular: once the columns before it are eliminated, column {column} "
            f"holds nothing larger than {pivot:g}, and rounding alone leaves up to "
            f"{rounding:.1e} there. It depends on those columns; replace it or leave it out."
        )
        self.column = column
        self.pivot = pivot
        self.rounding = rounding


EPSILON = float(np.finfo(np.float64).eps)

PIVOT_EPSILON = 10.0 * EPSILON
"""Rounding of one operation, as far as zero pivots are concerned.

The block that is already eliminated amplifies rounding; ten times covers 98 % of 420 random
matrices of low rank (n from 20 to 400), once covers 93 %. Pivots that mean something were 1e8
times above it there, and 4 times for the Hilbert matrix with 12 rows, whose condition is 1.6e16.
"""


class Library(Protocol):
    """What factorises and solves; a module of this folder."""

    def factorise(self, matrix: Any, device: Device, reuse: Factors | None) -> Factors:
        """Factorise a row-major matrix (n, n) on the device, n > 0."""

    def solve(self, factors: Factors, sides: Any, transposed: bool) -> None:
        """Put the solutions in place of right-hand sides (k, n)."""

    def inverse(self, factors: Factors) -> Any:
        """Return the inverse (n, n), row-major."""

    def order(self, factors: Factors) -> Any:
        """Return for each place the row of A that stands there, on the host."""

    def pivots(self, factors: Factors) -> Any:
        """Return the diagonal of U, on the host."""


@dataclass(frozen=True, eq=False)
class Factors:
    """P A = L U, with L unit lower and U upper triangular.

    Parameters
    ----------
    device : Device
        Where the arrays live.
    library : Library
        What made the factors, and knows how they are laid out.
    lu : array (n, n)
        U on and above the diagonal, L below; transposed where the library wants columns.
    rows : array (n,) of int32
        How rows were interchanged, as the library writes it.
    norm : float
        1-norm of A: the largest sum of magnitudes of a column.
    memory : object
        What the library worked in; a later factorisation may use it again.
    """

    device: Device
    library: Library
    lu: Any
    rows: Any
    norm: float
    memory: Any

    @property
    def size(self) -> int:
        """Rows and columns of A."""
        return int(self.lu.shape[0])


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
    sums, rounding, pivots = report[SUMS], report[ROUNDING], report[PIVOTS]
    holds = np.abs(pivots) > rounding
    norm = float(sums.max())
    if norm < np.inf and bool(holds.all()):  # neither is so for what is not a number
        return norm
    check_finite(sums)
    column = int(np.argmin(holds))
    check_pivot(column, float(pivots[column]), float(rounding[column]))
    return norm


def check_finite(sums: npt.NDArray[np.float64]) -> None:
    """Raise ProblemError for the first column whose sum of magnitudes is not finite."""
    if not np.all(np.isfinite(sums)):
        column = int(np.argmin(np.isfinite(sums)))
        raise ProblemError(
            f"Column {column} of the matrix has an entry that is not finite, or a sum beyond the "
            f"range of numbers ({sums[column]}); correct it before factorising."
        )


def check_pivot(column: int, pivot: float, rounding: float) -> None:
    """Raise the error that fits the first pivot that is not more than rounding."""
    if np.isfinite(pivot) and np.isfinite(rounding):
        raise SingularMatrixError(column, pivot, rounding)
    raise ProblemError(
        f"Numbers ran out of range when column {column} was eliminated; scale the matrix."
    )


# How good a solution is: iterative refinement, and the norm of the inverse for the condition.
#
# Refinement solves again for what a solution leaves over. The residual b - A x is summed in twice
# the precision (``kernels/inspect.py``), which makes the error of x itself, and not only its
# residual, a rounding error while A is not close to singular (Higham, *Accuracy and Stability of
# Numerical Algorithms*, 2002, section 12.1). That costs no more than an ordinary residual where
# the matrix comes from memory.
#
# The 1-norm of the inverse comes from a few solves by Hager's method (SIAM J. Sci. Stat. Comput.
# 5, 1984) as Higham improved it (*FORTRAN codes for estimating the one-norm of a real or complex
# matrix*, ACM TOMS 14, 1988, algorithm 2.4; LAPACK's ``lacon``): the norm is the maximum of a
# convex function over the corners of a cube, and is climbed from corner to corner. What it finds
# is a lower bound, nearly always within a factor of three.


MOST_CLIMBS = 5
"""Higham's limit (ITMAX); two or three climbs are the rule."""

MOST_STEPS = 5
"""LAPACK's limit (ITMAX of gerfs); one or two steps are the rule."""

LEAST_GAIN = 0.5
"""A correction has to be this much smaller than the one before, as in LAPACK's gerfs."""


Vector = npt.NDArray[np.float64]
Solve = Callable[[Vector, bool], Vector]


def norm_of_inverse(n: int, solve: Solve) -> float:
    """Return an estimate of the 1-norm of the inverse, never too large but for rounding.

    Parameters
    ----------
    n : int
    solve : callable
        From b (n,) and whether A is meant transposed to the x (n,) with A x = b.
    """
    if n == 0:
        return 0.0
    x = solve(np.full(n, 1.0 / n), False)
    if n == 1:
        return float(abs(x[0]))
    best, signs, last = 0.0, np.zeros(n), -1
    for _ in range(MOST_CLIMBS):
        value = float(np.abs(x).sum())
        new_signs: Vector = np.where(x >= 0.0, 1.0, -1.0)
        if value <= best or bool(np.array_equal(signs, new_signs)):
            break
        best, signs = value, new_signs
        slopes = np.abs(solve(signs, True))
        top = int(slopes.argmax())
        if last >= 0 and slopes[top] <= slopes[last]:
            break
        last = top
        x = solve(_unit(n, top), False)
    best = max(best, float(np.abs(x).sum()))
    rising = (1.0 + np.arange(n) / (n - 1)) * np.where(np.arange(n) % 2, -1.0, 1.0)
    return max(best, 2.0 * float(np.abs(solve(rising, False)).sum()) / (3.0 * n))


def _unit(n: int, place: int) -> Any:
    vector = np.zeros(n)
    vector[place] = 1.0
    return vector


Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Refined:
    """A refined solution.

    Parameters
    ----------
    x : array (n,) or (n, k)
    backward_error : float
        Componentwise (Oettli and Prager): the smallest e such that x solves a system whose every
        coefficient and right-hand side differ by a share of at most e.
    correction : float
        Largest element of the last correction, relative to that of its solution: an estimate of
        the error before that correction was added.
    steps : int
    """

    x: Any
    backward_error: float
    correction: float
    steps: int


def refine(matrix: Any, factors: Factors, sides: Any, x: Any, most_steps: int) -> Refined:
    """Refine the solutions x (k, n) of right-hand sides (k, n), in place.

    Parameters
    ----------
    matrix : array (n, n)
        A, row-major and contiguous, on the device of the factors.
    """
    device, solve = factors.device, factors.library.solve
    correction = np.inf
    left, error = _residual(device, matrix, x, sides)
    for step in range(most_steps):
        solve(factors, left, False)
        size = _relative(device.to_host(left), device.to_host(x))
        if not size < LEAST_GAIN * correction:
            return Refined(x, error, float(correction), step)
        x += left
        correction = size
        left, error = _residual(device, matrix, x, sides)
        if size <= EPSILON:
            return Refined(x, error, size, step + 1)
    return Refined(x, error, float(correction), most_steps)


def _residual(device: Device, matrix: Any, x: Any, sides: Any) -> tuple[Any, float]:
    """Return b - A x and the componentwise backward error."""
    left, scale = device.xp.empty(x.shape), device.xp.empty(x.shape)
    k, n = x.shape
    INSPECT["residual"](n, k, matrix, x, sides, left, scale)
    return left, _share(device.to_host(left), device.to_host(scale))


def _share(left: Array, scale: Array) -> float:
    """Return the largest |r| / (|b| + |A| |x|); where nothing is to be added, 0 / 0 is 0."""
    magnitude = np.abs(left)
    if np.any(magnitude[scale == 0.0] > 0.0):
        return float(np.inf)
    return float(np.max(magnitude / np.where(scale == 0.0, 1.0, scale), initial=0.0))


def _relative(change: Array, x: Array) -> float:
    """Return the largest correction of any solution relative to the solution's largest element."""
    tops = np.abs(x).max(axis=1, initial=0.0)
    changes = np.abs(change).max(axis=1, initial=0.0)
    return _share(changes, tops)
