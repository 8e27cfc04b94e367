"""Phases, perturbation and re-inversion: what happens between batches of pivots.

The solve begins on a perturbed right-hand side. Once nothing prices out, the perturbation goes,
what has become infeasible is mended by phase 1, and phase 2 ends the solve on the model as it is.
Phase 1 minimises the sum of infeasibilities from any basis, so that it needs no start of its own;
from the slack basis it is the paper's. Should the end stall, a smaller perturbation follows, and at
last Bland's rule, which cannot cycle.

The right-hand side becomes b + A xi with a small random xi > 0: each variable may then fall to
-xi_j, which parts the ties of degenerate vertices (paper, section 3.3). The model stays feasible if
it was, and Farkas multipliers of the perturbed model prove the same of the given one, as
y'b = y'(b + A xi) - (A'y)'xi and A'y <= 0. Where an inversion shows that a variable has drifted
below zero by a little, its xi_j grows by that, instead of a return to phase 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

import numpy as np

from solvers.core.outcome import StopReason
from solvers.core.problem import FloatArray
from solvers.papers.simplex_variants.basic_solution import (
    ATTEMPTS,
    DEPENDENT,
    DRIFT,
    ERROR,
    FEASIBLE,
    HOPELESS,
    INVERSION_PERIOD,
    LONG,
    LONG_AT_LEAST,
    NEARLY_FEASIBLE,
    PATIENCE,
    PERTURBATION,
    PRICES_OUT,
    ROUGH,
    SAFE,
    SMALLEST_PIVOT,
    WEAKER,
    ZERO,
    Basis,
    Pivots,
    phase_one_cost,
    repaired,
    start_basis,
    violations,
)
from solvers.papers.simplex_variants.kernels.layout import (
    BATCH_DONE,
    BLAND,
    DUAL_ERROR,
    DUAL_TOLERANCE,
    ENTERING,
    ERROR_ALLOWED,
    INACCURATE,
    ITERATION,
    NO_CANDIDATE,
    PHASE,
    PRIMAL_TOLERANCE,
    SAFE_PIVOT,
    SINCE_INVERSE,
    SMALL_PIVOT,
    ZERO_PIVOT,
)
from solvers.papers.simplex_variants.standard_form import NONE, ScaledForm


class Ending(Enum):
    """What a run of pivots has found."""

    OPTIMAL = "nothing prices out"
    INFEASIBLE = "the least sum of infeasibilities is not zero"
    UNBOUNDED = "a variable that prices out may grow without end"
    STOPPED = "time or interruption"
    TROUBLE = "pivots stayed too small"


@dataclass(frozen=True, eq=False)
class Found:
    """How a run ended, and the basis it ended with.

    ``entering`` is the variable that grows without end; ``gradient`` (m,) the costs of phase 1 at
    the perturbed point where it ended, from which Farkas multipliers follow.
    """

    ending: Ending
    basic: Basis
    entering: int = NONE
    gradient: FloatArray | None = None
    reason: StopReason = StopReason.CONVERGED


class Shifts:
    """How far each variable may be below zero for now, and the right-hand side that follows.

    Parameters
    ----------
    form : ScaledForm
    seed : int
    """

    def __init__(self, form: ScaledForm, seed: int) -> None:
        self.form = form
        self.attempts = 0
        self.perturbed = False
        self.tolerance = FEASIBLE
        self._random = np.random.default_rng(seed)
        self._below = np.zeros(form.num_columns)
        self._of_artificials = np.zeros(form.num_rows)

    @property
    def rhs(self) -> FloatArray:
        """(m,) b + A xi, and what artificials were allowed."""
        return np.asarray(self.form.rhs + self.form.matrix @ self._below + self._of_artificials)

    def perturb(self) -> None:
        """Shift every variable by a random amount, a smaller one at every call."""
        size = PERTURBATION * WEAKER**self.attempts
        self.remove()
        self._below = size * (1.0 + self._random.random(self.form.num_columns))
        self.perturbed = True
        self.tolerance = max(FEASIBLE, ROUGH * size)
        self.attempts += 1

    def remove(self) -> None:
        """Go back to the model as it is."""
        self._below = np.zeros(self.form.num_columns)
        self._of_artificials = np.zeros(self.form.num_rows)
        self.perturbed = False
        self.tolerance = FEASIBLE

    def absorb(self, basic: Basis, x: FloatArray) -> None:
        """Shift by the infeasibilities of basic variables (m,), so that they count as none."""
        n = self.form.num_columns
        wrong = violations(self.form, basic, x)
        own = (basic < n) & (wrong > 0.0)
        self._below[basic[own]] += wrong[own]
        artificial = basic >= n
        self._of_artificials[basic[artificial] - n] -= x[artificial]


class Drive:
    """One solve: owns the basis between batches, the perturbation and the phase."""

    def __init__(
        self,
        form: ScaledForm,
        pivots: Pivots,
        seed: int,
        stop: Callable[[int], StopReason | None],
        limit: float,
        clock: Callable[[], float] = lambda: 0.0,
    ) -> None:
        self.form = form
        self.pivots = pivots
        self.pivot_seconds = 0.0
        self._clock = clock
        self.bland = False
        self._stop = stop
        self._limit = limit
        self._shifts = Shifts(form, seed)
        self._attempt_since = 0
        self._basic = start_basis(form)
        self._penalised: set[int] = set()
        control = pivots.control
        control[[DUAL_TOLERANCE, PRIMAL_TOLERANCE, ZERO_PIVOT]] = PRICES_OUT, FEASIBLE, ZERO
        control[[SAFE_PIVOT, ERROR_ALLOWED]] = SAFE, ERROR

    @property
    def iterations(self) -> int:
        """Pivots so far."""
        return int(self.pivots.control[ITERATION])

    def run(self) -> Found:
        """Make pivots until there is something to say."""
        self._perturb()
        while True:
            reason = self._stop(self.iterations)
            if reason is None and self.iterations >= self._limit:
                reason = StopReason.ITERATION_LIMIT
            if reason is not None:
                return Found(Ending.STOPPED, self.pivots.basic(), reason=reason)
            count = int(min(self.pivots.batch, self._limit - self.iterations))
            began = self._clock()
            stop = self.pivots.run(count)
            self.pivot_seconds += self._clock() - began
            found = self._react(stop)
            if found is not None:
                return found

    def _react(self, stop: int) -> Found | None:
        control = self.pivots.control
        fresh = control[SINCE_INVERSE] == 0
        if stop == BATCH_DONE:
            if self._stalled():
                return self._attempt_again()
            if control[SINCE_INVERSE] >= INVERSION_PERIOD:
                self._invert()
        elif stop == INACCURATE:
            erroneous = control[DUAL_ERROR] > control[ERROR_ALLOWED]
            if erroneous and control[SINCE_INVERSE] < HOPELESS:
                control[ERROR_ALLOWED] *= 10.0
            self._invert()
        elif stop == SMALL_PIVOT:
            return self._after_small_pivot()
        elif not fresh:
            self._invert()
        elif stop == NO_CANDIDATE:
            return self._after_last_candidate()
        elif control[PHASE] == 1:
            return self._after_small_pivot()
        else:
            return self._unbounded()
        return None

    def _after_small_pivot(self) -> Found | None:
        """Try other candidates first, then smaller pivots."""
        control = self.pivots.control
        q = int(control[ENTERING])
        if q not in self._penalised:
            self._penalised.add(q)
            self.pivots.penalise(q)
            return None
        if control[SAFE_PIVOT] > SMALLEST_PIVOT:
            control[SAFE_PIVOT] /= 10.0
            return None
        return self._attempt_again()

    def _after_last_candidate(self) -> Found | None:
        """Go on to phase 2, or to the given model; or end."""
        basic, x = self.pivots.basic(), self.pivots.x()
        self._basic = basic
        worst = float(np.max(violations(self.form, basic, x), initial=0.0))
        if self.pivots.control[PHASE] == 1:
            if worst > (DRIFT if self._shifts.perturbed else NEARLY_FEASIBLE):
                artificial = basic >= self.form.num_columns
                tolerance = float(self.pivots.control[PRIMAL_TOLERANCE])
                gradient = phase_one_cost(x, artificial, tolerance)
                return Found(Ending.INFEASIBLE, basic, gradient=gradient)
            if not self._shifts.perturbed:  # what is left cannot be told from rounding
                self.pivots.control[PRIMAL_TOLERANCE] = max(FEASIBLE, 2.0 * worst)
            self._begin()
            return None
        if self._shifts.perturbed:
            self._remove_perturbation()
            return None
        return Found(Ending.OPTIMAL, basic)

    def _unbounded(self) -> Found | None:
        """Say so for a feasible point of the given model only."""
        basic = self.pivots.basic()
        entering = int(self.pivots.control[ENTERING])
        if self._shifts.perturbed:
            self._basic = basic
            self._remove_perturbation()
            return None
        return Found(Ending.UNBOUNDED, basic, entering)

    def _attempt_again(self) -> Found | None:
        """Begin once more from this basis, with less perturbation, or with Bland's rule."""
        self._basic = self.pivots.basic()
        if self.bland:
            return Found(Ending.TROUBLE, self._basic, reason=StopReason.NUMERICAL_TROUBLE)
        if self._shifts.attempts < ATTEMPTS:
            self._perturb()
            return None
        self.bland = True
        self.pivots.control[BLAND] = 1.0
        self._remove_perturbation()
        return None

    def _perturb(self) -> None:
        self._shifts.perturb()
        self.pivots.control[PRIMAL_TOLERANCE] = self._shifts.tolerance
        self._attempt_since = self.iterations
        self._begin()

    def _remove_perturbation(self) -> None:
        self._shifts.remove()
        self.pivots.control[PRIMAL_TOLERANCE] = self._shifts.tolerance
        self._attempt_since = self.iterations
        self._begin()

    def _stalled(self) -> bool:
        """Whether this attempt, or the end without perturbation, takes too long."""
        m, n = self.form.num_rows, self.form.num_columns
        spent = self.iterations - self._attempt_since
        if self._shifts.perturbed or self.bland:
            return spent > LONG_AT_LEAST + LONG * (m + n)
        return spent > max(PATIENCE, m)

    def _begin(self) -> None:
        """Load the basis with new weights and find out which phase it belongs to."""
        self._penalised.clear()
        self.pivots.control[PHASE] = 2.0
        self.pivots.control[SAFE_PIVOT] = SAFE
        self._load(new_weights=True)
        self._settle_phase()

    def _invert(self) -> None:
        """Load the basis that pivots have come to."""
        self._basic = self.pivots.basic()
        phase = self.pivots.control[PHASE]
        self._load(new_weights=False)
        if phase == 2.0:
            self._settle_phase()

    def _settle_phase(self) -> None:
        """Go to phase 1 if the basis is infeasible; take a little of it into the perturbation."""
        x = self.pivots.x()
        worst = float(np.max(violations(self.form, self._basic, x), initial=0.0))
        if worst <= self.pivots.control[PRIMAL_TOLERANCE]:
            return
        if self._shifts.perturbed and worst <= DRIFT:
            self._shifts.absorb(self._basic, x)
            self._load(new_weights=False)
            return
        self.pivots.control[PHASE] = 1.0
        self.pivots.set_phase()

    def _load(self, *, new_weights: bool) -> None:
        """Load the basis; where it is singular, what is left of it, at worst the slacks."""
        for threshold in (None, *DEPENDENT):
            if threshold is not None:
                self._basic = repaired(self.form, self._basic, threshold)
                new_weights = True
            if self.pivots.load(self._basic, self._shifts.rhs, new_weights=new_weights):
                return
        self._basic = start_basis(self.form)
        self.pivots.load(self._basic, self._shifts.rhs, new_weights=True)
