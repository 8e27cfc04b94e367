"""Four lists of columns' sums, as keys that add up like them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from solvers.mip.heuristics.meet_in_the_middle.sums import Sums, WholeArray

KeyArray = npt.NDArray[np.uint64]
StartArray = npt.NDArray[np.int64]

SLOT_BITS = 16
"""Of the table of stored sums: 65,536 slots, half a megabyte, of which a quarter is filled."""

MARK_BITS = 18
"""Of the marks looked at before the table: 32 kB, which stay in a first-level cache."""

MOST_STORED = 1 << (SLOT_BITS - 2)
"""Sums stored at a time."""

MOST_BITS, MOST_PART_BITS = 60, 16
"""Logarithms of the points that are searched through together, and of one list's keys: with all of
them, a deviation takes a second of one core, and each list of a fourth a quarter of a megabyte."""

LEAST_MEETING_BITS = -6.0
"""Logarithm of the pairs that may be expected to meet in one part of the columns, where there is
not room for all: with fewer, hours would go by before the first."""

MOST_CLASS_BITS = 20
"""Logarithm of the number of classes at the most."""


@dataclass(frozen=True, eq=False)
class Quarter:
    """Some of the columns, and the keys of all their values together."""

    places: WholeArray
    """(q,) int64: columns, as numbers among those of the sums."""
    counts: WholeArray
    """(q,) int64: values of each."""
    keys: KeyArray
    """(product of counts,) uint64: the first column's value changes fastest."""

    def steps(self, number: int) -> WholeArray:
        """Return the steps (q,) of its columns that a key stands for."""
        return np.array(np.unravel_index(number, tuple(self.counts), order="F"), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Grouped:
    """Keys grouped by their last bits, with where they come from.

    ``keys`` and ``origin`` (b,), ``start`` (c + 1,) for c groups, a power of two.
    """

    keys: KeyArray
    origin: WholeArray
    start: StartArray


@dataclass(frozen=True, eq=False)
class Lists:
    """What is searched through: four quarters, and columns that keep their values."""

    quarters: tuple[Quarter, Quarter, Quarter, Quarter]
    first: Grouped
    second: Grouped
    third: Grouped
    """The keys of these quarters. All are grouped, so that whoever goes through one of a pair meets
    the groups of the other one after the other, as memory likes it."""
    class_bits: int
    """Logarithm of the number of classes."""
    weights: KeyArray
    """(r,) uint64: what a unit of each sum adds to a key."""
    wanted: np.uint64
    """The key that the four and a deviation add up to."""
    fixed: WholeArray
    """(k,) int64: steps of the columns that are in no quarter; 0 for the others."""

    @property
    def covers_all(self) -> bool:
        """Whether no column keeps its value."""
        return sum(one.places.size for one in self.quarters) == self.fixed.size

    def fourth(self, amounts: WholeArray) -> Grouped:
        """Return the sums of the last quarter with each of the deviations (v, r)."""
        shifts = as_keys(amounts) @ self.weights
        keys = (self.quarters[3].keys[None, :] + shifts[:, None]).ravel()
        return grouped(keys, self.class_bits)


def as_keys(whole: WholeArray) -> KeyArray:
    """Return whole numbers as 64-bit ones that wrap round."""
    return whole.astype(np.uint64)


def grouped(keys: KeyArray, bits: int) -> Grouped:
    """Group keys by their last bits."""
    group = (keys & np.uint64((1 << bits) - 1)).astype(np.int64)
    order = np.argsort(group, kind="stable")
    start = np.zeros((1 << bits) + 1, dtype=np.int64)
    np.cumsum(np.bincount(group, minlength=1 << bits), out=start[1:])
    return Grouped(np.ascontiguousarray(keys[order]), order, start)


def make_lists(sums: Sums, steps: WholeArray, rng: np.random.Generator) -> Lists:
    """Put the columns into four lists of about the same size.

    Parameters
    ----------
    steps : (k,) int64
        Steps of the columns that find no room.
    rng : Generator
        Draws which these are, and what the keys are made of.
    """
    parts = _parts(sums.counts, rng)
    free = np.array([place for part in parts for place in part], dtype=np.int64)
    weights = rng.integers(2**64, size=sums.side.size, dtype=np.uint64) | np.uint64(1)
    begin = rng.integers(2**64, dtype=np.uint64)
    matrix = as_keys(sums.matrix)
    column_keys = matrix.T @ weights
    quarters = [_quarter(sums, part, column_keys) for part in parts]
    # no sum stands for zero by itself, which marks an empty slot
    quarters[0] = Quarter(quarters[0].places, quarters[0].counts, quarters[0].keys + begin)
    pairs = quarters[0].keys.size * quarters[1].keys.size
    class_bits = int(np.clip(np.ceil(np.log2(2.0 * pairs / MOST_STORED)), 0, MOST_CLASS_BITS))
    fixed = steps.copy()
    fixed[free] = 0
    asked = as_keys(sums.side - sums.matrix @ fixed)[None, :] @ weights + begin
    first, second, third = (grouped(one.keys, class_bits) for one in quarters[:3])
    one, two, three, four = quarters
    return Lists(
        *((one, two, three, four), first, second, third),
        *(class_bits, weights, asked[0], fixed),
    )


def _parts(counts: WholeArray, rng: np.random.Generator) -> tuple[list[int], ...]:
    """Return four parts of the columns, drawn where there is not room for all."""
    bits = np.log2(counts)
    order = rng.permutation(bits.size)
    drawn = order[np.cumsum(bits[order]) <= MOST_BITS]
    parts: tuple[list[int], ...] = ([], [], [], [])
    sizes = np.zeros(4)
    for place in drawn[np.argsort(-bits[drawn], kind="stable")]:
        part = int(np.argmin(sizes))
        if sizes[part] + bits[place] <= MOST_PART_BITS:
            parts[part].append(int(place))
            sizes[part] += bits[place]
    return parts


def _quarter(sums: Sums, places: list[int], column_keys: KeyArray) -> Quarter:
    """Return the keys of all values of some columns."""
    keys = np.zeros(1, dtype=np.uint64)
    for place in places:
        steps = np.arange(sums.counts[place], dtype=np.uint64) * column_keys[place]
        keys = (steps[:, None] + keys[None, :]).ravel()
    chosen = np.array(places, dtype=np.int64)
    return Quarter(chosen, sums.counts[chosen], keys)


def find_pair(lists: Lists, key: np.uint64) -> tuple[int, int]:
    """Return the places in the first two quarters whose keys add up to a key that was stored."""
    first, second = lists.quarters[0].keys, lists.quarters[1].keys
    order = np.argsort(second, kind="stable")
    asked = key - first
    at = np.minimum(np.searchsorted(second[order], asked), second.size - 1)
    one = int(np.flatnonzero(second[order[at]] == asked)[0])
    return one, int(order[at[one]])


def is_promising(sums: Sums, deviations: int) -> bool:
    """Whether sums are to be met: all columns find room, or parts of them meet often enough.

    Parameters
    ----------
    deviations : int
        How many are tried at the most.
    """
    bits = float(np.sum(np.log2(sums.counts)))
    if bits <= MOST_BITS:
        return bool(np.max(np.log2(sums.counts)) <= MOST_PART_BITS)
    # the sums of a random point are about normal, and as dense as that in the middle
    variance = sums.matrix.astype(np.float64) ** 2 @ ((sums.counts**2 - 1.0) / 12.0)
    spread = np.sqrt(2.0 * np.pi * variance * MOST_BITS / bits)
    tried = np.log2(deviations) if sums.slacks else 0.0
    meeting = MOST_BITS + tried - np.sum(np.log2(np.maximum(spread, 1.0)))
    return bool(meeting >= LEAST_MEETING_BITS)
