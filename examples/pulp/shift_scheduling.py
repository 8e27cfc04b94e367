"""Staff a call centre: how many people start when, so that every half-hour is answered.

An integer covering model in the manner of Dantzig (1954), with full-time shifts that have a break
and short ones that have none. The log of the solve goes to a file, as a nightly job would do it.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import pulp

from gpu_bridge import SolutionStatus  # this also makes GPUHEUR known to PuLP

CALLS = [
    4, 6, 9, 13, 17, 21, 24, 26, 25, 23, 20, 17, 16, 17,
    19, 22, 24, 25, 23, 20, 17, 14, 11, 9, 7, 6, 5, 4,
]  # people needed in each half-hour from 7:00 on  # fmt: skip
FULL_TIME, SHORT = 16, 8  # half-hours
BREAKS = (7, 8, 9)  # the half-hour of a full-time shift that may be the break
COST = {"full": 8 * 24.0, "short": 4 * 26.5}  # euros
LEAST_FULL_TIME = 0.5  # share of full-time shifts
SLOTS = range(len(CALLS))


def clock(slot: int) -> str:
    """Return the time of day at which a half-hour begins."""
    return f"{7 + slot // 2}:{30 * (slot % 2):02}"


def shifts() -> dict[str, tuple[str, set[int]]]:
    """Return every shift by name: its kind and the half-hours it works."""
    every = {}
    for begin in SLOTS:
        if begin + FULL_TIME <= len(CALLS):
            for rest in BREAKS:
                worked = set(range(begin, begin + FULL_TIME)) - {begin + rest}
                every[f"full {clock(begin)}, break {clock(begin + rest)}"] = ("full", worked)
        if begin + SHORT <= len(CALLS):
            every[f"short {clock(begin)}"] = ("short", set(range(begin, begin + SHORT)))
    return every


def main() -> None:
    every = shifts()
    model = pulp.LpProblem("call_centre", pulp.LpMinimize)
    people = {s: model.add_variable(s, lowBound=0, cat=pulp.LpInteger) for s in every}
    model += pulp.lpSum(COST[kind] * people[s] for s, (kind, _) in every.items())
    for slot in SLOTS:
        answering = pulp.lpSum(people[s] for s, (_, worked) in every.items() if slot in worked)
        model += answering >= CALLS[slot], f"calls_{slot}"
    full = pulp.lpSum(people[s] for s, (kind, _) in every.items() if kind == "full")
    model += full >= LEAST_FULL_TIME * pulp.lpSum(people.values()), "full_time_share"

    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "solve.log"
        solver = pulp.getSolver("GPUHEUR", msg=False, timeLimit=60, logPath=str(log))
        model.solve(solver)
        lines = log.read_text().splitlines()
    assert solver.outcome.solution_status is SolutionStatus.OPTIMAL
    cost = pulp.value(model.objective)

    print(f"A day costs {cost:,.2f} euros (the log of the solve has {len(lines)} lines)")
    for s, variable in people.items():
        if variable.varValue > 0.5:
            print(f"  {round(variable.varValue):3} x {s}")
    used = {s: round(v.varValue) for s, v in people.items()}
    for slot in SLOTS:
        assert sum(n for s, n in used.items() if slot in every[s][1]) >= CALLS[slot]

    # The relaxation may use parts of people and is therefore never dearer.
    model.solve(pulp.getSolver("GPUHEUR", msg=False, mip=False))
    relaxed = pulp.value(model.objective)
    print(f"With parts of people it would be {relaxed:,.2f} euros")
    assert relaxed <= cost + 1e-6
    assert lines


if __name__ == "__main__":
    main()
