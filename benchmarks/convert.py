"""CPU time between a built Pyomo model and a solver, per nonzero, for several shapes of rows.

    python -m benchmarks.convert [--nonzeros 1000000] [--repeat 3]

``convert`` is our conversion up to a validated problem, ``compiler`` Pyomo's own
``LinearStandardFormCompiler``, ``load`` setting the values of all variables. The process's CPU
time is counted, so that other programs on the machine do not show; the best of the repetitions
is given, since everything that disturbs a deterministic pass only adds to it.
"""

from __future__ import annotations

import argparse
import gc
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pyomo.environ as pyo
from pyomo.repn.plugins.standard_form import LinearStandardFormCompiler

from benchmarks.record import Column, print_table, write_record
from gpu_bridge.adapters.pyomo.convert import convert
from gpu_bridge.adapters.pyomo.loader import GpuHeurSolutionLoader
from gpu_bridge.outcome import Outcome, SolutionStatus, StopReason

Rule = Callable[[Any, int], Any]


def ring(rule: Rule, rows: int) -> Any:
    """Return a model with one row per variable, made by ``rule`` from neighbours on a ring."""
    m = pyo.ConcreteModel()
    m.I = pyo.RangeSet(0, rows - 1)
    m.x = pyo.Var(m.I, bounds=(0, 9))
    m.p = pyo.Param(m.I, initialize=lambda _, i: 1.0 + i % 7, mutable=True)
    m.e = pyo.Expression(m.I, rule=lambda m, i: m.x[i] + 2 * m.x[(i + 1) % rows])
    m.cost = pyo.Objective(expr=pyo.quicksum(m.x[i] for i in m.I))
    m.c = pyo.Constraint(m.I, rule=rule)
    return m


def transport(nonzeros: int) -> Any:
    """Return long sums over sources and sinks, and short rows that link neighbours."""
    side = max(2, round((nonzeros / 5) ** 0.5))
    m = pyo.ConcreteModel()
    m.I = pyo.RangeSet(0, side - 1)
    m.x = pyo.Var(m.I, m.I, bounds=(0, 10))
    m.cost = pyo.Objective(expr=pyo.quicksum((1 + i % 3) * m.x[i, j] for i in m.I for j in m.I))
    m.supply = pyo.Constraint(m.I, rule=lambda m, i: pyo.quicksum(m.x[i, j] for j in m.I) <= 100)
    m.demand = pyo.Constraint(m.I, rule=lambda m, j: pyo.quicksum(m.x[i, j] for i in m.I) <= 80)
    m.link = pyo.Constraint(
        pyo.RangeSet(0, side - 2),
        pyo.RangeSet(0, side - 2),
        rule=lambda m, i, j: 0.7 * m.x[i, j] + 1.2 * m.x[i, j + 1] - 0.9 * m.x[i + 1, j] <= 15,
    )
    return m


def shapes(nonzeros: int) -> dict[str, Callable[[], Any]]:
    """Return makers of the models by the shape of their rows."""
    n = nonzeros // 2

    def step(i: int) -> int:
        return (i + 1) % n

    def both(m: Any, i: int) -> Any:
        return m.x[i] <= 9 * m.x[step(i)]

    def ranged(m: Any, i: int) -> Any:
        return 1, m.x[i] + 2 * m.x[step(i)] + 1, 5

    def mutable(m: Any, i: int) -> Any:
        return m.p[i] * m.x[i] + 3 * m.x[step(i)] <= m.p[i]

    return {
        "transport": lambda: transport(nonzeros),
        "variables on both sides": lambda: ring(both, n),
        "ranged with constants": lambda: ring(ranged, n),
        "mutable parameters": lambda: ring(mutable, n),
        "nested expressions": lambda: ring(lambda m, i: 3 * (m.e[i] + m.x[i]) <= 4, n),
    }


def best(action: Callable[[], Any], repeat: int) -> tuple[float, Any]:
    """Return the least CPU time of an action in seconds, and its result."""
    least, result = np.inf, None
    for _ in range(repeat):
        result = None
        gc.collect()
        began = time.process_time()
        result = action()
        least = min(least, time.process_time() - began)
    return least, result


def measure(model: Any, repeat: int) -> dict[str, float]:
    """Return microseconds of CPU time per nonzero for each step."""
    converting, converted = best(lambda: convert(model), repeat)
    problem = converted.problem
    outcome = Outcome(
        SolutionStatus.FEASIBLE, StopReason.EXHAUSTED, x=np.zeros(problem.num_columns)
    )
    loader = GpuHeurSolutionLoader(model, converted, outcome)
    loading, _ = best(loader.load_vars, repeat)
    compiler = LinearStandardFormCompiler()
    compiling, _ = best(lambda: compiler.write(model, mixed_form=True, set_sense=None), repeat)
    scale = 1e6 / problem.num_nonzeros
    return {
        "nonzeros": problem.num_nonzeros,
        "convert": converting * scale,
        "compiler": compiling * scale,
        "load": loading * scale,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--nonzeros", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    found = {
        name: measure(make(), arguments.repeat) for name, make in shapes(arguments.nonzeros).items()
    }
    columns = [Column("rows"), Column("nonzeros"), Column("convert"), Column("compiler")]
    columns.append(Column("load", 2))
    rows = [[name, *figures.values()] for name, figures in found.items()]
    print_table("CPU microseconds per nonzero", columns, rows)
    write_record("convert", {"microseconds_per_nonzero": found, **vars(arguments)})


if __name__ == "__main__":
    main()
