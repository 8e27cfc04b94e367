"""The answer a caller holds: verified, in the model's own sense, with its explanation."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import solvers.outcome
from solvers.outcome import Event, PoolSolution, SolutionStatus, StopReason
from solvers.problem import Problem

if TYPE_CHECKING:
    from gpu_bridge.explain import Conflict
    from gpu_bridge.log_output import LogText
    from gpu_bridge.paths import AnyPath

__all__ = ["Event", "Outcome", "PoolSolution", "SolutionStatus", "StopReason"]


@dataclass(frozen=True)
class IterationRecord:
    """How an iterative engine stood at one moment, in the model's sense; for plots."""

    seconds: float
    count: int
    figures: Mapping[str, float | int | str]


_SHARED = tuple(item.name for item in dataclasses.fields(solvers.outcome.Outcome))


@dataclass(frozen=True, eq=False)
class Outcome(solvers.outcome.Outcome):
    """An engine's outcome after ``verify.py`` has checked it on the original problem.

    ``objective``, ``bound``, ``row_dual``, ``reduced_cost``, ``history`` and ``pool`` are in the
    sense of the model: for a maximisation the bound is an upper bound and the signs of the duals
    are those of d(objective)/d(side).

    Parameters
    ----------
    problem : Problem
        What was solved, for names and sizes.
    written : LogText or str
        The whole log of the solve; ``log`` is its text.
    conflict : Conflict, optional
        Constraints and bounds that contradict each other, when infeasible.
    iterations : tuple of IterationRecord
        A thinned record of an iterative engine's figures over time.
    """

    problem: Problem | None = None
    written: LogText | str = ""
    conflict: Conflict | None = None
    iterations: tuple[IterationRecord, ...] = ()

    @property
    def log(self) -> str:
        """The whole log of the solve."""
        return str(self.written)

    @classmethod
    def in_model_sense(
        cls, outcome: solvers.outcome.Outcome, problem: Problem, **more: Any
    ) -> Outcome:
        """Turn an engine's minimised answer into one in the sense of ``problem``'s model."""
        values = {name: getattr(outcome, name) for name in _SHARED}
        if problem.maximize:
            values["objective"] = 0.0 - outcome.objective  # no negative zero
            values["bound"] = 0.0 - outcome.bound
            for name in ("row_dual", "reduced_cost"):
                if values[name] is not None:
                    values[name] = 0.0 - values[name]
            values["history"] = tuple(
                Event(event.seconds, -event.incumbent, -event.bound, event.source)
                for event in outcome.history
            )
            values["pool"] = tuple(
                PoolSolution(entry.x, 0.0 - entry.objective, entry.seconds, entry.source)
                for entry in outcome.pool
            )
        return cls(**values, problem=problem, **more)

    def plot(self, path: AnyPath | None = None) -> Any:
        """Draw incumbent and bound over time; see :func:`gpu_bridge.plot.plot_history`."""
        from gpu_bridge.plot import plot_history

        return plot_history(self, path)
