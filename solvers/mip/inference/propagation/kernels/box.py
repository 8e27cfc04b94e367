"""One synchronous round of bound propagation for one box: rows tighten, then columns take over.

Bounds are interleaved, column j's lower bound at ``2 j`` and its upper one at ``2 j + 1``. Rows
read ``bounds`` and tighten ``next``, so that the order in which they run does not matter; columns
then carry ``next`` over to ``bounds`` and flag their rows for the next round. Flags of rows are
kept twice, for even and odd rounds: those of this round are cleared while those of the next are
set. ``control`` holds integers that the host reads (:data:`STOP` and so on); nothing happens once
``control[STOP]`` is set.

A row is the work of a group of threads that the plan of the rows names
(``solvers.mip.inference.propagation.on_device``), a heavy one that of several blocks, each with a
part.

Device and twin agree exactly where all sums are exact, as in integer models; else up to the order
of summation within a row.
"""

from __future__ import annotations

from solvers.kernels.family import Argument, Family, Kernel, Launch, Values

BLOCK = 256

STOP, ROUND, LIMIT, CHANGED, INFEASIBLE = 0, 1, 2, 3, 4
CONTROL_SIZE = 8
"""What ``control`` holds: whether to stop, rounds done and allowed, whether this round changed a
bound, whether the box is empty."""

_ROWS = (
    Argument("row_column", "index[]"),
    Argument("row_value", "real[]"),
    Argument("row_lower", "real[]"),
    Argument("row_upper", "real[]"),
    Argument("is_integer", "index[]"),
)

_BOXES = (
    Argument("rows", "int"),
    Argument("bounds", "real[]"),
    Argument("next", "real[]", "inout"),
    Argument("row_changed", "index[]"),
    Argument("column_changed", "index[]", "out"),
    Argument("control", "index[]", "inout"),
)


def _rows_launch(values: Values) -> Launch:
    return Launch(int(values["blocks"]), BLOCK)


def _parts_launch(values: Values) -> Launch:
    return Launch(int(values["parts"].shape[0]), BLOCK)


def _columns_launch(values: Values) -> Launch:
    larger = max(int(values["columns"]), int(values["rows"]))
    return Launch(-(-larger // BLOCK), BLOCK)


def _entries(values: Values) -> int:
    return int(values["row_column"].size)


def _round_bytes(values: Values) -> int:
    """Each entry once with the bounds of its column, and sides and flags of each row."""
    return 28 * _entries(values) + 28 * int(values["row_lower"].size)


ROWS = Kernel(
    name="box_rows",
    arguments=(
        Argument("row_start", "index[]"),
        *_ROWS,
        Argument("order", "index[]"),
        Argument("bins", "index[]"),
        Argument("num_bins", "int"),
        Argument("blocks", "int"),
        *_BOXES,
    ),
    contract="Every flagged row but heavy ones tightens its columns' bounds in 'next' and flags "
    "the columns, or says that the box is empty. next <= bounds inside before and after.",
    launch=_rows_launch,
    work=_entries,
    bytes_moved=_round_bytes,
)

HEAVY_SUMS = Kernel(
    name="box_heavy_sums",
    arguments=(
        *_ROWS,
        Argument("parts", "index[]"),
        Argument("rows", "int"),
        Argument("bounds", "real[]"),
        Argument("row_changed", "index[]"),
        Argument("control", "index[]"),
        Argument("partial", "real[]", "out"),
        Argument("partial_infinite", "index[]", "out"),
    ),
    contract="partial (p, 2) and partial_infinite (p, 2) hold the smallest and largest activity "
    "of each part of a flagged heavy row.",
    launch=_parts_launch,
    work=_entries,
    bytes_moved=_round_bytes,
)

HEAVY_TIGHTEN = Kernel(
    name="box_heavy_tighten",
    arguments=(
        *_ROWS,
        Argument("parts", "index[]"),
        Argument("heavy", "index[]"),
        Argument("partial", "real[]"),
        Argument("partial_infinite", "index[]"),
        *_BOXES,
    ),
    contract="What box_rows does, for flagged heavy rows, from the sums of their parts.",
    launch=_parts_launch,
    work=_entries,
    bytes_moved=_round_bytes,
)

COLUMNS = Kernel(
    name="box_columns",
    arguments=(
        Argument("rows", "int"),
        Argument("columns", "int"),
        Argument("column_start", "index[]"),
        Argument("column_row", "index[]"),
        Argument("bounds", "real[]", "inout"),
        Argument("next", "real[]", "inout"),
        Argument("row_changed", "index[]", "inout"),
        Argument("column_changed", "index[]", "inout"),
        Argument("control", "index[]", "inout"),
    ),
    contract="Flagged columns take their bounds from 'next', lose their flag, and flag their rows "
    "for the next round; this round's flags of rows are cleared.",
    launch=_columns_launch,
    work=lambda values: int(values["column_row"].size),
    bytes_moved=lambda values: 4 * (int(values["rows"]) + int(values["columns"])),
)

CONTROL = Kernel(
    name="box_control",
    arguments=(Argument("control", "index[]", "inout"),),
    contract="Counts the round, and says to stop if it changed nothing, was the last one allowed, "
    "or showed that the box is empty.",
    launch=lambda values: Launch(1, 32),
    work=lambda values: 1,
    bytes_moved=lambda values: 4 * CONTROL_SIZE,
)

BOX = Family(
    "solvers.mip.inference.propagation.kernels",
    "box",
    (ROWS, HEAVY_SUMS, HEAVY_TIGHTEN, COLUMNS, CONTROL),
)
