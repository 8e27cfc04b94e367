"""Rounds of annealing from the best point, judged by the objective.

Every round begins at the best point known and is heated so far that it forgets none, some or most
of it. Rows that nothing takes up count by weights in units of the objective: those that a round
leaves violated weigh more in the next, and the others slowly less, so that rounds go to and fro
over the border of what is feasible ("strategic oscillation", Glover and Hao 2011).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from solvers.core.problem import FloatArray
from solvers.mip.budget import VERY_LARGE_MODEL, Budget
from solvers.mip.heuristics.annealing.structure import (
    Number,
    Structure,
    find_structure,
)
from solvers.mip.model import MipModel, Submit
from solvers.mip.portfolio.credit import SWAPS
from solvers.mip.portfolio.heuristic import (
    OVER,
    UNFINISHED,
    Declined,
    Heuristic,
    HeuristicContext,
    Needs,
    Report,
    SearchSpace,
    aggregated_space,
    full_space,
)
from solvers.native.mip_heuristics_annealing import anneal, sum_up

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

Best = Callable[[], "FloatArray | None"]


class Annealing:
    """Rounds that go on from run to run; for one thread at a time.

    Parameters
    ----------
    structure : Structure
        Its groups and slacks.
    submit : callable
        Gets points that are better than the one a round began at.
    best : callable
        Returns the best point (n,) known, or None.
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
        return int(self._state.numbers[Number.MOVES])

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
        sum_up(state)  # what adds up over millions of moves is no longer exact
        before = float(state.numbers[Number.WORK])
        cooling = COLD / self._hot
        trials = min(SLICE, self._left)
        done = int(self._trials) - self._left
        hot, cold = (
            self._mean * self._hot * cooling ** (part / int(self._trials))
            for part in (done, done + trials)
        )
        self._least = float(anneal(state, trials, hot, cold, self._least))
        budget.charge(float(state.numbers[Number.WORK] - before) + 4.0 * trials)
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
        sum_up(state)
        # even if the point violates a row within its tolerance, only a better one is of use
        self._least = self._begun_at = float(state.numbers[Number.COST])
        self._hot = HEATS[self.rounds % len(HEATS)]
        self._left = int(self._trials)
        self.rounds += 1
        return True

    def _measure(self) -> None:
        """Take the mean change of the objective from random moves, and weights from it."""
        state = self._state
        sum_up(state)
        state.numbers[Number.SUM], before = 0.0, self.moves
        hottest = np.finfo(np.float64).max  # at which every move is made
        anneal(state, SAMPLES, hottest, hottest, -np.inf)
        mean = float(state.numbers[Number.SUM]) / max(1, self.moves - before)
        self._mean = mean if mean > 0.0 else 1.0
        state.rows.weight[:] *= FIRST_WEIGHT * self._mean
        state.excess[:] *= FIRST_WEIGHT * self._mean

    def _hand_on(self) -> None:
        """Submit the best point of the round, if it is better than the one before."""
        if self._least < self._begun_at:
            self._begun_at = self._least
            self._submit(self._structure.point(self._home, self._state), SWAPS)

    def _end(self) -> None:
        """End a round: submit what is better, and change the weights by what it leaves violated."""
        state = self._state
        self._hand_on()
        violated, beyond = self._structure.violated(state)
        state.rows.weight[:] *= np.where(violated, HEAVIER, LIGHTER)
        state.excess[:] *= np.where(beyond, HEAVIER, LIGHTER)
        self._trials = min(GROWTH * self._trials, LONGEST)


LEAST_SHARE = 0.15
"""Share of turns that these searches are due at least, however often they were in vain."""

IN_VAIN = 0.4
"""Factor of their share for each turn without a better point."""


@dataclass(eq=False)
class _Prepared:
    context: HeuristicContext
    usual: float = 0.0
    due: float | None = None  # None: as usual


_State = tuple[_Prepared, Annealing]


class SwapMoves(Heuristic[_Prepared, _State]):
    """One search for each turn that runs at a time, due less and less while it is in vain.

    They are on the model as it is, or without its implied columns, whichever consists of groups
    and slacks.
    """

    name = SWAPS
    needs = Needs(pool_size=1, most_entries=VERY_LARGE_MODEL)

    def prepare(self, context: HeuristicContext) -> _Prepared:
        """Keep for later what has been in vain."""
        return _Prepared(context)

    def begin(self, prepared: _Prepared, number: int) -> _State:
        """Look for groups and slacks, once, and begin a search in them."""
        context = prepared.context
        found = context.once(self, lambda: _space_with_structure(context))
        if found is None:
            raise Declined("the model does not consist of groups and slacks")
        space, structure = found

        def best() -> FloatArray | None:
            point = context.acceptance.pool.best
            return None if point is None else space.here(point.x)

        seed = context.seed_of(self.name, number)
        return prepared, Annealing(space.model, structure, space.submit, best, seed)

    def share(self, prepared: _Prepared, usual: float) -> float:
        """Return the share that turns in vain have left."""
        prepared.usual = usual
        return usual if prepared.due is None else prepared.due

    def run(self, state: _State, budget: Budget, seed: int) -> Report:
        """Go on, and count whether it was in vain."""
        prepared, search = state
        pool = prepared.context.acceptance.pool
        before = pool.objective
        if not search.run(budget):
            return OVER
        due = prepared.usual if prepared.due is None else prepared.due
        prepared.due = None if pool.objective < before else max(LEAST_SHARE, IN_VAIN * due)
        return UNFINISHED


def _space_with_structure(context: HeuristicContext) -> tuple[SearchSpace, Structure] | None:
    for make in (full_space, aggregated_space):
        space = make(context)
        structure = None if space is None else find_structure(space.model)
        if space is not None and structure is not None:
            return space, structure
    return None
