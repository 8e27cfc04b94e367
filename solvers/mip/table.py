"""Which heuristics there are, how much of the time each is due, and in what order they come first.

A heuristic is one file that defines a :class:`~solvers.mip.portfolio.heuristic.Heuristic` and one
row here. The shares are of two situations: while there is no point, whatever finds one; afterwards
mostly neighbourhoods and local search, with the rest kept up because some models fall to it alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from solvers.mip.heuristics.annealing.search import SwapMoves
from solvers.mip.heuristics.constructive import Trivial
from solvers.mip.heuristics.diving.heuristic import (
    ImprovingDive,
    LinearDive,
    SolveRelaxation,
)
from solvers.mip.heuristics.fix_and_propagate.heuristic import Dive, GuidedDive
from solvers.mip.heuristics.large_neighbourhood.search import Neighbourhoods
from solvers.mip.heuristics.lazy_clause.clause_search import LazyClause
from solvers.mip.heuristics.local_search.gpu_heuristic import (
    AggregatedDeviceLocalSearch,
    DeviceLocalSearch,
)
from solvers.mip.heuristics.local_search.heuristic import AggregatedLocalSearch, LocalSearch
from solvers.mip.heuristics.meet_in_the_middle.four_lists import MeetInTheMiddle
from solvers.mip.heuristics.one_opt.improve import Improve
from solvers.mip.heuristics.zero_objective import DelayedZeroObjective, ZeroObjective
from solvers.mip.model import MipModel
from solvers.mip.portfolio.credit import Kind
from solvers.mip.portfolio.heuristic import Heuristic


class Place(Enum):
    """Where a heuristic runs."""

    TURN = "turns on the CPU, side by side or one after the other"
    TURN_BY_CLOCK = "turns of the only thread, where the clock decides"
    THREAD = "a thread of its own, beside turns side by side"
    DEVICE_THREAD = "a thread of its own that uses the GPU"


class Models(Enum):
    """Models that a row is for."""

    ALL = "all"
    INTEGER = "those of nearly all integer columns"
    MIXED = "the others"

    def holds(self, model: MipModel) -> bool:
        """Whether a model is one of these."""
        return self is Models.ALL or model.is_mostly_integer == (self is Models.INTEGER)


@dataclass(frozen=True)
class Row:
    """A heuristic's place in the schedule.

    Parameters
    ----------
    heuristic : Heuristic
        Rows with the same object share its states.
    before, after : float
        Its share of the turns while there is no point, and afterwards.
    longest, shortest : float
        Longest and shortest turn in seconds.
    part_of_time : float
        Part of the time left, when heuristics begin, that a turn may take at most.
    most, one_of : int
        Turns of it that may run side by side: so many, and one for so many threads.
    once : bool
        It has one turn, as long as it likes up to ``longest``.
    at_once : bool
        Its first turn comes in the order of the table, however little it is due.
    kind : Kind, optional
        Whose credit counts for its share, too.
    cores : int
        Cores from which on it takes part.
    label : str
        Name of the row where it is not that of the heuristic.
    """

    heuristic: Heuristic[Any, Any]
    before: float
    after: float
    place: Place = Place.TURN
    longest: float = 10.0
    shortest: float = 0.0
    part_of_time: float = np.inf
    most: int = 1_000_000
    one_of: int = 1
    once: bool = False
    at_once: bool = False
    kind: Kind | None = None
    models: Models = Models.ALL
    cores: int = 1
    label: str = ""

    @property
    def name(self) -> str:
        """What the row is called in the log, and the key of the seeds of its turns."""
        return self.label or self.heuristic.name


_WALKS, _CLAUSES = LocalSearch(), LazyClause()
_FREE = np.inf  # as long as its part of the time

TABLE: tuple[Row, ...] = (
    Row(Improve(), 50.0, 50.0, most=1),
    # nearly everything where a model suits it, for nothing else comes near
    Row(MeetInTheMiddle(), 30.0, 30.0),
    Row(_WALKS, 3.0, 1.5, at_once=True, kind=Kind.WALKS),
    Row(AggregatedLocalSearch(), 6.0, 1.5, at_once=True, kind=Kind.WALKS),
    # of mipcc26-18 and mipcc26-28 a walk finds a point after 40 to 200 million entries, for which
    # the half second of a first turn is short
    Row(
        _WALKS,
        6.0,
        0.0,
        longest=1.0,
        part_of_time=0.05,
        most=1,
        once=True,
        label="longer local search",
    ),
    Row(SwapMoves(), 3.0, 3.0, one_of=4, kind=Kind.SWAPS),
    Row(Dive(), 2.0, 0.3, one_of=2, at_once=True, kind=Kind.DIVES),
    Row(Trivial(), 2.0, 0.0, longest=_FREE, part_of_time=0.05, most=1, once=True),
    # some models fall to it in a second and to nothing else
    Row(_CLAUSES, 8.0, 0.5, one_of=4, shortest=1.5, kind=Kind.CLAUSES, models=Models.INTEGER),
    Row(_CLAUSES, 3.0, 0.5, one_of=4, shortest=1.0, kind=Kind.CLAUSES, models=Models.MIXED),
    Row(LinearDive(), 8.0, 0.0, one_of=4, shortest=3.0),
    Row(ImprovingDive(), 0.0, 1.0, one_of=4, kind=Kind.DIVES),
    # counts for half a second before it is had: clauses, which find a point of neos-3216931-puriri
    # in 41 million entries, do not wait for its relaxation of 1.8 billion
    Row(
        SolveRelaxation(),
        2.0,
        2.0,
        longest=_FREE,
        part_of_time=0.25,
        shortest=0.5,
        most=1,
        once=True,
    ),
    Row(GuidedDive(), 2.0, 0.3, one_of=2, kind=Kind.DIVES),
    Row(Neighbourhoods(), 0.0, 6.0, longest=20.0, shortest=3.0, kind=Kind.NEIGHBOURHOODS),
    Row(
        ZeroObjective(),
        *(2.0, 0.0, Place.TURN_BY_CLOCK),
        longest=_FREE,
        shortest=_FREE,
        part_of_time=0.3,
        most=1,
        once=True,
    ),
    Row(DelayedZeroObjective("zero objective 0", 0), 2.0, 0.0, Place.THREAD),
    Row(DelayedZeroObjective("zero objective 1", 1), 2.0, 0.0, Place.THREAD, cores=8),
    Row(DeviceLocalSearch(), 1.0, 1.0, Place.DEVICE_THREAD),
    Row(AggregatedDeviceLocalSearch(), 1.0, 1.0, Place.DEVICE_THREAD),
)
