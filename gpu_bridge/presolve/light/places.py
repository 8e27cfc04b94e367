"""Where a value stands that the way back had to choose: what the basis needs to know of it."""

from __future__ import annotations

# A column that was slack of its row
COLUMN_AT_BOUND = 0
ROW_AT_LOWER = 1
ROW_AT_UPPER = 2

# Two columns that were one
SECOND_AT_LEAST = 3
SECOND_AT_MOST = 4
FIRST_AT_LOWER = 5
FIRST_AT_UPPER = 6
