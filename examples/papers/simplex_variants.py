"""The table of "GPU Accelerated Simplex Solver": four variants beside HiGHS on linear programs.

    python examples/papers/simplex_variants.py [MODEL.mps.gz ...] [--time-limit 60]

Every solver gets what HiGHS's presolve leaves of a model, as in the paper (Tissier et al., ETH
Zurich), and its objective is compared with that of HiGHS. Without a model it is three of Netlib's
smallest. ``graphs`` and ``resident`` run by NumPy where there is no GPU.
``python -m benchmarks.simplex`` is the measurement in full.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # of which benchmarks are a part

from benchmarks.linear_programs import LinearProgram, read
from benchmarks.peers.solver import Task
from benchmarks.record import Column, print_table
from benchmarks.simplex import objective, run_of
from benchmarks.simplex_engines import make
from benchmarks.simplex_rows import PAPER_ACCURACY, SUMMARY, summarise
from benchmarks.worker import Timed
from solvers.papers.simplex_variants import VARIANTS

DATA = Path(__file__).resolve().parents[2] / "tests" / "data"
MODELS = [DATA / f"{name}.mps.gz" for name in ("afiro", "adlittle", "forplan")]


def main() -> None:
    """Solve the models and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("models", nargs="*", type=Path, default=MODELS)
    parser.add_argument("--time-limit", type=float, default=60.0)
    parser.add_argument("--device", default="auto")
    arguments = parser.parse_args()
    task = Task(1e-6, arguments.time_limit, presolve=False)
    runs = []
    for path in arguments.models:
        reference = objective(read(path), solved("highs", read(path), task).answer)
        reduced = read(path, presolved=True)
        for name in (*VARIANTS, "highs"):
            timed = solved(name, reduced, task, arguments.device)
            runs.append(run_of(reduced, name, [timed], 1, reference))
    table = summarise(runs, arguments.time_limit)
    print_table("Simplex solvers", [Column(title, 3) for title in SUMMARY], table)
    right = sum(run.correct(PAPER_ACCURACY) for run in runs)
    print(f"{right} of {len(runs)} solves end at the objective of HiGHS.")


def solved(name: str, lp: LinearProgram, task: Task, device: str = "auto") -> Timed:
    """Return a solver's answer and its time, without that of making its model."""
    solver = make(name, device)
    model = solver.prepare(lp, task)
    began = time.perf_counter()
    answer = solver.solve(model, task)
    return Timed(answer, time.perf_counter() - began)


if __name__ == "__main__":
    main()
