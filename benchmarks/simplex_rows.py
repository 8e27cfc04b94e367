"""Rows of the simplex benchmark, their verdicts, and the table with one denominator."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

PAPER_ACCURACY = 1e-6
ACCURACY = 1e-9
"""Relative differences from HiGHS up to which an objective is right, by the paper and by us."""

SOLVED = ("optimal", "infeasible", "unbounded")
TIMEOUTS = ("time_limit", "hang")

SHORTEST = 1e-4
"""Seconds below which times count as this in the geometric mean."""


@dataclass(frozen=True)
class Run:
    """All repeats of one solver on one model: medians, and the worst status and error of any."""

    model: str
    solver: str
    rows: int
    columns: int
    nonzeros: int
    status: str
    repeats: int
    solved_repeats: int
    seconds: float
    fastest: float
    slowest: float
    iterations: int | None
    loop_seconds: float | None
    error: float | None
    detail: str = ""

    @property
    def solved(self) -> bool:
        """Whether every repeat ended with an answer within the time."""
        return self.repeats == self.solved_repeats

    @property
    def iterations_per_second(self) -> float | None:
        """Rate of the iterations alone, or of the whole solve where they were not timed."""
        seconds = self.loop_seconds or self.seconds
        return None if not self.iterations or seconds <= 0 else self.iterations / seconds

    def correct(self, accuracy: float) -> bool:
        """Whether every repeat was solved and within the accuracy of the reference."""
        return self.solved and self.error is not None and self.error <= accuracy

    @property
    def size_class(self) -> str:
        """The paper's groups by max(rows, columns)."""
        size = max(self.rows, self.columns)
        return "small" if size <= 1_000 else "medium" if size <= 10_000 else "large"


SUMMARY = (
    "solver", "models", "solved %", "correct % (1e-6)", "correct % (1e-9)", "timeout %", "crash %",
    "geometric mean s", "common", "iterations/s",
)  # fmt: skip


def summarise(runs: Sequence[Run], limit: float) -> list[list[Any]]:
    """Return a row of :data:`SUMMARY` per solver; all shares are of the models it was given.

    The geometric mean counts what was not solved at the limit and is over the models that every
    solver was given, 'common' of them.
    """
    solvers = list(dict.fromkeys(run.solver for run in runs))
    given = [{run.model for run in runs if run.solver == solver} for solver in solvers]
    common = set.intersection(*given) if given else set()
    return [_summary(solver, [r for r in runs if r.solver == solver], common, limit)
            for solver in solvers]  # fmt: skip


def _summary(solver: str, runs: Sequence[Run], common: set[str], limit: float) -> list[Any]:
    def share(flags: Iterable[bool]) -> float:
        return 100.0 * sum(flags) / len(runs)

    times = [run.seconds if run.solved else limit for run in runs if run.model in common]
    rates = [rate for run in runs if (rate := run.iterations_per_second) is not None]
    return [
        solver,
        len(runs),
        share(run.solved for run in runs),
        share(run.correct(PAPER_ACCURACY) for run in runs),
        share(run.correct(ACCURACY) for run in runs),
        share(run.status in TIMEOUTS for run in runs),
        share(not run.solved and run.status not in TIMEOUTS for run in runs),
        geometric_mean([max(SHORTEST, seconds) for seconds in times]),
        len(common),
        geometric_mean(rates),
    ]


def geometric_mean(values: Sequence[float]) -> float | None:
    """Return the geometric mean; None of nothing."""
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def append(path: Path, run: Run) -> None:
    """Add a row to a file of JSON lines."""
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(asdict(run)) + "\n")


def load(path: Path) -> list[Run]:
    """Read the rows of such a file; nothing if there is none."""
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    return [Run(**json.loads(line)) for line in lines if line]
