"""Perturbation of the right-hand side.

The right-hand side becomes b + A xi with a small random xi > 0: each
variable may then fall to -xi_j, which parts the ties of degenerate vertices (paper, section 3.3).
The model stays feasible if it was, and Farkas multipliers of the perturbed model prove the same of
the given one, as y'b = y'(b + A xi) - (A'y)'xi and A'y <= 0. Where an inversion shows that a
variable has drifted below zero by a little, its xi_j grows by that, instead of a return to phase 1.
"""

from __future__ import annotations

import numpy as np

from solvers.core.problem import FloatArray
from solvers.papers.simplex_variants.basic_solution import Basis, violations
from solvers.papers.simplex_variants.scaling import ScaledForm
from solvers.papers.simplex_variants.tolerances import FEASIBLE, PERTURBATION, ROUGH, WEAKER


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
