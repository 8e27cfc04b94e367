"""Cut paper rolls with as little waste as possible, by column generation.

A roll of 5600 mm is cut by patterns, and there are far too many patterns to list. Gilmore and
Gomory (1961) start from a few and let the duals of the linear program price new ones: the best
pattern still missing is a knapsack problem whose profits are those duals. When no pattern is
worth adding, the same model with whole rolls gives the plan.
"""

from __future__ import annotations

from math import ceil

import pyomo.environ as pyo

import gpu_bridge  # noqa: F401  makes the solver 'gpuheur' known to Pyomo

ROLL = 5600  # mm
ORDERS = {  # width in mm: number of pieces
    1380: 22, 1520: 25, 1560: 12, 1710: 14, 1820: 18, 1880: 18, 1930: 20,
    2000: 10, 2050: 12, 2100: 14, 2140: 16, 2150: 18, 2200: 20,
}  # fmt: skip


def rolls_model(patterns: list[dict[int, int]]) -> pyo.ConcreteModel:
    """Return the linear model that decides how often each pattern is cut."""
    model = pyo.ConcreteModel("rolls")
    model.PATTERNS = pyo.RangeSet(0, len(patterns) - 1)
    model.WIDTHS = pyo.Set(initialize=ORDERS.keys())
    model.rolls = pyo.Var(model.PATTERNS, domain=pyo.NonNegativeReals)
    model.used = pyo.Objective(expr=pyo.quicksum(model.rolls.values()))

    @model.Constraint(model.WIDTHS)
    def enough(model, width):
        cut = sum(patterns[p].get(width, 0) * model.rolls[p] for p in model.PATTERNS)
        return cut >= ORDERS[width]

    model.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    return model


def pattern_model() -> pyo.ConcreteModel:
    """Return the knapsack for one pattern, with the worth of each width as a parameter."""
    model = pyo.ConcreteModel("pattern")
    model.WIDTHS = pyo.Set(initialize=ORDERS.keys())
    model.worth = pyo.Param(model.WIDTHS, mutable=True, initialize=0.0)
    model.pieces = pyo.Var(model.WIDTHS, domain=pyo.NonNegativeIntegers)
    model.fits = pyo.Constraint(expr=sum(w * model.pieces[w] for w in model.WIDTHS) <= ROLL)
    model.total = pyo.Objective(
        expr=sum(model.worth[w] * model.pieces[w] for w in model.WIDTHS), sense=pyo.maximize
    )
    return model


def main() -> None:
    solver = pyo.SolverFactory("gpuheur")
    patterns = [{width: ROLL // width} for width in ORDERS]
    pricing = pattern_model()
    while True:
        rolls = rolls_model(patterns)
        pyo.assert_optimal_termination(solver.solve(rolls))
        for width in ORDERS:
            pricing.worth[width] = rolls.dual[rolls.enough[width]]
        pyo.assert_optimal_termination(solver.solve(pricing, options={"rel_gap": 0.0}))
        if pyo.value(pricing.total) <= 1 + 1e-6:  # a pattern costs one roll
            break
        patterns.append({w: round(pricing.pieces[w].value) for w in ORDERS})
    least = pyo.value(rolls.used)
    print(f"No plan can need fewer than {least:.2f} rolls ({len(patterns)} patterns looked at)")

    rolls.rolls.domain = pyo.NonNegativeIntegers
    rolls.del_component(rolls.dual)  # a model with integers has no duals
    pyo.assert_optimal_termination(solver.solve(rolls))
    needed = round(pyo.value(rolls.used))
    print(f"Plan with {needed} whole rolls")
    for p in rolls.PATTERNS:
        times = round(rolls.rolls[p].value)
        if times:
            cut = " + ".join(f"{n} x {w}" for w, n in patterns[p].items() if n)
            waste = ROLL - sum(w * n for w, n in patterns[p].items())
            print(f"  {times:3} times {cut:<24} ({waste} mm left)")

    assert ceil(least - 1e-6) <= needed <= ceil(least - 1e-6) + 1
    for width, pieces in ORDERS.items():
        cut = sum(patterns[p].get(width, 0) * round(rolls.rolls[p].value) for p in rolls.PATTERNS)
        assert cut >= pieces


if __name__ == "__main__":
    main()
