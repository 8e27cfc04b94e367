"""What settles the constants of ``sparse_formats/schedule.py``: CSR's ways to share rows.

    python -m benchmarks.sparse_schedule [--nonzeros 1e6 1e7] [--data ../shared/data]
                                         [--instances peers] [--seed 0] [--stop-after SECONDS]

For each matrix the plain CSR product is timed in a CUDA graph with 1 to 32 threads for every row,
with threads by row length (one for 1, 2, 4 or 8 entries), with other lengths from which a row gets
blocks of its own, with other chunks of such rows, and as the schedule decides by itself.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.record import Column, print_table, write_record
from benchmarks.sparse import DATA, matrices, until
from solvers.core.device import Device, find_device
from solvers.papers.sparse_formats.formats import CSR, prepared
from solvers.papers.sparse_formats.kernels.csr import LANES
from solvers.papers.sparse_formats.machine import seconds_per_call
from solvers.papers.sparse_formats.schedule import share_rows

WAYS: dict[str, dict[str, int]] = {
    "auto": {},
    **{f"{lanes} lanes": {"lanes": lanes} for lanes in LANES},
    **{f"1 per {entries}": {"entries_per_lane": entries} for entries in (1, 2, 4, 8)},
    **{f"long {length}": {"long_length": length} for length in (256, 512, 2048, 4096)},
    **{f"chunk {chunk}": {"chunk": chunk} for chunk in (2048, 4096, 16384)},
}


def main() -> None:
    """Time every way on every matrix; print microseconds, and record them."""
    arguments = _arguments()
    device = find_device("cuda")
    with device.activate():
        named = until(arguments.stop_after, matrices(arguments, device))
        rows = [measure(device, name, matrix) for name, matrix in named]
    print_table(
        f"CSR products on {device.name}, us",
        [Column(title, digits=3) for title in rows[0]],
        [list(row.values()) for row in rows],
    )
    write_record("sparse-schedule", {"rows": rows}, device=device, seed=arguments.seed)


def measure(device: Device, name: str, matrix: CSR) -> dict[str, Any]:
    """Time one matrix under every schedule."""
    xp = device.xp
    vector, product = xp.ones(matrix.columns), xp.empty(matrix.rows)
    row: dict[str, Any] = {"matrix": name, "nonzeros": matrix.nonzeros}
    for way, how in WAYS.items():
        held = replace(matrix, schedule=share_rows(matrix.starts, **how))
        row[way] = 1e6 * seconds_per_call(device, prepared(held, vector, product))
    return row


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=DATA, help="folder with INSTANCES.csv")
    parser.add_argument("--instances", nargs="*", default=["peers"], help="sets or names; or none")
    parser.add_argument("--nonzeros", type=float, nargs="*", default=[1e6, 1e7])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--stop-after", type=float, default=math.inf, metavar="SECONDS")
    return parser.parse_args()


if __name__ == "__main__":
    main()
