"""Processor time of small models solved again and again, beside HiGHS by its own interfaces.

    python -m benchmarks.small_models [--solves 400] [--cases "PuLP LP" ...]

Both solve the same models in one process, in blocks that take turns, so that both meet the same
machine and each has its code at hand as in a program that uses one of them. What is counted is the
processor time of all threads for one solve, without building the model; the table has medians. All
objectives have to agree.
"""

from __future__ import annotations

import argparse
import math
import random
import statistics
import time
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import pulp
import pyomo.environ as pyo

import gpu_bridge
from benchmarks.record import Column, print_table, write_record

Solves = Iterator[tuple[float, float]]
"""Gives processor seconds and objective of one solve after the other."""

BLOCK = 20
"""Solves before the other one has its turn."""

WARM_UP = 3
"""Solves that are not counted: they import."""

SIZE = 10
AGREE = 1e-6


def timed(solve: Callable[[], Any]) -> float:
    """Return the processor seconds of a call."""
    began = time.process_time()
    solve()
    return time.process_time() - began


def pulp_facilities(solver: Callable[[], Any], category: str) -> Solves:
    """Solve facility location with other demands each time, the model and the solver anew."""
    generator = random.Random(1)
    sites = range(SIZE)
    while True:
        lp = pulp.LpProblem("facilities", pulp.LpMinimize)
        ship = pulp.LpVariable.dicts("ship", (sites, sites), 0)
        build = [pulp.LpVariable(f"build{i}", 0, 1, category) for i in sites]
        lp += pulp.lpSum(
            ((i * 7 + j * 3) % 11 + 1) * ship[i][j] for i in sites for j in sites
        ) + pulp.lpSum((10 + i) * build[i] for i in sites)
        for i in sites:
            lp += pulp.lpSum(ship[i].values()) <= 15 * build[i]
        for j in sites:
            lp += pulp.lpSum(ship[i][j] for i in sites) >= generator.uniform(1, 9)
        seconds = timed(lambda lp=lp: lp.solve(solver()))  # type: ignore[misc]
        yield seconds, pulp.value(lp.objective)


def pyomo_facilities(solver: Any, domain: Any) -> Solves:
    """Solve one model of facility location with new demands each time, by one solver object."""
    generator = random.Random(1)
    m = pyo.ConcreteModel()
    m.sites = pyo.RangeSet(0, SIZE - 1)
    m.demand = pyo.Param(m.sites, mutable=True, initialize=5.0)
    m.ship = pyo.Var(m.sites, m.sites, domain=pyo.NonNegativeReals)
    m.build = pyo.Var(m.sites, domain=domain)
    m.supply = pyo.Constraint(
        m.sites, rule=lambda m, i: sum(m.ship[i, j] for j in m.sites) <= 15 * m.build[i]
    )
    m.serve = pyo.Constraint(
        m.sites, rule=lambda m, j: sum(m.ship[i, j] for i in m.sites) >= m.demand[j]
    )
    m.cost = pyo.Objective(
        expr=sum(((i * 7 + j * 3) % 11 + 1) * m.ship[i, j] for i in m.sites for j in m.sites)
        + sum((10 + i) * m.build[i] for i in m.sites)
    )
    while True:
        for j in m.demand:
            m.demand[j] = generator.uniform(1, 9)
        yield timed(lambda: solver.solve(m)), pyo.value(m.cost)


def rolling_horizon(solver: Any) -> Solves:
    """Solve a day of a storage with other prices and another level to begin with each time."""
    generator = random.Random(2)
    m = pyo.ConcreteModel()
    m.hours = pyo.RangeSet(0, 23)
    m.price = pyo.Param(m.hours, mutable=True, initialize=1.0)
    m.level = pyo.Param(mutable=True, initialize=50.0)
    m.charge = pyo.Var(m.hours, bounds=(0, 10))
    m.discharge = pyo.Var(m.hours, bounds=(0, 10))
    m.held = pyo.Var(m.hours, bounds=(0, 100))
    m.balance = pyo.Constraint(
        m.hours,
        rule=lambda m, t: (
            m.held[t]
            == (m.held[t - 1] if t else m.level) + 0.9 * m.charge[t] - m.discharge[t] / 0.9
        ),
    )
    m.cost = pyo.Objective(expr=sum(m.price[t] * (m.charge[t] - m.discharge[t]) for t in m.hours))
    day = 0
    while True:
        for t in m.hours:
            m.price[t] = 30 + 20 * math.sin((day + t) / 4) + generator.random()
        m.level = generator.uniform(0, 100)
        yield timed(lambda: solver.solve(m)), pyo.value(m.cost)
        day += 1


def cut_each_time(solver: Any) -> Solves:
    """Add a cut before each solve, as in Benders decomposition; every fifty the model is anew."""
    generator = random.Random(3)
    while True:
        m = pyo.ConcreteModel()
        m.columns = pyo.RangeSet(0, 2 * SIZE - 1)
        m.x = pyo.Var(m.columns, bounds=(0, 10))
        m.total = pyo.Constraint(expr=sum(m.x.values()) >= SIZE)
        m.cost = pyo.Objective(expr=sum((1 + i % 7) * m.x[i] for i in m.columns))
        m.cuts = pyo.ConstraintList()
        solver.set_instance(m)
        for _ in range(50):
            weights = [generator.uniform(0, 1) for _ in m.columns]
            cut = m.cuts.add(sum(w * m.x[i] for i, w in enumerate(weights)) >= SIZE / 2)

            def solve(m: Any = m, cut: Any = cut) -> None:
                _tell(solver, cut)
                solver.solve(m)

            yield timed(solve), pyo.value(m.cost)


def _tell(solver: Any, cut: Any) -> None:
    """Tell a persistent solver of a constraint in the words of its interface."""
    if hasattr(solver, "add_constraints"):
        solver.add_constraints([cut])
    else:
        solver.add_constraint(cut)


def _ours(name: str = "gpuheur") -> Any:
    return pyo.SolverFactory(name)


def _theirs() -> Any:
    return pyo.SolverFactory("appsi_highs")


CASES: dict[str, tuple[Callable[[], Solves], Callable[[], Solves]]] = {
    "PuLP LP": (
        lambda: pulp_facilities(lambda: gpu_bridge.GPUHEUR(msg=False), "Continuous"),
        lambda: pulp_facilities(lambda: pulp.HiGHS(msg=False), "Continuous"),
    ),
    "PuLP MIP": (
        lambda: pulp_facilities(lambda: gpu_bridge.GPUHEUR(msg=False), "Binary"),
        lambda: pulp_facilities(lambda: pulp.HiGHS(msg=False), "Binary"),
    ),
    "Pyomo LP": (
        lambda: pyomo_facilities(_ours(), pyo.UnitInterval),
        lambda: pyomo_facilities(_theirs(), pyo.UnitInterval),
    ),
    "Pyomo MIP": (
        lambda: pyomo_facilities(_ours(), pyo.Binary),
        lambda: pyomo_facilities(_theirs(), pyo.Binary),
    ),
    "rolling horizon": (
        lambda: rolling_horizon(_ours()),
        lambda: rolling_horizon(_theirs()),
    ),
    "a cut each": (
        lambda: cut_each_time(_ours("gpuheur_persistent")),
        lambda: cut_each_time(_theirs()),
    ),
}
"""Ours and HiGHS's own."""


def measure(ours: Solves, theirs: Solves, solves: int) -> tuple[float, float]:
    """Return the median milliseconds of a solve, ours and theirs.

    Raises
    ------
    ValueError
        Their objectives differ.
    """
    for each in (ours, theirs):
        list(islice(each, WARM_UP))
    seconds: tuple[list[float], list[float]] = [], []
    for _ in range(max(1, solves // BLOCK)):
        one, other = list(islice(ours, BLOCK)), list(islice(theirs, BLOCK))
        for a, b in zip(one, other, strict=True):
            if not math.isclose(a[1], b[1], rel_tol=AGREE, abs_tol=AGREE):
                raise ValueError(f"The objectives {a[1]!r} and {b[1]!r} differ.")
        seconds[0].extend(pair[0] for pair in one)
        seconds[1].extend(pair[0] for pair in other)
    return 1e3 * statistics.median(seconds[0]), 1e3 * statistics.median(seconds[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--solves", type=int, default=400, help="of each, in each case")
    parser.add_argument("--cases", nargs="+", choices=list(CASES), default=list(CASES))
    given = parser.parse_args()
    rows = []
    for name in given.cases:
        make_ours, make_theirs = CASES[name]
        ours, theirs = measure(make_ours(), make_theirs(), given.solves)
        rows.append({"case": name, "ours_ms": ours, "highs_ms": theirs, "ours_over": ours / theirs})
    columns = [Column("case"), Column("ours, ms", 3), Column("HiGHS, ms", 3), Column("ratio", 3)]
    title = f"Processor time of a solve, medians of {given.solves}"
    print_table(title, columns, [list(row.values()) for row in rows])
    write_record("small-models", {"solves": given.solves, "rows": rows})


if __name__ == "__main__":
    main()
