"""Local search on one CPU thread: moves per second, and what it finds beside Local-MIP.

    python -m benchmarks.mip_search [--work 2e8] [--models a.mps.gz b.mps.gz]
        [--seconds 5] [--seeds 0 1 2] [--compare]

First the synthetic models (half covering, half packing rows, binaries): moves and entries scored
per second, by the thread's own clock. Then, for the models given, the best feasible point in so
many seconds of CPU time, without any LP behind it; with ``--compare`` the package ``localmip``
searches them first, on one thread for so many seconds by the wall clock, and the walkers get the
CPU time that this took.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from benchmarks.record import Column, print_table, write_record
from gpu_bridge import read
from solvers.core.problem import FloatArray, Problem
from solvers.mip.budget import Budget
from solvers.mip.heuristics.local_search.run import walkers_on_cpu
from solvers.mip.model import MipModel, is_feasible

SIZES = {"S": (2_000, 2_000, 10), "M": (20_000, 20_000, 8), "L": (100_000, 80_000, 3)}
"""Rows, columns and entries in a row of the synthetic models."""

PEER = """
import sys, time, localmip_py
search = localmip_py.LocalMIP()
search.set_model_file(sys.argv[1])
search.set_time_limit(float(sys.argv[2]))
search.set_random_seed(int(sys.argv[3]))
search.set_log_obj(False)
began = time.process_time()
search.run()
print("FOUND", search.get_obj_value() if search.is_feasible() else None,
      time.process_time() - began)
"""
"""What the peer runs, in a process of its own: it ends the process on models it cannot read."""


@dataclass(frozen=True)
class Speed:
    """How fast walkers walk on one model."""

    model: str
    moves_per_second: float
    entries_per_second: float
    entries_per_move: float


@dataclass(frozen=True)
class Race:
    """The best point of one solver on one model."""

    model: str
    solver: str
    seed: int
    objective: float | None
    first: float | None
    seconds: float


def synthetic(rows: int, columns: int, per_row: int, seed: int = 0) -> MipModel:
    """Return half covering rows (two of each), half packing rows with weights up to 20."""
    rng = np.random.default_rng(seed)
    row = np.repeat(np.arange(rows), per_row)
    covering = np.arange(rows) < rows // 2
    value = np.where(covering[row], 1.0, rng.integers(1, 20, row.size).astype(float))
    A = sp.csr_array((value, (row, rng.integers(columns, size=row.size))), shape=(rows, columns))
    room = np.floor(0.4 * np.asarray(A.sum(axis=1)).ravel())
    problem = Problem.from_arrays(
        rng.integers(1, 50, columns).astype(float),
        A,
        np.where(covering, 2.0, -np.inf),
        np.where(covering, np.inf, room),
        upper=1.0,
        integrality=True,
    )
    return MipModel.of(problem)


def speed(name: str, model: MipModel, work: float) -> Speed:
    """Walk for so many entries after a start of a tenth of that."""
    walkers = walkers_on_cpu(model, lambda x, source: False, 0)
    before = replace(walkers.run(Budget(work=0.1 * work)))
    began = time.thread_time()
    after = walkers.run(Budget(work=work))
    seconds = max(time.thread_time() - began, 1e-9)
    moves, visited = after.moves - before.moves, after.visited - before.visited
    return Speed(name, moves / seconds, visited / seconds, visited / max(moves, 1))


def ours(name: str, problem: Problem, seconds: float, seed: int) -> Race:
    """Walk for so many seconds of CPU time; points are only checked."""
    model = MipModel.of(problem)
    found: list[tuple[float, float]] = []
    began = time.thread_time()

    def submit(x: FloatArray, source: str) -> bool:
        objective = model.objective_at(x)
        better = is_feasible(model, x) and (not found or objective < found[-1][0])
        if better:
            found.append((objective, time.thread_time() - began))
        return better

    budget = Budget(stop=lambda: time.thread_time() - began > seconds)
    walkers_on_cpu(model, submit, seed).run(budget)
    sign = -1.0 if problem.maximize else 1.0
    return Race(
        name,
        "walk",
        seed,
        sign * found[-1][0] if found else None,
        found[0][1] if found else None,
        time.thread_time() - began,
    )


def localmip(name: str, path: str, seconds: float, seed: int) -> Race:
    """Run the peer on the model as HiGHS writes it; a model that it refuses counts as no point."""
    from highspy import Highs

    highs = Highs()
    highs.setOptionValue("output_flag", False)
    highs.readModel(path)
    with tempfile.TemporaryDirectory() as folder:
        plain = str(Path(folder) / "model.mps")
        highs.writeModel(plain)
        done = subprocess.run(
            [sys.executable, "-c", PEER, plain, str(seconds), str(seed)],
            capture_output=True,
            text=True,
            check=False,
        )
    lines = [line.split() for line in done.stdout.splitlines() if line.startswith("FOUND")]
    if not lines:
        return Race(name, "localmip", seed, None, None, 0.0)
    _, objective, spent = lines[-1]
    value = None if objective == "None" else float(objective)
    return Race(name, "localmip", seed, value, None, float(spent))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--work", type=float, default=2e8, help="entries visited for a speed")
    parser.add_argument("--models", nargs="*", default=[], help="MPS or LP files")
    parser.add_argument("--seconds", type=float, default=5.0, help="CPU time for each model")
    parser.add_argument("--seeds", nargs="*", type=int, default=[0])
    parser.add_argument("--compare", action="store_true", help="run the package localmip, too")
    chosen = parser.parse_args(arguments)

    tempo = [speed(name, synthetic(*size), chosen.work) for name, size in SIZES.items()]
    titles = ("model", "moves/s", "entries/s", "entries/move")
    rows = [tuple(asdict(row).values()) for row in tempo]
    print_table("walkers, one thread", [Column(title, 3) for title in titles], rows)

    races: list[Race] = []
    for path in chosen.models:
        name = Path(path).name.split(".")[0]
        for seed in chosen.seeds:
            seconds = chosen.seconds
            if chosen.compare:
                races.append(localmip(name, path, chosen.seconds, seed))
                seconds = races[-1].seconds or seconds
            races.append(ours(name, read(path), seconds, seed))
    if races:
        heads = ("model", "solver", "seed", "objective", "first (s)", "CPU (s)")
        rows = [tuple(asdict(race).values()) for race in races]
        print_table("best point, no LP", [Column(head, 8) for head in heads], rows)
    write_record(
        "mip_search",
        {"speed": [asdict(row) for row in tempo], "points": [asdict(race) for race in races]},
    )


if __name__ == "__main__":
    main()
