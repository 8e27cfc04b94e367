"""Tables over capacities beside lists of states, and what the rule chooses between them.

    python -m benchmarks.knapsack_tables [--kinds ratio ...] [--items 20 100 1000]
                                         [--largest 1000 10000 100000] [--capacities 1000000]
                                         [--copies 1 100 0] [--repeats 3] [--time-limit 10]
                                         [--stop-after 600]

Weights lie between half of the largest and the largest one, as then many numbers of items are
possible and lists get long; ``--copies`` are those of each item, 0 for as many as fit. ``lists`` is
the engine without tables, ``profits`` a table of profits from the first packing on, ``sums`` one of
bits where profits are proportional to weights, and ``chosen`` the engine as it is. What is not
proven, or needs more memory than tables may take, has no figure, and all that prove an instance
have to agree.

First come the nanoseconds for a state of a list, for a column of a table and for a word of bits, on
which the rule rests (``solvers/knapsack/dp/tables/offer.py``). With ``--stop-after`` seconds no
further row is begun.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.record import Column, print_table, write_record
from solvers.core.device import cpu
from solvers.core.progress import Progress
from solvers.knapsack import Knapsack, solve_knapsack
from solvers.knapsack.dp.core import CoreSearch
from solvers.knapsack.dp.tables.dense import (
    MOST_BYTES,
    fill_sums,
    fill_table,
    fits,
    segments,
    unit_profit,
)
from solvers.knapsack.dp.tables.plan import Plan, find_changes, find_types, make_plan
from solvers.knapsack.efficiency import by_efficiency
from solvers.knapsack.heuristics import first_packing
from solvers.knapsack.items import IntArray, normal_form
from solvers.native.knapsack_dp_tables_dense import mark, treat

Generator = np.random.Generator
Rule = Callable[[Generator, IntArray, int], IntArray]

KINDS: dict[str, Rule] = {
    "uncorrelated": lambda rng, weight, largest: rng.integers(1, largest + 1, weight.size),
    "strongly": lambda rng, weight, largest: weight + largest // 10,
    "almost": lambda rng, weight, largest: (
        weight + largest // 10 + rng.integers(-largest // 500, largest // 500 + 1, weight.size)
    ),
    "ratio": lambda rng, weight, largest: weight * 17 // 10 + 1,
    "root": lambda rng, weight, largest: weight + np.sqrt(weight).astype(np.int64),
    "subset sum": lambda rng, weight, largest: weight.copy(),
    "tens and threes": lambda rng, weight, largest: weight.copy(),
}
"""Kinds of instances; a rule gets weights and returns profits."""


def instance(kind: str, items: int, largest: int, capacity: int, copies: int) -> Knapsack:
    """Return an instance of a kind, always the same."""
    rng = np.random.default_rng(items + largest + capacity)
    weight = rng.integers(largest // 2, largest + 1, items)
    if kind == "tens and threes":  # no sum ends in 9
        weight = 10 * weight // 10 * 10
        weight[0] = 13
        capacity = capacity // 10 * 10 + 9
    profit = KINDS[kind](rng, weight, largest)
    there = capacity // weight if copies == 0 else np.full(items, copies)
    if kind == "tens and threes":
        there[0] = 1
    return Knapsack(profit, weight, there, capacity)


def _by_lists(problem: Knapsack, progress: Progress) -> int | None:
    found = solve_knapsack(problem, progress, table_bytes=0)
    return found.profit if found.is_optimal else None


def _as_chosen(problem: Knapsack, progress: Progress) -> int | None:
    found = solve_knapsack(problem, progress)
    return found.profit if found.is_optimal else None


def _by_table(problem: Knapsack, progress: Progress, *, of_sums: bool) -> int | None:
    """Make a table at once, and read its packing off."""
    form = normal_form(problem)
    items = by_efficiency(form.knapsack)
    profit, _ = first_packing(items)
    if profit == items.dantzig_bound:
        return form.profit_back(profit)
    changes = find_changes(items, find_types(items), profit)
    plans = [make_plan(items, changes, repeats=repeats) for repeats in (False, not of_sums)]
    plan = min((p for p in plans if p is not None), key=lambda p: p.cells, default=None)
    if plan is None or not _is_possible(plan, items.dantzig_bound, of_sums=of_sums):
        return None
    fill = fill_sums if of_sums else fill_table
    made = fill(plan, profit, items.dantzig_bound, lambda: progress.should_stop() is not None)
    if not made.is_complete or (made.taken is None and made.profit > profit):
        return None
    if made.taken is not None:
        flags = plan.flags(items, made.taken)
        assert int(items.profit[flags].sum()) == made.profit
    return form.profit_back(max(profit, made.profit))


def _is_possible(plan: Plan, bound: int, *, of_sums: bool) -> bool:
    if of_sums:
        return plan.num_stages > 0 and unit_profit(plan) > 0 and fits(plan)
    return segments(plan, bound, MOST_BYTES) is not None


WAYS: dict[str, Callable[[Knapsack, Progress], int | None]] = {
    "lists": _by_lists,
    "profits": lambda problem, progress: _by_table(problem, progress, of_sums=False),
    "sums": lambda problem, progress: _by_table(problem, progress, of_sums=True),
    "chosen": _as_chosen,
}
"""How an instance is solved; a way returns the optimum, or None where it proves none."""


def measure(problem: Knapsack, limit: float, repeats: int) -> dict[str, Any]:
    """Return milliseconds of each way, the median of the repeats.

    Raises
    ------
    SystemExit
        Two ways prove different optima.
    """
    row: dict[str, Any] = {}
    optima: dict[str, int] = {}
    for name, solve in WAYS.items():
        times: list[float] = []
        best: int | None = None
        while len(times) < repeats and (not times or times[-1] < 1.0):  # long runs vary little
            began = time.perf_counter()
            best = solve(problem, Progress(limit))
            times.append(time.perf_counter() - began)
            if best is None:
                break
        row[f"{name} ms"] = None if best is None else 1e3 * statistics.median(times)
        if best is not None:
            optima[name] = best
    if len(set(optima.values())) > 1:
        raise SystemExit(f"different optima: {optima}")
    row["path"] = solve_knapsack(problem, Progress(limit)).path
    return row


def constants(repeats: int) -> dict[str, float]:
    """Return nanoseconds for what the rule counts."""
    found = {"state": _state(repeats)}
    for kind in (np.int32, np.int64):
        for recording in (False, True):
            name = f"column, {np.dtype(kind).name}{', recorded' if recording else ''}"
            found[name] = _column(kind, repeats, recording=recording)
    found["word"] = _word(repeats)
    return found


def _best_of(repeats: int, run: Callable[[], float]) -> float:
    return 1e9 * min(run() for _ in range(repeats))


def _state(repeats: int) -> float:
    """Measure a search that has not many states in common with any other work."""
    problem = instance("root", 1000, 10**7, 2 * 10**9, 1)
    items = by_efficiency(normal_form(problem).knapsack)

    def run() -> float:
        search = CoreSearch(items, 0, items.dantzig_bound, 10**6)
        began = time.perf_counter()
        search.run(lambda profit, bound: False, 2 * 10**7)
        return (time.perf_counter() - began) / max(search.spent, 1.0)

    return _best_of(repeats, run)


def _column(kind: Any, repeats: int, *, recording: bool) -> float:
    columns, stages = 10**6, 32
    rng = np.random.default_rng(0)
    weight, profit = rng.integers(500, 2000, stages), rng.integers(1, 1000, stages).astype(kind)
    low, high = np.zeros(stages, dtype=np.int64), np.full(stages, columns - 1)
    words = columns // 64 + 1
    bits = np.zeros(words * stages if recording else 1, dtype=np.uint64)
    first = np.arange(stages) * words

    def run() -> float:
        values = np.zeros(columns, dtype=kind)
        began = time.perf_counter()
        treat(values, weight, profit, False, low, high, bits, first, recording)
        return (time.perf_counter() - began) / (columns * stages)

    return _best_of(repeats, run)


def _word(repeats: int) -> float:
    """Measure stages that add little, after some that mark what can be reached."""
    columns, stages = 10**7, 200
    rng = np.random.default_rng(0)
    weight = 2 * rng.integers(10**5, 10**6, stages)
    low, high = np.zeros(stages, dtype=np.int64), np.full(stages, columns - 1)

    def run() -> float:
        words = np.zeros(columns // 64 + 1, dtype=np.uint64)
        words[0] = 1
        stage = np.full(columns, -1, dtype=np.int32)
        mark(words, stage, weight, low, high, 0, 60, columns - 1)
        began = time.perf_counter()
        mark(words, stage, weight, low, high, 60, stages, columns - 1)
        return (time.perf_counter() - began) / ((stages - 60) * columns / 64)

    return _best_of(repeats, run)


def main() -> None:
    """Measure what was asked for, print tables and record them."""
    arguments = _arguments()
    prices = constants(arguments.repeats)
    print_table("Nanoseconds", [Column(name, 3) for name in prices], [list(prices.values())])
    rows: list[dict[str, Any]] = []
    began = time.perf_counter()
    cases = [
        (kind, items, largest, capacity, copies)
        for items in arguments.items
        for largest in arguments.largest
        for capacity in arguments.capacities
        for copies in arguments.copies
        for kind in arguments.kinds
    ]
    for kind, items, largest, capacity, copies in cases:
        if time.perf_counter() - began > arguments.stop_after:
            print("stopped: no time for more rows", flush=True)
            break
        problem = instance(kind, items, largest, capacity, copies)
        if problem.capacity < 3 * largest or (problem.weight * problem.copies).sum() <= capacity:
            continue
        row: dict[str, Any] = {"kind": kind, "items": items, "largest": largest}
        row |= {"capacity": capacity, "copies": copies}
        rows.append(row | measure(problem, arguments.time_limit, arguments.repeats))
        print(rows[-1], flush=True)
    titles = list(dict.fromkeys(title for row in rows for title in row))
    table = [[row.get(title) for title in titles] for row in rows]
    print_table("Lists and tables", [Column(title, 3) for title in titles], table)
    settings = {"time limit": arguments.time_limit, "repeats": arguments.repeats}
    write_record("knapsack-tables", settings | {"ns": prices, "rows": rows}, device=cpu())


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--items", nargs="+", type=int, default=[20, 100, 1000])
    parser.add_argument("--largest", nargs="+", type=int, default=[1000, 10**4, 10**5])
    parser.add_argument("--capacities", nargs="+", type=int, default=[10**5, 10**6, 10**7])
    parser.add_argument("--copies", nargs="+", type=int, default=[1, 100, 0])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--time-limit", type=float, default=10.0)
    parser.add_argument("--stop-after", type=float, default=np.inf)
    return parser.parse_args()


if __name__ == "__main__":
    main()
