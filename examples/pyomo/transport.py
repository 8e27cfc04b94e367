"""Ship grain from silos to mills at least cost, and ask what more storage would be worth.

A linear program. Its duals and reduced costs answer the two questions a planner asks after seeing
the plan: which silo should grow, and how much cheaper must an unused route become?
"""

from __future__ import annotations

import pyomo.environ as pyo

import gpu_bridge  # noqa: F401  makes the solver 'gpuheur' known to Pyomo

STOCK = {"Linz": 320, "Graz": 250, "Wels": 180, "Krems": 270}  # tonnes in store
DEMAND = {"Wien": 260, "Salzburg": 190, "Bruck": 120, "Villach": 150, "Horn": 110}
COST = {  # euros per tonne
    ("Linz", "Wien"): 18.5, ("Linz", "Salzburg"): 13.0, ("Linz", "Bruck"): 19.5,
    ("Linz", "Villach"): 30.0, ("Linz", "Horn"): 14.5,
    ("Graz", "Wien"): 19.0, ("Graz", "Salzburg"): 27.5, ("Graz", "Bruck"): 6.5,
    ("Graz", "Villach"): 17.5, ("Graz", "Horn"): 25.0,
    ("Wels", "Wien"): 21.0, ("Wels", "Salzburg"): 10.5, ("Wels", "Bruck"): 20.5,
    ("Wels", "Villach"): 27.5, ("Wels", "Horn"): 17.0,
    ("Krems", "Wien"): 8.0, ("Krems", "Salzburg"): 26.0, ("Krems", "Bruck"): 17.0,
    ("Krems", "Villach"): 33.0, ("Krems", "Horn"): 5.5,
}  # fmt: skip


def build() -> pyo.ConcreteModel:
    model = pyo.ConcreteModel("transport")
    model.SILOS = pyo.Set(initialize=STOCK.keys())
    model.MILLS = pyo.Set(initialize=DEMAND.keys())
    model.tonnes = pyo.Var(model.SILOS, model.MILLS, domain=pyo.NonNegativeReals)
    model.cost = pyo.Objective(
        expr=sum(COST[s, m] * model.tonnes[s, m] for s in model.SILOS for m in model.MILLS)
    )

    @model.Constraint(model.SILOS)
    def stock(model, silo):
        return sum(model.tonnes[silo, mill] for mill in model.MILLS) <= STOCK[silo]

    @model.Constraint(model.MILLS)
    def demand(model, mill):
        return sum(model.tonnes[silo, mill] for silo in model.SILOS) >= DEMAND[mill]

    model.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    model.rc = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    return model


def main() -> None:
    model = build()
    results = pyo.SolverFactory("gpuheur").solve(model)
    pyo.assert_optimal_termination(results)

    print(f"Cheapest plan: {pyo.value(model.cost):,.2f} euros")
    for silo, mill in model.tonnes:
        if model.tonnes[silo, mill].value > 1e-6:
            print(f"  {silo:>6} -> {mill:<9}{model.tonnes[silo, mill].value:8.1f} t")
    print("One more tonne in store would save")
    for silo in model.SILOS:
        print(f"  {silo:>6}{max(0.0, -model.dual[model.stock[silo]]):10.2f} euros")
    unused = {
        key: model.rc[variable]
        for key, variable in model.tonnes.items()
        if variable.value <= 1e-6 and model.rc[variable] > 1e-6
    }
    (silo, mill), saving = min(unused.items(), key=lambda item: item[1])
    print(f"First new route to pay: {silo} -> {mill}, once it is {saving:.2f} euros/t cheaper")

    # Strong duality: the sides, priced with their duals, cost as much as the plan.
    priced = sum(model.dual[model.stock[s]] * STOCK[s] for s in model.SILOS)
    priced += sum(model.dual[model.demand[m]] * DEMAND[m] for m in model.MILLS)
    assert abs(priced - pyo.value(model.cost)) < 1e-6 * priced
    assert all(model.dual[model.stock[s]] <= 1e-9 for s in model.SILOS)


if __name__ == "__main__":
    main()
