"""From a basis to an optimal one, or to a proof that there is none.

Each round looks at the true cost and bounds, with everything computed afresh, and picks what is to
be done: nothing, if both sides are feasible; dual pivots where boxed variables can be flipped to
make the duals feasible; primal pivots where the point is feasible; and else the dual's first phase,
whose failure leads to the primal's. Costs are perturbed for the first dual pivots, against dual
degeneracy, as HiGHS chooses them (Huangfu and Hall 2018). What perturbed costs or shifted bounds
have left to do falls to the next round.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from solvers.core.outcome import StopReason
from solvers.core.problem import FloatArray, Problem
from solvers.core.progress import Progress
from solvers.simplex.answer import farkas_ray, primal_ray
from solvers.simplex.dense_gpu.core import DenseGpuCore
from solvers.simplex.state import (
    BASIC,
    UPPER,
    ZERO,
    PivotStatus,
    SimplexState,
    SlackForm,
    SolveStatus,
    bound_violation,
    fitted_status,
    flip_boxed,
    infeasibility,
    nonbasic_status,
)

# What the phases of one solve share: the core, the budget, counts, and the way pivots are run.


UNLIMITED = 2**62
"""Pivots that no solve comes to."""


@dataclass(eq=False)
class Run:
    """One solve under way."""

    problem: Problem
    """As it was given: what certificates are proven on."""
    progress: Progress
    device: str
    """Where the pivots are made."""
    iteration_limit: int = UNLIMITED
    """Pivots that may be made altogether."""
    seed: int = 0
    counts: Counter[str] = field(default_factory=lambda: Counter(iterations=0))
    """Iterations by phase, and what else happened."""
    stop_reason: StopReason | None = None
    """Why the solve has to end, once it has to."""
    phase: str = "start"
    """Which pivots are being made."""
    core: DenseGpuCore = field(init=False)
    """Makes the pivots; set before the first, and anew when scaling is left."""
    ray: FloatArray | None = None
    """The proof behind INFEASIBLE (m,) or UNBOUNDED (n,)."""

    @property
    def iterations(self) -> int:
        """Pivots made so far."""
        return self.counts["iterations"]

    def begin(self, form: SlackForm) -> None:
        """Make the first core."""
        self.core = DenseGpuCore(form, self.device)

    def begin_again(self, form: SlackForm) -> None:
        """Go on with a core for another form, and keep the counts of the one so far."""
        self._count_core()
        self.begin(form)

    def should_stop(self) -> bool:
        """Tell how many pivots there were, ask whether to stop, and remember why."""
        self.progress.iteration(self.iterations + self.core.iterations, phase=self.phase)
        if self.stop_reason is None:
            self.stop_reason = self.progress.should_stop()
        return self.stop_reason is not None

    def statistics(self) -> dict[str, float | int | str]:
        """Return the counts of the whole solve, by name."""
        self._count_core()
        return dict(self.counts)

    def refresh(self, state: SimplexState) -> None:
        """Compute a state's values and reduced costs anew from its basis."""
        self.core.load(state)
        self.core.store(state)

    def dual(self, state: SimplexState, phase: str) -> PivotStatus:
        """Run dual pivots from a state, and bring it up to date."""
        return self._pivot(self.core.dual, state, phase)

    def primal(self, state: SimplexState, phase: str) -> PivotStatus:
        """Run primal pivots from a state, and bring it up to date."""
        return self._pivot(self.core.primal, state, phase)

    def _pivot(
        self,
        pivots: Callable[[int, Callable[[], bool]], PivotStatus],
        state: SimplexState,
        phase: str,
    ) -> PivotStatus:
        self.core.load(state)
        self.phase = phase.replace("_", " ")
        left = self.iteration_limit - self.iterations
        status = pivots(left, self.should_stop) if left > 0 else PivotStatus.LIMIT
        self.core.store(state)
        self.counts["iterations"] += state.iterations
        self.counts[f"{phase}_iterations"] += state.iterations
        state.iterations = 0  # counted
        if status is PivotStatus.LIMIT:
            self.stop_reason = self.stop_reason or StopReason.ITERATION_LIMIT
        return status

    def _count_core(self) -> None:
        self.counts["refactorisations"] += self.core.refactorisations
        self.counts["bound_flips"] += self.core.bound_flips


BASE = 5e-7
"""Size of the perturbation of a cost of one."""

LARGE_COST = 100.0
"""Largest cost from which its fourth root is what the perturbation grows with."""

FEW_BOXED = 0.01
"""Share of boxed variables below which large costs do not enlarge the perturbation."""

LOGICAL = 1e-12
"""Size of the perturbation of logicals, which only has to tell them apart."""

ROUNDS = 30
"""Rounds after which the pivots are given up; two or three are usual."""

TROUBLES = 6
"""Rounds that end in numerical trouble after which the pivots are given up."""

FREE_RANGE = 1000.0
"""Range of a free variable in the dual's first phase, HiGHS's."""


def perturbed_costs(state: SimplexState, seed: int) -> FloatArray:
    """Return (n + m,) costs moved at random in the direction that keeps duals feasible.

    A variable that may only rise gets a dearer cost, one that may only fall a cheaper one, a boxed
    one by the sign of its cost; free and fixed ones keep theirs.
    """
    n = state.form.num_structurals
    cost, lower, upper = state.cost, state.lower, state.upper
    largest = float(np.max(np.abs(cost), initial=0.0))
    if largest == 0.0:
        largest = 1.0
    if largest > LARGE_COST:
        largest = largest**0.25
    has_lower, has_upper = np.isfinite(lower), np.isfinite(upper)
    boxed = has_lower & has_upper & (lower < upper)
    if boxed.sum() < FEW_BOXED * boxed.size:
        largest = min(largest, 1.0)
    random = np.random.default_rng(seed).random(cost.size)
    size = (1.0 + np.abs(cost)) * BASE * largest * (1.0 + random)
    size[n:] = LOGICAL * random[n:]
    direction = np.where(has_lower, 1.0, -1.0)
    direction[boxed] = np.where(cost[boxed] >= 0.0, 1.0, -1.0)
    direction[~has_lower & ~has_upper] = 0.0
    direction[lower == upper] = 0.0
    return np.asarray(cost + direction * size)


def optimise(run: Run, state: SimplexState, *, perturb: bool) -> SolveStatus:
    """Pivot from a state until nothing violates its tolerance, or a proof is found.

    At the end the state has the true cost and bounds, and was computed afresh. ``perturb`` says
    whether the first dual pivots are made with perturbed costs; if few are expected, the pivots
    that their removal costs are not worth it.
    """
    troubles = 0
    first_phase_failed = dual_failed = False
    for attempt in range(ROUNDS):
        restore(run, state)
        if run.should_stop():
            return SolveStatus.STOPPED
        wrong = infeasibility(state)
        if wrong.primal <= state.tolerance and wrong.dual <= state.tolerance:
            return SolveStatus.OPTIMAL
        feasible = wrong.primal <= state.tolerance
        if wrong.stuck <= state.tolerance and not dual_failed and (attempt == 0 or not feasible):
            status = dual(run, state, perturb=(perturb and attempt == 0) or troubles > 0)
            dual_failed = status is SolveStatus.TROUBLE
        elif feasible or first_phase_failed or dual_failed:
            status = primal(run, state)
            dual_failed = False
        else:
            succeeded, status = dual_first_phase(run, state)
            first_phase_failed = not succeeded
        if status is SolveStatus.TROUBLE:
            troubles += 1
            if troubles <= TROUBLES:
                continue
        if status is not None:
            if status is SolveStatus.STOPPED:
                restore(run, state)
            return status
    return SolveStatus.TROUBLE


def restore(run: Run, state: SimplexState) -> None:
    """Give a state its true cost and bounds, and compute it afresh."""
    form = state.form
    state.cost[:] = form.cost
    state.lower[:] = form.lower
    state.upper[:] = form.upper
    state.status[:] = fitted_status(form.lower, form.upper, state.reduced_cost, state.status)
    run.refresh(state)


def dual(run: Run, state: SimplexState, *, perturb: bool) -> SolveStatus | None:
    """Run dual pivots from a state that flips make dual feasible; None to look again."""
    if perturb:
        flip_boxed(state, 0.0)
        state.cost[:] = perturbed_costs(state, run.seed)
    ended = run.dual(state, "dual")
    if ended in (PivotStatus.STOPPED, PivotStatus.LIMIT):
        return SolveStatus.STOPPED
    if ended is PivotStatus.TROUBLE:
        return SolveStatus.TROUBLE
    if ended is PivotStatus.NO_PIVOT:
        run.ray = farkas_ray(run.problem, run.core, state)
        return SolveStatus.TROUBLE if run.ray is None else SolveStatus.INFEASIBLE
    return None


def dual_first_phase(run: Run, state: SimplexState) -> tuple[bool, SolveStatus | None]:
    """Look for a dual feasible basis, and go on from it; return whether there was one.

    The bounds are replaced by such that every basis is dual feasible after flips, and whose
    optimum is zero exactly if the true problem's duals can be made feasible (Koberstein 2005,
    section 4.5).
    """
    form = state.form
    state.cost[:] = perturbed_costs(state, run.seed)
    has_lower, has_upper = np.isfinite(form.lower), np.isfinite(form.upper)
    free = ~has_lower & ~has_upper
    state.lower[:] = np.where(free, -FREE_RANGE, np.where(has_lower, 0.0, -1.0))
    state.upper[:] = np.where(free, FREE_RANGE, np.where(has_upper, 0.0, 1.0))
    resting = nonbasic_status(state.lower, state.upper, state.reduced_cost)
    nonbasic = state.status != BASIC
    state.status[nonbasic] = resting[nonbasic]
    ended = run.dual(state, "dual_phase_1")
    if ended in (PivotStatus.STOPPED, PivotStatus.LIMIT):
        return False, SolveStatus.STOPPED
    shifted = state.cost.copy()
    for cost in (shifted, form.cost):
        state.cost[:] = cost
        state.lower[:] = form.lower
        state.upper[:] = form.upper
        state.status[:] = fitted_status(form.lower, form.upper, state.reduced_cost, state.status)
        run.refresh(state)
        if infeasibility(state).stuck <= state.tolerance:
            return True, dual(run, state, perturb=False)
    return False, None


def primal(run: Run, state: SimplexState) -> SolveStatus | None:
    """Run primal pivots, once the point is feasible; None to look again."""
    if float(np.max(bound_violation(state), initial=0.0)) > state.tolerance:
        status = make_feasible(run, state)
        if status is not None:
            return status
    ended = run.primal(state, "primal")
    if ended in (PivotStatus.STOPPED, PivotStatus.LIMIT):
        return SolveStatus.STOPPED
    if ended is PivotStatus.TROUBLE:
        return SolveStatus.TROUBLE
    if ended is PivotStatus.NO_PIVOT:
        run.ray = primal_ray(run.problem, run.core, state)
        if run.ray is None:
            return SolveStatus.TROUBLE
        return SolveStatus.UNBOUNDED if make_feasible(run, state) is None else SolveStatus.TROUBLE
    return None


def make_feasible(run: Run, state: SimplexState) -> SolveStatus | None:
    """Look for a feasible point by dual pivots with costs for which the basis is dual feasible.

    Returns None if there is one, or proves that there is none.
    """
    ray, run.ray = run.ray, None
    restore(run, state)
    if infeasibility(state).primal <= state.tolerance:
        run.ray = ray
        return None
    made_up = np.random.default_rng(run.seed).uniform(1.0, 2.0, state.cost.size)
    made_up[(state.status == BASIC) | (state.status == ZERO)] = 0.0
    state.cost[:] = np.where(state.status == UPPER, -made_up, made_up)
    run.refresh(state)
    status = dual(run, state, perturb=False)
    if status is None:
        run.ray = ray
        restore(run, state)
        return None if infeasibility(state).primal <= state.tolerance else SolveStatus.TROUBLE
    return status
