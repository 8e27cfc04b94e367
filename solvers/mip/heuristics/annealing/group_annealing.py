"""Annealing over groups of binaries, for rows that hold together what one column at a time undoes.

Where every binary is in a row that asks for exactly one, and perhaps in another across, a step of a
single column always violates such rows, and chains of steps find their way back by luck: cells of a
square and the numbers in them, jobs and places. Here the rows of the groups hold always. A group
moves its one, and where that takes the value of another group, the two exchange theirs; all other
rows count by how much they are violated. (Simulated annealing after Kirkpatrick, Gelatt and Vecchi
1983, in rounds that get longer; rows violated at the end of a round weigh more in the next.)

Of 36 numbers to be put in 36 places so that eight sums of nine places are as asked for, this finds
a placing after 0.3 to 7 million entries, and of 49 with ten sums after 0.8 to 7 million; walks find
none in 300 million, and searches with clauses one of six. Of csched010's model without its defined
columns a point comes after nine million entries, where walks take 2 to 14.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from solvers.core.problem import FloatArray
from solvers.mip.heuristics.annealing.groups import Groups
from solvers.mip.heuristics.annealing.state import ENERGY, MOVES, NOTHING, WORK, State
from solvers.mip.heuristics.local_search.cpu.settings import VIOLATION_TOLERANCE
from solvers.mip.heuristics.local_search.cpu.walk import InfeasiblePoints
from solvers.mip.model import MipModel
from solvers.mip.portfolio.budget import Budget
from solvers.mip.solutions.pool import Submit
from solvers.native.mip_heuristics_annealing import anneal, sum_up

SOURCE = "swap moves"

FIRST_TRIALS, LONGEST = 20_000, 5_000_000
"""Trials of a first round and of the longest."""

GROWTH = 1.5
"""Factor of the trials from round to round."""

FURTHER = 2
"""Of so many rounds one begins anew, and the others where the one before was best."""

SLICE = 20_000
"""Trials between two looks at the budget."""

HOT, COLD = 0.2, 0.001
"""First and last temperature, by the mean rise of the violation that a random move causes."""

HEAVIER = 1.2
"""Factor on the weights of rows that a round leaves violated."""

ANY_MOVE, SMALLEST_RISE = 1e300, 1e-6
"""A temperature at which every move is made, and the least mean rise that counts."""

SAMPLES = 200
"""Random moves from which temperatures are taken."""


class SwapMoves:
    """Rounds of annealing that go on from run to run; for one thread at a time.

    Parameters
    ----------
    model : MipModel
    groups : Groups
    submit, infeasible_points : callable
        Get points that keep all rows, and the least violated ones of rounds that found none.
    seed : int
    """

    def __init__(
        self,
        model: MipModel,
        groups: Groups,
        submit: Submit,
        infeasible_points: InfeasiblePoints,
        seed: int,
    ) -> None:
        self._model, self._groups = model, groups
        self._submit, self._infeasible_points = submit, infeasible_points
        self._rng = np.random.default_rng(seed)
        self._home = np.where(
            model.lower == model.upper, model.lower, np.clip(0.0, model.lower, model.upper)
        )
        self._state = _state_of(model, groups, self._home, seed)
        self._trials = FIRST_TRIALS
        self._left = 0
        self._least = np.inf
        self._hot = 1.0
        self.rounds = 0
        self.is_over = False

    @property
    def moves(self) -> int:
        """Moves made so far."""
        return int(self._state.numbers[MOVES])

    def run(self, budget: Budget, is_enough: Callable[[], bool] = lambda: False) -> None:
        """Anneal until the budget is spent, it is enough, or a point is found."""
        while not self.is_over and not is_enough() and not budget.spent():
            if self._left <= 0:
                self._begin()
            self._slice(budget)

    def _slice(self, budget: Budget) -> None:
        state = self._state
        sum_up(state)  # what adds up over millions of moves is no longer exact
        before = state.numbers[WORK]
        done = self._trials - self._left
        cooling = COLD / HOT
        hot = self._hot * cooling ** (done / self._trials)
        trials = min(SLICE, self._left) if self._least > NOTHING else 0
        cold = self._hot * cooling ** ((done + trials) / self._trials)
        self._least = float(anneal(state, trials, hot, cold, self._least))
        budget.charge(float(state.numbers[WORK] - before) + 4.0 * trials)
        self._left -= trials
        if self._least <= NOTHING:
            self.is_over = True
            self._submit(self._point(), SOURCE)
        elif self._left <= 0:
            self._end()

    def _begin(self) -> None:
        """Begin a round: from a random matching, with temperatures for the weights of now."""
        state, groups = self._state, self._groups
        if self.rounds % FURTHER == 0:
            state.current[:] = _matching(groups, self._rng)
        sum_up(state)
        state.best[:] = state.current
        self._least = float(state.numbers[ENERGY])
        self._hot = HOT * self._mean_rise()
        self._left = self._trials
        self.rounds += 1

    def _mean_rise(self) -> float:
        """Return the mean rise of random moves from here, which are made on the way."""
        state = self._state
        kept, before = state.current.copy(), float(state.numbers[ENERGY])
        rises = []
        for _ in range(SAMPLES):
            anneal(state, 1, ANY_MOVE, ANY_MOVE, -1.0)
            now = float(state.numbers[ENERGY])
            rises.append(abs(now - before))
            before = now
        state.current[:] = kept
        return max(float(np.mean(rises)), SMALLEST_RISE)

    def _end(self) -> None:
        """End a round: hand on its best point, and let what it violates weigh more."""
        state, model = self._state, self._model
        x = self._point()
        activity = model.activity(x)
        out = np.maximum(model.row_lower - activity, activity - model.row_upper)
        violated = out > VIOLATION_TOLERANCE
        self._infeasible_points(x, int(np.count_nonzero(violated)))
        state.weight[violated] *= HEAVIER
        state.current[:] = state.best
        self._trials = int(min(GROWTH * self._trials, LONGEST))

    def _point(self) -> FloatArray:
        x = self._home.copy()
        x[self._groups.column] = 0.0
        x[self._state.best] = 1.0
        return x


def _matching(groups: Groups, rng: np.random.Generator) -> np.ndarray:
    """Return a column for each group, at random, no value twice as far as that goes."""
    chosen = np.empty(groups.start.size - 1, dtype=np.int32)
    taken: set[int] = set()
    for g in rng.permutation(chosen.size).tolist():
        columns = rng.permutation(groups.column[groups.start[g] : groups.start[g + 1]])
        free = [j for j in columns.tolist() if groups.value[j] not in taken]
        chosen[g] = free[0] if free else columns[0]
        if groups.value[chosen[g]] >= 0:
            taken.add(int(groups.value[chosen[g]]))
    return chosen


def _state_of(model: MipModel, groups: Groups, home: FloatArray, seed: int) -> State:
    m = model.num_rows
    base = home.copy()
    base[groups.column] = 0.0
    fixed = model.activity(base)
    size = model.rows.largest
    weight = 1.0 / np.where(size > 0.0, size, 1.0)
    weight[groups.is_kept] = 0.0
    longest = int(np.max(model.columns.lengths, initial=0))
    word = int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0]) or 1
    return State(
        by_column=model.columns,
        start=groups.start,
        column=groups.column,
        value=groups.value,
        table=groups.table,
        lower=model.row_lower - fixed,
        upper=model.row_upper - fixed,
        weight=weight,
        activity=np.zeros(m),
        delta=np.zeros(m),
        stamp=np.zeros(m, dtype=np.int64),
        touched=np.zeros(max(1, 4 * longest), dtype=np.int32),
        holder=np.zeros(groups.table.shape[1], dtype=np.int32),
        current=np.zeros(groups.start.size - 1, dtype=np.int32),
        best=np.zeros(groups.start.size - 1, dtype=np.int32),
        numbers=np.zeros(8),
        random=np.array([word], dtype=np.uint64),
    )
