"""Scores of moves from a feasible point: of single columns, and of pairs of columns.

With room up ``above_i = max(0, U_i - (Ax)_i + s)`` and down ``below_i = max(0, (Ax)_i - L_i + s)``
in each row, a move that changes the activity of row i by t keeps the row if ``-below_i <= t <=
above_i``. The slop s is 0 for continuous columns and ``SLOP`` for integer ones, whose steps would
otherwise fall one short by rounding. Column j moves in the direction d_j in which the objective
falls, by a step that is whole for integer columns.

*One-opt* (``score_shifts``): the largest step that keeps all rows and the bound. Where it is 0,
rows stand in the way; the shortest of them is handed on.

*Two-opt* (``score_pairs``): another column k of that row makes way, by as little as a unit step of
j needs, and j then takes the largest step that keeps all rows of both. Any pair that improves the
objective has a member that does, and if its move is blocked the other has to be in the blocking
row: so no pair of unit steps is missed but for the limit on partners, be it an exchange in a
partitioning row or a column and what it implies.

Sums and products are rounded one by one on both sides, so that device and twin agree bit for bit.
"""

from __future__ import annotations

from solvers.kernels.family import BLOCK, WARP, Family, Kernel, Launch, Values, arguments

_ROW_SIDES = arguments("real[] row_lower, row_upper, activity")

_COLUMNS = arguments("real[] cost, lower, upper, x; packed[] is_integer")

_BY_COLUMN = arguments("index[] column_start, column_row; real[] column_value")


def _a_warp_each(values: Values) -> Launch:
    return Launch(-(-int(values["count"]) * WARP // BLOCK), BLOCK)


def _entries_per_column(values: Values) -> int:
    return int(values["column_row"].size) // max(1, int(values["cost"].size)) + 1


SCORE_SHIFTS = Kernel(
    name="score_shifts",
    arguments=(
        *arguments("int count; index[] columns, row_start"),
        *_BY_COLUMN,
        *_ROW_SIDES,
        *_COLUMNS,
        *arguments("out real[] step; out index[] blocking"),
    ),
    contract="For the first 'count' of 'columns', all with a cost: step (count,) >= 0 in the "
    "direction in which the objective falls, inf where nothing ends it; blocking (count,) is the "
    "shortest row that allows no step, the first of several, or -1. Exact.",
    launch=_a_warp_each,
    work=lambda values: int(values["count"]) * _entries_per_column(values),
)

SCORE_PAIRS = Kernel(
    name="score_pairs",
    arguments=(
        *arguments(
            "int count; index[] columns, blocking; int offset, limit; "
            "index[] row_start, row_column; real[] row_value"
        ),
        *_BY_COLUMN,
        *_ROW_SIDES,
        *_COLUMNS,
        *arguments("out index[] partner; out real[] step, partner_step, gain"),
    ),
    contract="For the first 'count' of 'columns' and the row of each that blocks it: of at most "
    "'limit' columns of that row, from entry 'offset' on and round, the partner that gains most, "
    "the first of several; signed steps of both, and by how much the objective falls. partner is "
    "-1 and gain 0 where there is none. Rows rise within columns. Exact.",
    launch=_a_warp_each,
    work=lambda values: int(values["count"]) * int(values["limit"]) * _entries_per_column(values),
)

MOVES = Family(
    "solvers.mip.heuristics.one_opt.kernels",
    "moves",
    (SCORE_SHIFTS, SCORE_PAIRS),
    foreseen=({"is_integer": "int32"},),
)
