"""What the kernels on batches of boxes have in common: arrays, control and launches."""

from __future__ import annotations

from solvers.kernels.family import Argument, Launch, Values

LANES = 32
"""Candidates side by side: the threads of a warp and the bits of a word."""

ALL_LANES = -1
"""The word of all lanes, as a signed integer."""

BATCH_BLOCK = 256

BATCH_BLOCKS = 1056
"""Blocks of a launch at most: 8 for each multiprocessor of an H100 or H200."""

LONG_ROW = 256
"""Longer rows are the work of a block, in 32 parts."""

LONG_COLUMN = 2048
"""The rows of longer columns are shared out over all threads of the launch."""

NUM_ROWS, NUM_LONG_ROWS, NUM_COLUMNS, DEAD = 0, 2, 4, 6
WORK, ROUNDS = 8, 9
FREE = 10
"""From here on ``control`` belongs to whoever drives the batch."""

BATCH_CONTROL_SIZE = 16
"""What ``control`` holds. For even and odd rounds: lengths of the lists of rows, long rows and
columns, and the word of dead lanes. Then entries visited, in pieces of 32 begun, and rounds that
had something to do."""

CHANGES = (
    Argument("row_changed", "index[]", "inout"),
    Argument("row_list", "index[]", "inout"),
    Argument("column_changed", "index[]", "inout"),
    Argument("column_list", "index[]", "inout"),
)

DOMAINS = (Argument("masks", "index[]", "inout"), Argument("wide", "real[]", "inout"))

FOLLOWING = (Argument("next_masks", "index[]", "inout"), Argument("next_wide", "real[]", "inout"))


def place_launch(values: Values) -> Launch:
    """Give each column a warp."""
    return Launch(-(-int(values["columns"]) * LANES // BATCH_BLOCK), BATCH_BLOCK)
