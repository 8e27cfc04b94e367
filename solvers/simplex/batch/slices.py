"""Launches: slices of the batch, a few on their way at a time.

Slices exist so that data that has to travel overlaps with computing, and so that a time limit
and an interruption are heeded; an LP is never split.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from solvers.core.device import Device
from solvers.core.process_state import Slot
from solvers.core.progress import Progress
from solvers.simplex.batch.data import BatchAnswer
from solvers.simplex.batch.transfer import Parcel, SliceResults

STREAMS = 3
"""Slices on their way at once: one is brought in while another is solved, and a third may still be
checked, which waits where the other's blocks leave no room for it."""

PART_OF_TIME_LEFT = 0.1
"""A launch that somebody waits for takes no more of it, about."""

FASTEST_GROWTH = 4.0
"""Slices grow by no more than this from one to the next, whatever the last one's time says."""


@dataclass(frozen=True)
class Pace:
    """How many LPs are in a launch: ``most``, and ``first`` where there is a time limit.

    ``seconds`` is about how long a launch may take then.
    """

    most: int
    first: int
    seconds: float

    def next_size(self, size: int, took: float, time_left: float) -> int:
        """Return the LPs of the next launch after one of ``size`` that took so many seconds."""
        allowed = min(self.seconds, PART_OF_TIME_LEFT * time_left)
        growth = min(FASTEST_GROWTH, allowed / max(1e-6, took))
        return int(np.clip(size * growth, 1, self.most))


@dataclass(eq=False)
class Lane:
    """What a slice has for itself while it is on its way: a stream, locked memory, scratch."""

    stream: AbstractContextManager[Any]
    parcel: Parcel
    scratch: Any


_idle_streams: Slot[dict[tuple[type[Device], int], list[Any]]] = Slot(
    "streams of batches that are over, by GPU", dict
)
"""Memory pools keep blocks for each stream, so that a new one would have to ask the driver for all
it needs."""


@contextmanager
def kept_stream(device: Device) -> Iterator[None]:
    """Make a stream that is kept from solve to solve the current one; wait for it at the end."""
    if device.kind == "cpu":
        yield
        return
    stream = _take_stream(device)
    with stream:
        yield
        device.synchronize()
    _give_back([stream], device)


def _take_stream(device: Device) -> Any:
    """Return a stream that nothing is on its way on, a new one if need be."""
    with _idle_streams.locked() as streams:
        idle = streams.get((type(device), device.index))
        if idle:
            return idle.pop()
    return device.xp.cuda.Stream(non_blocking=True)


def _give_back(streams: list[Any], device: Device) -> None:
    """Keep streams for the next solve; nothing may be on its way on them."""
    with _idle_streams.locked() as idle:
        idle.setdefault((type(device), device.index), []).extend(streams)


def make_lanes(device: Device, make_scratch: Callable[[], Any]) -> list[Lane]:
    """Return the lanes; on the CPU one scratch serves all."""
    lanes: list[Lane] = []
    for _ in range(STREAMS):
        on_gpu = device.kind == "cuda"
        stream = _take_stream(device) if on_gpu else nullcontext()
        scratch = make_scratch() if on_gpu or not lanes else lanes[0].scratch
        lanes.append(Lane(stream, Parcel(device), scratch))
    device.synchronize()  # what was written to scratch is there before other streams read it
    return lanes


Launch = Callable[[SliceResults, Lane], None]
"""Starts on the LPs of a slice, on the current stream."""


def solve_slices(
    answer: BatchAnswer,
    launch: Launch,
    lanes: list[Lane],
    pace: Pace,
    device: Device,
    progress: Progress,
) -> None:
    """Solve slice after slice until the end of the batch or of the time.

    Parameters
    ----------
    answer : BatchAnswer
        Gets everything, and who had no turn by then.
    launch, lanes
        How a slice is begun, and where.
    device, progress
    """
    count = len(answer.ending)
    watched = bool(np.isfinite(progress.time_limit))
    size = min(pace.most, pace.first) if watched else pace.most
    on_their_way: deque[tuple[SliceResults, Lane]] = deque()
    launches = first = 0

    def launch_more() -> None:
        nonlocal first, launches
        while first < count and len(on_their_way) < (1 if watched else len(lanes)):
            if progress.should_stop() is not None:
                return
            lane = lanes[launches % len(lanes)]
            with lane.stream:
                results = SliceResults(device, answer, first, min(count, first + size))
                launch(results, lane)
                results.send_home()
            on_their_way.append((results, lane))
            first = results.last
            launches += 1

    def arrive(results: SliceResults, lane: Lane) -> None:
        with lane.stream:
            device.synchronize()
            results.put_down()

    began = time.perf_counter()
    launch_more()
    while on_their_way:
        results, lane = on_their_way.popleft()
        arrive(results, lane)
        if watched:
            size = pace.next_size(size, time.perf_counter() - began, progress.time_left)
            began = time.perf_counter()
        launch_more()
    answer.leave_out(first)
    if device.kind == "cuda":
        _give_back([lane.stream for lane in lanes], device)
