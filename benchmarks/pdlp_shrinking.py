"""PDLP with and without shrinking: iterations, entries, time.

    python -m benchmarks.pdlp_shrinking [--device cuda] [--tolerance 1e-4 1e-8] FILES...
        [--repeat 3] [--time-limit 60] [--iteration-limit N] [--change share=0.4 ...]
        [--stop-after SECONDS]

FILES are models; integrality is dropped. Each is reduced by the light presolve, as on PDLP's way
to an answer, and solved with each variant after an unmeasured run of each, which compiles and
warms up. The time is that of the engine, from the reduced model in memory to its answer, and the
median of the repetitions. Answers are mapped back and checked by ``residuals.py`` on the program
as HiGHS reads it from the file, at a hundredth above the tolerance. ``parts`` counts the smaller
models that were made on the way, and ``entries`` the matrix entries of all iterations in
multiples of the reduced model's. ``--change`` tries other constants in a third run of each.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import gpu_bridge
from benchmarks import residuals
from benchmarks.linear_programs import LinearProgram, read
from benchmarks.record import Column, print_table, write_record
from solvers import pdlp, presolve
from solvers.core.device import find_device
from solvers.core.options import EngineOptions
from solvers.core.outcome import Outcome
from solvers.core.progress import Progress
from solvers.presolve import Reduction

NAME = "pdlp-shrinking"

SLACK = 1.01
"""Factor on the tolerance at which an answer still counts as verified."""

TITLES = (
    *("model", "nonzeros", "tolerance", "variant", "stop", "seconds", "its", "parts", "entries"),
    *("us/it", "primal", "dual", "gap", "verified"),
)


@dataclass(frozen=True)
class Row:
    """One model solved with one variant."""

    model: str
    nonzeros: int
    tolerance: float
    variant: str
    stop: str
    seconds: float
    iterations: int
    parts: int
    entries: float
    microseconds: float | None
    primal: float | None
    dual: float | None
    gap: float | None
    verified: bool | None


@dataclass(frozen=True, eq=False)
class _Model:
    """A program as its file has it, and what presolve leaves of it."""

    lp: LinearProgram
    reduction: Reduction
    norms: pdlp.Norms


def measure_all(arguments: argparse.Namespace) -> Iterator[Row]:
    """Yield a row for every model, tolerance and variant."""
    deadline = time.monotonic() + arguments.stop_after
    variants = variants_of(arguments.change)
    for path in arguments.files:
        model = _load(path)
        if model is None:
            print(f"{path.name}: presolve settles it.")
            continue
        for tolerance in arguments.tolerance:
            if time.monotonic() > deadline:
                print(f"Time is up; stopped before {path.name} at {tolerance:g}.")
                return
            yield from _measure(model, tolerance, variants, arguments)


def variants_of(changes: list[str]) -> dict[str, pdlp.Settings]:
    """Return the settings to compare, by the name of the variant.

    Raises
    ------
    ValueError
        A change is not of the form NAME=NUMBER with the name of a setting of shrinking.
    """
    on = pdlp.Settings()
    variants = {"off": on.changed(shrinking={"enabled": False}), "on": on}
    if not changes:
        return variants
    values: dict[str, Any] = {}
    for change in changes:
        name, equals, text = change.partition("=")
        if not equals or not hasattr(on.shrinking, name):
            raise ValueError(f"'{change}' is not NAME=NUMBER with a name of ShrinkingSettings.")
        values[name] = type(getattr(on.shrinking, name))(float(text))
    return {**variants, " ".join(changes): on.changed(shrinking=values)}


def _load(path: Path) -> _Model | None:
    problem = gpu_bridge.read(path).relaxation()
    reduction = presolve.apply(problem, Progress(), "light")
    if reduction.settled is not None:
        return None
    return _Model(read(path), reduction, pdlp.Norms.of(problem))


def _measure(
    model: _Model,
    tolerance: float,
    variants: dict[str, pdlp.Settings],
    arguments: argparse.Namespace,
) -> Iterator[Row]:
    """Run every variant once unmeasured, then all one after the other, as often as asked for."""
    options = EngineOptions(
        device=arguments.device,
        threads=arguments.threads,
        tolerance=tolerance,
        iteration_limit=arguments.iteration_limit,
    )
    outcomes: dict[str, Outcome] = {}
    seconds: dict[str, list[float]] = {variant: [] for variant in variants}
    for run in range(arguments.repeat + arguments.warm_up):
        for variant, settings in variants.items():
            began = time.perf_counter()
            outcomes[variant] = pdlp.solve(
                model.reduction.problem,
                options,
                Progress(arguments.time_limit),
                settings=settings,
                norms=model.norms,
            )
            if run >= arguments.warm_up:
                seconds[variant].append(time.perf_counter() - began)
    for variant, outcome in outcomes.items():
        yield _row(model, tolerance, variant, outcome, statistics.median(seconds[variant]))


def _row(model: _Model, tolerance: float, variant: str, outcome: Outcome, seconds: float) -> Row:
    lp, found = model.lp, outcome.statistics
    whole = model.reduction.undo(outcome)
    quality = None
    if whole.x is not None and whole.row_dual is not None:
        quality = residuals.measure(lp, whole.x, whole.row_dual)
    iterations = int(found.get("iterations", 0))
    loop = found.get("loop_seconds")
    return Row(
        model=lp.name,
        nonzeros=model.reduction.problem.num_nonzeros,
        tolerance=tolerance,
        variant=variant,
        stop=outcome.stop_reason.name.lower(),
        seconds=seconds,
        iterations=iterations,
        parts=int(found.get("parts", 0)),
        entries=int(found.get("entries_visited", 0)) / model.reduction.problem.num_nonzeros,
        microseconds=1e6 * float(loop) / iterations if loop and iterations else None,
        primal=None if quality is None else quality.primal,
        dual=None if quality is None else quality.dual,
        gap=None if quality is None else quality.gap,
        verified=None if quality is None else quality.holds(SLACK * tolerance),
    )


def main() -> None:
    """Measure what the command line asks for, print a table and record it."""
    arguments = _arguments()
    rows: list[Row] = []
    try:
        for row in measure_all(arguments):
            print(
                f"{row.model:20s} {row.tolerance:.0e} {row.variant:8s} {row.stop:16s}"
                f"{row.seconds:9.3f} s {row.iterations:8d} its {row.parts:3d} parts",
                flush=True,
            )
            rows.append(row)
    except KeyboardInterrupt:
        print("Interrupted; what was measured so far is recorded.")
    print_table(
        "With and without leaving idle columns out",
        [Column(title, 3) for title in TITLES],
        [list(asdict(row).values()) for row in rows],
    )
    content = {
        "repeat": arguments.repeat,
        "time limit": arguments.time_limit,
        "change": arguments.change,
        "rows": [asdict(row) for row in rows],
    }
    write_record(NAME, content, device=find_device(arguments.device))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", type=Path, nargs="+", metavar="FILES")
    parser.add_argument("--device", default="auto", choices=("auto", "cuda", "cpu"))
    parser.add_argument("--tolerance", type=float, nargs="+", default=[1e-4, 1e-8])
    parser.add_argument("--repeat", type=int, default=3, help="runs, of which the median counts")
    parser.add_argument("--warm-up", type=int, default=1, help="unmeasured runs before")
    parser.add_argument("--threads", type=int, default=0, help="CPU threads; 0 uses all cores")
    parser.add_argument("--time-limit", type=float, default=60.0, help="seconds for each run")
    parser.add_argument("--iteration-limit", type=int, default=None)
    parser.add_argument("--change", nargs="+", default=[], metavar="NAME=NUMBER")
    parser.add_argument("--stop-after", type=float, default=float("inf"), metavar="SECONDS")
    return parser.parse_args()


if __name__ == "__main__":
    main()
