"""Many knapsack problems as flat arrays, and copies of items split into 0/1 items."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.core.device import Device
from solvers.core.errors import ProblemError
from solvers.core.machine import threads_for
from solvers.knapsack.items import LARGEST, IntArray, Knapsack, powers_of_two
from solvers.native.knapsack_batch_check import shorten

SAMPLE = 1000
"""Numbers looked at to see which type may do."""

PART = 1 << 16
"""Numbers that a thread narrows at a time."""

STEPS_PER_NUMBER = 2
"""Elementary steps of copying a number."""


Empty = Callable[[tuple[int, ...], Any], npt.NDArray[Any]]
"""From shape and type to an array whose numbers are not set."""

TYPES = (np.uint16, np.int32, np.int64)
"""Types that profits and weights may have on a GPU, the narrowest first."""


def types_for(values: npt.NDArray[Any]) -> Sequence[Any]:
    """Return the types that hold a sample of numbers, narrowest first; the last one holds all."""
    flat = values.reshape(-1)
    sample = flat[:: max(1, flat.size // SAMPLE)]
    low, high = sample.min(initial=0), sample.max(initial=0)
    fits = [low >= np.iinfo(one).min and high <= np.iinfo(one).max for one in TYPES[:-1]]
    return [one for one, fit in zip(TYPES[:-1], fits, strict=True) if fit] + [TYPES[-1]]


def narrowed(
    values: npt.NDArray[Any], empty: Empty = np.empty, threads: int = 0
) -> npt.NDArray[Any]:
    """Return whole numbers (N,) in the narrowest of these types; themselves if it is theirs."""
    for kind in types_for(values):
        if np.dtype(kind).itemsize >= values.dtype.itemsize:
            break
        out = empty(values.shape, kind)
        refused = np.zeros(-(-values.size // PART), dtype=np.bool_)
        work = STEPS_PER_NUMBER * values.size
        shorten(values, out, refused, threads_for(work, threads))
        if not refused.any():
            return out
    return values


def alike(
    one: npt.NDArray[Any], other: npt.NDArray[Any]
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return both in the wider of their types: there is code for three pairs, not for nine."""
    kind = np.promote_types(one.dtype, other.dtype)
    return one.astype(kind, copy=False), other.astype(kind, copy=False)


def staging(device: Device) -> Empty:
    """Return what makes arrays from which a device is filled fastest: in memory that stays put."""
    if device.kind == "cpu":
        return np.empty

    def empty(shape: tuple[int, ...], kind: Any) -> npt.NDArray[Any]:
        size = int(np.prod(shape))
        if not size:
            return np.empty(shape, kind)
        memory = device.xp.cuda.alloc_pinned_memory(size * np.dtype(kind).itemsize)
        return np.frombuffer(memory, kind, size).reshape(shape)

    return empty


@dataclass(frozen=True, eq=False)
class Problems:
    """k problems with N items together, those of one problem side by side."""

    starts: IntArray
    """(k + 1,) int64."""
    profit: npt.NDArray[Any]
    weight: npt.NDArray[Any]
    """(N,) of int64, or both of one of the other types a GPU takes."""
    capacity: IntArray
    """(k,) int64."""
    copies: IntArray | None = None
    """(N,) int64: one of each item where not given; then profits and weights are int64."""

    def __len__(self) -> int:
        return int(self.capacity.size)

    def one(self, k: int) -> Knapsack:
        """Return problem k.

        Raises
        ------
        ProblemError
            Its sums leave 2^62 behind.
        """
        own = slice(int(self.starts[k]), int(self.starts[k + 1]))
        profit = self.profit[own]
        copies = np.ones(profit.size, dtype=np.int64) if self.copies is None else self.copies[own]
        try:
            return Knapsack(profit, self.weight[own], copies, int(self.capacity[k]))
        except ProblemError as error:
            raise ProblemError(f"Problem {k} of the knapsack problems: {error}") from error


@dataclass(frozen=True, eq=False)
class Split:
    """0/1 items that stand for ``times`` copies of item ``origin`` (both (M,))."""

    problems: Problems
    origin: IntArray
    times: IntArray

    def packed_back(self, flags: npt.NDArray[np.bool_]) -> IntArray:
        """Return the (N,) copies packed of each item as it was given."""
        assert self.problems.copies is not None  # nothing else is split
        packed = np.zeros(self.problems.profit.size, dtype=np.int64)
        np.add.at(packed, self.origin[flags], self.times[flags])
        return packed

    def binary(self) -> Problems:
        """Return the problems of these items."""
        whole = self.problems
        before = np.searchsorted(self.origin, whole.starts).astype(np.int64)
        profit, weight = whole.profit[self.origin], whole.weight[self.origin]
        return Problems(before, profit * self.times, weight * self.times, whole.capacity)


def as_problems(
    profits: npt.ArrayLike,
    weights: npt.ArrayLike,
    capacities: npt.ArrayLike,
    copies: npt.ArrayLike | None,
    starts: npt.ArrayLike | None,
) -> Problems:
    """Check shapes and make flat arrays of what was given.

    Raises
    ------
    ProblemError
        Shapes that do not go together, numbers that are not whole, or negative copies.
    """
    capacity = np.atleast_1d(_whole("capacities", capacities))
    as_given = TYPES if copies is None else (np.int64,)
    profit = _whole("profits", profits, as_given)
    weight = _whole("weights", weights, as_given)
    profit, weight = alike(profit, weight)
    if starts is None:
        if profit.ndim != 2 or profit.shape[0] != capacity.size:
            raise ProblemError(
                f"The profits have shape {profit.shape}; they must be one row of items for each of "
                f"{capacity.size} capacities, or come with 'starts'."
            )
        first = np.arange(capacity.size + 1, dtype=np.int64) * profit.shape[1]
    else:
        first = _whole("starts", starts)
        steps = np.diff(first)
        if first.shape != (capacity.size + 1,) or first[0] or (steps < 0).any():
            raise ProblemError(
                f"'starts' must begin with 0, never fall, and have {capacity.size + 1} entries, "
                f"one more than there are capacities; its shape is {first.shape}."
            )
        if first[-1] != profit.size:
            raise ProblemError(
                f"'starts' ends with {first[-1]}, but there are {profit.size} items."
            )
    number = None if copies is None else _whole("copies", copies)
    for name, values in (("weights", weight), ("copies", number)):
        if values is not None and values.shape != profit.shape:
            raise ProblemError(
                f"The {name} have shape {values.shape}; it must be that of the profits, "
                f"{profit.shape}."
            )
    if number is not None and (number < 0).any():
        raise ProblemError(f"There are {int(number.min())} copies of an item; give at least 0.")
    flat = None if number is None else number.ravel()
    return Problems(first, profit.ravel(), weight.ravel(), capacity, flat)


def split_copies(problems: Problems) -> Split | None:
    """Split copies into 0/1 items of 1, 2, 4, ... of them; None where there are none to split."""
    if problems.copies is None:
        return None
    item, count = powers_of_two(_useful_copies(problems, problems.copies))
    for name in ("profit", "weight"):
        size_of = np.abs(getattr(problems, name)[item].astype(np.float64)) * count
        if size_of.max(initial=0.0) >= LARGEST:
            worst = item[int(np.argmax(size_of))]
            raise ProblemError(
                f"The {name} of all copies of item {worst} is not below 2^62; scale it down."
            )
    return Split(problems, item, count)


def _useful_copies(problems: Problems, copies: IntArray) -> IntArray:
    """Leave out copies that could never fit, where nothing frees capacity."""
    if not (problems.weight > 0).all():
        return copies
    capacity = np.repeat(np.maximum(problems.capacity, 0), np.diff(problems.starts))
    useful: IntArray = np.minimum(copies, capacity // problems.weight)
    return useful


def _whole(
    name: str, values: npt.ArrayLike, as_given: Sequence[Any] = (np.int64,)
) -> npt.NDArray[Any]:
    """Return whole numbers, as int64 unless their type is one of those that may stay as given.

    They are contiguous.
    """
    array = np.asarray(values)
    if array.size and array.dtype.kind not in "iub":
        raise ProblemError(
            f"The {name} are of type {array.dtype}; knapsack problems are solved in whole numbers, "
            "so scale them and give integers."
        )
    if array.dtype.kind == "u" and array.size and int(array.max()) >= LARGEST:
        raise ProblemError(f"One of the {name} is {array.max()}, which is not below 2^62.")
    kind = array.dtype if array.dtype in as_given else np.dtype(np.int64)
    return np.require(array, kind, ["C"])
