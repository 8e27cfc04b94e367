"""How fast the paper's iterations and their largest kernel are, by themselves."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.kernels import copy_bandwidth, median_seconds
from benchmarks.linear_programs import LinearProgram
from benchmarks.peers.solver import Task
from benchmarks.record import Column, print_table
from benchmarks.simplex_engines import Engine
from solvers.core.device import Device
from solvers.papers.simplex_variants.basic_solution import start_basis
from solvers.papers.simplex_variants.device_pivots import (
    ALIGNMENT,
    GRAPH_ITERATIONS,
    LONG_COLUMN,
    DevicePivots,
)
from solvers.papers.simplex_variants.drive import ERROR, FEASIBLE, PRICES_OUT, SAFE, ZERO
from solvers.papers.simplex_variants.engine import make_pivots
from solvers.papers.simplex_variants.kernels.iterate import ITERATE
from solvers.papers.simplex_variants.kernels.layout import (
    BLOCK,
    CONTROL_SIZE,
    DUAL_TOLERANCE,
    ERROR_ALLOWED,
    PHASE,
    PRIMAL_TOLERANCE,
    SAFE_PIVOT,
    ZERO_PIVOT,
)
from solvers.papers.simplex_variants.standard_form import scaled_form, standard_form

REPEATS = 10
WARM_UP = 5
"""Of batches, as in the paper (section 4.1)."""


def updates(device: Device, sizes: Sequence[int]) -> list[dict[str, Any]]:
    """Time the streaming update of a full inverse, and compare with the rate of a copy."""
    with device.activate():
        copy = copy_bandwidth(device)
        rows = [_update(device, size, copy) for size in sizes]
    titles = list(rows[0])
    print_table(
        f"Update of the inverse on {device.name}, which copies at {copy / 1e9:.4g} GB/s",
        [Column(title) for title in titles],
        [list(row.values()) for row in rows],
    )
    return rows


def _update(device: Device, size: int, copy: float) -> dict[str, Any]:
    stride = -(-size // ALIGNMENT) * ALIGNMENT
    vectors = [device.to_device(np.full(size, 1e-3)) for _ in range(3)]
    inverse = device.xp.zeros(size * stride)
    control = device.to_device(np.zeros(CONTROL_SIZE))
    y = device.to_device(np.zeros(size))
    team = BLOCK if size >= LONG_COLUMN else 32

    def work() -> None:
        ITERATE["update"](size, stride, team, *vectors, inverse, y, control)

    seconds = median_seconds(device, work)
    rate = 16.0 * size**2 / seconds
    return {
        "rows": size,
        "microseconds": 1e6 * seconds,
        "GB/s": rate / 1e9,
        "of copy %": 100.0 * rate / copy,
    }


def batches(device: Device, lp: LinearProgram) -> list[dict[str, Any]]:
    """Time batches of 100 iterations from the slack basis, in phase 1."""
    problem = Engine("graphs").prepare(lp, Task(1e-6, 1.0))
    rows = []
    with device.activate():
        form = scaled_form(standard_form(problem))
        for variant in ("resident", "graphs"):
            pivots = make_pivots(variant, form, device)
            assert isinstance(pivots, DevicePivots)
            times = [_batch(pivots) for _ in range(WARM_UP + REPEATS)][WARM_UP:]
            rows.append(
                {
                    "model": lp.name,
                    "variant": variant,
                    "iterations": GRAPH_ITERATIONS,
                    "median ms": 1e3 * statistics.median(times),
                    "fastest ms": 1e3 * min(times),
                    "slowest ms": 1e3 * max(times),
                }
            )
    titles = list(rows[0])
    print_table("Batches", [Column(title) for title in titles], [list(r.values()) for r in rows])
    return rows


def _batch(pivots: DevicePivots) -> float:
    """Return the seconds of a batch on a fresh inverse."""
    control = pivots.control
    control[:] = 0.0
    control[PHASE] = 1.0
    control[[DUAL_TOLERANCE, PRIMAL_TOLERANCE, ZERO_PIVOT]] = PRICES_OUT, FEASIBLE, ZERO
    control[[SAFE_PIVOT, ERROR_ALLOWED]] = SAFE, ERROR
    pivots.load(start_basis(pivots.form), pivots.form.rhs, new_weights=True)
    pivots.space.device.synchronize()
    began = time.perf_counter()
    pivots.run(GRAPH_ITERATIONS)
    return time.perf_counter() - began
