"""Replicas among packings at fixed temperatures; the same trials on device and in twin.

A replica has a packing that may be too heavy. Its energy is

    price'(excess over the capacities) - worth'packing,

and a trial puts one item in, takes one out, or both, at random: that is accepted with the
probability exp(-rise of energy / temperature) (Metropolis and others, "Equation of state
calculations by fast computing machines", 1953). Everything is in whole numbers: a draw from the
exponential distribution, from a table, says how much the energy may rise, and what is left of that
after the items' worth how large the violation may become. Most trials fail before any row is
looked at.

The random number of a trial is a hash of its number, so that trials can be looked at in any order:
the 32 lanes of a warp look at the next 32 trials, and go on after the first one accepted, which is
what one trial after the other does.
"""

from __future__ import annotations

from solvers.kernels.declaration import Kernel, Launch, Values, arguments, structure
from solvers.kernels.family import Family

WARPS = 8
"""Warps of a block, each with a replica of its own; they share the weights."""

LANES = 32
"""Threads of a warp."""

MOST_MOVABLE = 256
"""Items that may move: a replica's packing is a few bits in each lane's register."""

MOST_LANE_ROWS = 128
"""Rows that there may be: four for each lane."""

TABLE = 2048
"""Entries of the table of exponential draws."""

FRACTION_BITS = 16
"""Binary places of its entries."""

LARGEST_RISE = 2**30
"""Violations are kept up to here, so that sums stay within 32 bits."""

TRIAL_STEPS = 40
"""Elementary steps of a trial on the CPU, in the mean of problems of 10 and 30 rows."""


def shared_bytes(values: Values) -> int:
    """Return the shared memory of a block: profits, weights, worths and the table."""
    items, rows = int(values["items"]), int(values["rows"])
    return 8 * (items + 1) + 4 * ((items + 1) * (rows + 1) + TABLE)


ANNEAL = Kernel(
    name="anneal",
    arguments=(
        *structure(
            "problem",
            "index[] weight, price, worth; real[] profit; index[] capacity, exponential",
            prefix="",
        ),
        *structure(
            "replicas",
            "index[] temperature; inout index[] packing, champion; inout real[] value; "
            "out real[] energy",
            prefix="",
        ),
        *structure("sizes", "int replicas, items, rows", prefix=""),
        *arguments("int trials, seed, turn"),
    ),
    contract="Replica w makes 'trials' trials at temperature[w] from its packing: words (replicas, "
    "32), where item j is bit j / 32 of word j % 32. weight (items + 1, rows), worth and profit "
    "(items + 1,) end with an item of zeros; price and capacity (rows,) are positive and "
    "non-negative; exponential (TABLE,) has draws in units of 2^-16. Whenever a packing fits and "
    "is worth more than value[w], that becomes value[w] and it champion[w]. energy[w] is that of "
    "the last packing. 'seed' and 'turn' (the number of the call) choose the random numbers. "
    "Integers are of 32 bits and reals of 64: sums of a row's weights, of price times largest "
    "weight and of worths stay below 2^30, 2^24 and 2^53. Device and twin agree in every bit.",
    launch=lambda values: Launch(
        -(-int(values["replicas"]) // WARPS), WARPS * LANES, shared_bytes(values)
    ),
    work=lambda values: TRIAL_STEPS * int(values["replicas"]) * int(values["trials"]),
    bounds="256",
)

FAMILY = Family("solvers.knapsack.multidimensional.kernels", "anneal", (ANNEAL,))
