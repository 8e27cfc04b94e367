"""Rounds of annealing from the best point, judged by the objective.

Every round begins at the best point known and is heated so far that it forgets none, some or most
of it. Rows that nothing takes up count by weights in units of the objective: those that a round
leaves violated weigh more in the next, and the others slowly less, so that rounds go to and fro
over the border of what is feasible ("strategic oscillation", Glover and Hao 2011).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from solvers.core.problem import FloatArray
from solvers.mip.heuristics.annealing.group_annealing import SOURCE
from solvers.mip.heuristics.annealing.with_costs.state import COST, MOVES, SUM, WORK
from solvers.mip.heuristics.annealing.with_costs.structure import Structure
from solvers.mip.model import MipModel
from solvers.mip.portfolio.budget import Budget
from solvers.mip.solutions.pool import Submit
from solvers.native.mip_heuristics_annealing_with_costs import anneal_costs, sum_up_costs

FIRST_TRIALS, LONGEST = 2_000, 20_000_000
"""Trials of a first round and of the longest: the first are short, because it takes some rounds
until the weights of rows are right."""

GROWTH = 1.3
"""Factor of the trials from round to round."""

SLICE = 20_000
"""Trials between two looks at the budget."""

HEATS = (0.1, 0.3, 0.03)
"""First temperatures of rounds, one after the other, in mean changes of the objective by a move."""

COLD = 0.003
"""Last temperature, in the same."""

FIRST_WEIGHT = 3.0
"""What a row violated by its largest entry counts for at first, in mean changes."""

HEAVIER, LIGHTER = 1.5, 0.95
"""Factors on the weights of rows that a round leaves violated, and of the others."""

SAMPLES = 200
"""Random moves from which the mean change is taken."""

ANY_MOVE = 1e300
"""A temperature at which every move is made."""

Best = Callable[[], "FloatArray | None"]


class CostSwapMoves:
    """Rounds that go on from run to run; for one thread at a time.

    Parameters
    ----------
    model : MipModel
    structure : Structure
        Its groups and slacks.
    submit : callable
        Gets points that are better than the one a round began at.
    best : callable
        Returns the best point (n,) known, or None.
    seed : int
    """

    def __init__(
        self, model: MipModel, structure: Structure, submit: Submit, best: Best, seed: int
    ) -> None:
        self._model, self._structure = model, structure
        self._submit, self._best = submit, best
        self._state = structure.state(model, seed)
        self._home = np.zeros(model.num_columns)
        self._trials, self._left = float(FIRST_TRIALS), 0
        self._least, self._begun_at = np.inf, np.inf
        self._mean, self._hot = 1.0, 1.0
        self.rounds = 0

    @property
    def moves(self) -> int:
        """Moves made so far."""
        return int(self._state.numbers[MOVES])

    def run(self, budget: Budget) -> bool:
        """Anneal until the budget is spent; return whether there was a point to begin at."""
        while not budget.spent():
            if self._left <= 0:
                if not self._begin():
                    return False
                budget.charge(float(self._model.num_nonzeros))
            self._slice(budget)
        self._hand_on()
        return True

    def _slice(self, budget: Budget) -> None:
        state = self._state
        sum_up_costs(state)  # what adds up over millions of moves is no longer exact
        before = float(state.numbers[WORK])
        cooling = COLD / self._hot
        trials = min(SLICE, self._left)
        done = int(self._trials) - self._left
        hot, cold = (
            self._mean * self._hot * cooling ** (part / int(self._trials))
            for part in (done, done + trials)
        )
        self._least = float(anneal_costs(state, trials, hot, cold, self._least))
        budget.charge(float(state.numbers[WORK] - before) + 4.0 * trials)
        self._left -= trials
        if self._left <= 0:
            self._end()

    def _begin(self) -> bool:
        """Begin a round at the best point; return whether there is one that makes all choices."""
        x, structure, state = self._best(), self._structure, self._state
        chosen = None if x is None else structure.chosen(x)
        if x is None or chosen is None:
            return False
        self._home = structure.home(x)
        structure.put_sides(self._model, self._home, state)
        state.current[:] = state.best[:] = chosen
        if not self.rounds:
            self._measure()
            state.current[:] = chosen
        sum_up_costs(state)
        # even if the point violates a row within its tolerance, only a better one is of use
        self._least = self._begun_at = float(state.numbers[COST])
        self._hot = HEATS[self.rounds % len(HEATS)]
        self._left = int(self._trials)
        self.rounds += 1
        return True

    def _measure(self) -> None:
        """Take the mean change of the objective from random moves, and weights from it."""
        state = self._state
        sum_up_costs(state)
        state.numbers[SUM], before = 0.0, self.moves
        anneal_costs(state, SAMPLES, ANY_MOVE, ANY_MOVE, -np.inf)
        mean = float(state.numbers[SUM]) / max(1, self.moves - before)
        self._mean = mean if mean > 0.0 else 1.0
        state.weight[:] *= FIRST_WEIGHT * self._mean
        state.excess[:] *= FIRST_WEIGHT * self._mean

    def _hand_on(self) -> None:
        """Submit the best point of the round, if it is better than the one before."""
        if self._least < self._begun_at:
            self._begun_at = self._least
            self._submit(self._structure.point(self._home, self._state), SOURCE)

    def _end(self) -> None:
        """End a round: submit what is better, and change the weights by what it leaves violated."""
        state = self._state
        self._hand_on()
        violated, beyond = self._structure.violated(state)
        state.weight[:] *= np.where(violated, HEAVIER, LIGHTER)
        state.excess[:] *= np.where(beyond, HEAVIER, LIGHTER)
        self._trials = min(GROWTH * self._trials, LONGEST)
