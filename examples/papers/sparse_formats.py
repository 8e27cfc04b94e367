"""Sparse formats below the roofline, as Thies, Hager and Anzt bound them (ISC 2026).

    python examples/papers/sparse_formats.py [--nonzeros 1e5]

A matrix of each pattern is held in every format, and the time of its product with a vector stands
beside the least that the machine's bandwidth allows. ``python -m benchmarks.sparse`` is the
measurement in full, and ``gpu-bridge info MODEL --roofline`` does this for the matrix of a model.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # of which benchmarks are a part

import numpy as np

from benchmarks.record import Column, print_table
from benchmarks.sparse import PATTERNS
from solvers.core.device import find_device
from solvers.papers.sparse_formats import build, from_scipy, measure_machine, multiply, survey

TITLES = ("matrix", "format", "MB moved", "flop/byte", "least us", "us", "of roofline", "limit")


def main() -> None:
    """Time all formats and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--nonzeros", type=float, default=1e5)
    parser.add_argument("--device", default="auto")
    arguments = parser.parse_args()
    device = find_device(arguments.device)
    rows, worst = [], 0.0
    with device.activate():
        machine = measure_machine(device)
        for pattern, make in PATTERNS.items():
            matrix = make(int(arguments.nonzeros), np.random.default_rng(0))
            vector = np.random.default_rng(1).standard_normal(matrix.shape[1])
            held, expected = from_scipy(matrix, device), matrix @ vector
            for found in survey(held, device, machine):
                product = device.to_host(
                    multiply(build(held, found.format), device.to_device(vector))
                )
                worst = max(worst, float(np.abs(product - expected).max()))
                rows.append(
                    [
                        pattern,
                        found.format,
                        found.traffic.bytes / 1e6,
                        found.traffic.intensity,
                        1e6 * found.prediction.seconds,
                        1e6 * found.seconds,
                        found.roofline_share,
                        found.prediction.limit,
                    ]
                )
    bandwidth = machine.memory_bandwidth / 1e9
    title = f"Products on {device.name}, which reads {bandwidth:.3g} GB/s from memory"
    print_table(title, [Column(name, 3) for name in TITLES], rows)
    verdict = "agree" if worst < 1e-9 * arguments.nonzeros else "DISAGREE"
    print(f"All products {verdict} with SciPy's to {worst:.1e}.")


if __name__ == "__main__":
    main()
