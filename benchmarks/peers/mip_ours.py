"""Our own solver for mixed-integer programs, through the door that users take."""

from __future__ import annotations

from typing import Any

import numpy as np

import gpu_bridge
from benchmarks.peers.mip_solver import MipAnswer, MipSolver, MipTask, Recorder
from gpu_bridge.pipeline.registry import ENGINES
from solvers.core.outcome import SolutionStatus

METHOD = "mip" if "mip" in ENGINES else "auto"
"""The heuristics beside branch and bound, where this version has them."""


class Ours(MipSolver):
    """Everything on: heuristics, and branch and bound for the proof."""

    heuristics_only = False

    def label(self, task: MipTask) -> str:
        """Name, way, device and threads."""
        words = ", heuristics only" if self.heuristics_only else ""
        return f"gpu-bridge{words}"

    def missing(self) -> str | None:
        """Say whether this version has heuristics that can run alone, if asked for them."""
        if self.heuristics_only and METHOD != "mip":
            return "this version has no heuristics of its own"
        return None

    def warm_up(self, task: MipTask) -> None:
        """Let the heuristics search a small model; branch and bound would be too quick for them."""
        options = {**self._options(task), "time_limit": task.warm_up}
        if METHOD == "mip":
            options["heuristics_only"] = True
        gpu_bridge.solve(_small(), **options)

    def load(self, task: MipTask) -> gpu_bridge.Problem:
        """Read the file with our own reader."""
        return gpu_bridge.read(task.path)

    def solve(self, model: gpu_bridge.Problem, task: MipTask, recorder: Recorder) -> MipAnswer:
        """Solve; the history of the outcome tells when each point was found."""
        outcome = gpu_bridge.solve(model, **self._options(task))
        before = np.nan
        for event in outcome.history:
            if np.isfinite(event.incumbent) and event.incumbent != before:
                before = event.incumbent
                recorder.event(before, seconds=event.seconds)
        status = outcome.solution_status
        settled = status not in (SolutionStatus.FEASIBLE, SolutionStatus.NOTHING)
        return MipAnswer(
            status=(status if settled else outcome.stop_reason).name.lower(),
            bound=float(outcome.bound) if np.isfinite(outcome.bound) else None,
            x=outcome.x if status.has_point else None,
            source=_source(outcome),
            detail=f"{outcome.engine} on {outcome.device}",
        )

    def _options(self, task: MipTask) -> dict[str, Any]:
        options: dict[str, Any] = {
            "method": METHOD,
            "time_limit": task.time_limit,
            "threads": task.threads,
            "seed": task.seed,
            "device": task.device,
            "explain": False,
        }
        if self.heuristics_only:
            options["heuristics_only"] = True
        return options


class OursHeuristics(Ours):
    """The heuristics alone."""

    heuristics_only = True


def _source(outcome: gpu_bridge.Outcome) -> str:
    from gpu_bridge.solution_pool import found_by

    found = found_by(outcome)
    return "" if found is None else found[1]


def _small() -> gpu_bridge.Problem:
    """Return a small model with all kinds of columns and rows."""
    generator = np.random.default_rng(0)
    rows, columns = 30, 60
    matrix = np.where(
        generator.random((rows, columns)) < 0.2, generator.integers(1, 9, (rows, columns)), 0
    )
    integer = np.arange(columns) < 50
    return gpu_bridge.Problem.from_arrays(
        generator.integers(1, 20, columns).astype(float),
        matrix.astype(float),
        np.full(rows, 5.0),
        upper=np.where(integer, 1.0, 10.0),
        integrality=integer,
        name="warm-up",
    )
