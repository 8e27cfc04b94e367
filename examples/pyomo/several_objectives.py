"""Plan a week of power at least cost, then with the least emissions among the cheap plans.

Two objectives in order: the second chooses among the plans that cost at most so many percent more
than the cheapest. The knapsack at the end lists the three best plans instead of one.
"""

from __future__ import annotations

import pyomo.environ as pyo

import gpu_bridge

DEMAND = [420, 510, 480, 530, 610, 390, 350]  # MWh of each day
PLANTS = {  # largest output in MWh a day, euros per MWh, tonnes of CO2 per MWh
    "coal": (300, 38.0, 0.90),
    "lignite": (250, 38.0, 1.10),
    "gas": (400, 52.0, 0.35),
}
PROJECTS = {"roof": (9, 40), "meter": (5, 24), "pump": (6, 31), "boiler": (8, 33)}  # cost, worth


def power() -> pyo.ConcreteModel:
    model = pyo.ConcreteModel("power")
    model.output = pyo.Var(PLANTS, range(7), bounds=lambda _, plant, day: (0, PLANTS[plant][0]))
    model.demand = pyo.Constraint(
        range(7),
        rule=lambda m, day: sum(m.output[plant, day] for plant in PLANTS) == DEMAND[day],
    )
    model.cost = pyo.Objective(
        expr=sum(PLANTS[plant][1] * model.output[plant, day] for plant, day in model.output)
    )
    model.emissions = pyo.Objective(
        expr=sum(PLANTS[plant][2] * model.output[plant, day] for plant, day in model.output)
    )
    model.emissions.deactivate()
    return model


def projects() -> pyo.ConcreteModel:
    model = pyo.ConcreteModel("projects")
    model.do = pyo.Var(PROJECTS, domain=pyo.Binary)
    model.budget = pyo.Constraint(expr=sum(PROJECTS[p][0] * model.do[p] for p in PROJECTS) <= 20)
    model.worth = pyo.Objective(
        expr=sum(PROJECTS[p][1] * model.do[p] for p in PROJECTS), sense=pyo.maximize
    )
    return model


def main() -> None:
    model = power()
    for percent in (0, 5, 10):
        results = gpu_bridge.solve_lexicographic(
            model, [model.cost, model.emissions], rel_tolerances=[percent / 100, 0]
        )
        for one in results:
            pyo.assert_optimal_termination(one)
        cost, emissions = pyo.value(model.cost), pyo.value(model.emissions)
        print(f"{percent:2} % dearer at most: {cost:,.0f} euros, {emissions:,.0f} tonnes of CO2")

    plans = projects()
    results = pyo.SolverFactory("gpuheur").solve(plans, pool_size=3, pool_search="best")
    found = results.solution_loader
    for number in range(found.get_number_of_solutions()):
        found.solution(number).load_vars()
        chosen = [project for project in PROJECTS if plans.do[project].value > 0.5]
        print(f"{number + 1}. worth {pyo.value(plans.worth):.0f}: {', '.join(chosen)}")


if __name__ == "__main__":
    main()
