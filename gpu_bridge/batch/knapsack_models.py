"""Many models that are knapsack problems: recognised, solved together exactly, and checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np
import numpy.typing as npt

from gpu_bridge.batch.batch import Batch
from gpu_bridge.batch.outcomes import Singles
from gpu_bridge.lazy import MadeSequence
from gpu_bridge.options import Options
from gpu_bridge.outcome import Outcome
from gpu_bridge.report.progress import BridgeProgress
from gpu_bridge.verify.verify import verify
from solvers.core.device import Device, find_device
from solvers.core.outcome import Outcome as Claim
from solvers.core.outcome import Proof, SolutionStatus, StopReason
from solvers.core.problem import FloatArray, Problem
from solvers.core.progress import DetachableProgress, Progress
from solvers.core.threads import run_beside

if TYPE_CHECKING:
    from solvers.knapsack.batch import ManyPackings
    from solvers.knapsack.recognise import KnapsackModel


ENGINE = "knapsack"

FEWEST = 2
"""Models from which they are solved together."""


def solve_knapsacks(
    problems: Sequence[Problem | Exception], options: Options, progress: BridgeProgress
) -> Singles | None:
    """Solve models together if every one of them is a knapsack problem.

    Parameters
    ----------
    problems : sequence of Problem or Exception
        Exceptions stand for models that could not be made.
    progress : BridgeProgress
        Keeps the time limit.

    Returns
    -------
    Singles or None
        None where another method was asked for, some model is none, or time was up before the
        engine began.
    """
    if options.method not in ("auto", ENGINE) or len(problems) < FEWEST:
        return None
    members = [problem for problem in problems if _may_be_one(problem)]
    if len(members) < len(problems):
        return None
    from solvers.knapsack.recognise import recognise

    models = []
    for problem in members:
        model = recognise(problem)
        if model is None:
            return None
        models.append(model)
    answer = run_beside(
        lambda own: _solve(models, options, own), DetachableProgress(progress), ENGINE
    )
    if answer is None:
        return None
    told = Told.of(answer, progress)
    outcomes = []
    for k, (problem, model) in enumerate(zip(members, models, strict=True)):
        x = model.point(answer.of(k).astype(np.int64))
        outcomes.append(told.outcome(k, problem, x, model.profit_scale, options))
    return Singles(outcomes)


def _may_be_one(problem: Problem | Exception) -> TypeGuard[Problem]:
    """Whether a look at the rows leaves it possible."""
    return (
        isinstance(problem, Problem)
        and problem.num_columns > 0
        and bool(problem.integrality.all())
        and int(np.count_nonzero(np.diff(problem.matrix.indptr) > 1)) == 1
    )


def place(options: Options) -> str:
    """Return where knapsack problems are solved together: on a GPU only if it was asked for.

    All cores need some microseconds for each, so that a GPU has to be measured before it is taken.
    """
    return options.device if options.device.startswith("cuda") else "cpu"


def _solve(models: Sequence[KnapsackModel], options: Options, progress: Progress) -> ManyPackings:
    """Put all items side by side and solve."""
    from solvers.knapsack.batch import solve_many_knapsacks

    knapsacks = [model.knapsack for model in models]
    copies = np.concatenate([knapsack.copies for knapsack in knapsacks])
    return solve_many_knapsacks(
        np.concatenate([knapsack.profit for knapsack in knapsacks]),
        np.concatenate([knapsack.weight for knapsack in knapsacks]),
        np.array([knapsack.capacity for knapsack in knapsacks], dtype=np.int64),
        place(options),
        progress,
        copies=None if (copies == 1).all() else copies,
        starts=np.cumsum([0, *(knapsack.num_items for knapsack in knapsacks)]),
        threads=options.threads,
    )


@dataclass(frozen=True, eq=False)
class Told:
    """What the engine says of all problems, and how it came to its end."""

    answer: ManyPackings
    stopped: StopReason
    seconds: float

    @staticmethod
    def of(answer: ManyPackings, progress: BridgeProgress) -> Told:
        """Log what there is and remember why the rest is missing."""
        progress.log(
            f"{len(answer)} knapsack problems together on {answer.device}: "
            f"{int(np.count_nonzero(answer.proven))} settled, {answer.alone} of them alone."
        )
        stopped = progress.should_stop() or StopReason.OUT_OF_MEMORY
        return Told(answer, stopped, progress.seconds)

    def outcome(
        self, k: int, problem: Problem, x: FloatArray, scale: int, options: Options
    ) -> Outcome:
        """Verify the claim on one problem, whose profits are ``scale`` times its costs.

        ``x`` is looked at if there is a packing.
        """
        answer, proven = self.answer, bool(self.answer.proven[k])
        known: dict[str, Any] = {
            "proof": Proof.EXACT,
            "engine": ENGINE,
            "device": answer.device,
            "seconds": self.seconds,
            "statistics": {"states": int(answer.states[k])},
        }
        reason = StopReason.CONVERGED if proven else self.stopped
        if answer.feasible[k]:
            objective = problem.objective_at(x)
            missing = (int(answer.bound[k]) - int(answer.profit[k])) / scale
            claim = Claim(
                SolutionStatus.OPTIMAL if proven else SolutionStatus.FEASIBLE,
                reason,
                objective=objective,
                bound=objective if proven else float(np.nextafter(objective - missing, -np.inf)),
                x=x,
                **known,
            )
        elif proven:
            message = "Not even the lightest packing keeps the capacity."
            claim = Claim(SolutionStatus.INFEASIBLE, reason, message=message, **known)
        else:
            return Outcome(SolutionStatus.NOTHING, reason, problem=problem, **known)
        return Outcome.in_model_sense(verify(problem, claim, options), problem)


# A batch of 0/1 knapsack problems: from its arrays to answers, without a model of each member.


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
    if not _batch_may_be_one(batch):
        return None
    answer = run_beside(
        lambda own: _solve_batch(batch, options, own), DetachableProgress(progress), ENGINE
    )
    if answer is None:
        return None
    told = Told.of(answer, progress)
    made = MadeSequence(len(batch), partial(_outcome, batch, told, options))
    return Knapsacks(made, batch, told=told, threads=options.threads)


def _solve_batch(batch: Batch, options: Options, progress: Progress) -> ManyPackings | None:
    """Solve it; None where numbers are not whole."""
    from solvers.knapsack.batch import solve_many_knapsacks

    device = find_device(place(options))
    items = _plain_items(batch, device, options.threads)
    if items is None:
        return None
    return solve_many_knapsacks(*items, device, progress, threads=options.threads)


def _batch_may_be_one(batch: Batch) -> bool:
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
    from solvers.core.machine import threads_for
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


def _outcome(batch: Batch, told: Told, options: Options, k: int) -> Outcome:
    x = told.answer.of(k).astype(np.float64)
    return told.outcome(k, batch.member(k), x, 1, options)


@dataclass(frozen=True, eq=False)
class Knapsacks(Singles):
    """Members of a batch of 0/1 knapsack problems, whose arrays need no outcomes to be made.

    All sums are exact in double precision. What is not proven is verified one by one.
    """

    batch: Batch
    told: Told = field(kw_only=True)
    threads: int = field(kw_only=True)

    def statuses(self) -> list[SolutionStatus]:
        """Return the status of each."""
        answer = self.told.answer
        found = [
            SolutionStatus.OPTIMAL if feasible else SolutionStatus.INFEASIBLE
            for feasible in answer.feasible.tolist()
        ]
        for k in np.flatnonzero(~answer.proven).tolist():
            found[k] = self.outcomes[k].solution_status
        return found

    def numbers(self, name: str) -> FloatArray:
        """Return 'objective', 'bound' or 'iterations' of each."""
        answer, batch = self.told.answer, self.batch
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
        batch = self.batch
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
        from solvers.core.machine import threads_for
        from solvers.native.knapsack_batch_check import points

        answer = self.told.answer
        out = np.empty((len(self), self.batch.problem.num_columns))
        threads = threads_for(STEPS_PER_ITEM * out.size, self.threads)
        packed = answer.packed.astype(np.bool_, copy=False)  # there is one copy of each item
        points(packed, answer.feasible, out, threads)
        return out
