"""What a race costs and gains: ``method='auto'`` beside each of its engines alone.

    python -m benchmarks.race FOLDER [MODEL...] [--families two-stage ...] [--nonzeros 1.4e5]
        [--hours 365 ...] [--tolerance 1e-6] [--time-limit 60] [--repeats 2] [--pairs 9]
        [--engines simplex ipm "own ipm" pdlp] [--no-neighbours] [--stop-after SECONDS]

FOLDER holds INSTANCES.csv (see ``lp_sets.py``), and MODEL is a name or a set of it, such as
``lp-large``; families are those of ``benchmarks/families``, hours those of an energy system of
twelve nodes. Every way is timed in this process, after a solve that loads what it needs, and has
1.5 times what the race took, as what takes longer is not the fastest; the best of the repeats
counts. PDLP and our own interior point end with their point, as in the race; PDLP alone is timed
where there is a GPU. What takes longer than some seconds is timed once. Then the race and
the engine that was fastest alone take turns, so that what else the machine does hits both alike:
the ratio is that of the medians of these pairs, with the interval in which it lies with 95 % by
bootstrap. ``beside`` is the fastest engine alone while processes of their own run HiGHS's other
algorithms over and over: what cores, caches and clock rates lose to a neighbour on this machine,
without any race (``--no-neighbours`` spares the time that their start takes).
"""

from __future__ import annotations

import argparse
import contextlib
import math
import multiprocessing
import re
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

import gpu_bridge
from benchmarks.families import FAMILIES
from benchmarks.families.energy import energy_system
from benchmarks.linear_programs import LinearProgram
from benchmarks.lp_sets import choose, read_index
from benchmarks.peers.ours import Pdlp
from benchmarks.peers.solver import Task
from benchmarks.record import Column, print_table, write_record
from gpu_bridge.pipeline.contenders import IPM, SIMPLEX
from gpu_bridge.pipeline.routes import PDLP
from solvers.core.device import seen_gpu
from solvers.core.machine import usable_cores
from solvers.core.problem import Problem

AUTO, OWN_IPM = "auto", "own ipm"
ALONE = (SIMPLEX, IPM, OWN_IPM, PDLP)
NODES = 12
"""Places of an energy system."""

LONG_ENOUGH = 5.0
"""Seconds from which one repeat, and one pair, says enough."""

LATER = 1.5
"""How many times the race's time an engine alone has."""

PAUSE = 0.1
"""Seconds between two solves: what was left behind is gone before the next is timed."""

NEIGHBOUR_READY = 20.0
"""Seconds that a neighbour may need to start."""

FEWEST_TURNS, RESAMPLES = 5, 10_000
"""Turns from which resampling them says something, and how often it is done."""

SHIFT = 0.1
"""Seconds added to each time in the geometric mean, so that the smallest do not rule it."""

COLUMNS = (
    Column("model"),
    Column("nonzeros"),
    *(Column(f"{way} s", 3) for way in (*ALONE, AUTO)),
    Column("won by"),
    Column("paired best s", 3),
    Column("paired auto s", 3),
    Column("beside s", 3),
    Column("auto / best", 3),
    Column("from", 3),
    Column("to", 3),
)


@dataclass(frozen=True)
class Row:
    """Seconds of one model by each way that found a verified optimum; None where it did not.

    ``ipm`` is HiGHS's interior point, ``own_ipm`` ours. ``turns`` holds the seconds of the fastest
    engine alone, of the race, and of that engine with processes beside it (None without
    them), one after the other.
    """

    name: str
    nonzeros: int
    simplex: float | None
    ipm: float | None
    own_ipm: float | None
    pdlp: float | None
    auto: float | None
    winner: str
    turns: tuple[tuple[float, float, float | None], ...]

    @property
    def best(self) -> float | None:
        """The least time of an engine alone."""
        return min((one for one in self.alone if one is not None), default=None)

    @property
    def alone(self) -> tuple[float | None, ...]:
        """Seconds of each engine alone."""
        return self.simplex, self.ipm, self.own_ipm, self.pdlp

    @property
    def medians(self) -> tuple[float | None, float | None, float | None]:
        """Medians over the turns: the fastest engine alone, the race, and beside processes."""
        if not self.turns:
            return None, None, None
        alone, raced, beside = zip(*self.turns, strict=True)
        timed_beside = [one for one in beside if one is not None]
        other = statistics.median(timed_beside) if timed_beside else None
        return statistics.median(alone), statistics.median(raced), other

    @property
    def ratio(self) -> float | None:
        """The race's time over that of the fastest engine alone, by the turns if there are any."""
        alone, raced, _ = self.medians
        if alone is None or raced is None:
            alone, raced = self.best, self.auto
        return None if alone is None or raced is None else raced / alone

    @property
    def interval(self) -> tuple[float | None, float | None]:
        """Bounds between which the ratio lies with 95 %, by resampling the turns."""
        if len(self.turns) < FEWEST_TURNS:
            return None, None
        alone, raced = (np.array([turn[way] for turn in self.turns], float) for way in (0, 1))
        shape = (RESAMPLES, len(self.turns))
        drawn = np.random.default_rng(0).integers(len(self.turns), size=shape)
        ratios = np.median(raced[drawn], axis=1) / np.median(alone[drawn], axis=1)
        low, high = np.quantile(ratios, (0.025, 0.975))
        return float(low), float(high)


def ways(arguments: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """Return the options of each way of solving that is asked for."""
    made: dict[str, dict[str, Any]] = {
        AUTO: {},
        SIMPLEX: {"method": "highs", "lp_algorithm": "simplex"},
        IPM: {"method": "highs", "lp_algorithm": "ipm"},
        OWN_IPM: {"method": "ipm", "crossover": "off"},
    }
    if seen_gpu() is not None:
        made[PDLP] = {"method": "pdlp", "crossover": "off"}
    return {way: options for way, options in made.items() if way in (AUTO, *arguments.engines)}


def timed(
    problem: Problem, arguments: argparse.Namespace, options: dict[str, Any], limit: float
) -> tuple[float, gpu_bridge.Outcome]:
    """Solve once and return the seconds it took with what came out."""
    time.sleep(PAUSE)
    began = time.perf_counter()
    outcome = gpu_bridge.solve(problem, tolerance=arguments.tolerance, time_limit=limit, **options)
    return time.perf_counter() - began, outcome


def measure(name: str, problem: Problem, arguments: argparse.Namespace) -> Row:
    """Time every way on one model, and the fastest in turns with the race."""
    seconds: dict[str, float] = {}
    winner = ""
    for repeat in range(arguments.repeats):
        for way, options in ways(arguments).items():
            if repeat and not 0.0 < seconds.get(way, 0.0) < LONG_ENOUGH:
                continue
            limit = arguments.time_limit
            if way != AUTO and AUTO in seconds:
                limit = min(limit, LATER * seconds[AUTO])
            elapsed, outcome = timed(problem, arguments, options, limit)
            if outcome.solution_status is gpu_bridge.SolutionStatus.OPTIMAL:
                seconds[way] = min(elapsed, seconds.get(way, math.inf))
            if way == AUTO:
                won = re.search(r"^Race +won by (.+) after", outcome.log, re.MULTILINE)
                winner = won.group(1) if won else ""
    turns = in_turns(problem, arguments, seconds) if AUTO in seconds else ()
    simplex, ipm, own_ipm, pdlp, auto = (seconds.get(way) for way in (*ALONE, AUTO))
    return Row(name, problem.num_nonzeros, simplex, ipm, own_ipm, pdlp, auto, winner, turns)


def in_turns(
    problem: Problem, arguments: argparse.Namespace, seconds: dict[str, float]
) -> tuple[tuple[float, float, float | None], ...]:
    """Return seconds of the way that was fastest alone, the race, and that way beside others."""
    alone = {way: least for way, least in seconds.items() if way != AUTO}
    if not alone:
        return ()
    all_ways = ways(arguments)
    best = min(alone, key=lambda way: alone[way])
    others = [all_ways[way] for way in (SIMPLEX, IPM) if way in all_ways and way != best]
    found: list[tuple[float, float, float | None]] = []

    def once(way: str) -> float:
        return timed(problem, arguments, all_ways[way], arguments.time_limit)[0]

    for _ in range(arguments.pairs if seconds[AUTO] < LONG_ENOUGH else min(arguments.pairs, 1)):
        by_itself, raced = once(best), once(AUTO)
        if not arguments.neighbours:
            found.append((by_itself, raced, None))
            continue
        with neighbours(problem, others):
            found.append((by_itself, raced, once(best)))
    return tuple(found)


@contextlib.contextmanager
def neighbours(problem: Problem, others: Sequence[dict[str, Any]]) -> Iterator[None]:
    """Keep a process busy with each of these ways of solving."""
    context = multiprocessing.get_context("spawn")
    ready = [context.Event() for _ in others]
    busy = [
        context.Process(target=solve_forever, args=(problem, options, event), daemon=True)
        for options, event in zip(others, ready, strict=True)
    ]
    try:
        for process in busy:
            process.start()
        for event in ready:
            event.wait(NEIGHBOUR_READY)
        yield
    finally:
        for process in busy:
            process.terminate()
            process.join()


def solve_forever(problem: Problem, options: dict[str, Any], ready: Any) -> None:
    """Solve until killed."""
    while True:
        ready.set()
        gpu_bridge.solve(problem, **options)


def mean(times: Sequence[float]) -> float:
    """Return the shifted geometric mean."""
    if not times:
        return math.nan
    return math.exp(sum(math.log(one + SHIFT) for one in times) / len(times)) - SHIFT


def table_cells(row: Row) -> list[Any]:
    """Return what the table says of a model."""
    measured = (*row.alone, row.auto, row.winner, *row.medians, row.ratio, *row.interval)
    return [row.name, row.nonzeros, *measured]


def line(row: Row) -> str:
    """Return what one model came to."""

    def told(seconds: float | None) -> str:
        return "-" if seconds is None else f"{seconds:.3f}"

    alone = (f"{way} {told(one)}" for way, one in zip(ALONE, row.alone, strict=True))
    return (
        f"{row.name} ({row.nonzeros:,}): auto {told(row.auto)} by {row.winner or 'no race'}; "
        f"{', '.join(alone)}; auto / best {told(row.ratio)}"
    )


def programs(arguments: argparse.Namespace) -> Iterator[tuple[str, Problem]]:
    """Yield the names and the models asked for, one at a time."""
    for entry in choose(read_index(arguments.folder), arguments.models):
        yield entry.name, gpu_bridge.read(entry.path).relaxation()
    for name in arguments.families:
        yield name, as_problem(FAMILIES[name].make(int(arguments.nonzeros), 0))
    for hours in arguments.hours:
        yield f"energy, {hours} hours", as_problem(energy_system(hours, NODES, 0))


def as_problem(lp: LinearProgram) -> Problem:
    """Return a family's program as a problem."""
    return Pdlp("auto").prepare(lp, Task(math.nan, math.nan))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("models", nargs="*")
    parser.add_argument("--families", nargs="*", default=[], choices=FAMILIES, metavar="NAME")
    parser.add_argument("--nonzeros", type=float, default=1.4e5, help="of each family")
    parser.add_argument("--hours", nargs="*", type=int, default=[])
    parser.add_argument("--tolerance", type=float, default=1e-6)
    parser.add_argument("--time-limit", type=float, default=60.0)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--pairs", type=int, default=9)
    parser.add_argument("--engines", nargs="*", default=ALONE, choices=ALONE)
    parser.add_argument("--neighbours", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--stop-after", type=float, default=math.inf, metavar="SECONDS")
    arguments = parser.parse_args()
    rows: list[Row] = []
    deadline = time.monotonic() + arguments.stop_after
    for name, problem in programs(arguments):
        if time.monotonic() > deadline:
            print(f"Time is up; stopped before {name}.")
            break
        if not rows:
            for options in ways(arguments).values():
                timed(problem, arguments, options, arguments.time_limit)
        row = measure(name, problem, arguments)
        rows.append(row)
        print(line(row), flush=True)
    cells = [table_cells(row) for row in rows]
    print_table("Race", COLUMNS, cells)
    raced = [row for row in rows if row.winner and row.ratio is not None]
    summary = {
        "models": len(rows),
        "raced": len(raced),
        "auto_mean": mean([row.auto for row in raced if row.auto is not None]),
        "best_mean": mean([row.best for row in raced if row.best is not None]),
        "within_10_percent": sum(1 for row in raced if (row.ratio or 0.0) <= 1.1),
        "ratio_mean": statistics.geometric_mean([row.ratio or 1.0 for row in raced] or [1.0]),
        "worst_ratio": max((row.ratio or 0.0 for row in raced), default=None),
    }
    print(summary)
    options = {"tolerance": arguments.tolerance, "time_limit": arguments.time_limit}
    options |= {"nonzeros": arguments.nonzeros, "cores": usable_cores()}
    write_record(
        "race", {"options": options, "summary": summary, "rows": [asdict(r) for r in rows]}
    )


if __name__ == "__main__":
    main()
