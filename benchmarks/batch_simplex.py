"""Many LPs of one shape by the batched simplex method, against HiGHS over all cores.

    python -m benchmarks.batch_simplex [--count 10000] [--sizes 20x40 50x100 100x200]
                                       [--cases fresh own sweep] [--cpu-count 1000]

The LPs are dense and random, with bounds on all columns so that each has an optimum. ``fresh``
ones differ in costs and sides and start from slacks, ``own`` ones also have a matrix each, and in a
``sweep`` only sides differ and all start from the basis of one of them. ``solve_many`` is timed
from the arrays to the verified results, with transfers, with and without the activities and reduced
costs that are computed when somebody asks, and the engine alone; after a warm-up, the median of
five. HiGHS solves a sample of the same LPs, one thread in each of as many processes as
there are cores; in a sweep it changes the sides of one model and starts from its last basis. Its
time for all follows from that, without what starting processes and bringing data would take.

A pivot updates a dictionary of m n numbers and makes 4 m n operations of it (the update, and the
squares for pricing), or 6 m n where threads hold it in registers (basic values, too). On a GPU the
table says what part of the shared memory's bandwidth reading and writing it there takes, or would
take, and of the arithmetic (64 fused multiply-adds of doubles a clock and multiprocessor) the
4 m n.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import highspy
import numpy as np

import gpu_bridge
from benchmarks.record import Column, print_table, write_record
from gpu_bridge import Batch, Problem
from gpu_bridge.batch.simplex import simplex_data
from gpu_bridge.options import make_options
from solvers.core.device import Device, cpu, find_device
from solvers.core.outcome import Start
from solvers.core.progress import Progress
from solvers.simplex import batch as engine
from solvers.simplex.batch import BatchAnswer

SIZES = ("20x40", "50x100", "100x200")
CASES = {
    "fresh": ("row_upper", "cost"),
    "own": ("row_upper", "cost", "coefficients"),
    "sweep": ("row_upper",),
}
"""What differs from LP to LP, by the name of the case."""

REPEATS = 5
SAMPLE = 200
"""LPs that HiGHS solves, in each process."""

BYTES_PER_CLOCK = 128
"""What a multiprocessor's shared memory moves in a clock (CUDA programming guide)."""

FLOPS_PER_CLOCK = 128
"""Double precision of a multiprocessor of a H100 or H200, 64 fused multiply-adds."""

REAL = 8

COLUMNS = (
    Column("rows x columns"),
    Column("case"),
    Column("engine"),
    Column("LPs"),
    Column("together s"),
    Column("and reduced costs s"),
    Column("engine s"),
    Column("verified"),
    Column("pivots each"),
    Column("us/LP"),
    Column("shared memory", 3),
    Column("arithmetic", 3),
    Column("HiGHS ms/LP"),
    Column("times faster", 3),
)


@dataclass(frozen=True)
class Case:
    """A batch, where it starts, and what HiGHS takes for each of its LPs on all cores together."""

    size: str
    name: str
    batch: Batch
    start: Start | None
    highs: float
    """Seconds of one LP on one core, while the other cores are at it too."""


def main() -> None:
    arguments = _arguments()
    device = find_device(arguments.device)
    cores = len(os.sched_getaffinity(0))
    deadline = time.monotonic() + arguments.stop_after
    rows: list[dict[str, Any]] = []
    for size in arguments.sizes:
        for name in arguments.cases:
            if time.monotonic() > deadline:
                continue
            case = make_case(size, name, arguments, cores)
            if device.kind == "cuda":
                rows.append(measure(case, case.batch, device, cores))
            part = head(case.batch, arguments.cpu_count)
            rows.append(measure(case, part, cpu(), cores))
            print(rows[-1], flush=True)
    title = f"{arguments.count} LPs on {device.name}, HiGHS on {cores} cores"
    print_table(title, COLUMNS, [[row[column.title] for column in COLUMNS] for row in rows])
    content = {
        "count": arguments.count,
        "cores": cores,
        "sample": arguments.sample,
        "rows": rows,
    }
    write_record("batch_simplex", content, device=device, seed=arguments.seed)


def make_case(size: str, name: str, arguments: argparse.Namespace, cores: int) -> Case:
    """Draw the LPs and time HiGHS on them."""
    m, n = map(int, size.split("x"))
    batch = random_batch(arguments.seed, arguments.count, m, n, CASES[name])
    if name != "sweep":
        return Case(size, name, batch, None, highs_seconds(batch, arguments.sample, cores))
    first = gpu_bridge.solve(batch.member(0), method="highs")
    start = Start(basis=first.basis)
    return Case(size, name, batch, start, sweep_seconds(batch, arguments.sample, cores))


def random_batch(seed: int, count: int, rows: int, columns: int, vary: tuple[str, ...]) -> Batch:
    """Return LPs ``A x <= b, 0 <= x <= 1`` with data varying around a feasible base."""
    generator = np.random.default_rng(seed)
    A = generator.standard_normal((rows, columns))
    sides = A @ generator.uniform(0, 1, columns) + generator.uniform(0, 1, rows)
    base = Problem.from_arrays(generator.standard_normal(columns), A, -np.inf, sides, upper=1.0)
    data = {}
    for name in vary:
        if name == "coefficients":
            # not above the base, so that the base's feasible points stay feasible
            noise = generator.uniform(0.9, 1.0, (count, base.num_nonzeros))
            data[name] = base.matrix.data * np.where(base.matrix.data > 0, noise, 2.0 - noise)
        elif name == "cost":
            data[name] = generator.standard_normal((count, columns))
        else:
            data[name] = base.row_upper + generator.uniform(0, 0.5, (count, rows))
    return Batch(base, **data)


def head(batch: Batch, count: int) -> Batch:
    """Return the first members of a batch: the CPU need not solve them all."""
    names = ("cost", "row_upper", "coefficients")
    data = {name: getattr(batch, name) for name in names}
    return Batch(batch.problem, **{k: v[:count] for k, v in data.items() if v is not None})


def measure(case: Case, batch: Batch, device: Device, cores: int) -> dict[str, Any]:
    """Time solve_many and the engine alone, and count what is verified."""
    wishes: dict[str, Any] = {"method": "simplex", "device": device.kind}

    def together() -> Any:
        return gpu_bridge.solve_many(batch, start=case.start, **wishes)

    def together_and_more() -> Any:
        found = together()
        return found.reduced_cost, found.row_activity

    found = together()  # compiles, and fills memory pools
    together_and_more()
    options = make_options(wishes)
    data = simplex_data(batch, case.start)
    answers: list[BatchAnswer] = []
    repeats = range(REPEATS if device.kind == "cuda" else 1)
    alone = [
        _seconds(lambda: answers.append(engine.solve(data, options, Progress()))) for _ in repeats
    ]
    seconds, more_seconds = (
        statistics.median([_seconds(work) for _ in repeats])
        for work in (together, together_and_more)
    )
    engine_seconds = statistics.median(alone)
    pivots = float(answers[0].iterations.sum())
    shared, arithmetic = limits(case.batch.problem, pivots, engine_seconds, device)
    return {
        "rows x columns": case.size,
        "case": case.name,
        "engine": device.kind,
        "LPs": len(batch),
        "together s": seconds,
        "and reduced costs s": more_seconds,
        "engine s": engine_seconds,
        "verified": sum(outcome.engine == "simplex" for outcome in found),
        "pivots each": pivots / len(batch),
        "us/LP": 1e6 * seconds / len(batch),
        "shared memory": shared,
        "arithmetic": arithmetic,
        "HiGHS ms/LP": 1e3 * case.highs,
        "times faster": case.highs * len(batch) / cores / seconds,
    }


def limits(
    problem: Problem, pivots: float, seconds: float, device: Device
) -> tuple[float | None, float | None]:
    """Return the parts of shared-memory bandwidth and of arithmetic that pivots take."""
    if device.kind != "cuda":
        return None, None
    attributes = device.xp.cuda.Device().attributes
    clocks = 1e3 * attributes["ClockRate"] * attributes["MultiProcessorCount"] * seconds
    entries = problem.num_rows * problem.num_columns * pivots
    moved, operations = 2 * REAL * entries, 4 * entries
    return moved / (BYTES_PER_CLOCK * clocks), operations / (FLOPS_PER_CLOCK * clocks)


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


def sweep_seconds(batch: Batch, sample: int, cores: int) -> float:
    """Return the seconds HiGHS takes for an LP of a sweep while all cores are at it."""
    sides = batch.row_upper
    assert sides is not None
    shares = [
        (batch.member(0), sides[[k % len(batch) for k in range(c, c + sample)]])
        for c in range(cores)
    ]
    with multiprocessing.get_context("spawn").Pool(cores) as pool:
        pool.map(_sweep_share, [(base, rows[:2]) for base, rows in shares], chunksize=1)
        return statistics.mean(pool.map(_sweep_share, shares, chunksize=1))


def _sweep_share(share: tuple[Problem, Any]) -> float:
    """Solve a share of a sweep, each LP from the basis of the last; return the seconds for one."""
    base, sides = share
    highs = highspy.Highs()
    highs.silent()
    highs.setOptionValue("threads", 1)
    highs.passModel(_model(base))
    highs.run()
    rows = np.arange(base.num_rows, dtype=np.int32)
    began = time.perf_counter()
    for upper in sides:
        highs.changeRowsBounds(base.num_rows, rows, base.row_lower, upper)
        highs.run()
    return (time.perf_counter() - began) / len(sides)


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


def _arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--device", default="auto", choices=("auto", "cuda", "cpu"))
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--cpu-count", type=int, default=1000)
    parser.add_argument("--sizes", nargs="+", default=SIZES)
    parser.add_argument("--cases", nargs="+", default=tuple(CASES), choices=tuple(CASES))
    parser.add_argument("--sample", type=int, default=SAMPLE)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--stop-after", type=float, default=float("inf"), metavar="SECONDS")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
