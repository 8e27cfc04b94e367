"""How long a piece of device work takes: medians, without the cost of calling it from Python."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable

from solvers.core.device import Device

REPEATS = 9

WINDOW = 5e-4
"""Seconds of work in one timed repeat, at least."""

MOST_LAUNCHES = 200


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
    device : Device
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
        stream.begin_capture()
        several(calls)
        recorded = stream.end_capture()
        recorded.launch(stream)
        stream.synchronize()
        return [timed(lambda: recorded.launch(stream)) / calls for _ in range(repeats)]


def _calls(seconds: float) -> int:
    return max(1, min(MOST_LAUNCHES, int(WINDOW / max(seconds, 1e-9)) + 1))
