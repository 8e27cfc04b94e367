"""A process that solves models with limits, one after the other, and says how long each took.

It reads a task from each line of its input. It writes a line when the file is read and the model
made, and another with the time that the call of the solve took and what came out.
"""

from __future__ import annotations

import functools
import json
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import gpu_bridge as gb
from solvers.core.problem import Problem

HARD_ITEMS = "items:"
"""How the name of a generated knapsack problem begins, before its size and seed."""

Solve = Callable[[], str]


def main() -> None:
    """Solve what is asked for until there is no more."""
    answers, sys.stdout = sys.stdout, sys.stderr  # whatever else is printed is no answer
    for line in sys.stdin:
        task = json.loads(line)
        solve = DOORS[task["door"]](_problem(task["instance"]), task["options"])
        answers.write("made\n")
        answers.flush()
        began = time.perf_counter()
        status = solve()
        seconds = time.perf_counter() - began
        answers.write(json.dumps({"seconds": seconds, "status": status}) + "\n")
        answers.flush()


@functools.lru_cache(maxsize=8)
def _problem(instance: str) -> Problem:
    if not instance.startswith(HARD_ITEMS):
        return gb.read(instance)
    size, seed = (int(word) for word in instance.removeprefix(HARD_ITEMS).split(","))
    rng = np.random.default_rng(seed)
    weight = rng.integers(1, 10**7, size)  # correlated with the profits, which makes it hard
    profit = weight + 10**6
    return Problem.from_arrays(
        profit,
        weight[None, :],
        row_upper=[int(weight.sum()) // 2],
        upper=np.ones(size),
        integrality=np.ones(size, dtype=bool),
        maximize=True,
    )


def by_arrays(problem: Problem, options: dict[str, Any]) -> Solve:
    return lambda: _words(gb.solve(problem, **options))


def by_list(problem: Problem, options: dict[str, Any]) -> Solve:
    return lambda: _words(gb.solve_many([problem, problem], **options)[-1])


def by_pyomo(problem: Problem, options: dict[str, Any]) -> Solve:
    """Make a Pyomo model, and solve it through the new interface."""
    from pyomo.contrib.solver.common.factory import SolverFactory

    from tests.campaign.written import pyomo_model

    model, solver = pyomo_model(problem), SolverFactory("gpuheur")
    more = {name: value for name, value in options.items() if name != "time_limit"}

    def solve() -> str:
        results = solver.solve(
            model,
            time_limit=options["time_limit"],
            solver_options=more,
            load_solutions=False,
            raise_exception_on_nonoptimal_result=False,
        )
        return f"{results.solution_status.name}, {results.termination_condition.name}"

    return solve


def by_pulp(problem: Problem, options: dict[str, Any]) -> Solve:
    """Make a PuLP model, and solve it."""
    from tests.adapters.pulp.writing import model_of

    model, solver = model_of(problem), gb.GPUHEUR(msg=False, **options)

    def solve() -> str:
        model.solve(solver)
        return _words(solver.outcome)

    return solve


def _words(outcome: Any) -> str:
    return f"{outcome.solution_status.name}, {outcome.stop_reason.name}"


DOORS: dict[str, Callable[[Problem, dict[str, Any]], Solve]] = {
    "arrays": by_arrays,
    "list": by_list,
    "pyomo": by_pyomo,
    "pulp": by_pulp,
}

if __name__ == "__main__":
    main()
