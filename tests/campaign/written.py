"""Problems written as MPS and LP files and as Pyomo models, without losing a digit."""

from __future__ import annotations

import math
from typing import Any

from solvers.core.problem import Problem


def mps_text(problem: Problem) -> str:
    """Return a problem as free MPS; rows without sides are left out."""
    sign = -1.0 if problem.maximize else 1.0
    senses = [_sense(a, b) for a, b in _row_sides(problem)]
    lines = ["NAME model", "OBJSENSE", "    MAX" if problem.maximize else "    MIN", "ROWS"]
    lines.append(" N cost")
    lines += [f" {sense} r{i}" for i, sense in enumerate(senses) if sense]
    lines.append("COLUMNS")
    by_column = problem.matrix_csc
    inside = False
    for j in range(problem.num_columns):
        if inside != problem.integrality[j]:
            inside = not inside
            lines.append(f" M{j} 'MARKER' '{'INTORG' if inside else 'INTEND'}'")
        lines.append(f" c{j} cost {_text(sign * problem.cost[j])}")
        start, end = by_column.indptr[j : j + 2]
        for i, value in zip(by_column.indices[start:end], by_column.data[start:end], strict=True):
            if senses[i]:
                lines.append(f" c{j} r{i} {_text(value)}")
    if inside:
        lines.append(" MEND 'MARKER' 'INTEND'")
    lines.append("RHS")
    if problem.offset:
        lines.append(f" RHS cost {_text(-sign * problem.offset)}")
    ranges = []
    for i, (a, b) in enumerate(_row_sides(problem)):
        if senses[i]:
            lines.append(f" RHS r{i} {_text(b if math.isfinite(b) else a)}")
        if math.isfinite(a) and math.isfinite(b) and a != b:
            ranges.append(f" RNG r{i} {_text(b - a)}")
    lines += ["RANGES", *ranges, "BOUNDS"]
    for j, (a, b) in enumerate(zip(problem.lower.tolist(), problem.upper.tolist(), strict=True)):
        lines.append(f" LO BND c{j} {_text(a)}" if math.isfinite(a) else f" MI BND c{j}")
        lines.append(f" UP BND c{j} {_text(b)}" if math.isfinite(b) else f" PL BND c{j}")
    return "\n".join([*lines, "ENDATA", ""])


def has_exact_ranges(problem: Problem) -> bool:
    """Whether upper side minus range gives back the lower side, as an MPS file needs."""
    both = [(a, b) for a, b in _row_sides(problem) if math.isfinite(a) and math.isfinite(b)]
    return all(b - (b - a) == a for a, b in both)


def lp_text(problem: Problem) -> str:
    """Return a problem in LP format; rows with two sides are written twice."""
    sign = -1.0 if problem.maximize else 1.0
    lines = ["Maximize" if problem.maximize else "Minimize"]
    costs = list(enumerate((sign * problem.cost).tolist()))
    constant = f" {sign * problem.offset:+.17g}" if problem.offset else ""
    lines += [f" cost: {_sum(costs)}{constant}", "Subject To"]
    for i, (a, b) in enumerate(_row_sides(problem)):
        body = _sum(row_entries(problem, i))
        if a == b:
            lines.append(f" r{i}: {body} = {_text(a)}")
            continue
        if math.isfinite(a):
            lines.append(f" r{i}low: {body} >= {_text(a)}")
        if math.isfinite(b):
            lines.append(f" r{i}: {body} <= {_text(b)}")
    lines.append("Bounds")
    for j, (a, b) in enumerate(zip(problem.lower.tolist(), problem.upper.tolist(), strict=True)):
        low = _text(a) if math.isfinite(a) else "-inf"
        high = _text(b) if math.isfinite(b) else "+inf"
        lines.append(f" {low} <= c{j} <= {high}")
    whole = [f"c{j}" for j in range(problem.num_columns) if problem.integrality[j]]
    if whole:
        lines += ["General", *(f" {name}" for name in whole)]
    return "\n".join([*lines, "End", ""])


def pyomo_model(problem: Problem) -> Any:
    """Return a problem as a Pyomo model with variables ``x[j]`` and the objective ``cost``."""
    import pyomo.environ as pyo
    from pyomo.core.expr.numeric_expr import LinearExpression

    sign = -1.0 if problem.maximize else 1.0
    n = problem.num_columns
    model = pyo.ConcreteModel()
    model.x = pyo.Var(
        range(n),
        domain=lambda _, j: pyo.Integers if problem.integrality[j] else pyo.Reals,
        bounds=lambda _, j: (_or_none(problem.lower[j]), _or_none(problem.upper[j])),
    )

    def linear(entries: list[tuple[int, float]], constant: float = 0.0) -> Any:
        return LinearExpression(
            constant=constant,
            linear_coefs=[value for _, value in entries],
            linear_vars=[model.x[j] for j, _ in entries],
        )

    costs = linear(list(enumerate((sign * problem.cost).tolist())), sign * problem.offset)
    sense = pyo.maximize if problem.maximize else pyo.minimize
    model.cost = pyo.Objective(expr=costs, sense=sense)
    model.rows = pyo.ConstraintList()
    for i, (a, b) in enumerate(_row_sides(problem)):
        body = linear(row_entries(problem, i))
        if a == b:
            model.rows.add(body == a)
        elif math.isfinite(a) or math.isfinite(b):
            model.rows.add((_or_none(a), body, _or_none(b)))
    return model


def row_entries(problem: Problem, i: int) -> list[tuple[int, float]]:
    """Return (column, value) of a row; an empty one has a zero in column 0."""
    start, end = problem.matrix.indptr[i : i + 2]
    columns = problem.matrix.indices[start:end].tolist()
    return list(zip(columns, problem.matrix.data[start:end].tolist(), strict=True)) or [(0, 0.0)]


def _row_sides(problem: Problem) -> list[tuple[float, float]]:
    return list(zip(problem.row_lower.tolist(), problem.row_upper.tolist(), strict=True))


def _sense(a: float, b: float) -> str:
    if a == b:
        return "E"
    return "L" if math.isfinite(b) else "G" if math.isfinite(a) else ""


def _sum(entries: list[tuple[int, float]]) -> str:
    return " ".join(f"{value:+.17g} c{j}" for j, value in entries)


def _text(value: float) -> str:
    return repr(float(value))


def _or_none(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
