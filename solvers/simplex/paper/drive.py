"""Phases, perturbation and re-inversion: what happens between batches of pivots.

The right-hand side is perturbed from the start to b + A xi with a small random xi > 0: each
variable may then fall to -xi_j, which parts the ties of degenerate vertices (paper, section 3.3).
The model stays feasible if it was, and Farkas multipliers of the perturbed model prove the same of
the given one, as y'b = y'(b + A xi) - (A'y)'xi and A'y <= 0. Where an inversion shows that a
variable has drifted below zero by a little, its xi_j grows by that, instead of a return to phase 1.

Once nothing prices out, the perturbation goes, what has become infeasible is mended by phase 1, and
phase 2 ends the solve on the model as it is. Phase 1 minimises the sum of infeasibilities from any
basis, so that it needs no start of its own; from the slack basis it is the paper's. Should the end
stall, a smaller perturbation follows, and at last Bland's rule, which cannot cycle.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

import numpy as np

from solvers.outcome import StopReason
from solvers.problem import FloatArray
from solvers.simplex.paper.basic_solution import BasicSolution, Basis, repaired, violations
from solvers.simplex.paper.kernels.layout import (
    BATCH_DONE,
    BLAND,
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
from solvers.simplex.paper.scaling import ScaledForm
from solvers.simplex.paper.standard_form import NONE
from solvers.simplex.paper.variants import Pivots

BATCH = 100
"""Pivots between two looks of the host (paper, section 3.7)."""

INVERSION_PERIOD = 500
"""Pivots after which the inverse is made anew, whatever its measured error."""

FEASIBLE = 1e-9
"""Infeasibility of a basic variable that counts as none, and the tolerance of Harris's test."""

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


class Ending(Enum):
    """What a run of pivots has found."""

    OPTIMAL = "nothing prices out"
    INFEASIBLE = "the least sum of infeasibilities is not zero"
    UNBOUNDED = "a variable that prices out may grow without end"
    STOPPED = "time or interruption"
    TROUBLE = "pivots stayed too small"


@dataclass(frozen=True, eq=False)
class Found:
    """How a run ended, and the basis it ended with."""

    ending: Ending
    basic: Basis
    entering: int = NONE
    reason: StopReason = StopReason.CONVERGED


def start_basis(form: ScaledForm) -> Basis:
    """Return the basis of slacks, with artificials in the equations (paper, section 3.5)."""
    slack = form.origin.slack
    return np.where(slack == NONE, form.num_columns + np.arange(form.num_rows), slack)


class Drive:
    """One solve: owns the basis between batches, the perturbation and the phase."""

    def __init__(
        self,
        form: ScaledForm,
        pivots: Pivots,
        seed: int,
        stop: Callable[[int], StopReason | None],
        limit: float,
    ) -> None:
        self.form = form
        self.pivots = pivots
        self.inversions = 0
        self.bland = False
        self._stop = stop
        self._limit = limit
        self._random = np.random.default_rng(seed)
        self._attempt = 0
        self._unperturbed_since: int | None = None
        self._basic = start_basis(form)
        self._xi = np.zeros(form.num_columns)
        self._art_shift = np.zeros(form.num_rows)
        control = pivots.control
        control[[DUAL_TOLERANCE, PRIMAL_TOLERANCE, ZERO_PIVOT]] = PRICES_OUT, FEASIBLE, ZERO
        control[[SAFE_PIVOT, ERROR_ALLOWED]] = SAFE, ERROR

    @property
    def iterations(self) -> int:
        """Pivots so far."""
        return int(self.pivots.control[ITERATION])

    def run(self, basic: Basis | None = None) -> Found:
        """Make pivots until there is something to say."""
        if basic is not None:
            self._basic = basic
        self._perturb()
        self._begin()
        while True:
            reason = self._stop(self.iterations)
            if reason is None and self.iterations >= self._limit:
                reason = StopReason.ITERATION_LIMIT
            if reason is not None:
                return Found(Ending.STOPPED, self.pivots.basic(), reason=reason)
            found = self._react(self.pivots.run(int(min(BATCH, self._limit - self.iterations))))
            if found is not None:
                return found

    def _react(self, stop: int) -> Found | None:
        control = self.pivots.control
        fresh = control[SINCE_INVERSE] == 0
        if stop == BATCH_DONE:
            if self._stalled():
                self._perturb_again()
            elif control[SINCE_INVERSE] >= INVERSION_PERIOD:
                self._invert()
        elif stop == INACCURATE:
            if control[SINCE_INVERSE] < BATCH / 10:
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
        return Found(Ending.TROUBLE, self.pivots.basic(), reason=StopReason.NUMERICAL_TROUBLE)

    def _after_last_candidate(self) -> Found | None:
        basic, x = self.pivots.basic(), self.pivots.x()
        wrong = violations(self.form, basic, x)
        if self.pivots.control[PHASE] == 1 and np.max(wrong, initial=0.0) > FEASIBLE:
            return Found(Ending.INFEASIBLE, basic)
        if self.pivots.control[PHASE] == 1:
            self._basic = basic
            self._begin()
            return None
        if self._perturbed:
            self._basic = basic
            self._remove_perturbation()
            return None
        return Found(Ending.OPTIMAL, basic)

    def _unbounded(self) -> Found | None:
        """Say so for a feasible point of the given model only."""
        basic = self.pivots.basic()
        entering = int(self.pivots.control[ENTERING])
        if self._perturbed:
            self._basic = basic
            self._remove_perturbation()
            return None
        return Found(Ending.UNBOUNDED, basic, entering)

    @property
    def _perturbed(self) -> bool:
        return self._unperturbed_since is None

    def _rhs(self) -> FloatArray:
        return np.asarray(self.form.rhs + self.form.matrix @ self._xi + self._art_shift)

    def _perturb(self) -> None:
        size = PERTURBATION * WEAKER**self._attempt
        self._xi = size * (1.0 + self._random.random(self.form.num_columns))
        self._art_shift = np.zeros(self.form.num_rows)
        self._unperturbed_since = None
        self._attempt += 1

    def _perturb_again(self) -> None:
        """Begin once more from this basis, with less perturbation, or with Bland's rule."""
        self._basic = self.pivots.basic()
        if self._attempt < ATTEMPTS:
            self._perturb()
        else:
            self.bland = True
            self.pivots.control[BLAND] = 1.0
        self._begin()

    def _remove_perturbation(self) -> None:
        self._xi[:] = 0.0
        self._art_shift[:] = 0.0
        self._unperturbed_since = self.iterations
        self._begin()

    def _stalled(self) -> bool:
        since = self._unperturbed_since
        most = max(PATIENCE, self.form.num_rows)
        return since is not None and not self.bland and self.iterations - since > most

    def _begin(self) -> None:
        """Load the basis with new weights and find out which phase it belongs to."""
        self._penalised: set[int] = set()
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
        x = self.pivots.x()
        wrong = violations(self.form, self._basic, x)
        worst = float(np.max(wrong, initial=0.0))
        if worst <= FEASIBLE:
            return
        if self._perturbed and worst <= DRIFT:
            self._shift(x, wrong)
            return
        self.pivots.control[PHASE] = 1.0
        self.pivots.set_phase()

    def _shift(self, x: FloatArray, wrong: FloatArray) -> None:
        """Take small infeasibilities into the perturbation."""
        n = self.form.num_columns
        below = (self._basic < n) & (wrong > 0.0)
        self._xi[self._basic[below]] += wrong[below]
        artificial = self._basic >= n
        self._art_shift[self._basic[artificial] - n] -= x[artificial]
        self._load(new_weights=False)

    def _load(self, *, new_weights: bool) -> None:
        self.inversions += 1
        if self.pivots.load(self._basic, self._rhs(), new_weights=new_weights):
            return
        self._basic = repaired(self.form, self._basic)
        self.pivots.load(self._basic, self._rhs(), new_weights=True)


def exact_solution(form: ScaledForm, basic: Basis) -> BasicSolution:
    """Return the exact solution of a basis, repaired first where it is singular."""
    try:
        return BasicSolution(form, basic)
    except RuntimeError:
        return BasicSolution(form, repaired(form, basic))
