"""Adding a multiple of one sparse row to another, and the matrix with such rows."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import scipy.sparse as sp

from solvers.core.problem import FloatArray
from solvers.mip.model import IndexArray, MipModel
from solvers.native.mip_inference_aggregation import add

Row = tuple[IndexArray, FloatArray]
"""Column numbers, rising, and coefficients."""


def added(row: Row, factor: float, other: Row) -> Row:
    """Return ``row + factor * other``, without entries that cancel."""
    size = row[0].size + other[0].size
    columns, values = np.empty(size, dtype=np.int32), np.empty(size)
    count = add(*row, *other, float(factor), columns, values)
    return columns[:count].copy(), values[:count].copy()


def changed_matrix(model: MipModel, changed: Mapping[int, Row]) -> sp.csr_array:
    """Return the matrix (m, n) of a model with other rows in place of some."""
    same = np.ones(model.num_rows, dtype=bool)
    same[list(changed)] = False
    row = model.rows.row
    stays = same[row]
    rows, columns, values = [row[stays]], [model.rows.indices[stays]], [model.rows.data[stays]]
    for i, (row_columns, row_values) in changed.items():
        rows.append(np.full(row_columns.size, i))
        columns.append(row_columns)
        values.append(row_values)
    triplets = np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))
    return sp.csr_array(triplets, shape=(model.num_rows, model.num_columns))
