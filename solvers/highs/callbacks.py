"""What happens when HiGHS calls back: log lines, incumbents, bounds, and the wish to stop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from highspy import _core

from solvers.core.vectors import inner
from solvers.highs.task import Channel, FloatArray, Model

Kind = _core.cb.HighsCallbackType
Handler = Callable[[str, Any, Any], None]

ASKING = (Kind.kCallbackMipInterrupt, Kind.kCallbackMipUserSolution)
"""When branch and bound asks, at every node and more often. Where other threads are busy in Python
it would wait for them each time, so there it asks once whenever it is told to."""


NOISE = ("No semi-integer/integer variables in model with non-empty integrality",)
"""Lines of HiGHS's log that speak of our way of calling it, not of the model."""


class Called(Protocol):
    """A session as HiGHS calls it back."""

    model: Model
    channel: Channel
    complaints: list[str]


def handlers(session: Called) -> dict[int, Handler]:
    """Return the handler of every callback this session needs, by HiGHS's number."""
    table: dict[int, Handler] = {int(Kind.kCallbackLogging): _Log(session)}
    if session.model.is_mip:
        mip = _MipReports(session)
        table[int(Kind.kCallbackMipImprovingSolution)] = mip.on_solution
        table[int(Kind.kCallbackMipInterrupt)] = mip.on_interrupt
        table[int(Kind.kCallbackMipUserSolution)] = mip.on_user_solution
        table[int(Kind.kCallbackMipLogging)] = mip.on_bound
    table[int(Kind.kCallbackSimplexInterrupt)] = _LpReports(session, "simplex_iteration_count", 100)
    table[int(Kind.kCallbackIpmInterrupt)] = _LpReports(session, "ipm_iteration_count", 1)
    return table


class _Log:
    """Joins HiGHS's fragments to whole lines and remembers its complaints."""

    def __init__(self, session: Called) -> None:
        self._session = session
        self._partial = ""

    def __call__(self, message: str, out: Any, into: Any) -> None:
        self._partial += message
        *lines, self._partial = self._partial.split("\n")
        for line in lines:
            text = line.rstrip()
            if not text or any(noise in text for noise in NOISE):
                continue
            if text.startswith(("ERROR:", "WARNING:")):
                self._session.complaints.append(text.split(":", 1)[1].strip())
            self._session.channel.log(text)


class _LpReports:
    """Iteration counts, told at times, and the wish to stop, asked for every time."""

    def __init__(self, session: Called, counter: str, step: int) -> None:
        self._session = session
        self._counter = counter
        self._step = step
        self._told = 0

    def __call__(self, message: str, out: Any, into: Any) -> None:
        if self._session.channel.stop() is not None:
            into.user_interrupt = True
        count = int(getattr(out, self._counter))
        if count < 0:  # before its first iteration, and during crossover, interior point has none
            return
        if count >= self._told + self._step or count < self._told:
            self._told = count
            if not self._session.model.is_mip:
                self._session.channel.iteration(count)


class _MipReports:
    """Incumbents and bounds of branch and bound, in both directions."""

    def __init__(self, session: Called) -> None:
        self._session = session
        self._best = np.inf

    def on_solution(self, message: str, out: Any, into: Any) -> None:
        x: FloatArray = np.array(out.mip_solution, dtype=np.float64)
        self._best = min(self._best, float(out.objective_function_value))
        self._session.channel.incumbent(float(out.objective_function_value), x)
        self.on_bound(message, out, into)

    def on_bound(self, message: str, out: Any, into: Any) -> None:
        bound = float(out.mip_dual_bound)
        if np.isfinite(bound):
            self._session.channel.bound(bound)

    def on_interrupt(self, message: str, out: Any, into: Any) -> None:
        self._session.channel.take_turn()
        if self._session.channel.stop() is not None:
            into.user_interrupt = True
        self.on_bound(message, out, into)

    def on_user_solution(self, message: str, out: Any, into: Any) -> None:
        point = self._session.channel.offered_point()
        if point is not None and inner(self._session.model.cost, point) < self._best - (
            self._session.model.offset
        ):
            into.setSolution(point)
