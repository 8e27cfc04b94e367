"""Many small 0/1 knapsack problems, each solved by one warp; the same result on device and in twin.

A problem is brought into a form with positive profits and weights (items without use left out,
items that free capacity packed first, divisors of all profits and of all weights divided out),
sorted by efficiency, and solved by dynamic programming over undominated states from the break item
outwards, right and left in turn (Pisinger, "A minimal algorithm for the 0-1 knapsack problem",
1997):

    best     = the best of the greedy packing and the break solution with one item exchanged
    list     = [break solution]
    per item = best   <- the best state of the shifted list that keeps the capacity
               merged <- list and shifted list by weight, what a lighter state dominates left out
               list   <- those of merged whose Dantzig bound exceeds best

Profits rise with weights along a list. So the best state that keeps the capacity is found by
bisection before the merge, and whether a state is dominated is seen from one state of the other
list: lanes need no scan but a ballot, to see where to write. An item whose own bound, packed
against the break solution, does not exceed ``best`` needs no stage.

A state is its profit, weight, and one bit for each item that is not as in the break solution.
"""

from __future__ import annotations

from solvers.kernels.declaration import Kernel, Launch, structure
from solvers.kernels.family import Family

SOLVED, INFEASIBLE, TOO_LARGE, OUTGROWN = range(4)
"""How a problem ended: with its optimum; nothing fits; products of its numbers may leave 64 bits;
its list of states did not fit, or it took more work than allowed (the packing is the best so far).
"""

WORD = 64
"""Items that one word of a history holds."""

MOST_WORDS = 2
"""Words that a history may have."""

WARPS = 4
"""Warps of a block, each with a problem of its own."""

LANES = 32
"""Threads of a warp."""

NEAR_ROOM = 120
"""States of a list that has its place in shared memory: with it, the 227 KB of a H200's processor
hold 6 blocks with problems of 64 items, for which there are registers too; and most lists of
problems that are not made to be hard fit."""

BYTES = 8
"""Of a whole number."""

STEPS_PER_ITEM = 300
"""Elementary steps that an item of a problem of 50 takes in the median of the benchmark's."""

MANY = Kernel(
    name="many",
    arguments=(
        *structure(
            "problems", "index[] starts; packed[] profit, weight; index[] capacity", prefix=""
        ),
        *structure("memory", "inout index[] lists, queue", prefix=""),
        *structure("packings", "out index[] packed, value, ending, visited", prefix=""),
        *structure("sizes", "int count, slots, words, room, near, most", prefix=""),
    ),
    contract="Problem k < count has items starts[k] to starts[k + 1] of profit and weight, at most "
    "64 * words. packed (count, words) gets the bits of the items packed, value (count,) their "
    "profit, ending (count,) what became of it and visited (count,) the states looked at, of which "
    "there may be 'most'. lists (slots, 2, 2 + words, room) is memory to work in; a list of up to "
    "'near' states is in shared memory on a GPU. queue (1,) is zero before. Profits and weights "
    "may be narrower on a GPU, all other arrays are of 64 bits. Device and twin agree in every "
    "bit.",
    launch=lambda values: Launch(
        -(-int(values["slots"]) // WARPS),
        WARPS * LANES,
        WARPS * BYTES * (warp_words(int(values["words"]), int(values["near"]))),
    ),
    work=lambda values: STEPS_PER_ITEM * int(values["profit"].size),
    bounds="128, 6",
)


def warp_words(words: int, near: int) -> int:
    """Return the 64-bit numbers of shared memory for a warp: sorted items and two lists."""
    return 6 * WORD * words + 2 + 2 * (2 + words) * near


FAMILY = Family(
    "solvers.knapsack.batch.kernels",
    "many",
    (MANY,),
    foreseen=[
        {"index": "int64", "profit": kind, "weight": kind} for kind in ("uint16", "int32", "int64")
    ],
)
