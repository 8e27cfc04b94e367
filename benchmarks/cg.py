"""Conjugate gradients: systems on a device, and what they do for linear programs.

    python -m benchmarks.cg systems [FILES...] [--device auto] [--side 100 1000]
    python -m benchmarks.cg crossover FILES... [--tolerance 1e-4 1e-5]
    python -m benchmarks.cg finish FILES... [--tolerance 1e-4 1e-6]
    python -m benchmarks.cg repair FILES... [--tolerance 1e-4 1e-6]

*systems* solves grid Laplacians, and A A' of the files' presolved rows, with and without Jacobi:
iterations, time of an iteration, and the bandwidth that its bytes (``benchmarks/cg_costs.py``) come
to. *crossover* takes PDLP's point of each file as it is, with repaired feasibility, with least-
squares duals, and with both, and counts crossover's pushes and the simplex iterations that follow.
*finish* asks at PDLP's checks whether a repair would have ended the solve. *repair* takes answers
that are optimal after presolve and miss the tolerance on the model itself, and compares
``solvers.pdlp.repair`` with going on with PDLP. The last three count and do not time: without a
time limit in their way their figures are the same on every machine.
"""

from __future__ import annotations

import argparse
import importlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import scipy.sparse as sp

import gpu_bridge
from benchmarks.cg_costs import iteration_cost
from benchmarks.record import Column, print_table, write_record
from gpu_bridge.verify.verify import verify
from solvers import linalg, pdlp, presolve
from solvers.core.device import Device, find_device
from solvers.core.errors import GpuBridgeError
from solvers.core.options import EngineOptions
from solvers.core.outcome import Outcome, SolutionStatus, Start, StopReason
from solvers.core.problem import FloatArray, Problem
from solvers.core.progress import Progress
from solvers.highs import engine, run
from solvers.highs.engine import make_task
from solvers.highs.model import prepare as prepare_highs
from solvers.highs.session import Session
from solvers.highs.task import Quiet
from solvers.linalg.least_squares import least_squares_duals, project_on_rows
from solvers.pdlp import repair
from solvers.pdlp.termination import on_original

Row = dict[str, Any]

SUFFIXES = (".mps", ".mps.gz", ".lp", ".lp.gz")

MAKERS: dict[str, Callable[[linalg.Operator], Any]] = {
    "none": lambda operator: None,
    "jacobi": linalg.jacobi,
}

SHIFT = 10.0
"""Added to counts before their geometric mean is taken."""

TRY_GROWTH = 1.1
"""After a projection that failed, iterations grow by this factor before the next."""


def main() -> None:
    """Run one of the three and record its table."""
    arguments = _arguments()
    device = find_device(arguments.device)
    rows = list(PARTS[arguments.part](arguments, device))
    if not rows:
        print("There was nothing to do.")
        return
    title = f"Conjugate gradients, {arguments.part}, on {device.name}"
    print_table(title, [Column(name) for name in rows[0]], [list(row.values()) for row in rows])
    content = {"part": arguments.part, "time limit": arguments.time_limit, "rows": rows}
    write_record(f"cg-{arguments.part}", content, device=device, seed=0)


def systems(arguments: argparse.Namespace, device: Device) -> Iterator[Row]:
    """Solve with and without the preconditioner."""
    with device.activate():
        for name, operator in _operators(arguments, device):
            side = operator.apply(
                device.to_device(np.random.default_rng(0).standard_normal(operator.size))
            )
            for kind, make in MAKERS.items():
                yield _timed(name, kind, operator, make(operator), side, arguments)


def _timed(
    name: str,
    kind: str,
    operator: linalg.Operator,
    inverse: Any,
    side: Any,
    arguments: argparse.Namespace,
) -> Row:
    """Solve four times; the first, which compiles and records, does not count."""
    space = linalg.prepare(operator, inverse)
    limits = {"tolerance": 1e-8, "iteration_limit": arguments.iteration_limit}
    seconds = []
    for _ in range(4):
        began = time.perf_counter()
        solution = linalg.run(space, side, **limits)
        operator.device.synchronize()
        seconds.append(time.perf_counter() - began)
    each = float(np.median(seconds[1:])) / max(1, solution.iterations)
    cost = iteration_cost(operator)
    return {
        "system": name,
        "preconditioner": kind,
        "iterations": solution.iterations,
        "stopped": solution.stopped.name.lower(),
        "residual": solution.residual / float(np.sqrt(float((side * side).sum()))),
        "us per iteration": 1e6 * each,
        "products": cost.products,
        "MB": cost.bytes / 1e6,
        "GB/s": cost.bytes / each / 1e9,
    }


def _operators(
    arguments: argparse.Namespace, device: Device
) -> Iterator[tuple[str, linalg.Operator]]:
    for side in arguments.side:
        yield f"laplacian {side}x{side}", linalg.symmetric(laplacian(side), device)
    for path, problem in _problems(arguments):
        A = problem.matrix
        scale = 1.0 / np.sqrt(np.maximum(abs(A).max(axis=1).toarray().ravel(), 1e-300))
        rows = sp.csr_array(sp.diags_array(scale) @ A)
        yield path, linalg.normal_equations(rows, device)


def laplacian(side: int) -> sp.csr_array:
    """Return the five-point Laplacian of a square grid."""
    ones = np.ones(side)
    line = sp.diags_array([-ones[1:], 2 * ones, -ones[1:]], offsets=[-1, 0, 1], dtype=np.float64)
    eye = sp.eye_array(side)
    return sp.csr_array(sp.kron(line, eye) + sp.kron(eye, line))


def crossovers(arguments: argparse.Namespace, device: Device) -> Iterator[Row]:
    """Count crossover's work from PDLP's point and from its corrections."""
    for tolerance in arguments.tolerance or [1e-4, 1e-5]:
        counted: list[Row] = []
        for name, problem in _problems(arguments):
            row = _crossover_row(name, problem, tolerance, arguments.time_limit)
            if row is not None:
                counted.append(row)
                print(row, flush=True)
        yield from counted
        if counted:
            yield _means(counted, tolerance)


def _crossover_row(name: str, problem: Problem, tolerance: float, limit: float) -> Row | None:
    options = EngineOptions(device="cpu", tolerance=tolerance)
    outcome = pdlp.solve(problem, options, Progress(limit))
    x = outcome.candidate if outcome.x is None else outcome.x
    y = outcome.row_dual
    if x is None or y is None:
        return None
    sides = (problem.lower, problem.upper, problem.row_lower, problem.row_upper)
    moved = project_on_rows(problem.matrix, x, *sides)
    duals = least_squares_duals(problem.matrix, problem.cost, moved.values, *sides, y)
    row: Row = {"model": name, "tolerance": tolerance}
    row |= {"primal": moved.before, "repaired": moved.after, "cg": moved.iterations}
    row |= {"dual": duals.before, "mended": duals.after}
    for label, point, multipliers in (
        ("as is", x, y),
        ("primal", moved.values, y),
        ("dual", x, duals.values),
        ("both", moved.values, duals.values),
    ):
        changed = replace(outcome, x=point, candidate=None, row_dual=multipliers)
        row[f"{label}: pushes"], row[f"{label}: simplex"] = _steps(problem, changed, limit)
    return row


@dataclass(frozen=True)
class _Clock:
    """The channel of a crossover that is only counted."""

    end: float

    def time_left(self) -> float:
        return max(0.0, self.end - time.monotonic())

    def stop(self) -> None:
        return None

    def log(self, line: str) -> None:
        return None


def _steps(problem: Problem, outcome: Outcome, limit: float) -> tuple[int, int | None]:
    """Return pushes and clean-up iterations; None for these where no vertex was reached."""
    done = engine.to_vertex(problem, outcome, EngineOptions(device="cpu"), Progress(limit))
    prepared = prepare_highs(problem)
    task = make_task(prepared, EngineOptions(lp_algorithm="simplex"))
    model = task.model
    assert outcome.x is not None  # the caller has put it there
    x = np.clip(outcome.x, model.lower, model.upper)
    y = prepared.duals_in(outcome.row_dual)
    assert y is not None
    rows = np.flatnonzero(model.row_lower != model.row_upper)
    wide = run.slack_form(model, rows)
    activity = np.clip(model.activity(x), model.row_lower, model.row_upper)
    point, z = run.complementary(wide, np.concatenate([x, activity[rows]]), wide.reduced_cost(y))
    channel = Quiet(_Clock(time.monotonic() + limit))  # type: ignore[arg-type]
    session = Session(wide, {**task.settings, "presolve": "off"}, channel)
    session.crossover(point, z, y)
    pushes = max(0, int(session.highs.getInfo().crossover_iteration_count))
    reached = done.basis is not None
    return pushes, int(done.statistics["simplex_iterations"]) if reached else None


def _means(rows: list[Row], tolerance: float) -> Row:
    """Return the shifted geometric means of the columns that count steps."""
    mean: Row = dict.fromkeys(rows[0])
    mean |= {"model": f"SGM10 of {len(rows)}", "tolerance": tolerance}
    for name in rows[0]:
        if ": " in name:
            values = np.array([row[name] for row in rows if row[name] is not None], dtype=float)
            mean[name] = shifted_mean(values)
    return mean


def shifted_mean(values: FloatArray) -> float:
    """Return the geometric mean of counts shifted by :data:`SHIFT`."""
    return float(np.exp(np.log(values + SHIFT).mean()) - SHIFT)


def finishes(arguments: argparse.Namespace, device: Device) -> Iterator[Row]:
    """Ask at each check of a solve whether a projection would have ended it."""
    for tolerance in arguments.tolerance or [1e-4, 1e-6]:
        rows = []
        for name, problem in _problems(arguments):
            row = _finish_row(name, problem, tolerance, arguments.time_limit)
            if row is not None:
                rows.append(row)
                print(row, flush=True)
        yield from rows
        if rows:
            mean: Row = dict.fromkeys(rows[0])
            mean |= {"model": f"SGM10 of {len(rows)}", "tolerance": tolerance}
            for name in ("pdlp", "ended at", "with cg"):
                mean[name] = shifted_mean(np.array([row[name] for row in rows], dtype=float))
            mean["tries"] = sum(row["hit"] for row in rows)
            yield mean


WITHOUT = pdlp.Settings().changed(shrinking={"enabled": False})
"""The engine with all columns throughout, so that the points seen are those of the whole model."""


class _Watch:
    """Tries a repair at the checks of one solve, without changing the solve."""

    def __init__(self, original: Callable[..., Any]) -> None:
        self.original = original
        self.tries = self.cg = self.next = 0
        self.hit: int | None = None

    def __call__(self, loop: Any) -> Any:
        outcome = self.original(loop)
        iterations = loop.record.iterations
        if outcome is None and self.hit is None and iterations >= self.next:
            loop.blocks.drain()
            state = loop.state
            point = on_original(state, state.x.projection, state.y.projection)
            asked = Outcome(
                SolutionStatus.NOTHING,
                StopReason.ITERATION_LIMIT,
                candidate=point.x,
                row_dual=point.row_dual,
            )
            self._ask(state.problem.original, asked, loop.criteria.primal, iterations)
        return outcome

    def _ask(self, problem: Problem, asked: Outcome, tolerance: float, iterations: int) -> None:
        options, before = EngineOptions(device="cpu", tolerance=tolerance), self.cg
        with mock.patch.object(repair, "project_on_rows", self._project):
            made = repair.repaired(problem, asked, options, Progress())
        if made is not asked:
            self.hit = iterations
        if self.cg > before:
            self.tries += 1
            self.next = int(TRY_GROWTH * iterations)

    def _project(self, *values: Any, **named: Any) -> Any:
        found = project_on_rows(*values, **named)
        self.cg += found.iterations
        return found


def _finish_row(name: str, problem: Problem, tolerance: float, limit: float) -> Row | None:
    loop = importlib.import_module("solvers.pdlp.loop")
    watch = _Watch(loop._after_check)
    options = EngineOptions(device="cpu", tolerance=tolerance)
    with mock.patch.object(loop, "_after_check", watch):
        outcome = pdlp.solve(problem, options, Progress(limit), settings=WITHOUT)
    iterations = int(outcome.statistics.get("iterations", 0))
    if watch.hit is None and outcome.stop_reason.name != "CONVERGED":
        return None
    ended = iterations if watch.hit is None else watch.hit
    return {
        "model": name,
        "tolerance": tolerance,
        "pdlp": iterations,
        "ended at": ended,
        "with cg": ended + watch.cg,
        "hit": watch.hit is not None,
        "tries": watch.tries,
    }


def repairs(arguments: argparse.Namespace, device: Device) -> Iterator[Row]:
    """Compare repair with more iterations where a postsolved answer misses the tolerance."""
    for tolerance in arguments.tolerance or [1e-4, 1e-6]:
        options = EngineOptions(device=device.kind, tolerance=tolerance)
        solved = 0
        for path in model_files(arguments.files):
            problem = read(path)
            if problem is None:
                continue
            outcome = _postsolved(problem, options, arguments.time_limit)
            if outcome is None:
                continue
            solved += 1
            checked = verify(problem, outcome, options)
            if checked.solution_status is SolutionStatus.OPTIMAL:
                continue
            yield _repair_row(path, problem, outcome, options, arguments.time_limit)
        print(f"{solved} answers at {tolerance:g}; the table has those that missed it.")


def _postsolved(problem: Problem, options: EngineOptions, limit: float) -> Outcome | None:
    """Return PDLP's optimum of the presolved problem, brought back; None without one."""
    reduction = presolve.apply(problem, Progress())
    if reduction.settled is not None:
        return None
    outcome = pdlp.solve(reduction.problem, options, Progress(limit))
    if outcome.solution_status is not SolutionStatus.OPTIMAL:
        return None
    return reduction.undo(outcome)


def _repair_row(
    path: Path, problem: Problem, outcome: Outcome, options: EngineOptions, limit: float
) -> Row:
    x = outcome.candidate if outcome.x is None else outcome.x
    found = verify(problem, outcome, options).residuals
    mended = repair.repaired(problem, outcome, options, Progress())
    further = pdlp.solve(problem, options, Progress(limit), Start(x, outcome.row_dual))
    row = {
        "model": path.name.partition(".")[0],
        "tolerance": options.tolerance,
        "primal": found.primal_relative,
        "dual": found.dual_relative,
        "gap": found.gap_relative,
        "repaired": verify(problem, mended, options).solution_status is SolutionStatus.OPTIMAL,
        "cg iterations": mended.statistics.get("repair_iterations"),
        "pdlp further": further.statistics.get("iterations"),
        "pdlp": further.solution_status.name.lower(),
    }
    print(row, flush=True)
    return row


def _problems(arguments: argparse.Namespace) -> Iterator[tuple[str, Problem]]:
    """Give the presolved problems of the files, as far as presolve leaves anything."""
    for path in model_files(arguments.files):
        problem = read(path)
        if problem is None:
            continue
        reduction = presolve.apply(problem, Progress())
        if reduction.settled is None:
            yield path.name.partition(".")[0], reduction.problem


def read(path: Path) -> Problem | None:
    """Read a model's relaxation; None, with a word on it, if it cannot be read."""
    try:
        return gpu_bridge.read(path).relaxation()
    except GpuBridgeError as error:
        print(f"{path.name}: {error}")
        return None


def model_files(names: Sequence[str]) -> list[Path]:
    """Return the model files named, folders replaced by the model files in them."""
    found: list[Path] = []
    for name in names:
        path = Path(name)
        inside = sorted(path.iterdir()) if path.is_dir() else [path]
        found += [item for item in inside if item.name.lower().endswith(SUFFIXES)]
    return found


PARTS = {"systems": systems, "crossover": crossovers, "finish": finishes, "repair": repairs}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("part", choices=sorted(PARTS))
    parser.add_argument("files", nargs="*", help="MPS or LP files, or folders of them")
    parser.add_argument("--device", default="auto", choices=("auto", "cuda", "cpu"))
    parser.add_argument("--side", type=int, nargs="*", default=[100, 300], help="of the grids")
    parser.add_argument("--tolerance", type=float, nargs="*")
    parser.add_argument("--iteration-limit", type=int, default=5000)
    parser.add_argument("--time-limit", type=float, default=40.0)
    return parser.parse_args()


if __name__ == "__main__":
    main()
