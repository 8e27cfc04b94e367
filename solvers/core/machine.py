"""What this machine has for a solve: cores for a compiled loop, and memory."""

from __future__ import annotations

import contextlib
import ctypes
import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from solvers.core.process_state import Slot

PARALLEL_FROM = 10_000_000
"""Elementary steps from which threads are used without a trial.

On a busy machine each loop's end waits for a thread to get a core, up to a time slice of the
system: milliseconds, which only loops this long bear (seven times slower was measured for loops
of 3 million steps). A driver of many shorter loops gives threads a trial instead.
"""

STEPS_PER_THREAD = 30_000
"""No more threads than this much work for each."""

STEPS_PER_LOOK = 4
"""Elementary steps of a look at an entry, a row or a column beside its sums."""


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


WORTH_IT = 1_000_000
"""Nonzeros of a model from which it is. The GNU C library keeps what was freed in places of up to
64 MB for each thread. Of an energy system with four million nonzeros those were 127 MB after
presolve, 1.3 times the model, and went back in 16 ms."""

PLACE, BLOCK = 64 * 2**20, 2**20
"""Bytes of such a place at the most, and of a block in it."""


def give_back(nonzeros: int) -> None:
    """Give free memory back to the system after work on a model of so many nonzeros, if large.

    Of a thread's place the C library gives back what is free in the middle, and not at the end. So
    blocks fill it up, and all but the last are free again when it is asked.
    """
    if nonzeros < WORTH_IT or (library := _c_library()) is None:
        return
    *blocks, last = (library.malloc(BLOCK) for _ in range(PLACE // BLOCK + 1))
    for block in blocks:
        library.free(block)
    library.malloc_trim(0)
    library.free(last)


MAPPED_FROM, MAPPED_AT_THE_MOST, THRESHOLD, TRIM = 2**20, 32 * 2**20, -3, -1
"""Bytes from which an array has a mapping of its own meanwhile, those to which the C library comes
by itself where such arrays were freed, and its names for that number (``M_MMAP_THRESHOLD``) and for
what may be free at the end before it goes back (``M_TRIM_THRESHOLD``)."""


@dataclass(eq=False)
class _Mapping:
    """How many solves are under way that have arrays mapped."""

    count: int = 0


def _leave(mapping: _Mapping) -> None:
    """In a forked copy of this process, where no such solve is under way."""
    if mapping.count:
        _map_from(MAPPED_AT_THE_MOST)


def _map_from(size: int) -> None:
    """Set both numbers, as the C library does until one is set for it.

    Where only the first was, in a fresh process, a sum of two vectors of 4 MiB took twelve times as
    long after a solve as before: each result went back to the system.
    """
    library = _c_library()
    if library is not None:
        library.mallopt(THRESHOLD, size)
        library.mallopt(TRIM, 2 * size)


_mapping: Slot[_Mapping] = Slot("solves under way that have arrays mapped", _Mapping, _leave)


@contextlib.contextmanager
def mapped_arrays(nonzeros: int) -> Iterator[None]:
    """Let what arrays leave go back to the system at once, during work on a large model.

    What lies between others, freed and too small for the next, counted for up to 0.6 models of two
    million nonzeros on a CPU, and where the answer is verified, for 1.3 of four million. To map 400
    iterations' vectors took 0.1 of 5 s there; beside iterations on a GPU arrays stay as they are.
    The number is that of the whole process.
    """
    if nonzeros < WORTH_IT:
        yield
        return
    with _mapping.locked() as mapping:
        if not mapping.count:
            _map_from(MAPPED_FROM)
        mapping.count += 1
    try:
        yield
    finally:
        with _mapping.locked() as mapping:
            mapping.count -= 1
            if not mapping.count:
                _map_from(MAPPED_AT_THE_MOST)


def _c_library() -> ctypes.CDLL | None:
    """Return the C library; None where that gives memory back by itself."""
    if os.name != "posix":
        return None
    library = ctypes.CDLL(None)
    if not hasattr(library, "malloc_trim"):
        return None
    library.malloc.restype, library.malloc.argtypes = ctypes.c_void_p, (ctypes.c_size_t,)
    library.free.argtypes = (ctypes.c_void_p,)
    return library


def free_memory() -> float:
    """Return the bytes that a process may still take; infinite where the system does not say."""
    try:
        text = Path("/proc/meminfo").read_text(encoding="ascii")
    except OSError:
        return math.inf
    for line in text.splitlines():
        if line.startswith("MemAvailable:"):
            return 1024.0 * int(line.split()[1])
    return math.inf
