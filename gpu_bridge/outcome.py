"""The answer a caller holds: verified, in the model's own sense, with its explanation."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import solvers.core.outcome
from solvers.core.errors import CrossedBoundsError
from solvers.core.outcome import Event, PoolSolution, Proof, SolutionStatus, StopReason
from solvers.core.problem import Problem

if TYPE_CHECKING:
    from gpu_bridge.paths import AnyPath
    from gpu_bridge.report.explain import Conflict, Explanation
    from gpu_bridge.report.log_output import LogText
    from gpu_bridge.report.relax import Relaxation

__all__ = ["Event", "Outcome", "PoolSolution", "SolutionStatus", "StopReason"]


@dataclass(frozen=True)
class IterationRecord:
    """How an iterative engine stood at one moment, in the model's sense; for plots."""

    seconds: float
    count: int
    figures: Mapping[str, float | int | str]


@dataclass(frozen=True)
class Record:
    """What was told while a solve ran.

    Parameters
    ----------
    written : LogText or str
        The whole log.
    iterations : tuple of IterationRecord
        A thinned record of an iterative engine's figures over time.
    contenders : mapping
        How engines that ran side by side stood last, by name.
    """

    written: LogText | str = ""
    iterations: tuple[IterationRecord, ...] = ()
    contenders: Mapping[str, str] = field(default_factory=dict)


_SHARED = tuple(item.name for item in dataclasses.fields(solvers.core.outcome.Outcome))


@dataclass(frozen=True, eq=False)
class Outcome(solvers.core.outcome.Outcome):
    """An engine's outcome after ``verify.py`` has checked it on the original problem.

    ``objective``, ``bound``, ``row_dual``, ``reduced_cost``, ``history`` and ``pool`` are in the
    sense of the model: for a maximisation the bound is an upper bound and the signs of the duals
    are those of d(objective)/d(side).

    Parameters
    ----------
    problem : Problem
        What was solved, for names and sizes.
    explained : Explanation, optional
        Why the model is infeasible.
    record : Record
        What was told while the solve ran.
    """

    problem: Problem | None = None
    explained: Explanation | None = None
    record: Record = field(default_factory=Record)

    @property
    def log(self) -> str:
        """The whole log of the solve."""
        return str(self.record.written)

    @property
    def conflict(self) -> Conflict | None:
        """Constraints and bounds that contradict each other, when infeasible."""
        return None if self.explained is None else self.explained.conflict

    @property
    def relaxation(self) -> Relaxation | None:
        """What would have to give way, and by how much, when infeasible and asked for."""
        return None if self.explained is None else self.explained.relaxation

    @property
    def iterations(self) -> tuple[IterationRecord, ...]:
        """A thinned record of an iterative engine's figures over time."""
        return self.record.iterations

    @property
    def contenders(self) -> Mapping[str, str]:
        """How engines that ran side by side stood last, by name."""
        return self.record.contenders

    @classmethod
    def in_model_sense(
        cls, outcome: solvers.core.outcome.Outcome, problem: Problem, **more: Any
    ) -> Outcome:
        """Turn an engine's minimised answer into one in the sense of ``problem``'s model.

        ``more`` are fields that go before the engine's, minimised as they are.
        """
        values = {name: getattr(outcome, name) for name in _SHARED} | more
        if problem.maximize:
            values["objective"] = 0.0 - values["objective"]  # no negative zero
            values["bound"] = 0.0 - values["bound"]
            for name in ("row_dual", "reduced_cost"):
                if values[name] is not None:
                    values[name] = 0.0 - values[name]
            values["history"] = tuple(
                Event(event.seconds, -event.incumbent, -event.bound, event.source)
                for event in values["history"]
            )
            values["pool"] = tuple(
                PoolSolution(entry.x, 0.0 - entry.objective, entry.seconds, entry.source)
                for entry in values["pool"]
            )
        return cls(**values, problem=problem)

    @property
    def explanation(self) -> str:
        """Why there is no optimum, in words with names; empty where there is one."""
        if self.primal_ray is not None and self.problem is not None:
            from gpu_bridge.report.explain import direction

            return direction(self.problem, self.primal_ray)
        return "" if self.explained is None else str(self.explained)

    def plot(self, path: AnyPath | None = None) -> Any:
        """Draw incumbent and bound over time; see :func:`gpu_bridge.report.plot.plot_history`."""
        from gpu_bridge.report.plot import plot_history

        return plot_history(self, path)

    def report(self, path: AnyPath) -> None:
        """Write a page about the solve; see :func:`gpu_bridge.report.page.write_page`."""
        from gpu_bridge.report.page import write_page

        write_page(self, path)

    def _repr_html_(self) -> str | None:
        """Return what a notebook shows; None, so that it shows text, where Jinja is missing."""
        if find_spec("jinja2") is None:
            return None
        from gpu_bridge.report.page import page_html

        return page_html(self, whole=False)


def crossed_bounds_outcome(error: CrossedBoundsError) -> Outcome:
    """Return the *infeasible* answer, with the error's sentence as the reason."""
    from gpu_bridge.report.explain import Conflict, Explanation

    conflict = Conflict(rows=(), columns=(), lines=(str(error),), minimal=True)
    return Outcome(
        SolutionStatus.INFEASIBLE,
        StopReason.CONVERGED,
        proof=Proof.SEARCH,
        engine="presolve",
        message=str(error),
        explained=Explanation(conflict),
    )
