"""Tables 2 and 4 of De Luca, Fiorillo, Marcellino: systems of n = 4 M equations by elimination.

    python examples/papers/dense_lu.py [--points 25 50 100]

``three kernels`` is the elimination of *A GPU-CUDA numerical algorithm for solving a biological
model* (2025) as published, with the seconds of its phases; ``LU`` factorises and solves by the
library, on the same system. ``angiogenesis_imex.py`` beside this file is the model the systems come
from, and ``python -m benchmarks.lu`` the measurement in full.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # of which benchmarks are a part

import numpy as np

from benchmarks.lu import PUBLISHED, disagreement, phases_of, wall
from benchmarks.record import Column, print_table
from solvers.core.device import find_device
from solvers.papers.dense_lu import lu, solve_by_elimination

TITLES = ("M", "n", "paper, GPU ms", "three kernels, ms", "LU, ms", "largest difference")


def main() -> None:
    """Solve the systems both ways and print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--points", nargs="+", type=int, default=[25, 50, 100])
    parser.add_argument("--device", default="auto")
    arguments = parser.parse_args()
    device = find_device(arguments.device)
    systems, phases, worst = [], [], 0.0
    with device.activate():
        for points in arguments.points:
            n, generator = 4 * points, np.random.default_rng(points)
            matrix, side = generator.standard_normal((n, n)), generator.standard_normal(n)
            found = solve_by_elimination(matrix, side, device)
            seconds = wall(device, lambda m=matrix, b=side: lu.solve(lu.factorise(m, device), b))
            apart = disagreement(device, lu.factorise(matrix, device), side, found.x)
            worst = max(worst, apart)
            published = PUBLISHED.get(points, (None, None))[1]
            theirs = None if published is None else 1e3 * published
            systems.append([points, n, theirs, 1e3 * found.seconds, 1e3 * seconds, apart])
            phases.append([points, *(1e3 * phase for phase in phases_of(found).values())])
    print_table(f"Systems on {device.name}", [Column(title, 3) for title in TITLES], systems)
    names = ("M", "to the device, ms", "elimination", "to the host", "substitution")
    print_table("Phases of the three kernels", [Column(title, 3) for title in names], phases)
    verdict = "agree" if worst < 1e-8 else "DISAGREE"
    print(f"Both solutions {verdict} to {worst:.1e} of their largest element.")


if __name__ == "__main__":
    main()
