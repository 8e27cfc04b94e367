"""A batch of 0/1 knapsack problems: from its arrays to answers, without a model of each member."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt

from gpu_bridge.batch.batch import Batch
from gpu_bridge.batch.knapsack_models import ENGINE, FEWEST, Told, place
from gpu_bridge.batch.outcomes import Singles
from gpu_bridge.options import Options
from gpu_bridge.outcome import Outcome
from gpu_bridge.pipeline.deadline import answered
from gpu_bridge.report.progress import BridgeProgress
from solvers.core.device import Device, find_device
from solvers.core.outcome import SolutionStatus
from solvers.core.problem import FloatArray
from solvers.core.progress import Progress

if TYPE_CHECKING:
    from solvers.knapsack.batch import ManyPackings

IntArray = npt.NDArray[np.int64]
AnyIntArray = npt.NDArray[Any]

EXACT = 2.0**53
"""Sums of whole numbers below this are exact in double precision."""

STEPS_PER_ITEM = 4
"""Elementary steps of making a number whole, or of writing it to a point."""

SAMPLE = 64
"""Members looked at to see how narrow whole numbers may be."""


def solve_knapsack_batch(
    batch: Batch, options: Options, progress: BridgeProgress
) -> Knapsacks | None:
    """Solve a batch of 0/1 knapsack problems in whole numbers from its arrays.

    Returns
    -------
    Knapsacks or None
        None for all else, fractions, other bounds, other methods, and where time was up.
    """
    if options.method not in ("auto", ENGINE) or len(batch) < FEWEST:
        return None
    if not _may_be_one(batch):
        return None
    answer = answered(lambda own: _solve(batch, options, own), progress, ENGINE)
    return None if answer is None else Knapsacks(Lazily(batch, Told.of(answer, progress), options))


def _solve(batch: Batch, options: Options, progress: Progress) -> ManyPackings | None:
    """Solve it; None where numbers are not whole."""
    from solvers.knapsack.batch import solve_many_knapsacks

    device = find_device(place(options))
    items = _plain_items(batch, device, options.threads)
    if items is None:
        return None
    return solve_many_knapsacks(*items, device, progress, threads=options.threads)


def _may_be_one(batch: Batch) -> bool:
    """Whether all members have 0/1 items and one capacity."""
    problem = batch.problem
    names = ("lower", "upper", "row_lower")
    lower, upper, row_lower = map(batch.rows_of, names)
    return bool(
        problem.num_rows == 1
        and problem.num_nonzeros >= FEWEST
        and problem.integrality.all()
        and not lower.any()
        and (upper == 1.0).all()
        and (row_lower == -np.inf).all()
    )


def _plain_items(
    batch: Batch, device: Device, threads: int
) -> tuple[AnyIntArray, AnyIntArray, IntArray] | None:
    """Return profits, weights (k, n) and capacities (k,) if all are whole and sums are exact."""
    problem, count = batch.problem, len(batch)
    every = np.arange(problem.num_columns)
    entries = problem.matrix.indices
    profits = _whole(batch.rows_of("cost"), every, -1.0, every.size, threads, device)
    weights = _whole(batch.rows_of("coefficients"), entries, 1.0, every.size, threads, device)
    capacities = _whole(batch.rows_of("row_upper"), every[:1], 1.0, 1, threads)
    if profits is None or weights is None or capacities is None:
        return None
    profits, weights, capacities = (
        values if len(values) == count else np.repeat(values, count, axis=0)
        for values in (profits, weights, capacities)
    )
    return profits, weights, capacities[:, 0]


def _whole(
    values: FloatArray,
    places: Any,
    sign: float,
    columns: int,
    threads: int,
    device: Device | None = None,
) -> AnyIntArray | None:
    """Return ``sign`` times values in their columns as whole numbers, if their sums are exact.

    Where a device is given, in the narrowest type it takes, in memory it is filled from fastest.
    """
    from solvers.kernels.sharing import threads_for
    from solvers.knapsack.batch.problems import staging, types_for
    from solvers.native.knapsack_batch_check import make_whole

    on_gpu = device is not None and device.kind == "cuda"
    straight = np.array_equal(places, np.arange(columns))
    given = np.ascontiguousarray(values), np.asarray(places, dtype=np.int64), straight, sign
    work = STEPS_PER_ITEM * values.size
    for kind in types_for(sign * values[:SAMPLE]) if on_gpu else (np.int64,):
        empty = staging(device) if device is not None else np.empty
        out = empty((len(values), columns), kind)
        if not straight:
            out[:] = 0
        refused = np.zeros(len(values), dtype=np.bool_)
        make_whole(*given, EXACT / columns, out, refused, threads_for(work, threads))
        if not refused.any():
            return out
    return None


class Lazily(Sequence[Outcome]):
    """Outcomes of a batch's members, each made and checked when it is asked for."""

    def __init__(self, batch: Batch, told: Told, options: Options) -> None:
        self.batch = batch
        self.told = told
        self.options = options

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
        return self.told.outcome(index, self.batch.member(index), x, 1, self.options)


@dataclass(frozen=True, eq=False)
class Knapsacks(Singles):
    """Members of a batch of 0/1 knapsack problems, whose arrays need no outcomes to be made.

    All sums are exact in double precision. What is not proven is verified one by one.
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
        batch = self.outcomes.batch
        if name == "x":
            return self._points()
        width = 1 if name in ("row_activity", "row_dual") else batch.problem.num_columns
        values = np.full((len(self), width), np.nan)
        if name == "row_activity":
            own = self._points()[:, batch.problem.matrix.indices] * batch.rows_of("coefficients")
            values[:] = own.sum(axis=1, keepdims=True)
        return values

    def _points(self) -> FloatArray:
        """Return (K, n) points, NaN where a member has none."""
        from solvers.kernels.sharing import threads_for
        from solvers.native.knapsack_batch_check import points

        answer, outcomes = self._answer, self.outcomes
        out = np.empty((len(self), outcomes.batch.problem.num_columns))
        threads = threads_for(STEPS_PER_ITEM * out.size, outcomes.options.threads)
        packed = answer.packed.astype(np.bool_, copy=False)  # there is one copy of each item
        points(packed, answer.feasible, out, threads)
        return out
