"""Who takes part in a solve: one heuristic with its states, its share and its end."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from solvers.mip.budget import Budget
from solvers.mip.portfolio.heuristic import Declined, Heuristic, HeuristicContext, Report
from solvers.mip.portfolio.scheduler import Activity

if TYPE_CHECKING:
    from solvers.mip.table import Place, Row

UNLIMITED = 3600.0
"""Seconds that count as the time left where there is no limit."""


class Participant:
    """Gives turns to one heuristic; safe to use from any thread.

    A turn goes to the state that has waited longest; only where all are busy is another one made.

    Attributes
    ----------
    is_over : bool
        Whether there are no more turns: it has declined, or has nothing left to try.

    Raises
    ------
    Declined
        Where the heuristic does not suit the model.
    """

    def __init__(self, heuristic: Heuristic[Any, Any], context: HeuristicContext) -> None:
        self.heuristic = heuristic
        self._context = context
        self._waiting: list[Any] = []
        self._made = 0
        self._lock = threading.Lock()
        self.is_over = False
        heuristic.needs.check(context)
        self.prepared = heuristic.prepare(context)

    def share(self, usual: float) -> float:
        """Return what the heuristic is due now, where the table gives it ``usual``."""
        if self.is_over or usual == 0.0 or not self.heuristic.needs.are_met(self._context):
            return 0.0
        return self.heuristic.share(self.prepared, usual)

    def run(self, budget: Budget, seed: int) -> None:
        """Run one turn."""
        with self._lock:
            number, state = self._made, self._waiting.pop(0) if self._waiting else None
            self._made += state is None
        if state is None:
            try:
                state = self.heuristic.begin(self.prepared, number)
            except Declined as refusal:
                self.is_over = True
                self._context.log(f"The heuristic '{self.heuristic.name}' declines: {refusal}.")
                return
        try:
            report = self.heuristic.run(state, budget, seed)
        finally:
            with self._lock:
                self._waiting.append(state)
        self._take_note(report)

    def _take_note(self, report: Report) -> None:
        """Pass on what is proven, and give up the states where it is over."""
        if report.proven == np.inf:
            self._context.solve.prove_infeasible()
        elif np.isfinite(report.proven):
            self._context.solve.prove_bound(report.proven, self.heuristic.name)
        self.is_over |= report.is_over
        if self.is_over:
            with self._lock:
                self._waiting.clear()


def line_up(
    rows: Sequence[Row],
    context: HeuristicContext,
    places: Sequence[Place],
    seconds: float,
    workers: int = 1,
) -> list[Activity]:
    """Return the rows of a table that take part in a solve, as the scheduler sees them.

    Who declines is left out and named in the log, as is who fails.

    Parameters
    ----------
    places : sequence of Place
        Where there is room for heuristics; rows for other places are left out.
    seconds : float
        Time left, as far as the lengths of turns derive from it.
    workers : int
        Turns that run side by side.
    """
    found: list[Activity] = []
    participants: dict[Heuristic[Any, Any], Participant] = {}
    reasons: list[str] = []
    for row in rows:
        if row.place not in places or not row.models.holds(context.model):
            continue
        if row.cores > context.solve.cores:
            continue
        try:
            if row.heuristic not in participants:
                participants[row.heuristic] = Participant(row.heuristic, context)
        except Declined as refusal:
            reasons.append(f"'{row.name}' ({refusal})")
            continue
        except Exception as failure:
            context.log(f"The heuristic '{row.name}' failed and is left out: {failure!r}")
            continue
        found.append(_activity(row, participants[row.heuristic], context, seconds, workers))
    if reasons:
        context.log(f"Heuristics that decline: {', '.join(reasons)}.")
    return found


def _activity(
    row: Row, participant: Participant, context: HeuristicContext, seconds: float, workers: int
) -> Activity:
    def share() -> float:
        return participant.share(row.after if context.has_point else row.before)

    return Activity(
        row.name,
        participant.run,
        share,
        longest=min(row.longest, row.part_of_time * min(seconds, UNLIMITED)),
        shortest=row.shortest,
        most=min(row.most, max(1, workers // row.one_of)),
        once=row.once,
        at_once=row.at_once,
        kind=row.kind,
    )
