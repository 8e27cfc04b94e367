"""How many threads a compiled loop is worth."""

from __future__ import annotations

import os

PARALLEL_FROM = 10_000_000
"""Elementary steps from which threads are used without a trial.

On a busy machine each loop's end waits for a thread to get a core, up to a time slice of the
system: milliseconds, which only loops this long bear (seven times slower was measured for loops
of 3 million steps). A driver of many shorter loops gives threads a trial instead.
"""

STEPS_PER_THREAD = 30_000
"""No more threads than this much work for each."""


def usable_cores() -> int:
    """Return the number of cores this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def threads_for(work: int, threads: int = 0, *, parallel_from: int = PARALLEL_FROM) -> int:
    """Return how many threads a loop of so many elementary steps is worth.

    ``threads`` is the most that may be used; 0 stands for all cores.
    """
    if work < parallel_from:
        return 1
    cores = usable_cores()
    return max(1, min(threads or cores, cores, work // STEPS_PER_THREAD))
