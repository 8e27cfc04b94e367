"""The arrays that compiled pivots work on, and the places of their counters.

Compiled loops take a few named tuples of arrays instead of objects. What belongs to a variable
has n + m entries, what belongs to a place in the basis m.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from solvers.problem import FloatArray
from solvers.simplex.form import SlackForm
from solvers.simplex.state import SimplexState

IntArray = npt.NDArray[np.int64]
Int32Array = npt.NDArray[np.int32]

ITERATIONS, FLIPS, UPDATES, WORK, ROW, COLUMN, BANNED, STALLED, PHASE, LIMIT, SHIFTED, SIZE = range(
    12
)
"""Places in ``counts``: pivots and bound flips ever; updates since the factorisation; work since
the last look at the clock; where no ratio was found; pivots refused since the factorisation; steps
of length zero in a row; phase of the primal, 1 or 2; updates a factorisation may have; bounds
shifted."""

TOLERANCE, FIGURES = range(2)
"""Places in ``figures``: feasibility tolerance."""

DONE, NO_PIVOT, SLICE, REFACTOR, TROUBLE, GO_ON = range(6)
"""Why a compiled loop came back, or not yet."""

FOR_DUAL, FOR_PRIMAL, FOR_LOOKS = range(3)
"""What values and reduced costs are recomputed for."""

DISAGREEMENT = 1e-7
"""Relative difference of the pivot element from the row and from the column, from which the basis
is factorised anew (HiGHS's)."""

HOPELESS = 1e-4
"""Relative difference that even after a new factorisation rules a pivot out."""

UPDATE_LIMIT = 100
"""Updates between factorisations of a small basis, HiGHS's limit."""

ROWS_PER_UPDATE = 100
"""One more update for each so many rows, HiGHS's rule."""

MOST_UPDATES = 1000
"""Never more updates than this, HiGHS's limit."""


class Matrix(NamedTuple):
    """A by columns and by rows, without the logicals."""

    column_starts: npt.NDArray[np.int64]
    column_indices: npt.NDArray[np.int32]
    column_values: FloatArray
    row_starts: npt.NDArray[np.int64]
    row_indices: npt.NDArray[np.int32]
    row_values: FloatArray


class Iterate(NamedTuple):
    """Where the pivots stand: by variable, then by place in the basis.

    ``value``, ``low`` and ``high`` are the basic variables' values and bounds, ``violation`` the
    squares of their violations beyond the tolerance, ``weight`` those of dual pricing; ``devex``
    those of primal pricing, by variable, for the variables of ``reference``. ``gradient`` is the
    slope of the primal's first phase, -1, 0 or 1 by place. ``order`` is a random permutation, of
    variables or candidates, which settles ties. A basic variable's ``x`` is out of date.
    """

    basic: npt.NDArray[np.int64]
    status: npt.NDArray[np.int8]
    x: FloatArray
    reduced_cost: FloatArray
    cost: FloatArray
    lower: FloatArray
    upper: FloatArray
    devex: FloatArray
    reference: npt.NDArray[np.int8]
    order: npt.NDArray[np.int64]
    value: FloatArray
    low: FloatArray
    high: FloatArray
    violation: FloatArray
    weight: FloatArray
    gradient: FloatArray


class Vectors(NamedTuple):
    """Sparse vectors under way: dense values, zero between uses, with the places that are not.

    ``rho`` row of the inverse, by row; ``alpha`` entering column and ``tau``, ``flip`` its
    companions, by place in the basis; ``row`` the pivot row, by variable. The ``chosen`` arrays
    list candidates of a ratio test: which, size of the pivot, distance to go, loss of slope;
    ``group`` the ends of their groups. ``dual`` is the last y computed, by row.
    """

    rho: FloatArray
    rho_pattern: Int32Array
    alpha: FloatArray
    alpha_pattern: Int32Array
    tau: FloatArray
    tau_pattern: Int32Array
    flip: FloatArray
    flip_pattern: Int32Array
    row: FloatArray
    row_pattern: Int32Array
    chosen: npt.NDArray[np.int64]
    chosen_size: FloatArray
    chosen_cost: FloatArray
    chosen_loss: FloatArray
    dual: FloatArray
    group: npt.NDArray[np.int64]


def matrix_arrays(form: SlackForm) -> Matrix:
    """Return the coefficients of a slack form as compiled loops take them."""
    columns, rows = form.columns, form.rows
    return Matrix(
        writable(columns.starts),
        writable(columns.indices),
        writable(columns.values),
        writable(rows.starts),
        writable(rows.indices),
        writable(rows.values),
    )


Array = TypeVar("Array", bound=npt.NDArray[Any])


def writable(array: Array) -> Array:
    """Return the array or a copy: to compiled loops read-only arrays are another type."""
    return array if array.flags.writeable else array.copy()


def iterate_arrays(state: SimplexState, seed: int) -> Iterate:
    """Return copies of a state's arrays, to be filled where they depend on a factorisation."""
    m, total = state.form.num_rows, state.form.num_variables
    order = np.random.default_rng(seed).permutation(max(total, 2 * m) + 1)
    return Iterate(
        state.basic.copy(),
        state.status.copy(),
        state.x.copy(),
        state.reduced_cost.copy(),
        state.cost.copy(),
        state.lower.copy(),
        state.upper.copy(),
        np.ones(total),
        np.ones(total, dtype=np.int8),
        order,
        np.zeros(m),
        np.zeros(m),
        np.zeros(m),
        np.zeros(m),
        np.maximum(state.edge_weight, 1e-4),
        np.zeros(m),
    )


def vector_arrays(form: SlackForm) -> Vectors:
    """Return zero vectors of the right sizes."""
    m, total = form.num_rows, form.num_variables
    candidates = max(total, 2 * m) + 1  # each basic variable has up to two break points
    return Vectors(
        np.zeros(m),
        np.zeros(m, dtype=np.int32),
        np.zeros(m),
        np.zeros(m, dtype=np.int32),
        np.zeros(m),
        np.zeros(m, dtype=np.int32),
        np.zeros(m),
        np.zeros(m, dtype=np.int32),
        np.zeros(total),
        np.zeros(total, dtype=np.int32),
        np.zeros(candidates, dtype=np.int64),
        np.zeros(candidates),
        np.zeros(candidates),
        np.zeros(candidates),
        np.zeros(m),
        np.zeros(candidates, dtype=np.int64),
    )


def update_limit(num_rows: int) -> int:
    """Return how many updates a factorisation of a basis of this size may have."""
    return min(UPDATE_LIMIT + num_rows // ROWS_PER_UPDATE, MOST_UPDATES)
