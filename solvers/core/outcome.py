"""What an engine hands back: why it stopped, what it holds, and the numbers for both.

The two questions have two enumerations, whose values are the sentences a user reads. Everything
in an :class:`Outcome` that an engine fills is in the minimised sense of its
:class:`~solvers.core.problem.Problem`; row duals and reduced costs obey ``c - A'y = z`` with y and
z non-negative at lower sides and non-positive at upper sides.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, IntEnum

import numpy as np
import numpy.typing as npt

from solvers.core.problem import FloatArray


class StopReason(Enum):
    """Why a solve came to its end."""

    CONVERGED = "the question is settled within the tolerances asked for"
    TIME_LIMIT = "the time limit was reached"
    ITERATION_LIMIT = "the iteration limit was reached"
    INTERRUPTED = "the solve was interrupted"
    EXHAUSTED = "there was nothing left to try"
    NUMERICAL_TROUBLE = "numerical trouble kept the answer from the tolerances asked for"
    OUT_OF_MEMORY = "the device ran out of memory"

    def __str__(self) -> str:
        return self.value


class Proof(Enum):
    """What an engine's claim rests on where no certificate comes with it."""

    NONE = "nothing: a claim needs a certificate that can be checked"
    SEARCH = "an exhaustive search in double precision"
    EXACT = "arithmetic without rounding errors"


class SolutionStatus(Enum):
    """What is known about the answer."""

    OPTIMAL = "optimal: proven within the tolerances asked for"
    FEASIBLE = "feasible: a verified point, not proven optimal"
    APPROXIMATE = "approximate: a point near an optimum, not within the tolerance asked for"
    INFEASIBLE = "infeasible: proven that no point satisfies the constraints"
    UNBOUNDED = "unbounded: the objective can be improved without limit"
    NOTHING = "nothing: no verified point and no proof"

    def __str__(self) -> str:
        return self.value

    @property
    def has_point(self) -> bool:
        """Whether a verified feasible point comes with this status."""
        return self in (SolutionStatus.OPTIMAL, SolutionStatus.FEASIBLE)

    @property
    def has_values(self) -> bool:
        """Whether there is a point to look at: a verified one, or one that is approximate."""
        return self.has_point or self is SolutionStatus.APPROXIMATE


class BasisStatus(IntEnum):
    """Where a column or row stands in a simplex basis; the numbers are those of HiGHS."""

    LOWER = 0
    BASIC = 1
    UPPER = 2
    ZERO = 3
    NONBASIC = 4


@dataclass(frozen=True, eq=False)
class Basis:
    """A simplex basis: one :class:`BasisStatus` per column (n,) and per row (m,), as int8."""

    column_status: npt.NDArray[np.int8]
    row_status: npt.NDArray[np.int8]

    @property
    def shapes(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The shapes of both."""
        return np.shape(self.column_status), np.shape(self.row_status)


@dataclass(frozen=True)
class Residuals:
    """Errors of a point, recomputed on the original problem; NaN where nothing can be said.

    Absolute figures are largest violations; relative ones are divided by the size of the side or
    coefficient they are measured against, and are what the tolerances apply to.
    """

    primal: float = np.nan
    primal_relative: float = np.nan
    integrality: float = np.nan
    dual: float = np.nan
    dual_relative: float = np.nan
    gap: float = np.nan
    gap_relative: float = np.nan

    @property
    def largest_relative(self) -> float:
        """The largest of the three relative errors of a linear program; inf if one is unknown."""
        errors = (self.primal_relative, self.dual_relative, self.gap_relative)
        return max(errors) if np.isfinite(errors).all() else np.inf


@dataclass(frozen=True)
class Event:
    """One line of a solve's history; ``incumbent`` and ``bound`` are NaN while unknown."""

    seconds: float
    incumbent: float
    bound: float
    source: str


def relative_gap(objective: float, bound: float) -> float:
    """Return |objective - bound| / max(|objective|, 1e-9); inf while either is unknown."""
    if not (np.isfinite(objective) and np.isfinite(bound)):
        return np.inf
    return abs(objective - bound) / max(abs(objective), 1e-9)


@dataclass(frozen=True, eq=False)
class PoolSolution:
    """One of several distinct points: its (n,) values, objective, time and origin."""

    x: FloatArray
    objective: float
    seconds: float
    source: str


@dataclass(frozen=True, eq=False)
class Start:
    """A point to start from: any part may be absent, and NaN in ``x`` means "unknown"."""

    x: FloatArray | None = None
    row_dual: FloatArray | None = None
    basis: Basis | None = None


@dataclass(frozen=True, eq=False)
class Outcome:
    """The answer of an engine, in the minimised sense of its problem.

    Parameters
    ----------
    solution_status, stop_reason
        What the engine believes it holds, and why it stopped.
    objective : float
        c'x + offset at ``x``; NaN without a point.
    bound : float
        Proven lower bound on the optimum; -inf while there is none.
    x, reduced_cost : (n,) arrays, optional
        The point, and z = c - A'y. It is verified where the status says ``has_point``, and misses
        the tolerance where it is APPROXIMATE.
    row_activity, row_dual : (m,) arrays, optional
        A x, and the row multipliers y = d(objective)/d(side).
    basis : Basis, optional
        Simplex basis belonging to ``x``.
    primal_ray : (n,) array, optional
        Recession direction that improves the objective, when unbounded.
    dual_ray : (m,) array, optional
        Farkas multipliers of the rows, when infeasible: every x within its bounds has
        y'Ax below what the rows' sides demand.
    candidate : (n,) array, optional
        Least-violated point known when the status has no values; of a linear program with a
        FEASIBLE point, an approximate one of smaller residuals, if there is one.
    proof : Proof
        What bound, or infeasibility, rests on where no certificate comes with it.
    residuals : Residuals
        Errors of the point.
    tolerance : float
        What the relative errors of the point were held against; NaN before that.
    engine, device : str
        Who answered, and where it ran.
    seconds : float
        Wall-clock time from the caller's call to here.
    message : str
        A sentence for the user where the two enumerations do not say it all.
    statistics : mapping
        Engine counts by name, such as ``iterations`` or ``nodes``.
    """

    solution_status: SolutionStatus
    stop_reason: StopReason
    objective: float = np.nan
    bound: float = -np.inf
    x: FloatArray | None = None
    row_activity: FloatArray | None = None
    row_dual: FloatArray | None = None
    reduced_cost: FloatArray | None = None
    basis: Basis | None = None
    primal_ray: FloatArray | None = None
    dual_ray: FloatArray | None = None
    candidate: FloatArray | None = None
    proof: Proof = Proof.NONE
    residuals: Residuals = Residuals()
    tolerance: float = np.nan
    engine: str = ""
    device: str = "cpu"
    seconds: float = 0.0
    message: str = ""
    statistics: Mapping[str, float | int | str] = field(default_factory=dict)
    history: tuple[Event, ...] = ()
    pool: tuple[PoolSolution, ...] = ()

    @property
    def is_exact(self) -> bool:
        """Whether bound, or infeasibility, was proven without rounding errors."""
        return self.proof is Proof.EXACT

    @property
    def gap(self) -> float:
        """Relative gap |objective - bound| / max(|objective|, 1e-9); inf while unknown.

        The objective of an approximate point has none: it may lie on either side of the optimum.
        """
        if self.solution_status is SolutionStatus.APPROXIMATE:
            return np.inf
        return relative_gap(self.objective, self.bound)

    @property
    def answer(self) -> str:
        """What is held, in words; of an approximate point with its errors."""
        if self.solution_status is not SolutionStatus.APPROXIMATE:
            return str(self.solution_status)
        found = self.residuals.largest_relative
        return f"approximate: residuals {found:.1e}, asked for {self.tolerance:.1e}"
