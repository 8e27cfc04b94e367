"""What a check knows, when the answer is good enough, and the outcome that it makes then.

Statistics are residuals and objectives on the original problem, distances and the metric; errors
are relative to the sizes of its sides and costs (:mod:`solvers.core.lp_answer`). The measure is the
field's for first-order methods (Applegate et al. 2021, section 2), on the unscaled problem: primal
and dual residual against ``1 + ||sides||`` and ``1 + ||c||``, and the gap against
``1 + |p| + |d|``. Whether they are small enough is a pure function of them and the criteria. An
answer is judged on the host, in float64 on the original data.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from solvers.core.lp_answer import (
    Answer,
    LpErrors,
    Norms,
    cleaned,
    judge,
    proves_infeasible,
    proves_unbounded,
)
from solvers.core.machine import threads_for
from solvers.core.outcome import Outcome, SolutionStatus, StopReason
from solvers.core.problem import FloatArray, Problem
from solvers.core.progress import Progress
from solvers.core.vectors import size_range
from solvers.pdlp.control import Control, Stop
from solvers.pdlp.settings import LOOK_GROWTH, PROGRESS, CertificateSettings
from solvers.pdlp.state import Iterate, State

NEGLIGIBLE = 0.1
"""Part of a tolerance below which an error counts as that part where errors are compared."""


@dataclass(frozen=True, eq=False)
class Record:
    """What a block left behind: the control array (``Control``) as it was after its check."""

    control: FloatArray

    def __getitem__(self, place: Control) -> float:
        return float(self.control[place])

    @property
    def stop(self) -> Stop:
        """Why the kernels wait for the host, if they do."""
        return Stop(int(self.control[Control.STOP]))

    @property
    def iterations(self) -> int:
        """Iterations in all."""
        return int(self.control[Control.ITERATIONS])

    @property
    def statistics(self) -> LpErrors:
        """The figures of the check, of the projected point (xh, yh)."""
        return LpErrors(
            primal_residual=self[Control.PRIMAL_RESIDUAL],
            dual_residual=self[Control.DUAL_RESIDUAL],
            primal_objective=self[Control.PRIMAL_OBJECTIVE],
            dual_objective=self[Control.DUAL_OBJECTIVE],
            side_norm=self[Control.SIDE_NORM],
            cost_norm=self[Control.COST_NORM],
        )


@dataclass(frozen=True)
class Criteria:
    """Relative tolerances on the three errors."""

    primal: float
    dual: float
    gap: float

    @classmethod
    def uniform(cls, tolerance: float) -> Criteria:
        """Return the same tolerance for all three."""
        return cls(tolerance, tolerance, tolerance)


def is_primal_feasible(statistics: LpErrors, criteria: Criteria) -> bool:
    """Whether the primal residual is within its tolerance."""
    return statistics.relative_primal <= criteria.primal


def decades_left(statistics: LpErrors, criteria: Criteria) -> float:
    """Return the decades from the three errors down to a tenth of their tolerances, added up.

    That is what a point has still before it. The largest error alone tells less: a gap may be 1
    for a point near the optimum and for one far away.
    """
    errors = (statistics.relative_primal, statistics.relative_dual, statistics.relative_gap)
    floors = (criteria.primal, criteria.dual, criteria.gap)
    ratios = [error / (NEGLIGIBLE * floor) for error, floor in zip(errors, floors, strict=True)]
    return sum(math.log10(max(ratio, 1.0)) for ratio in ratios)


def is_optimal(statistics: LpErrors, criteria: Criteria) -> bool:
    """Whether all three errors are within their tolerances; False for NaN."""
    return (
        is_primal_feasible(statistics, criteria)
        and statistics.relative_dual <= criteria.dual
        and statistics.relative_gap <= criteria.gap
    )


def on_original(state: State, x: Any, y: Any, *, brief: bool = False) -> Answer:
    """Make an answer of points (n,) and (m,) on the device; see :func:`judge`."""
    there = state.problem
    norms = Norms(there.side_norm, there.cost_norm)
    point, duals = there.columns_to_host(x), there.rows_to_host(y)
    return judge(there.original, point, duals, norms, state.threads, owned=True, brief=brief)


def to_outcome(
    answer: Answer,
    criteria: Criteria,
    stop_reason: StopReason,
    counts: dict[str, float | int | str],
    device: str,
    feasible_x: FloatArray | None = None,
) -> Outcome:
    """Give an answer the status it has earned.

    Without optimality the point is ``x`` where it is feasible, else ``candidate``; then
    ``feasible_x``, an earlier feasible point, takes the place of ``x``. The duals always belong
    to the answer.
    """
    statistics = answer.statistics
    figures = {
        **counts,
        "relative_primal_residual": statistics.relative_primal,
        "relative_dual_residual": statistics.relative_dual,
        "relative_gap": statistics.relative_gap,
    }
    optimal = is_optimal(statistics, criteria)
    feasible = is_primal_feasible(statistics, criteria)
    x: FloatArray | None = answer.x if feasible else feasible_x
    status = SolutionStatus.OPTIMAL if optimal else SolutionStatus.FEASIBLE
    return Outcome(
        solution_status=status if x is not None else SolutionStatus.NOTHING,
        stop_reason=StopReason.CONVERGED if optimal else stop_reason,
        objective=statistics.primal_objective if feasible else np.nan,
        bound=statistics.dual_objective if optimal else answer.proven_bound,
        x=x,
        row_activity=answer.row_activity if feasible else None,
        row_dual=answer.row_dual,
        reduced_cost=answer.reduced_cost,
        candidate=None if feasible else answer.x,
        engine="pdlp",
        device=device,
        statistics=figures,
    )


# Certificates that there is no solution, or no end to the improvement: rays, checked exactly.
#
# Candidates are where the iterates move to when there is no solution. The step between successive
# points, and the distance from the anchor, both tend to a ray of the dual on an infeasible problem
# and to one of the primal on an unbounded one (Applegate et al., "Infeasibility detection with
# primal-dual hybrid gradient", 2024). So does the direction of a point that has run far away, which
# tells even when the weight has changed since and steps beside so large a point are lost in its
# rounding. On most problems they tend to nothing: a rough look at them spares the exact test.
#
# A candidate is believed only if it passes on the ORIGINAL data, in float64 on the CPU, by a
# margin that rounding cannot fake; otherwise nothing is claimed.


PROMISING = 1e-3
"""Part of its largest entry by which a candidate may still violate what a ray has to obey."""


SHARE = 0.05
"""Part of the time that looking for certificates may take: on the host a look at 100 million
nonzeros took 15 s."""


@dataclass(eq=False)
class CertificateSchedule:
    """Decides when to look for a certificate.

    ``error_then`` is the error when a look was due last, and before that of the first block.
    Looks take no more than :data:`SHARE` of the time. ``seconds`` is what the longest took: one
    that would end after the limit is not begun, since the answer has to come before.
    """

    settings: CertificateSettings
    error_then: float = math.inf
    seconds: float = 0.0

    def __post_init__(self) -> None:
        self._next_look: float = self.settings.from_iterations
        self._not_before = -math.inf

    def took(self, seconds: float) -> None:
        """Note how long a look took that has just ended."""
        self.seconds = max(self.seconds, seconds)
        self._not_before = time.perf_counter() + seconds / SHARE

    def is_due(self, record: Record, time_left: float = math.inf) -> bool:
        """Record a check's error; return whether to look now, with so many seconds left."""
        error, iterations = record.statistics.worst, record.iterations
        if math.isinf(self.error_then):
            self.error_then = error
        if iterations < self._next_look or time.perf_counter() < self._not_before:
            return False
        if time_left <= self.seconds:
            return False
        self._next_look = iterations * LOOK_GROWTH
        hopeful = max(self.settings.error, PROGRESS * self.error_then)
        self.error_then = error
        return not (error < hopeful and iterations < self.settings.always_from)


def find_dual_ray(state: State, progress: Progress) -> FloatArray | None:
    """Return a proven Farkas ray (m,) of the original problem from the dual iterates, or None.

    With six million nonzeros a proof takes 0.3 s of a core, and a look up to twelve. So the clock
    is asked before each proof, and before each candidate is judged.
    """
    proves = partial(proves_infeasible, state.problem.original)
    return _first_proof(dual_ray_candidates(state, progress), proves, progress)


def find_primal_ray(state: State, progress: Progress) -> FloatArray | None:
    """Return a proven improving recession direction (n,) from the primal ones, or None."""
    proves = partial(proves_unbounded, state.problem.original)
    return _first_proof(primal_ray_candidates(state, progress), proves, progress)


def _first_proof(
    candidates: Iterable[FloatArray], proves: Callable[[FloatArray], bool], progress: Progress
) -> FloatArray | None:
    for candidate in candidates:
        for ray in cleaned(candidate):
            if progress.should_stop():
                return None
            if proves(ray):
                return ray
    return None


def dual_ray_candidates(state: State, progress: Progress) -> Iterator[FloatArray]:
    """Yield candidates (m,) of the dual iterates that look like a Farkas ray, on the host.

    Without costs, what a dual point earns of sides and bounds is by how much y'Ax would have to be
    larger than it can be.
    """
    there, zeros = state.problem, np.zeros(state.problem.original.num_columns)
    feasibility = there.original.with_cost(zeros)
    for candidate in _directions(state.y, there.rows_to_host, progress):
        found = judge(
            feasibility, zeros, candidate, threads=state.threads, clipped=False, brief=True
        )
        gain = found.statistics.dual_objective - feasibility.offset
        if gain > 0.0 and found.largest_unsupported <= PROMISING * _largest(found.row_dual):
            yield candidate


def primal_ray_candidates(state: State, progress: Progress) -> Iterator[FloatArray]:
    """Yield candidates (n,) of the primal iterates that look like improving directions.

    They are put into the cone of directions in which one may go on for ever.
    """
    there, threads = state.problem, state.threads
    cone = _recession_cone(there.original, threads)
    without_duals = np.zeros(cone.num_rows)
    for candidate in _directions(state.x, there.columns_to_host, progress):
        found = judge(cone, candidate, without_duals, threads=threads, owned=True, brief=True)
        is_improving = found.statistics.primal_objective - cone.offset < 0.0
        if is_improving and found.largest_violation <= PROMISING * _largest(found.x):
            yield found.x


def _directions(
    side: Iterate, to_host: Callable[[Any], FloatArray], progress: Progress
) -> Iterator[FloatArray]:
    """Yield the step, the way from the anchor and that from the origin, on the host, in time."""

    def way() -> FloatArray:
        found = to_host(side.projection)
        found -= to_host(side.anchor)
        return found

    made = (partial(to_host, side.difference), way, partial(to_host, side.projection))
    for make in made:
        if progress.should_stop():
            return
        yield make()


def _recession_cone(problem: Problem, threads: int) -> Problem:
    """Return the problem with zero for each finite side and bound."""
    from solvers.native.core_lp_answer import recede

    limits = {}
    for name in ("lower", "upper", "row_lower", "row_upper"):
        limit = getattr(problem, name)
        limits[name] = np.empty(limit.size)
        recede(limit, limits[name], threads_for(limit.size, threads))
    return problem.with_limits(**limits)


def _largest(values: FloatArray) -> float:
    return size_range(values)[1]
