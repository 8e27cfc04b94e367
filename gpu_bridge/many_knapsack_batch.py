"""A batch of 0/1 knapsack problems: from its arrays to answers, without a model of each member."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt

from gpu_bridge.many_batch import Batch
from gpu_bridge.many_knapsacks import ENGINE, FEWEST, Told, place
from gpu_bridge.many_outcomes import Singles
from gpu_bridge.options import Options
from gpu_bridge.outcome import Outcome
from gpu_bridge.progress import BridgeProgress
from solvers.outcome import SolutionStatus
from solvers.problem import FloatArray

if TYPE_CHECKING:
    from solvers.knapsack.many import ManyPackings

IntArray = npt.NDArray[np.int64]

EXACT = 2.0**53
"""Sums of whole numbers below this are exact in double precision."""

STEPS_PER_ITEM = 4
"""Elementary steps of making a number whole."""


def solve_knapsack_batch(
    batch: Batch, options: Options, progress: BridgeProgress
) -> Knapsacks | None:
    """Solve a batch of 0/1 knapsack problems in whole numbers from its arrays.

    Returns
    -------
    Knapsacks or None
        None, and nothing done, for all else: fractions, other bounds, other methods.
    """
    if options.method not in ("auto", ENGINE) or len(batch) < FEWEST:
        return None
    items = _plain_items(batch, options.threads)
    if items is None:
        return None
    from solvers.knapsack.many import solve_many_knapsacks

    answer = solve_many_knapsacks(*items, place(options), progress, threads=options.threads)
    return Knapsacks(Lazily(batch, Told.of(answer, progress), options))


def _plain_items(batch: Batch, threads: int) -> tuple[IntArray, IntArray, IntArray] | None:
    """Return profits, weights (k, n) and capacities (k,) if all are whole and sums are exact."""
    problem, count = batch.problem, len(batch)
    names = ("lower", "upper", "row_lower", "row_upper", "cost", "coefficients")
    lower, upper, row_lower, row_upper, cost, coefficients = map(batch.rows_of, names)
    if (
        problem.num_rows != 1
        or problem.num_nonzeros < FEWEST
        or not problem.integrality.all()
        or lower.any()
        or (upper != 1.0).any()
        or (row_lower != -np.inf).any()
    ):
        return None
    every = np.arange(problem.num_columns)
    profits = _whole(cost, every, problem.num_columns, threads)
    weights = _whole(coefficients, problem.matrix.indices, problem.num_columns, threads)
    capacities = _whole(row_upper, every[:1], 1, threads)
    if profits is None or weights is None or capacities is None:
        return None
    np.negative(profits, out=profits)
    profits, weights, capacities = (
        values if len(values) == count else np.repeat(values, count, axis=0)
        for values in (profits, weights, capacities)
    )
    return profits, weights, capacities[:, 0]


def _whole(values: FloatArray, places: Any, columns: int, threads: int) -> IntArray | None:
    """Return values in their columns as whole numbers, if sums of them are exact as doubles."""
    from solvers.kernels.twin import run_twin, threads_for
    from solvers.knapsack.many.check import make_whole

    out = np.zeros((len(values), columns), dtype=np.int64)
    refused = np.zeros(len(values), dtype=np.bool_)
    given = np.ascontiguousarray(values), np.asarray(places, dtype=np.int64), EXACT / columns
    work = STEPS_PER_ITEM * values.size
    run_twin(make_whole, (*given, out, refused), threads_for(work, threads))
    return None if refused.any() else out


class Lazily(Sequence[Outcome]):
    """Outcomes of a batch's members, each made and checked when it is asked for."""

    def __init__(self, batch: Batch, told: Told, options: Options) -> None:
        self.batch = batch
        self.told = told
        self._options = options

    def __len__(self) -> int:
        return len(self.batch)

    @overload
    def __getitem__(self, index: int) -> Outcome: ...

    @overload
    def __getitem__(self, index: slice) -> list[Outcome]: ...

    def __getitem__(self, index: int | slice) -> Outcome | list[Outcome]:
        if isinstance(index, slice):
            return [self[k] for k in range(*index.indices(len(self)))]
        x = self.told.answer.of(index).astype(np.float64)
        return self.told.outcome(index, self.batch.member(index), x, 1, self._options)


@dataclass(frozen=True, eq=False)
class Knapsacks(Singles):
    """Members of a batch of 0/1 knapsack problems, whose arrays need no outcomes to be made.

    All sums are exact in double precision. What is not proven goes through the gate one by one.
    """

    outcomes: Lazily

    @property
    def _answer(self) -> ManyPackings:
        return self.outcomes.told.answer

    def statuses(self) -> list[SolutionStatus]:
        """Return the status of each."""
        answer = self._answer
        found = [
            SolutionStatus.OPTIMAL if feasible else SolutionStatus.INFEASIBLE
            for feasible in answer.feasible.tolist()
        ]
        for k in np.flatnonzero(~answer.proven).tolist():
            found[k] = self.outcomes[k].solution_status
        return found

    def numbers(self, name: str) -> FloatArray:
        """Return 'objective', 'bound' or 'iterations' of each."""
        answer, batch = self._answer, self.outcomes.batch
        if name == "iterations":
            return np.full(len(self), np.nan)
        sign = -1.0 if batch.problem.maximize else 1.0
        without = np.nan if name == "objective" else -np.inf
        objective = batch.rows_of("offset")[:, 0] - answer.profit
        values = sign * np.where(answer.feasible, objective, without)
        for k in np.flatnonzero(~answer.proven).tolist():
            values[k] = getattr(self.outcomes[k], name)
        return values

    def array(self, name: str) -> FloatArray:
        """Return an array of points or activities; there are no duals."""
        answer, batch = self._answer, self.outcomes.batch
        width = 1 if name in ("row_activity", "row_dual") else batch.problem.num_columns
        values = np.full((len(self), width), np.nan)
        if name in ("x", "row_activity"):
            x = answer.rows.astype(np.float64)
            if name == "row_activity":
                own = x[:, batch.problem.matrix.indices] * batch.rows_of("coefficients")
                x = own.sum(axis=1, keepdims=True)
            values[answer.feasible] = x[answer.feasible]
        return values
