"""Cut reinforcing bars from stock lengths of two prices, by column generation.

The duals of the linear program say what a piece is worth; for either stock length the most
valuable new pattern is an integer knapsack, solved as a small model of its own.
"""

from __future__ import annotations

import pulp

from gpu_bridge import SolutionStatus  # this also makes GPUHEUR known to PuLP

STOCK = {12.0: 31.0, 14.0: 37.5}  # length in metres: euros per bar
PIECES = {2.35: 84, 3.10: 60, 3.75: 48, 4.20: 51, 5.05: 36, 5.80: 27, 6.40: 22}  # metres: number
Pattern = tuple[float, dict[float, int]]  # stock length and how many of each piece


def master(patterns: list[Pattern], cat: str) -> tuple[pulp.LpProblem, list[pulp.LpVariable]]:
    """Return the model that decides how often each pattern is cut."""
    model = pulp.LpProblem("bars", pulp.LpMinimize)
    times = [model.add_variable(f"pattern_{k}", 0, cat=cat) for k in range(len(patterns))]
    model += pulp.lpSum(STOCK[bar] * n for n, (bar, _) in zip(times, patterns, strict=True))
    for piece, wanted in PIECES.items():
        cut = (p.get(piece, 0) * n for n, (_, p) in zip(times, patterns, strict=True))
        model += pulp.lpSum(cut) >= wanted, f"piece_{piece}"
    return model, times


def best_pattern(bar: float, worth: dict[float, float], solver: pulp.LpSolver) -> Pattern:
    """Return the pattern of the highest total worth that fits on a bar."""
    model = pulp.LpProblem("pattern", pulp.LpMaximize)
    count = {p: model.add_variable(f"n_{p}", 0, int(bar // p), pulp.LpInteger) for p in PIECES}
    model += pulp.lpSum(worth[p] * count[p] for p in PIECES)
    model += pulp.lpSum(p * count[p] for p in PIECES) <= bar
    model.solve(solver)
    assert solver.outcome.solution_status is SolutionStatus.OPTIMAL
    return bar, {p: round(n.varValue) for p, n in count.items() if n.varValue > 0.5}


def main() -> None:
    solver = pulp.getSolver("GPUHEUR", msg=False, gapRel=0.0)
    patterns: list[Pattern] = [(12.0, {piece: int(12.0 // piece)}) for piece in PIECES]
    while True:
        model, times = master(patterns, pulp.LpContinuous)
        model.solve(solver)
        assert solver.outcome.solution_status is SolutionStatus.OPTIMAL
        worth = {p: model.get_constraint_by_name(f"piece_{p}").pi for p in PIECES}
        found = [best_pattern(bar, worth, solver) for bar in STOCK]
        paying = [
            (bar, cut)
            for bar, cut in found
            if sum(worth[piece] * n for piece, n in cut.items()) > STOCK[bar] + 1e-6
        ]
        if not paying:
            break
        patterns += paying
    least = pulp.value(model.objective)

    model, times = master(patterns, pulp.LpInteger)
    model.solve(solver)
    assert solver.outcome.solution_status is SolutionStatus.OPTIMAL
    cost = pulp.value(model.objective)
    print(f"Bars for {cost:,.2f} euros; no plan at all can cost less than {least:,.2f}")
    for n, (bar, cut) in zip(times, patterns, strict=True):
        if n.varValue > 0.5:
            text = " + ".join(f"{k} x {piece:.2f}" for piece, k in cut.items())
            left = bar - sum(piece * k for piece, k in cut.items())
            print(f"  {round(n.varValue):3} bars of {bar:.0f} m: {text:<32}({left:.2f} m left)")

    assert least - 1e-6 <= cost <= least + max(STOCK.values())
    for piece, wanted in PIECES.items():
        made = sum(c.get(piece, 0) * n.varValue for n, (_, c) in zip(times, patterns, strict=True))
        assert made >= wanted - 1e-6


if __name__ == "__main__":
    main()
