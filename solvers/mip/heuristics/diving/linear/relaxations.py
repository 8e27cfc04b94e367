"""The LPs of dives: one matrix, bounds that change, and what each dive minimises."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from solvers.core.outcome import Basis
from solvers.mip.heuristics.diving.linear.rules import RULES
from solvers.mip.heuristics.feasibility_pump.augmented import Request
from solvers.mip.heuristics.feasibility_pump.projector import Projection
from solvers.mip.heuristics.feasibility_pump.simplex import Simplex
from solvers.mip.inference.domain import Domain
from solvers.mip.model import MipModel
from solvers.mip.portfolio.budget import Budget

FIRST_SECONDS, FIRST_WORK = 1.5, 6e8
"""What the relaxation with the model's costs may take from nothing; beyond, dives do without costs
until somebody has solved it."""

CHANGE = 0.2
"""Largest part by which costs are changed for other dives by the same rules."""


class Relaxations:
    """Solves relaxations within narrower bounds; for one thread at a time.

    Parameters
    ----------
    model : MipModel
    seed : int
    basis : callable
        Returns the basis of the relaxation's solution, or None while there is none.
    for_costs : bool
        Whether all dives minimise the model's costs: the first few these, later ones somewhat
        changed at random.
    """

    def __init__(
        self,
        model: MipModel,
        seed: int,
        basis: Callable[[], Basis | None],
        for_costs: bool = False,
    ) -> None:
        self._model = model
        self._for_costs = for_costs
        self._basis = basis
        self._rng = np.random.default_rng(seed)
        self._simplex = Simplex(model.problem, seed, presolve=False)
        self._has_basis, self._was_slow = False, False
        self._tried_seconds, self._tried_work = 0.0, 0.0
        self._may_be_priced = bool(model.cost.any())
        self._is_priced = False
        self._priced, self._unpriced = 0, 0
        self.cost = model.cost
        self.count = 0

    def begin(self) -> int:
        """Choose what the next dive minimises, with costs and without by turns.

        Returns how many dives there were of that kind before.
        """
        by_turns = self._for_costs or not self._is_priced
        self._is_priced = by_turns and self._may_begin_with_costs()
        if self._is_priced:
            self.cost = self._model.cost
            if self._priced >= len(RULES):
                changes = self._rng.uniform(-CHANGE, CHANGE, self.cost.size)
                self.cost = self.cost * (1.0 + changes) if self._for_costs else self.cost
            self._priced += 1
            return self._priced - 1
        self.cost = np.zeros(self._model.num_columns)
        if self._unpriced > 0:  # the first takes any point, others a random one
            integers = self._model.integers
            self.cost[integers] = self._rng.uniform(-1.0, 1.0, integers.size)
        self._unpriced += 1
        return self._unpriced - 1

    def solve(self, domain: Domain, budget: Budget) -> Projection | None:
        """Solve with the integer columns within a box; None where that takes too long with costs.

        Continuous columns keep the bounds of the model: what propagation says of them follows from
        the rows, and is cut closer than simplex can tell.
        """
        model = self._model
        whole = model.is_integer == 1
        request = Request(
            self.cost,
            np.where(whole, domain.lower, model.lower),
            np.where(whole, domain.upper, model.upper),
            model.row_lower,
            model.row_upper,
        )
        is_attempt = self._is_priced and not self._has_basis
        part = self._attempt(budget) if is_attempt else budget
        found = self._simplex.project(request, part)
        self.count += 1
        if is_attempt and found.is_cut_short and self._has_tried_long(part):
            self._was_slow = True
            return None
        self._has_basis |= self._is_priced and found.is_converged
        return found

    def _attempt(self, budget: Budget) -> Budget:
        """Return what is left for the relaxation with costs, from nothing."""
        return budget.part(FIRST_SECONDS - self._tried_seconds, FIRST_WORK - self._tried_work)

    def _has_tried_long(self, part: Budget) -> bool:
        """Count what was spent on that relaxation; return whether it was all there was."""
        self._tried_work += part.work
        if part.is_timed:
            self._tried_seconds += part.seconds
        return self._tried_seconds >= FIRST_SECONDS or self._tried_work >= FIRST_WORK

    def give_costs_up(self) -> bool:
        """Minimise nothing from here on; return whether anything was minimised."""
        had_costs = bool(self.cost.any())
        self._may_be_priced, self._is_priced = False, False
        self.cost = np.zeros(self._model.num_columns)
        return had_costs

    def _may_begin_with_costs(self) -> bool:
        """Whether the LP with costs has a solution to begin at, or is still to be tried without."""
        if not self._may_be_priced:
            return False
        basis = None if self._has_basis else self._basis()
        if basis is not None:
            self._simplex.begin_at(basis)
            self._has_basis = True
        return self._has_basis or not self._was_slow
