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

Tolerances and limits are for the scaled model with a largest cost of one. The paper gives no
figures; it asks for "conservative" ones (its appendix A). These are ours, chosen so that objectives
of Netlib's models come out within 1e-9 of the known ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

import numpy as np

from solvers.core.outcome import StopReason
from solvers.core.problem import FloatArray
from solvers.papers.simplex_variants.basic_solution import (
    DEPENDENT,
    Basis,
    Pivots,
    phase_one_cost,
    repaired,
    start_basis,
    violations,
)
from solvers.papers.simplex_variants.kernels import layout as word
from solvers.papers.simplex_variants.standard_form import NONE, ScaledForm

INVERSION_PERIOD = 500
"""Pivots after which the inverse is made anew, whatever its measured error."""

FEASIBLE = 1e-9
"""Infeasibility of a basic variable that counts as none, and the tolerance of Harris's test."""

ROUGH = 0.01
"""Part of the perturbation that is the tolerance of Harris's test while it lasts: the larger, the
more pivots there are to choose a large one from, but with 0.1 degenerate models take half as many
pivots again (d6cube, truss, gfrd-pnc)."""

NEARLY_FEASIBLE = 1e-7
"""Infeasibility that phase 1 may leave at the end, as large numbers round to no better."""

PRICES_OUT = 1e-9
"""Reduced cost that counts as negative, for a largest cost of about one."""

ZERO = 1e-9
"""Elements of d that cannot be pivots."""

SAFE = 1e-5
"""Pivots smaller than this are made only by the last resort."""

SMALLEST_PIVOT = 1e-8
"""What the last resort allows."""

ERROR = 1e-7
"""Reduced cost of a basic variable, which should be zero, that asks for a new inverse."""

HOPELESS = 50
"""An inverse that lasts fewer pivots is allowed ten times the error: nothing is claimed from it."""

PERTURBATION = 1e-6
"""xi_j is between one and two times this."""

WEAKER = 0.1
"""Factor of the perturbation from one attempt to the next."""

ATTEMPTS = 4
"""Perturbations before Bland's rule."""

DRIFT = 1e-4
"""Infeasibility after an inversion that is taken into the perturbation."""

PATIENCE = 1000
"""Pivots without perturbation after which, if there are also more than m, the end has stalled."""

LONG = 50
"""Multiple of m + n, beside :data:`LONG_AT_LEAST`, after which a perturbation has failed too."""

LONG_AT_LEAST = 50_000
"""Pivots that every perturbation, and Bland's rule, may use."""


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
    """How far each variable may be below zero for now, and the right-hand side that follows."""

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
        control[[word.DUAL_TOLERANCE, word.PRIMAL_TOLERANCE, word.ZERO_PIVOT]] = (
            PRICES_OUT,
            FEASIBLE,
            ZERO,
        )
        control[[word.SAFE_PIVOT, word.ERROR_ALLOWED]] = SAFE, ERROR

    @property
    def iterations(self) -> int:
        """Pivots so far."""
        return int(self.pivots.control[word.ITERATION])

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
        fresh = control[word.SINCE_INVERSE] == 0
        if stop == word.BATCH_DONE:
            if self._stalled():
                return self._attempt_again()
            if control[word.SINCE_INVERSE] >= INVERSION_PERIOD:
                self._invert()
        elif stop == word.INACCURATE:
            erroneous = control[word.DUAL_ERROR] > control[word.ERROR_ALLOWED]
            if erroneous and control[word.SINCE_INVERSE] < HOPELESS:
                control[word.ERROR_ALLOWED] *= 10.0
            self._invert()
        elif stop == word.SMALL_PIVOT:
            return self._after_small_pivot()
        elif not fresh:
            self._invert()
        elif stop == word.NO_CANDIDATE:
            return self._after_last_candidate()
        elif control[word.PHASE] == 1:
            return self._after_small_pivot()
        else:
            return self._unbounded()
        return None

    def _after_small_pivot(self) -> Found | None:
        """Try other candidates first, then smaller pivots."""
        control = self.pivots.control
        q = int(control[word.ENTERING])
        if q not in self._penalised:
            self._penalised.add(q)
            self.pivots.penalise(q)
            return None
        if control[word.SAFE_PIVOT] > SMALLEST_PIVOT:
            control[word.SAFE_PIVOT] /= 10.0
            return None
        return self._attempt_again()

    def _after_last_candidate(self) -> Found | None:
        """Go on to phase 2, or to the given model; or end."""
        basic, x = self.pivots.basic(), self.pivots.x()
        self._basic = basic
        worst = float(np.max(violations(self.form, basic, x), initial=0.0))
        if self.pivots.control[word.PHASE] == 1:
            if worst > (DRIFT if self._shifts.perturbed else NEARLY_FEASIBLE):
                artificial = basic >= self.form.num_columns
                tolerance = float(self.pivots.control[word.PRIMAL_TOLERANCE])
                gradient = phase_one_cost(x, artificial, tolerance)
                return Found(Ending.INFEASIBLE, basic, gradient=gradient)
            if not self._shifts.perturbed:  # what is left cannot be told from rounding
                self.pivots.control[word.PRIMAL_TOLERANCE] = max(FEASIBLE, 2.0 * worst)
            self._begin()
            return None
        if self._shifts.perturbed:
            self._remove_perturbation()
            return None
        return Found(Ending.OPTIMAL, basic)

    def _unbounded(self) -> Found | None:
        """Say so for a feasible point of the given model only."""
        basic = self.pivots.basic()
        entering = int(self.pivots.control[word.ENTERING])
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
        self.pivots.control[word.BLAND] = 1.0
        self._remove_perturbation()
        return None

    def _perturb(self) -> None:
        self._shifts.perturb()
        self.pivots.control[word.PRIMAL_TOLERANCE] = self._shifts.tolerance
        self._attempt_since = self.iterations
        self._begin()

    def _remove_perturbation(self) -> None:
        self._shifts.remove()
        self.pivots.control[word.PRIMAL_TOLERANCE] = self._shifts.tolerance
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
        self.pivots.control[word.PHASE] = 2.0
        self.pivots.control[word.SAFE_PIVOT] = SAFE
        self._load(new_weights=True)
        self._settle_phase()

    def _invert(self) -> None:
        """Load the basis that pivots have come to."""
        self._basic = self.pivots.basic()
        phase = self.pivots.control[word.PHASE]
        self._load(new_weights=False)
        if phase == 2.0:
            self._settle_phase()

    def _settle_phase(self) -> None:
        """Go to phase 1 if the basis is infeasible; take a little of it into the perturbation."""
        x = self.pivots.x()
        worst = float(np.max(violations(self.form, self._basic, x), initial=0.0))
        if worst <= self.pivots.control[word.PRIMAL_TOLERANCE]:
            return
        if self._shifts.perturbed and worst <= DRIFT:
            self._shifts.absorb(self._basic, x)
            self._load(new_weights=False)
            return
        self.pivots.control[word.PHASE] = 1.0
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
