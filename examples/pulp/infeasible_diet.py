"""A school menu that asks for too much, and what exactly contradicts what.

PuLP reports an infeasible model by its status only. The explanation, with the constraints' own
names, stands in the answer that the solver keeps.
"""

from __future__ import annotations

import pulp

import gpu_bridge

FOODS = {  # per portion: euros, kcal, grams of protein, mg of iron, grams of salt
    "bread": (0.25, 230, 8, 2.1, 1.3),
    "lentils": (0.40, 210, 16, 6.0, 0.1),
    "cheese": (0.75, 180, 12, 0.2, 0.9),
    "chicken": (1.60, 190, 31, 1.1, 0.4),
    "potatoes": (0.20, 160, 4, 0.8, 0.0),
    "spinach": (0.50, 40, 4, 4.0, 0.2),
    "yoghurt": (0.45, 110, 9, 0.1, 0.1),
}
AT_MOST = {"bread": 2.0, "lentils": 1.5, "potatoes": 2.0, "spinach": 1.0}
BUDGET = 1.20  # euros per child


def build() -> pulp.LpProblem:
    model = pulp.LpProblem("school_menu", pulp.LpMinimize)
    portions = {f: model.add_variable(f, 0, AT_MOST.get(f)) for f in FOODS}

    def total(column: int) -> pulp.LpAffineExpression:
        return pulp.lpSum(FOODS[f][column] * portions[f] for f in FOODS)

    model += total(4), "salt"
    model += total(0) <= BUDGET, "budget"
    model += total(1) >= 700, "energy"
    model += total(2) >= 52, "protein"
    model += total(3) >= 9, "iron"
    model += portions["lentils"] <= 0.5 * portions["potatoes"], "lentils_go_with_potatoes"
    return model


def main() -> None:
    model = build()
    solver = gpu_bridge.GPUHEUR(msg=False)
    model.solve(solver)
    assert solver.outcome.solution_status is gpu_bridge.SolutionStatus.INFEASIBLE
    conflict = solver.outcome.conflict
    print("There is no such menu:")
    print(conflict)
    assert "budget" in str(conflict)
    assert "protein" in str(conflict)

    model.get_constraint_by_name("budget").changeRHS(10.0)
    salt_first = model.objective
    model.setObjective(pulp.lpSum(FOODS[v.name][0] * v for v in model.variables()))
    model.solve(solver)
    assert solver.outcome.solution_status is gpu_bridge.SolutionStatus.OPTIMAL
    least = pulp.value(model.objective)
    print(f"The cheapest menu that meets all the rest costs {least:.2f} euros")
    assert least > BUDGET

    model.get_constraint_by_name("budget").changeRHS(least * 1.05)
    model.setObjective(salt_first)
    model.solve(solver)
    assert solver.outcome.solution_status is gpu_bridge.SolutionStatus.OPTIMAL
    print(f"For {least * 1.05:.2f} euros the least salt is {pulp.value(model.objective):.2f} g:")
    for v in model.variables():
        if v.varValue > 1e-6:
            print(f"  {v.varValue:5.2f} portions of {v.name}")


if __name__ == "__main__":
    main()
