"""Choose which warehouses to rent so that every shop is served at least cost.

Capacitated facility location. A planner has a plan already, so the solver starts from it: the
values standing in the variables are handed over with ``warmstart=True``, and the answer can only
be as good or better.
"""

from __future__ import annotations

from math import hypot

import pyomo.environ as pyo

import gpu_bridge  # noqa: F401  makes the solver 'gpuheur' known to Pyomo

WAREHOUSES = {  # place on the map in km, pallets per week, rent in euros per week
    "north": (22, 88, 420, 5200),
    "docks": (71, 79, 600, 6900),
    "old mill": (48, 52, 380, 4300),
    "airport": (85, 40, 520, 6100),
    "west park": (12, 47, 450, 4900),
    "south": (55, 14, 480, 5000),
    "brewery": (33, 27, 300, 3600),
}
SHOPS = {  # place on the map in km, pallets per week
    "A": (10, 92, 70), "B": (25, 74, 95), "C": (40, 95, 60), "D": (62, 90, 110),
    "E": (83, 84, 85), "F": (92, 61, 75), "G": (70, 58, 120), "H": (50, 66, 90),
    "I": (30, 55, 65), "J": (8, 60, 80), "K": (15, 33, 100), "L": (38, 38, 70),
    "M": (60, 36, 95), "N": (88, 22, 60), "O": (66, 8, 105), "P": (42, 10, 75),
    "Q": (20, 12, 55), "R": (95, 95, 50),
}  # fmt: skip
EUROS_PER_PALLET_AND_KM = 0.85


def transport_cost(warehouse: str, shop: str) -> float:
    """Return the cost in euros of a week's pallets for a shop from a warehouse."""
    x, y, _, _ = WAREHOUSES[warehouse]
    u, v, pallets = SHOPS[shop]
    return EUROS_PER_PALLET_AND_KM * pallets * hypot(x - u, y - v)


def build() -> pyo.ConcreteModel:
    model = pyo.ConcreteModel("facility location")
    model.WAREHOUSES = pyo.Set(initialize=WAREHOUSES.keys())
    model.SHOPS = pyo.Set(initialize=SHOPS.keys())
    model.rented = pyo.Var(model.WAREHOUSES, domain=pyo.Binary)
    model.serves = pyo.Var(model.WAREHOUSES, model.SHOPS, domain=pyo.Binary)
    model.cost = pyo.Objective(
        expr=sum(WAREHOUSES[w][3] * model.rented[w] for w in model.WAREHOUSES)
        + sum(transport_cost(w, s) * model.serves[w, s] for w, s in model.serves)
    )

    @model.Constraint(model.SHOPS)
    def one_supplier(model, shop):
        return sum(model.serves[w, shop] for w in model.WAREHOUSES) == 1

    @model.Constraint(model.WAREHOUSES)
    def capacity(model, w):
        load = sum(SHOPS[s][2] * model.serves[w, s] for s in model.SHOPS)
        return load <= WAREHOUSES[w][2] * model.rented[w]

    @model.Constraint(model.WAREHOUSES, model.SHOPS)
    def only_from_rented(model, w, shop):
        return model.serves[w, shop] <= model.rented[w]

    return model


def rent_everything(model: pyo.ConcreteModel) -> float:
    """Write today's plan into the variables: all are rented, the nearest with room serves."""
    left = {w: data[2] for w, data in WAREHOUSES.items()}
    model.rented.set_values(dict.fromkeys(WAREHOUSES, 1))
    model.serves.set_values(dict.fromkeys(model.serves, 0))
    for shop, (_, _, pallets) in sorted(SHOPS.items(), key=lambda item: -item[1][2]):
        with_room = [w for w in left if left[w] >= pallets]
        nearest = min(with_room, key=lambda w: transport_cost(w, shop))
        model.serves[nearest, shop] = 1
        left[nearest] -= pallets
    return pyo.value(model.cost)


def main() -> None:
    model = build()
    today = rent_everything(model)
    results = pyo.SolverFactory("gpuheur").solve(model, warmstart=True, timelimit=120)
    pyo.assert_optimal_termination(results)
    best = pyo.value(model.cost)

    print(f"Today's plan costs {today:,.0f} euros a week, the best one {best:,.0f}")
    for w in model.WAREHOUSES:
        if model.rented[w].value > 0.5:
            shops = [s for s in model.SHOPS if model.serves[w, s].value > 0.5]
            load = sum(SHOPS[s][2] for s in shops)
            print(f"  {w:<10} {load:4} of {WAREHOUSES[w][2]} pallets: {' '.join(shops)}")

    assert best <= today
    for w, (_, _, room, _) in WAREHOUSES.items():
        assert sum(SHOPS[s][2] * round(model.serves[w, s].value) for s in SHOPS) <= room
    assert all(sum(round(model.serves[w, s].value) for w in WAREHOUSES) == 1 for s in SHOPS)


if __name__ == "__main__":
    main()
