"""Parts of the model as small mixed-integer programs of their own, solved by HiGHS.

A heuristic says which box to search, and what to minimise in it (:class:`SubMip`). Fixed columns
and the rows that hold only such are dropped; what is left is solved on one thread, in a child
process where it is large, and every better point is handed on as it comes.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from solvers.core.errors import EngineError
from solvers.core.linear_algebra import SparseRows
from solvers.core.options import EngineOptions
from solvers.core.outcome import SolutionStatus, StopReason
from solvers.core.problem import FloatArray
from solvers.core.progress import Progress
from solvers.highs.child import run_task
from solvers.highs.model import mip_settings
from solvers.highs.task import Model, Reply, Setting, Task
from solvers.mip.budget import Budget
from solvers.mip.model import FEASIBILITY_TOLERANCE, ROUNDING, SAME, IndexArray, MipModel, Submit


@dataclass(frozen=True, eq=False)
class SubMip:
    """A part of a model of m rows and n columns."""

    lower: FloatArray
    upper: FloatArray
    """(n,) float64 each: bounds within the model's; columns where they are equal are fixed."""
    cost: FloatArray | None = None
    """(n,) float64: another objective than the model's, without constant; only where there is no
    cutoff."""
    cutoff: float = np.inf
    """Points whose objective, offset included, is above this are of no use."""


@dataclass(frozen=True, eq=False)
class Restricted:
    """A sub-MIP without its fixed columns."""

    model: Model
    """The f free columns."""
    columns: IndexArray
    """(f,) int32: their numbers in the full model."""
    base: FloatArray
    """(n,) float64: a point with the fixed columns at their values."""

    def full(self, x: FloatArray) -> FloatArray:
        """Return the model's point (n,) for a point of the sub-MIP."""
        point = self.base.copy()
        point[self.columns] = x
        return point


def restrict(model: MipModel, sub: SubMip) -> Restricted | None:
    """Leave out what is fixed; None where bounds cross or a row without free columns fails.

    Linear in the entries of the model.
    """
    if np.any(sub.lower > sub.upper):
        return None
    free = sub.upper > sub.lower
    base = np.where(free, 0.0, sub.lower)
    kept = free[model.rows.indices] & (np.abs(model.rows.data) > ROUNDING)
    lengths = model.rows.count(kept)
    decided = model.activity(base)
    low, high = model.row_lower - decided, model.row_upper - decided
    fails = (low > FEASIBILITY_TOLERANCE) | (high < -FEASIBILITY_TOLERANCE)
    if (fails & (lengths == 0)).any():
        return None
    keep = (lengths > 0) & (np.isfinite(low) | np.isfinite(high))
    entries = np.flatnonzero(kept & np.repeat(keep, model.rows.lengths))
    new_number = (np.cumsum(free) - 1).astype(np.int32)
    columns = np.flatnonzero(free).astype(np.int32)
    cost = model.cost if sub.cost is None else sub.cost
    rows = SparseRows.of_entries(
        model.rows.data[entries],
        np.repeat(np.arange(keep.sum(), dtype=np.int32), lengths[keep]),
        new_number[model.rows.indices[entries]],
        (int(keep.sum()), columns.size),
    )
    small = Model(
        cost=cost[columns],
        offset=float(np.dot(cost, base)) + (model.offset if sub.cost is None else 0.0),
        lower=sub.lower[columns],
        upper=sub.upper[columns],
        row_lower=low[keep],
        row_upper=high[keep],
        start=rows.indptr,
        index=rows.indices.astype(np.int32, copy=False),
        value=rows.data,
        integer=model.is_integer[columns].astype(np.int8),
    )
    return Restricted(small, columns, base)


class SubMipStatus(Enum):
    """How the search of a box ended."""

    OPTIMAL = "the best point of the box was found"
    INFEASIBLE = "the box holds no point that is good enough"
    LIMIT = "a limit was reached"
    FAILED = "HiGHS gave no usable answer"

    @property
    def is_proven(self) -> bool:
        """Whether the box needs no more searching."""
        return self in (SubMipStatus.OPTIMAL, SubMipStatus.INFEASIBLE)


@dataclass(frozen=True, eq=False)
class SubMipResult:
    """What came of a sub-MIP."""

    status: SubMipStatus
    improved: bool = False
    """Whether any point that was submitted was the best of all at that time."""
    x: FloatArray | None = None
    """(n,) float64: best point by the sub-MIP's own objective, of the whole model; None without one
    below the cutoff."""
    objective: float = np.inf
    """The model's objective there, offset included; inf without a point."""
    seconds: float = 0.0
    """What it took, building included."""
    nodes: int = 0
    work: float = 0.0
    """Branch-and-bound nodes, and work as :class:`~solvers.mip.budget.Budget` counts it."""


class Taker:
    """Submits points of the model under one name and remembers what came of it."""

    def __init__(self, model: MipModel, submit: Submit, source: str, cutoff: float) -> None:
        self._model = model
        self._submit = submit
        self._source = source
        self._limit = np.inf
        if np.isfinite(cutoff):
            self._limit = cutoff + SAME * max(1.0, abs(cutoff))
        self.improved = False

    def is_good(self, objective: float) -> bool:
        """Whether an objective of the model is below the cutoff."""
        return objective <= self._limit

    def take(self, x: FloatArray) -> None:
        """Submit a point (n,) if it is good enough."""
        if self.is_good(self._model.objective_at(x)) and self._submit(x, self._source):
            self.improved = True


class Watch(Progress):
    """Carries a budget to HiGHS, and HiGHS's points to whoever takes them.

    Parameters
    ----------
    budget : Budget
        The search of which this sub-MIP is a step; when it is spent, nobody waits any more.
    seconds : float
        Time for this step; ignored where the budget is untimed.
    """

    def __init__(
        self, budget: Budget, seconds: float, restricted: Restricted, taker: Taker
    ) -> None:
        limit = min(seconds, budget.seconds_left) if budget.is_timed else np.inf
        super().__init__(limit)
        self._search = budget
        self._restricted = restricted
        self._taker = taker

    @property
    def abandoned(self) -> bool:
        """Whether the search of which this is a step is over."""
        return self._search_is_over()

    def should_stop(self) -> StopReason | None:
        """Return the reason to stop now, or None to go on."""
        if self._search_is_over():
            return StopReason.INTERRUPTED
        return super().should_stop()

    def _search_is_over(self) -> bool:
        # HiGHS asks at every iteration, and whoever waits for it asks by the clock: neither may
        # count as work, or untimed searches would not repeat themselves
        return self._search.is_over()

    def incumbent(self, objective: float, source: str, x: FloatArray | None = None) -> bool:
        """Hand a point on if it improves on what this sub-MIP has found."""
        better = super().incumbent(objective, source, x)
        if better and x is not None:
            self._taker.take(self._restricted.full(x))
        return better


HEURISTIC_EFFORT = 0.2
"""Share of its work that HiGHS gives to heuristics, by default 0.05: only points count here."""

WORK_PER_ITERATION, VISITS_PER_ITERATION = 10_000.0, 10.0
"""What an iteration of HiGHS's simplex counts for, cuts, probing and heuristics around it included:
entries, and visits of each row and column. Seven small models took 40 to 300 microseconds for one,
and whatever else is charged does a hundred entries in a microsecond."""

WORK_PER_SEARCH = 2e6
"""Entries that a search counts for in any case: the start of HiGHS takes hundredths of a second."""


ROOT_ITERATIONS_PER_LINE, ITERATIONS_PER_NODE = 0.3, 200.0
"""What a search without a clock is taken to need before it has run: simplex iterations of the root
node for each row and column, cuts included, and of each further node. HiGHS heeds no limit on
iterations in its root node, and calls back without counts: of nexp-150-20-8-5 one root node took
six times the work that was allowed in all, of neos-1456979 a thousand nodes eighteen times."""


@dataclass(frozen=True)
class Limits:
    """How far a search goes, besides its time.

    HiGHS's own sub-MIPs have 200 nodes, 500 leaves and 12 stalled nodes; these are wider, because
    they have seconds, not milliseconds. ``solutions`` is the number of improving points after
    which to stop; 0 for no limit.
    """

    nodes: int = 1000
    leaves: int = 1000
    stall_nodes: int = 100
    solutions: int = 0


def solve_submip(
    model: MipModel,
    sub: SubMip,
    submit: Submit,
    budget: Budget,
    *,
    seconds: float = np.inf,
    limits: Limits = Limits(),
    source: str = "sub-MIP",
    seed: int = 0,
    in_child: bool = False,
) -> SubMipResult:
    """Search a part of the model with HiGHS on one thread.

    Parameters
    ----------
    sub : SubMip
        What to search.
    submit : Submit
        Given every improving point at once, as a point of ``model``.
    budget : Budget
        The caller's: when it is spent, HiGHS is killed if it runs in a process of its own, and
        left to end by itself if not. Charged with the work done.
    seconds : float
        Time for this search; ignored in an untimed budget.
    limits : Limits
        Nodes and the like, which alone end a search in an untimed budget.
    source : str
        Name under which points are submitted.
    seed : int
        HiGHS's random seed.
    in_child : bool
        Use a child process whatever the size.
    """
    began = time.monotonic()
    restricted = restrict(model, sub)
    result = SubMipResult(SubMipStatus.INFEASIBLE, work=2.0 * model.num_nonzeros)
    if restricted is not None:
        taker = Taker(model, submit, source, sub.cutoff)
        watch = Watch(budget, seconds, restricted, taker)
        work_left = None if budget.is_timed else budget.work_left
        reply = _run(restricted, sub, watch, limits, seed, in_child, work_left)
        result = _judged(model, restricted, taker, reply)
    budget.charge(result.work)
    return replace(result, seconds=time.monotonic() - began)


def _run(
    restricted: Restricted,
    sub: SubMip,
    watch: Watch,
    limits: Limits,
    seed: int,
    in_child: bool,
    work_left: float | None,
) -> Reply:
    model = restricted.model
    if not model.num_columns:  # nothing is free, and the rows were checked
        watch.incumbent(model.offset, "fixed", np.empty(0))
        return Reply(
            SolutionStatus.OPTIMAL, StopReason.CONVERGED, objective=model.offset, x=np.empty(0)
        )
    nodes = limits.nodes if work_left is None else affordable_nodes(model, work_left, limits.nodes)
    if watch.should_stop() is not None or not nodes:
        return Reply(SolutionStatus.NOTHING, StopReason.TIME_LIMIT)
    limits = replace(limits, nodes=nodes)
    try:
        task = Task(model, _settings(sub, limits, seed))
        reply = run_task(task, watch, in_child=in_child, retry=False)
    except EngineError:
        return Reply(SolutionStatus.NOTHING, StopReason.NUMERICAL_TROUBLE)
    if reply.x is not None:
        watch.incumbent(reply.objective, "highs", reply.x)
    return reply


def _settings(sub: SubMip, limits: Limits, seed: int) -> dict[str, Setting]:
    """Return HiGHS options: one thread, no search for symmetry (it heeds no clock), no restart."""
    settings: dict[str, Setting] = {
        **mip_settings(EngineOptions(threads=1, seed=seed, node_limit=limits.nodes)),
        "mip_max_leaves": limits.leaves,
        "mip_max_stall_nodes": limits.stall_nodes,
        "mip_heuristic_effort": HEURISTIC_EFFORT,
        "mip_detect_symmetry": False,
        "mip_allow_restart": False,
    }
    if limits.solutions:
        settings["mip_max_improving_sols"] = limits.solutions
    if np.isfinite(sub.cutoff):
        settings["objective_bound"] = sub.cutoff
    return settings


def affordable_nodes(model: Model, work_left: float, most: int) -> int:
    """Return the nodes that the work left is taken to allow, 0 where the root is too much."""
    lines = model.num_rows + model.num_columns
    for_tree = work_left - ROOT_ITERATIONS_PER_LINE * lines * _each(lines)
    if for_tree < 0.0:
        return 0
    return int(min(most, max(1.0, for_tree / (ITERATIONS_PER_NODE * _each(lines)))))


def _each(lines: int) -> float:
    """Return what an iteration counts for in a search of so many rows and columns."""
    return WORK_PER_ITERATION + VISITS_PER_ITERATION * lines


def _work(model: MipModel, iterations: float, lines: int) -> float:
    """Return what a search of so many rows and columns counts for."""
    return WORK_PER_SEARCH + 2.0 * model.num_nonzeros + iterations * _each(lines)


def _judged(model: MipModel, restricted: Restricted, taker: Taker, reply: Reply) -> SubMipResult:
    """Say what a reply of HiGHS means for the box."""
    status = {
        SolutionStatus.OPTIMAL: SubMipStatus.OPTIMAL,
        SolutionStatus.INFEASIBLE: SubMipStatus.INFEASIBLE,
    }.get(reply.solution_status, SubMipStatus.LIMIT)
    if reply.stop_reason in (StopReason.NUMERICAL_TROUBLE, StopReason.OUT_OF_MEMORY):
        status = SubMipStatus.FAILED
    iterations = float(reply.statistics.get("simplex_iterations", 0))
    small = restricted.model
    result = SubMipResult(
        status,
        improved=taker.improved,
        nodes=int(reply.statistics.get("nodes", 0)),
        work=_work(model, iterations, small.num_rows + small.num_columns),
    )
    if reply.x is None:
        return result
    x = restricted.full(reply.x)
    objective = model.objective_at(x)
    if not taker.is_good(objective):
        # with every better point cut off, HiGHS calls the first one it found optimal
        return replace(result, status=SubMipStatus.INFEASIBLE if status.is_proven else status)
    return replace(result, x=x, objective=objective)
