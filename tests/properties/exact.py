"""Small linear and mixed-integer programs solved in rational numbers, and their points checked.

Two-phase simplex on a dense tableau of fractions by Bland's rule, and branch and bound on top:
slow, short and without a rounding error. Data are taken for what the doubles are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction

import numpy as np

from solvers.problem import Problem

Row = list[Fraction]

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


class TooLongError(Exception):
    """The search has more nodes than it is worth."""


def solve_exactly(problem: Problem) -> Exact:
    """Solve a problem, minimised.

    Raises
    ------
    TooLongError
        Branch and bound does not end within :data:`MOST_NODES`.
    """
    lower, upper = problem.lower.copy(), problem.upper.copy()
    whole = problem.integrality
    lower[whole], upper[whole] = np.ceil(lower[whole]), np.floor(upper[whole])
    best = Exact(Truth.INFEASIBLE)
    stack = [(lower, upper)]
    nodes = 0
    while stack:
        low, high = stack.pop()
        nodes += 1
        if nodes > MOST_NODES:
            raise TooLongError
        found = _relaxation(problem, low, high)
        if found.truth is Truth.UNBOUNDED:
            if not problem.is_mip or _has_point(problem, low, high):
                return found
            continue
        if found.objective is None:
            continue
        if best.objective is not None and found.objective >= best.objective:
            continue
        j = next((j for j in np.flatnonzero(whole) if found.x[j].denominator != 1), None)
        if j is None:
            best = found
            continue
        down, up = high.copy(), low.copy()
        down[j] = math.floor(found.x[j])
        up[j] = down[j] + 1
        stack += [(low, down), (up, high)]
    return best


def violation(problem: Problem, x: np.ndarray) -> float:
    """Return the largest violation of a row or bound over max(1, |side|), without rounding."""
    point = [Fraction(float(value)) for value in x]
    activity = [
        sum((a * value for a, value in zip(row, point, strict=True) if a), Fraction(0))
        for row in _rows(problem)
    ]
    worst = Fraction(0)
    for values, low, high in (
        (activity, problem.row_lower, problem.row_upper),
        (point, problem.lower, problem.upper),
    ):
        for value, a, b in zip(values, low.tolist(), high.tolist(), strict=True):
            finite = [Fraction(side) for side in (a, b) if math.isfinite(side)]
            size = max([Fraction(1), *(abs(side) for side in finite)])
            below = Fraction(a) - value if math.isfinite(a) else Fraction(0)
            above = value - Fraction(b) if math.isfinite(b) else Fraction(0)
            worst = max(worst, below / size, above / size)
    return float(worst)


def objective_of(problem: Problem, x: np.ndarray) -> float:
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


def _rows(problem: Problem) -> list[Row]:
    return [[Fraction(float(a)) for a in row] for row in problem.matrix.toarray()]


def _has_point(problem: Problem, lower: np.ndarray, upper: np.ndarray) -> bool:
    free = replace(
        problem, cost=np.zeros(problem.num_columns), offset=0.0, lower=lower, upper=upper
    )
    return solve_exactly(free).truth is Truth.OPTIMAL


def _relaxation(problem: Problem, lower: np.ndarray, upper: np.ndarray) -> Exact:
    """Solve the relaxation in a box: columns shifted to zero, all rows as equations with slacks."""
    if (lower > upper).any():
        return Exact(Truth.INFEASIBLE)
    parts: list[tuple[int, int]] = []  # column and sign of each non-negative variable
    shift: Row = []
    rows: list[tuple[Row, bool, Fraction]] = []  # coefficients, whether an equation, side
    limits: list[tuple[int, Fraction]] = []
    for j, (a, b) in enumerate(zip(lower.tolist(), upper.tolist(), strict=True)):
        if math.isfinite(a) and math.isfinite(b):
            limits.append((len(parts), Fraction(b) - Fraction(a)))
        base = a if math.isfinite(a) else b if math.isfinite(b) else 0.0
        shift.append(Fraction(base))
        signs = [1] if math.isfinite(a) else [-1] if math.isfinite(b) else [1, -1]
        parts += [(j, sign) for sign in signs]
    bounds = zip(
        _rows(problem), problem.row_lower.tolist(), problem.row_upper.tolist(), strict=True
    )
    for row, a, b in bounds:
        at_shift = sum((c * s for c, s in zip(row, shift, strict=True)), Fraction(0))
        spread = [row[j] * sign for j, sign in parts]
        if a == b:
            rows.append((spread, True, Fraction(a) - at_shift))
            continue
        if math.isfinite(b):
            rows.append((spread, False, Fraction(b) - at_shift))
        if math.isfinite(a):
            rows.append(([-c for c in spread], False, at_shift - Fraction(a)))
    for k, limit in limits:
        unit = [Fraction(int(k == place)) for place in range(len(parts))]
        rows.append((unit, False, limit))
    cost = [Fraction(float(problem.cost[j])) * sign for j, sign in parts]
    values = _two_phases(cost, rows)
    if isinstance(values, Truth):
        return Exact(values)
    x = list(shift)
    for (j, sign), value in zip(parts, values, strict=True):
        x[j] += sign * value
    costs = map(Fraction, problem.cost.tolist())
    objective = sum((c * v for c, v in zip(costs, x, strict=True)), Fraction(problem.offset))
    return Exact(Truth.OPTIMAL, objective, tuple(x))


def _two_phases(cost: Row, rows: list[tuple[Row, bool, Fraction]]) -> Row | Truth:
    """Minimise over non-negative variables; a tableau row is coefficients and then the side."""
    n, slacks = len(cost), sum(1 for _, equation, _ in rows if not equation)
    m = len(rows)
    width = n + slacks + m  # an artificial variable for every row
    tableau: list[Row] = []
    slack = n
    for i, (coefficients, equation, side) in enumerate(rows):
        row = [*coefficients, *[Fraction(0)] * (slacks + m), side]
        if not equation:
            row[slack] = Fraction(1)
            slack += 1
        if side < 0:
            row = [-value for value in row]
        row[n + slacks + i] = Fraction(1)
        tableau.append(row)
    basis = [n + slacks + i for i in range(m)]
    artificial = [Fraction(int(j >= n + slacks)) for j in range(width)]
    _minimise(tableau, basis, artificial, width)
    if any(tableau[i][-1] for i in range(m) if basis[i] >= n + slacks):
        return Truth.INFEASIBLE
    for i in range(m):
        if basis[i] >= n + slacks:
            entering = next((j for j in range(n + slacks) if tableau[i][j]), None)
            if entering is not None:
                _pivot(tableau, basis, i, entering)
    padded = [*cost, *[Fraction(0)] * (slacks + m)]
    if not _minimise(tableau, basis, padded, n + slacks):
        return Truth.UNBOUNDED
    values = [Fraction(0)] * width
    for i in range(m):
        values[basis[i]] = tableau[i][-1]
    return values[:n]


def _minimise(tableau: list[Row], basis: list[int], cost: Row, allowed: int) -> bool:
    """Pivot by Bland's rule until no reduced cost is negative; False where nothing limits one."""
    reduced = [*cost, Fraction(0)]
    for row, j in zip(tableau, basis, strict=True):
        if cost[j]:
            reduced = [r - cost[j] * value for r, value in zip(reduced, row, strict=True)]
    while True:
        entering = next((j for j in range(allowed) if reduced[j] < 0), None)
        if entering is None:
            return True
        ratios = [
            (row[-1] / row[entering], basis[i], i)
            for i, row in enumerate(tableau)
            if row[entering] > 0
        ]
        if not ratios:
            return False
        leaving = min(ratios)[2]
        _pivot(tableau, basis, leaving, entering)
        factor = reduced[entering]
        reduced = [r - factor * v for r, v in zip(reduced, tableau[leaving], strict=True)]


def _pivot(tableau: list[Row], basis: list[int], leaving: int, entering: int) -> None:
    divisor = tableau[leaving][entering]
    pivot = tableau[leaving] = [value / divisor for value in tableau[leaving]]
    for i, row in enumerate(tableau):
        if i != leaving and row[entering]:
            factor = row[entering]
            tableau[i] = [value - factor * p for value, p in zip(row, pivot, strict=True)]
    basis[leaving] = entering
