"""What the phases of one solve share: the core, the budget, counts, and the way pivots are run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from solvers.core.outcome import StopReason
from solvers.core.problem import FloatArray, Problem
from solvers.core.progress import Progress
from solvers.simplex.dense_gpu.core import DenseGpuCore
from solvers.simplex.slack_form import SlackForm
from solvers.simplex.state import PivotStatus, SimplexState

UNLIMITED = 2**62
"""Pivots that no solve comes to."""


@dataclass(eq=False)
class Run:
    """One solve under way.

    Parameters
    ----------
    problem : Problem
        As it was given: what certificates are proven on.
    progress : Progress
    device : str
        Where the pivots are made.
    iteration_limit : int
        Pivots that may be made altogether.
    seed : int
    counts : Counter
        Iterations by phase, and what else happened.
    stop_reason : StopReason, optional
        Why the solve has to end, once it has to.
    phase : str
        Which pivots are being made.
    core : DenseGpuCore
        Makes the pivots; set before the first, and anew when scaling is left.
    ray : array, optional
        The proof behind INFEASIBLE (m,) or UNBOUNDED (n,).
    """

    problem: Problem
    progress: Progress
    device: str
    iteration_limit: int = UNLIMITED
    seed: int = 0
    counts: Counter[str] = field(default_factory=lambda: Counter(iterations=0))
    stop_reason: StopReason | None = None
    phase: str = "start"
    core: DenseGpuCore = field(init=False)
    ray: FloatArray | None = None

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
