"""The paper's branch and bound where its lists are long: a GPU beside one core and all cores.

    python -m benchmarks.knapsack_tree [--cases 100:3 200:15 300:11 500:17 300:0 500:18] [--merged]
        [--time-limit 20] [--one-core-limit 4] [--switch 5000] [--device cuda] [--stop-after 300]

A case is a number of items and a seed of the paper's class: weights of 1 to 100, profits 10 more,
half of the weight as capacity. Without merging, as in the paper, most instances are over at once or
outgrow any memory; these have longest lists of 3 to 94 million nodes. ``--merged`` takes equal
nodes together, and with ``--kind`` the cases are of one of Pisinger's classes, ``--range`` its
largest coefficient. The tree is the same everywhere, node by node.

A row has the nodes of all levels and of the longest list; for one core, all cores and the GPU
seconds and nodes a second (a search that the limit ends has a rate and no seconds); how many times
faster the GPU is; and the bytes that a node has to move (it is read twice and written once, with
two bits for where it came from), with their rate as a share of what the device reaches in copying.
Each device has done a long list before anything is timed; the GPU's figure is a median.
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import Any

import numpy as np

from benchmarks.kernels import copy_bandwidth
from benchmarks.knapsack_classes import CLASSES, instance, paper_instance
from benchmarks.record import Column, print_table, write_record
from solvers.core.device import Device, cpu, find_device
from solvers.core.machine import usable_cores
from solvers.core.progress import Progress
from solvers.knapsack.efficiency import Ordered, by_efficiency
from solvers.knapsack.items import normal_form
from solvers.papers.knapsack_branch_and_bound.engine import (
    SWITCH,
    TreeResult,
    TreeSettings,
    branch_and_bound,
)
from solvers.papers.knapsack_branch_and_bound.nodes import word_type

CASES = ("100:3", "200:15", "300:11", "500:17", "300:0", "500:18")
"""Items and seeds; without merging 0.18, 0.12, 0.53, 1.1, 4.0 and 5.5 billion nodes."""

WORDS_MOVED = 9
"""Words of a node: weight, profit and slack item are read for counting, read again and written."""

BITS_MOVED = 4
"""Whether a node and its child stay is written and read."""

WARM = (100, 22)
"""An instance whose lists grow to 2 million nodes, for what the first use costs."""


def timed(
    items: Ordered, device: Device, settings: TreeSettings, threads: int, limit: float
) -> tuple[float, TreeResult]:
    """Solve once; return seconds and what was found."""
    progress = Progress(limit)
    began = time.perf_counter()
    found = branch_and_bound(
        items, device, lambda: progress.should_stop() is not None, settings, threads=threads
    )
    return time.perf_counter() - began, found


def node_bytes(items: Ordered) -> float:
    """Return the bytes that a node moves."""
    return float(WORDS_MOVED * np.dtype(word_type(items)).itemsize + BITS_MOVED / 8)


def measure(
    items: Ordered,
    places: dict[str, tuple[Device, int]],
    arguments: argparse.Namespace,
    copy: float | None,
) -> dict[str, Any]:
    """Return the figures of a case.

    Raises
    ------
    SystemExit
        Two complete searches differ in profit or nodes.
    """
    settings = TreeSettings(switch=arguments.switch, merged=arguments.merged)
    row: dict[str, Any] = {}
    answers, rates = set(), {}
    for name, (device, threads) in places.items():
        repeats = arguments.repeats if device.kind == "cuda" else 1
        limit = arguments.one_core_limit if threads == 1 else arguments.time_limit
        runs = [timed(items, device, settings, threads, limit) for _ in range(repeats)]
        seconds, found = statistics.median(one[0] for one in runs), runs[0][1]
        rates[name] = found.nodes / seconds
        row |= {f"{name} s": seconds if found.complete else None, f"{name} nodes/s": rates[name]}
        row["longest"] = max(row.get("longest", 0), found.longest)
        row["nodes"] = max(row.get("nodes", 0), found.nodes)
        if found.complete:
            answers.add((found.profit, found.bound, found.nodes, found.longest))
    if len(answers) > 1:
        raise SystemExit(f"Profits, bounds and nodes differ: {sorted(answers)}")
    row["proven"] = bool(answers)
    row["bytes/node"] = node_bytes(items)
    if "gpu" in rates and copy is not None:
        row |= {f"times {name}": rates["gpu"] / rates[name] for name in rates if name != "gpu"}
        row["of copy"] = rates["gpu"] * row["bytes/node"] / copy
    return row


def main() -> None:
    """Measure, print a table and record it."""
    arguments = _arguments()
    until = time.monotonic() + arguments.stop_after
    device = find_device(arguments.device)
    cores = usable_cores()
    places = {"one core": (cpu(), 1), f"{cores} cores": (cpu(), cores)}
    copy = None
    if device.kind == "cuda":
        places["gpu"] = (device, 0)
        copy = copy_bandwidth(device)
    settings = TreeSettings(switch=arguments.switch, merged=False)
    for place, threads in places.values():
        timed(_items(arguments, *WARM), place, settings, threads, 60.0)
    rows = []
    for case in arguments.cases:
        if time.monotonic() > until:
            break
        size, seed = map(int, case.split(":"))
        row = {"n": size, "seed": seed}
        rows.append(row | measure(_items(arguments, size, seed), places, arguments, copy))
        print(rows[-1], flush=True)
    titles = list(dict.fromkeys(title for row in rows for title in row))
    columns = [Column(title, 3) for title in titles]
    cells = [[row.get(title) for title in titles] for row in rows]
    print_table("The paper's branch and bound on long lists", columns, cells)
    named = ("merged", "kind", "range", "switch", "time_limit", "one_core_limit", "repeats")
    told = {name: getattr(arguments, name) for name in named}
    write_record("knapsack-tree", told | {"copy bytes/s": copy, "rows": rows}, device=device)


def _items(arguments: argparse.Namespace, size: int, seed: int) -> Ordered:
    if arguments.kind == "paper":
        knapsack = paper_instance(size, seed)
    else:
        knapsack = instance(arguments.kind, size, arguments.range, seed)
    return by_efficiency(normal_form(knapsack).knapsack)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", nargs="+", default=list(CASES))
    parser.add_argument("--kind", choices=("paper", *CLASSES), default="paper")
    parser.add_argument("--range", type=int, default=10_000)
    parser.add_argument("--merged", action="store_true")
    parser.add_argument("--switch", type=int, default=SWITCH)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--time-limit", type=float, default=20.0)
    parser.add_argument("--one-core-limit", type=float, default=4.0)
    parser.add_argument("--stop-after", type=float, default=300.0)
    parser.add_argument("--device", default="auto")
    return parser.parse_args()


if __name__ == "__main__":
    main()
