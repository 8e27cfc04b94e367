"""The dives of one model, one after the other, which go on from run to run.

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
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from solvers.core.outcome import Basis
from solvers.core.problem import FloatArray
from solvers.mip.heuristics.diving.linear.relaxations import Relaxations
from solvers.mip.heuristics.diving.linear.rules import RULES, Ranking, fractional_columns
from solvers.mip.inference.domain import Domain
from solvers.mip.model import FEASIBILITY_TOLERANCE, MipModel
from solvers.mip.portfolio.budget import Budget
from solvers.mip.solutions.pool import Submit

SOURCE = "linear dive"

BULK_PART = 0.1
"""Part of the fractional columns decided between two LPs, at most; see also :data:`MOVED_PART`."""

MOVED_PART = 0.1
"""Part of the integer columns whose value in the last LP the decisions since may rule out: beyond,
that point says little (SCIP solves the LP again when 15 percent of the bounds have changed)."""

BULK_GROWTH = 1.5
"""Factor by which a bulk may be larger after an LP that has a point; one without halves it."""

TURNS_BACK = 40
"""Times that a dive may go back before it is given up."""

InfeasiblePoints = Callable[[FloatArray, int], None]
"""Takes a point (n,) with whole integers and the number of rows that it violates."""


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
    model : MipModel
    domain : Domain
        Propagated box to dive from; it is not changed.
    submit : Submit
        Gets relaxations' points whose integers are whole.
    infeasible_points : callable
        Gets what is left of a dive that found none, rounded.
    seed : int
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
        infeasible_points: InfeasiblePoints,
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
        self._infeasible_points = infeasible_points
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
            self._submit(x, SOURCE)
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
            activity = model.activity(x)
            outside = np.maximum(model.row_lower - activity, activity - model.row_upper)
            self._infeasible_points(x, int(np.count_nonzero(outside > FEASIBILITY_TOLERANCE)))
        self._begin()
