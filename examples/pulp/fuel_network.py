"""Send fuel from refineries over depots to stations, and read the prices that the plan implies.

A linear program with flow conservation. ``constraint.pi`` is what one more unit on the right-hand
side costs, ``variable.dj`` how far a route is from being used, ``constraint.slack`` what is left.
"""

from __future__ import annotations

import pulp

import gpu_bridge

REFINERIES = {"Burghausen": (900, 512.0), "Schwechat": (650, 498.0)}  # m3 a day, euros per m3
DEPOTS = {"Linz": 300, "Graz": 520, "Innsbruck": 360}  # m3 a day that fit through
STATIONS = {"Wels": 180, "Steyr": 150, "Leoben": 210, "Maribor": 190, "Hall": 160, "Bregenz": 240}
PIPE = {  # refinery to depot, euros per m3
    ("Burghausen", "Linz"): 7.5, ("Burghausen", "Innsbruck"): 11.0, ("Burghausen", "Graz"): 16.5,
    ("Schwechat", "Linz"): 9.0, ("Schwechat", "Graz"): 10.5, ("Schwechat", "Innsbruck"): 24.0,
}  # fmt: skip
LORRY = {  # depot to station, euros per m3
    ("Linz", "Wels"): 4.0, ("Linz", "Steyr"): 5.5, ("Linz", "Leoben"): 16.0,
    ("Linz", "Hall"): 28.0, ("Linz", "Bregenz"): 44.0,
    ("Graz", "Leoben"): 7.0, ("Graz", "Maribor"): 8.5, ("Graz", "Steyr"): 18.0,
    ("Innsbruck", "Hall"): 3.0, ("Innsbruck", "Bregenz"): 19.5, ("Innsbruck", "Leoben"): 26.0,
}  # fmt: skip


def build() -> tuple[pulp.LpProblem, dict]:
    model = pulp.LpProblem("fuel_network", pulp.LpMinimize)
    pipe = {k: model.add_variable(f"pipe {k[0]}-{k[1]}", lowBound=0) for k in PIPE}
    lorry = {k: model.add_variable(f"lorry {k[0]}-{k[1]}", lowBound=0) for k in LORRY}
    model += (
        (
            pulp.lpSum((REFINERIES[r][1] + cost) * pipe[r, d] for (r, d), cost in PIPE.items())
            + pulp.lpSum(cost * lorry[route] for route, cost in LORRY.items())
        ),
        "cost",
    )
    for r, (capacity, _) in REFINERIES.items():
        model += pulp.lpSum(pipe[k] for k in PIPE if k[0] == r) <= capacity, f"refine_{r}"
    for d, capacity in DEPOTS.items():
        arriving = pulp.lpSum(pipe[k] for k in PIPE if k[1] == d)
        leaving = pulp.lpSum(lorry[k] for k in LORRY if k[0] == d)
        model += leaving - arriving == 0, f"conserve_{d}"
        model += arriving <= capacity, f"depot_{d}"
    for s, demand in STATIONS.items():
        model += pulp.lpSum(lorry[k] for k in LORRY if k[1] == s) == demand, f"supply_{s}"
    return model, lorry


def main() -> None:
    model, lorry = build()
    solver = gpu_bridge.GPUHEUR(msg=False)
    model.solve(solver)
    assert solver.outcome.solution_status is gpu_bridge.SolutionStatus.OPTIMAL

    cost = pulp.value(model.objective)
    print(f"A day's fuel costs {cost:,.0f} euros")
    print("Price of one more m3 at the station, and where it comes from")
    rows = {row.name: row for row in model.constraints()}
    for s in STATIONS:
        depots = [d for d, t in LORRY if t == s and lorry[d, t].varValue > 1e-6]
        print(f"  {s:<9}{rows[f'supply_{s}'].pi:8.2f} euros  {', '.join(depots)}")
    for d in DEPOTS:
        row = rows[f"depot_{d}"]
        state = "full" if abs(row.slack) < 1e-6 else f"{abs(row.slack):.0f} m3 free"
        print(f"  depot {d:<10}{state:>12}, worth {max(0.0, -row.pi):5.2f} euros per m3")
    idle = [(v.dj, k) for k, v in lorry.items() if v.varValue < 1e-6]
    dear, (depot, station) = min(idle)
    print(f"Nearest to being used: {depot} to {station}, {dear:.2f} euros per m3 too dear")

    # Strong duality, from the constraints' own right-hand sides (PuLP keeps minus of them).
    assert abs(sum(-row.constant * row.pi for row in rows.values()) - cost) < 1e-6 * cost
    assert all(v.dj >= -1e-9 and abs(v.dj * v.varValue) < 1e-3 for v in model.variables())


if __name__ == "__main__":
    main()
