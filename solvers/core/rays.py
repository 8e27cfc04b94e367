"""Proofs that there is no solution, or no end to the improvement, checked on a problem's own data.

A ray comes from an engine as a guess. It is a proof only if it holds in float64 on the data as
given, by a margin that rounding cannot fake; the engine that found it asks here, and so does the
verification that every answer passes.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from solvers.core.problem import BoolArray, FloatArray, Problem
from solvers.core.vectors import inner

CANCELLATION = 1e-8
"""A sum counts as zero when it is below this part of the sum of its terms' magnitudes."""

MARGIN = 1e-8
"""What a proof must exceed, relative to the magnitudes it is made of, and absolutely."""

LEFTOVER = 1e-8
"""Part of a row's terms that rounding may leave where the gain is as large as its own terms."""

HORIZON = 1e7
"""A Farkas proof must hold for every point whose unbounded columns stay within this size."""

NOISE_LEVELS = (1e-3, 1e-5, 1e-7, 0.0)
"""Entries of a candidate below these parts of its largest are tried as zeros."""


def cleaned(ray: FloatArray) -> Iterator[FloatArray]:
    """Yield the normalised ray with ever less of it taken for noise."""
    largest = float(np.max(np.abs(ray), initial=0.0))
    if not np.isfinite(largest) or largest < np.finfo(float).tiny:
        return
    ray = ray / largest
    for level in NOISE_LEVELS:
        yield np.where(np.abs(ray) > level, ray, 0.0)


def proves_infeasible(problem: Problem, y: FloatArray) -> bool:
    """Whether y (m,) proves that no x within its bounds satisfies the rows.

    With g = A'y every feasible x has ``supp(y; sides) <= y'Ax = g'x <= reach``, where reach is
    the greatest g'x within the bounds; the proof is that the left side is the larger one. A
    column that may move without end in the direction of g_j must have g_j zero up to rounding,
    and even then is allowed for up to :data:`HORIZON`.
    """
    if not np.isfinite(y).all() or not y.any():
        return False
    if not np.isfinite(np.where(y > 0, problem.row_lower, problem.row_upper)[y != 0]).all():
        return False
    y = y / np.max(np.abs(y))
    g = problem.entries.transposed_times(y)
    unsupported = ~np.isfinite(np.where(g > 0, problem.upper, problem.lower)) & (g != 0)
    terms = problem.entries.magnitudes.transposed_times(np.abs(y))
    if np.any(np.abs(g[unsupported]) > CANCELLATION * terms[unsupported]):
        return False
    rows, columns = (problem.row_lower, problem.row_upper), (problem.lower, problem.upper)
    gap, size = separation(rows, columns, y, g, HORIZON)
    return gap > MARGIN * (1.0 + size)


def proves_unbounded(problem: Problem, d: FloatArray) -> bool:
    """Whether from every feasible point d (n,) stays feasible for ever and improves.

    Bounds must hold exactly, rows up to rounding of their own terms. No unit of a row, a column or
    the objective makes a difference.
    """
    if not np.isfinite(d).all() or not d.any():
        return False
    if np.any(d[np.isfinite(problem.lower)] < 0) or np.any(d[np.isfinite(problem.upper)] > 0):
        return False
    activity = problem.entries.times(d)
    slope = inner(problem.cost, d)
    size = inner(np.abs(problem.cost), np.abs(d))
    # What rounding leaves of the rows, undone at a price of the cost's size, must not eat the gain.
    terms = problem.entries.magnitudes.times(np.abs(d))
    wrong = np.where(_one_sided(problem, activity), np.abs(activity), 0.0)
    leftover = float(np.max(wrong / np.where(terms > 0, terms, 1.0), initial=0.0))
    return -slope > MARGIN * size and leftover * size <= LEFTOVER * -slope


def _one_sided(problem: Problem, activity: FloatArray) -> BoolArray:
    """Rows (m,) whose activity along the ray goes the forbidden way, however little."""
    falls = np.isfinite(problem.row_lower) & (activity < 0)
    grows = np.isfinite(problem.row_upper) & (activity > 0)
    return np.asarray(falls | grows)


def separation(
    rows: tuple[FloatArray, FloatArray],
    columns: tuple[FloatArray, FloatArray],
    y: FloatArray,
    g: FloatArray,
    horizon: float,
) -> tuple[float, float]:
    """Return what a Farkas ray proves, and the magnitudes that it sums up.

    Every x within its bounds that meets the rows has ``supp(y; sides) <= y'Ax = g'x <= reach``;
    what is proven is the left side minus the right one.

    Parameters
    ----------
    rows, columns : pairs of arrays
        Lower and upper sides (m,) and bounds (n,); a side that y leans on is finite.
    y : (m,) array
    g : (n,) array
        A'y.
    horizon : float
        How far a column is taken to go where it has no bound.
    """
    side = np.where(y > 0, *rows)
    farthest = np.where(g > 0, columns[1], columns[0])
    farthest = np.where(np.isfinite(farthest), farthest, np.copysign(horizon, g))
    size = _dot(np.abs(y), np.abs(side)) + _dot(np.abs(g), np.abs(farthest))
    return _dot(y, side) - _dot(g, farthest), size


def _dot(multiplier: FloatArray, value: FloatArray) -> float:
    """Return the sum of products, where zero times infinity is zero."""
    used = multiplier != 0
    return inner(multiplier[used], value[used])
