"""A part of a problem: which columns and rows take no part any more, and the iteration's way there.

A column is *idle* when it is at a bound and its reduced cost holds it there so firmly that what
the duals still move will not change that; a row is when it is slack, has no dual, and what the
columns still move will not reach its sides. How much things still move is taken from how much
they moved since an earlier look: with dy the change of the duals, the reduced cost of column j
can have changed by |A_j|'|dy| at most, whatever the signs, and ``margin`` times that is what its
magnitude has to exceed (correspondingly for rows, with |A_i| |dx| and the distance to the sides).
A free column is never idle, an equation never, and a fixed column always.

What a solve has learnt goes with it into a part and back: the point, the primal weight, the counts
that restarts depend on. The part gets a scaling and a step size of its own, which is half of what
leaving columns out is good for: step sizes of rows no longer have to respect columns that do not
move. The weight is a ratio of distances in scaled units, of the duals over the point, and is
converted as that ratio changes with the scaling.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from solvers.core.linear_algebra import SparseRows
from solvers.core.lp_answer import Answer, Norms, judge
from solvers.core.machine import STEPS_PER_LOOK, threads_for
from solvers.core.options import EngineOptions
from solvers.core.outcome import Start
from solvers.core.problem import BoolArray, FloatArray, Problem
from solvers.core.progress import Progress
from solvers.core.vectors import euclidean, inner
from solvers.pdlp.compact import is_the_hosts
from solvers.pdlp.control import Control, Stop
from solvers.pdlp.distributed.group import DeviceGroup
from solvers.pdlp.start import prepare
from solvers.pdlp.state import State
from solvers.pdlp.termination import Record


@dataclass(frozen=True, eq=False)
class Kept:
    """What of a problem is kept: columns (n,) and rows (m,), True where they stay."""

    columns: BoolArray
    rows: BoolArray

    def entries_at_most(self, problem: Problem, threads: int = 1) -> int:
        """Return a bound on the matrix entries kept: those of kept columns, or of kept rows.

        Counting those in both would take longer than everything else that is done here.
        """
        of_columns = _entries(problem.by_column(threads), self.columns, threads)
        return min(of_columns, _entries(problem.entries, self.rows, threads))

    def with_those(self, other: Kept) -> Kept:
        """Return what either keeps."""
        return Kept(self.columns | other.columns, self.rows | other.rows)


def _entries(rows: SparseRows, marked: BoolArray, threads: int) -> int:
    from solvers.native.pdlp_shrinking_part import count_entries

    threads = threads_for(STEPS_PER_LOOK * marked.size, threads)
    sums = np.zeros(threads, dtype=np.int64)
    count_entries(rows.indptr, marked, sums, threads)
    return int(sums.sum())


@dataclass(frozen=True, eq=False)
class Movement:
    """How far reduced costs (n,) and row activities (m,) may have moved between two looks."""

    reduced_cost: FloatArray
    row_activity: FloatArray

    @classmethod
    def between(
        cls, problem: Problem, x: FloatArray, y: FloatArray, now: Answer, threads: int = 1
    ) -> Movement:
        """Measure it from an earlier point x (n,), y (m,) to an answer."""
        rows, columns = problem.entries, problem.by_column(threads)
        return cls(
            columns.magnitudes_times(_distances(now.row_dual, y, threads), threads),
            rows.magnitudes_times(_distances(now.x, x, threads), threads),
        )


def _distances(one: FloatArray, other: FloatArray, threads: int) -> FloatArray:
    from solvers.native.pdlp_shrinking_part import distances

    size = np.empty(one.size)
    distances(one, other, size, threads_for(size.size, threads))
    return size


def not_idle(
    problem: Problem, now: Answer, moved: Movement | None, margin: float, threads: int = 1
) -> Kept:
    """Return everything that is not idle by ``margin`` times the movement, None for no movement."""
    from solvers.native.pdlp_shrinking_part import mark_columns, mark_rows

    columns, rows = np.empty(now.x.size, dtype=bool), np.empty(now.row_dual.size, dtype=bool)
    none = np.zeros(0)
    prices, activities = (none, none) if moved is None else (moved.reduced_cost, moved.row_activity)
    bounds, sides = (problem.lower, problem.upper), (problem.row_lower, problem.row_upper)
    for mark, limits, values, dual, reach, kept in (
        (mark_columns, bounds, now.x, now.reduced_cost, prices, columns),
        (mark_rows, sides, now.row_activity, now.row_dual, activities, rows),
    ):
        there = threads_for(STEPS_PER_LOOK * kept.size, threads)
        mark(*limits, values, dual, reach, margin, kept, there)
    return Kept(columns, rows)


def wrongly_left_out(problem: Problem, now: Answer, kept: Kept, threads: int = 1) -> Kept:
    """Return columns left out whose reduced cost calls them in, and rows that are violated."""
    from solvers.native.pdlp_shrinking_part import mark_called_in

    columns = np.empty(now.x.size, dtype=bool)
    threads = threads_for(STEPS_PER_LOOK * columns.size, threads)
    bounds = (problem.lower, problem.upper)
    mark_called_in(*bounds, now.x, now.reduced_cost, kept.columns, columns, threads)
    violated = (now.row_activity < problem.row_lower) | (now.row_activity > problem.row_upper)
    return Kept(columns, ~kept.rows & violated)


@dataclass(frozen=True, eq=False)
class Part:
    """A problem without some columns and rows, and the way back."""

    problem: Problem
    """The kept columns and rows; what the columns left out contribute at their bounds stands in its
    row sides and its offset."""
    kept: Kept
    """What is kept of the whole."""
    columns: npt.NDArray[np.intp]
    rows: npt.NDArray[np.intp]
    """The numbers of the kept ones in the whole."""
    x: FloatArray
    """(n,) float64: a point of the whole; its values are those of the columns left out."""

    def point(self, x: FloatArray) -> FloatArray:
        """Return a point of the whole (n,) from one of the part."""
        whole = self.x.copy()
        whole[self.columns] = x
        return whole

    def direction(self, x: FloatArray) -> FloatArray:
        """Return a direction of the whole (n,), zero where columns are left out."""
        whole = np.zeros(self.x.size)
        whole[self.columns] = x
        return whole

    def duals(self, y: FloatArray) -> FloatArray:
        """Return row duals of the whole (m,), zero where rows are left out."""
        whole = np.zeros(self.kept.rows.size)
        whole[self.rows] = y
        return whole


def leave_out(problem: Problem, kept: Kept, x: FloatArray, threads: int = 1) -> Part:
    """Make the part of a problem that is kept, with all other columns where x (n,) has them."""
    columns, rows = np.flatnonzero(kept.columns), np.flatnonzero(kept.rows)
    outside = np.where(kept.columns, 0.0, x)
    threads = threads_for(STEPS_PER_LOOK * problem.num_nonzeros, threads)
    by_column = problem.columns.part(columns, rows, threads)
    contribution = problem.entries.times(outside, threads)[rows]
    smaller = Problem.from_canonical(
        cost=problem.cost[columns],
        matrix=problem.entries.part(rows, columns, threads),
        row_lower=problem.row_lower[rows] - contribution,
        row_upper=problem.row_upper[rows] - contribution,
        lower=problem.lower[columns],
        upper=problem.upper[columns],
        integrality=np.zeros(columns.size, dtype=bool),
        offset=problem.offset + inner(problem.cost, outside),
        columns=by_column,
    )
    return Part(smaller, kept, columns, rows, x)


CARRIED = (
    Control.ITERATIONS,
    Control.RESTARTS,
    Control.CHECKS,
    Control.BEST_IMBALANCE,
    Control.PRIMAL_TOLERANCE,
    Control.DUAL_TOLERANCE,
    Control.GAP_TOLERANCE,
    Control.SIDE_NORM,
    Control.COST_NORM,
)
"""Figures that are as true of the part as of the whole."""

SHARED_FROM = 20_000_000
"""Nonzeros from which several GPUs go on with a part. With fewer, messages take longer than what
they spare: on two H200s 0.34 ms for an iteration of a two-stage program instead of 0.31 on one."""

WEIGHT_RANGE = 1e3
"""Factor by which a conversion may change the primal weight: what would change it more has
measured nothing but noise."""


def enter(
    part: Part,
    whole: State,
    x: FloatArray,
    y: FloatArray,
    options: EngineOptions,
    progress: Progress,
) -> State:
    """Prepare a part to begin at the point x (n,) and duals y (m,) of the whole."""
    point = x[part.columns]
    start = Start(point, y[part.rows])
    device = whole.problem.device
    if isinstance(device, DeviceGroup) and part.problem.num_nonzeros < SHARED_FROM:
        device = device.members[0]
    state = prepare(part.problem, options, device, progress, start, whole.settings)
    # exactly there, even columns that are left without coefficients
    for vector in (state.x.point, state.x.anchor, state.x.projection, state.x.best):
        state.problem.overwrite_columns(vector, point)
    return state


def take_over(state: State, record: Record, weight_factor: float) -> None:
    """Let a state go on as the one that left ``record`` behind, after a change of scaling."""
    control = state.read_control()
    for place in CARRIED:
        control[place] = record[place]
    set_weight(control, record, weight_factor)
    control[Control.ITERATIONS_SINCE_RESTART] = 0.0
    control[Control.STOP] = Stop.NO
    state.problem.device.overwrite(state.control, control)


def set_weight(control: FloatArray, record: Record, factor: float) -> None:
    """Carry the primal weights of a record over, and set step sizes accordingly."""
    for place in (Control.WEIGHT, Control.BEST_WEIGHT):
        control[place] = record[place] * factor
    control[Control.TAU] = control[Control.STEP] / control[Control.WEIGHT]
    control[Control.SIGMA] = control[Control.STEP] * control[Control.WEIGHT]


def weight_factor(part: Part, inside: State, whole: State, now: Start, before: Start) -> float:
    """Return by what the weight of the whole is to be multiplied to fit the part.

    ``now`` and ``before`` are where the whole is, and was a while ago.
    """
    ratios = []
    own, all_of_it = inside.problem, whole.problem
    for here, then, kept, new, old in (
        (now.row_dual, before.row_dual, part.rows, own.row_scale(), all_of_it.row_scale()),
        (now.x, before.x, part.columns, own.column_scale(), all_of_it.column_scale()),
    ):
        assert here is not None  # a look has both
        assert then is not None
        change = here[kept] - then[kept]
        apart, after = euclidean(change / old[kept]), euclidean(change / new)
        ratios.append(after / apart if apart > 0.0 else 1.0)
    factor = ratios[0] / ratios[1] if ratios[1] > 0.0 else 1.0
    return float(np.clip(factor, 1.0 / WEIGHT_RANGE, WEIGHT_RANGE))


ANSWER = ("projection",)
"""What of a part tells where it stands,"""

DIRECTIONS = ("projection", "difference", "anchor")
"""where it is going,"""

STANDING = (*DIRECTIONS, "point", "first_difference")
"""and all that the iteration goes on from."""


def write_back(part: Part, inside: State, whole: State, names: tuple[str, ...]) -> None:
    """Write where a part stands into the state of the whole, but for what steers it.

    On a CPU the vectors that were there need not be any more.
    """
    here, there = inside.problem, whole.problem
    for name in names:
        x = here.columns_to_host(getattr(inside.x, name))
        y = part.duals(here.rows_to_host(getattr(inside.y, name)))
        is_direction = name.endswith("difference")
        x = part.direction(x) if is_direction else part.point(x)
        if is_the_hosts(whole):
            setattr(whole.x, name, x)
            setattr(whole.y, name, y)
        else:
            there.overwrite_columns(getattr(whole.x, name), x)
            there.overwrite_rows(getattr(whole.y, name), y)


def keep_best(part: Part, inside: State, whole: State, control: FloatArray) -> None:
    """Let a part's best points be the whole's where they are better, as ``control`` tells.

    ``control`` is the whole's control array on the host, and is brought up to date.
    """
    here, there = inside.problem, whole.problem
    x = part.point(here.columns_to_host(inside.x.best))
    y = part.duals(here.rows_to_host(inside.y.best))
    best = _judged(whole, x, y)
    if best.statistics.worst < control[Control.BEST_ERROR]:
        control[Control.BEST_ERROR] = best.statistics.worst
        there.overwrite_columns(whole.x.best, best.x)
        there.overwrite_rows(whole.y.best, best.row_dual)
    del best  # vectors of the whole, as many as the next takes
    if inside.read_control()[Control.BEST_OBJECTIVE] >= control[Control.BEST_OBJECTIVE]:
        return
    feasible = _judged(whole, part.point(here.columns_to_host(inside.feasible_x)), y)
    if feasible.statistics.relative_primal <= control[Control.PRIMAL_TOLERANCE]:
        control[Control.BEST_OBJECTIVE] = feasible.statistics.primal_objective
        there.overwrite_columns(whole.feasible_x, feasible.x)


def _judged(state: State, x: FloatArray, y: FloatArray) -> Answer:
    """Return a point (n,) and duals (m,) on the host, which it takes over, as an answer."""
    there = state.problem
    norms = Norms(there.side_norm, there.cost_norm)
    return judge(there.original, x, y, norms, state.threads, owned=True, brief=True)
