"""The kernels of ``refresh.py`` in NumPy."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from solvers.core.linear_algebra import SparseRows
from solvers.simplex.dense_gpu.control import DUAL_TOLERANCE
from solvers.simplex.state import BASIC, LOWER, UPPER


def gather_basis(a: SimpleNamespace) -> None:
    """Write basic columns as dense ones."""
    for c, j in enumerate(a.variables[: a.count].tolist()):
        own = slice(a.starts[j], a.starts[j + 1])
        place, values = a.place_of_row[a.indices[own]], a.values[own]
        inside = place >= 0
        a.nucleus[place[inside], c] = values[inside]
        a.rest[-1 - place[~inside], c] = values[~inside]


def spread_inverse(a: SimpleNamespace) -> None:
    """Put the parts of the inverse together."""
    a.inverse[:] = 0.0
    if a.count:
        inside = a.place_of_position >= 0
        a.inverse[inside, : a.count] = a.inner[a.place_of_position[inside]]
        a.inverse[~inside, : a.count] = a.outer[-1 - a.place_of_position[~inside]]


def open_slots(a: SimpleNamespace) -> None:
    """Store unit columns."""
    slots = a.slots[: a.count]
    a.inverse[:, slots] = 0.0
    a.inverse[a.positions[: a.count], slots] = -1.0


def gather_eta_rows(a: SimpleNamespace) -> None:
    """Pick the elements of pivot rows that stored columns need."""
    a.by_slot[:] = 0.0
    a.by_slot[: a.count, : a.slots] = a.eta_rows[: a.count, a.row_of_slot[: a.slots]]


def close_slots(a: SimpleNamespace) -> None:
    """Move stored columns to where room has become."""
    targets, sources = a.targets[: a.count], a.sources[: a.count]
    moved = targets >= 0
    a.inverse[:, targets[moved]] = a.inverse[:, sources[moved]]
    a.inverse[:, sources] = 0.0


def row_residual(a: SimpleNamespace) -> None:
    """Compute r = A x - s."""
    matrix = SparseRows(a.values, a.indices, a.starts, (a.rows, a.structurals))
    a.residual[:] = matrix.times(a.x[: a.structurals]) - a.x[a.structurals :]


def apply_inverse(a: SimpleNamespace) -> None:
    """Compute v = B^-1 r."""
    unit = np.flatnonzero(a.unit_row >= 0)
    a.result[:] = a.inverse[:, : a.slots] @ a.right[a.row_of_slot[: a.slots]]
    a.result[unit] -= a.right[a.unit_row[unit]]


def correct_basics(a: SimpleNamespace) -> None:
    """Take a change off the basic values."""
    a.x[a.basic] -= a.change
    a.x_basic[:], a.lower_basic[:], a.upper_basic[:] = (
        one[a.basic] for one in (a.x, a.lower, a.upper)
    )


def spread_basics(a: SimpleNamespace) -> None:
    """Copy basic values to where all variables are."""
    a.x[a.basic] = a.x_basic


def gather_basics(a: SimpleNamespace) -> None:
    """Copy the elements of basic variables."""
    a.by_position[:] = a.vector[a.basic]


def place_dual(a: SimpleNamespace) -> None:
    """Add B^-T v to a dual vector."""
    stored = a.slot_of_row >= 0
    a.dual[stored] += a.product[a.slot_of_row[stored]]
    a.dual[~stored] -= a.by_position[a.unit_position[~stored]]


def reduced_costs(a: SimpleNamespace) -> None:
    """Compute d = c - [A -I]'y."""
    columns = SparseRows(a.values, a.indices, a.starts, (a.structurals, a.rows))
    a.reduced_cost[:] = a.cost
    a.reduced_cost[: a.structurals] -= columns.times(a.dual)
    a.reduced_cost[a.structurals :] += a.dual


def settle_duals(a: SimpleNamespace) -> None:
    """Make reduced costs have the signs that statuses ask for, by flips or shifts of costs."""
    a.reduced_cost[a.status == BASIC] = 0.0
    if a.repair == 0:
        return
    d, tolerance = a.reduced_cost, a.scalars[DUAL_TOLERANCE]
    open_ones = (a.status != BASIC) & (a.lower < a.upper)
    too_low = open_ones & (d < -tolerance) & (a.status != UPPER)
    too_high = open_ones & (d > tolerance) & (a.status != LOWER)
    up = too_low & (a.status == LOWER) & (a.upper < np.inf)
    down = too_high & (a.status == UPPER) & (a.lower > -np.inf)
    shifted = (too_low | too_high) & ~up & ~down
    a.status[up], a.x[up] = UPPER, a.upper[up]
    a.status[down], a.x[down] = LOWER, a.lower[down]
    a.cost[shifted] -= d[shifted]
    d[shifted] = 0.0


def largest(a: SimpleNamespace) -> None:
    """Find the largest magnitude of a vector."""
    found = np.max(np.abs(a.vector[: a.count]), initial=0.0)
    a.scalars[a.place] = np.inf if np.isnan(found) else found
