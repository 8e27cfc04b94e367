"""The arrays of a solve where its kernels run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from solvers.core.device import Device
from solvers.papers.simplex_variants.kernels.layout import BLOCK, CONTROL_SIZE, SLOTS, parts_for
from solvers.papers.simplex_variants.scaling import ScaledForm

ALIGNMENT = 16
"""Columns of the inverse start at multiples of so many numbers, 128 bytes."""

LONG_COLUMN = 2048
"""Rows from which a whole block streams over a column of the inverse, instead of a warp."""

LANES = (1, 2, 4, 8, 16, 32)
"""Threads that may share a column of A in pricing."""


@dataclass(eq=False)
class Workspace:
    """Everything that pivots read and change; names are those of ``kernels/iterate.py``.

    ``inverse`` (m * stride,) holds column k of B^-1 in its row k. Sizes: ``y``, ``x``, ``d``,
    ``basic_cost``, ``pivot_row``, ``rhs`` are (m,), ``weight`` and ``reduced`` (n,).
    """

    device: Device
    size: int
    stride: int
    columns: int
    lanes: int
    team: int
    column_parts: int
    row_parts: int
    starts: Any
    rows: Any
    values: Any
    cost: Any
    rhs: Any
    inverse: Any
    basic: Any
    position: Any
    x: Any
    y: Any
    d: Any
    basic_cost: Any
    pivot_row: Any
    weight: Any
    reduced: Any
    offers: Any
    nearest: Any
    chosen: Any
    control: Any


def workspace(form: ScaledForm, device: Device) -> Workspace:
    """Allocate the arrays of a solve; the inverse is not filled."""
    m, n = form.num_rows, form.num_columns
    stride = -(-m // ALIGNMENT) * ALIGNMENT
    lanes = _lanes(form.matrix.nnz, n)
    column_parts, row_parts = parts_for(n, lanes), parts_for(m)

    def reals(count: int) -> Any:
        return device.to_device(np.zeros(count))

    return Workspace(
        device=device,
        size=m,
        stride=stride,
        columns=n,
        lanes=lanes,
        team=BLOCK if m >= LONG_COLUMN else 32,
        column_parts=column_parts,
        row_parts=row_parts,
        starts=device.to_device(form.matrix.indptr.astype(np.int32)),
        rows=device.to_device(form.matrix.indices.astype(np.int32)),
        values=device.to_device(form.matrix.data),
        cost=device.to_device(form.cost),
        rhs=device.to_device(form.rhs),
        inverse=reals(m * stride),
        basic=device.to_device(np.zeros(m, dtype=np.int32)),
        position=device.to_device(np.zeros(n + m, dtype=np.int32)),
        x=reals(m),
        y=reals(m),
        d=reals(m),
        basic_cost=reals(m),
        pivot_row=reals(m),
        weight=device.to_device(np.ones(n)),
        reduced=reals(n),
        offers=reals(SLOTS * column_parts),
        nearest=reals(SLOTS * row_parts),
        chosen=reals(SLOTS * row_parts),
        control=reals(CONTROL_SIZE),
    )


def _lanes(entries: int, columns: int) -> int:
    """Return the power of two next to the mean number of entries in a column, up to a warp."""
    mean = entries / max(1, columns)
    return next((lanes for lanes in LANES if lanes >= mean), LANES[-1])
