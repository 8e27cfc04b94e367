"""What the states of a list have chosen: in the stages of their words, and in those before.

Each state has a word of 64 bits for the stages since the last checkpoint, and by number its
ancestor among the states of that checkpoint. At a checkpoint the words of all states become a
segment, and new words begin. A packing is read back from a state's word and its ancestors' words,
segment by segment, so that nothing has to be solved again.

All dynamic programmes here keep their histories so. What a word stands for differs: a bit says
whether an item was treated against the start, or some bits number the item chosen of a class.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from solvers.knapsack.dp.states import STAGES, States
from solvers.knapsack.items import IntArray

WORTH_THINNING = 0.5
"""Share of a segment's states that must still have descendants for it to stay as it is."""

ALL_BITS = 2**64 - 1
"""Makes a word of any integer type one without a sign."""


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
        if flags.mean() > WORTH_THINNING:
            break
        thinner.append((segment, flags))
        numbers[-1] = (np.cumsum(flags) - 1).astype(np.int32)[numbers[-1]]
        numbers.append(segment.ancestors[flags])
        segment = segment.before
    for (wide, flags), ancestors in zip(reversed(thinner), reversed(numbers), strict=False):
        segment = Segment(wide.words[flags], ancestors, wide.stages, wide.num_stages, segment)
    return segment, numbers[0]
