"""How many walkers are fastest here: measured in the first slices, which are part of the search."""

from __future__ import annotations

from solvers.mip.heuristics.local_search.gpu.fleet import Fleet
from solvers.mip.heuristics.local_search.gpu.plan import Plan
from solvers.mip.portfolio.budget import Budget

TRIAL_SECONDS = 0.02
"""Length that a trial of one number of walkers aims at."""

FIRST_STEPS = 16
"""Steps of the first slice, by which the others are measured."""

MOST_STEPS = 20_000
"""Steps of a slice at most."""

AS_FAST = 0.5
"""Part of the best rate from which fewer walkers, which get further each, are preferred.

Depth counts, too: on an H200 4224 walkers made 1.5 times the steps of 1056 on a model of 20
thousand nonzeros, each of them a third, and improved nothing that a single CPU walker with ten
times the depth had not found.
"""


def steps_for(seconds: float, steps: int, took: float) -> int:
    """Return the steps of a slice of ``seconds``, when ``steps`` took ``took`` seconds."""
    grown = steps * seconds / max(took, 1e-6)
    return int(min(max(1.0, grown), 8.0 * steps, MOST_STEPS))


def choose_walkers(fleet: Fleet, plan: Plan, budget: Budget) -> tuple[int, int]:
    """Try every number of walkers of the plan; return the best one and steps for one slice.

    The rate counts steps of all walkers by second.
    """
    steps = FIRST_STEPS
    rates: list[tuple[int, float, int]] = []
    for number in plan.ladder:
        for _ in range(3 if number == plan.ladder[0] else 1):
            fleet.launch(steps, number)
            took = fleet.seconds()
            steps = steps_for(TRIAL_SECONDS, steps, took)
        fleet.launch(steps, number)
        took = fleet.seconds()
        rates.append((number, number * steps / max(took, 1e-9), steps))
        if budget.spent():
            break
    best = max(rate for _, rate, _ in rates)
    number, _, steps = next(entry for entry in rates if entry[1] >= AS_FAST * best)
    return number, steps
