"""A rota that cannot work, and the short list of rules that contradict each other.

A model with no solution is the modeller's worst hour: hundreds of constraints, and no hint which
of them clash. Here the answer names a handful, each of which is needed for the contradiction, and
after mending one of them the rota comes out.
"""

from __future__ import annotations

import pyomo.environ as pyo
from pyomo.contrib.solver.common.factory import SolverFactory
from pyomo.contrib.solver.common.results import TerminationCondition

import gpu_bridge  # noqa: F401  makes the solver 'gpuheur' known to Pyomo

NURSES = ["Ana", "Ben", "Cleo", "Dev", "Eli"]
DAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
SHIFTS = ["day", "night"]
NEEDED = {"day": 2, "night": 1}
MOST_SHIFTS = {"Ana": 5, "Ben": 5, "Cleo": 4, "Dev": 5, "Eli": 5}
OFF = [("Ana", "Sat"), ("Ana", "Sun"), ("Ben", "Sun"), ("Dev", "Wed"), ("Eli", "Sun")]


def build() -> pyo.ConcreteModel:
    model = pyo.ConcreteModel("rota")
    model.works = pyo.Var(NURSES, DAYS, SHIFTS, domain=pyo.Binary)
    model.requests = pyo.Objective(expr=sum(model.works[n, "Fri", "night"] for n in NURSES))

    @model.Constraint(DAYS, SHIFTS)
    def staffed(model, day, shift):
        return sum(model.works[n, day, shift] for n in NURSES) >= NEEDED[shift]

    @model.Constraint(NURSES, DAYS)
    def one_shift_a_day(model, nurse, day):
        return sum(model.works[nurse, day, s] for s in SHIFTS) <= 1

    @model.Constraint(NURSES, range(len(DAYS) - 1))
    def rest_after_night(model, nurse, k):
        today, tomorrow = DAYS[k], DAYS[k + 1]
        return model.works[nurse, today, "night"] + model.works[nurse, tomorrow, "day"] <= 1

    @model.Constraint(NURSES)
    def contract(model, nurse):
        shifts = sum(model.works[nurse, d, s] for d in DAYS for s in SHIFTS)
        return shifts <= MOST_SHIFTS[nurse]

    @model.Constraint(OFF)
    def day_off(model, nurse, day):
        return sum(model.works[nurse, day, s] for s in SHIFTS) == 0

    return model


def main() -> None:
    model = build()
    solver = SolverFactory("gpuheur")  # of Pyomo's new solver interface
    results = solver.solve(model, load_solutions=False, raise_exception_on_nonoptimal_result=False)
    assert results.termination_condition is TerminationCondition.provenInfeasible
    conflict = results.extra_info.conflict
    print("There is no such rota:")
    print(conflict)
    assert conflict.minimal
    assert any("day_off[Ana,Sun]" in line for line in conflict.lines)

    print("Eli gives up the free Sunday.")
    model.day_off["Eli", "Sun"].deactivate()
    pyo.assert_optimal_termination(solver.solve(model))
    for nurse in NURSES:
        week = [
            next((s for s in SHIFTS if model.works[nurse, d, s].value > 0.5), "-") for d in DAYS
        ]
        print(f"  {nurse:<5}" + "".join(f"{shift:<7}" for shift in week))
    for day in DAYS:
        for shift in SHIFTS:
            on_duty = sum(round(model.works[n, day, shift].value) for n in NURSES)
            assert on_duty >= NEEDED[shift]


if __name__ == "__main__":
    main()
