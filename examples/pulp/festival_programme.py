"""Fill the evenings of a film festival, watch plans get better, and choose among the best.

Films of different lengths go to five evenings, on some of which they draw more people (a
generalised assignment problem). The director follows the search and ends it when a plan is good
enough. Then several of the best plans lie on the table, to be judged by what no model knows: here,
how even the evenings are.
"""

from __future__ import annotations

import random
from math import isfinite

import pulp

import gpu_bridge
from gpu_bridge.report.improvement import Improvement

EVENINGS = ["Wed", "Thu", "Fri", "Sat", "Sun"]
MINUTES = 330
GOOD_ENOUGH = 0.02  # of the best that is still possible

chance = random.Random(11)
FILMS = {f"film_{k:02d}": chance.randint(70, 165) for k in range(22)}  # minutes
GUESTS = {(f, e): chance.randint(80, 400) for f in FILMS for e in EVENINGS}


def build() -> tuple[pulp.LpProblem, dict]:
    model = pulp.LpProblem("festival", pulp.LpMaximize)
    shown = {
        (f, e): model.add_variable(f"{f}_on_{e}", cat=pulp.LpBinary)
        for f in FILMS
        for e in EVENINGS
    }
    model += pulp.lpSum(GUESTS[key] * shown[key] for key in shown), "guests"
    for f in FILMS:
        model += pulp.lpSum(shown[f, e] for e in EVENINGS) <= 1, f"once_{f}"
    for e in EVENINGS:
        model += pulp.lpSum(FILMS[f] * shown[f, e] for f in FILMS) <= MINUTES, f"time_{e}"
    return model, shown


def guests_by_evening(values: dict, shown: dict) -> list[int]:
    """Return the guests of each evening under a plan, after a look at its rules."""
    plan = [key for key in shown if values[shown[key]] > 0.5]
    assert len({f for f, _ in plan}) == len(plan)
    for e in EVENINGS:
        assert sum(FILMS[f] for f, evening in plan if evening == e) <= MINUTES
    return [sum(GUESTS[key] for key in plan if key[1] == e) for e in EVENINGS]


def main() -> None:
    model, shown = build()

    def follow(better: Improvement) -> bool:
        films = sum(better.values[variable] > 0.5 for variable in shown.values())
        possible = f"at most {better.bound:.0f} are possible" if isfinite(better.bound) else ""
        print(f"  {better.objective:6.0f} guests with {films:2} films {possible}".rstrip())
        return better.gap <= GOOD_ENOUGH

    print("While the search runs:")
    solver = gpu_bridge.GPUHEUR(msg=False, timeLimit=30, on_solution=follow, pool_size=6)
    model.solve(solver)
    outcome = solver.outcome
    assert outcome.gap <= GOOD_ENOUGH or outcome.seconds >= 30
    assert pulp.value(model.objective) == sum(guests_by_evening(solver.pool[0].values, shown))

    print("On the table:")
    spread = {}
    for number, plan in enumerate(solver.pool):
        evenings = guests_by_evening(plan.values, shown)
        assert plan.objective == sum(evenings)
        spread[number] = max(evenings) - min(evenings)
        print(f"  {plan.objective:6.0f} guests, evenings {evenings}, found by {plan.source}")
    objectives = [plan.objective for plan in solver.pool]
    assert objectives == sorted(objectives, reverse=True)

    good = [k for k in spread if objectives[k] >= 0.9 * objectives[0]]
    chosen = min(good, key=spread.__getitem__)
    solver.load_solution(model, chosen)
    assert pulp.value(model.objective) == objectives[chosen]
    print("The most even plan among the good ones is in the model now.")


if __name__ == "__main__":
    main()
