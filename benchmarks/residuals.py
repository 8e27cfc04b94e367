"""How good an answer to a linear program is, by one program for all solvers.

Everything is computed in float64 from the point and the row duals alone, on the program as it
stands in the file; nothing of the project and nothing that a solver says about itself is used.
With [v] for the nearest value that the sides or bounds allow and ||.|| for the Euclidean norm::

    primal    || Ax - [Ax], x - [x] || / (1 + ||b||)     b: the finite sides, an equation's once
    dual      || z - [z] ||            / (1 + ||c||)     z = c - A'y, [z] of the allowed signs
    gap       | p - d |                / (1 + |p| + |d|)

p is the objective of the point, d the dual objective of y and [z]. A part of y with a sign that
no finite side supports is dropped first, which is the best that can be made of it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.linear_programs import FloatArray, LinearProgram


@dataclass(frozen=True)
class Quality:
    """Relative residuals of an answer, and its objective in the sense of the file."""

    primal: float
    dual: float
    gap: float
    objective: float

    @property
    def worst(self) -> float:
        """The largest of the three residuals; NaN counts as infinite."""
        largest = max(self.primal, self.dual, self.gap)
        return largest if np.isfinite([self.primal, self.dual, self.gap]).all() else np.inf

    def holds(self, tolerance: float) -> bool:
        """Whether the answer is what was asked for."""
        return self.worst <= tolerance


def measure(lp: LinearProgram, x: FloatArray, y: FloatArray) -> Quality:
    """Return the quality of the point ``x`` (n,) with row duals ``y`` (m,).

    The duals are in the sense of the minimisation: non-negative where the lower side of a row
    holds it, non-positive where the upper one does.
    """
    activity = lp.matrix @ x
    rows = activity - np.clip(activity, lp.row_lower, lp.row_upper)
    columns = x - np.clip(x, lp.lower, lp.upper)
    allowed_y = _allowed(y, lp.row_lower, lp.row_upper)
    z = lp.cost - lp.matrix.T @ allowed_y
    allowed_z = _allowed(z, lp.lower, lp.upper)
    primal_objective = float(lp.cost @ x) + lp.offset
    dual_objective = (
        _support(allowed_y, lp.row_lower, lp.row_upper)
        + _support(allowed_z, lp.lower, lp.upper)
        + lp.offset
    )
    size = 1.0 + abs(primal_objective) + abs(dual_objective)
    return Quality(
        primal=float(np.hypot(_norm(rows), _norm(columns))) / (1.0 + sides_norm(lp)),
        dual=_norm(z - allowed_z) / (1.0 + _norm(lp.cost)),
        gap=abs(primal_objective - dual_objective) / size,
        objective=lp.sense * primal_objective,
    )


def measure_either_sign(lp: LinearProgram, x: FloatArray, y: FloatArray) -> Quality:
    """Return the better quality of ``y`` and ``-y``: solvers differ in the sign of duals."""
    return min((measure(lp, x, y), measure(lp, x, -y)), key=lambda quality: quality.worst)


def sides_norm(lp: LinearProgram) -> float:
    """Return ||b||: every finite side of a row, an equation's once."""
    upper = np.where(lp.row_upper == lp.row_lower, 0.0, lp.row_upper)
    sides = np.concatenate([lp.row_lower, upper])
    return _norm(sides[np.isfinite(sides)])


def _allowed(duals: FloatArray, lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Drop positive duals without a finite lower side and negative ones without an upper."""
    positive = np.where(np.isfinite(lower), np.maximum(duals, 0.0), 0.0)
    negative = np.where(np.isfinite(upper), np.minimum(duals, 0.0), 0.0)
    kept: FloatArray = positive + negative
    return kept


def _support(duals: FloatArray, lower: FloatArray, upper: FloatArray) -> float:
    """Return the sum of duals times the sides that they hold; the signs are allowed ones."""
    sides = np.where(duals > 0.0, lower, upper)
    held = duals != 0.0
    return float(duals[held] @ sides[held])


def _norm(values: FloatArray) -> float:
    return float(np.linalg.norm(values))
