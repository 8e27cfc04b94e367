"""The answers to many problems: arrays over all members, and an Outcome of each when asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gpu_bridge.batch.batch import Batch
from gpu_bridge.lazy import LazySequence
from gpu_bridge.outcome import Outcome
from gpu_bridge.verify.refutation import BOUND_AGREEMENT
from solvers.core.errors import ProblemError
from solvers.core.outcome import Basis, Residuals, SolutionStatus, StopReason
from solvers.core.problem import BoolArray, FloatArray, Problem
from solvers.simplex.batch.data import BatchData

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Singles:
    """Members that were solved one by one; ``batch`` is what they share, if they are one's.

    What has no problem in a batch is given its own once it is asked for, or that of the batch
    where its bounds contradict each other.
    """

    outcomes: Sequence[Outcome]
    batch: Batch | None = None

    def __len__(self) -> int:
        return len(self.outcomes)

    def outcome(self, k: int) -> Outcome:
        """Return the answer to the k-th of these members."""
        found = self.outcomes[k]
        if found.problem is not None or self.batch is None:
            return found
        own = self.batch.member_or_crossing(k)
        return replace(found, problem=own if isinstance(own, Problem) else self.batch.problem)

    def statuses(self) -> list[SolutionStatus]:
        """Return the status of each."""
        return [outcome.solution_status for outcome in self.outcomes]

    def numbers(self, name: str) -> FloatArray:
        """Return 'objective', 'bound' or 'iterations' of each."""
        if name == "iterations":
            counts = [outcome.statistics.get(name, np.nan) for outcome in self.outcomes]
            return np.array(counts, dtype=np.float64)
        return np.array([getattr(outcome, name) for outcome in self.outcomes], dtype=np.float64)

    def array(self, name: str) -> FloatArray:
        """Return an array of :data:`ARRAYS`, (K, width), NaN where a member has none."""
        values = [getattr(outcome, name) for outcome in self.outcomes]
        widths = {_width(outcome, name) for outcome in self.outcomes}
        if self.batch is not None:
            widths = {_width_of(self.batch.problem, name)}
        width = _the_one(widths, name)
        missing = np.full(width, np.nan)
        filled = [missing if value is None else value for value in values]
        return np.array(filled, dtype=np.float64).reshape(len(self), width)


# Points, duals, activities and reduced costs of a batch, the last two when somebody asks.
#
# Those follow from the others and the data, so that whoever reads points and objectives does not
# wait for them. Until somebody has asked, neither the arrays of the ``Batch`` nor the points and
# duals may be written to.


NOW = ("x", "row_dual")
LATER = ("row_activity", "reduced_cost")
ARRAYS = NOW + LATER

FEW = 8
"""Members that may be asked about one by one before all are computed at once."""


class MemberArrays(Mapping[str, FloatArray]):
    """The arrays of :data:`ARRAYS` over all members, in the model's sense.

    Parameters
    ----------
    data : BatchData
        The batch as it was given.
    x, row_dual : (K, n) and (K, m) arrays
        Verified points and duals of the optimal members, in the minimised sense. They are kept,
        and changed: to the model's sense, and to what others found.
    optimal : (K,) array of bool
    others : mapping from members to their outcomes, in the model's sense
        Of all that are not optimal here; what they have not becomes NaN.
    """

    def __init__(
        self,
        data: BatchData,
        x: FloatArray,
        row_dual: FloatArray,
        optimal: BoolArray,
        others: Mapping[int, Outcome],
        *,
        maximize: bool,
    ) -> None:
        self._data = data
        self._optimal = optimal
        self._others = others
        self._maximize = maximize
        if maximize:
            np.subtract(0.0, row_dual, out=row_dual)
        self._found = {"x": x, "row_dual": row_dual}
        self._asked = 0
        for name in NOW:
            self._put_others(name, self._found[name])

    def __getitem__(self, name: str) -> FloatArray:
        if name in LATER and name not in self._found:
            later = self._compute(self._data, self._optimal, slice(None))
            for key, array in later.items():
                self._put_others(key, array)
            self._found |= later
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(ARRAYS)

    def __len__(self) -> int:
        return len(ARRAYS)

    def of(self, k: int) -> dict[str, FloatArray]:
        """Return what the arrays hold of the k-th member, which is optimal."""
        from gpu_bridge.batch.verify import members_of

        self._asked += 1
        if LATER[0] in self._found or self._asked > FEW:
            return {name: self[name][k] for name in ARRAYS}
        alone = members_of(self._data, np.array([k]))
        later = self._compute(alone, np.ones(1, dtype=np.bool_), slice(k, k + 1))
        now = {name: self._found[name][k] for name in NOW}
        return now | {name: array[0] for name, array in later.items()}

    def _compute(self, data: BatchData, wanted: BoolArray, rows: slice) -> dict[str, FloatArray]:
        """Return what is computed later, of the LPs of ``data``, which are those in ``rows``."""
        from gpu_bridge.batch.verify import fill_in

        x, row_dual = (self._found[name][rows] for name in NOW)
        minimised = np.subtract(0.0, row_dual) if self._maximize else row_dual
        activity, reduced_cost = fill_in(data, x, minimised, wanted)
        if self._maximize:
            np.subtract(0.0, reduced_cost, out=reduced_cost)
        return {"row_activity": activity, "reduced_cost": reduced_cost}

    def _put_others(self, name: str, array: FloatArray) -> None:
        for k, outcome in self._others.items():
            value = getattr(outcome, name)
            array[k] = np.nan if value is None else value


@dataclass(frozen=True, eq=False)
class Together:
    """Members of a batch, solved together; all arrays are in the model's sense.

    ``others`` holds the answers to those members that were not settled together; the arrays
    hold what they say too. ``basis`` (K, n + m) are statuses of columns and then of rows.
    """

    batch: Batch
    arrays: MemberArrays
    objective: FloatArray
    bound: FloatArray
    residuals: Mapping[str, FloatArray]
    iterations: FloatArray
    device: str
    seconds: float
    others: dict[int, Outcome]
    basis: npt.NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.batch)

    def outcome(self, k: int) -> Outcome:
        """Return the answer to the k-th member, as :func:`gpu_bridge.solve` would."""
        if k in self.others:
            return self.others[k]
        residuals = {name: float(values[k]) for name, values in self.residuals.items()}
        arrays: dict[str, Any] = dict(self.arrays.of(k))
        return Outcome(
            SolutionStatus.OPTIMAL,
            StopReason.CONVERGED,
            objective=float(self.objective[k]),
            bound=float(self.bound[k]),
            residuals=Residuals(integrality=0.0, **residuals),
            basis=self._basis(k),
            engine="simplex",
            device=self.device,
            seconds=self.seconds,
            statistics={"iterations": int(self.iterations[k])},
            problem=self.batch.member(k),
            **arrays,
        )

    def _basis(self, k: int) -> Basis:
        n = self.batch.problem.num_columns
        status = self.basis[k]
        return Basis(status[:n], status[n:])

    def statuses(self) -> list[SolutionStatus]:
        """Return the status of each."""
        found = [SolutionStatus.OPTIMAL] * len(self)
        for k, outcome in self.others.items():
            found[k] = outcome.solution_status
        return found

    def numbers(self, name: str) -> FloatArray:
        """Return 'objective', 'bound' or 'iterations' of each."""
        values: FloatArray = getattr(self, name)
        return values

    def array(self, name: str) -> FloatArray:
        """Return an array of :data:`ARRAYS`, (K, width), NaN where a member has none."""
        return self.arrays[name]


Part = Singles | Together


class Outcomes(LazySequence[Outcome]):
    """The answers to many problems, in their order.

    ``outcomes[k]`` is an :class:`Outcome` like that of :func:`gpu_bridge.solve`, made when it is
    asked for. The attributes are arrays over all K members, in the model's sense, with NaN where
    a member has no such value: ``objectives``, ``bounds`` and ``iterations`` (K,), ``x`` and
    ``reduced_cost`` (K, n), ``row_dual`` and ``row_activity`` (K, m). ``statuses`` is a list of
    SolutionStatus, ``seconds`` what the whole call took and ``log`` what it had to say.
    Activities and reduced costs of members solved together are computed when they are asked for.
    """

    def __init__(
        self,
        parts: Sequence[Part],
        part_of: IntArray | None = None,
        place_of: IntArray | None = None,
        seconds: float = 0.0,
        log: str = "",
    ) -> None:
        self._parts = parts
        sizes = [len(part) for part in parts]
        self._part_of = np.repeat(np.arange(len(parts)), sizes) if part_of is None else part_of
        places = [np.arange(size) for size in sizes]
        ours = np.concatenate(places) if places else np.zeros(0, np.int64)
        self._place_of = ours if place_of is None else place_of
        self.seconds = seconds
        self.log = log

    def __len__(self) -> int:
        return len(self._part_of)

    def _at(self, index: int) -> Outcome:
        part = self._parts[int(self._part_of[index])]
        return part.outcome(int(self._place_of[index]))

    @property
    def statuses(self) -> list[SolutionStatus]:
        """Status of each member."""
        if len(self._parts) == 1:
            return self._parts[0].statuses()
        of_parts = [part.statuses() for part in self._parts]
        pairs = zip(self._part_of.tolist(), self._place_of.tolist(), strict=True)
        return [of_parts[part][place] for part, place in pairs]

    @property
    def objectives(self) -> FloatArray:
        """Objective value (K,) of each member's point."""
        return self._joined([part.numbers("objective") for part in self._parts])

    @property
    def bounds(self) -> FloatArray:
        """Proven bound (K,) on each member's optimum."""
        return self._joined([part.numbers("bound") for part in self._parts])

    @property
    def iterations(self) -> FloatArray:
        """Iterations (K,) that the engine made for each member; NaN where it does not say."""
        return self._joined([part.numbers("iterations") for part in self._parts])

    @property
    def x(self) -> FloatArray:
        """Points (K, n)."""
        return self._stacked("x")

    @property
    def row_dual(self) -> FloatArray:
        """Row duals (K, m)."""
        return self._stacked("row_dual")

    @property
    def row_activity(self) -> FloatArray:
        """Row activities (K, m)."""
        return self._stacked("row_activity")

    @property
    def reduced_cost(self) -> FloatArray:
        """Reduced costs (K, n)."""
        return self._stacked("reduced_cost")

    def _stacked(self, name: str) -> FloatArray:
        found = [part.array(name) for part in self._parts]
        if not found:
            return np.zeros((0, 0))
        _the_one({array.shape[1] for array in found}, name)
        return self._joined(found)

    def _joined(self, of_parts: list[FloatArray]) -> FloatArray:
        """Put the values of the parts in the order of the members."""
        if not of_parts:
            return np.zeros(0)
        if len(of_parts) == 1:
            return of_parts[0]
        joined = np.empty((len(self), *of_parts[0].shape[1:]))
        for number, values in enumerate(of_parts):
            members = self._part_of == number
            joined[members] = values[self._place_of[members]]
        return joined


def proven_bounds(objective: FloatArray, dual_objective: FloatArray) -> FloatArray:
    """Return what the dual points prove: the objective itself where they agree up to rounding."""
    agree = np.abs(objective - dual_objective) <= BOUND_AGREEMENT * (1.0 + np.abs(objective))
    bounds: FloatArray = np.where(agree, objective, dual_objective)
    return bounds


def _the_one(widths: set[int], name: str) -> int:
    if len(widths) != 1:
        raise ProblemError(
            f"The members differ in size, so there is no one array of '{name}'; read it from each "
            "outcome."
        )
    return widths.pop()


def _width(outcome: Outcome, name: str) -> int:
    value: Any = getattr(outcome, name)
    if value is not None:
        return len(value)
    return 0 if outcome.problem is None else _width_of(outcome.problem, name)


def _width_of(problem: Problem, name: str) -> int:
    of_rows = name in ("row_dual", "row_activity")
    return problem.num_rows if of_rows else problem.num_columns
