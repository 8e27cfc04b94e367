"""Many LPs of one structure: all together against a loop of HiGHS over all cores.

    python -m benchmarks.batch [--count 10000] [--sizes 20x40 50x100] [--vary row_upper cost]

The LPs are random, with bounds on all columns so that each has an optimum, dense or with a tenth
of their entries. ``solve_many`` is timed from the arrays to the verified results, with transfers,
and the engine alone; after a warm-up, the median of three. HiGHS solves a sample of the same LPs,
one thread in each of as many processes as there are cores; its time for all follows from that,
without what starting processes and bringing data to them would take.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import statistics
import time
from collections.abc import Callable
from typing import Any

import highspy
import numpy as np

import gpu_bridge
from benchmarks.record import Column, print_table, write_record
from gpu_bridge import Batch, Problem
from gpu_bridge.many_together import engine_data
from gpu_bridge.options import make_options
from solvers.device import Device, find_device
from solvers.pdlp import batch as engine
from solvers.progress import Progress

SIZES = ("20x40", "50x100", "100x200")
DENSITIES = (1.0, 0.1)
TOLERANCES = (1e-4, 1e-6, 1e-8)
REPEATS = 3
SAMPLE = 200
"""LPs that HiGHS solves, in each process."""

COLUMNS = (
    Column("rows x columns"),
    Column("density"),
    Column("vary"),
    Column("tolerance"),
    Column("together s"),
    Column("engine s"),
    Column("verified"),
    Column("its median"),
    Column("its most"),
    Column("HiGHS ms/LP"),
    Column("HiGHS loop s"),
    Column("times faster", 3),
)


def main() -> None:
    arguments = _arguments()
    device = find_device(arguments.device)
    cores = len(os.sched_getaffinity(0))
    rows: list[dict[str, Any]] = []
    for size in arguments.sizes:
        for density in arguments.densities:
            m, n = map(int, size.split("x"))
            batch = random_batch(
                arguments.seed, arguments.count, m, n, density, tuple(arguments.vary)
            )
            per_lp = highs_seconds(batch, arguments.sample, cores)
            for tolerance in arguments.tolerances:
                row = measure(batch, device, tolerance)
                loop = per_lp * arguments.count / cores
                row |= {
                    "rows x columns": size,
                    "density": density,
                    "vary": " ".join(arguments.vary),
                    "tolerance": tolerance,
                    "HiGHS ms/LP": 1e3 * per_lp,
                    "HiGHS loop s": loop,
                    "times faster": loop / row["together s"],
                }
                rows.append(row)
    title = f"{arguments.count} LPs on {device.name}, HiGHS on {cores} cores"
    cells = [[row[column.title] for column in COLUMNS] for row in rows]
    print_table(title, COLUMNS, cells)
    sample = min(arguments.sample, arguments.count)
    content = {"count": arguments.count, "cores": cores, "sample": sample, "rows": rows}
    write_record("batch", content, device=device, seed=arguments.seed)


def random_batch(
    seed: int, count: int, rows: int, columns: int, density: float, vary: tuple[str, ...]
) -> Batch:
    """Return LPs ``A x <= b, 0 <= x <= 1`` with data varying around a feasible base."""
    generator = np.random.default_rng(seed)
    A = generator.standard_normal((rows, columns))
    A *= generator.uniform(size=A.shape) < density
    sides = A @ generator.uniform(0, 1, columns) + generator.uniform(0, 1, rows)
    base = Problem.from_arrays(generator.standard_normal(columns), A, -np.inf, sides, upper=1.0)
    sizes = {"cost": columns, "upper": columns, "row_upper": rows}
    data = {}
    for name in vary:
        if name == "coefficients":
            # not above the base, so that the base's feasible points stay feasible
            noise = generator.uniform(0.9, 1.0, (count, base.num_nonzeros))
            data[name] = base.matrix.data * np.where(base.matrix.data > 0, noise, 2.0 - noise)
        elif name == "cost":
            data[name] = generator.standard_normal((count, columns))
        else:
            data[name] = getattr(base, name) + generator.uniform(0, 0.5, (count, sizes[name]))
    return Batch(base, **data)


def measure(batch: Batch, device: Device, tolerance: float) -> dict[str, Any]:
    """Time solve_many and the engine alone, and count what is verified."""
    wishes: dict[str, Any] = {"method": "pdlp", "device": device.kind, "tolerance": tolerance}
    found = gpu_bridge.solve_many(batch, **wishes)  # compiles, and fills memory pools
    options = make_options(wishes)
    data = engine_data(batch)
    answers: list[engine.BatchAnswer] = []
    repeats = range(REPEATS if device.kind == "cuda" else 1)
    alone = [
        _seconds(lambda: answers.append(engine.solve(data, options, Progress()))) for _ in repeats
    ]
    together = [_seconds(lambda: gpu_bridge.solve_many(batch, **wishes)) for _ in repeats]
    iterations = answers[0].iterations
    verified = sum(outcome.engine == "pdlp" for outcome in found)
    return {
        "together s": statistics.median(together),
        "engine s": statistics.median(alone),
        "verified": verified,
        "its median": float(np.median(iterations)),
        "its most": int(iterations.max()),
    }


def highs_seconds(batch: Batch, sample: int, cores: int) -> float:
    """Return the seconds HiGHS takes for an LP while all cores are at it."""
    members = [[k % len(batch) for k in range(c, c + sample)] for c in range(cores)]
    shares = [[batch.member(k) for k in share] for share in members]
    with multiprocessing.get_context("spawn").Pool(cores) as pool:
        pool.map(_highs_share, [share[:2] for share in shares], chunksize=1)
        return statistics.mean(pool.map(_highs_share, shares, chunksize=1))


def _highs_share(problems: list[Problem]) -> float:
    """Solve a share of the LPs one after the other; return the seconds for one."""
    models = [_model(problem) for problem in problems]
    began = time.perf_counter()
    for model in models:
        highs = highspy.Highs()
        highs.silent()
        highs.setOptionValue("threads", 1)
        highs.passModel(model)
        highs.run()
    return (time.perf_counter() - began) / len(problems)


def _model(problem: Problem) -> highspy.HighsLp:
    lp = highspy.HighsLp()
    A = problem.matrix
    lp.num_row_, lp.num_col_ = problem.num_rows, problem.num_columns
    lp.col_cost_, lp.offset_ = problem.cost, problem.offset
    lp.col_lower_, lp.col_upper_ = problem.lower, problem.upper
    lp.row_lower_, lp.row_upper_ = problem.row_lower, problem.row_upper
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_, lp.a_matrix_.index_ = A.indptr, A.indices
    lp.a_matrix_.value_ = A.data
    return lp


def _seconds(work: Callable[[], Any]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--device", default="auto", choices=("auto", "cuda", "cpu"))
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--sizes", nargs="+", default=SIZES)
    parser.add_argument("--densities", type=float, nargs="+", default=DENSITIES)
    parser.add_argument("--tolerances", type=float, nargs="+", default=TOLERANCES)
    parser.add_argument(
        "--vary",
        nargs="+",
        default=("row_upper", "cost"),
        choices=("cost", "upper", "row_upper", "coefficients"),
    )
    parser.add_argument("--sample", type=int, default=SAMPLE)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


if __name__ == "__main__":
    main()
