"""Thousands of small knapsack problems in one call, against OR-tools over all cores.

    python -m benchmarks.knapsack_many [--count 100000] [--items 50] [--range 1000]
                                       [--classes uncorrelated weakly strongly] [--cpu-count 20000]
                                       [--sample 500] [--stop-after 600]

``solve_many_knapsacks`` is timed from NumPy arrays to packings that were added up again, with
transfers, on the GPU where there is one and on the CPU (whose twin gives the same bits) for the
first of the problems; the median of three, after a warm-up. ``solve_many`` solves the same as a
batch of models, to arrays of points and objectives, and ``solve_knapsack`` a sample of them one by
one on one core. OR-tools takes a sample in each of as many processes as there are cores, all at
once, lists and ``init`` included, by its 64-item branch and bound or its general one, whichever is
faster for the class; its time for all follows from that. Profits of all solvers are compared.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import gpu_bridge
from benchmarks.knapsack_classes import CLASSES, instance
from benchmarks.record import Column, print_table, write_record
from gpu_bridge import Batch
from solvers.core.device import Device, cpu, find_device
from solvers.core.problem import Problem
from solvers.knapsack import solve_knapsack
from solvers.knapsack.batch import ManyPackings, solve_many_knapsacks
from solvers.knapsack.items import IntArray, Knapsack

REPEATS = 3
PEER_SECONDS = 1.0
"""Limit of OR-tools for one problem; its branch and bound does not end on some."""

TRIAL = 10
"""Problems on which a method of OR-tools is tried first."""

HOPELESS = 3.0
"""Times another method's figure from which it is not measured any further."""

Numbers = tuple[IntArray, IntArray, IntArray]
"""Profits (k, n), weights (k, n) and capacities (k,)."""

Share = tuple[str, list[list[int]], list[list[int]], list[int]]
"""OR-tools' method and problems as it takes them."""

METHODS = (
    "KNAPSACK_64ITEMS_SOLVER",
    "KNAPSACK_MULTIDIMENSION_BRANCH_AND_BOUND_SOLVER",
    "KNAPSACK_DYNAMIC_PROGRAMMING_SOLVER",
)
"""OR-tools' solvers, of which the fastest counts; the first takes up to 64 items."""

COLUMNS = (
    Column("class"),
    Column("solver"),
    Column("problems"),
    Column("seconds"),
    Column("us each"),
    Column("solved together"),
    Column("states each"),
    Column("profits agree"),
    Column("times OR-tools", 3),
)


def main() -> None:
    arguments = _arguments()
    device = find_device(arguments.device)
    cores = len(os.sched_getaffinity(0))
    deadline = time.monotonic() + arguments.stop_after
    rows: list[dict[str, Any]] = []
    for kind in arguments.classes:
        if time.monotonic() > deadline:
            print(f"no time left for {kind}")
            continue
        numbers = draw(kind, arguments)
        peer = or_tools(numbers, arguments.sample, cores)
        places = [device] if device.kind == "cpu" else [device, cpu()]
        for place in places:
            count = arguments.count if place.kind == "cuda" else arguments.cpu_count
            rows.append(measure(kind, head(numbers, count), place, peer))
            print(rows[-1], flush=True)
            rows.append(through_the_bridge(kind, head(numbers, count), place, peer))
        rows.append(one_by_one(kind, head(numbers, arguments.sample), peer))
        if peer is not None:
            rows.append({"class": kind, "solver": f"OR-tools, {cores} processes", **peer})
    title = f"Knapsack problems of {arguments.items} items on {device.name}, {cores} cores"
    print_table(title, COLUMNS, [[row.get(column.title) for column in COLUMNS] for row in rows])
    for row in rows:
        row.pop("profits", None)
    content = {name: getattr(arguments, name) for name in ("count", "items", "range", "sample")}
    write_record("knapsack_many", {**content, "cores": cores, "rows": rows}, device=device, seed=0)


def draw(kind: str, arguments: argparse.Namespace) -> Numbers:
    """Draw the problems of a class."""
    count = arguments.count if arguments.device != "cpu" else arguments.cpu_count
    members = [instance(kind, arguments.items, arguments.range, seed) for seed in range(count)]
    return (
        np.array([member.profit for member in members]),
        np.array([member.weight for member in members]),
        np.array([member.capacity for member in members]),
    )


def head(numbers: Numbers, count: int) -> Numbers:
    """Return the first problems."""
    profit, weight, capacity = numbers
    return profit[:count], weight[:count], capacity[:count]


def measure(
    kind: str, numbers: Numbers, device: Device, peer: dict[str, Any] | None
) -> dict[str, Any]:
    """Time all problems together on a device."""
    found: list[ManyPackings] = []

    def together() -> None:
        found[:] = [solve_many_knapsacks(*numbers, device)]

    together()  # loads code and fills memory pools
    seconds = statistics.median(_seconds(together) for _ in range(REPEATS))
    answer, count = found[0], len(numbers[2])
    row: dict[str, Any] = {
        "class": kind,
        "solver": f"together, {device.kind}",
        "problems": count,
        "seconds": seconds,
        "us each": seconds / count * 1e6,
        "solved together": int(answer.proven.sum()) - answer.alone,
        "states each": float(answer.states.mean()),
    }
    return row | _compared(answer.profit, row["us each"], peer)


def through_the_bridge(
    kind: str, numbers: Numbers, device: Device, peer: dict[str, Any] | None
) -> dict[str, Any]:
    """Time ``gpu_bridge.solve_many`` on the same problems as a batch of models, to all points."""
    profit, weight, capacity = numbers
    count, items = profit.shape
    base = Problem.from_arrays(
        np.ones(items), np.ones((1, items)), upper=1.0, integrality=True, maximize=True
    )
    data = {"cost": profit, "coefficients": weight, "row_upper": capacity[:, np.newaxis]}
    batch = Batch.from_model_data(base, **data)
    found: list[IntArray] = []

    def together() -> None:
        outcomes = gpu_bridge.solve_many(batch, method="knapsack", device=device.kind)
        assert outcomes.x.shape == profit.shape
        found[:] = [np.rint(outcomes.objectives).astype(np.int64)]

    together()
    seconds = statistics.median(_seconds(together) for _ in range(REPEATS))
    row: dict[str, Any] = {
        "class": kind,
        "solver": f"solve_many, {device.kind}",
        "problems": count,
        "seconds": seconds,
        "us each": seconds / count * 1e6,
    }
    return row | _compared(found[0], row["us each"], peer)


def one_by_one(kind: str, numbers: Numbers, peer: dict[str, Any] | None) -> dict[str, Any]:
    """Time the engine for one problem, a call each."""
    problems = [Knapsack.binary(p, w, int(c)) for p, w, c in zip(*numbers, strict=True)]
    solve_knapsack(problems[0])
    began = time.perf_counter()
    packings = [solve_knapsack(problem) for problem in problems]
    seconds = time.perf_counter() - began
    profits = np.array([packing.profit for packing in packings])
    row: dict[str, Any] = {
        "class": kind,
        "solver": "one by one, 1 core",
        "problems": len(problems),
        "seconds": seconds,
        "us each": seconds / len(problems) * 1e6,
        "states each": statistics.mean(packing.work for packing in packings),
    }
    return row | _compared(profits, row["us each"], peer)


def _compared(
    profits: IntArray, microseconds: float, peer: dict[str, Any] | None
) -> dict[str, Any]:
    """Say whether the peer has the same profits, and how many times faster this is."""
    if peer is None:
        return {}
    theirs = peer["profits"][: profits.size]
    known = np.array([profit is not None for profit in theirs], dtype=np.bool_)
    same = np.array([p for p in theirs if p is not None]) == profits[: len(theirs)][known]
    return {
        "profits agree": f"{int(same.sum())} of {int(known.sum())}",
        "times OR-tools": peer["us each"] / microseconds,
    }


def or_tools(numbers: Numbers, sample: int, cores: int) -> dict[str, Any] | None:
    """Return what OR-tools takes for a problem on all cores, and its profits; None without it."""
    try:
        import ortools.algorithms.python.knapsack_solver  # noqa: F401
    except ImportError:
        return None
    count, items = numbers[0].shape
    best: dict[str, Any] | None = None
    for method in METHODS:
        if method == METHODS[0] and items > 64:
            continue
        shares = [_share(method, numbers, k * sample, sample) for k in range(cores)]
        with multiprocessing.get_context("spawn").Pool(cores) as pool:
            trial = [_share(method, numbers, 0, min(sample, TRIAL))] * cores
            for _ in range(2):  # the first loads libraries
                tried = pool.map(_solve_share, trial, chunksize=1)
            each = statistics.mean(seconds for seconds, _ in tried) / cores
            if best is not None and each * 1e6 > HOPELESS * best["us each"]:
                continue
            answers = pool.map(_solve_share, shares, chunksize=1)
        each = statistics.mean(seconds for seconds, _ in answers) / cores
        if best is None or each * 1e6 < best["us each"]:
            best = {
                "method": method,
                "problems": count,
                "seconds": each * count,
                "us each": each * 1e6,
                "profits": answers[0][1],
            }
    return best


def _share(method: str, numbers: Numbers, first: int, sample: int) -> Share:
    own = [k % len(numbers[2]) for k in range(first, first + sample)]
    profit, weight, capacity = (array[own].tolist() for array in numbers)
    return method, profit, weight, capacity


def _solve_share(share: Share) -> tuple[float, list[int | None]]:
    """Solve a share one after the other; return seconds for one, and profits where proven."""
    from ortools.algorithms.python import knapsack_solver

    method, profits, weights, capacities = share
    kind = getattr(knapsack_solver.SolverType, method)
    found: list[int | None] = []
    began = time.perf_counter()
    for profit, weight, capacity in zip(profits, weights, capacities, strict=True):
        solver = knapsack_solver.KnapsackSolver(kind, "benchmark")
        solver.set_time_limit(PEER_SECONDS)
        solver.init(profit, [weight], [capacity])
        value = int(solver.solve())
        found.append(value if solver.is_solution_optimal() else None)
    return (time.perf_counter() - began) / len(capacities), found


def _seconds(work: Callable[[], None]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--items", type=int, default=50)
    parser.add_argument("--range", type=int, default=1000)
    parser.add_argument(
        "--classes",
        nargs="+",
        default=["uncorrelated", "weakly", "strongly"],
        choices=sorted(CLASSES),
    )
    parser.add_argument("--cpu-count", type=int, default=20_000, help="problems for the CPU")
    parser.add_argument("--sample", type=int, default=500, help="problems for one process")
    parser.add_argument("--device", default="auto", choices=["auto", "cpu", "cuda"])
    parser.add_argument("--stop-after", type=float, default=600.0, help="seconds")
    return parser.parse_args()


if __name__ == "__main__":
    main()
