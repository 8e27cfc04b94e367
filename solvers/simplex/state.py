"""Where a simplex solve stands: basis, point, reduced costs, how infeasible they are, and statuses.

The first basis is that of slacks, comes from statuses that a caller hands in, or is guessed from a
point.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from solvers.core.linear_algebra import SparseRows
from solvers.core.outcome import Basis, BasisStatus, Start
from solvers.core.problem import BoolArray, FloatArray, Problem

# Slack form: one logical variable for each row, and bounds on everything.
#
#     minimise    cost'x
#     subject to  [A  -I] x = 0,   lower <= x <= upper
#
# Variables 0..n-1 are the columns of the problem ("structurals"), n..n+m-1 the activities of its
# rows ("logicals"), so that ranges, equations and free rows are bounds like any others, and the
# slack basis -I needs no factorisation.


SCALING_PASSES = 4
"""Passes of geometric scaling; more change the powers of two of few rows."""

NO_SCALING_WITHIN = (0.2, 5.0)
"""Smallest and largest coefficient between which a matrix is left as it is."""


@dataclass(frozen=True, eq=False)
class SlackForm:
    """A linear program in slack form, scaled by powers of two.

    With R and C the scales, the matrix here is R A C, a structural here is x / C, a logical R s.
    """

    num_rows: int
    num_structurals: int
    """m and n."""
    columns: SparseRows
    rows: SparseRows
    """A by columns and by rows, without the logicals; indices ascend."""
    cost: FloatArray
    lower: FloatArray
    upper: FloatArray
    """(n + m,) each: of structurals, then logicals, whose costs are zero."""
    column_scale: FloatArray
    row_scale: FloatArray
    """(n,) and (m,): C and R, powers of two."""

    @property
    def num_variables(self) -> int:
        """Structurals and logicals, n + m."""
        return self.num_structurals + self.num_rows

    @property
    def scale(self) -> FloatArray:
        """(n + m,) factors that turn values here into values of the problem."""
        return np.concatenate([self.column_scale, 1.0 / self.row_scale])

    @property
    def is_scaled(self) -> bool:
        """Whether any scale differs from one."""
        return bool((self.column_scale != 1.0).any() or (self.row_scale != 1.0).any())


def slack_form(problem: Problem, *, scaled: bool = True) -> SlackForm:
    """Write a linear program in slack form; integrality is ignored.

    Parameters
    ----------
    scaled : bool
        Scale rows and columns geometrically, rounded to powers of two, which makes no rounding
        errors; a matrix whose coefficients are all near one is left as it is.
    """
    matrix = problem.matrix
    m, n = matrix.shape
    row_scale, column_scale = np.ones(m), np.ones(n)
    if scaled and matrix.nnz:
        row_scale, column_scale = geometric_scales(matrix)
    by_rows = sp.csr_array(
        (
            matrix.data
            * np.repeat(row_scale, np.diff(matrix.indptr))
            * column_scale[matrix.indices],
            matrix.indices,
            matrix.indptr,
        ),
        shape=(m, n),
    )
    by_columns = by_rows.tocsc()
    by_columns.sort_indices()
    return SlackForm(
        m,
        n,
        SparseRows.of(by_columns),
        SparseRows.of(by_rows),
        np.concatenate([problem.cost * column_scale, np.zeros(m)]),
        np.concatenate([problem.lower / column_scale, problem.row_lower * row_scale]),
        np.concatenate([problem.upper / column_scale, problem.row_upper * row_scale]),
        column_scale,
        row_scale,
    )


def geometric_scales(matrix: sp.csr_array) -> tuple[FloatArray, FloatArray]:
    """Return (m,) row and (n,) column scales that bring coefficients near one, powers of two."""
    m, n = matrix.shape
    size = np.abs(matrix.data)
    row_scale, column_scale = np.ones(m), np.ones(n)
    if size.min() >= NO_SCALING_WITHIN[0] and size.max() <= NO_SCALING_WITHIN[1]:
        return row_scale, column_scale
    row = np.repeat(np.arange(m), np.diff(matrix.indptr))
    column = matrix.indices
    for _ in range(SCALING_PASSES):
        row_scale = _inverse_middle(size * column_scale[column], row, m)
        column_scale = _inverse_middle(size * row_scale[row], column, n)
    return _power_of_two(row_scale), _power_of_two(column_scale)


def _inverse_middle(size: FloatArray, owner: npt.NDArray[np.integer], count: int) -> FloatArray:
    """Return 1 / sqrt(smallest * largest) of each owner's coefficients; one where it has none."""
    smallest, largest = np.full(count, np.inf), np.zeros(count)
    np.minimum.at(smallest, owner, size)
    np.maximum.at(largest, owner, size)
    filled = largest > 0.0
    scale = np.ones(count)
    scale[filled] = 1.0 / np.sqrt(smallest[filled] * largest[filled])
    return scale


def _power_of_two(scale: FloatArray) -> FloatArray:
    return np.asarray(np.exp2(np.round(np.log2(scale))))


PIVOT_TOLERANCE = 1e-7
"""Feasibility tolerance of simplex codes, primal and dual, absolute in the scaled problem."""

NEAR_BOUND = 1e-7
"""Values this near a bound, relative to max(1, |bound|), are taken to be on it."""


class PivotStatus(Enum):
    """Why a core stopped making pivots."""

    DONE = "no variable violates its bounds (dual) or prices out (primal)"
    NO_PIVOT = "no ratio is bounded: dual unbounded (primal infeasible), or primal unbounded"
    LIMIT = "the pivots it was given are used up"
    TROUBLE = "pivots stayed inaccurate after a fresh factorisation"
    STOPPED = "the time is up or somebody asked to stop"


class SolveStatus(Enum):
    """What the phases found out about a problem."""

    OPTIMAL = "no violation is left"
    INFEASIBLE = "a ray proves that no point satisfies the constraints"
    UNBOUNDED = "a ray proves that the objective has no end"
    STOPPED = "time or iterations are used up, or somebody asked to stop"
    TROUBLE = "pivots stayed inaccurate"


LOWER, BASIC, UPPER, ZERO = (
    int(BasisStatus.LOWER),
    int(BasisStatus.BASIC),
    int(BasisStatus.UPPER),
    int(BasisStatus.ZERO),
)
"""Statuses of a variable; a nonbasic free variable is ZERO, a fixed one LOWER."""


@dataclass(eq=False)
class SimplexState:
    """What pivots change. All arrays are of slack form, in its scale."""

    form: SlackForm
    """The problem; its cost and bounds stay what they are."""
    basic: npt.NDArray[np.int64]
    """(m,) int64: the variable at each position of the basis."""
    status: npt.NDArray[np.int8]
    """(n + m,) int8: ``LOWER``, ``BASIC``, ``UPPER`` or ``ZERO`` of each variable."""
    x: FloatArray
    reduced_cost: FloatArray
    """(n + m,) each: the point with [A -I] x = 0, and d = cost - [A -I]'y, zero for basic
    variables."""
    cost: FloatArray
    lower: FloatArray
    upper: FloatArray
    """(n + m,) each: working cost and bounds: perturbed, shifted or replaced by those of a first
    phase."""
    edge_weight: FloatArray
    """(m,): weights of dual pricing by position: squared norms of rows of the inverse (steepest
    edge), or Devex's approximations to them."""
    iterations: int = 0
    """Pivots and bound flips so far."""
    tolerance: float = PIVOT_TOLERANCE
    """Violation of a bound, or wrong sign of a reduced cost, that pivots may leave."""


def slack_start(form: SlackForm) -> SimplexState:
    """Return the state of the slack basis, with nonbasic structurals at their nearer bound."""
    n, m = form.num_structurals, form.num_rows
    status = nonbasic_status(form.lower, form.upper, form.cost)
    status[n:] = BASIC
    return SimplexState(
        form,
        np.arange(n, n + m, dtype=np.int64),
        status,
        nonbasic_values(status, form.lower, form.upper),
        form.cost.copy(),
        form.cost.copy(),
        form.lower.copy(),
        form.upper.copy(),
        np.ones(m),
    )


def nonbasic_status(
    lower: FloatArray, upper: FloatArray, reduced_cost: FloatArray
) -> npt.NDArray[np.int8]:
    """Return the status each variable has outside the basis: where its reduced cost sends it.

    A variable with two bounds goes to the upper one if its reduced cost is negative, so that it is
    dual feasible; one with a single bound to that; a free one to zero.
    """
    has_lower, has_upper = np.isfinite(lower), np.isfinite(upper)
    status = np.full(lower.size, ZERO, dtype=np.int8)
    status[has_lower] = LOWER
    status[has_upper & (~has_lower | ((reduced_cost < 0.0) & (lower < upper)))] = UPPER
    return status


def nonbasic_values(
    status: npt.NDArray[np.int8], lower: FloatArray, upper: FloatArray
) -> FloatArray:
    """Return (n + m,) values of variables at the bound that their status names; zero if basic."""
    x = np.zeros(status.size)
    x[status == LOWER] = lower[status == LOWER]
    x[status == UPPER] = upper[status == UPPER]
    return x


@dataclass(frozen=True)
class Infeasibility:
    """Largest violations of a state, absolute, in its own scale.

    ``dual`` is that of all nonbasic variables, ``stuck`` that of those without a second bound to
    flip to.
    """

    primal: float
    dual: float
    stuck: float


def infeasibility(state: SimplexState) -> Infeasibility:
    """Measure a state against its working cost and bounds."""
    wrong = wrong_sign(state)
    boxed = np.isfinite(state.lower) & np.isfinite(state.upper)
    return Infeasibility(
        float(np.max(bound_violation(state), initial=0.0)),
        float(np.max(wrong, initial=0.0)),
        float(np.max(wrong[~boxed], initial=0.0)),
    )


def bound_violation(state: SimplexState) -> FloatArray:
    """Return by how much each variable (n + m,) leaves its bounds."""
    beyond = np.maximum(state.lower - state.x, state.x - state.upper)
    return np.asarray(np.maximum(beyond, 0.0))


def wrong_sign(state: SimplexState) -> FloatArray:
    """Return how wrong the sign of each reduced cost (n + m,) is where the variable rests."""
    d, status = state.reduced_cost, state.status
    wrong = np.abs(d)
    wrong[status == LOWER] = np.maximum(-d[status == LOWER], 0.0)
    wrong[status == UPPER] = np.maximum(d[status == UPPER], 0.0)
    wrong[(status == BASIC) | (state.lower == state.upper)] = 0.0
    return np.asarray(wrong)


def flip_boxed(state: SimplexState, tolerance: float) -> int:
    """Send boxed variables whose reduced cost is wrong to their other bound; return how many."""
    boxed: BoolArray = np.isfinite(state.lower) & np.isfinite(state.upper)
    wrong = np.flatnonzero(boxed & (wrong_sign(state) > tolerance))
    state.status[wrong] = np.where(state.status[wrong] == LOWER, UPPER, LOWER)
    return int(wrong.size)


def start_state(form: SlackForm, start: Start | None = None) -> SimplexState:
    """Return the state to begin with; a start that does not fit the form is left out."""
    n, m = form.num_structurals, form.num_rows
    if start is None:
        return slack_start(form)
    basis = start.basis
    if basis is not None and basis.column_status.shape == (n,) and basis.row_status.shape == (m,):
        return state_of(form, basis_status(form, basis))
    if start.x is not None and start.x.shape == (n,) and np.isfinite(start.x).all():
        return state_of(form, guessed_status(form, start.x))
    return slack_start(form)


def basis_status(form: SlackForm, basis: Basis) -> npt.NDArray[np.int8]:
    """Return (n + m,) statuses of a basis, made to fit the bounds."""
    status = np.concatenate([basis.column_status, basis.row_status]).astype(np.int8)
    return fitted_status(form.lower, form.upper, form.cost, status)


def fitted_status(
    lower: FloatArray, upper: FloatArray, cost: FloatArray, status: npt.NDArray[np.int8]
) -> npt.NDArray[np.int8]:
    """Return statuses whose bounds are there; what does not fit goes where its cost sends it."""
    status = status.copy()
    has_lower, has_upper = np.isfinite(lower), np.isfinite(upper)
    fits = (status == BASIC) | ((status == LOWER) & has_lower)
    fits |= (status == UPPER) & has_upper & (lower < upper)
    fits |= (status == ZERO) & ~has_lower & ~has_upper
    status[~fits] = nonbasic_status(lower, upper, cost)[~fits]
    return status


def guessed_status(form: SlackForm, x: FloatArray) -> npt.NDArray[np.int8]:
    """Return (n + m,) statuses of a point: basic where it lies strictly between bounds."""
    n, m = form.num_structurals, form.num_rows
    here = x / form.column_scale
    value = np.concatenate([here, form.rows.times(here)])
    near_lower = NEAR_BOUND * np.maximum(1.0, np.abs(finite_or_zero(form.lower)))
    near_upper = NEAR_BOUND * np.maximum(1.0, np.abs(finite_or_zero(form.upper)))
    below = value <= form.lower + near_lower
    above = value >= form.upper - near_upper
    status = np.full(n + m, BASIC, dtype=np.int8)
    status[below & np.isfinite(form.lower)] = LOWER
    status[above & np.isfinite(form.upper) & (form.lower < form.upper)] = UPPER
    return status


def finite_or_zero(bound: FloatArray) -> FloatArray:
    """Return bounds with zero in place of those that are not there."""
    return np.asarray(np.where(np.isfinite(bound), bound, 0.0))


def state_of(form: SlackForm, status: npt.NDArray[np.int8]) -> SimplexState:
    """Return the state with these statuses, with as many basic variables as there are rows.

    Surplus logicals leave the basis first; logicals fill what is missing. Columns that depend on
    others are for the factorisation to replace.
    """
    n, m = form.num_structurals, form.num_rows
    resting = nonbasic_status(form.lower, form.upper, form.cost)
    surplus = int(np.count_nonzero(status == BASIC)) - m
    if surplus > 0:
        by_preference = np.flatnonzero(status == BASIC)[::-1]
        out = by_preference[:surplus]
        status[out] = resting[out]
    elif surplus < 0:
        idle = n + np.flatnonzero(status[n:] != BASIC)
        status[idle[:-surplus]] = BASIC
    state = slack_start(form)
    state.status[:] = status
    state.basic[:] = np.flatnonzero(status == BASIC)
    state.x[:] = nonbasic_values(status, form.lower, form.upper)
    return state
