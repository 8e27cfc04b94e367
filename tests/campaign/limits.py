"""How late solves of real instances are, with limits of 0 to 10 s: every method, through each door.

    python -m tests.campaign.limits --seconds 1800 --seed 7 /data/netlib /data/miplib

Most solves are in one process, where an earlier one may still be at work; some are the first ones
of a new process. Time is that of the call of the solve; for the command line it is that of the
process, less what it takes with a limit of 0.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import gpu_bridge as gb
from solvers.core.errors import GpuBridgeError
from tests.campaign.timed import HARD_ITEMS
from tests.locations import ROOT

INSTANCES = "GPU_BRIDGE_INSTANCES"
"""Variable in the environment that names folders of models, with colons between."""

LARGEST_FILE = 3_000_000
"""Bytes of a model file, packed, up to which more time goes into solving than into reading."""

LARGEST_IN_MODELLING = 1_000_000
"""Rows times columns up to which a Pyomo or PuLP model is made, which takes seconds beyond."""

LIMITS = (0.0, 0.1, 0.3, 1.0, 2.0, 4.0, 10.0)
"""Limits are drawn between two neighbours of these, so that many are short."""

GENERATED = 0.15
"""Part of the models that are generated knapsack problems, of which there are few in files."""

FRESH, FIRST_SOLVES = 0.15, 2
"""Part of the turns that are in a new process, and the solves that each makes there."""

HANGS_AFTER = 120.0
"""Seconds after the limit when a process is given up."""

DOORS, COMMAND = ("arrays", "list", "pyomo", "pulp"), "command"
METHODS = {
    "lp": ("auto", "highs", "pdlp", "simplex"),
    "mip": ("auto", "highs", "mip"),
    "knapsack": ("auto", "knapsack", "mip"),
}


@dataclass(frozen=True)
class Lateness:
    """One solve: ``late`` is by how many seconds it was, negative where it ended before."""

    instance: str
    method: str
    door: str
    limit: float
    seconds: float
    late: float
    status: str
    first_solve: bool


@dataclass(frozen=True)
class Task:
    """One solve to come."""

    instance: str
    method: str
    door: str
    limit: float

    @property
    def words(self) -> list[str]:
        """The command that does it."""
        words = ["solve", self.instance, f"--time-limit={self.limit}", f"--method={self.method}"]
        return [sys.executable, "-m", "gpu_bridge", *words, "--quiet"]

    @property
    def line(self) -> str:
        """What the process that solves is told."""
        options = {"method": self.method, "time_limit": self.limit}
        return json.dumps({"instance": self.instance, "door": self.door, "options": options})


def run(seconds: float, seed: int, folders: Sequence[Path] = ()) -> list[Lateness]:
    """Solve for so many seconds and return how late each solve was.

    Parameters
    ----------
    seconds : float
        No further solve begins after them.
    seed : int
        Draws instances, methods, doors and limits.
    folders : sequence of Path
        Where ``.mps.gz`` and ``.lp.gz`` files are; without any, those that the environment names,
        or else the examples' and the tests' own.
    """
    return list(solves(seconds, seed, folders))


def solves(seconds: float, seed: int, folders: Sequence[Path] = ()) -> Iterator[Lateness]:
    """Yield each solve as it ends."""
    draw, until = random.Random(seed), time.monotonic() + seconds
    paths = model_files(folders)
    with _process() as lasting:
        while time.monotonic() < until:
            if draw.random() >= FRESH:
                yield lasting.solve(_drawn(draw, paths))
                continue
            with _process(is_new=True) as first:
                for _ in range(FIRST_SOLVES):
                    yield first.solve(_drawn(draw, paths))


def model_files(folders: Sequence[Path] = ()) -> list[Path]:
    """Return the files that are not too large, of these folders or of those that are meant."""
    named = [Path(name) for name in os.environ.get(INSTANCES, "").split(":") if name]
    own = [ROOT / "examples" / "data", ROOT / "tests" / "data"]
    paths = [path for folder in folders or named or own for path in folder.rglob("*.gz")]
    fitting = [path for path in paths if path.name.endswith((".mps.gz", ".lp.gz"))]
    return sorted(path for path in fitting if path.stat().st_size <= LARGEST_FILE)


def summary(found: Sequence[Lateness]) -> str:
    """Return how late solves were, in a few lines."""
    lines = []
    for name, some in (
        ("all", list(found)),
        ("first solves", [one for one in found if one.first_solve]),
        *((door, [one for one in found if one.door == door]) for door in (*DOORS, COMMAND)),
    ):
        late = np.maximum([one.late for one in some] or [0.0], 0.0)
        p50, p99 = np.percentile(late, [50, 99])
        figures = f"p50 {p50:.3f} s, p99 {p99:.3f} s, worst {late.max():.3f} s"
        lines.append(f"{name:12} {len(some):4} solves, {np.count_nonzero(late):4} late: {figures}")
    return "\n".join(lines)


def _drawn(draw: random.Random, paths: Sequence[Path]) -> Task:
    """Draw a model that can be read, and how it is solved."""
    low, high = draw.choice(list(itertools.pairwise(LIMITS)))
    limit = round(draw.uniform(low, high), 3)
    if not paths or draw.random() < GENERATED:
        name = f"{HARD_ITEMS}{draw.choice((50, 200, 1000))},{draw.randrange(1000)}"
        return Task(name, draw.choice(METHODS["knapsack"]), draw.choice(DOORS), limit)
    while True:
        path = draw.choice(paths)
        with contextlib.suppress(GpuBridgeError):
            problem = gb.read(path)
            small = problem.num_rows * problem.num_columns <= LARGEST_IN_MODELLING
            doors = (*(DOORS if small else DOORS[:2]), COMMAND)
            method = draw.choice(METHODS["mip" if problem.is_mip else "lp"])
            return Task(str(path), method, draw.choice(doors), limit)


class _Process:
    """A process that solves one model after the other; a new one where it hangs or dies."""

    def __init__(self, *, is_new: bool) -> None:
        self._environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
        self._first_solve = is_new
        self._process: subprocess.Popen[str] | None = None
        self._bare: dict[tuple[str, str], float] = {}

    def solve(self, task: Task) -> Lateness:
        """Solve a model and return how late that was."""
        by_command = task.door == COMMAND
        seconds, status = self._command(task) if by_command else self._call(task)
        late = seconds - task.limit
        name = Path(task.instance).name.partition(".")[0]
        first, self._first_solve = self._first_solve, self._first_solve and by_command
        return Lateness(name, task.method, task.door, task.limit, seconds, late, status, first)

    def end(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def _call(self, task: Task) -> tuple[float, str]:
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.campaign.timed"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                env=self._environment,
                cwd=ROOT,
            )
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(task.line + "\n")
        process.stdin.flush()
        made = process.stdout.readline()
        hangs = threading.Timer(task.limit + HANGS_AFTER, process.kill)
        hangs.start()
        try:
            line = process.stdout.readline()
        finally:
            hangs.cancel()
        if not made or not line:
            self.end()
            return task.limit + HANGS_AFTER, f"DIED, {process.returncode}"
        told: dict[str, Any] = json.loads(line)
        return told["seconds"], told["status"]

    def _command(self, task: Task) -> tuple[float, str]:
        """Return the time of the command, less what it takes with a limit of 0."""
        key = task.instance, task.method
        if key not in self._bare:
            bare = Task(task.instance, task.method, COMMAND, 0.0)
            self._bare[key], _ = self._timed(bare.words)
        seconds, status = self._timed(task.words)
        return seconds - self._bare[key], status

    def _timed(self, words: Sequence[str]) -> tuple[float, str]:
        began = time.perf_counter()
        try:
            done = subprocess.run(
                words,
                capture_output=True,
                env=self._environment,
                cwd=ROOT,
                timeout=2 * HANGS_AFTER,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return 2 * HANGS_AFTER, "HANGS"
        return time.perf_counter() - began, f"exit {done.returncode}"


@contextlib.contextmanager
def _process(*, is_new: bool = False) -> Iterator[_Process]:
    process = _Process(is_new=is_new)
    try:
        yield process
    finally:
        process.end()


def main() -> None:
    """Measure for a while and print each solve that was late, and the summary."""
    parser = argparse.ArgumentParser(prog="python -m tests.campaign.limits", description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--late", type=float, default=0.8, help="seconds from which one is shown")
    parser.add_argument("folders", nargs="*", type=Path)
    given = parser.parse_args()
    found = []
    for one in solves(given.seconds, given.seed, given.folders):
        found.append(one)
        if one.late >= given.late or one.status.startswith(("DIED", "HANGS")):
            sys.stdout.write(f"{one}\n")
            sys.stdout.flush()
    sys.stdout.write(summary(found) + "\n")


if __name__ == "__main__":
    main()
