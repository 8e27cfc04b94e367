"""Build a MIPLIB model in PuLP and solve it.

    python examples/miplib_in_pulp.py [MODEL.mps.gz]

The file is only the source of the numbers: what is solved is an ordinary PuLP model. PuLP has no
two-sided constraints, so a row with two different sides becomes two of them.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pulp

import gpu_bridge as gb

DEFAULT = Path(__file__).parent / "data" / "ran13x13.mps.gz"


def build(problem: gb.Problem) -> pulp.LpProblem:
    """Return a PuLP model with the variables, constraints and objective of ``problem``."""
    sense = pulp.LpMaximize if problem.maximize else pulp.LpMinimize
    model = pulp.LpProblem(problem.name or "miplib", sense)
    variables = [
        model.add_variable(
            problem.column_label(j),
            finite(problem.lower[j]),
            finite(problem.upper[j]),
            pulp.LpInteger if problem.integrality[j] else pulp.LpContinuous,
        )
        for j in range(problem.num_columns)
    ]
    sign = -1.0 if problem.maximize else 1.0  # a Problem always minimises
    model += pulp.lpDot((sign * problem.cost).tolist(), variables) + sign * problem.offset

    matrix = problem.matrix
    for i in range(problem.num_rows):
        entries = slice(matrix.indptr[i], matrix.indptr[i + 1])
        used = [variables[j] for j in matrix.indices[entries]]
        body = pulp.lpDot(matrix.data[entries].tolist(), used)
        low, high = float(problem.row_lower[i]), float(problem.row_upper[i])
        name = problem.row_label(i)
        if low == high:
            model += body == low, name
            continue
        if np.isfinite(low):
            model += body >= low, name if np.isinf(high) else f"{name}_low"
        if np.isfinite(high):
            model += body <= high, name if np.isinf(low) else f"{name}_high"
    return model


def finite(bound: float) -> float | None:
    """Return a bound as PuLP writes it: None where there is none."""
    return float(bound) if np.isfinite(bound) else None


def solve(path: Path, time_limit: float = 60.0) -> gb.Outcome:
    """Read, build and solve; the log appears on the terminal meanwhile."""
    model = build(gb.read(path))
    solver = gb.GPUHEUR(msg=True, timeLimit=time_limit)
    model.solve(solver)
    if solver.outcome.solution_status.has_point:
        used = [v.name for v in model.variables() if abs(v.varValue or 0.0) > 1e-6]
        value = pulp.value(model.objective)
        print(f"Objective {value:g}, {len(used)} variables are not zero")
        assert abs(value - solver.outcome.objective) <= 1e-6 * abs(value)
    return solver.outcome


if __name__ == "__main__":
    solve(Path(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT)
