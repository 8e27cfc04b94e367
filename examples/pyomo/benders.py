"""Choose warehouses before the demand is known, by Benders' decomposition with two kept models.

Warehouses are rented now; what each customer will want shows later, in one of many scenarios, and
what can't be delivered is bought elsewhere. The master model decides on the warehouses. For each
choice the delivery model, a linear program whose demands and capacities are parameters, says what
the scenarios cost and, by its duals, how that changes with capacity: one cut per scenario for
the master. Both stay in persistent solvers, so that a solve converts the new cuts only.
"""

from __future__ import annotations

import random

import pyomo.environ as pyo

import gpu_bridge  # noqa: F401  makes the solver 'gpuheur_persistent' known to Pyomo

SITES = range(8)
CUSTOMERS = range(10)
SCENARIOS = range(10)
CAPACITY = 60.0
ELSEWHERE = 40.0  # euros per unit that no warehouse delivers

DRAW = random.Random(7)
PLACES = {site: (DRAW.random(), DRAW.random()) for site in SITES}
HOMES = {customer: (DRAW.random(), DRAW.random()) for customer in CUSTOMERS}
RENT = {site: DRAW.randint(250, 400) for site in SITES}
DEMAND = {(s, c): DRAW.randint(5, 30) for s in SCENARIOS for c in CUSTOMERS}


def freight(site: int, customer: int) -> float:
    """Return euros per unit from a warehouse to a customer."""
    (x, y), (u, v) = PLACES[site], HOMES[customer]
    return round(2 + 20 * ((x - u) ** 2 + (y - v) ** 2) ** 0.5, 2)


def master_model() -> pyo.ConcreteModel:
    """Return the choice of warehouses, with a cost of each scenario that cuts will raise."""
    model = pyo.ConcreteModel("master")
    model.rented = pyo.Var(SITES, domain=pyo.Binary)
    model.later = pyo.Var(SCENARIOS, bounds=(0, None))
    model.cuts = pyo.ConstraintList()
    rents = sum(RENT[site] * model.rented[site] for site in SITES)
    model.cost = pyo.Objective(expr=rents + sum(model.later.values()) / len(SCENARIOS))
    return model


def delivery_model() -> pyo.ConcreteModel:
    """Return the cheapest delivery for one scenario and one choice of warehouses."""
    model = pyo.ConcreteModel("delivery")
    model.capacity = pyo.Param(SITES, mutable=True, initialize=0.0)
    model.demand = pyo.Param(CUSTOMERS, mutable=True, initialize=0.0)
    model.sent = pyo.Var(SITES, CUSTOMERS, bounds=(0, None))
    model.bought = pyo.Var(CUSTOMERS, bounds=(0, None))

    @model.Constraint(SITES)
    def stock(model, site):
        return sum(model.sent[site, c] for c in CUSTOMERS) <= model.capacity[site]

    @model.Constraint(CUSTOMERS)
    def wish(model, customer):
        sent = sum(model.sent[site, customer] for site in SITES)
        return sent + model.bought[customer] >= model.demand[customer]

    sending = sum(freight(s, c) * model.sent[s, c] for s in SITES for c in CUSTOMERS)
    model.cost = pyo.Objective(expr=sending + ELSEWHERE * sum(model.bought.values()))
    return model


def main() -> None:
    master, delivery = master_model(), delivery_model()
    choosing = pyo.SolverFactory("gpuheur_persistent", model=master)
    delivering = pyo.SolverFactory("gpuheur_persistent", model=delivery)
    best = float("inf")
    while True:
        pyo.assert_optimal_termination(choosing.solve())
        bound = pyo.value(master.cost)
        rented = {site: round(master.rented[site].value) for site in SITES}
        cost = float(sum(RENT[site] * rented[site] for site in SITES))
        for site in SITES:
            delivery.capacity[site] = CAPACITY * rented[site]
        for scenario in SCENARIOS:
            for customer in CUSTOMERS:
                delivery.demand[customer] = DEMAND[scenario, customer]
            pyo.assert_optimal_termination(delivering.solve())
            cost += pyo.value(delivery.cost) / len(SCENARIOS)
            worth = delivering.get_duals()
            wishes = sum(worth[delivery.wish[c]] * DEMAND[scenario, c] for c in CUSTOMERS)
            stocks = sum(
                worth[delivery.stock[site]] * CAPACITY * master.rented[site] for site in SITES
            )
            cut = master.cuts.add(master.later[scenario] >= wishes + stocks)
            choosing.add_constraint(cut)
        best = min(best, cost)
        chosen = [site for site in SITES if rented[site]]
        print(f"{len(master.cuts):4} cuts: at least {bound:9,.2f}, {cost:9,.2f} with {chosen}")
        if best - bound <= 1e-4 * best:
            print("The cuts prove that no other choice costs less.")
            return


if __name__ == "__main__":
    main()
