"""Branching, bounds and compaction of a list of nodes, one thread for each node.

A node is the paper's tuple: weight and profit of its packing with the greedy part included, its
slack item (the first that does not fit any more), an upper bound and a lower bound. All are 64-bit
whole numbers, where the paper's are 32-bit and overflow from coefficients of 100,000 on.
"""

from __future__ import annotations

from solvers.kernels.family import Argument, Family, Kernel, Launch, Values

BLOCK = 192
"""Threads in a block: the paper's best number (section 4), not tuned for newer GPUs."""

ITEM, CAPACITY, BEST, BEST_NODE, LENGTH = range(5)
"""Places in the control array: the item branched on, the capacity, the best profit known, the new
node that has it, or -1, and the length of the list after compaction."""

CONTROL_SIZE = 5

WORD = 8


def _by_node(values: Values) -> Launch:
    return Launch(-(-int(values["count"]) // BLOCK), BLOCK)


def _twice_by_node(values: Values) -> Launch:
    return Launch(-(-2 * int(values["count"]) // BLOCK), BLOCK)


def _one_block(values: Values) -> Launch:
    return Launch(1, 1024)


def blocks_of(nodes: int) -> int:
    """Return the number of blocks for so many nodes."""
    return -(-nodes // BLOCK)


COUNT = Argument("count", "int")
NODES_READ = tuple(Argument(name, "index[]") for name in ("weight", "profit", "slack"))
NODES = tuple(Argument(node.name, "index[]", "inout") for node in NODES_READ)
UPPER = Argument("upper", "index[]", "inout")
UPPER_READ = Argument("upper", "index[]")
LOWER = Argument("lower", "index[]", "inout")
LOWER_READ = Argument("lower", "index[]")
ITEMS = (
    Argument("items", "int"),
    Argument("item_profit", "index[]"),
    Argument("item_weight", "index[]"),
)
CONTROL = Argument("control", "index[]", "inout")
CONTROL_READ = Argument("control", "index[]")

BRANCH = Kernel(
    name="branch",
    arguments=(COUNT, *ITEMS, *NODES, UPPER, CONTROL_READ),
    contract="Makes node count + e from node e by leaving out the item branched on (kernel 1). "
    "Where that is the slack item there is no other choice, and node e itself is given up "
    "(upper = -1). Exact.",
    launch=_by_node,
    work=lambda values: int(values["count"]),
    bytes_moved=lambda values: 6 * WORD * int(values["count"]),
)

BOUND = Kernel(
    name="bound",
    arguments=(COUNT, *ITEMS, *NODES, UPPER, LOWER, CONTROL_READ),
    contract="Fills each new node greedily from its slack item on until an item does not fit: that "
    "is the new slack item, and the Dantzig bound the upper bound. The lower bound is the profit "
    "with every later item that still fits (kernel 2). Exact.",
    launch=_by_node,
    work=lambda values: int(values["count"]) * int(values["items"]),
    bytes_moved=lambda values: 8 * WORD * int(values["count"]),
)

BEST_OF_BLOCKS = Kernel(
    name="best_of_blocks",
    arguments=(
        COUNT,
        LOWER_READ,
        Argument("block_best", "index[]", "out"),
        Argument("block_node", "index[]", "out"),
    ),
    contract="The largest lower bound among each block's new nodes and the first node that has it.",
    launch=_by_node,
    work=lambda values: int(values["count"]),
    bytes_moved=lambda values: WORD * int(values["count"]),
)

BEST_OF_ALL = Kernel(
    name="best_of_all",
    arguments=(
        Argument("blocks", "int"),
        Argument("block_best", "index[]"),
        Argument("block_node", "index[]"),
        CONTROL,
    ),
    contract="Puts the best of all blocks into control if it is better than what stands there, "
    "with its node; the node is -1 otherwise.",
    launch=_one_block,
    work=lambda values: int(values["blocks"]),
    bytes_moved=lambda values: 2 * WORD * int(values["blocks"]),
)

COUNT_PROMISING = Kernel(
    name="count_promising",
    arguments=(COUNT, UPPER_READ, Argument("block_count", "index[]", "out"), CONTROL_READ),
    contract="The number of nodes of each block, old and new ones, whose upper bound exceeds the "
    "best profit.",
    launch=_twice_by_node,
    work=lambda values: 2 * int(values["count"]),
    bytes_moved=lambda values: 2 * WORD * int(values["count"]),
)

PLACES_OF_BLOCKS = Kernel(
    name="places_of_blocks",
    arguments=(Argument("blocks", "int"), Argument("block_count", "index[]", "inout"), CONTROL),
    contract="Turns counts into the place of each block's first promising node, and puts their sum "
    "into control.",
    launch=_one_block,
    work=lambda values: int(values["blocks"]),
    bytes_moved=lambda values: 2 * WORD * int(values["blocks"]),
)

GATHER = Kernel(
    name="gather",
    arguments=(
        COUNT,
        *NODES_READ,
        UPPER_READ,
        Argument("block_count", "index[]"),
        Argument("kept_weight", "index[]", "out"),
        Argument("kept_profit", "index[]", "out"),
        Argument("kept_slack", "index[]", "out"),
        Argument("kept_upper", "index[]", "out"),
        Argument("origin", "packed[]", "out"),
        CONTROL_READ,
    ),
    contract="Copies promising nodes side by side, in their order, and notes where each one stood.",
    launch=_twice_by_node,
    work=lambda values: 2 * int(values["count"]),
    bytes_moved=lambda values: (2 + 9) * WORD * int(values["count"]),
)

FAMILY = Family(
    __package__,
    "nodes",
    (
        BRANCH,
        BOUND,
        BEST_OF_BLOCKS,
        BEST_OF_ALL,
        COUNT_PROMISING,
        PLACES_OF_BLOCKS,
        GATHER,
    ),
)
