"""Small linear and mixed-integer programs solved in rational numbers, and their points checked.

Simplex on a dense tableau of whole numbers, and branch and bound on top: slow, short and without a
rounding error. Data are taken for what the doubles are.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction

import numpy as np

from solvers.core.problem import FloatArray, Problem
from tests.properties import tableau
from tests.properties.tableau import TooLongError, UnboundedError

MOST_NODES = 400
"""Nodes of a search after which it is given up."""


class Truth(Enum):
    """What is true of a model."""

    OPTIMAL = "optimal"
    INFEASIBLE = "infeasible"
    UNBOUNDED = "unbounded"


@dataclass(frozen=True)
class Exact:
    """The answer, minimised and with the offset; objective and x are there where optimal."""

    truth: Truth
    objective: Fraction | None = None
    x: tuple[Fraction, ...] = ()


def solve_exactly(
    problem: Problem, *, seconds: float = math.inf, incumbent: Exact | None = None
) -> Exact:
    """Solve a problem, minimised.

    Parameters
    ----------
    problem : Problem
    seconds : float
        Time after which it is given up.
    incumbent : Exact, optional
        A point that meets everything exactly, which saves nodes.

    Raises
    ------
    TooLongError
        Branch and bound does not end within :data:`MOST_NODES` or the time.
    """
    deadline = time.monotonic() + seconds
    lower, upper = whole_bounds(problem)
    rows = _rows(problem)
    best = Exact(Truth.INFEASIBLE) if incumbent is None else incumbent
    stack = [(lower, upper)]
    nodes = 0
    while stack:
        low, high = stack.pop()
        nodes += 1
        if nodes > MOST_NODES:
            raise TooLongError
        found = _relaxation(problem, rows, low, high, deadline)
        if found.truth is Truth.UNBOUNDED:
            if not problem.is_mip or _has_point(problem, low, high, deadline):
                return found
            continue
        if found.objective is None:
            continue
        if best.objective is not None and _rounded(problem, found.objective) >= best.objective:
            continue
        j = next((j for j in np.flatnonzero(problem.integrality) if found.x[j].denominator > 1), -1)
        if j < 0:
            best = found
            continue
        down, up = high.copy(), low.copy()
        down[j] = math.floor(found.x[j])
        up[j] = down[j] + 1
        stack += [(low, down), (up, high)]
    return best


def whole_bounds(problem: Problem) -> tuple[FloatArray, FloatArray]:
    """Return the bounds of the columns, (n,) each, rounded inwards where columns are whole."""
    lower, upper, whole = problem.lower.copy(), problem.upper.copy(), problem.integrality
    lower[whole], upper[whole] = np.ceil(lower[whole]), np.floor(upper[whole])
    return lower, upper


def violation(problem: Problem, x: FloatArray, rounding: float = 0.0) -> float:
    """Return the largest violation of a row or bound over max(1, |side|), without rounding.

    ``rounding`` is the part of the sizes that a row adds up which counts as none.
    """
    worst = Fraction(0)
    for beyond, size in violations(problem, x, rounding):
        worst = max(worst, beyond / max(Fraction(1), size))
    return float(worst)


def violations(
    problem: Problem, x: FloatArray, rounding: float = 0.0
) -> list[tuple[Fraction, Fraction]]:
    """Return by how much each row and then each column is violated, and the size of that side."""
    point = [Fraction(float(value)) for value in x]
    found = []
    allowed = Fraction(rounding)
    activity = []
    for row in _rows(problem):
        terms = [a * value for a, value in zip(row, point, strict=True) if a]
        lost = allowed * sum(map(abs, terms), Fraction(0)) if rounding else Fraction(0)
        activity.append((sum(terms, Fraction(0)), lost))
    columns = [(value, Fraction(0)) for value in point]
    for values, low, high in (
        (activity, problem.row_lower, problem.row_upper),
        (columns, problem.lower, problem.upper),
    ):
        for (value, lost), a, b in zip(values, low.tolist(), high.tolist(), strict=True):
            below = Fraction(a) - value if math.isfinite(a) else Fraction(0)
            above = value - Fraction(b) if math.isfinite(b) else Fraction(0)
            missed = a if below > 0 else b
            size = abs(Fraction(missed)) if math.isfinite(missed) else Fraction(0)
            found.append((max(Fraction(0), below - lost, above - lost), size))
    return found


def objective_of(problem: Problem, x: FloatArray) -> float:
    """Return the minimised objective of a point, without rounding until the end."""
    terms = zip(problem.cost.tolist(), x.tolist(), strict=True)
    return float(sum((Fraction(c) * Fraction(v) for c, v in terms), Fraction(problem.offset)))


def widened(problem: Problem, tolerance: float) -> Problem:
    """Return the problem with all sides moved out by a tolerance relative to their sizes.

    Those of a linear program all by the same, as its residuals are measured by a norm.
    """
    sides = [problem.row_lower, problem.row_upper]
    norm = math.hypot(*(float(s) for side in sides for s in side if np.isfinite(s)))

    def moved(values: np.ndarray, sign: float) -> np.ndarray:
        size = np.maximum(1.0, np.abs(np.where(np.isfinite(values), values, 0.0)))
        return values + sign * tolerance * (size if problem.is_mip else 1.0 + norm)

    return replace(
        problem,
        row_lower=moved(problem.row_lower, -1.0),
        row_upper=moved(problem.row_upper, 1.0),
        lower=moved(problem.lower, -1.0),
        upper=moved(problem.upper, 1.0),
    )


def priced(problem: Problem, tolerance: float) -> Problem:
    """Return the problem with each unit of each column's size priced at the dual tolerance."""
    n, m = problem.num_columns, problem.num_rows
    price = tolerance * (1.0 + float(np.linalg.norm(problem.cost)))
    eye = np.eye(n)
    A = np.block([[problem.matrix.toarray(), np.zeros((m, n))], [eye, eye], [-eye, eye]])
    return Problem.from_arrays(
        np.append(problem.cost, np.full(n, price)),
        A,
        np.append(problem.row_lower, np.zeros(2 * n)),
        np.append(problem.row_upper, np.full(2 * n, np.inf)),
        lower=np.append(problem.lower, np.zeros(n)),
        upper=np.append(problem.upper, np.full(n, np.inf)),
        integrality=np.append(problem.integrality, np.zeros(n, dtype=bool)),
    )


def _rows(problem: Problem) -> list[list[Fraction]]:
    return [[Fraction(float(a)) for a in row] for row in problem.matrix.toarray()]


def _rounded(problem: Problem, objective: Fraction) -> Fraction:
    """Return a bound on the objective rounded up to what whole columns can make of it."""
    priced = np.flatnonzero(problem.cost)
    if not priced.size or not problem.integrality[priced].all():
        return objective
    costs = [Fraction(c) for c in problem.cost[priced].tolist()]
    scale = math.lcm(*(c.denominator for c in costs))
    step = Fraction(math.gcd(*(int(c * scale) for c in costs)), scale)
    offset = Fraction(problem.offset)
    return math.ceil((objective - offset) / step) * step + offset


def _has_point(problem: Problem, lower: FloatArray, upper: FloatArray, deadline: float) -> bool:
    free = replace(
        problem, cost=np.zeros(problem.num_columns), offset=0.0, lower=lower, upper=upper
    )
    left = deadline - time.monotonic()
    return solve_exactly(free, seconds=left).truth is Truth.OPTIMAL


def _relaxation(
    problem: Problem,
    rows: list[list[Fraction]],
    lower: FloatArray,
    upper: FloatArray,
    deadline: float,
) -> Exact:
    """Solve the relaxation in a box, columns shifted to zero."""
    if (lower > upper).any():
        return Exact(Truth.INFEASIBLE)
    parts: list[tuple[int, int]] = []  # column and sign of each non-negative variable
    shift: list[Fraction] = []
    limits: list[tuple[int, Fraction]] = []
    for j, (a, b) in enumerate(zip(lower.tolist(), upper.tolist(), strict=True)):
        if math.isfinite(a) and math.isfinite(b):
            limits.append((len(parts), Fraction(b) - Fraction(a)))
        shift.append(Fraction(a if math.isfinite(a) else b if math.isfinite(b) else 0.0))
        signs = [1] if math.isfinite(a) else [-1] if math.isfinite(b) else [1, -1]
        parts += [(j, sign) for sign in signs]
    cost = [Fraction(float(problem.cost[j])) * sign for j, sign in parts]
    limited = _limited(problem, rows, parts, shift)
    for k, limit in limits:
        unit = [Fraction(int(k == place)) for place in range(len(parts))]
        limited.append(tableau.Row(unit, False, limit))
    try:
        values = tableau.minimise(cost, limited, deadline)
    except UnboundedError:
        return Exact(Truth.UNBOUNDED)
    if values is None:
        return Exact(Truth.INFEASIBLE)
    x = list(shift)
    for (j, sign), value in zip(parts, values, strict=True):
        x[j] += sign * value
    costs = map(Fraction, problem.cost.tolist())
    objective = sum((c * v for c, v in zip(costs, x, strict=True)), Fraction(problem.offset))
    return Exact(Truth.OPTIMAL, objective, tuple(x))


def _limited(
    problem: Problem,
    rows: list[list[Fraction]],
    parts: list[tuple[int, int]],
    shift: list[Fraction],
) -> list[tableau.Row]:
    """Return the rows over the non-negative variables, those with two sides twice."""
    found: list[tableau.Row] = []
    bounds = zip(rows, problem.row_lower.tolist(), problem.row_upper.tolist(), strict=True)
    for row, a, b in bounds:
        at_shift = sum((c * s for c, s in zip(row, shift, strict=True) if c), Fraction(0))
        spread = [row[j] * sign for j, sign in parts]
        if a == b:
            found.append(tableau.Row(spread, True, Fraction(a) - at_shift))
            continue
        if math.isfinite(b):
            found.append(tableau.Row(spread, False, Fraction(b) - at_shift))
        if math.isfinite(a):
            found.append(tableau.Row([-c for c in spread], False, at_shift - Fraction(a)))
    return found
