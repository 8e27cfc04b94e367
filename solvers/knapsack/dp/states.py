"""Lists of undominated states, what their packings are read back from, and parts that wait.

A state is a packing of the items treated so far: its weight, its profit, and how it came about. A
list is sorted by weight, and profits rise with it, because a state that weighs no less than another
and brings no more is dominated. Treating an item merges the list with a shifted copy of itself.

Each state has a word of 64 bits for the stages since the last checkpoint, and by number its
ancestor among the states of that checkpoint. At a checkpoint the words of all states become a
segment, and new words begin. A packing is read back from a state's word and its ancestors' words,
segment by segment, so that nothing has to be solved again. What a word stands for differs: a bit
says whether an item was treated against the start, or some bits number the item chosen of a class.

A list that outgrows its room is cut in two. One part goes on at once; the other waits, and shrinks
or goes when its turn comes, because the best profit has risen by then.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from solvers.core.process_state import Slot
from solvers.knapsack.efficiency import Ordered
from solvers.knapsack.items import IntArray

STAGES = 64
"""Stages that a state's history holds."""

COUNT, LEFT, RIGHT, STAGE, PROFIT, HISTORY, ANCESTOR, VISITED, TARGET = range(9)
"""Places in the array that controls a search: states in the list; the next item to the left and to
the right of those treated; stages in this history; the best profit, and the history and ancestor of
the state that has it; states visited so far; the profit that no packing exceeds."""

EMPTY, FULL, CHECKPOINT, PAUSE = range(4)
"""Why ``advance`` returns: the list is empty, there is no room for the next stage, the history
is full, or the work it was given is done."""

FIRST_ROOM = 4096
"""States for which there is room at the beginning; most problems need no more."""

WORK = 4_000_000
"""States between two looks at the clock: some hundredths of a second."""

MOST_STATES = 6_000_000
"""States that a list may have: two take a third of a gigabyte, and a stage takes less than a tenth
of a second, in which nobody looks at the clock."""

MOST_ITEMS = 20_000
"""Items beyond which each takes too many lists, and tables for all suffixes take too long."""

WORTH_THINNING = 0.5
"""Share of a segment's states that must still have descendants for it to stay as it is."""

ALL_BITS = 2**64 - 1
"""Makes a word of any integer type one without a sign."""


UintArray = npt.NDArray[np.uint64]


class States(NamedTuple):
    """Arrays of a list, on the host or on a device; only the first entries are in use."""

    profit: IntArray
    weight: IntArray
    history: UintArray
    ancestor: npt.NDArray[np.int32]


def empty_states(room: int) -> States:
    """Return arrays for ``room`` states."""
    return States(
        np.empty(room, dtype=np.int64),
        np.empty(room, dtype=np.int64),
        np.empty(room, dtype=np.uint64),
        np.empty(room, dtype=np.int32),
    )


def map_states(change: Callable[[Any], Any], states: States) -> States:
    """Return a list with every array changed."""
    profit, weight, history, ancestor = map(change, states)
    return States(profit, weight, history, ancestor)


def copy_states(source: States, count: int, target: States) -> None:
    """Copy the first ``count`` states into the arrays of another list."""
    target.profit[:count] = source.profit[:count]
    target.weight[:count] = source.weight[:count]
    target.history[:count] = source.history[:count]
    target.ancestor[:count] = source.ancestor[:count]


def first_states(states: States, count: int) -> States:
    """Return the first ``count`` states, without a copy."""
    return map_states(lambda values: values[:count], states)


def chosen_states(states: States, count: int, flags: npt.NDArray[np.bool_]) -> States:
    """Return copies of those of the first ``count`` states whose flag is set."""
    return map_states(lambda values: values[:count][flags], states)


MOST_SPARE, MOST_SPARE_STATES = 2, 1 << 20
"""Pairs of lists, and states of one, that wait for the next search: at most 59 MB for a pair.

A search from the break item, and one of heavy items beside it, run at once. Half of the time of
1,000 subset-sum items went into pages that the system cleared for new arrays at every solve."""

_spare: Slot[list[tuple[States, States]]] = Slot("arrays of knapsack searches that are over", list)


def empty_lists(room: int) -> tuple[States, States]:
    """Return two lists of ``room`` states, in the arrays of a search that is over if there are."""
    with _spare.locked() as spare:
        same = _in_same_arrays(spare.pop(), room) if spare else None
    return same or (empty_states(room), empty_states(room))


def larger_lists(lists: tuple[States, States], count: int, room: int) -> tuple[States, States]:
    """Return two lists of more room, the first with the first ``count`` states of the old one."""
    same = _in_same_arrays(lists, room)
    if same is not None:
        return same
    larger = empty_states(room)
    copy_states(lists[0], count, larger)
    return larger, empty_states(room)


def spare_lists(one: States, other: States) -> None:
    """Leave the arrays of two lists that nobody uses any more to the next search."""
    whole = _whole(one), _whole(other)
    if whole[0].profit.size <= MOST_SPARE_STATES:
        with _spare.locked() as spare:
            spare.append(whole)
            spare.sort(key=lambda lists: lists[0].profit.size)
            del spare[:-MOST_SPARE]


def _in_same_arrays(lists: tuple[States, States], room: int) -> tuple[States, States] | None:
    """Return two lists of another room in the same arrays, if these are large enough."""
    one, other = _whole(lists[0]), _whole(lists[1])
    if one.profit.size < room:
        return None
    return first_states(one, room), first_states(other, room)


def _whole(states: States) -> States:
    """Return the arrays that a list has the first part of."""
    return map_states(lambda values: values if values.base is None else values.base, states)


Item = tuple[int, int]
"""Profit and weight of what may still come in, or go out."""


def next_items(items: Ordered, left: int, right: int) -> tuple[Item, Item]:
    """Return the items next to those treated: what comes in at right, and what goes at left."""
    comes, goes = (0, 1), (1, 0)
    if right < items.num_items:
        comes = int(items.profit[right]), int(items.weight[right])
    if left >= 0:
        goes = int(items.profit[left]), int(items.weight[left])
    return comes, goes


def state_bounds(
    profit: IntArray, weight: IntArray, capacity: int, comes: Item, goes: Item
) -> npt.NDArray[np.float64]:
    """Return the bounds of states (k,), in double precision.

    What is left of the capacity is filled by ``comes``; what a state is too heavy by goes with
    ``goes``, whose weight is 0 where nothing may go.
    """
    found = (capacity - weight).astype(np.float64)
    is_over = found < 0.0
    loss = goes[0] / goes[1] if goes[1] else np.inf
    # in place: pages of new memory take longer than the numbers
    np.multiply(found, comes[0] / comes[1], out=found, where=~is_over)
    np.multiply(found, loss, out=found, where=is_over)
    return np.add(found, profit, out=found)


def less_promising(bound: npt.NDArray[np.float64], staying: int) -> npt.NDArray[np.bool_]:
    """Return flags of all but about so many of the states, those with the smallest bounds."""
    leaving = bound.size - staying
    later = bound < np.partition(bound, leaving)[leaving]
    if not later.any():  # many of the same bound
        return np.arange(bound.size) >= staying
    return np.asarray(later)


def cut(states: States, bound: npt.NDArray[np.float64], staying: int) -> tuple[States, float, int]:
    """Leave about so many states in a list, those of the largest bounds.

    Returns
    -------
    later : States
        Copies of the others.
    largest : float
        Of their bounds.
    left : int
        How many stay, close together.
    """
    later = less_promising(bound, max(staying, 1))
    waiting, stays = chosen_states(states, bound.size, later), ~later
    left = int(np.count_nonzero(stays))
    for values in states:
        values[:left] = values[: bound.size][stays]
    return waiting, float(bound.max(where=later, initial=-np.inf)), left


class Stages(Protocol):
    """What the bits of a word stand for."""

    def chosen(self, word: int, num_stages: int) -> IntArray:
        """Return the items that a word stands for, of which so many stages are in use."""

    def copy(self: S) -> S:
        """Return the same stages in arrays of their own."""

    def fresh(self: S) -> S:
        """Return arrays for the stages of the next words."""


S = TypeVar("S", bound=Stages)


class ItemStages(NamedTuple):
    """Stages of one item each: bit s says whether ``treated[s]`` differs from the start."""

    treated: npt.NDArray[Any]

    def chosen(self, word: int, num_stages: int) -> IntArray:
        """Return the items whose bits are set."""
        bits = np.uint64(word) >> np.arange(num_stages, dtype=np.uint64)
        changed: IntArray = self.treated[:num_stages][(bits & np.uint64(1)).astype(bool)]
        return changed

    def copy(self) -> ItemStages:
        """Return the same stages in an array of their own."""
        return ItemStages(self.treated.copy())

    def fresh(self) -> ItemStages:
        """Return an array for the stages of the next words."""
        return item_stages()


def item_stages() -> ItemStages:
    """Return an array for the stages of one word."""
    return ItemStages(np.zeros(STAGES, dtype=np.int32))


@dataclass(frozen=True, eq=False)
class Segment:
    """Stages that are over: each state's word then, and its ancestor before them.

    ``words`` and ``ancestors`` have an entry for each state, on the host or on a device;
    ``num_stages`` of ``stages`` are in use.
    """

    words: Any
    ancestors: Any
    stages: Stages
    num_stages: int
    before: Segment | None


class History(Generic[S]):
    """The stages of a list's words, and the segments before them."""

    def __init__(self, stages: S, before: Segment | None = None) -> None:
        self.stages, self.before = stages, before

    def copy(self) -> History[S]:
        """Return the history of a part that waits; segments are shared, for they do not change."""
        return History(self.stages.copy(), self.before)

    def close(self, states: States, count: int, num_stages: int = STAGES) -> None:
        """Begin new words: the first ``count`` states are the ancestors of those to come.

        Of the segment before, only states with descendants are kept: lists shrink while the best
        profit rises, so that most of the memory of segments would be that of states without any.
        """
        before, ancestors = _thinned(self.before, states.ancestor[:count])
        words = states.history[:count].copy()
        self.before = Segment(words, ancestors.copy(), self.stages, num_stages, before)
        self.stages = self.stages.fresh()
        states.history[:count] = 0
        states.ancestor[:count] = np.arange(count, dtype=np.int32)

    def chosen(self, word: int, ancestor: int, num_stages: int = STAGES) -> IntArray:
        """Return the items that a state chose, from its word and its ancestors' words."""
        return read_back(word, ancestor, self.stages, num_stages, self.before)[0]


def read_back(
    word: int, ancestor: int, stages: Stages, num_stages: int, before: Segment | None
) -> tuple[IntArray, int]:
    """Return the items that a state chose, the latest first, and the number of its first ancestor.

    Parameters
    ----------
    word, ancestor : int
        Of the state.
    stages : Stages
        Of the word.
    num_stages : int
        Those in use.
    before : Segment or None
        The stages before them.
    """
    items = [stages.chosen(int(word) & ALL_BITS, num_stages)]
    while before is not None:
        word, there = int(before.words[ancestor]), int(before.ancestors[ancestor])
        items.append(before.stages.chosen(word & ALL_BITS, before.num_stages))
        ancestor, before = there, before.before
    return np.concatenate(items), ancestor


def _thinned(
    segment: Segment | None, used: npt.NDArray[np.int32]
) -> tuple[Segment | None, npt.NDArray[np.int32]]:
    """Return a segment with those of its states that are used, and their new numbers."""
    thinner: list[tuple[Segment, npt.NDArray[np.bool_]]] = []
    numbers = [used]
    while segment is not None:
        flags = np.zeros(segment.words.size, dtype=np.bool_)
        flags[numbers[-1]] = True
        if np.count_nonzero(flags) > WORTH_THINNING * flags.size:
            break
        thinner.append((segment, flags))
        numbers[-1] = (np.cumsum(flags) - 1).astype(np.int32)[numbers[-1]]
        numbers.append(segment.ancestors[flags])
        segment = segment.before
    for (wide, flags), ancestors in zip(reversed(thinner), reversed(numbers), strict=False):
        segment = Segment(wide.words[flags], ancestors, wide.stages, wide.num_stages, segment)
    return segment, numbers[0]


@dataclass(frozen=True, eq=False)
class Part(Generic[S]):
    """A part of a list on the host."""

    states: States
    place: IntArray
    """Where in the items it stands: what it has of its own in the array that controls a search."""
    history: History[S]
    bound: float = np.inf
    """No packing that comes of it is worth more."""


@dataclass(frozen=True, eq=False)
class Found:
    """What a search found: the best packing, None if there is nothing better, and the bound.

    ``packed`` are flags of items, or the items chosen of classes. ``states`` were visited.
    """

    packed: npt.NDArray[Any] | None
    profit: int
    bound: int
    states: int

    @property
    def is_settled(self) -> bool:
        """Whether nothing better is left."""
        return self.bound <= self.profit


class WaitingList(Generic[S]):
    """The parts that wait; the last one to come is the first to go on."""

    def __init__(self) -> None:
        self._parts: list[Part[S]] = []

    def __len__(self) -> int:
        return len(self._parts)

    def add(self, part: Part[S]) -> None:
        """Let a part wait."""
        self._parts.append(part)

    def resume(self, restore: Callable[[Part[S]], int]) -> bool:
        """Go on with a part; False when there is none left.

        ``restore`` makes a part the list and returns how many states it still has; one without any
        is over.
        """
        while self._parts:
            if restore(self._parts.pop()):
                return True
        return False

    @property
    def num_states(self) -> int:
        """States of all parts."""
        return sum(int(part.states.profit.size) for part in self._parts)

    def bound(self, least: float) -> float:
        """Return the largest bound of a part, or ``least`` if that is larger."""
        return max([least, *(part.bound for part in self._parts)])
