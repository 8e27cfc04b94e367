"""The machine's side of the roofline model, and how long a piece of device work takes.

A roof is what the machine can do, so that the best of the repeats counts and not their median; it
is measured once per process and device. Other times are medians, without the cost of calling the
work from Python.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from solvers.core.device import Device, cpu
from solvers.core.machine import usable_cores
from solvers.kernels.family import recorded
from solvers.papers.sparse_formats.kernels.bandwidth import BANDWIDTH

REPEATS = 9

WINDOW = 5e-4
"""Seconds of work in one timed repeat, at least."""

MOST_LAUNCHES = 200

GPU_READERS = 2**18
"""Threads that keep every multiprocessor of a large GPU busy."""

GPU_MEMORY_SIZE, GPU_CACHE_SIZE = 2**26, 2**20
"""Reals read from memory (512 MiB) and from the second-level cache (8 MiB, far above what the
first level of one multiprocessor holds, far below the second)."""

CACHE_PASSES = 64

CPU_MEMORY_SIZE, CPU_CACHE_SIZE = 2**25, 2**16
"""Reals read by all cores from memory (256 MiB), and by each core from its cache (512 KiB)."""

MEMORY_SHARE = 4
"""At most this part of the free memory is used for measuring."""

USUAL_CACHE = 32 * 2**20
"""Bytes of the last-level cache where the system does not tell."""

USUAL_MEMORY = 2**31
"""Bytes of free memory where the system does not tell."""

REAL_BYTES = 8


def seconds_per_call(
    device: Device,
    work: Callable[[], object],
    *,
    graph: bool = True,
    repeats: int = REPEATS,
    pick: Callable[[Iterable[float]], float] = statistics.median,
) -> float:
    """Return the seconds of one call, the median of repeats after a warm-up.

    Parameters
    ----------
    work : callable
        Queues the work. It runs on a stream of its own, and must not allocate device memory if it
        is to be recorded.
    graph : bool
        On a GPU, record many calls into a graph and time its launches, as an engine would run
        them; otherwise time plain calls, each with its way through Python and the driver.
    repeats : int
        Timed repeats, of at least :data:`WINDOW` seconds each.
    pick : callable
        What is taken of the repeats.
    """
    work()
    device.synchronize()
    if device.kind == "cpu":
        return pick(_on_cpu(work, repeats))
    return pick(_on_gpu(device, work, graph, repeats))


def _on_cpu(work: Callable[[], object], repeats: int) -> list[float]:
    def timed(calls: int) -> float:
        began = time.perf_counter()
        for _ in range(calls):
            work()
        return time.perf_counter() - began

    calls = _calls(timed(1))
    return [timed(calls) / calls for _ in range(repeats)]


def _on_gpu(device: Device, work: Callable[[], object], graph: bool, repeats: int) -> list[float]:
    cuda = device.xp.cuda
    cuda.Device(device.index).synchronize()
    with cuda.Stream(non_blocking=True) as stream:

        def timed(run: Callable[[], object]) -> float:
            begin, end = cuda.Event(), cuda.Event()
            begin.record(stream)
            run()
            end.record(stream)
            end.synchronize()
            return float(cuda.get_elapsed_time(begin, end)) * 1e-3

        def several(calls: int) -> None:
            for _ in range(calls):
                work()

        work()
        calls = _calls(timed(work))
        if not graph:
            return [timed(lambda: several(calls)) / calls for _ in range(repeats)]
        whole = recorded(stream, [work] * calls)
        whole.launch(stream)
        stream.synchronize()
        return [timed(lambda: whole.launch(stream)) / calls for _ in range(repeats)]


def _calls(seconds: float) -> int:
    return max(1, min(MOST_LAUNCHES, int(WINDOW / max(seconds, 1e-9)) + 1))


@dataclass(frozen=True)
class Machine:
    """What a device can do at best."""

    name: str
    kind: str
    """Of the device; kind 'cpu' or 'cuda'."""
    memory_bandwidth: float
    cache_bandwidth: float
    """Bytes per second read from memory, and from the cache shared by all (GPU: second level)."""
    cache_bytes: int
    """Size of that cache."""
    launch_seconds: float
    """Time of a call with next to no work (GPU: a kernel in a graph)."""


def measure_machine(device: Device) -> Machine:
    """Return what a device can do; measured at the first call for it, well below a second."""
    return _measure(replace(device, memory_total=0, memory_free=0))


@lru_cache
def _measure(device: Device) -> Machine:
    read = _gpu_read if device.kind == "cuda" else _cpu_read
    cache_bytes = _cache_bytes(device)
    free = _free_bytes(device)
    sizes = (GPU_MEMORY_SIZE, GPU_CACHE_SIZE, GPU_READERS)
    if device.kind == "cpu":
        sizes = (CPU_MEMORY_SIZE, CPU_CACHE_SIZE * usable_cores(), usable_cores())
    memory_size, cache_size, readers = sizes
    while memory_size * REAL_BYTES * MEMORY_SHARE > free and memory_size > readers:
        memory_size //= 2
    from_memory = read(device, memory_size, 1)
    device.release_memory()
    return Machine(
        name=device.name,
        kind=device.kind,
        memory_bandwidth=from_memory,
        cache_bandwidth=read(device, cache_size, CACHE_PASSES),
        cache_bytes=cache_bytes,
        launch_seconds=_launch_seconds(device),
    )


def _gpu_read(device: Device, size: int, passes: int) -> float:
    """Return bytes per second of all threads reading ``size`` reals ``passes`` times."""
    source, sums = device.xp.zeros(size), device.xp.zeros(GPU_READERS)
    repeats = passes * size // GPU_READERS
    kernel = BANDWIDTH["stream_read"]
    seconds = seconds_per_call(
        device, lambda: kernel(GPU_READERS, size, repeats, source, sums), pick=min
    )
    return REAL_BYTES * GPU_READERS * repeats / seconds


def _cpu_read(device: Device, size: int, passes: int) -> float:
    """Return bytes per second that one core reads, or all together if that is more."""
    return max(_cores_read(device, size, passes, parts) for parts in {1, usable_cores()})


def _cores_read(device: Device, size: int, passes: int, parts: int) -> float:
    """Return bytes per second of so many cores, each reading its part ``passes`` times."""
    source, sums = np.zeros(size, dtype=np.int64), np.zeros(parts, dtype=np.int64)
    read_fast = BANDWIDTH.twin.read_fast
    seconds = seconds_per_call(
        device, lambda: read_fast(parts, size // parts, passes, source, sums, parts), pick=min
    )
    return REAL_BYTES * (size // parts) * parts * passes / seconds


def _launch_seconds(device: Device) -> float:
    source, sums = device.xp.zeros(1), device.xp.zeros(1)
    kernel = BANDWIDTH["stream_read"]
    return seconds_per_call(device, lambda: kernel(1, 1, 1, source, sums), pick=min)


def _cache_bytes(device: Device) -> int:
    if device.kind == "cuda":
        return device.attribute("L2CacheSize")
    for name in ("SC_LEVEL3_CACHE_SIZE", "SC_LEVEL2_CACHE_SIZE"):
        if name in getattr(os, "sysconf_names", {}) and os.sysconf(name) > 0:
            return os.sysconf(name)
    return USUAL_CACHE


def _free_bytes(device: Device) -> int:
    if device.kind == "cuda":
        return int(device.xp.cuda.Device(device.index).mem_info[0])
    return cpu().memory_free or USUAL_MEMORY
