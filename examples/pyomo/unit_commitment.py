"""Decide which power stations run in each hour of a day, with start-up costs and minimum times.

A mixed-integer program in three-binary form (on, started, stopped). Large ones are not solved to
the last euro, so this shows how to ask for a gap and a time limit, and how to read what came back
from the results object of Pyomo's own (second) solver interface.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyomo.environ as pyo
from pyomo.contrib.solver.common.factory import SolverFactory
from pyomo.contrib.solver.common.results import SolutionStatus

import gpu_bridge  # noqa: F401  makes the solver 'gpuheur' known to Pyomo


@dataclass(frozen=True)
class Station:
    """Output limits in MW, costs in euros, minimum times in hours."""

    low: float
    high: float
    cost_per_mwh: float
    cost_per_hour: float
    cost_of_start: float
    minimum_up: int
    minimum_down: int


STATIONS = {
    "lignite": Station(150, 420, 21.0, 900.0, 9500.0, 8, 8),
    "coal A": Station(100, 300, 27.5, 700.0, 5200.0, 5, 4),
    "coal B": Station(100, 300, 29.0, 650.0, 4800.0, 5, 4),
    "gas A": Station(60, 220, 41.0, 420.0, 1600.0, 3, 2),
    "gas B": Station(50, 180, 44.5, 350.0, 1200.0, 2, 2),
    "turbine": Station(10, 90, 71.0, 120.0, 250.0, 1, 1),
}
LOAD = [
    640, 600, 570, 560, 580, 650, 790, 930, 1010, 1050, 1060, 1070,
    1040, 1010, 980, 970, 1010, 1120, 1210, 1180, 1060, 930, 800, 700,
]  # MW  # fmt: skip
RESERVE = 0.08  # of the load, to be held ready by the stations that run


def build() -> pyo.ConcreteModel:
    model = pyo.ConcreteModel("unit commitment")
    model.UNITS = pyo.Set(initialize=STATIONS.keys())
    model.HOURS = pyo.RangeSet(0, len(LOAD) - 1)
    model.on = pyo.Var(model.UNITS, model.HOURS, domain=pyo.Binary)
    model.started = pyo.Var(model.UNITS, model.HOURS, domain=pyo.Binary)
    model.stopped = pyo.Var(model.UNITS, model.HOURS, domain=pyo.Binary)
    model.output = pyo.Var(model.UNITS, model.HOURS, domain=pyo.NonNegativeReals)
    model.cost = pyo.Objective(
        expr=sum(
            STATIONS[u].cost_per_mwh * model.output[u, t]
            + STATIONS[u].cost_per_hour * model.on[u, t]
            + STATIONS[u].cost_of_start * model.started[u, t]
            for u in model.UNITS
            for t in model.HOURS
        )
    )

    @model.Constraint(model.HOURS)
    def balance(model, t):
        return sum(model.output[u, t] for u in model.UNITS) == LOAD[t]

    @model.Constraint(model.HOURS)
    def reserve(model, t):
        ready = sum(STATIONS[u].high * model.on[u, t] for u in model.UNITS)
        return ready >= (1 + RESERVE) * LOAD[t]

    @model.Constraint(model.UNITS, model.HOURS)
    def at_least(model, u, t):
        return model.output[u, t] >= STATIONS[u].low * model.on[u, t]

    @model.Constraint(model.UNITS, model.HOURS)
    def at_most(model, u, t):
        return model.output[u, t] <= STATIONS[u].high * model.on[u, t]

    @model.Constraint(model.UNITS, model.HOURS)
    def switch(model, u, t):  # the day repeats, so hour 0 follows hour 23
        before = model.on[u, (t - 1) % len(LOAD)]
        return model.on[u, t] - before == model.started[u, t] - model.stopped[u, t]

    @model.Constraint(model.UNITS, model.HOURS)
    def stay_up(model, u, t):
        recent = [(t - k) % len(LOAD) for k in range(STATIONS[u].minimum_up)]
        return sum(model.started[u, k] for k in recent) <= model.on[u, t]

    @model.Constraint(model.UNITS, model.HOURS)
    def stay_down(model, u, t):
        recent = [(t - k) % len(LOAD) for k in range(STATIONS[u].minimum_down)]
        return sum(model.stopped[u, k] for k in recent) <= 1 - model.on[u, t]

    return model


def main() -> None:
    model = build()
    results = SolverFactory("gpuheur").solve(model, time_limit=30, rel_gap=1e-3)

    found, bound = results.incumbent_objective, results.objective_bound
    print(f"Schedule of cost {found:,.0f} euros; none can cost less than {bound:,.0f}")
    print(f"({results.solution_status.name}, {results.termination_condition.name})")
    for u in model.UNITS:
        line = "".join("#" if model.on[u, t].value > 0.5 else "." for t in model.HOURS)
        print(f"  {u:<8} {line}")
    print(f"  {'hour':<8} 0     6     12    18")

    assert results.solution_status in (SolutionStatus.optimal, SolutionStatus.feasible)
    if results.solution_status is SolutionStatus.optimal:
        assert found - bound <= 1e-3 * found + 1e-6
    for t in model.HOURS:
        running = [STATIONS[u] for u in model.UNITS if model.on[u, t].value > 0.5]
        assert sum(s.low for s in running) <= LOAD[t] <= sum(s.high for s in running)
        assert abs(sum(model.output[u, t].value for u in model.UNITS) - LOAD[t]) < 1e-3


if __name__ == "__main__":
    main()
