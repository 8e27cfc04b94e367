"""The scaled standard form: what the pivots see, on the host and where they run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from solvers.core.device import Device
from solvers.core.problem import FloatArray
from solvers.papers.simplex_variants.kernels.scale import SCALE
from solvers.papers.simplex_variants.standard_form import StandardForm

PASSES = 4
"""Alternations of row and column scales; more change the powers of two of few rows."""


@dataclass(frozen=True, eq=False)
class ScaledForm:
    """The standard form with R A C for A, all scales powers of two, and cost of size one.

    Parameters
    ----------
    origin : StandardForm
    matrix : (m, n) csc_array
        R A C, indices int32.
    cost, rhs : (n,) and (m,) arrays
        Scaled: C c / ``cost_scale`` and R b.
    row_scale, column_scale : (m,) and (n,) arrays
        R and C.
    cost_scale : float
    """

    origin: StandardForm
    matrix: sp.csc_array
    cost: FloatArray
    rhs: FloatArray
    row_scale: FloatArray
    column_scale: FloatArray
    cost_scale: float

    @property
    def num_rows(self) -> int:
        """Equations, m."""
        return self.origin.num_rows

    @property
    def num_columns(self) -> int:
        """Columns without artificials, n."""
        return self.origin.num_columns


def scaled_form(origin: StandardForm, device: Device) -> ScaledForm:
    """Equilibrate a standard form on a device."""
    by_columns = origin.matrix
    by_rows = by_columns.tocsr()
    columns, rows = _on_device(by_columns, device), _on_device(by_rows, device)
    m, n = by_columns.shape
    row_scale = device.to_device(np.ones(m))
    column_scale = device.to_device(np.ones(n))
    for _ in range(PASSES if by_columns.nnz else 0):
        SCALE["geometric"](m, *rows, column_scale, row_scale)
        SCALE["geometric"](n, *columns, row_scale, column_scale)
    host_rows = _power_of_two(device.to_host(row_scale))
    host_columns = _power_of_two(device.to_host(column_scale))
    scaled = device.to_device(np.empty(by_columns.nnz))
    if by_columns.nnz:
        own, other = device.to_device(host_columns), device.to_device(host_rows)
        SCALE["apply_scales"](n, *columns, own, other, scaled)
    cost = origin.cost * host_columns
    largest = np.max(np.abs(cost), initial=0.0)
    cost_scale = float(_power_of_two(np.array([largest]))[0]) if largest > 0.0 else 1.0
    matrix = sp.csc_array(
        (device.to_host(scaled), by_columns.indices, by_columns.indptr), shape=(m, n)
    )
    return ScaledForm(
        origin,
        matrix,
        cost / cost_scale,
        origin.rhs * host_rows,
        host_rows,
        host_columns,
        cost_scale,
    )


def _on_device(matrix: sp.csc_array | sp.csr_array, device: Device) -> tuple[Any, Any, Any]:
    """Return starts, indices and values on the device."""
    return (
        device.to_device(matrix.indptr.astype(np.int32)),
        device.to_device(matrix.indices.astype(np.int32)),
        device.to_device(matrix.data.astype(np.float64)),
    )


def _power_of_two(scale: FloatArray) -> FloatArray:
    return np.asarray(np.exp2(np.round(np.log2(scale))))
