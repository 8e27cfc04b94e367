"""What goes into a batch, and what comes out of it.

The data are one sparsity pattern, and one or as many rows of each array as LPs.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from enum import IntEnum

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from solvers.core.problem import FloatArray
from solvers.simplex.batch.kernels import simplex

NOT_REACHED = -1
"""Ending of an LP for whose turn time ran out, or that an interruption came before."""


StatusArray = npt.NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class BatchData:
    """LPs ``min c'x, row_lower <= A x <= row_upper, lower <= x <= upper``.

    Every array but ``pattern`` has as many rows as there are LPs, or one row for all of them;
    all are contiguous. Infinite sides and bounds are infinities, and none are crossed.
    """

    count: int
    """LPs."""
    pattern: sp.csr_array
    """(m, n) CSR: where coefficients may stand, with 32-bit indices; its values are not read."""
    values: FloatArray
    """(count or 1, nnz): coefficients in the order of ``pattern``; zeros are fine."""
    cost: FloatArray
    lower: FloatArray
    upper: FloatArray
    """(count or 1, n) each."""
    row_lower: FloatArray
    row_upper: FloatArray
    """(count or 1, m) each."""
    basis: StatusArray | None = None
    """(count or 1, n + m): statuses to start from, numbered as in
    ``solvers.core.outcome.BasisStatus``, of columns and then of rows; a basis that is singular, or
    not of m variables, is repaired by slacks. None is the slack basis."""
    offset: FloatArray = field(default_factory=lambda: np.zeros((1, 1)), kw_only=True)
    """(count or 1, 1): constants of the objectives; zero."""


IntArray = npt.NDArray[np.int32]


class Ending(IntEnum):
    """How an LP ended, as the kernel says it."""

    LIMIT = simplex.LIMIT
    OPTIMAL = simplex.OPTIMAL
    INFEASIBLE = simplex.INFEASIBLE
    UNBOUNDED = simplex.UNBOUNDED
    TROUBLE = simplex.TROUBLE
    NOT_REACHED = NOT_REACHED


@dataclass(frozen=True, eq=False)
class BatchAnswer:
    """Claims of the engine in the minimised sense; nothing is verified."""

    x: FloatArray
    row_dual: FloatArray
    """(count, n) and (count, m): basic points, moved into their bounds, and row duals, zero
    where an LP was not reached; duals of an ``INFEASIBLE`` LP are the Farkas multipliers of its
    rows."""
    ending: IntArray
    iterations: IntArray
    """(count,) each: :class:`Ending` of each, and the pivots and bound flips made."""
    basis: StatusArray
    """(count, n + m): statuses of columns and then of rows, as in
    ``solvers.core.outcome.BasisStatus``; of the last basis of an LP, whatever its ending."""
    device: str
    """Where it ran."""
    figures: FloatArray | None = None
    """(count, 8): what a GPU that was asked to found out about points and duals, by the names of
    ``kernels.check.FIGURES``; NaN where there is no claim of an optimum. The duals of those it
    looked at are clipped to allowed signs."""
    rays: dict[int, FloatArray] = field(default_factory=dict)
    """By the number of an ``UNBOUNDED`` LP the (n,) direction of its improvement, from
    the point in ``x``, which is feasible."""

    def leave_out(self, first: int) -> None:
        """Say that the LPs from ``first`` on had no turn."""
        for array in (self.x, self.row_dual, self.iterations):
            array[first:] = 0
        self.ending[first:] = NOT_REACHED
        if self.figures is not None:
            self.figures[first:] = np.nan


# The constants of the batched simplex method, each with its meaning.


@dataclass(frozen=True)
class Parameters:
    """What the kernel reads, in this order, from its array of parameters."""

    tolerance: float = 1e-9
    """Primal and dual feasibility, the latter as a part of the geometric mean of the costs; two
    digits below HiGHS's 1e-7, which double precision bears where a basis has few hundred rows."""
    smallest_pivot: float = 1e-9
    """Entries up to this are not pivoted on."""
    wanted_pivot: float = 1e-6
    """Entries below this are pivoted on only in a dictionary that was just built."""
    accuracy: float = 1e-9
    """Part of the terms of a row by which the point may miss it before the dictionary is built
    anew."""
    stalled: float = 20.0
    """Steps of no length in a row after which a method perturbs."""
    check_every: float = 100.0
    """Pivots between two looks at the accuracy: a look costs about one pivot."""
    perturbation: float = 5e-7
    """Size of perturbations, as in HiGHS (Huangfu and Hall 2018, section 3.4): a part of the
    mean cost, or of a variable's value."""
    rounds: float = 30.0
    """Turns of the two methods after which an LP is left to another engine."""

    def as_array(self) -> FloatArray:
        """Return the parameters as the kernel takes them."""
        return np.array([getattr(self, item.name) for item in fields(self)], dtype=np.float64)


@dataclass(frozen=True)
class Settings:
    """What steers a batched solve beside the caller's options."""

    parameters: Parameters = Parameters()
    pivots_per_row_and_column: int = 20
    """Pivots and bound flips after which an LP is left to another engine, for each row and column
    it has; random dense LPs need about half of one."""
    fewest_pivots: int = 500
    """The same for an LP of next to no rows and columns."""
    seconds_unwatched: float = 0.25
    """About how long a launch may take where there is a time limit to keep."""

    def most_pivots(self, rows: int, columns: int) -> int:
        """Return the pivots and bound flips an LP of this size may take."""
        return self.fewest_pivots + self.pivots_per_row_and_column * (rows + columns)


DEFAULT = Settings()
