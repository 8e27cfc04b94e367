"""A model made smaller while something stays true of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from solvers.core.errors import GpuBridgeError
from solvers.core.problem import FloatArray, Problem

DIGITS = (1, 2, 4)
"""Digits that numbers are rounded to."""


def shrink(problem: Problem, stays: Callable[[Problem], bool], seconds: float) -> Problem:
    """Return a smaller model of which ``stays`` is still true, found within a time.

    Parts are dropped one after the other, the largest first, until none can be; then numbers are
    made simpler.
    """
    deadline = time.monotonic() + seconds
    shrunk = True
    while shrunk and time.monotonic() < deadline:
        shrunk = False
        for step in (_without_rows, _without_columns, _simpler_parts, _rounder):
            k = 0
            while time.monotonic() < deadline:
                smaller = next(_made(step(problem), k), None)
                if smaller is None:
                    break
                k, candidate = smaller
                if stays(candidate):
                    problem, shrunk = candidate, True
                else:
                    k += 1
    return problem


Step = Callable[[], Problem]


def _made(steps: Iterator[Step], skip: int) -> Iterator[tuple[int, Problem]]:
    """Return the models that steps make and that are models, each with its number."""
    for k, step in enumerate(steps):
        if k >= skip:
            try:
                yield k, step()
            except GpuBridgeError:  # bounds that cross, for instance
                continue


def _without_rows(problem: Problem) -> Iterator[Step]:
    m = problem.num_rows
    if m > 4:
        for half in (np.arange(m) < m // 2, np.arange(m) >= m // 2):
            yield lambda half=half: _with_rows(problem, half)  # type: ignore[misc]
    for i in range(m):
        yield lambda i=i: _with_rows(problem, np.arange(m) != i)  # type: ignore[misc]


def _without_columns(problem: Problem) -> Iterator[Step]:
    n = problem.num_columns
    if n > 4:
        for half in (np.arange(n) < n // 2, np.arange(n) >= n // 2):
            yield lambda half=half: _with_columns(problem, half)  # type: ignore[misc]
    if n > 1:
        for j in range(n):
            yield lambda j=j: _with_columns(problem, np.arange(n) != j)  # type: ignore[misc]


def _simpler_parts(problem: Problem) -> Iterator[Step]:
    """Make parts of a model plain: its sense, constant, costs, bounds, sides and integrality."""
    if problem.maximize:
        yield lambda: replace(problem, maximize=False)
    if problem.offset:
        yield lambda: replace(problem, offset=0.0)
    for name, plain in (
        ("cost", 0.0),
        ("integrality", False),
        ("lower", 0.0),
        ("lower", -np.inf),
        ("upper", 1.0),
        ("upper", np.inf),
        ("row_lower", -np.inf),
        ("row_upper", np.inf),
        ("row_lower", 0.0),
        ("row_upper", 0.0),
    ):
        values = getattr(problem, name)
        for k in np.flatnonzero(values != plain).tolist():
            if np.isinf(plain) or np.isfinite(values[k]):  # an infinite side is as plain as one
                yield lambda n=name, k=k, p=plain: replace(  # type: ignore[misc]
                    problem, **{n: _with_entry(getattr(problem, n), k, p)}
                )
    entries = problem.matrix.tocoo()
    for k in range(entries.nnz):
        for plain in (0.0, 1.0):
            if entries.data[k] != plain:
                yield lambda k=k, p=plain: _with_data(  # type: ignore[misc]
                    problem, _with_entry(problem.matrix.data, k, p)
                )


def _rounder(problem: Problem) -> Iterator[Step]:
    """Round all numbers at once, or each array alone."""
    arrays = ("cost", "lower", "upper", "row_lower", "row_upper")
    for digits in DIGITS:
        changed = {name: _rounded(getattr(problem, name), digits) for name in arrays}
        for name in arrays:
            if not np.array_equal(changed[name], getattr(problem, name)):
                yield lambda n=name, c=changed: replace(problem, **{n: c[n]})  # type: ignore[misc]
        data = _rounded(problem.matrix.data, digits)
        if not np.array_equal(data, problem.matrix.data):
            yield lambda d=data: _with_data(problem, d)  # type: ignore[misc]


def _rounded(values: FloatArray, digits: int) -> FloatArray:
    return np.array([float(f"{value:.{digits - 1}e}") for value in values.tolist()])


def _with_entry(values: FloatArray, k: int, value: float) -> FloatArray:
    changed = values.copy()
    changed[k] = value
    return changed


def _with_data(problem: Problem, data: FloatArray) -> Problem:
    matrix = problem.matrix.copy()
    matrix.data = data
    return replace(problem, matrix=matrix)


def _with_rows(problem: Problem, kept: np.ndarray) -> Problem:
    return replace(
        problem,
        matrix=problem.matrix[np.flatnonzero(kept)],
        row_lower=problem.row_lower[kept],
        row_upper=problem.row_upper[kept],
        row_names=None,
    )


def _with_columns(problem: Problem, kept: np.ndarray) -> Problem:
    """Return the problem without some columns, which stand at zero."""
    return replace(
        problem,
        matrix=problem.matrix[:, np.flatnonzero(kept)],
        cost=problem.cost[kept],
        lower=problem.lower[kept],
        upper=problem.upper[kept],
        integrality=problem.integrality[kept],
        column_names=None,
    )
