"""PDLP and interior point on one GPU: whose turn it is, by when each of them is likely to end.

Both are launched from one process, so each takes the interpreter's lock and the GPU from the other.
Interior point's time follows from the size of a model, PDLP's from how its error has fallen so far:
it goes on alone while it is likely to be over first, and stands still while interior point iterates
else. If that takes longer than it should, both go on, PDLP with a part of the multiprocessors.
"""

from __future__ import annotations

import bisect
import math
import threading
import time
from collections.abc import Callable

from solvers.core.outcome import Outcome, Start
from solvers.core.progress import LOOK_AGAIN, DetachableProgress, Progress

INTERIOR_SECONDS, INTERIOR_SECONDS_BY_NONZERO = 0.5, 3e-6
"""What interior point takes on a GPU, and each nonzero adds: on H100s and H200s, 0.13 to 2.5 s on
28 models of 13 to 431 thousand nonzeros, 0.73 in the mean, 1.6 on an energy system with 0.19
million, 3.7 with 1.1 and 13.5 with 4.5."""

PREPARING = 0.25
"""Part of it that goes into presolve, layout and analysis, which use the GPU little."""

ITERATING = 0.45
"""Part of it that goes into iterations from PDLP's point: energy of 365 hours takes 37 of 67 from
one right to 1e-4, and 30 of 59 to 1e-6."""

OBSERVED = 20
"""Reports of PDLP, each of a block of iterations, before its end is forecast."""

EARLIEST, EARLIEST_SECONDS = 0.4, 0.3
"""Part of it, and seconds at most, before which interior point is not prepared: early enough to be
ready when it may iterate. Where it was prepared from a tenth on, PDLP took 0.50 and 0.52 s to end
two models on an H200 that it ends in 0.45 alone, and 0.485 and 0.48 from a quarter on. No
error of PDLP is waited for: that of an energy system with 4.5 million nonzeros comes after 0.8 s,
and no later beside the layout of interior point; `auto` took 9.2 s to 1e-6 so, and 10.1 where that
waited (H200, means of three and four calls)."""

BEGINS, BEGINS_SECONDS = 0.65, 1.0
"""Part of it, and seconds at most, before which it does not iterate, and PDLP makes no room for it.
From PDLP's point it takes half of its time less, and the forecasts of so early are worth little: on
an H200 races on `lp22` to 1e-8, which PDLP ends in 0.45 s, took 1.66 and 1.52 times as long with
0.5 and 0.55, and 1.09 with this; on `leader` 0.95, 1.06 and 1.12 times as long as interior point
alone. In longer races it iterates as soon as PDLP is likely to be later."""

OPTIMISM = 3.0
"""How much longer PDLP takes than its errors say, which fall fast to begin with: those of an energy
system of 365 hours, after a third of a second, promised the end after 1.5 s; it came after 6.4."""

LIKELY = 1.5
"""The same where PDLP is to stand still if it takes longer, which costs most where it does not."""

STANDING = 1.0 - PREPARING
"""Part of it for which PDLP stands still at most, what the iterations take from a cold start."""

HANDING_OUT = 0.03
"""Part of it that interior point waits for PDLP's latest point, with which it begins. PDLP holds
one after a second and then seldom, so that energy of 365 hours began without, and of 8,760 after
15 s with one of the first two; a point right to 1e-4 saves four iterations in ten."""

ASKED = 5
"""Reports of PDLP after which what it holds is taken: while its error is above that of the point
that it has handed on it hands on none, and interior point waited 0.7 s for it on 8,760 hours."""

FIGURES = ("primal_residual", "dual_residual", "gap")


class Forecast:
    """When the error of a method comes down to a tolerance, if it goes on as it did of late.

    A first-order method converges linearly in the mean. The rate is that between the least errors
    of the second and of the later two quarters of the time since the first report.
    """

    def __init__(self, tolerance: float) -> None:
        self._target = math.log(tolerance)
        self._seconds: list[float] = []
        self._errors: list[float] = []

    @property
    def reports(self) -> int:
        """How often an error was told."""
        return len(self._seconds)

    def tell(self, seconds: float, error: float) -> None:
        """Take the error at a second."""
        if error > 0.0:  # false for NaN
            self._errors.append(math.log(error))
            self._seconds.append(seconds)

    def end(self, now: float) -> float:
        """Return the second at which the error is likely to be there; inf where it stands still."""
        first = self._seconds[0]
        half = 0.5 * (first + now)
        quarter, middle = (
            min(bisect.bisect(self._seconds, time), self.reports - 1)
            for time in (0.5 * (first + half), half)
        )
        before = min(self._errors[quarter : middle + 1])
        reached = min(self._errors[middle:])
        left = max(0.0, reached - self._target)
        if before <= reached:
            return math.inf
        return now + left / (before - reached) * (now - half)


class Turns:
    """Who is at work on the GPU during a race on one problem.

    Parameters
    ----------
    num_nonzeros : int
    tolerance : float
        At which PDLP ends.
    """

    def __init__(self, num_nonzeros: int, tolerance: float) -> None:
        self.interior_seconds = INTERIOR_SECONDS + INTERIOR_SECONDS_BY_NONZERO * num_nonzeros
        self._begins = min(BEGINS * self.interior_seconds, BEGINS_SECONDS)
        self._tolerance = tolerance
        self._forecast = Forecast(tolerance)
        self._is_alone = threading.Event()
        self._is_alone.set()
        self._standing_until = 0.0
        self._prepares = False
        self._first_order: _FirstOrder | None = None

    def is_shared(self, now: float) -> bool:
        """Whether interior point iterates, or is being prepared, due to and likely to.

        Its analysis launches much that is short, too: beside PDLP's threads that stay it took
        0.43 s instead of 0.22 on 365 hours, and 7.0 instead of 5.3 on 8,760.
        """
        if self._is_alone.is_set() and self._prepares:
            late = now >= self._begins
            return late and self._leaves(now, PREPARING + ITERATING, LIKELY, unknown=False)
        return not self._is_alone.is_set()

    @property
    def reports(self) -> int:
        """How often PDLP has told its error."""
        return self._forecast.reports

    def first_order(self, parent: Progress) -> Progress:
        """Return the progress of PDLP."""
        self._first_order = _FirstOrder(parent, self)
        return self._first_order

    def prepare(self, progress: Progress) -> None:
        """Wait until interior point would be ready before PDLP ends."""
        self._wait(progress, lambda now: self._leaves(now, PREPARING, OPTIMISM, unknown=True))
        self._prepares = True

    def begin(self, progress: Progress) -> Start | None:
        """Wait for the turn of interior point, which iterates then; return PDLP's point so far."""
        if self._is_alone.is_set():
            self._wait(progress, self._iterates)
        start, self._prepares = self.point(progress), False
        if progress.time_left > STANDING * self.interior_seconds:
            self._standing_until = progress.seconds + STANDING * self.interior_seconds
        self._is_alone.clear()
        return start

    def point(self, progress: Progress) -> Start | None:
        """Return PDLP's point so far, after a moment in which it may hand on a nearer one."""
        if self._first_order is None:
            return None
        held = self._first_order.latest(progress, HANDING_OUT * self.interior_seconds)
        if held is None:
            return None
        return Start(held.candidate if held.x is None else held.x, held.row_dual)

    def end(self) -> None:
        """Interior point has ended."""
        self._prepares = False
        self._is_alone.set()

    def heard(self, progress: Progress, error: float) -> None:
        """Take PDLP's error, and let it stand still while it is not its turn."""
        now = progress.seconds
        self._forecast.tell(now, error)
        if error <= self._tolerance:  # it is there
            return
        while progress.seconds < self._standing_until and progress.should_stop() is None:
            if self._is_alone.wait(LOOK_AGAIN):
                break

    def _wait(self, progress: Progress, is_due: Callable[[float], bool]) -> None:
        while progress.should_stop() is None and not is_due(progress.seconds):
            time.sleep(LOOK_AGAIN)

    def _iterates(self, now: float) -> bool:
        """Whether interior point, all prepared, is to iterate."""
        late = now >= self._begins
        return late and self._leaves(now, ITERATING, LIKELY, unknown=False)

    def _leaves(self, now: float, share: float, optimism: float, *, unknown: bool) -> bool:
        """Whether PDLP leaves interior point a share of its time.

        ``unknown`` is what is assumed while it has told little, or nothing yet.
        """
        whole = self.interior_seconds
        if now < min(EARLIEST * whole, EARLIEST_SECONDS):
            return False
        if self.reports < OBSERVED:
            return now >= whole or unknown
        return optimism * (self._forecast.end(now) - now) > share * whole


class _FirstOrder(DetachableProgress):
    """Progress of PDLP, from whose reports its end is forecast."""

    def __init__(self, parent: Progress, turns: Turns) -> None:
        super().__init__(parent)
        self._turns = turns
        self._wanted = threading.Event()
        self._given = threading.Event()

    @property
    def shares_gpu(self) -> bool:
        """Whether interior point is at work on the same GPU."""
        return self._turns.is_shared(self.seconds)

    @property
    def wants_point(self) -> bool:
        """Whether interior point waits for one."""
        return self._wanted.is_set()

    def latest(self, progress: Progress, seconds: float) -> Outcome | None:
        """Ask for a point and return the latest one, after so many seconds at the most."""
        self._given.clear()
        self._wanted.set()
        until, last = time.monotonic() + seconds, self._turns.reports + ASKED
        while progress.should_stop() is None and time.monotonic() < until:
            if self._given.wait(LOOK_AGAIN):
                break
            if self.held is not None and self._turns.reports >= last:
                break
        self._wanted.clear()
        return self.held

    def hold(self, answer: Outcome) -> None:
        """Keep a point, hand it on, and tell who waits for it."""
        super().hold(answer)
        self._wanted.clear()
        self._given.set()

    def iteration(self, count: int, **figures: float | int | str) -> None:
        """Pass an iteration on."""
        super().iteration(count, **figures)
        errors = [figures.get(name) for name in FIGURES]
        numbers = [float(error) for error in errors if error is not None]
        if len(numbers) == len(FIGURES):
            self._turns.heard(self, max(numbers))
