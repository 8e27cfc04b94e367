"""Build a MIPLIB model in Pyomo, with sets, variables and constraints, and solve it.

    python examples/miplib_in_pyomo.py [MODEL.mps.gz]

The file is only the source of the numbers: what is solved is an ordinary Pyomo model.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pyomo.environ as pyo
from pyomo.contrib.solver.common.factory import SolverFactory
from pyomo.core.expr import LinearExpression

import gpu_bridge as gb

DEFAULT = Path(__file__).parent / "data" / "aflow30a.mps.gz"


def build(problem: gb.Problem) -> pyo.ConcreteModel:
    """Return a Pyomo model with the variables, constraints and objective of ``problem``."""
    columns = [problem.column_label(j) for j in range(problem.num_columns)]
    rows = [problem.row_label(i) for i in range(problem.num_rows)]
    number = {name: j for j, name in enumerate(columns)}
    matrix = problem.matrix

    model = pyo.ConcreteModel(problem.name or "miplib")
    model.COLUMNS = pyo.Set(initialize=columns)
    model.ROWS = pyo.Set(initialize=rows)

    def domain(model, name):
        return pyo.Integers if problem.integrality[number[name]] else pyo.Reals

    def bounds(model, name):
        return float(problem.lower[number[name]]), float(problem.upper[number[name]])

    model.x = pyo.Var(model.COLUMNS, domain=domain, bounds=bounds)
    variables = [model.x[name] for name in columns]
    position = {name: i for i, name in enumerate(rows)}

    @model.Constraint(model.ROWS)
    def row(model, name):
        i = position[name]
        entries = slice(matrix.indptr[i], matrix.indptr[i + 1])
        body = LinearExpression(
            linear_coefs=matrix.data[entries].tolist(),
            linear_vars=[variables[j] for j in matrix.indices[entries]],
        )
        return float(problem.row_lower[i]), body, float(problem.row_upper[i])

    sign = -1.0 if problem.maximize else 1.0  # a Problem always minimises
    model.objective = pyo.Objective(
        expr=LinearExpression(
            constant=sign * problem.offset,
            linear_coefs=(sign * problem.cost).tolist(),
            linear_vars=variables,
        ),
        sense=pyo.maximize if problem.maximize else pyo.minimize,
    )
    return model


def solve(path: Path, time_limit: float = 60.0) -> gb.Outcome:
    """Read, build and solve; the log appears on the terminal meanwhile."""
    model = build(gb.read(path))
    results = SolverFactory("gpuheur").solve(
        model,
        tee=True,
        time_limit=time_limit,
        load_solutions=False,
        raise_exception_on_nonoptimal_result=False,  # a good point at the time limit is welcome
    )
    outcome = results.solution_loader.outcome
    if outcome.solution_status.has_point:
        results.solution_loader.load_vars()
        used = [name for name in model.COLUMNS if abs(model.x[name].value) > 1e-6]
        print(f"Objective {pyo.value(model.objective):g}, {len(used)} variables are not zero")
        assert abs(pyo.value(model.objective) - outcome.objective) <= 1e-6 * abs(outcome.objective)
    return outcome


if __name__ == "__main__":
    solve(Path(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT)
