"""Place ambulances so that as many people as possible are reached within eight minutes.

Maximal covering (Church and ReVelle, 1974): a maximisation, started from today's bases, and then
solved for every number of ambulances to draw the curve a council wants to see.
"""

from __future__ import annotations

from itertools import combinations
from math import hypot

import pulp

from gpu_bridge import SolutionStatus  # this also makes GPUHEUR known to PuLP

DISTRICTS = {  # place on the map in km, people
    "Altstadt": (5.0, 5.2, 9200), "Bahnhof": (6.1, 4.4, 7800), "Hafen": (9.4, 5.0, 3100),
    "Weinberg": (2.2, 8.1, 4100), "Nordheim": (5.3, 9.6, 6600), "Kolonie": (8.0, 8.3, 5200),
    "Messe": (10.9, 8.9, 2400), "Auwald": (12.4, 5.8, 1900), "Muehltal": (1.1, 4.9, 3800),
    "Seedorf": (0.6, 1.2, 2700), "Suedtor": (4.6, 1.3, 7100), "Industrie": (8.2, 1.1, 2900),
    "Flugfeld": (11.8, 1.9, 3300), "Hochstein": (0.7, 11.2, 1500), "Birken": (9.9, 11.7, 2800),
}  # fmt: skip
REACH = 3.2  # km in eight minutes
TODAY = ["Altstadt", "Bahnhof", "Nordheim"]


def covers(base: str) -> set[str]:
    """Return the districts that an ambulance at ``base`` reaches in time."""
    x, y, _ = DISTRICTS[base]
    return {d for d, (u, v, _) in DISTRICTS.items() if hypot(x - u, y - v) <= REACH}


def people(districts: set[str]) -> int:
    """Return how many people live in the districts."""
    return sum(DISTRICTS[d][2] for d in districts)


def build() -> tuple[pulp.LpProblem, dict, dict]:
    model = pulp.LpProblem("ambulances", pulp.LpMaximize)
    base = model.add_variable_dicts("base", DISTRICTS, cat=pulp.LpBinary)
    reached = model.add_variable_dicts("reached", DISTRICTS, cat=pulp.LpBinary)
    model += pulp.lpSum(DISTRICTS[d][2] * reached[d] for d in DISTRICTS), "people_reached"
    for d in DISTRICTS:
        near = [b for b in DISTRICTS if d in covers(b)]
        model += reached[d] <= pulp.lpSum(base[b] for b in near), f"reach_{d}"
    model += pulp.lpSum(base.values()) <= len(TODAY), "ambulances"
    return model, base, reached


def main() -> None:
    model, base, reached = build()
    covered_today = set().union(*(covers(b) for b in TODAY))
    for d in DISTRICTS:
        base[d].setInitialValue(int(d in TODAY))
        reached[d].setInitialValue(int(d in covered_today))
    solver = pulp.getSolver("GPUHEUR", msg=False, warmStart=True, gapRel=0.0)

    total = people(set(DISTRICTS))
    print(f"Today {people(covered_today):,} of {total:,} people are reached from {TODAY}")
    for number in range(1, 7):
        model.get_constraint_by_name("ambulances").changeRHS(number)
        model.solve(solver)
        assert solver.outcome.solution_status is SolutionStatus.OPTIMAL
        bases = [d for d in DISTRICTS if base[d].varValue > 0.5]
        found = round(pulp.value(model.objective))
        print(f"  {number} ambulances: {found:6,} people ({found / total:4.0%}) {', '.join(bases)}")
        assert found == people(set().union(*(covers(b) for b in bases)))
        if number <= 3:  # few enough to try them all
            best = max(
                people(set().union(*(covers(b) for b in some)))
                for some in combinations(DISTRICTS, number)
            )
            assert found == best


if __name__ == "__main__":
    main()
