"""Changes of the nucleus: rows and columns that lose entries, gain some, or need more room."""

from __future__ import annotations

from solvers.simplex.factor.inner import inner
from solvers.simplex.factor.nucleus import COLUMNS_USED, ROWS_USED, SLACK, Nucleus

SINGULAR = 1e-11
"""A pivot this small beside what its row and its column were is zero but for rounding errors."""


@inner
def reserve_column(nucleus: Nucleus, position: int, more: int) -> bool:
    """Make room for so many more entries of a column; false if the file has none."""
    count, begin = nucleus.column_count[position], nucleus.column_begin[position]
    if begin + count + more <= nucleus.column_room[position]:
        return True
    used = nucleus.state[COLUMNS_USED]
    end = used + 2 * (count + more) + SLACK
    if end > nucleus.column_rows.size:
        return False
    for place in range(count):
        nucleus.column_rows[used + place] = nucleus.column_rows[begin + place]
        nucleus.column_values[used + place] = nucleus.column_values[begin + place]
    nucleus.column_begin[position] = used
    nucleus.column_room[position] = end
    nucleus.state[COLUMNS_USED] = end
    return True


@inner
def reserve_row(nucleus: Nucleus, row: int, more: int) -> bool:
    """Make room for so many more entries of a row; false if the file has none."""
    count, begin = nucleus.row_count[row], nucleus.row_begin[row]
    if begin + count + more <= nucleus.row_room[row]:
        return True
    used = nucleus.state[ROWS_USED]
    end = used + 2 * (count + more) + SLACK
    if end > nucleus.row_positions.size:
        return False
    for place in range(count):
        nucleus.row_positions[used + place] = nucleus.row_positions[begin + place]
    nucleus.row_begin[row] = used
    nucleus.row_room[row] = end
    nucleus.state[ROWS_USED] = end
    return True


@inner
def remove_from_row(nucleus: Nucleus, row: int, position: int) -> None:
    """Take one position out of a row's list; its chain stays as it is."""
    entry = nucleus.row_begin[row]
    while nucleus.row_positions[entry] != position:
        entry += 1
    last = nucleus.row_begin[row] + nucleus.row_count[row] - 1
    nucleus.row_positions[entry] = nucleus.row_positions[last]
    nucleus.row_count[row] -= 1


@inner
def take_from_column(nucleus: Nucleus, position: int, row: int) -> float:
    """Take the entry of one row out of a column; return its value."""
    entry = nucleus.column_begin[position]
    while nucleus.column_rows[entry] != row:
        entry += 1
    last = nucleus.column_begin[position] + nucleus.column_count[position] - 1
    value = nucleus.column_values[entry]
    nucleus.column_rows[entry] = nucleus.column_rows[last]
    nucleus.column_values[entry] = nucleus.column_values[last]
    nucleus.column_count[position] -= 1
    return float(value)


@inner
def entry_at(nucleus: Nucleus, position: int, row: int) -> float:
    """Return the entry of a column in one row, where it has one."""
    entry = nucleus.column_begin[position]
    while nucleus.column_rows[entry] != row:
        entry += 1
    return float(nucleus.column_values[entry])


@inner
def is_tiny(nucleus: Nucleus, row: int, position: int, value: float) -> bool:
    """Tell whether a pivot would be no more than a rounding error."""
    size = min(nucleus.row_size[row], nucleus.column_size[position])
    return bool(abs(value) <= SINGULAR * size)
