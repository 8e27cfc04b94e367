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
from typing import Any, cast

import numba

from solvers.kernels.disk_cache import kept_on_disk

PARALLEL_FROM = 10_000_000
"""Elementary steps from which threads are used without a trial.

On a busy machine each loop's end waits for a thread to get a core, up to a time slice of the
system: milliseconds, which only loops this long bear (seven times slower was measured for loops
of 3 million steps). A driver of many shorter loops gives threads a trial instead.
"""

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
    renamed = _renamed(function, f"{function.__name__}_parallel")
    return Twin(compiled(function), compiled(renamed, parallel=True))


def compiled(function: Callable[..., Any], *, parallel: bool = False) -> Callable[..., Any]:
    """Compile at the first call, without the interpreter lock, and keep the result on disk.

    Where no folder for it can be written, it is compiled anew in every process.
    """
    return cast("Callable[..., Any]", kept_on_disk(function, nogil=True, parallel=parallel))


def threads_for(work: int, threads: int = 0, *, parallel_from: int = PARALLEL_FROM) -> int:
    """Return how many threads a loop of so many elementary steps is worth.

    ``threads`` is the most that may be used; 0 stands for all cores.
    """
    if work < parallel_from:
        return 1
    cores: int = numba.config.NUMBA_NUM_THREADS
    return max(1, min(threads or cores, cores, work // STEPS_PER_THREAD))


def run_twin(twin: Twin, values: Sequence[Any], threads: int = 1) -> None:
    """Run a loop with so many threads, or with one while another solve uses threads."""
    if threads < 2 or not _one_at_a_time.acquire(blocking=False):
        twin.serial(*values)
        return
    before = numba.get_num_threads()
    try:
        numba.set_num_threads(threads)
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


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """Put a small function's statements where compiled loops call it (a decorator)."""
    return cast("Callable[..., Any]", numba.njit(inline="always")(function))
