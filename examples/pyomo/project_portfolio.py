"""Pick the projects to fund, and see what each further million of budget would buy.

A knapsack with side constraints, maximised. The budget is a mutable parameter: changing it and
solving the same model again is all that a what-if table needs.
"""

from __future__ import annotations

from itertools import product

import pyomo.environ as pyo

import gpu_bridge  # noqa: F401  makes the solver 'gpuheur' known to Pyomo

PROJECTS = {  # net present value and cost in thousands, engineers needed
    "battery pilot": (410, 620, 5),
    "heat recovery": (295, 330, 3),
    "solar roof": (260, 410, 2),
    "new packing line": (540, 760, 6),
    "warehouse robots": (480, 700, 8),
    "quality cameras": (190, 150, 3),
    "fleet of e-vans": (230, 380, 1),
    "biogas plant": (620, 980, 7),
    "water recycling": (150, 170, 2),
    "energy data hub": (120, 90, 4),
    "compressor swap": (85, 60, 1),
    "second shift": (330, 260, 9),
}
ENGINEERS = 24
EITHER_OR = [("new packing line", "warehouse robots")]  # both want the same hall
NEEDS = [("warehouse robots", "energy data hub"), ("battery pilot", "solar roof")]


def build() -> pyo.ConcreteModel:
    model = pyo.ConcreteModel("project portfolio")
    model.PROJECTS = pyo.Set(initialize=PROJECTS.keys())
    model.budget = pyo.Param(mutable=True, initialize=0)
    model.fund = pyo.Var(model.PROJECTS, domain=pyo.Binary)
    model.value = pyo.Objective(
        expr=sum(PROJECTS[p][0] * model.fund[p] for p in model.PROJECTS), sense=pyo.maximize
    )
    model.money = pyo.Constraint(
        expr=sum(PROJECTS[p][1] * model.fund[p] for p in model.PROJECTS) <= model.budget
    )
    model.people = pyo.Constraint(
        expr=sum(PROJECTS[p][2] * model.fund[p] for p in model.PROJECTS) <= ENGINEERS
    )
    model.rules = pyo.ConstraintList()
    for one, other in EITHER_OR:
        model.rules.add(model.fund[one] + model.fund[other] <= 1)
    for project, first in NEEDS:
        model.rules.add(model.fund[project] <= model.fund[first])
    return model


def best_by_trying_all(budget: float) -> float:
    """Return the best value over all 4096 selections, for comparison."""
    best = 0
    for choice in product((0, 1), repeat=len(PROJECTS)):
        fund = dict(zip(PROJECTS, choice, strict=True))
        value, cost, people = (
            sum(data[k] for p, data in PROJECTS.items() if fund[p]) for k in range(3)
        )
        allowed = all(fund[a] + fund[b] <= 1 for a, b in EITHER_OR)
        allowed = allowed and all(fund[a] <= fund[b] for a, b in NEEDS)
        if cost <= budget and people <= ENGINEERS and allowed:
            best = max(best, value)
    return best


def main() -> None:
    model = build()
    solver = pyo.SolverFactory("gpuheur")
    solver.options["rel_gap"] = 0.0
    print("budget   value   projects (all in thousands)")
    for budget in (500, 1000, 1500, 2000, 2500, 3000):
        model.budget = budget
        pyo.assert_optimal_termination(solver.solve(model))
        funded = [p for p in model.PROJECTS if model.fund[p].value > 0.5]
        print(f"{budget:6}{pyo.value(model.value):8.0f}   {', '.join(funded)}")
        assert round(pyo.value(model.value)) == best_by_trying_all(budget)


if __name__ == "__main__":
    main()
