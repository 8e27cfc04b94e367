"""Dense LU: a paper's table repeated, beside the libraries.

    python -m benchmarks.lu [--points 25 ... 800] [--device auto|cuda|cpu] [--seed 0]
                            [--slowest 20] [--stop-after SECONDS]

*Systems* of n = 4 M equations, M the grid points of De Luca, Fiorillo, Marcellino, *A GPU-CUDA
numerical algorithm for solving a biological model* (2025), table 2: ``factorise`` and
``solve`` are ``solvers.papers.dense_lu.lu``, from a matrix and a right-hand side on the device to
an answer whose pivots have been judged; ``raw`` is the library's getrf alone, with the copy that
keeps the matrix (cuSOLVER on a GPU, LAPACK on a CPU); ``three kernels`` the paper's scheme as it
is written, with its transfers; ``host`` LAPACK on the CPU. ``by inverse`` multiplies with the
inverse instead of solving. The paper's own times are those that its text names; it ran on an H100,
which differs from an H200 in memory only. The limit is the rate of a large matrix product in the
same run.

Times are wall times with the device waited for, medians after a warm-up.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy.linalg

from benchmarks.record import Column, print_table, write_record
from solvers.core.device import Device, cpu, find_device
from solvers.papers.dense_lu import lu
from solvers.papers.dense_lu.elimination import Elimination, solve_by_elimination
from solvers.papers.sparse_formats.machine import seconds_per_call

POINTS = (25, 40, 50, 75, 100, 150, 200, 256, 300, 400, 500, 512, 800)
"""From the paper's first to its last; its text names 25, 400, 500, 512 and 800."""

PUBLISHED = {25: (0.1204, 0.0347), 400: (None, 1.695)}
"""Seconds of the paper's CPU (one core of a Xeon E5-2698 v4) and GPU (H100), by M."""

PUBLISHED_PHASES = {"to_device": 0.01041, "to_host": 0.01031, "substitution": 0.08517}
"""The paper's table 4, M = 400; elimination is the rest of 1.695 s."""

PRODUCT_SIZE = {"cpu": 2048, "cuda": 8192}
"""Size of the matrix product whose rate is the limit."""

FEW = 3
"""Repeats of what takes longer than a tenth of a second."""

Row = dict[str, Any]

SYSTEM_COLUMNS = (
    *("M", "n", "factorise ms", "raw ms", "of raw", "solve ms", "by inverse ms"),
    *("three kernels ms", "host ms", "paper ms", "paper / ours", "Gflop/s", "of limit"),
)


def main() -> None:
    """Measure the systems, print and record them."""
    arguments = _arguments()
    device = find_device(arguments.device)
    deadline = time.monotonic() + arguments.stop_after
    with device.activate():
        limit = product_rate(device)
        systems = systems_table(device, arguments, limit, deadline)
    title = f"Systems on {device.name}; products at {limit / 1e9:.4g} Gflop/s"
    print_table(
        title,
        [Column(k) for k in SYSTEM_COLUMNS],
        [list(map(row.get, SYSTEM_COLUMNS)) for row in systems],
    )
    content = {"limit flop/s": limit, "systems": systems}
    write_record("lu", content, device=device, seed=arguments.seed)


def systems_table(
    device: Device, arguments: argparse.Namespace, limit: float, deadline: float
) -> list[Row]:
    """Measure the systems, smallest first; what would take too long is left out of a row."""
    rows: list[Row] = []
    slow = Growth(arguments.slowest)
    for points in sorted(arguments.points):
        if time.monotonic() > deadline:
            print(f"Time is up; stopped before M = {points}.")
            break
        rows.append(measure_system(device, points, arguments.seed, limit, slow))
        row = rows[-1]
        print(f"M = {points}: {row['factorise ms']:.4g} ms, raw {row['raw ms']:.4g} ms", flush=True)
    return rows


def measure_system(
    device: Device, points: int, seed: int, limit: float, slow: Growth
) -> Row:  # fmt: skip
    """Time every way to solve one system."""
    n = 4 * points
    generator = np.random.default_rng(seed)
    matrix, side = generator.standard_normal((n, n)), generator.standard_normal(n)
    held, b = device.to_device(matrix), device.to_device(side)
    factorise = wall(device, lambda: lu.factorise(held, device))
    factors = lu.factorise(held, device)
    inverse = lu.inverse(factors)
    solve = wall(device, lambda: lu.solve(factors, b))
    raw = wall(device, raw_factorisation(device, held))
    three = slow.measure(n, lambda: solve_by_elimination(matrix, side, device))
    flops = 2.0 / 3.0 * n**3
    _, published = PUBLISHED.get(points, (None, None))
    ours = factorise + solve
    return {
        "M": points,
        "n": n,
        "factorise ms": 1e3 * factorise,
        "raw ms": 1e3 * raw,
        "of raw": factorise / raw,
        "solve ms": 1e3 * solve,
        "inverse ms": 1e3 * wall(device, lambda: lu.inverse(factors)),
        "by inverse ms": 1e3 * wall(device, lambda: inverse @ b),
        "three kernels ms": None if three is None else 1e3 * three.seconds,
        "host ms": 1e3 * wall(cpu(), lambda: scipy.linalg.lu_factor(matrix, check_finite=False)),
        "paper ms": _ms(published),
        "paper / ours": None if published is None else published / ours,
        "Gflop/s": flops / factorise / 1e9,
        "of limit": flops / factorise / limit,
        "phases": None if three is None else phases_of(three),
        "paper phases": PUBLISHED_PHASES if points == 400 else None,
        "disagreement": None if three is None else disagreement(device, factors, b, three.x),
    }  # fmt: skip


class Growth:
    """Leaves a cubic computation out once its time would pass a limit."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.last: tuple[int, float] | None = None

    def measure(self, n: int, work: Callable[[], Elimination]) -> Elimination | None:
        """Return the run whose time is the median of three, or None where it would take long."""
        if self.last is not None and self.last[1] * (n / self.last[0]) ** 3 > self.seconds:
            return None
        work()
        runs = sorted((work() for _ in range(FEW)), key=lambda run: run.seconds)
        self.last = (n, runs[FEW // 2].seconds)
        return runs[FEW // 2]


def phases_of(run: Elimination) -> dict[str, float]:
    names = ("to_device", "elimination", "to_host", "substitution")
    return {name: getattr(run, name) for name in names}


def disagreement(device: Device, factors: lu.Factors, b: Any, other: Any) -> float:
    """Return how far two solutions are apart, relative to their largest element."""
    x = device.to_host(lu.solve(factors, b))
    return float(np.abs(x - other).max() / np.abs(x).max())


def raw_factorisation(device: Device, matrix: Any) -> Callable[[], object]:
    """Return a copy and a getrf, all memory at hand."""
    if device.kind == "cpu":
        return partial(scipy.linalg.lapack.dgetrf, np.asfortranarray(matrix))
    from cupy.cuda import cusolver
    from cupy.cuda import device as cupy_device

    xp, n = device.xp, int(matrix.shape[0])
    source, columns = matrix.T.copy(), xp.empty((n, n))
    handle = cupy_device.get_cusolver_handle()
    workspace = xp.empty(cusolver.dgetrf_bufferSize(handle, n, n, columns.data.ptr, n))
    interchanges, status = xp.empty(n, xp.int32), xp.empty(1, xp.int32)
    arrays = [a.data.ptr for a in (workspace, interchanges, status)]

    def run() -> None:
        xp.copyto(columns, source)
        cusolver.dgetrf(handle, n, n, columns.data.ptr, n, *arrays)

    return run


def product_rate(device: Device) -> float:
    """Return the operations per second of a large matrix product."""
    n = PRODUCT_SIZE[device.kind]
    a, b, c = (device.to_device(np.ones((n, n))) for _ in range(3))
    return 2.0 * n**3 / wall(device, lambda: device.xp.matmul(a, b, out=c))


def wall(device: Device, work: Callable[[], object]) -> float:
    """Return the median seconds of a call, fewer of them where it is long."""

    def waited() -> None:
        work()
        device.synchronize()

    waited()
    began = time.perf_counter()
    waited()
    if time.perf_counter() - began < 0.1:
        return seconds_per_call(device, waited, graph=False)
    return seconds_per_call(device, waited, graph=False, repeats=FEW)


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else 1e3 * seconds


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--points", nargs="*", type=int, default=list(POINTS))
    parser.add_argument("--device", default="auto")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--slowest", type=float, default=20.0, help="seconds that the three kernels may take"
    )
    parser.add_argument("--stop-after", type=float, default=900.0, help="seconds")
    return parser.parse_args()


if __name__ == "__main__":
    main()
