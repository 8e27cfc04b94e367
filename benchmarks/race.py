"""What a race costs and gains: ``method='auto'`` beside each of its engines alone.

    python -m benchmarks.race FOLDER MODEL... [--tolerance 1e-6] [--time-limit 60] [--repeats 2]
        [--pairs 9] [--no-neighbours] [--stop-after SECONDS]

FOLDER holds INSTANCES.csv (see ``lp_sets.py``), and MODEL is a name or a set of it, such as
``lp-large``. Every way is timed in this process, after a solve that loads what it
needs; the best of the repeats counts. PDLP alone is timed where there is a GPU. Then the race and
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
from benchmarks.lp_sets import choose, read_index
from benchmarks.record import Column, print_table, write_record
from gpu_bridge.pipeline.contenders import IPM, SIMPLEX
from gpu_bridge.pipeline.routes import PDLP
from solvers.core.device import seen_gpu
from solvers.core.problem import Problem

AUTO = "auto"
LONG_ENOUGH = 5.0
"""Seconds from which one repeat says enough."""

PAUSE = 0.2
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
    *(Column(f"{way} s") for way in (SIMPLEX, IPM, PDLP, AUTO)),
    Column("won by"),
    Column("paired best s"),
    Column("paired auto s"),
    Column("beside s"),
    Column("auto / best", 3),
    Column("from", 3),
    Column("to", 3),
)


@dataclass(frozen=True)
class Row:
    """Seconds of one model by each way that found a verified optimum; None where it did not.

    ``turns`` holds the seconds of the fastest engine alone, of the race, and of that engine with
    processes beside it (None without them), one after the other.
    """

    name: str
    nonzeros: int
    simplex: float | None
    ipm: float | None
    pdlp: float | None
    auto: float | None
    winner: str
    turns: tuple[tuple[float, float, float | None], ...]

    @property
    def best(self) -> float | None:
        """The least time of an engine alone."""
        times = [one for one in (self.simplex, self.ipm, self.pdlp) if one is not None]
        return min(times, default=None)

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


def ways(with_pdlp: bool) -> dict[str, dict[str, Any]]:
    """Return the options of each way of solving."""
    made: dict[str, dict[str, Any]] = {
        SIMPLEX: {"method": "highs", "lp_algorithm": "simplex"},
        IPM: {"method": "highs", "lp_algorithm": "ipm"},
        AUTO: {},
    }
    return {**made, PDLP: {"method": "pdlp"}} if with_pdlp else made


def timed(
    problem: Problem, arguments: argparse.Namespace, options: dict[str, Any]
) -> tuple[float, gpu_bridge.Outcome]:
    """Solve once and return the seconds it took with what came out."""
    time.sleep(PAUSE)
    began = time.perf_counter()
    outcome = gpu_bridge.solve(
        problem, tolerance=arguments.tolerance, time_limit=arguments.time_limit, **options
    )
    return time.perf_counter() - began, outcome


def measure(name: str, problem: Problem, arguments: argparse.Namespace, with_pdlp: bool) -> Row:
    """Time every way on one model, and the fastest in turns with the race."""
    seconds: dict[str, float] = {}
    winner = ""
    for repeat in range(arguments.repeats):
        for way, options in ways(with_pdlp).items():
            if repeat and not 0.0 < seconds.get(way, 0.0) < LONG_ENOUGH:
                continue
            elapsed, outcome = timed(problem, arguments, options)
            if outcome.solution_status is gpu_bridge.SolutionStatus.OPTIMAL:
                seconds[way] = min(elapsed, seconds.get(way, math.inf))
            if way == AUTO:
                won = re.search(r"^Race +won by (\S+)", outcome.log, re.MULTILINE)
                winner = won.group(1) if won else ""
    times = {way: seconds.get(way) for way in (SIMPLEX, IPM, PDLP, AUTO)}
    turns = in_turns(problem, arguments, seconds, with_pdlp) if AUTO in seconds else ()
    return Row(name, problem.num_nonzeros, **times, winner=winner, turns=turns)


def in_turns(
    problem: Problem, arguments: argparse.Namespace, seconds: dict[str, float], with_pdlp: bool
) -> tuple[tuple[float, float, float | None], ...]:
    """Return seconds of the way that was fastest alone, the race, and that way beside others."""
    alone = {way: least for way, least in seconds.items() if way != AUTO}
    if not alone:
        return ()
    all_ways = ways(with_pdlp)
    best = min(alone, key=lambda way: alone[way])
    others = [all_ways[way] for way in (SIMPLEX, IPM) if way != best]
    found: list[tuple[float, float, float | None]] = []
    for _ in range(arguments.pairs):
        by_itself = timed(problem, arguments, all_ways[best])[0]
        raced = timed(problem, arguments, {})[0]
        if not arguments.neighbours:
            found.append((by_itself, raced, None))
            continue
        with neighbours(problem, others):
            found.append((by_itself, raced, timed(problem, arguments, all_ways[best])[0]))
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
    ways_alone = (row.simplex, row.ipm, row.pdlp)
    measured = (*ways_alone, row.auto, row.winner, *row.medians, row.ratio, *row.interval)
    return [row.name, row.nonzeros, *measured]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("models", nargs="+")
    parser.add_argument("--tolerance", type=float, default=1e-6)
    parser.add_argument("--time-limit", type=float, default=60.0)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--pairs", type=int, default=9)
    parser.add_argument("--neighbours", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--stop-after", type=float, default=math.inf, metavar="SECONDS")
    arguments = parser.parse_args()
    with_pdlp = seen_gpu() is not None
    rows: list[Row] = []
    deadline = time.monotonic() + arguments.stop_after
    for place, entry in enumerate(choose(read_index(arguments.folder), arguments.models)):
        if time.monotonic() > deadline:
            print(f"Time is up; stopped before {entry.name}.")
            break
        problem = gpu_bridge.read(entry.path).relaxation()
        if place == 0 and with_pdlp:
            gpu_bridge.solve(problem, method="pdlp", time_limit=arguments.time_limit)
        row = measure(entry.name, problem, arguments, with_pdlp)
        rows.append(row)
        print(f"{row.name}: {row.winner or 'no race'}, auto / best {row.ratio}", flush=True)
    cells = [table_cells(row) for row in rows]
    print_table("Race", COLUMNS, cells)
    raced = [row for row in rows if row.winner and row.ratio is not None]
    summary = {
        "models": len(rows),
        "raced": len(raced),
        "auto_mean": mean([row.auto for row in raced if row.auto is not None]),
        "best_mean": mean([row.best for row in raced if row.best is not None]),
        "within_10_percent": sum(1 for row in raced if (row.ratio or 0.0) <= 1.1),
        "worst_ratio": max((row.ratio or 0.0 for row in raced), default=None),
    }
    print(summary)
    options = {"tolerance": arguments.tolerance, "time_limit": arguments.time_limit}
    write_record(
        "race", {"options": options, "summary": summary, "rows": [asdict(r) for r in rows]}
    )


if __name__ == "__main__":
    main()
