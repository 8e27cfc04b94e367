"""Many knapsack problems: together through the kernel, and alone what it leaves."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.core.device import Device, find_device
from solvers.core.errors import EngineError, ProblemError
from solvers.core.machine import STEPS_PER_LOOK, threads_for, usable_cores
from solvers.core.progress import Progress
from solvers.knapsack.batch.kernels.many import (
    FAMILY,
    INFEASIBLE,
    MOST_WORDS,
    NEAR_ROOM,
    OUTGROWN,
    SOLVED,
    TOO_LARGE,
    WARPS,
    WORD,
)
from solvers.knapsack.batch.problems import (
    Problems,
    alike,
    as_problems,
    narrowed,
    split_copies,
    staging,
)
from solvers.knapsack.exact_search import solve_knapsack
from solvers.knapsack.items import LARGEST, IntArray
from solvers.native.knapsack_batch_check import add_up

# All problems through the kernel, on the CPU or on a GPU, a slice at a time.


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


BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class ManyPackings:
    """Answers to k problems that have N items together."""

    starts: IntArray
    """(k + 1,) int64: items ``starts[i]`` to ``starts[i + 1]`` are those of problem i."""
    packed: npt.NDArray[np.bool_] | IntArray
    """(N,) bool or int64: whether each item is packed, or how many copies of it where copies were
    given."""
    profit: IntArray
    """(k,) int64: of the packings; 0 where there is none."""
    bound: IntArray
    """(k,) int64: what no packing exceeds; 2^62 where nothing is known."""
    feasible: BoolArray
    """(k,) bool: whether there is a packing."""
    proven: BoolArray
    """(k,) bool: whether the packing is proven to be best, or that there is none."""
    states: IntArray
    """(k,) int64: states looked at."""
    device: str
    """Where the problems were solved."""
    alone: int = 0
    """How many of them were too large, or too hard, to be solved together."""

    def __len__(self) -> int:
        return int(self.profit.size)

    def of(self, k: int) -> npt.NDArray[np.bool_] | IntArray:
        """Return what is packed of the items of problem k."""
        return self.packed[self.starts[k] : self.starts[k + 1]]

    @property
    def rows(self) -> npt.NDArray[np.bool_] | IntArray:
        """What is packed as (k, n), if all problems have n items.

        Raises
        ------
        ProblemError
            They have not.
        """
        sizes = np.diff(self.starts)
        least, most = int(sizes.min(initial=2**62)), int(sizes.max(initial=0))
        if sizes.size and least < most:
            raise ProblemError(
                f"The problems have from {least} to {most} items, so their packings are not the "
                "rows of one array; use of(k)."
            )
        return self.packed.reshape(len(self), most)


def solve_many_knapsacks(
    profits: npt.ArrayLike,
    weights: npt.ArrayLike,
    capacities: npt.ArrayLike,
    device: str | Device,
    progress: Progress | None = None,
    *,
    copies: npt.ArrayLike | None = None,
    starts: npt.ArrayLike | None = None,
    threads: int = 0,
) -> ManyPackings:
    """Find for each of many small knapsack problems a packing of largest profit, and prove it.

    Problems of up to 128 items are solved together, by one warp of a GPU each or by all cores of a
    CPU, with the same result. Larger ones, those with products beyond 64 bits, and those whose
    lists of states outgrow their memory are solved one after the other.

    Parameters
    ----------
    profits, weights : (k, n) arrays of integers, or (N,) with ``starts``
        Of items of which there is one each; both may be zero or negative. Arrays of 16 (unsigned)
        or 32 bits are on a GPU sooner.
    capacities : (k,) array of integers
    device : str or Device
        A device, or its name.
    progress : Progress, optional
        Keeps the time limit; what is not reached is neither feasible nor proven.
    copies : array of integers like ``profits``, optional
        How often each item is there; then copies packed are returned instead of flags.
    starts : (k + 1,) array of integers, optional
        Items ``starts[i]`` to ``starts[i + 1]`` are those of problem i.
    threads : int
        The most that may be used of a CPU; 0 stands for all cores.

    Returns
    -------
    ManyPackings
        Every packing was added up again in whole numbers.

    Raises
    ------
    ProblemError
        Shapes that do not go together, numbers that are not whole, or a problem whose sums leave
        2^62 behind.
    """
    stopping = Progress() if progress is None else progress
    problems = as_problems(profits, weights, capacities, copies, starts)
    where = device if isinstance(device, Device) else find_device(device)
    split = split_copies(problems)
    binary = problems if split is None else split.binary()
    found = run(binary, where, stopping, threads)
    flags, value = _checked(binary, found, threads)
    solved = found.ending == SOLVED
    answer = ManyPackings(
        problems.starts,
        flags if split is None else split.packed_back(flags),
        value,
        np.where(solved, value, np.where(found.ending == INFEASIBLE, 0, LARGEST)),
        solved | (found.ending == OUTGROWN),
        solved | (found.ending == INFEASIBLE),
        found.visited,
        where.kind,
        int(np.count_nonzero((found.ending == TOO_LARGE) | (found.ending == OUTGROWN))),
    )
    left = np.flatnonzero((found.ending == TOO_LARGE) | (found.ending == OUTGROWN))
    _solve_alone(problems, left, answer, stopping)
    return answer


def _checked(
    problems: Problems, found: Found, threads: int
) -> tuple[npt.NDArray[np.bool_], IntArray]:
    """Return (N,) flags and (k,) profits of the packings; they have to be as the kernel says."""
    flags = np.zeros(problems.profit.size, dtype=np.bool_)
    value, load = np.zeros((2, len(problems)), dtype=np.int64)
    arguments = (problems.starts, problems.profit, problems.weight, found.packed, found.words)
    work = STEPS_PER_LOOK * problems.profit.size
    add_up(*arguments, flags, value, load, threads_for(work, threads))
    claimed = (found.ending == SOLVED) | (found.ending == OUTGROWN)
    wrong = claimed & ((value != found.value) | (load > problems.capacity))
    if wrong.any():
        k = int(np.argmax(wrong))
        raise EngineError(
            f"Problem {k} of the knapsack problems: a packing of weight {load[k]}, worth "
            f"{value[k]}, was said to be worth {found.value[k]} within {problems.capacity[k]}."
        )
    return flags, value


def _solve_alone(
    problems: Problems, members: IntArray, answer: ManyPackings, progress: Progress
) -> None:
    """Solve what the kernel left, one after the other, as far as time allows."""
    for k in members.tolist():
        knapsack = problems.one(k)
        if progress.should_stop() is not None:
            return
        packing = solve_knapsack(knapsack, progress)
        answer.states[k] += packing.work
        answer.feasible[k] = packing.x is not None
        answer.proven[k] = packing.x is None or packing.is_optimal
        answer.profit[k], answer.bound[k] = packing.profit, packing.bound
        if packing.x is not None:
            answer.of(k)[:] = packing.x
