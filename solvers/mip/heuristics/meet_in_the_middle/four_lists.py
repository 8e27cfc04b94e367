"""Class after class, cheaper deviations first, by as many threads as come."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

import numpy as np

from solvers.core.problem import FloatArray
from solvers.mip.budget import Budget
from solvers.mip.heuristics.meet_in_the_middle.lists import (
    MARK_BITS,
    SLOT_BITS,
    Grouped,
    KeyArray,
    Lists,
    find_pair,
    is_promising,
    make_lists,
)
from solvers.mip.heuristics.meet_in_the_middle.sums import (
    MOST_ROWS,
    Sums,
    WholeArray,
    cheapest_deviations,
    find_sums,
    slack_values,
)
from solvers.mip.model import SAME, Submit
from solvers.mip.portfolio.heuristic import (
    UNFINISHED,
    Declined,
    Heuristic,
    HeuristicContext,
    Needs,
    Report,
)
from solvers.native.mip_heuristics_meet_in_the_middle import look_up, store

SOURCE = "meet in the middle"

FIRST_SHELL, SHELL_GROWTH, MOST_DEVIATIONS = 32, 4, 2048
"""Deviations of a first pass over all classes, how many times more the next one has, and all of
them together. Each pair of sums is as likely to meet with one deviation as with another, so that
the cheap ones come first."""

MOST_SHIFTED = 1 << 22
"""Sums of the last list and a deviation in one pass."""

ENTRIES_PER_SUM = 0.1
"""What a sum looked at counts for: a nanosecond."""


@dataclass(frozen=True, eq=False)
class Room:
    """What a thread stores sums in: slots, and marks of which slots may be filled."""

    table: KeyArray
    marks: KeyArray

    @classmethod
    def new(cls) -> Room:
        """Return empty room."""
        slots = np.zeros(1 << SLOT_BITS, dtype=np.uint64)
        return cls(slots, np.zeros(1 << (MARK_BITS - 6), dtype=np.uint64))


class Status(Enum):
    """How a run ended."""

    SPENT = "the budget was spent"
    OVER = "no cheaper deviation is left"
    REFUSED = "a point was refused for which all sums are right"


@dataclass(eq=False)
class _Pass:
    """One way through all classes, for the deviations from ``begin`` to ``end``."""

    lists: Lists
    begin: int
    end: int
    fourth: Grouped
    next_class: int = 0
    done: int = 0

    @property
    def classes(self) -> int:
        """Number of classes."""
        return 1 << self.lists.class_bits


class MeetInTheMiddleSearch:
    """A search of one model's sums that goes on from run to run; several may run side by side.

    Parameters
    ----------
    best : callable
        Returns the best objective known, inf without a point, and the point (n,) or None.

    Attributes
    ----------
    proven : float
        Objective that no point is below, exactly; inf where there is no point at all.
    """

    def __init__(
        self,
        sums: Sums,
        submit: Submit,
        best: Callable[[], tuple[float, FloatArray | None]],
        seed: int,
    ) -> None:
        self._sums = sums
        self._submit = submit
        self._best = best
        self._rng = np.random.default_rng(seed)
        self._lock = threading.Lock()
        self._deviations = cheapest_deviations(sums, best()[0] - sums.offset, MOST_DEVIATIONS)
        self._pass: _Pass | None = None
        self._tried = 0
        self._status = Status.SPENT
        self.proven = -np.inf

    def run(self, budget: Budget) -> Status:
        """Search until the budget is spent or no cheaper deviation is left."""
        room = Room.new()
        while not budget.spent():
            with self._lock:
                now = self._next() if self._status is Status.SPENT else None
                if now is None:
                    break
                number, fourth = now.next_class, now.fourth
                now.next_class += 1
            self._search_class(now, fourth, number, room, budget)
        return self._status

    def _next(self) -> _Pass | None:
        """Return the pass whose next class is to be searched; None where there is none."""
        objective, x = self._best()
        count = self._count_below(objective)
        now = self._pass
        if now is not None and now.begin < count:
            self._shrink(now, count)
            if now.next_class < now.classes:
                return now
            if now.done < now.classes:
                return None  # others are at the last classes, and may change what is left
            self._tried = now.end if now.lists.covers_all else 0
        if self._tried < count:
            return self._begin(count, x)
        self._status = Status.OVER
        knows_all = self._deviations.is_complete or count < self._deviations.cost.size
        if knows_all:
            self.proven = objective
        return None

    def _count_below(self, objective: float) -> int:
        return self._deviations.count_below(objective - self._sums.offset)

    def _shrink(self, now: _Pass, count: int) -> None:
        """Leave out the deviations that are no longer cheap enough."""
        if count < now.end:
            now.end, now.fourth = count, self._fourth(now.lists, now.begin, count)

    def _begin(self, count: int, x: FloatArray | None) -> _Pass:
        """Begin a pass for the cheapest deviations that were not tried."""
        before = self._pass
        if before is not None and before.lists.covers_all:
            lists = before.lists
        else:
            lists = make_lists(self._sums, self._steps(x), self._rng)
        room = max(1, MOST_SHIFTED // lists.quarters[3].keys.size)
        end = min(count, self._tried + room, max(FIRST_SHELL, SHELL_GROWTH * self._tried))
        self._pass = _Pass(lists, self._tried, end, self._fourth(lists, self._tried, end))
        return self._pass

    def _fourth(self, lists: Lists, begin: int, end: int) -> Grouped:
        return lists.fourth(self._deviations.amounts[begin:end])

    def _steps(self, x: FloatArray | None) -> WholeArray:
        """Return where columns are that find no room in the lists: at the best point."""
        columns = self._sums.columns
        if x is None:
            return self._rng.integers(self._sums.counts)
        steps: WholeArray = np.rint(x[columns] - self._sums.base[columns]).astype(np.int64)
        return steps

    def _search_class(
        self, now: _Pass, fourth: Grouped, number: int, room: Room, budget: Budget
    ) -> None:
        """Search one class, for fewer deviations once a point was found."""
        lists, wanted = now.lists, int(now.lists.wanted)
        first, second, third = lists.first.keys, lists.second, lists.third.keys
        place = 0
        while place < first.size:
            begin = place
            place, stored = store(
                *(first, second.keys, second.start, number, begin),
                *(room.table, room.marks),
            )
            one, other, looked = look_up(
                *(third, fourth.keys, fourth.start, wanted, number),
                *(room.table, room.marks),
            )
            budget.charge(ENTRIES_PER_SUM * (stored + looked))
            if one < 0:
                continue
            objective = self._take(now, fourth, one, other)
            with self._lock:
                count = self._count_below(min(objective, self._best()[0]))
                if self._best()[0] > objective + SAME * max(1.0, abs(objective)):
                    self._status = Status.REFUSED
                if self._status is not Status.SPENT or count <= now.begin:
                    return  # nothing cheaper is left of this pass
                self._shrink(now, count)
                place, fourth = begin, now.fourth
        with self._lock:
            now.done += 1

    def _take(self, now: _Pass, fourth: Grouped, one: int, other: int) -> float:
        """Submit the point that two places have led to; return its objective."""
        sums, lists = self._sums, now.lists
        third, last = lists.third, lists.quarters[3]
        deviation, number = divmod(int(fourth.origin[other]), last.keys.size)
        amount = self._deviations.amounts[now.begin + deviation]
        left = lists.wanted - (third.keys[one : one + 1] + fourth.keys[other : other + 1])
        steps = lists.fixed.copy()
        numbers = (*find_pair(lists, left[0]), int(third.origin[one]), number)
        for quarter, key in zip(lists.quarters, numbers, strict=True):
            steps[quarter.places] = quarter.steps(key)
        x = sums.base.copy()
        x[sums.columns] += steps
        for column, units in slack_values(sums, amount).items():
            x[column] += units
        self._submit(x, SOURCE)
        return float(sums.offset + self._deviations.cost[now.begin + deviation])


class MeetInTheMiddle(Heuristic[tuple[HeuristicContext, Sums], MeetInTheMiddleSearch]):
    """One search, which all turns that run side by side work on together."""

    name = SOURCE
    needs = Needs(most_rows=MOST_ROWS)

    def prepare(self, context: HeuristicContext) -> tuple[HeuristicContext, Sums]:
        """Find the sums of the model."""
        sums = find_sums(context.model, context.domain.lower, context.domain.upper)
        if sums is None:
            raise Declined("the model is not made of sums")
        if not is_promising(sums, MOST_DEVIATIONS):
            raise Declined("its sums would hardly ever meet")
        return context, sums

    def begin(self, prepared: tuple[HeuristicContext, Sums], number: int) -> MeetInTheMiddleSearch:
        """Return the one search."""
        context, sums = prepared

        def best() -> tuple[float, FloatArray | None]:
            found = context.acceptance.pool.best
            return (np.inf, None) if found is None else (found.objective, found.x)

        seed = context.seed_of("sums", 0)  # a key outlives names: the same seeds as ever
        return context.once(self, lambda: MeetInTheMiddleSearch(sums, context.submit, best, seed))

    def run(self, state: MeetInTheMiddleSearch, budget: Budget, seed: int) -> Report:
        """Let the search go on."""
        if state.run(budget) is Status.SPENT:
            return UNFINISHED
        return Report(is_over=True, proven=state.proven)
