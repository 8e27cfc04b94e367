"""Places in the array through which host and kernels tell each other how a search stands."""

from __future__ import annotations

from enum import IntEnum

TICKET_LINE = 32
"""First place of what blocks write at the same time: two cache lines behind what they read."""

CONTROL_SIZE = 48


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
