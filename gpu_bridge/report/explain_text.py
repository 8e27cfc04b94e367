"""The words of an explanation: rows, bounds and integrality as a modeller would write them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from solvers.core.problem import FloatArray, Problem

LONGEST_ROW = 8
"""Terms of a row that are written out."""

LONGEST_LIST = 30
"""Members of a conflict that are listed in its paragraph."""


def sentences(
    problem: Problem,
    row_sides: npt.NDArray[np.int8],
    column_sides: npt.NDArray[np.int8],
    integers: Sequence[int],
) -> tuple[str, ...]:
    """Return one sentence per row, bound and integrality that takes part.

    Parameters
    ----------
    problem : Problem
    row_sides, column_sides : (m,) and (n,) arrays
        1 for the lower side, 2 for the upper, 3 for both, 0 for none.
    integers : sequence of int
        Columns whose integrality takes part.
    """
    rows = [
        f"{problem.row_label(int(i))}: "
        + between(
            problem.row_lower[i], row_terms(problem, int(i)), problem.row_upper[i], row_sides[i]
        )
        for i in np.flatnonzero(row_sides)
    ]
    bounds = []
    for j in np.flatnonzero(column_sides):
        name = problem.column_label(int(j))
        limits = between(problem.lower[j], name, problem.upper[j], column_sides[j])
        bounds.append(f"bound of {name}: {limits}")
    whole = [f"{problem.column_label(j)} must be integer" for j in integers]
    return tuple([*rows, *bounds, *whole])


def paragraph(lines: Sequence[str], minimal: bool) -> str:
    """Return the explanation as a paragraph, cut after some members."""
    if len(lines) == 1:
        return f"The model is infeasible: this cannot hold:\n  {lines[0]}"
    listed = [f"  {line}" for line in lines[:LONGEST_LIST]]
    if len(lines) > LONGEST_LIST:
        listed.append(f"  ... and {len(lines) - LONGEST_LIST} more")
    head = f"The model is infeasible: these {len(lines)} conditions cannot hold together"
    tail = "without any one of them the others can." if minimal else "not all may be needed."
    return "\n".join([f"{head}; {tail}", *listed])


def direction(problem: Problem, ray: FloatArray) -> str:
    """Return the way along which the objective improves without limit, with names.

    Parameters
    ----------
    problem : Problem
    ray : (n,) array
        A recession direction; only its direction counts.
    """
    step = ray / np.abs(ray).max()
    moved = np.flatnonzero(np.abs(step) > 1e-9)
    order = moved[np.argsort(-np.abs(step[moved]), kind="stable")]
    terms = [f"{problem.column_label(int(j))} by {step[j]:+.6g}" for j in order[:LONGEST_LIST]]
    if order.size > LONGEST_LIST:
        terms.append(f"{order.size - LONGEST_LIST} more")
    gain = abs(float(problem.cost @ step))
    return (
        f"The objective improves by {gain:.6g}, again and again, if these change together: "
        f"{', '.join(terms)}"
    )


def between(low: float, middle: str, high: float, sides: int) -> str:
    """Return ``low <= middle <= high`` with the sides that take part (1 lower, 2 upper)."""
    if low == high:
        return f"{middle} = {number(low)}"
    if sides == 3 and np.isfinite(low) and np.isfinite(high):
        return f"{number(low)} <= {middle} <= {number(high)}"
    if sides & 1:
        return f"{middle} >= {number(low)}"
    return f"{middle} <= {number(high)}"


def row_terms(problem: Problem, row: int) -> str:
    """Return a row's left-hand side, such as ``3 x + 2 y - z``."""
    begin, end = problem.entries.indptr[row : row + 2]
    if begin == end:
        return "0"
    text = ""
    for k in range(begin, min(end, begin + LONGEST_ROW)):
        value = float(problem.entries.data[k])
        name = problem.column_label(int(problem.entries.indices[k]))
        size = "" if abs(value) == 1 else f"{number(abs(value))} "
        sign = ("-" if value < 0 else "") if not text else (" - " if value < 0 else " + ")
        text += f"{sign}{size}{name}"
    hidden = end - begin - LONGEST_ROW
    return f"{text} + ... ({hidden} more terms)" if hidden > 0 else text


def number(value: float) -> str:
    """Return a number without needless digits."""
    return f"{value:.10g}"
