"""Plain Numba loops, compiled without and with threads.

The same source serves twice: as one sequential loop for small inputs, where waking threads costs
more than the work, and with ``prange`` shared out over the cores for large ones. Sums stay within
one owner, so that both give the same bits for any number of threads.
"""

from __future__ import annotations

import threading
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numba

PARALLEL_FROM = 60_000
"""Elementary steps from which threads pay; below, waking them costs more than it saves."""

STEPS_PER_THREAD = 30_000
"""No more threads than this much work for each."""

_one_at_a_time = threading.Lock()
"""Numba's threading layers do not all bear two callers: who comes second runs sequentially."""


@dataclass(frozen=True)
class Twin:
    """One loop in two compilations, both made at their first call."""

    serial: Callable[..., Any]
    parallel: Callable[..., Any]

    def __call__(self, *values: Any) -> None:
        """Run the loop sequentially."""
        self.serial(*values)


def twin(function: Callable[..., Any]) -> Twin:
    """Compile a plain loop, whose outer ``range`` is a ``prange``, both ways (a decorator)."""
    parallel = _renamed(function, f"{function.__name__}_parallel")
    return Twin(
        numba.njit(cache=True, nogil=True)(function),
        numba.njit(cache=True, nogil=True, parallel=True)(parallel),
    )


def run_twin(twin: Twin, values: Sequence[Any], work: int, threads: int = 0) -> None:
    """Run a loop with as many threads as its work is worth (``threads`` at most, 0: all)."""
    cores: int = numba.config.NUMBA_NUM_THREADS
    worthwhile = min(threads or cores, cores, work // STEPS_PER_THREAD)
    if work < PARALLEL_FROM or worthwhile < 2 or not _one_at_a_time.acquire(blocking=False):
        twin.serial(*values)
        return
    before = numba.get_num_threads()
    try:
        numba.set_num_threads(worthwhile)
        twin.parallel(*values)
    finally:
        numba.set_num_threads(before)
        _one_at_a_time.release()


def _renamed(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Copy a function under another name: Numba's cache on disk tells variants by name only."""
    if not isinstance(function, types.FunctionType):
        raise TypeError(f"{function!r} is not a plain function")
    copy = types.FunctionType(
        function.__code__, function.__globals__, name, function.__defaults__, function.__closure__
    )
    copy.__qualname__ = name
    copy.__module__ = function.__module__
    copy.__doc__ = function.__doc__
    return copy
