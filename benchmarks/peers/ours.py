"""Our own engines, through the door that users take; duals come in the minimised sense."""

from __future__ import annotations

from typing import Any

import gpu_bridge
from benchmarks.linear_programs import LinearProgram
from benchmarks.peers.solver import Answer, Solver, Task
from solvers.core.outcome import SolutionStatus

TIGHTEST = 1e-10
"""The tightest tolerance that the options allow."""


class Pdlp(Solver):
    """PDLP with its own presolve, the point as it is."""

    method, crossover, words = "pdlp", "off", "pdlp"

    @property
    def label(self) -> str:
        """Name and way."""
        return f"gpu-bridge {self.words}"

    @property
    def where(self) -> str:
        """The device asked for."""
        return self.device

    def threads(self, task: Task) -> int:
        """CPU threads."""
        return task.threads

    def missing(self) -> str | None:
        """Return nothing: ours is always there."""
        return None

    def prepare(self, lp: LinearProgram, task: Task) -> gpu_bridge.Problem:
        """Make an immutable problem."""
        return gpu_bridge.Problem.from_arrays(
            lp.cost,
            lp.matrix,
            lp.row_lower,
            lp.row_upper,
            lower=lp.lower,
            upper=lp.upper,
            offset=lp.offset,
            name=lp.name,
        )

    def solve(self, model: gpu_bridge.Problem, task: Task) -> Answer:
        """Solve and translate the outcome."""
        options: dict[str, Any] = {
            "method": self.method,
            "crossover": self.crossover,
            "device": self.where,
            "tolerance": max(task.tolerance, TIGHTEST),
            "time_limit": task.time_limit,
            "presolve": task.presolve,
            "threads": self.threads(task),
            "explain": False,
        }
        if task.iteration_limit is not None:
            options["iteration_limit"] = task.iteration_limit
        return _answer(gpu_bridge.solve(model, **options))


class Auto(Pdlp):
    """What users get without a word: the choice or the race of engines."""

    method, crossover, words = "auto", "auto", "auto"
    first_order = False

    @property
    def where(self) -> str:
        """Leave the choice to the bridge, which would not race if a GPU were asked for."""
        return "cpu" if self.device == "cpu" else "auto"

    def threads(self, task: Task) -> int:
        """Take all cores, as users who say nothing do."""
        return 0


class Engine(Pdlp):
    """Any method by its name, with what the bridge does by default besides."""

    def __init__(self, device: str = "auto", method: str = "auto", crossover: str = "auto") -> None:
        super().__init__(device)
        self.crossover = crossover
        self.method = self.words = method
        self.first_order = method == "pdlp"


def _answer(outcome: gpu_bridge.Outcome) -> Answer:
    statistics = outcome.statistics
    iterations = statistics.get("iterations", statistics.get("pdlp_iterations"))
    loop, moved = statistics.get("loop_seconds"), statistics.get("bytes_per_iteration")
    status = outcome.solution_status
    point = outcome.x if outcome.x is not None else outcome.candidate
    return Answer(
        status=outcome.stop_reason.name.lower()
        if status in (SolutionStatus.FEASIBLE, SolutionStatus.NOTHING)
        else status.name.lower(),
        x=point,
        y=outcome.row_dual,
        iterations=None if iterations is None else int(iterations),
        loop_seconds=None if loop is None else float(loop),
        bytes_per_iteration=None if moved is None else float(moved),
        detail=f"{outcome.engine} on {outcome.device}",
    )
