"""Stages of the dynamic programming over long lists of states, on one core and on a GPU.

    python -m benchmarks.knapsack_lists [FILE...] [--device cuda] [--states 1e5 1e6 1e7 1e8]
        [--time-limit 60] [--stop-after 600]

The first table has the rate of a stage in states visited, which is twice the length of the list,
the bytes that a state visited has to move (every state is read twice, every one kept is written
once), and their rate as a share of what the device reaches in copying. The lists are random, dense
enough to keep their length, and nothing is pruned, as in the middle of a long search; a figure is
the median over batches of stages, with the way of the control array to the host and back.

The second has whole solves of files (``n c`` and lines ``profit weight``, or the format of Jooken),
on the CPU alone and with lists going on on the GPU: seconds, and whether the answer is proven.
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.kernels import copy_bandwidth
from benchmarks.knapsack import read
from benchmarks.record import Column, print_table, write_record
from solvers.core.device import Device, find_device
from solvers.core.progress import Progress
from solvers.knapsack import Knapsack, solve_knapsack
from solvers.knapsack.dp import states
from solvers.knapsack.dp.gpu_lists.kernels.stages import HISTORY_BYTES, KEY_BYTES, Field, Reason
from solvers.knapsack.dp.gpu_lists.memory import STAGES_PER_BATCH, GpuLists
from solvers.native.knapsack_dp_states import merge

MOST_ON_CPU = 20_000_000
"""States from which one core takes too long for a benchmark."""

GROWTH = 1.7
"""How much longer a list becomes before all weights of its range have a state, and by the items."""

LIGHT = 50
"""Weights and profits of items are up to this."""


class Problem:
    """Items, and a random list of states that all keep the capacity."""

    def __init__(self, count: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.weight = np.cumsum(rng.integers(1, 3, count))
        self.profit = np.cumsum(rng.integers(1, 3, count))
        num_items = 4 * STAGES_PER_BATCH
        item_weight = rng.integers(LIGHT // 2, LIGHT, num_items)
        item_profit = rng.integers(LIGHT // 2, LIGHT, num_items)
        order = np.argsort(-item_profit / item_weight, kind="stable")
        self.item_weight, self.item_profit = item_weight[order], item_profit[order]
        self.opposite = np.full(num_items, 2**62)
        self.capacity = 10 * int(self.weight[-1])
        self.room = int(2 * GROWTH * count) + 2 * LIGHT * STAGES_PER_BATCH
        self.middle = num_items // 2


def device_batches(problem: Problem, device: Device, repeats: int) -> list[dict[str, float]]:
    """Time batches of stages on a device; the first, which compiles, is left out."""
    items = (problem.item_profit, problem.item_weight, problem.opposite)
    lists = GpuLists(device, *items, problem.room)
    found = []
    for _ in range(repeats + 1):
        lists[Field.SIDE] = 0
        lists.fill((problem.profit, problem.weight))
        lists.renew()
        lists[Field.LEFT], lists[Field.RIGHT] = problem.middle - 1, problem.middle
        lists[Field.STAGE] = lists[Field.PROFIT] = lists[Field.VISITED] = 0
        lists[Field.TARGET] = lists[Field.UNTIL] = 2**62
        lists[Field.CAPACITY], lists[Field.REASON] = problem.capacity, Reason.NONE
        first = lists[Field.COUNT]
        device.synchronize()
        began = time.perf_counter()
        lists.run_batch()
        seconds = time.perf_counter() - began
        assert lists[Field.STAGE] == STAGES_PER_BATCH, Reason(lists[Field.REASON])
        found.append(_figures(seconds, lists[Field.VISITED], first, lists[Field.COUNT]))
    return found[1:]


def core_batches(problem: Problem, repeats: int) -> list[dict[str, float]]:
    """Time the same stages as one core does them."""
    found = []
    now, then = states.empty_states(problem.room), states.empty_states(problem.room)
    first = problem.weight.size
    items = list(zip(problem.item_profit.tolist(), problem.item_weight.tolist(), strict=True))
    for _ in range(repeats + 1):
        now.profit[:first], now.weight[:first] = problem.profit, problem.weight
        now.history[:first], now.ancestor[:first] = 0, np.arange(first, dtype=np.int32)
        control = np.zeros(9, dtype=np.int64)
        count, right, left = first, problem.middle, problem.middle - 1
        began = time.perf_counter()
        for stage in range(STAGES_PER_BATCH):
            sign = 1 if stage % 2 == 0 else -1
            profit, weight = items[right if sign > 0 else left]
            right, left = right + (sign > 0), left - (sign < 0)
            steps = (sign * profit, sign * weight)
            bit, sides = 1 << stage, (items[right], items[left])
            count = merge(now, count, then, *steps, bit, problem.capacity, *sides, control)
            now, then = then, now
        seconds = time.perf_counter() - began
        found.append(_figures(seconds, int(control[states.VISITED]), first, count))
    return found[1:]


def _figures(seconds: float, visited: int, first: int, last: int) -> dict[str, float]:
    """Return the rates of a batch, from what it visited and the list's length before and after."""
    kept = visited // 2 - first + last
    moved = KEY_BYTES * visited + (KEY_BYTES + 2 * HISTORY_BYTES) * kept
    return {
        "stage us": 1e6 * seconds / STAGES_PER_BATCH,
        "states/s": visited / seconds,
        "bytes a state": moved / visited,
        "bytes/s": moved / seconds,
        "length after": float(last),
    }


def stages(arguments: argparse.Namespace, device: Device) -> list[dict[str, Any]]:
    """Measure stages at every length, on one core and on the GPU if it is the device."""
    rows = []
    copy = copy_bandwidth(device) if device.kind == "cuda" else None
    for count in map(int, arguments.states):
        if time.monotonic() > arguments.until:
            break
        problem = Problem(count, arguments.seed)
        row: dict[str, Any] = {"states": count}
        if count <= MOST_ON_CPU:
            found = core_batches(problem, arguments.repeats)
            row["core states/s"] = statistics.median(one["states/s"] for one in found)
        if copy is not None:
            with device.activate():
                found = device_batches(problem, device, arguments.repeats)
            row |= {name: statistics.median(one[name] for one in found) for name in found[0]}
            row["of copy"] = row.pop("bytes/s") / copy
            if "core states/s" in row:
                row["times core"] = row["states/s"] / row["core states/s"]
            device.release_memory()
        rows.append(row)
        print(row, flush=True)
    return rows


def solves(arguments: argparse.Namespace, device: Device) -> list[dict[str, Any]]:
    """Measure whole solves of files."""
    places = ["cpu"] + ([arguments.device] if device.kind == "cuda" else [])
    warm = Knapsack.binary(np.arange(1, 100), np.arange(1, 100)[::-1], 800)
    solve_knapsack(warm, Progress(20.0))
    rows: list[dict[str, Any]] = []
    for path in arguments.files:
        knapsack = read(path)
        row: dict[str, Any] = {"file": path.name.removesuffix(".in.gz")}
        for place in places:
            if time.monotonic() > arguments.until:
                return rows
            began = time.perf_counter()
            packing = solve_knapsack(knapsack, Progress(arguments.time_limit), device=place)
            row |= {
                f"{place} s": time.perf_counter() - began,
                f"{place} proven": packing.is_optimal,
                f"{place} profit": packing.profit,
                f"{place} gap": packing.bound - packing.profit,
                f"{place} states": packing.work,
            }
        rows.append(row)
        print(row, flush=True)
    return rows


def main() -> None:
    """Measure, print tables and record them."""
    arguments = _arguments()
    arguments.until = time.monotonic() + arguments.stop_after
    device = find_device(arguments.device)
    tables = {
        "Stages on lists of states": stages(arguments, device),
        "Whole solves": solves(arguments, device),
    }
    for title, rows in tables.items():
        names = list(dict.fromkeys(name for row in rows for name in row))
        print_table(
            title,
            [Column(name, 3) for name in names],
            [[row.get(n) for n in names] for row in rows],
        )
    settings = {"time limit": arguments.time_limit, "repeats": arguments.repeats}
    write_record("knapsack-lists", settings | tables, device=device, seed=arguments.seed)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--states", nargs="*", type=float, default=[1e5, 1e6, 1e7, 1e8])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--time-limit", type=float, default=60.0)
    parser.add_argument("--stop-after", type=float, default=600.0)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


if __name__ == "__main__":
    main()
