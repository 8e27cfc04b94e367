"""Much work in chunks: each as large as a worker has done in a second so far, until all is done.

Ray begins a call again whose node was lost, but may wait without end for a worker on it
(ray-project/ray, issue 63405): so what was under way then is begun once more, and the first answer
counts. What ends every worker that tries it is parted, until the one member is found that does it;
the others are not lost with it.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from gpu_bridge.cluster.connection import Calls, WorkerLostError
from solvers.core.errors import EngineError

CHUNK_SECONDS = 1.0
"""Seconds of work in a chunk: hundreds of times what a call costs, and what a lost node repeats."""

ROUNDS = 4
"""Chunks that each slot has at least, so that a slow one does not keep all others waiting."""

AHEAD = 2
"""Chunks for each slot that are under way: one is worked at while the next travels."""

LOOK_AGAIN = 0.1
"""Seconds between two looks at the clock; a main thread that sleeps longer may miss Ctrl-C."""

COUNT_AGAIN = 1.0
"""Seconds between two counts of the slots, as nodes may come and go."""

GRACE = 2.0
"""Seconds for which workers that were told to end are waited for."""


@dataclass(frozen=True)
class WorkerKind:
    """Workers of one kind."""

    device: str
    """What they compute with."""
    slots: int
    """How many of them work at once."""
    cpus: int
    gpus: int
    """What each has."""
    first: int
    """Members of its first chunks, before it is known how fast they are."""


@dataclass(frozen=True, eq=False)
class _Chunk:
    members: Sequence[int]
    device: str


class Chunks:
    """Members of some work on their way to workers and back.

    Parameters
    ----------
    members : collection of int
    calls : Calls
    kinds : callable
        Counts the workers of each kind as they are now.
    begin : callable
        Begins the call for some members on a worker of a kind, which answers with a value for
        each, and the seconds that it took.
    is_over : callable
        Whether all are to end with what they have.
    """

    def __init__(
        self,
        members: Collection[int],
        calls: Calls,
        kinds: Callable[[], Sequence[WorkerKind]],
        begin: Callable[[Sequence[int], WorkerKind], Any],
        is_over: Callable[[], bool],
    ) -> None:
        self._waiting = deque(members)
        self._parted: deque[Sequence[int]] = deque()
        self._calls, self._count, self._begin = calls, kinds, begin
        self._is_over = is_over
        self._pending: dict[Any, _Chunk] = {}
        self._kinds: Sequence[WorkerKind] = ()
        self._counted = -math.inf
        self._pace: dict[str, float] = {}

    def results(self) -> Iterator[tuple[int, Any]]:
        """Give each member and its value, in any order; an error where it has ended its workers.

        Members that were not reached when it was over are left out. What is under way ends with
        the iteration.
        """
        try:
            while self._waiting or self._parted or self._pending:
                if self._is_over():
                    yield from self._wind_up()
                    return
                self._fill()
                for call in self._calls.ended(self._pending, LOOK_AGAIN):
                    yield from self._take(call)
        finally:
            self._calls.end(self._pending, at_once=True)

    def _wind_up(self) -> Iterator[tuple[int, Any]]:
        """Let calls end with what they have, and take that."""
        self._calls.end(self._pending, at_once=False)
        until = time.monotonic() + GRACE
        while self._pending and time.monotonic() < until:
            for call in self._calls.ended(self._pending, LOOK_AGAIN):
                yield from self._take(call)

    def _fill(self) -> None:
        """Begin calls on the workers that are free."""
        if time.monotonic() >= self._counted + COUNT_AGAIN:
            before = sum(kind.slots for kind in self._kinds)
            self._kinds, self._counted = self._count(), time.monotonic()
            if sum(kind.slots for kind in self._kinds) < before:
                self._begin_again()
        slots = sum(kind.slots for kind in self._kinds)
        for kind in self._kinds:
            busy = sum(chunk.device == kind.device for chunk in self._pending.values())
            for _ in range(AHEAD * kind.slots - busy):
                members = self._next(kind, slots)
                if not members:
                    return
                self._pending[self._begin(members, kind)] = _Chunk(members, kind.device)

    def _begin_again(self) -> None:
        """Begin once more what is under way, where its kind of workers is still there."""
        self._calls.renew()
        kinds = {kind.device: kind for kind in self._kinds if kind.slots}
        for chunk in dict.fromkeys(self._pending.values()):
            if chunk.device in kinds:
                self._pending[self._begin(chunk.members, kinds[chunk.device])] = chunk

    def _next(self, kind: WorkerKind, slots: int) -> Sequence[int]:
        """Return the members of the next chunk; none where all are under way."""
        if self._parted:
            return self._parted.popleft()
        fair = math.ceil(len(self._waiting) / (ROUNDS * slots))
        pace = self._pace.get(kind.device)
        usual = kind.first if pace is None else math.ceil(CHUNK_SECONDS / pace)
        size = min(len(self._waiting), max(1, min(fair, usual)))
        return [self._waiting.popleft() for _ in range(size)]

    def _take(self, call: Any) -> Iterator[tuple[int, Any]]:
        """Give what a call has answered; part a chunk that has none."""
        chunk = self._pending.pop(call, None)
        if chunk is None:  # another call has brought its answer
            return
        others = [other for other, known in self._pending.items() if known is chunk]
        try:
            values, seconds = self._calls.answer(call)
        except EngineError as error:
            if self._is_over():  # told to end, it may have been at anything
                return
            if not isinstance(error, WorkerLostError):
                raise
            if others:
                return
            if len(chunk.members) == 1:
                yield chunk.members[0], error
                return
            half = len(chunk.members) // 2
            self._parted += [chunk.members[:half], chunk.members[half:]]
            return
        for other in others:
            del self._pending[other]
        self._calls.end(others, at_once=True)
        self._pace[chunk.device] = max(seconds / len(chunk.members), 1e-6)
        yield from zip(chunk.members, values, strict=True)
