"""One file for each engine: presolve, the engine, and the way back; and what a route is given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from solvers.core.outcome import Outcome, SolutionStatus, StopReason

if TYPE_CHECKING:
    from solvers.core.process_state import Analyses
    from solvers.highs.under_way import UnderWay

RACE = "race"
"""What ``method`` says where several engines run."""

PDLP = "pdlp"

ABANDONED = Outcome(SolutionStatus.NOTHING, StopReason.INTERRUPTED)
"""What comes of a route whose answer nobody waits for any more."""


@dataclass(frozen=True)
class Choice:
    """The engine that will answer, where it runs, and why it was chosen.

    In a race ``method`` is :data:`RACE`, ``contenders`` names the engines, and ``device`` is the
    fastest one that any of them uses. With ``then`` branch and bound goes on where the engine does
    not end in its share of the time. ``on_cluster`` means members on a cluster's nodes, by what the
    options name. ``analyses`` is where engines leave what the next solve may use, ``under_way`` a
    branch and bound that is at work already.
    """

    method: str
    device: str
    reason: str
    contenders: tuple[str, ...] = ()
    then: bool = False
    on_cluster: bool = False
    analyses: Analyses | None = None
    under_way: UnderWay | None = None
