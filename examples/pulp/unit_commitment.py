"""Switch the boilers of a heating plant, then price the heat of every hour.

Prices are duals, and a model with integer variables has none. The usual way out: solve with the
integers, fix them where they stand, and solve the linear program that is left.
"""

from __future__ import annotations

import pulp

from gpu_bridge import SolutionStatus  # this also makes GPUHEUR known to PuLP

BOILERS = {  # MW at least and at most, euros per MWh, euros per start
    "waste heat": (4, 12, 9.0, 300),
    "wood chips": (6, 20, 24.0, 850),
    "gas east": (2, 15, 43.0, 120),
    "gas west": (2, 15, 44.5, 110),
    "oil": (1, 10, 68.0, 60),
}
DEMAND = [
    23, 22, 21, 21, 24, 31, 42, 51, 49, 44, 40, 38,
    37, 36, 36, 38, 43, 49, 52, 50, 45, 38, 31, 26,
]  # MW in each hour  # fmt: skip
STORE = 25.0  # MWh of hot water that the tank holds; it starts and ends half full
HOURS = range(len(DEMAND))


def build() -> tuple[pulp.LpProblem, dict]:
    model = pulp.LpProblem("heating_plant", pulp.LpMinimize)
    keys = [(b, t) for b in BOILERS for t in HOURS]
    on = model.add_variable_dicts("on", keys, cat=pulp.LpBinary)
    start = model.add_variable_dicts("start", keys, cat=pulp.LpBinary)
    heat = model.add_variable_dicts("heat", keys, lowBound=0)
    tank = model.add_variable_dicts("tank", HOURS, lowBound=0, upBound=STORE)
    model += pulp.lpSum(BOILERS[b][2] * heat[b, t] + BOILERS[b][3] * start[b, t] for b, t in keys)
    for t in HOURS:
        before = tank[t - 1] if t else STORE / 2
        made = pulp.lpSum(heat[b, t] for b in BOILERS)
        model += made + before - tank[t] == DEMAND[t], f"demand_{t}"
    model += tank[HOURS[-1]] >= STORE / 2, "tank_at_the_end"
    for b, (low, high, _, _) in BOILERS.items():
        for t in HOURS:
            model += heat[b, t] >= low * on[b, t], f"low_{b}_{t}"
            model += heat[b, t] <= high * on[b, t], f"high_{b}_{t}"
            was_on = on[b, t - 1] if t else 0
            model += start[b, t] >= on[b, t] - was_on, f"start_{b}_{t}"
    return model, {"on": on, "start": start, "heat": heat}


def main() -> None:
    model, variables = build()
    solver = pulp.getSolver("GPUHEUR", msg=False, timeLimit=60, gapRel=1e-6)
    model.solve(solver)
    assert solver.outcome.solution_status is SolutionStatus.OPTIMAL
    cost = pulp.value(model.objective)

    for switched in (variables["on"], variables["start"]):
        for variable in switched.values():
            variable.varValue = round(variable.varValue)
            variable.fixValue()
    solver = pulp.getSolver("GPUHEUR", msg=False, mip=False)  # what is left is linear
    model.solve(solver)
    assert solver.outcome.solution_status is SolutionStatus.OPTIMAL
    price = {t: model.get_constraint_by_name(f"demand_{t}").pi for t in HOURS}

    print(f"A day's heat costs {cost:,.0f} euros")
    print("hour  MW   price  boilers")
    for t in HOURS:
        running = [b for b in BOILERS if variables["on"][b, t].varValue > 0.5]
        print(f"{t:4}{DEMAND[t]:4}{price[t]:8.2f}  {', '.join(running)}")

    assert abs(pulp.value(model.objective) - cost) < 1e-4 * cost
    # Another MWh never costs more than from the dearest boiler, nor less than from the cheapest.
    dearest = max(data[2] for data in BOILERS.values())
    assert all(-1e-6 <= value <= dearest + 1e-6 for value in price.values())


if __name__ == "__main__":
    main()
