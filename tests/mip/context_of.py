"""What the heuristics of one solve share, and one of them, for tests that give it turns by hand."""

from __future__ import annotations

from typing import Any

from solvers.core.device import cpu
from solvers.core.options import EngineOptions
from solvers.core.progress import Progress
from solvers.mip.budget import Budget
from solvers.mip.context import SolveContext
from solvers.mip.inference.domain import Domain
from solvers.mip.model import MipModel
from solvers.mip.portfolio.heuristic import Declined, Heuristic, HeuristicContext
from solvers.mip.portfolio.participant import Participant
from solvers.mip.reducer import unreduced
from solvers.mip.solutions.acceptance import Acceptance
from solvers.mip.table import TABLE


class Quiet(Progress):
    """A clock that remembers the log and the bounds it was told."""

    def __init__(self, time_limit: float = float("inf")) -> None:
        super().__init__(time_limit)
        self.lines: list[str] = []
        self.told: list[tuple[float, str]] = []

    def log(self, message: str) -> None:
        self.lines.append(message)

    def bound(self, value: float, source: str) -> bool:
        self.told.append((value, source))
        return super().bound(value, source)


def context_of(
    model: MipModel, seed: int = 0, *, threads: int = 0, time_limit: float = float("inf")
) -> HeuristicContext:
    """Return what is shared in a solve of a model that needs no presolve."""
    options = EngineOptions(seed=seed, threads=threads)
    solve = SolveContext(model.problem, options, Quiet(time_limit), None)
    domain = Domain.of(model)
    assert domain.propagate()
    acceptance = Acceptance(
        model, unreduced(model.problem), solve.incumbents, solve.progress, is_timed=False
    )
    return HeuristicContext(model, acceptance, domain, cpu(), solve)


def lines_of(context: HeuristicContext) -> list[str]:
    """Return what a solve has logged."""
    assert isinstance(context.solve.progress, Quiet)
    return context.solve.progress.lines


def bounds_of(context: HeuristicContext) -> list[tuple[float, str]]:
    """Return the bounds that a solve was told, and by whom."""
    assert isinstance(context.solve.progress, Quiet)
    return context.solve.progress.told


class Taking:
    """A heuristic that takes part as its row of the table says; one that declines is due nothing.

    Parameters
    ----------
    kind : type
        Class of the heuristic.
    context : HeuristicContext
    """

    def __init__(self, kind: type[Heuristic[Any, Any]], context: HeuristicContext) -> None:
        self.row = next(
            row for row in TABLE if type(row.heuristic) is kind and row.models.holds(context.model)
        )
        self.reason = ""
        self._context = context
        self._participant: Participant | None = None
        try:
            self._participant = Participant(self.row.heuristic, context)
        except Declined as refusal:
            self.reason = str(refusal)

    @property
    def prepared(self) -> Any:
        """What the heuristic has prepared."""
        assert self._participant is not None
        return self._participant.prepared

    @property
    def states(self) -> list[Any]:
        """The states that wait for a turn."""
        assert self._participant is not None
        return self._participant._waiting

    def share(self) -> float:
        """Return what it is due."""
        usual = self.row.after if self._context.has_point else self.row.before
        return 0.0 if self._participant is None else self._participant.share(usual)

    def run(self, budget: Budget, seed: int = 0) -> None:
        """Give it a turn."""
        assert self._participant is not None
        self._participant.run(budget, seed)
