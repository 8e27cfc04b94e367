"""All problems through the kernel, on the CPU or on a GPU, a slice at a time."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.core.concurrency import usable_cores
from solvers.core.device import Device
from solvers.core.progress import Progress
from solvers.knapsack.batch.kernels.many import FAMILY, MOST_WORDS, NEAR_ROOM, WARPS, WORD
from solvers.knapsack.batch.problems import Problems, alike, narrowed, staging
from solvers.knapsack.items import IntArray

NOT_REACHED = -1
"""Ending of a problem whose turn did not come."""

ROOM = 1 << 15
"""States that a list may have. Of 50 items with weights up to 1,000, subset sums come to about
5,000, other classes stay below; of 100 items with weights up to 10,000, strongly correlated ones
pass it now and then."""

MOST_STATES = 1 << 22
"""States looked at for one problem, which takes a core some 20 milliseconds; what takes more is
solved alone, where bounds of other kinds are tried."""

BLOCKS_PER_PROCESSOR = 6
"""Blocks that shared memory and registers of a H200's processor hold with problems of 64 items."""

SLOTS_PER_THREAD = 8
"""Parts into which the CPU cuts a thread's share, so that one with hard problems is made up for."""

FIRST_SLICE = {"cpu": 1 << 8, "cuda": 1 << 17}
"""Problems before the clock is looked at for the first time."""

SLICE_SECONDS = 0.25
"""How long a slice is meant to take."""

MEMORY_SHARE = 4
"""One part in so many of a GPU's free memory is for lists."""


@dataclass(frozen=True, eq=False)
class Found:
    """What the kernel says of k problems: bits (k * words,), the others (k,)."""

    words: int
    packed: IntArray
    value: IntArray
    ending: IntArray
    visited: IntArray


def run(problems: Problems, device: Device, progress: Progress, threads: int = 0) -> Found:
    """Solve problems until all are done or time is up."""
    sizes = np.diff(problems.starts)
    largest = int(sizes[sizes <= MOST_WORDS * WORD].max(initial=1))
    words = -(-largest // WORD)
    slots = _slots(device, words, len(problems), threads)
    with device.activate():
        xp = device.xp
        profit, weight = _sent(device, problems, threads)
        starts, capacity = (_there(device, a) for a in (problems.starts, problems.capacity))
        lists = xp.empty(slots * 2 * (2 + words) * ROOM, dtype=np.int64)
        lengths = {"packed": words, "value": 1, "ending": 1, "visited": 1}
        outputs = {name: xp.empty(len(problems) * n, dtype=np.int64) for name, n in lengths.items()}
        first, size = 0, FIRST_SLICE[device.kind]
        while first < len(problems) and progress.should_stop() is None:
            last = min(first + size, len(problems))
            started = time.monotonic()
            FAMILY["many"](
                starts[first : last + 1],
                profit.there,
                weight.there,
                capacity[first:last],
                lists,
                xp.zeros(1, dtype=np.int64),
                *(outputs[name][first * n : last * n] for name, n in lengths.items()),
                last - first,
                min(slots, last - first),
                words,
                ROOM,
                NEAR_ROOM,
                MOST_STATES,
                threads=threads,
            )
            device.synchronize()
            pace = SLICE_SECONDS / max(time.monotonic() - started, 1e-6)
            size = max(int((last - first) * min(pace, 16.0)), 64)
            first = last
        back = {name: device.to_host(array) for name, array in outputs.items()}
    back["ending"][first:] = NOT_REACHED
    back["packed"][first * words :] = 0
    back["visited"][first:] = 0
    return Found(words, **back)


@dataclass(frozen=True, eq=False)
class _Sent:
    """Numbers on their way to a device, and where they came from, which has to last until then."""

    there: Any
    here: npt.NDArray[Any]


def _sent(device: Device, problems: Problems, threads: int) -> tuple[_Sent, _Sent]:
    """Send profits and weights in the narrowest type; the CPU's twin takes 64 bits only."""
    given = problems.profit, problems.weight
    if device.kind == "cpu":
        profit, weight = (values.astype(np.int64, copy=False) for values in given)
        return _Sent(profit, profit), _Sent(weight, weight)
    empty = staging(device)
    profit, weight = alike(*(narrowed(values, empty, threads) for values in given))
    return _on_its_way(device, profit), _on_its_way(device, weight)


def _on_its_way(device: Device, here: npt.NDArray[Any]) -> _Sent:
    there = device.xp.empty(here.size, dtype=here.dtype)
    there.set(here)
    return _Sent(there, here)


def _there(device: Device, array: IntArray) -> Any:
    """Return an array in the device's memory, without a copy where it is there already."""
    return array if device.kind == "cpu" else device.to_device(array)


def _slots(device: Device, words: int, count: int, threads: int) -> int:
    """Return how many problems are worked on at once."""
    if device.kind == "cpu":
        return max(1, min(count, SLOTS_PER_THREAD * (threads or usable_cores())))
    attributes = device.xp.cuda.Device().attributes
    warps = int(attributes["MultiProcessorCount"]) * BLOCKS_PER_PROCESSOR * WARPS
    memory = device.memory_free // MEMORY_SHARE
    each = 2 * (2 + words) * ROOM * np.dtype(np.int64).itemsize
    return max(1, min(count, warps, memory // each if memory else warps))
