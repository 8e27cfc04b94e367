"""Whether the limits of this process leave room for what a solve loads.

Libraries that find no room while they are loaded print words of their own, end the process, or
leave modules half made; so the limits are looked at before any of them is loaded.
"""

from __future__ import annotations

import ctypes
import os
from dataclasses import dataclass

from solvers.core.errors import MemoryLimitError

MEGABYTE = 1_000_000

PER_CORE = 85
"""Megabytes for each core: NumPy and SciPy bring a linear algebra library each, which reserves a
buffer and a stack for every one of its threads. Measured: 84."""

MOST_THREADS = 64
"""Threads that these libraries start at most."""

ARENAS_PER_CORE, ARENA = 8, 64
"""Pools of memory for each core that glibc hands out to threads at most, and the megabytes of
address space that each reserves at once. A mixed-integer solve came to 1200 MB on two cores, and
to 670 MB with two pools."""

FEW_ARENAS = 2
M_ARENA_MAX = -8
"""The number of the setting in glibc's ``mallopt``."""


@dataclass(frozen=True)
class _Limit:
    """A limit of the system: its name there, what it limits, how it is raised, what is needed."""

    name: str
    what: str
    command: str
    megabytes: int


# Measured on two cores: solves of small models came to 720 MB and 260 MB at most.
_LIMITS = (
    _Limit("RLIMIT_AS", "address space", "ulimit -v", 650),
    _Limit("RLIMIT_DATA", "memory for data", "ulimit -d", 200),
)


def check_memory_limits() -> None:
    """Look whether there is room for what every solve loads; be sparing where it is tight.

    Raises
    ------
    MemoryLimitError
        A limit of this process lies below what they take.
    """
    try:
        import resource
    except ImportError:  # a system without such limits
        return
    for limit in _LIMITS:
        allowed, _ = resource.getrlimit(getattr(resource, limit.name))
        if allowed == resource.RLIM_INFINITY:
            continue
        needed = limit.megabytes + PER_CORE * _threads()
        if allowed < needed * MEGABYTE:
            raise MemoryLimitError(
                f"This process may use {allowed / MEGABYTE:.0f} MB of {limit.what} "
                f"({limit.name}), and gpu-bridge needs at least {needed} MB here, besides what "
                f"the model takes; raise the limit with '{limit.command}'."
            )
        if allowed < (needed + ARENAS_PER_CORE * ARENA * _threads()) * MEGABYTE:
            _use_few_arenas()


def _use_few_arenas() -> None:
    """Let threads share pools of memory, where the system's library has such pools."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(M_ARENA_MAX, FEW_ARENAS)


def _threads() -> int:
    """Return the threads that the linear algebra libraries will have."""
    usable = os.cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        usable = len(os.sched_getaffinity(0))
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        asked = os.environ.get(name, "")
        if asked.isdigit() and int(asked):
            usable = min(usable, int(asked))
            break
    return min(usable, MOST_THREADS)
