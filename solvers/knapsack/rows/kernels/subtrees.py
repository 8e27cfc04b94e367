"""Branch and bound below thousands of nodes at once, a warp for each; device and twin agree.

A node's bound is Lagrangian: whatever the multipliers u >= 0 of the capacities are, no packing of
a node is worth more than

    profit decided + u'(capacities left) + sum over free j of max(0, p_j - u'a_j)

(Fisher, "The Lagrangian relaxation method for solving integer programming problems", 1981). With
whole numbers for u, and profits times a power of two, that is exact in 64 bits. At each node it is
taken a few times, the multipliers going along a subgradient in between (Polyak, "Minimization of
unsmooth functionals", 1969, equation 10, with the best packing for the unknown value); items whose
reduced cost p_j - u'a_j exceeds what the bound has over the best packing are decided, and so are
those that fit no more. The item with the smallest reduced cost is branched on.

A search is its trail: the decisions in their order, each with a mark whether its other value
waits. So a search may be interrupted anywhere, and ``share`` gives the highest value that waits
to a warp that has nothing to do.
"""

from __future__ import annotations

from solvers.kernels.family import Argument, Family, Kernel, Launch, Values

WARPS = 4
"""Warps of a block, each with a search of its own."""

LANES = 32
MOST_ITEMS = LANES * LANES
"""Items that there may be: what is decided is a word in each lane's register."""

MOST_ROWS = 128
"""Rows that there may be, the one that counts included: four for each lane."""

EVALUATIONS = 6
"""Bounds of a node, at most: with 6 a problem of 60 items and 10 rows took 370,000 nodes, with 8
300,000 and with 10 280,000. Steps that became shorter by a quarter from each to the next left a
sixth more nodes."""

LONGEST_STEP = 2.0**60
"""Steps are cut off there, so that they remain whole numbers of 64 bits."""

IDLE = -1
"""Bound of a search that has nothing to do."""

EVALUATION_STEPS = 4
"""Elementary steps for an item and row of each bound, on the CPU."""


def shared_bytes(values: Values) -> int:
    """Return the shared memory of a block: reduced costs, multipliers and capacities left."""
    return 8 * WARPS * (int(values["items"]) + 2 * int(values["rows"]))


def steps_per_node(items: int, rows: int) -> int:
    """Return the elementary steps of a node on the CPU, at most."""
    return EVALUATIONS * EVALUATION_STEPS * items * rows


GROW = Kernel(
    name="grow",
    arguments=(
        Argument("weight", "index[]"),
        Argument("column", "index[]"),
        Argument("profit", "index[]"),
        Argument("capacity", "index[]"),
        Argument("ceiling", "index[]"),
        Argument("shift", "index[]"),
        Argument("unit", "real[]"),
        Argument("root", "index[]"),
        Argument("count", "index[]"),
        Argument("multiplier", "index[]", "inout"),
        Argument("trail", "index[]", "inout"),
        Argument("level", "index[]", "inout"),
        Argument("length", "index[]", "inout"),
        Argument("bound", "index[]", "inout"),
        Argument("waits", "index[]", "out"),
        Argument("value", "index[]", "inout"),
        Argument("champion", "index[]", "inout"),
        Argument("visited", "index[]", "out"),
        Argument("searches", "int"),
        Argument("items", "int"),
        Argument("rows", "int"),
        Argument("nodes", "int"),
        Argument("fraction", "int"),
    ),
    contract="Search s, unless bound[s] is IDLE, treats up to 'nodes' nodes for packings worth "
    "more than value[s]. weight (rows, items) and column (items, rows) are the same numbers; the "
    "last row is of ones and holds with equality: count[s] items. capacity (rows,) has the others. "
    "profit, root, level and bound are in units of 2^-fraction. ceiling (rows,) limits absolute "
    "multipliers (searches, rows): times a row's capacity or sum of weights it stays within 2^55. "
    "A subgradient's entries are taken in units of 2^shift, where they have 20 bits; unit is "
    "2^-shift. trail (searches, items) has length[s] entries 4 * item + 2 * value + (the other "
    "value waits), level the bounds of their nodes, and root[s] that of the first one. At the end "
    "bound[s] is one on all that is open, waits[s] the first place of the trail where a value "
    "waits, or -1; champion (searches, 32 words, item j is bit j / 32 of word j % 32) is worth "
    "value[s] where that has changed. Integers have 64 bits. Device and twin agree in every bit.",
    launch=lambda values: Launch(
        -(-int(values["searches"]) // WARPS), WARPS * LANES, shared_bytes(values)
    ),
    work=lambda values: (
        int(values["searches"])
        * int(values["nodes"])
        * steps_per_node(int(values["items"]), int(values["rows"]))
    ),
    bytes_moved=lambda values: (
        2 * sum(int(values[name].nbytes) for name in ("trail", "level", "multiplier"))
    ),
)

SHARE = Kernel(
    name="share",
    arguments=(
        Argument("giver", "index[]"),
        Argument("taker", "index[]"),
        Argument("root", "index[]", "inout"),
        Argument("count", "index[]", "inout"),
        Argument("multiplier", "index[]", "inout"),
        Argument("trail", "index[]", "inout"),
        Argument("level", "index[]", "inout"),
        Argument("length", "index[]", "inout"),
        Argument("bound", "index[]", "inout"),
        Argument("waits", "index[]"),
        Argument("pairs", "int"),
        Argument("items", "int"),
        Argument("rows", "int"),
    ),
    contract="For each pair, the value that waits at place waits[giver] of the giver's trail "
    "becomes the search of the taker, which was idle; no search is in two pairs. The trail up to "
    "there goes along, and nothing else waits in the copy. Device and twin agree in every bit.",
    launch=lambda values: Launch(-(-int(values["pairs"]) // WARPS), WARPS * LANES),
    work=lambda values: int(values["pairs"]) * (int(values["items"]) + int(values["rows"])),
    bytes_moved=lambda values: 32 * int(values["pairs"]) * int(values["items"]),
)

FAMILY = Family("solvers.knapsack.rows.kernels", "subtrees", (GROW, SHARE))
