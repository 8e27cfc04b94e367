"""Projections of a nearly optimal point on the rows that it violates.

With F the columns strictly between their bounds, R the rows that hold with equality (or should)
and B = A_RF, :func:`project_on_rows` finds the least change d of x_F that brings the rows of R
nearest to their sides, min ||B d - v|| with v = side - A x; "least" measures each column by the
norm of its entries, so that no unit matters. The duals of a problem are the point of another one,
so the same mends them. Conjugate gradients on the normal equations solve it, in the form of
Hestenes and Stiefel ("CGLS", J. Research of the NBS 49, 1952), whose residual ||B d - v|| never
rises.

A least change that mends the rows exactly is also d = B'z with B B' z = v. That form is not
used: it does not exist where rows depend on each other, and its residual may rise long before it
falls. Stopped after 50 iterations it left 14 of 17 Netlib points no better, against 4 for this one.

What a projection pushes over a bound is clipped, and the rest is projected again from there, in
a few rounds that may get worse before they get better; the best point met is returned.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from solvers.core.device import Device, cpu
from solvers.core.errors import ProblemError
from solvers.core.linear_algebra import SparseRows
from solvers.core.problem import BoolArray, FloatArray

ITERATIONS = 50
"""Conjugate gradient iterations of the first round at the most."""

LOOK_EVERY = 50
"""Iterations after which it is asked whether to stop."""

ROUNDS = 10
"""Projections at most, each after clipping the columns that the one before pushed too far."""

ACCURACY = 1e-12
"""Relative residual of the normal equations at which they count as solved."""

AT_BOUND = 1e-9
"""A column this near to a bound, relative to max(1, |bound|), is at it."""

TIGHT = 1e-6
"""A row this near to a side, relative to max(1, |side|), is taken to hold with equality."""


@dataclass(frozen=True, eq=False)
class Correction:
    """A corrected point."""

    values: FloatArray
    """(n,)."""
    before: float
    after: float
    """The 2-norm of the violation of all rows, of the point given and of the one returned."""
    iterations: int
    """Conjugate gradient iterations in all."""
    rounds: int
    """Projections made."""


def never() -> bool:
    """Return False: the answer of a caller who lets it run."""
    return False


def project_on_rows(
    A: sp.csr_array,
    x: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    row_lower: FloatArray,
    row_upper: FloatArray,
    *,
    target: float = 0.0,
    iterations: int = ITERATIONS,
    rounds: int = ROUNDS,
    device: Device | None = None,
    should_stop: Callable[[], bool] = never,
) -> Correction:
    """Move a point towards the rows it violates, by the least change of its free columns.

    Parameters
    ----------
    A : (m, n) CSR array
    x, lower, upper : (n,) arrays
        The point is clipped into its bounds first.
    row_lower, row_upper : (m,) arrays
    target : float
        Residual norm ||A x - clip(A x, row_lower, row_upper)|| that is good enough.
    iterations, rounds : int
        Limits on the conjugate gradient iterations of a round, and on rounds. The first round
        has :data:`ITERATIONS` at most, each further one twice as many as the one before.
    device : Device, optional
        Where conjugate gradients run; the CPU if absent.
    should_stop : callable
        Asked before every round and every 50 iterations.

    Returns
    -------
    Correction
        The best point met, which is within its bounds and never worse than the one given.

    Raises
    ------
    ProblemError
        The point has values that are not finite.
    """
    where = cpu() if device is None else device
    if not np.isfinite(x).all():
        j = int(np.flatnonzero(~np.isfinite(x))[0])
        raise ProblemError(f"The point's value {j} is {x[j]}, not finite; it cannot be projected.")
    best = point = np.clip(x, lower, upper)
    activity = A @ point
    lacking = np.clip(activity, row_lower, row_upper) - activity
    before = after = float(np.linalg.norm(lacking))
    spent = done = 0
    while done < rounds and after > target and not should_stop():
        free = strictly_between(point, lower, upper)
        rows = (lacking != 0) | _tight(activity, row_lower, row_upper)
        part = sp.csr_array(A[np.flatnonzero(rows)][:, np.flatnonzero(free)])
        limit = min(iterations, ITERATIONS << done)
        d, used = _least_squares(part, lacking[rows], limit, where, should_stop)
        done, spent = done + 1, spent + used
        if used == 0:
            break
        point = point.copy()
        point[free] += d
        point = np.clip(point, lower, upper)
        activity = A @ point
        lacking = np.clip(activity, row_lower, row_upper) - activity
        residual = float(np.linalg.norm(lacking))
        if residual < after:
            best, after = point, residual
    return Correction(best, before, after, spent, done)


def strictly_between(x: FloatArray, lower: FloatArray, upper: FloatArray) -> BoolArray:
    """Return which columns (n,) are neither at a bound nor beyond it."""
    above = np.isneginf(lower) | (x - lower > AT_BOUND * np.maximum(1.0, np.abs(lower)))
    below = np.isposinf(upper) | (upper - x > AT_BOUND * np.maximum(1.0, np.abs(upper)))
    free: BoolArray = above & below
    return free


Product = Callable[[Any], Any]


def _products(part: sp.csr_array, device: Device) -> tuple[Product, Product]:
    """Return the products with a matrix and with its transpose."""
    transposed = sp.csr_array(part.T)
    if device.kind == "cpu":
        rows, columns = SparseRows.of(part), SparseRows.of(transposed)
        return lambda x: rows.times(x, 0), lambda y: columns.times(y, 0)
    from cupyx.scipy import sparse

    there, back = (sparse.csr_matrix(sp.csr_matrix(one)) for one in (part, transposed))
    return there.dot, back.dot


def _least_squares(
    part: sp.csr_array,
    side: FloatArray,
    iterations: int,
    device: Device,
    should_stop: Callable[[], bool],
) -> tuple[FloatArray, int]:
    """Return d with ||part d - side|| least, as far as the iterations go, and their number."""
    size = np.sqrt(np.bincount(part.indices, part.data**2, part.shape[1]))
    scale = np.divide(1.0, size, out=np.zeros_like(size), where=size > 0.0)
    scaled = sp.csr_array((part.data * scale[part.indices], part.indices, part.indptr), part.shape)
    with device.activate():
        times, transposed_times = _products(scaled, device)
        residual, found = device.to_device(side), device.to_device(np.zeros(scale.size))
        step = transposed_times(residual)
        first = left = float(step @ step)
        made = 0
        while made < iterations and left > ACCURACY**2 * first:
            if made % LOOK_EVERY == 0 and should_stop():
                break
            image = times(step)
            curvature = float(image @ image)
            if not curvature > 0.0:
                break
            found += left / curvature * step
            residual -= left / curvature * image
            gradient = transposed_times(residual)
            before, left = left, float(gradient @ gradient)
            step = gradient + left / before * step
            made += 1
        return scale * device.to_host(found), made


def _tight(activity: FloatArray, low: FloatArray, high: FloatArray) -> BoolArray:
    """Return which rows (m,) hold with equality, or ought to."""
    tight: BoolArray = low == high
    for side in (low, high):
        known = np.where(np.isfinite(side), side, 0.0)
        near = np.abs(activity - known) <= TIGHT * np.maximum(1.0, np.abs(known))
        tight = tight | (np.isfinite(side) & near)
    return tight
