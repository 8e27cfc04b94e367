"""Multiple knapsack problems: the exact engine against HiGHS and CP-SAT, one after the other.

    python -m benchmarks.knapsack_multiple [--sizes 50x10,100x10,...] [--classes weakly,...]
                                           [--seeds 3] [--time-limit 20] [--peer-limit 20]
                                           [--stop-after SECONDS]

Problems are drawn as Martello and Toth ("Knapsack Problems", 1990, section 6.6) and Pisinger ("An
exact algorithm for large multiple knapsack problems", 1999, section 4) draw them: weights of 10 to
1000, half of all weight as capacity, shared out similarly or dissimilarly. CP-SAT runs where
OR-tools is installed; it and HiGHS get one thread, which is what the engine uses, and gaps below
one, because profits are whole numbers. Models beyond ``MOST_COLUMNS`` are not given to them. The
time to the best packing stands beside that to its proof.
"""

from __future__ import annotations

import argparse
import importlib.util
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass

import numpy as np
import scipy.sparse as sp

from benchmarks.record import Column, print_table, write_record
from solvers import highs
from solvers.core.device import cpu
from solvers.core.options import EngineOptions
from solvers.core.outcome import SolutionStatus
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.knapsack.multiple.engine import solve_multiple
from solvers.knapsack.multiple.items import MultipleKnapsack

SIZES = "25x2,25x5,50x5,50x10,60x20,100x10,100x30,200x20,1000x10,1000x50,10000x10,10000x50"
"""Items and knapsacks; with two to five items to a knapsack problems are hard."""

CLASSES = ("uncorrelated", "weakly", "strongly", "subset-sum")

WHOLE_GAP = 0.999
"""Absolute gap that proves a whole-number optimum."""

MOST_COLUMNS = 20_000
"""Pairs of items and knapsacks up to which the others are tried."""


Theirs = tuple[int | None, bool, float]
"""What another solver found: the profit, whether it is proven, and the seconds."""

NOBODY: Theirs = (None, False, 0.0)


@dataclass(frozen=True)
class Row:
    """One problem's line in the table; seconds are of the wall clock."""

    kind: str
    shares: str
    items: int
    knapsacks: int
    seed: int
    profit: int
    gap: int
    path: str
    nodes: int
    to_best: float
    seconds: float
    highs_profit: int | None
    highs_proven: bool
    highs_seconds: float
    cpsat_profit: int | None
    cpsat_proven: bool
    cpsat_seconds: float


def drawn(kind: str, items: int, knapsacks: int, seed: int, similar: bool) -> MultipleKnapsack:
    """Draw a problem."""
    rng = np.random.default_rng(seed)
    weight = rng.integers(10, 1001, items)
    profit = {
        "uncorrelated": rng.integers(10, 1001, items),
        "weakly": np.maximum(1, weight + rng.integers(-100, 101, items)),
        "strongly": weight + 100,
        "subset-sum": weight,
    }[kind]
    total = int(weight.sum())
    left = total // 2
    capacity = []
    for _ in range(knapsacks - 1):
        low, high = (2 * total // (5 * knapsacks), 3 * total // (5 * knapsacks))
        share = int(rng.integers(low, high + 1) if similar else rng.integers(0, left + 1))
        capacity.append(min(left, share))
        left -= capacity[-1]
    return MultipleKnapsack(profit, weight, np.array([*capacity, left]))


def as_model(problem: MultipleKnapsack) -> Problem:
    """Return a problem as a model for HiGHS."""
    n, m = problem.num_items, problem.num_knapsacks
    item, knapsack = np.divmod(np.arange(n * m), m)
    values = np.concatenate([np.ones(n * m), problem.weight[item].astype(np.float64)])
    column = np.tile(np.arange(n * m), 2)
    matrix = sp.csr_array((values, (np.concatenate([item, n + knapsack]), column)))
    return Problem.from_arrays(
        problem.profit[item].astype(np.float64),
        matrix,
        row_upper=np.concatenate([np.ones(n), problem.capacity]),
        upper=1.0,
        integrality=np.ones(n * m, dtype=bool),
        maximize=True,
    )


def by_highs(problem: MultipleKnapsack, limit: float) -> tuple[int | None, bool, float]:
    """Return profit, whether it is proven, and seconds."""
    began = time.perf_counter()
    options = EngineOptions(rel_gap=0.0, abs_gap=WHOLE_GAP, threads=1)
    found = highs.solve(as_model(problem), options, Progress(limit))
    profit = round(-found.objective) if found.solution_status.has_point else None
    proven = found.solution_status is SolutionStatus.OPTIMAL
    return profit, proven, time.perf_counter() - began


def by_cpsat(problem: MultipleKnapsack, limit: float) -> tuple[int | None, bool, float]:
    """Return profit, whether it is proven, and seconds."""
    from ortools.sat.python import cp_model

    began = time.perf_counter()
    model = cp_model.CpModel()
    n, m = problem.num_items, problem.num_knapsacks
    x = [[model.new_bool_var("") for _ in range(m)] for _ in range(n)]
    for i in range(n):
        model.add_at_most_one(x[i])
    weight, profit = problem.weight.tolist(), problem.profit.tolist()
    for j in range(m):
        model.add(sum(weight[i] * x[i][j] for i in range(n)) <= int(problem.capacity[j]))
    model.maximize(sum(profit[i] * x[i][j] for i in range(n) for j in range(m)))
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = limit
    solver.parameters.num_workers = 1
    status = solver.solve(model)
    known = status in (cp_model.OPTIMAL, cp_model.FEASIBLE)
    found = round(solver.objective_value) if known else None
    return found, status == cp_model.OPTIMAL, time.perf_counter() - began


def compare(
    kind: str, size: tuple[int, int], seed: int, similar: bool, arguments: argparse.Namespace
) -> Row:
    """Solve a problem by all."""
    problem = drawn(kind, *size, seed, similar)
    reached = [(0.0, 0)]
    began = time.perf_counter()

    def tell(profit: int, bound: int) -> None:
        if profit > reached[-1][1]:
            reached.append((time.perf_counter() - began, profit))

    packing = solve_multiple(problem, Progress(arguments.time_limit), tell=tell)
    seconds = time.perf_counter() - began
    items, knapsacks = size
    limit = arguments.peer_limit if items * knapsacks <= MOST_COLUMNS else 0.0
    with_cpsat = limit > 0 and importlib.util.find_spec("ortools") is not None
    highs = by_highs(problem, limit) if limit > 0 else NOBODY
    cpsat = by_cpsat(problem, limit) if with_cpsat else NOBODY
    return Row(
        kind,
        "similar" if similar else "dissimilar",
        items,
        knapsacks,
        seed,
        packing.profit,
        packing.bound - packing.profit,
        packing.path,
        packing.work,
        reached[-1][0],
        seconds,
        *highs,
        *cpsat,
    )


def cases(arguments: argparse.Namespace) -> Iterator[tuple[str, tuple[int, int], int, bool]]:
    """Give class, size, seed and shares of the problems."""
    for text in arguments.sizes.split(","):
        items, knapsacks = map(int, text.split("x"))
        for kind in arguments.classes.split(","):
            for similar in (True, False):
                for seed in range(1, arguments.seeds + 1):
                    yield kind, (items, knapsacks), seed, similar


def main() -> None:
    """Run the comparison, print its table and write its record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default=SIZES)
    parser.add_argument("--classes", default=",".join(CLASSES))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--time-limit", type=float, default=20.0)
    parser.add_argument("--peer-limit", type=float, default=20.0, help="0 leaves the others out")
    parser.add_argument("--stop-after", type=float, default=np.inf)
    arguments = parser.parse_args()
    began = time.perf_counter()
    found = []
    for case in cases(arguments):
        if time.perf_counter() - began > arguments.stop_after:
            break
        found.append(compare(*case, arguments))
    columns = [Column(name) for name in Row.__dataclass_fields__]
    print_table("multiple knapsacks", columns, [list(asdict(row).values()) for row in found])
    write_record(
        "knapsack-multiple",
        {
            "time_limit": arguments.time_limit,
            "peer_limit": arguments.peer_limit,
            "rows": [asdict(row) for row in found],
        },
        device=cpu(),
    )


if __name__ == "__main__":
    main()
