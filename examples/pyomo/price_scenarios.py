"""Plan a dairy's week for two hundred prices of butter and milk powder, in one call.

The model is built once, with mutable parameters for what is uncertain; ``solve_table`` solves it
for every scenario. The answers show how the plan moves, and what a further tonne of milk is worth.
"""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo

import gpu_bridge as gb

SCENARIOS = 200
SHELF = {"butter": 60, "powder": 90, "cheese": 45}  # tonnes the market takes in a week
MILK = {"butter": 21.0, "powder": 11.0, "cheese": 10.0}  # tonnes of milk for a tonne
HOURS = {"butter": 1.5, "powder": 2.0, "cheese": 6.0}  # of the plant, for a tonne


def build() -> pyo.ConcreteModel:
    model = pyo.ConcreteModel("dairy")
    model.PRODUCTS = pyo.Set(initialize=SHELF.keys())
    model.price = pyo.Param(
        model.PRODUCTS,
        initialize={"butter": 6100, "powder": 2900, "cheese": 4300},
        mutable=True,
    )
    model.milk = pyo.Param(initialize=1400.0, mutable=True)
    model.make = pyo.Var(model.PRODUCTS, bounds=lambda model, p: (0, SHELF[p]))
    model.sales = pyo.Objective(
        expr=sum(model.price[p] * model.make[p] for p in model.PRODUCTS), sense=pyo.maximize
    )
    model.milk_used = pyo.Constraint(
        expr=sum(MILK[p] * model.make[p] for p in model.PRODUCTS) <= model.milk
    )
    model.hours = pyo.Constraint(expr=sum(HOURS[p] * model.make[p] for p in model.PRODUCTS) <= 400)
    return model


def main() -> None:
    model = build()
    generator = np.random.default_rng(7)
    table = {
        "price[butter]": generator.uniform(4500, 8000, SCENARIOS),
        "price[powder]": generator.uniform(2000, 4000, SCENARIOS),
        "milk": generator.uniform(1100, 1700, SCENARIOS),
    }
    results = gb.solve_table(model, table)
    assert all(status is gb.SolutionStatus.OPTIMAL for status in results.status)

    sales, worth = results.objective, results.dual(model.milk_used)
    print(f"{len(results)} scenarios, sales of {sales.min():,.0f} to {sales.max():,.0f} euros")
    for product in model.PRODUCTS:
        tonnes = results.value(model.make[product])
        print(f"  {product:<7} {tonnes.min():5.1f} to {tonnes.max():5.1f} t")
    print(f"A tonne of milk is worth {worth.min():.0f} to {worth.max():.0f} euros more")

    # One scenario solved by itself says the same, and the model is as it was.
    assert pyo.value(model.milk) == 1400.0
    worst = int(np.argmin(sales))
    results.load(worst)
    pyo.SolverFactory("gpuheur").solve(model)
    assert abs(pyo.value(model.sales) - sales[worst]) < 1e-4 * sales[worst]
    print(f"Worst: milk {pyo.value(model.milk):,.0f} t, sales {pyo.value(model.sales):,.0f} euros")


if __name__ == "__main__":
    main()
