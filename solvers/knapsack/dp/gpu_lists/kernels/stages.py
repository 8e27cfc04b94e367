"""Stages of the dynamic programming over long lists of undominated states, without the host.

A list is sorted by weight, and its profits rise. A stage merges it with a copy of itself that is
shifted by an item, drops what a lighter state dominates and what cannot beat the best packing, and
puts the rest into the other half of the arrays::

    turn    takes over the length of the last result; picks the next item as the search on the CPU
            does (right and left in turn, items passed whose own bound is too small); finds the best
            new packing by bisection, because profits rise with weights along the list
    merge   merges, in tiles of TILE states of the result before anything is dropped

Whether a state is dominated is seen from one neighbour in the other list, so that a tile needs
nothing from those before it but their number of states kept, and that comes by look-back: each tile
publishes its own number, then adds those of its predecessors up to one that knows its sum (Merrill
and Garland, "Single-pass parallel prefix scan with decoupled look-back", 2016). Tiles are handed
out in order, so that whoever waits does so for a block that is running. Every state of the list is
read twice and written at most twice; nothing else travels through memory.

Bounds are compared exactly, in 128 bits. Device and twin agree in every bit of lists and control.
"""

from __future__ import annotations

from enum import IntEnum

from solvers.kernels.declaration import Kernel, Launch, Values, arguments, structure
from solvers.kernels.family import Family

TICKET_LINE = 32
"""First place of what blocks write at the same time: two cache lines behind what they read."""

CONTROL_SIZE = 48
"""Numbers that a stage keeps for all blocks, each part in cache lines of its own."""

THREADS, EACH = 256, 7
"""Threads of a block and states that each one merges; an odd number spreads the accesses of lanes
over the banks of shared memory. With 32 KB for a tile and 48 registers a H200 processor has five
blocks at once."""

TILE = THREADS * EACH

LANES = 32
"""Threads of a warp."""

KEY_BYTES, HISTORY_BYTES = 16, 12
"""Bytes of a state's profit and weight, and of its history and ancestor."""


class Field(IntEnum):
    """Places in ``control``, all of 64 bits.

    The first are those of the search on the CPU (``solvers/knapsack/dp/states.py``). ``SIDE`` says
    in which half of the arrays the list is; ``BEFORE`` is the best profit before a stage. The steps
    are what the item of the stage adds; ``COMES`` is the most efficient item that may still come in
    and ``GOES`` the least efficient that may still go out. ``TILES`` is positive while a stage or a
    selection is under way, ``NEXT_COUNT`` becomes the length of its result. ``EPOCH`` tells words
    of this launch from older ones, and ``TICKET`` hands out tiles.
    """

    COUNT = 0
    LEFT = 1
    RIGHT = 2
    STAGE = 3
    PROFIT = 4
    HISTORY = 5
    ANCESTOR = 6
    VISITED = 7
    TARGET = 8
    SIDE = 9
    REASON = 10
    UNTIL = 11
    CAPACITY = 12
    BEFORE = 13
    PROFIT_STEP = 14
    WEIGHT_STEP = 15
    COMES_PROFIT = 16
    COMES_WEIGHT = 17
    GOES_PROFIT = 18
    GOES_WEIGHT = 19
    LEVEL = 20
    TILES = 21
    EPOCH = 22
    TICKET = TICKET_LINE
    NEXT_COUNT = TICKET_LINE + 1


class Reason(IntEnum):
    """Why no stage was begun.

    In this order: one was; the list is empty or the target reached; the history is full; there is
    no room for the next stage; the work it was given is done.
    """

    NONE = 0
    EMPTY = 1
    CHECKPOINT = 2
    FULL = 3
    PAUSE = 4


class Mode(IntEnum):
    """Bits that say what ``choose`` chooses.

    In this order: what is below the level instead of at or above it; by places in the list instead
    of bounds; nothing is written, only counted.
    """

    BELOW = 1
    PLACES = 2
    COUNTING = 4


BLOCKS = arguments("int blocks, room")

LISTS = arguments("inout index[] profit, weight, history; inout packed[] ancestor")

SCAN = arguments("inout index[] words, control")


def tiles(states: int) -> int:
    """Return the number of tiles of so many states."""
    return -(-states // TILE)


def _everywhere(values: Values) -> Launch:
    return Launch(int(values["blocks"]), THREADS)


def _one_after_the_other(_: Values) -> int:
    """Keep the twin to one core: what a state's neighbour is depends on all before it."""
    return 1


TURN = Kernel(
    name="turn",
    arguments=(
        *arguments("int begin, items, room"),
        *structure("order", "index[] item_profit, item_weight, opposite", prefix=""),
        *structure("lists", "index[] profit, weight, history; packed[] ancestor", prefix=""),
        *arguments("out index[] treated; inout index[] control"),
    ),
    contract="Ends the stage under way, if there is one, and with 'begin' begins the next one "
    "(items (n,) by falling efficiency, opposite (n,) their own bounds): control gets what merge "
    "has to know, the new best profit included, and treated (64,) the item. REASON says why none "
    "was begun, and stays until the host clears it. Lists are (2, room), the second half being the "
    "other side. All arrays but ancestor (32 bits) are of 64 bits. Exact.",
    launch=lambda values: Launch(1, LANES),
    work=_one_after_the_other,
    bounds="32",
)

MERGE = Kernel(
    name="merge",
    arguments=(*BLOCKS, *LISTS, *SCAN),
    contract="Does the stage that control tells of, from the list on SIDE to the other side, and "
    "puts the length of the result into NEXT_COUNT; nothing where TILES is 0. words has one entry "
    "for each tile of 'room' states, of epochs before this one. Exact.",
    launch=_everywhere,
    work=_one_after_the_other,
)

CHOOSE = Kernel(
    name="choose",
    arguments=(*arguments("int mode"), *BLOCKS, *LISTS, *SCAN),
    contract="Copies the states whose bound is at least LEVEL, or what else the bits of 'mode' "
    "say, side by side and in their order to the other side; NEXT_COUNT is their number. Exact.",
    launch=_everywhere,
    work=_one_after_the_other,
)

RENEW = Kernel(
    name="renew",
    arguments=(
        *BLOCKS,
        *arguments("inout index[] history; inout packed[] ancestor; index[] control"),
    ),
    contract="Begins a history: that of each of the COUNT states on SIDE is empty, and its "
    "ancestor is the state itself.",
    launch=_everywhere,
    work=_one_after_the_other,
)

FAMILY = Family(
    __package__,
    "stages",
    (TURN, MERGE, CHOOSE, RENEW),
    foreseen=({"index": "int64", "ancestor": "int32"},),
)
