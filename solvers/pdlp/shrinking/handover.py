"""Taking a running iteration from one state to another: into a part of the problem, and back.

What a solve has learnt goes with it: the point, the primal weight,
the counts that restarts depend on. The part gets a scaling and a step size of its
own, which is half of what leaving columns out is good for: step sizes of rows no longer have to
respect columns that do not move. The weight is a ratio of distances in scaled units, of the duals
over the point, and is converted as that ratio changes with the scaling.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from solvers.core.lp_answer import Answer, Norms, judge
from solvers.core.options import EngineOptions
from solvers.core.outcome import Start
from solvers.core.problem import FloatArray
from solvers.core.progress import Progress
from solvers.core.vectors import euclidean
from solvers.pdlp.control import Control, Stop
from solvers.pdlp.distributed.group import DeviceGroup
from solvers.pdlp.shrinking.idle import Part
from solvers.pdlp.start import prepare
from solvers.pdlp.state import State, overwrite
from solvers.pdlp.termination import Record

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
    start = Start(x[part.columns], y[part.rows])
    device = whole.problem.device
    if isinstance(device, DeviceGroup) and part.problem.num_nonzeros < SHARED_FROM:
        device = device.members[0]
    state = prepare(part.problem, options, device, progress, start, whole.settings)
    # exactly there, even columns that are left without coefficients
    order = state.problem.coefficients.column_order
    for vector in (state.x.point, state.x.anchor, state.x.projection, state.x.best):
        overwrite(vector, x[part.columns], order)
    return state


def take_over(state: State, record: Record, weight_factor: float) -> None:
    """Let a state go on as the one that left ``record`` behind, after a change of scaling."""
    control = state.read_control()
    for place in CARRIED:
        control[place] = record[place]
    set_weight(control, record, weight_factor)
    control[Control.ITERATIONS_SINCE_RESTART] = 0.0
    control[Control.STOP] = Stop.NO
    overwrite(state.control, control)


def set_weight(control: FloatArray, record: Record, factor: float) -> None:
    """Carry the primal weights of a record over, and set step sizes accordingly."""
    for place in (Control.WEIGHT, Control.BEST_WEIGHT):
        control[place] = record[place] * factor
    control[Control.TAU] = control[Control.STEP] / control[Control.WEIGHT]
    control[Control.SIGMA] = control[Control.STEP] * control[Control.WEIGHT]


def weight_factor(part: Part, inside: State, whole: State, dx: FloatArray, dy: FloatArray) -> float:
    """Return by what the weight of the whole is to be multiplied to fit the part.

    dx (n,) and dy (m,) are how the point and the duals of the whole moved of late.
    """
    ratios = []
    for change, kept, new, old in (
        (dy, part.rows, _row_scale(inside), _row_scale(whole)[part.rows]),
        (dx, part.columns, _column_scale(inside), _column_scale(whole)[part.columns]),
    ):
        before, after = euclidean(change[kept] / old), euclidean(change[kept] / new)
        ratios.append(after / before if before > 0.0 else 1.0)
    factor = ratios[0] / ratios[1] if ratios[1] > 0.0 else 1.0
    return float(np.clip(factor, 1.0 / WEIGHT_RANGE, WEIGHT_RANGE))


def write_back(part: Part, inside: State, whole: State) -> None:
    """Write where a part stands into the state of the whole, but for what steers it."""
    for name in ("point", "anchor", "projection"):
        _bring(part, inside, whole, name, part.point)
    for name in ("difference", "first_difference"):
        _bring(part, inside, whole, name, part.direction)


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
        overwrite(whole.x.best, best.x, there.coefficients.column_order)
        overwrite(whole.y.best, best.row_dual, there.coefficients.row_order)
    if inside.read_control()[Control.BEST_OBJECTIVE] >= control[Control.BEST_OBJECTIVE]:
        return
    feasible = _judged(whole, part.point(here.columns_to_host(inside.feasible_x)), y)
    if feasible.statistics.relative_primal <= control[Control.PRIMAL_TOLERANCE]:
        control[Control.BEST_OBJECTIVE] = feasible.statistics.primal_objective
        overwrite(whole.feasible_x, feasible.x, there.coefficients.column_order)


def _judged(state: State, x: FloatArray, y: FloatArray) -> Answer:
    """Return a point (n,) and duals (m,) on the host as an answer."""
    there = state.problem
    norms = Norms(there.side_norm, there.cost_norm)
    return judge(there.original, x, y, norms, state.threads)


def _bring(part: Part, inside: State, whole: State, name: str, columns: Any) -> None:
    here, there = inside.problem, whole.problem
    x = columns(here.columns_to_host(getattr(inside.x, name)))
    y = part.duals(here.rows_to_host(getattr(inside.y, name)))
    overwrite(getattr(whole.x, name), x, there.coefficients.column_order)
    overwrite(getattr(whole.y, name), y, there.coefficients.row_order)


def _row_scale(state: State) -> FloatArray:
    return state.problem.rows_to_host(state.problem.scaling.row)


def _column_scale(state: State) -> FloatArray:
    return state.problem.columns_to_host(state.problem.scaling.column)
