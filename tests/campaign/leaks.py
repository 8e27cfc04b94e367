"""What two thousand solves leave behind: memory, threads, files, children, temporary files.

    python -m tests.campaign.leaks --solves 2000

The same models are solved over and over in this process. The first part warms up: caches fill and
pools start. What grows after that, for each solve, is a leak.
"""

from __future__ import annotations

import argparse
import gc
import itertools
import os
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from solvers.core.problem import Problem
from tests.campaign.generators import chosen_kinds, make_model
from tests.campaign.ways import Way, draw_ways

MODELS = 100
WARM_UP_SHARE = 0.3
SAMPLES = 20
BYTES_ALLOWED = 4096.0
"""Growth of memory for each solve that fragments of the heap explain; a model, an answer or an
engine's workspace left behind is more."""


@dataclass(frozen=True)
class Held:
    """What this process holds at a moment."""

    bytes: float
    threads: float
    files: float
    children: float
    temporary_files: float


@dataclass(frozen=True)
class Growth:
    """What is held at the end, and by how much each grew with each solve."""

    solves: int
    held: Held
    by_solve: Held

    @property
    def leaks(self) -> list[str]:
        """Names of what grows by more than is allowed: memory a bit, all else by no whole one."""
        found = [] if self.by_solve.bytes <= BYTES_ALLOWED else ["bytes"]
        counted = [item.name for item in fields(Held) if item.name != "bytes"]
        return found + [n for n in counted if getattr(self.by_solve, n) * self.solves > 3.0]


def held_now(folder: Path) -> Held:
    """Return what this process holds now; its temporary files are those in a folder."""
    status = Path("/proc/self/statm").read_text(encoding="ascii")
    return Held(
        float(status.split()[1]) * os.sysconf("SC_PAGE_SIZE"),
        float(threading.active_count()),
        float(len(os.listdir("/proc/self/fd"))),
        float(len(_children())),
        float(sum(1 for _ in folder.rglob("*"))),
    )


def measure(solves: int, seed: int, device: str = "cpu", kinds: Sequence[str] = ()) -> Growth:
    """Solve models over and over, and return what grew after the warm-up."""
    with tempfile.TemporaryDirectory(prefix="campaign-") as own, _temporary_files_apart() as apart:
        tasks = itertools.cycle(_tasks(seed, device, kinds))
        begin = int(WARM_UP_SHARE * solves)
        every = max(1, (solves - begin) // SAMPLES)
        samples: list[tuple[int, Held]] = []
        for k in range(solves):
            if k >= begin and (k - begin) % every == 0:
                gc.collect()
                samples.append((k, held_now(apart)))
            problem, way = next(tasks)
            way.solve(problem, Path(own))
    slopes = {
        item.name: _slope([(k, getattr(held, item.name)) for k, held in samples])
        for item in fields(Held)
    }
    return Growth(solves, samples[-1][1], Held(**slopes))


def table(growth: Growth, title: str) -> Table:
    """Return what is held and what grew as a table."""
    made = Table(title=title)
    for heading in ("what", "held at the end", "growth by solve", ""):
        made.add_column(heading, justify="right")
    for item in fields(Held):
        verdict = "leaks" if item.name in growth.leaks else ""
        held, by_solve = getattr(growth.held, item.name), getattr(growth.by_solve, item.name)
        made.add_row(item.name.replace("_", " "), f"{held:,.0f}", f"{by_solve:,.4f}", verdict)
    return made


def _tasks(seed: int, device: str, kinds: Sequence[str]) -> list[tuple[Problem, Way]]:
    """Return models of all kinds with a way for each, but the command, which leaves by itself."""
    chosen = chosen_kinds(kinds)
    tasks: list[tuple[Problem, Way]] = []
    for number in itertools.count(seed):
        for kind in chosen:
            problem = make_model(kind, number)
            rng = np.random.default_rng([seed, len(tasks)])
            tasks += [
                (problem, way)
                for way in draw_ways(problem, rng, 1, device)
                if way.door != "by_command"
            ]
            if len(tasks) >= MODELS:
                return tasks
    raise AssertionError("counting ends before")


def _slope(points: Sequence[tuple[int, float]]) -> float:
    """Return the median of all slopes between two points: Theil and Sen's, blind to outliers."""
    slopes = [(v - u) / (b - a) for (a, u), (b, v) in itertools.combinations(points, 2)]
    return float(np.median(slopes)) if slopes else 0.0


def _children() -> list[str]:
    tasks = Path("/proc/self/task").iterdir()
    return [pid for task in tasks for pid in _words(task / "children")]


def _words(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="ascii").split()
    except OSError:  # the thread has ended
        return []


@contextmanager
def _temporary_files_apart() -> Iterator[Path]:
    """Let this process and those it starts make their temporary files in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="campaign-") as folder:
        before = tempfile.tempdir, os.environ.get("TMPDIR")
        tempfile.tempdir = os.environ["TMPDIR"] = folder
        try:
            yield Path(folder)
        finally:
            tempfile.tempdir = before[0]
            os.environ.pop("TMPDIR")
            if before[1] is not None:
                os.environ["TMPDIR"] = before[1]


def main(words: Sequence[str] | None = None) -> int:
    """Measure, print a table, and return 1 if anything leaks."""
    parser = argparse.ArgumentParser(prog="python -m tests.campaign.leaks", description=__doc__)
    parser.add_argument("--solves", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--kinds", default="", help="names or beginnings of names, with commas")
    given = parser.parse_args(words)
    names = [name for name in given.kinds.split(",") if name]
    growth = measure(given.solves, given.seed, given.device, names)
    title = f"{given.solves} solves, seed {given.seed}, {given.device}"
    Console().print(table(growth, title))
    return 1 if growth.leaks else 0


if __name__ == "__main__":
    sys.exit(main())
