"""Who comes next: turns of heuristics dealt out by the shares they are due.

Each heuristic has a share, which may change as the search goes on, and turns are given to the one
that has had the least for its share so far - fair queueing, as in a network switch. What was had is
counted at the share of its time, so that a share that grows or falls says nothing about the past.
One with nothing to do has the share zero; coming back, it starts level with the others and catches
up on nothing.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from solvers.core.progress import LOOK_AGAIN
from solvers.mip.budget import Budget
from solvers.mip.portfolio.credit import Credit, Kind
from solvers.mip.portfolio.heuristic import HeuristicContext

Work = Callable[[Budget, int], None]
"""Runs a heuristic until the budget is spent or it has nothing more to try, with a seed."""


@dataclass(frozen=True, eq=False)
class Activity:
    """One heuristic as the schedule sees it.

    Parameters
    ----------
    work : callable
        Takes the budget of a turn and a seed.
    share : callable
        What it is due now; 0 for nothing.
    longest, shortest : float
        Longest and shortest turn in seconds.
    most : int
        Turns of it that may run side by side.
    once : bool
        It has one turn, as long as it likes up to ``longest``.
    at_once : bool
        Its first turn comes in the order of the table, however little it is due.
    kind : Kind, optional
        Whose gains count for its share, too.
    """

    name: str
    work: Work
    share: Callable[[], float]
    longest: float = 10.0
    shortest: float = 0.0
    most: int = 1_000_000
    once: bool = False
    at_once: bool = False
    kind: Kind | None = None


def _none() -> float:
    return 0.0


def _length(activity: Activity, usual: float) -> float:
    """Return the seconds of a turn, where it is not the only one."""
    return min(activity.longest, max(activity.shortest, usual))


@dataclass(eq=False)
class _Account:
    """What an activity has had: ``standing`` is the sum of its seconds, each over its share."""

    standing: float = 0.0
    running: int = 0
    turns: int = 0
    was_due: bool = False
    is_out: bool = False


@dataclass(frozen=True, eq=False)
class Turn:
    """A turn that was dealt out: whose, the number of it, how long it may be, for what share.

    ``usual`` is the length in seconds of turns of those that want neither more nor less.
    """

    activity: Activity
    number: int
    seconds: float
    share: float
    usual: float


@dataclass(eq=False)
class Scheduler:
    """Deals turns out; safe to use from any thread.

    Parameters
    ----------
    activities : sequence of Activity
        In the order in which they come while nobody has had anything.
    shortest : float
        Length of a first turn, in seconds.
    growth : float
        Part of the time used so far by which turns get longer.
    ahead : callable
        What part of a turn counts when it is to be dealt out, and not only when it was had: with
        all of it, who is due little has no first turn before who is due much, but for those that
        come at once; with none, first turns come in the order of the table.
    credit : Credit, optional
        Says what the activities of a kind are due together beside their shares.
    """

    activities: Sequence[Activity]
    shortest: float = 0.5
    growth: float = 0.05
    ahead: Callable[[], float] = _none
    credit: Credit | None = None
    _accounts: list[_Account] = field(init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def __post_init__(self) -> None:
        self._accounts = [_Account() for _ in self.activities]

    def take(self, elapsed: float) -> Turn | None:
        """Return the next turn after ``elapsed`` seconds of search, or None if nobody is due."""
        with self._lock:
            shares = self._shares()
            due = [place for place, share in enumerate(shares) if share > 0.0]
            self._level(due)
            free = [place for place in due if self._may_begin(place)]
            if not free:
                return None
            usual, ahead = self.shortest + self.growth * elapsed, self.ahead()

            def rank(one: int) -> tuple[float, int]:
                account = self._accounts[one]
                if self.activities[one].at_once and not account.turns:
                    return account.standing, one
                length = _length(self.activities[one], usual)
                return account.standing + ahead * length / shares[one], one

            place = min(free, key=rank)
            activity, account = self.activities[place], self._accounts[place]
            seconds = activity.longest if activity.once else _length(activity, usual)
            account.running += 1
            account.turns += 1
            account.standing += seconds / shares[place]  # until it is known what the turn took
            return Turn(activity, account.turns, seconds, shares[place], usual)

    def give_back(self, turn: Turn, used: float) -> None:
        """Tell how long a turn was in the end."""
        with self._lock:
            account = self._account_of(turn)
            account.running -= 1
            account.standing += (used - turn.seconds) / turn.share
        if self.credit is not None:
            self.credit.note(turn.activity.kind, used / turn.usual)

    def leave_out(self, turn: Turn) -> None:
        """Give an activity no more turns, because it failed."""
        with self._lock:
            account = self._account_of(turn)
            account.running -= 1
            account.is_out = True

    def _account_of(self, turn: Turn) -> _Account:
        return self._accounts[list(self.activities).index(turn.activity)]

    def _shares(self) -> list[float]:
        """Return what each is due: its share, and its part of what its kind has earned."""
        shares = [self._share(place) for place in range(len(self.activities))]
        of_kind: dict[Kind, float] = {}
        for activity, share in zip(self.activities, shares, strict=True):
            if activity.kind is not None:
                of_kind[activity.kind] = of_kind.get(activity.kind, 0.0) + share
        for place, activity in enumerate(self.activities):
            kind = activity.kind
            if self.credit is not None and kind is not None and shares[place] > 0.0:
                shares[place] += shares[place] / of_kind[kind] * self.credit.bonus(kind)
        return shares

    def _share(self, place: int) -> float:
        activity, account = self.activities[place], self._accounts[place]
        if account.is_out or (activity.once and account.turns):
            return 0.0
        return activity.share()

    def _may_begin(self, place: int) -> bool:
        return self._accounts[place].running < self.activities[place].most

    def _level(self, due: list[int]) -> None:
        """Let who is due again start where the others stand."""
        old = [self._accounts[one].standing for one in due if self._accounts[one].was_due]
        level = min(old, default=0.0)
        for place, account in enumerate(self._accounts):
            is_due = place in due
            if is_due and not account.was_due:
                account.standing = max(account.standing, level)
            account.was_due = is_due


# What a thread does: turns side by side by the clock, or one after the other by work.


WORK_PER_SECOND = 1e8
"""Matrix entries of a turn for each second it would have by the clock."""

LEAST_USED, IN_VAIN = 0.01, 0.1
"""What a turn counts for at least: so many seconds, so that a search whose heuristics have nothing
to do comes to its end; and this part of a turn that was given back early without a better point.
Whoever has proven that its neighbourhoods hold nothing more would otherwise be asked again and
again: on blend2, 600 times for a billion entries."""


Throttle = Callable[[float, Budget], None]
"""Told of the seconds that a turn took; returns when the next one may begin."""


def no_throttling(seconds: float, budget: Budget) -> None:
    """Let the next turn begin at once."""


def run_worker(
    scheduler: Scheduler,
    context: HeuristicContext,
    budget: Budget,
    throttle: Throttle = no_throttling,
) -> None:
    """Take turns in the calling thread until the budget is spent."""
    while not budget.spent():
        turn = scheduler.take(budget.seconds)
        if turn is None:
            time.sleep(LOOK_AGAIN)
            continue
        part = budget.part(turn.seconds)
        if not _go(turn, context, part):
            scheduler.leave_out(turn)
            continue
        if part.seconds < LOOK_AGAIN:
            time.sleep(LOOK_AGAIN)  # it had nothing to do, and may be the only one that is due
        scheduler.give_back(turn, part.seconds)
        throttle(part.seconds, budget)


def run_in_turn(scheduler: Scheduler, context: HeuristicContext, budget: Budget) -> None:
    """Take turns by work alone until the budget is spent or nobody has anything to do."""
    while not budget.spent():
        turn = scheduler.take(budget.work / WORK_PER_SECOND)
        if turn is None:
            return
        part = budget.part(work=WORK_PER_SECOND * turn.seconds)
        version = context.acceptance.pool.version
        if not _go(turn, context, part):
            scheduler.leave_out(turn)
            continue
        least = LEAST_USED
        if not turn.activity.once and context.acceptance.pool.version == version:
            least = max(least, IN_VAIN * turn.seconds)
        used = max(part.work, WORK_PER_SECOND * least)
        budget.charge(used - part.work)
        scheduler.give_back(turn, used / WORK_PER_SECOND)


def _go(turn: Turn, context: HeuristicContext, budget: Budget) -> bool:
    """Run a turn; a heuristic that fails is said so and left out, and the rest goes on."""
    name = turn.activity.name
    try:
        turn.activity.work(budget, context.seed_of(name, turn.number))
    except Exception as failure:
        context.log(f"The heuristic '{name}' failed and is left out: {failure!r}")
        return False
    return True
