"""How soon a thread that waits for Python's lock gets it, where several engines share a process.

Who holds the lock in the interpreter is asked to give it away after five milliseconds only, so an
engine on a GPU, whose block of iterations takes one and needs the lock a few times, stands still
beside another one's preparation in Python. While engines race they are asked sooner.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from solvers.core.process_state import Slot

INTERVAL = 2e-4
"""Seconds after which the holder is asked. A stand-in for PDLP on a GPU, 0.25 s of it, waited 60 ms
for the lock beside interior point of 97 thousand nonzeros with Python's five, 42 with one and 14
with this (medians of eight); HiGHS's simplex, which calls back at each iteration, took 1.9 times as
long beside a thread that is busy in Python, 1.3 and 1.07 times, and 1.0 with a fourth of it.
Threads that do nothing but Python take no more processor time with any of them."""


HALF_A_UNIT = 5e-7
"""Half of the microsecond in which Python keeps it, which cuts off what is less than one."""


@dataclass(eq=False)
class _Races:
    """How many are under way, and the caller's interval."""

    count: int = 0
    before: float = 0.0


def _leave(races: _Races) -> None:
    """In a forked copy of this process, where no race is under way."""
    if races.count:
        _put_back(races.before)


def _put_back(interval: float) -> None:
    sys.setswitchinterval(interval + HALF_A_UNIT)


_races: Slot[_Races] = Slot(
    "the interval of Python's lock before the races under way", _Races, _leave
)


@contextmanager
def quick_switches() -> Iterator[None]:
    """Have the lock given away sooner within, and as the caller has it when the last one ends.

    The interval is that of the whole process. Who sets another one meanwhile keeps it.
    """
    with _races.locked() as races:
        if not races.count:
            races.before = sys.getswitchinterval()
            if races.before > INTERVAL:
                sys.setswitchinterval(INTERVAL)
        races.count += 1
    try:
        yield
    finally:
        with _races.locked() as races:
            races.count -= 1
            is_ours = abs(sys.getswitchinterval() - INTERVAL) < 2 * HALF_A_UNIT
            if not races.count and is_ours:
                _put_back(races.before)
