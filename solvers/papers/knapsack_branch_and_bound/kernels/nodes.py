"""Branching, bounds and compaction of a list of nodes, one thread for each node.

A node is the paper's tuple: weight and profit of its packing with the greedy part included, and
its slack item, the first that does not fit any more. The upper bound follows from these three, and
the lower bound is needed once; neither is stored. Words have 32 bits, as the paper's, where all
sums and products fit, and 64 bits otherwise.

A level takes two passes over the list, and only the next list is written: the first marks and
counts what stays and finds the best packing, the second makes the children again, which is cheaper
than to read them, and puts what stays side by side. The marks, two bits for each node, say later
where the nodes came from.
"""

from __future__ import annotations

from solvers.kernels.declaration import Kernel, Launch, Values, arguments, structure
from solvers.kernels.family import Family

ROUNDS = 8
"""Nodes of each lane: a warp treats a chunk of 32 times as many consecutive nodes."""

CHUNK = 32 * ROUNDS

WARPS = 8
"""Chunks of a tile, which one block treats. The paper's 192 threads were tuned for 448 cores."""

TILE = CHUNK * WARPS

WIDE = 256
"""Threads of the one block that sums over tiles."""

CAPACITY, BEST, FOUND, FOUND_NODE, NODE, LENGTH, AT, LEFT_OUT, UPPER = range(9)
"""Places in the control array: the capacity; the best profit before a level; the best found in it,
and the first new node that has that; the same node when the level is over, or -1 without a better
one; the list's length; a node and whether it left the item out; an upper bound."""

CONTROL_SIZE = 9

EACH = 32
"""Tiles that each of them sums over at a time."""

STEPS = 30
"""Elementary steps that a node costs, as a rule of thumb for how many threads a list is worth."""

NO_NODE = 2**31 - 1
"""More than any node's place: what ``FOUND_NODE`` is before one is found."""


def tiles_of(nodes: int) -> int:
    """Return the number of tiles for so many nodes."""
    return -(-nodes // TILE)


def _by_tile(values: Values) -> Launch:
    return Launch(int(values["tiles"]), 32 * WARPS)


def _one_block(values: Values) -> Launch:
    return Launch(1, WIDE)


def _one_warp(values: Values) -> Launch:
    return Launch(1, 32)


def _word(values: Values) -> int:
    return int(values["control"].dtype.itemsize)


ITEMS = structure("items", "index[] profit, weight, lightest", prefix="item_")
"""All items by falling efficiency, and one behind them without profit that never fits; the smallest
weight from each item on, and at two places behind the last one more than fits."""

NODES = structure("nodes", "index[] weight, profit, slack", prefix="")

MARKS = structure("marks", "index[] chunk_count, tile_place, kept", prefix="")
"""Bits of nodes that stay, and how many there are in chunks and tiles."""

EXPAND = Kernel(
    name="expand",
    arguments=(
        *ITEMS,
        *NODES,
        *structure(
            "marks",
            "out index[] chunk_count; inout index[] tile_place; out index[] kept",
            prefix="",
        ),
        *arguments("inout index[] control; int tiles, count, item"),
    ),
    contract="Makes node count + e from node e by leaving an item out, where that is not the slack "
    "item, and filling greedily until an item does not fit; where it is, there is no other choice, "
    "and node e is given up (kernels 1 and 2). Raises FOUND to the largest profit "
    "of a new node with every later item that still fits. A bit of kept, 32 in a word of either "
    "width, says of every node, of old ones first and of new ones behind, each in whole tiles, "
    "whether its upper bound exceeds BEST; these are counted for every chunk and tile. Exact.",
    launch=_by_tile,
    work=lambda values: STEPS * int(values["count"]),
    bounds="BLOCK",
)

RECOUNT = Kernel(
    name="recount",
    arguments=EXPAND.arguments,
    contract="Where FOUND exceeds BEST, marks and counts again with FOUND in place of BEST, and "
    "lowers FOUND_NODE to the first new node with that profit. Exact.",
    launch=_by_tile,
    work=lambda values: STEPS * int(values["count"]),
    bounds="BLOCK",
)

PLACES = Kernel(
    name="places",
    arguments=arguments("inout index[] tile_place, control; int tiles"),
    contract="Turns counts of tiles into the place of each tile's first promising node, puts their "
    "sum into LENGTH, FOUND into BEST, and FOUND_NODE, or -1, into NODE.",
    launch=_one_block,
    work=lambda values: 2 * int(values["tiles"]),
)

GATHER = Kernel(
    name="gather",
    arguments=(
        *ITEMS,
        *NODES,
        *MARKS,
        *structure("gathered", "out index[] weight, profit, slack", prefix="kept_"),
        *arguments("index[] control; int tiles, item"),
    ),
    contract="Puts promising nodes side by side, old ones before new ones, in their order.",
    launch=_by_tile,
    work=lambda values: STEPS * TILE * int(values["tiles"]),
    bounds="BLOCK",
)

ANCESTOR = Kernel(
    name="ancestor",
    arguments=(*MARKS, *arguments("inout index[] control; int tiles")),
    contract="Replaces the node AT of a gathered list by the node it stood at or came from, and "
    "says in LEFT_OUT which of the two.",
    launch=_one_warp,
    work=lambda values: 100,
    bounds="32",
)

LARGEST_BOUND = Kernel(
    name="largest_bound",
    arguments=(*ITEMS, *NODES, *arguments("inout index[] control; int tiles, count")),
    contract="Raises UPPER to the largest upper bound in the list.",
    launch=_by_tile,
    work=lambda values: int(values["count"]),
    bounds="BLOCK",
)

FAMILY = Family(
    __package__,
    "nodes",
    (EXPAND, RECOUNT, PLACES, GATHER, ANCESTOR, LARGEST_BOUND),
    foreseen=[{"index": index} for index in ("int32", "int64")],
)
"""For 32 and for 64 bits, as the word type of a problem asks."""
