"""Table 1 of "Parallel branch and bound on a CPU-GPU system": knapsacks by breadth-first search.

    python examples/papers/knapsack_branch_and_bound.py [--sizes 100 ... 500] [--instances 3]

Weights of 1 to 100, profits 10 more, half of the weight as capacity, as Boukedjar, Lalami and
El Baz draw them. ``plain`` is the algorithm as published; its lists double until bounds prune them,
and a search is given up whose list passes ``--most-nodes``. ``merged`` takes equal nodes together,
which no published figure does, and ``default`` is the engine of ``method="knapsack"``. Every profit
is compared with the others. ``python -m benchmarks.knapsack paper`` is the measurement in full.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # of which benchmarks are a part

from benchmarks.knapsack import paper_row, paper_solvers
from benchmarks.knapsack_classes import paper_instance
from benchmarks.record import Column, print_table
from solvers.core.device import find_device

TITLES = {
    "n": "items",
    "paper cpu s": "paper, CPU s",
    "paper gpu s": "paper, GPU s",
    "plain cpu proven": "plain, solved",
    "plain cpu ms": "plain, ms",
    "merged cpu proven": "merged, solved",
    "merged cpu ms": "merged, ms",
    "default ms": "default, ms",
}
ON_GPU = {"plain gpu ms": "plain, GPU ms", "merged gpu ms": "merged, GPU ms"}


def main() -> None:
    """Solve the instances and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", nargs="+", type=int, default=[100, 200, 300, 400, 500])
    parser.add_argument("--instances", type=int, default=3)
    parser.add_argument("--most-nodes", type=int, default=1_000_000)
    parser.add_argument("--device", default="auto")
    arguments = parser.parse_args()
    solvers = paper_solvers(find_device(arguments.device), arguments.most_nodes)
    rows = [
        paper_row(
            solvers, [paper_instance(n, seed) for seed in range(arguments.instances)], 60.0, 1
        )
        for n in arguments.sizes
    ]
    shown = TITLES | {name: title for name, title in ON_GPU.items() if name in rows[0]}
    cells = [[row[name] for name in shown] for row in rows]
    print_table("Breadth-first branch and bound", [Column(t, 3) for t in shown.values()], cells)
    proven = sum(int(str(row["merged cpu proven"]).partition("/")[0]) for row in rows)
    count = arguments.instances * len(rows)
    print(f"With equal nodes merged {proven} of {count} instances are solved; all profits agree.")


if __name__ == "__main__":
    main()
