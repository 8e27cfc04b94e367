"""Dives along the linear relaxation, which is solved anew after every few decisions.

Fix-and-propagate asks the relaxation once and follows its point to the end, however wrong that has
become. Here the LP says again and again where the rest is to go, from the basis in which it ended
(dual simplex, some iterations for changed bounds), and an LP without a point turns back decisions
that propagation took no offence at: flow balances and long knapsacks say little about bounds and
much together. (Berthold, "Primal heuristics for mixed integer programs", 2006, chapter 3.)

    solve the relaxation within the bounds decided so far
    whole        submit it
    without one  keep the first half of what was decided since the last LP; of a single decision,
                 take the opposite, and where that is no way either, that of the decision before
    fractional   decide a bulk of columns by the dive's rule, each propagated at once

Dives differ by their rule and by what the LP minimises: the model's costs, nothing, or random costs
of the integer columns, which take it to another corner. An LP without costs is solved in a fraction
of the time where simplex takes long. Columns whose decisions came to nothing are decided first from
then on, as in searches with constraints ("Boosting systematic search by weighting constraints",
Boussemart, Hemery, Lecoutre and Sais 2004): of arki001 a point comes after 157 LPs in place of 465.

Of germanrr's presolved model this finds a point after 24 to 31 LPs (seeds 0, 1, 2), in some four
seconds from nothing, where walks stop at three violated rows; of nursesched-sprint02 after 8 or 9,
of dano3_5 after 6.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from solvers.core.outcome import Basis
from solvers.core.problem import FloatArray
from solvers.mip.budget import Budget
from solvers.mip.heuristics.diving.rules import RULES, Ranking, fractional_columns
from solvers.mip.inference.domain import Domain
from solvers.mip.inference.relaxation import LpPoint, Simplex
from solvers.mip.model import (
    FEASIBILITY_TOLERANCE,
    MipModel,
    ShowInfeasible,
    Submit,
)
from solvers.mip.portfolio.credit import LINEAR_DIVE

FIRST_SECONDS, FIRST_WORK = 1.5, 6e8
"""What the relaxation with the model's costs may take from nothing; beyond, dives do without costs
until somebody has solved it."""

CHANGE = 0.2
"""Largest part by which costs are changed for other dives by the same rules."""


class Relaxations:
    """Solves relaxations within narrower bounds; for one thread at a time.

    Parameters
    ----------
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

    def solve(self, domain: Domain, budget: Budget) -> LpPoint | None:
        """Solve with the integer columns within a box; None where that takes too long with costs.

        Continuous columns keep the bounds of the model: what propagation says of them follows from
        the rows, and is cut closer than simplex can tell.
        """
        model = self._model
        whole = model.is_integer == 1
        is_attempt = self._is_priced and not self._has_basis
        part = self._attempt(budget) if is_attempt else budget
        found = self._simplex.solve(
            part,
            cost=self.cost,
            lower=np.where(whole, domain.lower, model.lower),
            upper=np.where(whole, domain.upper, model.upper),
        )
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
            self._simplex.lp.begin_at(basis)
            self._has_basis = True
        return self._has_basis or not self._was_slow


BULK_PART = 0.1
"""Part of the fractional columns decided between two LPs, at most; see also :data:`MOVED_PART`."""

MOVED_PART = 0.1
"""Part of the integer columns whose value in the last LP the decisions since may rule out: beyond,
that point says little (SCIP solves the LP again when 15 percent of the bounds have changed)."""

BULK_GROWTH = 1.5
"""Factor by which a bulk may be larger after an LP that has a point; one without halves it."""

TURNS_BACK = 40
"""Times that a dive may go back before it is given up."""


@dataclass(frozen=True)
class _Decision:
    """A column that was bounded, the place before on the trail, and the opposite if untried."""

    place: int
    column: int
    opposite: tuple[float, float] | None


class LinearDives:
    """Dives with an LP solved again and again; for one thread at a time.

    Parameters
    ----------
    domain : Domain
        Propagated box to dive from; it is not changed.
    submit : Submit
        Gets relaxations' points whose integers are whole.
    show_infeasible : callable
        Gets what is left of a dive that found none, rounded.
    basis : callable, optional
        Returns the basis of the relaxation's solution, or None while there is none.
    first : int
        Place of the first rule, so that dives side by side go by other rules.
    cutoff : callable, optional
        Returns the objective that points have to be below; then all dives minimise the costs, and
        end where an LP's point is not.
    """

    def __init__(
        self,
        model: MipModel,
        domain: Domain,
        submit: Submit,
        show_infeasible: ShowInfeasible,
        seed: int,
        *,
        basis: Callable[[], Basis | None] = lambda: None,
        first: int = 0,
        cutoff: Callable[[], float] | None = None,
    ) -> None:
        self._model = model
        self._cutoff = cutoff
        self._domain = domain.copy()
        self._domain.forget()
        self._root = self._domain.mark()
        self._submit = submit
        self._show_infeasible = show_infeasible
        self._first = first
        self._ranking = Ranking(model)
        self._failures = np.zeros(model.num_columns)
        self._relaxations = Relaxations(model, seed, basis, cutoff is not None)
        self._decided: list[_Decision] = []
        self._solved = 0
        self._bulk = np.inf
        self._turns_back = 0
        self._last: FloatArray | None = None
        self._rule = RULES[0]
        self.dives = 0
        self.is_over = False
        self._begin()

    @property
    def relaxations(self) -> int:
        """Number of LPs so far."""
        return self._relaxations.count

    def run(self, budget: Budget, is_enough: Callable[[], bool] = lambda: False) -> None:
        """Go on until the budget is spent, it is enough, or there is nothing more to try."""
        while not self.is_over and not is_enough() and not budget.spent():
            before = self._domain.work
            self._step(budget)
            budget.charge(float(self._domain.work - before))

    def _step(self, budget: Budget) -> None:
        """Solve one LP, and do what it says."""
        found = self._relaxations.solve(self._domain, budget)
        if found is None or (found.is_converged and self._is_too_dear(found.x)):
            self._begin()
        elif found.is_converged:
            self._solved, self._last = len(self._decided), found.x
            self._bulk *= BULK_GROWTH
            self._descend(found.x)
        elif found.is_empty and self._decided:
            self._bulk *= 0.5
            self._go_back()
        elif not found.is_cut_short:
            self._without_answer()

    def _is_too_dear(self, x: FloatArray) -> bool:
        """Whether the points that a dive can still come to are no improvement."""
        return self._cutoff is not None and self._model.objective_at(x) >= self._cutoff()

    def _without_answer(self) -> None:
        """Go back where an LP fails; do without costs, or without dives, where the first does."""
        if self._decided:
            self._go_back()
        elif not self._relaxations.give_costs_up():
            self.is_over = True

    def _begin(self) -> None:
        """Begin a dive: the next rule, from the box to begin with."""
        self.dives += 1
        self._domain.undo(self._root)
        self._decided, self._solved, self._turns_back, self._last = [], 0, 0, None
        self._bulk = np.inf  # until it is known what the relaxation leaves open
        number = self._relaxations.begin()
        self._rule = RULES[(self._first + number) % len(RULES)]

    def _descend(self, x: FloatArray) -> None:
        """Decide a bulk of fractional columns, or submit a point without any."""
        model, domain = self._model, self._domain
        columns = fractional_columns(model, x)
        if columns.size == 0:
            self._submit(x, LINEAR_DIVE)
            self._begin()
            return
        most = max(1.0, BULK_PART * columns.size)
        self._bulk = max(1.0, min(self._bulk, most))
        ruled_out = max(1.0, MOVED_PART * model.integers.size)
        failures = self._failures[columns]
        decisions = self._ranking.order(self._rule, x, columns, self._relaxations.cost, failures)
        made = 0
        for j, goes_up in zip(decisions.columns.tolist(), decisions.goes_up.tolist(), strict=True):
            low, high = float(domain.lower[j]), float(domain.upper[j])
            if not low <= x[j] <= high:
                continue  # propagation has decided already
            up, down = (float(np.ceil(x[j])), high), (low, float(np.floor(x[j])))
            if not self._decide(j, *((up, down) if goes_up else (down, up))):
                self._go_back()
                return
            made += 1
            if made >= self._bulk or self._ruled_out(x) > ruled_out:
                return

    def _ruled_out(self, x: FloatArray) -> int:
        """Return how many integer columns may not keep their value of ``x``."""
        integers = self._model.integers
        values = x[integers]
        beyond = values < self._domain.lower[integers] - FEASIBILITY_TOLERANCE
        beyond |= values > self._domain.upper[integers] + FEASIBILITY_TOLERANCE
        return int(np.count_nonzero(beyond))

    def _decide(
        self, j: int, bounds: tuple[float, float], opposite: tuple[float, float] | None
    ) -> bool:
        """Bound a column, or else the other way; return whether either is possible."""
        place = self._domain.mark()
        if self._domain.tighten(j, *bounds):
            self._decided.append(_Decision(place, j, opposite))
            return True
        self._domain.undo(place)
        self._failures[j] += 1.0
        return opposite is not None and self._decide(j, opposite, None)

    def _go_back(self) -> None:
        """Take back what was decided last, and go another way."""
        self._turns_back += 1
        if self._turns_back > TURNS_BACK:
            self._give_up()
            return
        since = len(self._decided) - self._solved
        if since > 1:
            self._take_back(self._solved + since // 2)
            return
        while self._decided:
            last = self._decided[-1]
            self._failures[last.column] += 1.0
            self._take_back(len(self._decided) - 1)
            if last.opposite is not None and self._decide(last.column, last.opposite, None):
                return
        self._give_up()

    def _take_back(self, kept: int) -> None:
        self._domain.undo(self._decided[kept].place)
        del self._decided[kept:]
        self._solved = min(self._solved, kept)

    def _give_up(self) -> None:
        """Leave the dive, and hand on what the last LP with a point says."""
        if self._last is not None:
            model = self._model
            x = model.rounded(self._last)
            self._show_infeasible(x, model.violated_rows(x))
        self._begin()
