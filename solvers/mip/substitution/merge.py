"""Adding a multiple of one sparse row to another, and the matrix with such rows."""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import scipy.sparse as sp

from solvers.mip.model import IndexArray, MipModel
from solvers.mip.search.loops import compiled
from solvers.problem import FloatArray

CANCELLED = 1e-12
"""A sum this small beside its terms is zero, and left out."""

Row = tuple[IndexArray, FloatArray]
"""Column numbers, rising, and coefficients."""


@compiled
def _merge(columns, values, other_columns, other_values, factor, to_columns, to_values):
    count, left, right = 0, 0, 0
    while left < columns.size or right < other_columns.size:
        if right == other_columns.size or (
            left < columns.size and columns[left] < other_columns[right]
        ):
            to_columns[count] = columns[left]
            to_values[count] = values[left]
            left += 1
        elif left == columns.size or other_columns[right] < columns[left]:
            to_columns[count] = other_columns[right]
            to_values[count] = factor * other_values[right]
            right += 1
        else:
            term = factor * other_values[right]
            total = values[left] + term
            to_columns[count] = columns[left]
            to_values[count] = total
            left += 1
            right += 1
            if abs(total) <= CANCELLED * abs(term):
                continue
        count += 1
    return count


def added(row: Row, factor: float, other: Row) -> Row:
    """Return ``row + factor * other``, without entries that cancel."""
    size = row[0].size + other[0].size
    columns, values = np.empty(size, dtype=np.int32), np.empty(size)
    count = _merge(*row, *other, float(factor), columns, values)
    return columns[:count].copy(), values[:count].copy()


def changed_matrix(model: MipModel, changed: Mapping[int, Row]) -> sp.csr_array:
    """Return the matrix (m, n) of a model with other rows in place of some."""
    same = np.ones(model.num_rows, dtype=bool)
    same[list(changed)] = False
    lengths = np.diff(model.row_start)
    stays = np.repeat(same, lengths)
    rows = [np.repeat(np.arange(model.num_rows), lengths)[stays]]
    columns, values = [model.row_column[stays]], [model.row_value[stays]]
    for i, (row_columns, row_values) in changed.items():
        rows.append(np.full(row_columns.size, i))
        columns.append(row_columns)
        values.append(row_values)
    triplets = np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))
    return sp.csr_array(triplets, shape=(model.num_rows, model.num_columns))
