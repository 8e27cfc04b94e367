"""Bandwidth of the kernels that check a batch's answers and narrow its counts, against a copy.

    python -m benchmarks.batch_kernels [--device auto|cuda|cpu] [--count 10000] [--seed 0]

The batches are those of ``benchmarks.batch_simplex``: full matrices with ``--count`` LPs whose
coefficients are all their own (``values``), or whose costs and sides are (``sides``), and sparse
ones with an eighth of the entries. Bytes are those that have to travel at least once
(``Kernel.bytes_moved``), so that a batch that fits into a cache may beat the copy.
Times are medians of repeated launches after a warm-up.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.kernels import copy_bandwidth, median_seconds
from benchmarks.record import Column, print_table, write_record
from solvers.core.device import Device, find_device
from solvers.simplex.batch.kernels.check import CHECK, FIGURES, NARROW, VARYING
from solvers.simplex.batch.kernels.check import FAMILY as CHECKS
from solvers.simplex.batch.prepare import claims_mask, columns_of, is_full

SHAPES = ((20, 40), (50, 100), (100, 200))
SPARSE = 0.125
"""Part of the entries that the sparse matrices have."""

OWN = {"values": VARYING, "sides": VARYING[1:]}
"""What each LP has of its own, by the name of the case."""

ENDING = 1


def main() -> None:
    """Measure all shapes and record the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--device", default="auto")
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    device = find_device(arguments.device)
    with device.activate():
        copy = copy_bandwidth(device)
        rows = [
            measure_check(device, copy, arguments, shape, density, own)
            for shape in SHAPES
            for density in (1.0, SPARSE)
            for own in OWN
        ]
        rows.append(measure_narrow(device, copy, arguments.count * sum(SHAPES[-1])))
    print_table(
        f"Kernels of batches on {device.name}, which copies at {copy / 1e9:.4g} GB/s",
        [Column(title) for title in rows[0]],
        [list(row.values()) for row in rows],
    )
    write_record("batch-kernels", {"copy GB/s": copy / 1e9, "rows": rows}, seed=arguments.seed)


def measure_check(
    device: Device,
    copy: float,
    arguments: argparse.Namespace,
    shape: tuple[int, int],
    density: float,
    own: str,
) -> dict[str, Any]:
    """Time the check of a batch all of whose LPs claim an optimum."""
    count, (m, n) = arguments.count, shape
    generator = np.random.default_rng(arguments.seed)
    pattern = sp.csr_array((generator.uniform(size=shape) < density).astype(float))
    pattern.indices, pattern.indptr = (
        array.astype(np.int32) for array in (pattern.indices, pattern.indptr)
    )
    widths = dict(zip(VARYING, (pattern.nnz, n, n, n, m, m, 1), strict=True))
    given = [generator.uniform(size=(count if name in OWN[own] else 1) * widths[name])
             for name in VARYING]  # fmt: skip
    full = is_full(pattern)
    nothing = np.zeros(1, dtype=np.int32)
    arrays = [pattern.indptr, pattern.indices]
    arrays += (nothing,) * 3 if full else columns_of(pattern)
    answers = [np.full(count, ENDING, dtype=np.int32), *(generator.uniform(size=count * width)
               for width in (n, m, len(FIGURES)))]  # fmt: skip
    varying = sum(1 << bit for bit, name in enumerate(VARYING) if name in OWN[own])
    values = (
        count,
        m,
        n,
        *map(device.to_device, arrays),
        int(full),
        varying,
        *map(device.to_device, given),
        claims_mask((ENDING,)),
        *map(device.to_device, answers),
    )
    seconds = median_seconds(device, lambda: CHECKS["check"](*values))
    moved = CHECK.bytes_moved(dict(zip((one.name for one in CHECK.arguments), values, strict=True)))
    kind = "full" if full else "sparse"
    return row("check", f"{count} of {m} x {n}, {kind}, own {own}", moved, seconds, copy)


def measure_narrow(device: Device, copy: float, size: int) -> dict[str, Any]:
    """Time the narrowing of as many statuses as the largest batch has."""
    wide = device.to_device(np.ones(size, dtype=np.int32))
    values = device.to_device(np.zeros(size, dtype=np.uint8))
    seconds = median_seconds(device, lambda: CHECKS["narrow"](size, wide, values))
    moved = NARROW.bytes_moved({"wide": wide, "narrowed": values})
    return row("narrow", f"{size} numbers", moved, seconds, copy)


def row(kernel: str, case: str, moved: int, seconds: float, copy: float) -> dict[str, Any]:
    """Return a line of the table."""
    rate = moved / seconds
    return {
        "kernel": kernel,
        "case": case,
        "MB": moved / 1e6,
        "us": seconds * 1e6,
        "GB/s": rate / 1e9,
        "of copy": rate / copy,
    }


if __name__ == "__main__":
    main()
