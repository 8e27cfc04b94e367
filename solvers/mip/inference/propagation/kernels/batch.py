"""Synchronous rounds of bound propagation for 32 candidate boxes side by side: lane = candidate.

Columns have *places*: the binary ones first, then the others, called wide. A binary column's
domains are two words, ``masks[2 p]`` with a bit for each lane in which 0 is still allowed and
``masks[2 p + 1]`` for 1; a wide column w has 32 lower bounds at ``wide[2 w]`` and 32 upper ones at
``wide[2 w + 1]``. A row's entries have their binary columns first, up to ``row_split``.

Rows read these arrays and tighten ``next_masks`` and ``next_wide``, so that the order in which
rows run does not matter; columns then carry the next bounds over. Which lanes changed a column is a
word of ``column_changed`` (twice, for even and odd rounds), and which of a row's lanes have to be
looked at one of ``row_changed``; columns and rows with such a word stand in ``column_list`` (twice)
and ``row_list``, long rows from its end. ``control`` holds the lists' lengths, the dead lanes and
counts. What a round reads there is written by the other kernel or the round before, so that a
launch repeated gives the same bounds; only the order within lists differs.

A round is ``batch_columns`` and ``batch_rows`` with its number's parity. Sums follow the order of
entries, in long rows those of 32 parts one after the other, on GPU and CPU alike: both get the same
bits.
"""

from __future__ import annotations

from enum import IntEnum

from solvers.kernels.family import BLOCK, WARP, Family, Kernel, Launch, Values, arguments

LANES = WARP
"""Candidates side by side: the threads of a warp and the bits of a word."""

BATCH_BLOCKS = 1056
"""Blocks of a launch at most: 8 for each multiprocessor of an H100 or H200."""

LONG_COLUMN = 2048
"""The rows of longer columns are shared out over all threads of the launch."""


class Control(IntEnum):
    """Places in ``control``.

    For even and odd rounds: lengths of the lists of rows, long rows and columns, and the word of
    dead lanes. Then entries visited, in pieces of 32 begun, and rounds that had something to do.
    From ``FREE`` on it belongs to whoever drives the batch.
    """

    NUM_ROWS = 0
    NUM_LONG_ROWS = 2
    NUM_COLUMNS = 4
    DEAD = 6
    WORK = 8
    ROUNDS = 9
    FREE = 10
    SIZE = 16


CHANGES = arguments("inout index[] row_changed, row_list, column_changed, column_list")

DOMAINS = arguments("inout index[] masks; inout real[] wide")

FOLLOWING = arguments("inout index[] next_masks; inout real[] next_wide")


def place_launch(values: Values) -> Launch:
    """Give each column a warp."""
    return Launch(-(-int(values["columns"]) * LANES // BLOCK), BLOCK)


def _round_launch(values: Values) -> Launch:
    warps = BLOCK // LANES
    needed = -(-int(values["row_lower"].size) // warps)
    return Launch(max(1, min(BATCH_BLOCKS, needed)), BLOCK)


def _columns_launch(values: Values) -> Launch:
    warps = BLOCK // LANES
    needed = -(-int(values["place_column"].size) // warps)
    return Launch(max(1, min(BATCH_BLOCKS, needed)), BLOCK)


def _pass_bytes(values: Values) -> int:
    """Each entry with its column's domains in all lanes, each row's start, split, sides, word."""
    binary, entries = int(values["binaries"]), int(values["row_place"].size)
    share = binary / max(1, binary + int(values["whole"].size))
    of_entry = 12 + share * 8 + (1.0 - share) * 16 * LANES
    return int(of_entry * entries) + 36 * int(values["row_lower"].size)


_COLUMNS = arguments("int binaries; index[] place_column")

COLUMNS = Kernel(
    name="batch_columns",
    arguments=(
        *arguments("int parity, rows, columns"),
        *_COLUMNS,
        *arguments(
            "index[] column_start, column_row, long_columns; int num_long; index[] row_start"
        ),
        *CHANGES,
        *DOMAINS,
        *FOLLOWING,
        *arguments("inout index[] control"),
    ),
    contract="Listed columns take over their next bounds in the lanes that changed them; lanes in "
    "which bounds contradict each other die; the words of their rows grow by those lanes, and rows "
    "that had none are listed.",
    launch=_columns_launch,
    work=lambda values: int(values["column_row"].size),
    traffic=lambda values: 8 * int(values["column_row"].size),
)

ROWS = Kernel(
    name="batch_rows",
    arguments=(
        *arguments(
            "int parity, rows, columns, binaries; index[] row_start, row_split, row_place; "
            "real[] row_weight, row_largest, row_lower, row_upper; index[] whole"
        ),
        *CHANGES,
        *arguments("index[] masks; real[] wide"),
        *FOLLOWING,
        *arguments("inout index[] control"),
    ),
    contract="Listed rows tighten the next bounds of their columns in the lanes of their word, and "
    "list the columns; lanes in which a row cannot hold any more die. Words of rows, and those of "
    "the columns of this round, are cleared.",
    launch=_round_launch,
    work=lambda values: LANES * int(values["row_place"].size),
    traffic=_pass_bytes,
)

TIGHTEN = Kernel(
    name="batch_tighten",
    arguments=(
        *arguments(
            "int items; index[] item_lane, item_place; real[] item_lower, item_upper; "
            "int columns, binaries"
        ),
        *(argument for argument in CHANGES if not argument.name.startswith("row")),
        *arguments("inout index[] next_masks; inout real[] next_wide; inout index[] control"),
    ),
    contract="Each item narrows one column's next bounds in one lane, and lists the column; to be "
    "followed by a round of parity 0.",
    launch=lambda values: Launch(-(-int(values["items"]) // BLOCK), BLOCK),
    work=lambda values: int(values["items"]),
    traffic=lambda values: 40 * int(values["items"]),
)

LOAD = Kernel(
    name="batch_load",
    arguments=(
        *arguments("int lanes, columns"),
        *_COLUMNS,
        *arguments("real[] lower, upper"),
        *DOMAINS,
        *FOLLOWING,
        *arguments("inout index[] control"),
    ),
    contract="The lanes of the word 'lanes' get the box lower, upper (n,), and live.",
    launch=place_launch,
    work=lambda values: LANES * int(values["columns"]),
    traffic=lambda values: 16 * LANES * int(values["columns"]),
)

WAKE = Kernel(
    name="batch_wake",
    arguments=arguments(
        "int lanes, rows; index[] row_start; inout index[] row_changed, row_list, control"
    ),
    contract="All rows are listed for a round of parity 0, in the lanes of the word 'lanes'.",
    launch=lambda values: Launch(-(-int(values["rows"]) // BLOCK), BLOCK),
    work=lambda values: int(values["rows"]),
    traffic=lambda values: 12 * int(values["rows"]),
)

ASSIGN = Kernel(
    name="batch_assign",
    arguments=(
        *arguments(
            "index[] source; int columns, binaries; index[] whole, from_masks; real[] from_wide"
        ),
        *DOMAINS,
        *FOLLOWING,
        *arguments("inout index[] control"),
    ),
    contract="Lane k takes the box of lane source[k] (32,) of the other arrays, and lives; lanes "
    "with a negative source stay as they are.",
    launch=place_launch,
    work=lambda values: LANES * int(values["columns"]),
    traffic=lambda values: 32 * LANES * int(values["whole"].size),
)

BATCH = Family(
    "solvers.mip.inference.propagation.kernels",
    "batch",
    (COLUMNS, ROWS, TIGHTEN, LOAD, WAKE, ASSIGN),
)
