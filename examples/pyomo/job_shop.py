"""Plan six jobs on six machines so that the last one is done as early as possible.

The job shop "ft06" of Fisher and Thompson (1963), whose shortest plan takes 55 hours. Each pair
of jobs on one machine needs a decision about who goes first, written with a large constant. With
``tee=True`` the log of the solve appears while it runs.
"""

from __future__ import annotations

from itertools import combinations, pairwise

import pyomo.environ as pyo

import gpu_bridge  # noqa: F401  makes the solver 'gpuheur' known to Pyomo

JOBS = [  # for each job its steps in order: (machine, hours)
    [(2, 1), (0, 3), (1, 6), (3, 7), (5, 3), (4, 6)],
    [(1, 8), (2, 5), (4, 10), (5, 10), (0, 10), (3, 4)],
    [(2, 5), (3, 4), (5, 8), (0, 9), (1, 1), (4, 7)],
    [(1, 5), (0, 5), (2, 5), (3, 3), (4, 8), (5, 9)],
    [(2, 9), (1, 3), (4, 5), (5, 4), (0, 3), (3, 1)],
    [(1, 3), (3, 3), (5, 9), (0, 10), (4, 4), (2, 1)],
]
SHORTEST = 55
MACHINES = range(6)
HOURS = {(job, machine): hours for job, steps in enumerate(JOBS) for machine, hours in steps}


def build(latest: int) -> pyo.ConcreteModel:
    """Return the model; ``latest`` is a time by which everything can be done."""
    model = pyo.ConcreteModel("job shop")
    model.JOBS = pyo.RangeSet(0, len(JOBS) - 1)
    model.MACHINES = pyo.Set(initialize=MACHINES)
    model.start = pyo.Var(model.JOBS, model.MACHINES, bounds=(0, latest))
    model.done = pyo.Var(bounds=(0, latest))
    model.PAIRS = pyo.Set(initialize=list(combinations(range(len(JOBS)), 2)))
    model.first = pyo.Var(model.PAIRS, model.MACHINES, domain=pyo.Binary)
    model.length = pyo.Objective(expr=model.done)

    model.in_order = pyo.ConstraintList()
    for job, steps in enumerate(JOBS):
        for (machine, hours), (following, _) in pairwise(steps):
            model.in_order.add(model.start[job, following] >= model.start[job, machine] + hours)
        machine, hours = steps[-1]
        model.in_order.add(model.done >= model.start[job, machine] + hours)

    @model.Constraint(model.PAIRS, model.MACHINES)
    def this_before_that(model, i, j, k):
        waits = latest * (1 - model.first[i, j, k])
        return model.start[j, k] >= model.start[i, k] + HOURS[i, k] - waits

    @model.Constraint(model.PAIRS, model.MACHINES)
    def that_before_this(model, i, j, k):
        waits = latest * model.first[i, j, k]
        return model.start[i, k] >= model.start[j, k] + HOURS[j, k] - waits

    return model


def main() -> None:
    model = build(latest=80)
    results = pyo.SolverFactory("gpuheur").solve(model, tee=True, timelimit=120)
    pyo.assert_optimal_termination(results)
    length = round(pyo.value(model.done))

    print(f"All jobs are done after {length} hours")
    for k in MACHINES:
        line = ["."] * length
        for j in model.JOBS:
            begin = round(model.start[j, k].value)
            assert set(line[begin : begin + HOURS[j, k]]) == {"."}, "two jobs on one machine"
            line[begin : begin + HOURS[j, k]] = str(j + 1) * HOURS[j, k]
        print(f"  machine {k + 1}  {''.join(line)}")

    assert length == SHORTEST
    for j, steps in enumerate(JOBS):
        for (machine, hours), (following, _) in pairwise(steps):
            ready = model.start[j, machine].value + hours
            assert model.start[j, following].value >= ready - 1e-4


if __name__ == "__main__":
    main()
