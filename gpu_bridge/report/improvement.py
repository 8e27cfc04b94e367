"""Telling a caller of better points while a solve runs, and stopping when the caller says so.

A caller's function may be slow, may fail, may start a solve of its own. So it runs in one thread
that does nothing else: engines leave what they found in a queue and go on at once, the calls come
in the order of the improvements and never two at a time. A function that is slower than the
improvements is not told of all: the oldest waiting ones make room, the newest is always kept. When
the solve has ended, the caller of the solve waits for the function as long as the time limit
allows, then no longer; nothing is called after the solve has returned.

Points are checked on the original problem before the function sees them, with the measure that
decides about the final answer.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gpu_bridge.solution_pool import SAME_VALUE
from gpu_bridge.verify.residuals import holds
from gpu_bridge.verify.snapping import snap
from solvers.core.errors import OptionError
from solvers.core.outcome import relative_gap
from solvers.core.problem import FloatArray, Problem
from solvers.core.progress import LOOK_AGAIN

if TYPE_CHECKING:
    from gpu_bridge.options import Options

GRACE = 0.25
"""Seconds that the function may go on beyond the time limit before the solve returns without it."""

WAITING_BYTES = 64 * 2**20
"""Points that may wait for a slow function take at most about this much memory."""


@dataclass(frozen=True, eq=False)
class Improvement:
    """A point better than all before it, in the sense of the model.

    Parameters
    ----------
    objective : float
        Of the point.
    bound : float
        Proven bound on the optimum when the point was found; infinite while there is none.
    gap : float
        Relative gap between the two; inf while unknown.
    seconds : float
        Time of the solve at which the point was found.
    source : str
        Which heuristic or engine found it.
    values : object
        For :func:`gpu_bridge.solve` the point x (n,); for Pyomo and PuLP a mapping from variables
        to values.
    """

    objective: float
    bound: float
    gap: float
    seconds: float
    source: str
    values: Any


@dataclass(frozen=True, eq=False)
class Sighting:
    """A point as an engine told of it: objective and bound minimised, x (n,) a copy.

    ``verified`` means that it was checked already.
    """

    objective: float
    bound: float
    seconds: float
    source: str
    x: FloatArray
    verified: bool = False


def _as_it_is(x: FloatArray) -> Any:
    return x


class Watcher:
    """Calls ``on_solution`` with each improvement, in one thread, in order.

    Parameters
    ----------
    on_solution : callable
        Takes an :class:`Improvement`; what it returns stops the solve if it is True.
    present : callable
        Makes ``Improvement.values`` from a point x (n,); must be quick.

    Attributes
    ----------
    error : BaseException or None
        What the function raised, which ended the solve; see :meth:`raise_error`.
    stopped : bool
        Whether the function asked for the end.

    Raises
    ------
    OptionError
        ``on_solution`` cannot be called.
    """

    def __init__(
        self,
        on_solution: Callable[[Improvement], object],
        present: Callable[[FloatArray], Any] = _as_it_is,
    ) -> None:
        if not callable(on_solution):
            raise OptionError(
                f"'on_solution' takes a function of one argument; {on_solution!r} is a "
                f"{type(on_solution).__name__}."
            )
        self.error: BaseException | None = None
        self.stopped = False
        self._on_solution = on_solution
        self._present = present
        self._problem: Problem | None = None
        self._options: Options | None = None
        self._on_end: Callable[[str], None] = lambda reason: None
        self._waiting: deque[Sighting] = deque()
        self._told = np.inf
        self._closed = False
        self._busy = False
        self._change = threading.Condition()
        self._thread: threading.Thread | None = None

    def begin(self, problem: Problem, options: Options, on_end: Callable[[str], None]) -> None:
        """Say what is solved, and whom to tell in a sentence that the function wants an end."""
        self._problem, self._options, self._on_end = problem, options, on_end

    def see(self, sighting: Sighting) -> None:
        """Let the function know of a better point; returns at once, from any thread."""
        with self._change:
            if self._closed or self.ended:
                return
            self._waiting.append(sighting)
            room = max(1, WAITING_BYTES // max(1, sighting.x.nbytes))
            while len(self._waiting) > room:
                self._waiting.popleft()
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="on_solution", daemon=True)
                self._thread.start()
            self._change.notify_all()

    @property
    def ended(self) -> bool:
        """Whether the function asked for the end or failed, and is called no more."""
        return self.stopped or self.error is not None

    def finish(self, last: Sighting | None, patience: Callable[[], float]) -> None:
        """Tell of the answer if it is better than what was told, and call no more afterwards.

        Parameters
        ----------
        last : Sighting, optional
            The verified answer.
        patience : callable
            Seconds that the function may still take; asked again and again.
        """
        if last is not None:
            self.see(last)
        late_since: float | None = None
        waited = 0.0
        with self._change:
            while (self._waiting or self._busy) and not self.ended:
                if patience() > 0.0:
                    late_since = None
                elif late_since is None:
                    late_since = waited
                elif waited - late_since >= GRACE:
                    break
                self._change.wait(LOOK_AGAIN)
                waited += LOOK_AGAIN
            self.close()

    def close(self) -> None:
        """Call no more, without waiting; may be called more than once."""
        with self._change:
            self._waiting.clear()
            self._closed = True
            self._change.notify_all()

    def raise_error(self) -> None:
        """Raise what the function raised, if it did; for the end of a solve, all else done."""
        if self.error is not None:
            raise self.error

    def _run(self) -> None:
        while True:
            with self._change:
                self._busy = False
                self._change.notify_all()
                while not self._waiting and not self._closed:
                    self._change.wait()
                if self._closed or self.ended:
                    return
                sighting = self._waiting.popleft()
                self._busy = True
            self._tell(sighting)

    def _tell(self, sighting: Sighting) -> None:
        """Call the function, if the point holds and is news, and heed what it wants."""
        try:
            improvement = self._improvement(sighting)
            if improvement is None:
                return
            answer = self._on_solution(improvement)
        except BaseException as error:  # carried over to the caller of the solve
            if not self._closed:
                self.error = error
                self._on_end(f"on_solution raised {type(error).__name__}, which ends the solve.")
            return
        if isinstance(answer, (bool, np.bool_)) and answer and not self._closed:
            self.stopped = True
            self._on_end("on_solution returned True, which ends the solve.")

    def _improvement(self, sighting: Sighting) -> Improvement | None:
        """Return what the function is told; None for a point that is no feasible improvement."""
        problem, options = self._problem, self._options
        x, objective, sign = sighting.x, sighting.objective, 1.0
        if problem is not None and options is not None:
            sign = -1.0 if problem.maximize else 1.0
            if not sighting.verified:
                x = snap(problem, x, options)
                if not holds(problem, x, options):
                    return None
                objective = problem.objective_at(x)
        if not objective < self._told - SAME_VALUE * max(1.0, abs(objective)):
            return None
        self._told = objective
        bound = -np.inf if np.isnan(sighting.bound) else sighting.bound
        return Improvement(
            objective=sign * objective + 0.0,
            bound=sign * bound + 0.0,
            gap=relative_gap(objective, bound),
            seconds=sighting.seconds,
            source=sighting.source,
            values=self._present(x),
        )
