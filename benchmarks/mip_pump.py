"""Feasibility pumps: what projections cost one by one and side by side, and how many a second.

    python -m benchmarks.mip_pump products [--device auto] [--rows 2000 20000 200000]
    python -m benchmarks.mip_pump pumps [FILES...] [--device auto] [--seconds 10]

*products* times iterations of PDLP on made-up covering and packing relaxations with ten entries
in a row: one problem at a time, and 8, 16 and 32 with one matrix. A projection is a few hundred
to thousands of iterations, so the ratio of the columns is that of the projections. *pumps* runs
one pump, and eight and sixteen in lockstep, on models: projections a second, and what they found.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import gpu_bridge
from benchmarks.record import Column, print_table, write_record
from solvers.core.device import Device, find_device
from solvers.core.options import EngineOptions
from solvers.core.problem import FloatArray, Problem
from solvers.core.progress import Progress
from solvers.mip.heuristics.feasibility_pump.projection import Augmented
from solvers.mip.heuristics.feasibility_pump.run import ALPHAS, Pumps
from solvers.mip.heuristics.feasibility_pump.steps import by_propagation
from solvers.mip.heuristics.feasibility_pump.trajectory import Manner
from solvers.mip.inference.relaxation import Root, first_order, root_relaxation
from solvers.mip.model import MipModel
from solvers.mip.portfolio.budget import Budget
from solvers.mip.solutions.incumbents import Found, Pool, Submit
from solvers.mip.solutions.polish import Polisher
from solvers.pdlp.shared_matrix import SharedMatrix
from solvers.pdlp.warm_started import WarmStarted

Row = dict[str, Any]

WIDTHS = (8, 16, 32)
ROW_LENGTH = 10
REPEATS = 3
POLISH_SECONDS = 1.0


def main() -> None:
    """Run one of the two and record its table."""
    arguments = _arguments()
    device = find_device(arguments.device)
    rows = list(PARTS[arguments.part](arguments, device))
    title = f"Feasibility pumps, {arguments.part}, on {device.name}"
    print_table(title, [Column(name) for name in rows[0]], [list(row.values()) for row in rows])
    write_record(f"mip-pump-{arguments.part}", {"rows": rows}, device=device, seed=0)


def products(arguments: argparse.Namespace, device: Device) -> Iterator[Row]:
    """Time the same number of iterations of one problem and of several."""
    options = EngineOptions(threads=0, tolerance=1e-10)
    for rows in arguments.rows:
        problem = made_up(rows, 0)
        costs = np.random.default_rng(1).standard_normal((max(WIDTHS), problem.num_columns))
        sequence = WarmStarted(problem, options, device, Progress())
        alone = _median(lambda s=sequence, c=costs: _alone(s, c[0], arguments.iterations))
        row: Row = {"rows": rows, "nonzeros": problem.num_nonzeros, "us, one": 1e6 * alone}
        for width in WIDTHS:
            together = SharedMatrix(problem, width, options, device, Progress())
            spent = _median(
                lambda t=together, c=costs[:width]: _together(t, c, arguments.iterations)
            )
            row[f"us, {width} together"] = 1e6 * spent
            row[f"times one, {width}"] = spent / alone
        yield row


def pumps(arguments: argparse.Namespace, device: Device) -> Iterator[Row]:
    """Run one pump and several in lockstep for so many seconds each."""
    for name, problem in _models(arguments):
        model = MipModel.of(problem)
        root = root_relaxation(model, Budget(arguments.seconds), device=device)
        by_propagation(model)(root.relaxation.x, Budget(), 0)  # loads
        for label, run in _ways(model, root, device, arguments.seconds):
            pool = Pool(10, model.integers)
            with closing(Polisher(model, "cpu")) as polisher:
                counts = run(_submit(polisher, pool), pool)
            yield {
                "model": name,
                "nonzeros": model.num_nonzeros,
                "pumps": label,
                "projections": counts.projections,
                "a second": counts.projections / max(1e-9, counts.seconds),
                "converged": counts.converged,
                "improvements": counts.found,
                "objective": pool.objective,
            }


def _ways(
    model: MipModel, root: Root, device: Device, seconds: float
) -> Iterator[tuple[str, Callable[[Submit, Pool], Any]]]:
    """Give one pump with its own choice of projector, one with PDLP, and lockstep."""

    def manners(width: int) -> list[Manner]:
        return [Manner(k, ALPHAS[k % len(ALPHAS)]) for k in range(width)]

    def single(submit: Submit, pool: Pool) -> Any:
        return Pumps(model, submit, root, manners(1), pool=pool, device=device).run(Budget(seconds))

    def single_by_pdlp(submit: Submit, pool: Pool) -> Any:
        projector = first_order(Augmented.of(model).problem, device, Budget(seconds))
        made = Pumps(model, submit, root, manners(1), projector=projector, pool=pool)
        return made.run(Budget(seconds))

    def lockstep(width: int) -> Callable[[Submit, Pool], Any]:
        def run(submit: Submit, pool: Pool) -> Any:
            made = Pumps(
                model, submit, root, manners(width), pool=pool, device=device, workers=width
            )
            with closing(made):
                return made.run(Budget(seconds))

        return run

    yield "1", single
    yield "1 by PDLP", single_by_pdlp
    for width in WIDTHS[:2]:
        yield f"{width} in lockstep", lockstep(width)


def _submit(polisher: Polisher, pool: Pool) -> Submit:
    began = time.monotonic()

    def submit(x: FloatArray, source: str) -> bool:
        found = polisher.polish(x, POLISH_SECONDS)
        if found.x is None:
            return False
        return pool.add(Found(found.x, found.objective, time.monotonic() - began, source))

    return submit


def _alone(sequence: WarmStarted, cost: FloatArray, iterations: int) -> float:
    began = time.perf_counter()
    found = sequence.solve(cost=cost, x=0.0 * cost, iterations=iterations)
    return (time.perf_counter() - began) / found.iterations


def _together(together: SharedMatrix, costs: FloatArray, iterations: int) -> float:
    began = time.perf_counter()
    found = together.solve(cost=costs, x=0.0 * costs, iterations=iterations)
    return (time.perf_counter() - began) / max(point.iterations for point in found)


def _median(measure: Callable[[], float]) -> float:
    """Return the median of a few runs after one that loads."""
    measure()
    return float(np.median([measure() for _ in range(REPEATS)]))


def made_up(rows: int, seed: int) -> Problem:
    """Return half covering and half packing rows over as many binary columns."""
    generator = np.random.default_rng(seed)
    columns = generator.integers(0, rows, rows * ROW_LENGTH)
    starts = np.arange(0, columns.size + 1, ROW_LENGTH)
    matrix = sp.csr_array((np.ones(columns.size), columns, starts), shape=(rows, rows))
    covers = np.arange(rows) % 2 == 0
    return Problem.from_arrays(
        generator.integers(1, 100, rows),
        matrix,
        np.where(covers, 1.0, -np.inf),
        np.where(covers, np.inf, 6.0),
        upper=1.0,
        integrality=True,
        name=f"made up {rows}",
    )


def _models(arguments: argparse.Namespace) -> Iterator[tuple[str, Problem]]:
    if not arguments.files:
        yield from ((f"made up {rows}", made_up(rows, 0)) for rows in arguments.rows)
    for path in arguments.files:
        yield path.name, gpu_bridge.read(path)


PARTS: dict[str, Callable[[argparse.Namespace, Device], Iterator[Row]]] = {
    "products": products,
    "pumps": pumps,
}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("files", type=Path, nargs="*")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--rows", type=int, nargs="+", default=[2_000, 20_000, 200_000])
    parser.add_argument("--iterations", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=10.0)
    return parser.parse_args()


if __name__ == "__main__":
    main()
