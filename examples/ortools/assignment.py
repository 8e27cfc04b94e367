"""Assign nurses to wards in OR-tools, by MathOpt and again by its ModelBuilder.

Each ward needs two nurses, nobody works in more than one ward, and costs are walking distances.
"""

from __future__ import annotations

import numpy as np
from ortools.linear_solver.python import model_builder
from ortools.math_opt.python import mathopt

from gpu_bridge.adapters.ortools import solve, solve_mp_model

NURSES, WARDS, NEEDED = 12, 5, 2
DISTANCE = np.random.default_rng(4).integers(5, 60, (NURSES, WARDS)).tolist()  # metres


def by_math_opt() -> float:
    model = mathopt.Model(name="wards")
    x = [[model.add_binary_variable(name=f"{n},{w}") for w in range(WARDS)] for n in range(NURSES)]
    for n in range(NURSES):
        model.add_linear_constraint(mathopt.fast_sum(x[n]) <= 1, name=f"nurse {n}")
    for w in range(WARDS):
        staff = mathopt.fast_sum(x[n][w] for n in range(NURSES))
        model.add_linear_constraint(staff == NEEDED, name=f"ward {w}")
    model.minimize(
        mathopt.fast_sum(DISTANCE[n][w] * x[n][w] for n in range(NURSES) for w in range(WARDS))
    )
    result = solve(model, params=mathopt.SolveParameters(relative_gap_tolerance=0.0))
    assert result.termination.reason == mathopt.TerminationReason.OPTIMAL
    for w in range(WARDS):
        staff = [n for n in range(NURSES) if result.variable_values(x[n][w]) > 0.5]
        print(f"Ward {w}: nurses {staff}")
    return result.objective_value()


def by_model_builder() -> float:
    model = model_builder.Model()
    x = [[model.new_bool_var(f"{n},{w}") for w in range(WARDS)] for n in range(NURSES)]
    for n in range(NURSES):
        model.add(sum(x[n]) <= 1)
    for w in range(WARDS):
        model.add(sum(x[n][w] for n in range(NURSES)) == NEEDED)
    model.minimize(sum(DISTANCE[n][w] * x[n][w] for n in range(NURSES) for w in range(WARDS)))
    response = solve_mp_model(model.export_to_proto(), rel_gap=0.0)
    assert sum(response.variable_value[v.index] for row in x for v in row) == WARDS * NEEDED
    return float(response.objective_value)


def main() -> None:
    walked = by_math_opt()
    print(f"Together they walk {walked:.0f} m.")
    assert abs(by_model_builder() - walked) < 1e-6


if __name__ == "__main__":
    main()
