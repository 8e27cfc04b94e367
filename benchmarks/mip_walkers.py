"""Moves per second of the walkers on a GPU, and what they find in given models.

    python -m benchmarks.mip_walkers [--models S M L] [--rows 1 4 12] [--walkers 132 ... 4224]
    python -m benchmarks.mip_walkers --whole [M L H B]
    python -m benchmarks.mip_walkers --instances a.mps.gz b.mps.gz [--time-limit 20]

The models of the first form are binary: half of the rows cover, the other half are weighted
packings, and every column has a cost. Each figure is the rate of all walkers together over a slice
of ``--seconds``, after one of the same length. Beside it stand the rate of one core, and the one
that was measured with plain code and a score of progress only, without an objective.

The second form is about the one walker that the whole GPU drives: its rounds, moves and entries per
second, and the bytes that entries must move, index, coefficient, slack and weight, as a part of
what the GPU copies. ``B`` is ``H`` with a row over all columns.

The third form runs the walkers alone, from zero and from bounds, and says when they found their
first point and what their best one was as time went on. Compilation is done before the clock
starts.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.record import Column, print_table, write_record
from solvers.core.device import Device, find_device
from solvers.core.problem import FloatArray, Problem
from solvers.mip.budget import Budget
from solvers.mip.heuristics.local_search.fleet import (
    WARP_LADDER,
    Fleet,
    GridWideFleet,
    Plan,
    steps_for,
)
from solvers.mip.heuristics.local_search.grid_wide import GRID_KERNEL, TEAMS, grid_bytes
from solvers.mip.heuristics.local_search.kernels.walk import NONE, Field
from solvers.mip.heuristics.local_search.layout import Layout, bytes_per_walker
from solvers.mip.heuristics.local_search.restarts import first_origins, gather_points
from solvers.mip.heuristics.local_search.run import run_walkers, walkers_on_cpu
from solvers.mip.model import MipModel, is_feasible
from solvers.mip.solutions.incumbents import Found, Pool

SIZES = {"S": (2_000, 2_000, 10), "M": (20_000, 20_000, 8), "L": (80_000, 100_000, 4)}
"""Rows, columns and entries of a row."""

WHOLE_SIZES = SIZES | {"H": (1_000_000, 1_000_000, 10), "B": (1_000_000, 1_000_000, 10)}
"""The same for the whole GPU's walker."""

COPY_BYTES = 4.27e12
"""Bytes per second that an H200 copies, read and written together, by measurement."""

NOTED = {
    "S": {1: 2.5e8, 4: 1.6e8, 12: 9e7},
    "M": {1: 6.9e7, 4: 6.7e7, 12: 5.8e7},
    "L": {1: 3.9e7, 4: 3.9e7, 12: 5.2e7},
}
"""Moves per second of plain code on an H200, by model and rows sampled."""

CORE_WORK = 2_000_000
"""Entries that walkers on the CPU score in a trial."""

FIRST_ROUNDS, FIRST_SLICES = 100, 100
"""Rounds of a slice, and slices at most, in which a first point is looked for."""

MARKS = (1.0, 2.0, 5.0, 10.0, 20.0, 60.0, 300.0)
"""Seconds at which the best objective is told."""


@dataclass(frozen=True)
class Rate:
    """One row of the table of rates."""

    model: str
    real: str
    rows: int
    walkers: int
    megabytes: float
    steps: float
    moves: float
    entries: float
    one_core: float
    noted: float | None


@dataclass(frozen=True)
class GridWideRate:
    """One row of the table of the whole GPU's walker."""

    model: str
    real: str
    entries_of_model: int
    teams: int
    megabytes: float
    rounds: float
    moves: float
    entries: float
    bytes: float
    of_copy: float
    first_point_rounds: float
    best: float


def synthetic(name: str, seed: int) -> MipModel:
    """Return a binary model of one of the sizes."""
    rows, columns, length = WHOLE_SIZES[name]
    rng = np.random.default_rng(seed)
    places = rng.integers(0, columns, (rows, length))
    covers = np.arange(rows) % 2 == 0
    weights = np.where(covers[:, None], 1.0, rng.integers(1, 10, (rows, length)))
    matrix = sp.csr_matrix(
        (weights.ravel(), (np.repeat(np.arange(rows), length), places.ravel())), (rows, columns)
    )
    total = np.asarray(matrix.sum(axis=1)).ravel()
    lower = np.where(covers, 1.0, -np.inf)
    upper = np.where(covers, np.inf, np.floor(0.4 * total))
    if name == "B":
        matrix = sp.vstack([matrix, sp.csr_matrix(np.ones((1, columns)))]).tocsr()
        lower, upper = np.r_[lower, -np.inf], np.r_[upper, columns // 4]
    cost = rng.integers(1, 100, columns).astype(float)
    return MipModel.of(Problem.from_arrays(cost, matrix, lower, upper, upper=1.0, integrality=True))


def core_rate(model: MipModel, seed: int) -> float:
    """Return the moves per second of walkers on one core, after a slice that loads."""
    walkers = walkers_on_cpu(model, lambda x, source: False, seed)
    before = walkers.run(Budget(work=0.1 * CORE_WORK)).moves
    began = time.perf_counter()
    moves = walkers.run(Budget(work=CORE_WORK)).moves - before
    return moves / (time.perf_counter() - began)


def start(fleet: Fleet, seed: int) -> None:
    """Set walkers to their starts."""
    places = gather_points(fleet.layout, [])
    fleet.set_points(places.points)
    fleet.restart(*first_origins(fleet.walkers, places, np.random.default_rng(seed)))


def slice_rate(fleet: Fleet, seconds: float) -> dict[str, float]:
    """Return steps, moves and entries per second over a slice of so many seconds."""
    steps = 16
    for _ in range(8):
        fleet.launch(steps)
        took = fleet.seconds()
        if took > 0.5 * seconds:
            break
        steps = steps_for(seconds, steps, took)
    before = fleet.records()
    fleet.launch(steps)
    took = fleet.seconds()
    grown = (fleet.records() - before).sum(axis=0) / took
    return {
        "steps": float(grown[Field.STEP]),
        "moves": float(grown[Field.MOVES]),
        "entries": float(grown[Field.VISITED]),
    }


def whole_rate(name: str, options: argparse.Namespace, device: Device) -> GridWideRate:
    """Measure the whole GPU's walker on a model: its rates, and what it has found by then."""
    layout = Layout.of(synthetic(name, options.seed), wide=options.wide_numbers)
    plan = Plan(GRID_KERNEL, (1,), 1, grid_bytes(layout, options.teams))
    fleet = GridWideFleet(layout, device, plan, options.seed, options.teams)
    start(fleet, options.seed)
    first = float("nan")
    for _ in range(FIRST_SLICES):
        fleet.launch(FIRST_ROUNDS)
        record = fleet.records()[0]
        if record[Field.BEST] < NONE:
            first = float(record[Field.STEP])
            break
    measured = slice_rate(fleet, options.seconds)
    best = float(fleet.records()[0, Field.BEST])
    moved = measured["entries"] * (4 + 3 * np.dtype(layout.real).itemsize)
    return GridWideRate(
        name,
        layout.real,
        layout.entries,
        options.teams,
        plan.walker_bytes / 2**20,
        measured["steps"],
        measured["moves"],
        measured["entries"],
        moved,
        moved / COPY_BYTES,
        first,
        best if best < NONE else float("nan"),
    )


def device_rate(
    layout: Layout, device: Device, walkers: int, rows: int, options: Any
) -> dict[str, float]:
    """Return steps, moves and entries per second of so many walkers that sample ``rows`` rows."""
    plan = Plan("walk", (walkers,), walkers, bytes_per_walker(layout))
    fleet = Fleet(layout, device, plan, options.seed)
    start(fleet, options.seed)
    records = fleet.records()
    records[:, Field.ROWS] = rows
    fleet.steer(records)
    return slice_rate(fleet, options.seconds)


def rates(options: argparse.Namespace, device: Device) -> list[Rate]:
    """Measure every model, number of rows and number of walkers."""
    found = []
    for name in options.models:
        model = synthetic(name, options.seed)
        core = core_rate(model, options.seed)
        layout = Layout.of(model, wide=device.kind == "cpu" or options.wide_numbers)
        for rows in options.rows:
            for walkers in options.walkers:
                measured = device_rate(layout, device, walkers, rows, options)
                found.append(
                    Rate(
                        name,
                        layout.real,
                        rows,
                        walkers,
                        walkers * bytes_per_walker(layout) / 2**20,
                        measured["steps"],
                        measured["moves"],
                        measured["entries"],
                        core,
                        NOTED[name].get(rows),
                    )
                )
                device.release_memory()
    return found


def search(path: Path, options: argparse.Namespace, device: Device) -> dict[str, Any]:
    """Run the walkers on one model; return what they found and when."""
    import gpu_bridge

    model = MipModel.of(gpu_bridge.read(str(path)))
    pool = Pool(32, model.integers)
    budget = Budget(seconds=options.time_limit)
    history: list[tuple[float, float]] = []
    lines: list[str] = []

    def submit(x: FloatArray, source: str) -> bool:
        if not is_feasible(model, x):
            return False
        better = pool.add(Found(x, model.objective_at(x), budget.seconds, source))
        if better:
            history.append((budget.seconds, pool.objective))
        return better

    counts = run_walkers(model, device, submit, budget, options.seed, pool=pool, log=lines.append)
    marks = {
        f"at {mark:g} s": next((best for at, best in reversed(history) if at <= mark), None)
        for mark in MARKS
        if mark <= options.time_limit
    }
    return {
        "model": path.name.split(".")[0],
        "rows": model.num_rows,
        "columns": model.num_columns,
        "first": history[0][0] if history else None,
        **marks,
        "best": history[-1][1] if history else None,
        "log": lines,
        "counts": asdict(counts),
    }


def show_searches(found: list[dict[str, Any]]) -> None:
    titles = [title for title in found[0] if title not in ("log", "counts")]
    columns = [Column(title, 6) for title in (*titles, "walkers", "steps/s")]
    rows = [
        [
            *(one[title] for title in titles),
            one["counts"]["walkers"],
            one["counts"]["steps"] / max(one["counts"]["seconds"], 1e-9),
        ]
        for one in found
    ]
    print_table("Walkers alone", columns, rows)


def show_whole(options: argparse.Namespace, device: Device) -> None:
    """Measure, print and record the whole GPU's walker."""
    found = [whole_rate(name, options, device) for name in options.whole or ("M", "H", "B")]
    columns = [Column(field) for field in GridWideRate.__dataclass_fields__]
    rows = [list(asdict(row).values()) for row in found]
    print_table("Rounds, moves, entries and bytes per second of one walker", columns, rows)
    content = {"slice": options.seconds, "rates": [asdict(row) for row in found]}
    write_record("mip-walkers-whole", content, device=device, seed=options.seed)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--models", nargs="*", default=list(SIZES), choices=list(SIZES))
    parser.add_argument("--rows", nargs="*", type=int, default=[1, 4, 12])
    parser.add_argument("--walkers", nargs="*", type=int, default=list(WARP_LADDER))
    parser.add_argument("--wide-numbers", action="store_true", help="64 bits whatever the model")
    parser.add_argument("--seconds", type=float, default=0.05, help="length of a slice")
    parser.add_argument("--whole", nargs="*", choices=list(WHOLE_SIZES), help="M, H and B if empty")
    parser.add_argument("--teams", type=int, default=TEAMS, help="of the whole GPU's walker")
    parser.add_argument("--instances", nargs="*", type=Path, default=[])
    parser.add_argument("--time-limit", type=float, default=20.0)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def main() -> None:
    options = parse()
    device = find_device(options.device)
    if options.instances:
        small = synthetic("S", options.seed)  # compiles, before any clock starts
        for wide in (False, True):
            device_rate(Layout.of(small, wide=wide), device, 4, 1, options)
        found = [search(path, options, device) for path in options.instances]
        show_searches(found)
        write_record("mip-walkers-instances", {"runs": found}, device=device, seed=options.seed)
        return
    if options.whole is not None:
        show_whole(options, device)
        return
    table = rates(options, device)
    columns = [Column(field) for field in Rate.__dataclass_fields__]
    print_table("Steps, moves and entries per second", columns, [
        list(asdict(row).values()) for row in table
    ])  # fmt: skip
    content = {"slice": options.seconds, "rates": [asdict(row) for row in table]}
    write_record("mip-walkers", content, device=device, seed=options.seed)


if __name__ == "__main__":
    main()
