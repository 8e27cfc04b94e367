"""Load a relief flight: the most useful cargo within weight, volume and the goods at hand.

A bounded knapsack, maximised. With the weight limit alone it is the textbook problem, which
dynamic programming solves too; the volume limit makes it two-dimensional.
"""

from __future__ import annotations

import pulp

import gpu_bridge

GOODS = {  # kg, litres, worth, boxes at hand
    "water filters": (34, 90, 170, 25),
    "tents": (58, 210, 230, 30),
    "blankets": (21, 160, 85, 80),
    "rice": (50, 70, 120, 60),
    "medicine": (12, 40, 190, 14),
    "surgical kits": (27, 75, 260, 9),
    "generators": (95, 180, 300, 8),
    "radios": (8, 15, 60, 12),
    "tarpaulins": (18, 50, 75, 50),
    "cooking sets": (15, 65, 62, 70),
}
WEIGHT = 2600  # kg
VOLUME = 6800  # litres


def build(volume: float | None) -> tuple[pulp.LpProblem, dict[str, pulp.LpVariable]]:
    model = pulp.LpProblem("relief_flight", pulp.LpMaximize)
    boxes = {g: model.add_variable(g, 0, data[3], pulp.LpInteger) for g, data in GOODS.items()}
    model += pulp.lpSum(GOODS[g][2] * boxes[g] for g in GOODS), "worth"
    model += pulp.lpSum(GOODS[g][0] * boxes[g] for g in GOODS) <= WEIGHT, "weight"
    if volume is not None:
        model += pulp.lpSum(GOODS[g][1] * boxes[g] for g in GOODS) <= volume, "volume"
    return model, boxes


def best_by_weight() -> int:
    """Return the best worth under the weight limit alone, by dynamic programming."""
    best = [0] * (WEIGHT + 1)
    for weight, _, worth, at_hand in GOODS.values():
        for _ in range(at_hand):
            for room in range(WEIGHT, weight - 1, -1):
                best[room] = max(best[room], best[room - weight] + worth)
    return best[WEIGHT]


def main() -> None:
    solver = gpu_bridge.GPUHEUR(msg=False, gapRel=0.0)

    model, _ = build(volume=None)
    model.solve(solver)
    assert solver.outcome.solution_status is gpu_bridge.SolutionStatus.OPTIMAL
    by_weight = round(pulp.value(model.objective))
    print(f"By weight alone the cargo could be worth {by_weight}")
    assert by_weight == best_by_weight()

    model, boxes = build(VOLUME)
    model.solve(solver)
    assert solver.outcome.solution_status is gpu_bridge.SolutionStatus.OPTIMAL
    worth = round(pulp.value(model.objective))
    print(f"Within the volume it is worth {worth}")
    for g, variable in boxes.items():
        if variable.varValue > 0.5:
            print(f"  {round(variable.varValue):3} boxes of {g}")
    for k, (limit, unit) in enumerate([(WEIGHT, "kg"), (VOLUME, "litres")]):
        used = sum(GOODS[g][k] * round(v.varValue) for g, v in boxes.items())
        print(f"  {used} of {limit} {unit}")
        assert used <= limit
    assert worth <= by_weight


if __name__ == "__main__":
    main()
