"""What a heuristic is to the schedule, and what it is given of the solve.

    prepare(context)           once in a solve, before its first turn: look at the model, or decline
    begin(prepared, number)    once for each turn that runs side by side: make a state, or decline
    run(state, budget, seed)   one turn; the next one goes on from the same state
    share(prepared, usual)     how much of the time it is due now, where the table's share is not it

An object of a heuristic knows nothing of any solve: what it finds out about a model is what
``prepare`` returns, and where a search stands is the state that ``begin`` returns. So the table
(``table``) is a constant, and :class:`~solvers.mip.portfolio.participant.Participant` keeps states,
locks and ends for all heuristics alike.

``prepare`` and ``begin`` are two calls because several threads run one heuristic side by side, each
on a state of its own, while the model is looked at once. Points go to ``context.submit`` and not to
an argument of ``run``: a search takes it along when it begins, wrapped where it searches the model
without its implied columns.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from solvers.core.device import Device
from solvers.core.outcome import Basis
from solvers.core.problem import FloatArray
from solvers.mip.budget import Budget
from solvers.mip.model import IndexArray, MipModel, Relaxation, Submit
from solvers.mip.solutions.incumbents import InfeasiblePoints, InfeasibleView, Pool, PoolView

if TYPE_CHECKING:
    from solvers.mip.context import SolveContext
    from solvers.mip.inference.aggregation import Aggregated
    from solvers.mip.inference.domain import Domain
    from solvers.mip.solutions.acceptance import Acceptance

Prepared = TypeVar("Prepared")
State = TypeVar("State")


class Declined(Exception):  # noqa: N818 - it is no error
    """Raised by a heuristic that does not suit the model; its message says why."""


@dataclass(frozen=True)
class Needs:
    """What a heuristic cannot do without; checked for it before it is asked for its share."""

    integers: bool = False
    """Integer columns."""
    most_entries: float = np.inf
    most_rows: float = np.inf
    """Entries and rows of the matrix up to which it is any good."""
    device: bool = False
    """A GPU."""
    relaxation: bool = False
    """The relaxation's solution; it waits for that."""
    incumbent: bool | None = None
    """True: it waits for a feasible point. False: it ends with the first one."""
    pool_size: int = 0
    """Feasible points of the reduced model; it waits for so many."""

    def check(self, context: HeuristicContext) -> None:
        """Raise :class:`Declined` where the model or the machine never gives what is needed."""
        model = context.model
        if self.integers and not model.integers.size:
            raise Declined("there are no integer columns")
        if model.num_nonzeros > self.most_entries:
            raise Declined(f"the matrix has more than {self.most_entries:,.0f} entries")
        if model.num_rows > self.most_rows:
            raise Declined(f"the matrix has more than {self.most_rows:,.0f} rows")
        if self.device and context.device.kind == "cpu":
            raise Declined("there is no GPU")

    def are_met(self, context: HeuristicContext) -> bool:
        """Whether what comes and goes in the course of a solve is there now."""
        if self.relaxation and context.relaxation is None:
            return False
        if self.incumbent is not None and self.incumbent != context.has_point:
            return False
        return len(context.acceptance.pool) >= self.pool_size


@dataclass(frozen=True)
class Report:
    """What a turn came to, beside the points it submitted."""

    is_over: bool = False
    """Whether there is nothing left to try, in this solve, for any of its states."""
    proven: float = -np.inf
    """Objective, in the minimised sense, that no feasible point is below, where that is known
    without rounding errors; inf where it is known that there is no feasible point."""


UNFINISHED, OVER = Report(), Report(is_over=True)


class Heuristic(Protocol[Prepared, State]):
    """A way to find feasible points, or something that others need for it.

    Subclasses define ``name`` and the calls that they need; what is inherited suits a heuristic
    that begins anew in each turn, with the context as its state.

    Attributes
    ----------
    name : str
        In the log, and the key of its random numbers.
    """

    name: str
    needs: Needs = Needs()

    def prepare(self, context: HeuristicContext) -> Prepared:
        """Return what is known of the model before the first turn; quick, or :class:`Declined`."""
        return context  # type: ignore[return-value]

    def begin(self, prepared: Prepared, number: int) -> State:
        """Return the state of a search, of which ``number`` others exist, or :class:`Declined`."""
        return prepared  # type: ignore[return-value]

    def share(self, prepared: Prepared, usual: float) -> float:
        """Return what it is due now; ``usual`` is the table's share, which is not zero."""
        return usual

    def run(self, state: State, budget: Budget, seed: int) -> Report:
        """Search until the budget is spent or there is nothing to try for now.

        ``seed`` is another one in each turn.
        """
        ...


# What the heuristics on one reduced model share. A solve has one SolveContext; where presolve comes
# to a much smaller model late, it has a second HeuristicContext.


Made = TypeVar("Made")


@dataclass(eq=False)
class HeuristicContext:
    """The model, the acceptance of points, and what is known about the model so far."""

    model: MipModel
    """The reduced model."""
    acceptance: Acceptance
    domain: Domain
    """What the columns are known to be within, propagated; to be copied, not changed."""
    device: Device
    """Where what pays on a GPU runs; the CPU where there is none."""
    solve: SolveContext
    further: Sequence[Device] = ()
    """GPUs beside this one."""

    def __post_init__(self) -> None:
        self.place = 0
        """Number of the device among all."""
        self.replaced = threading.Event()
        """Set when the heuristics begin again on a smaller model."""
        self._made: dict[Hashable, Any] = {}
        self._locks: dict[Hashable, threading.Lock] = {}
        self._lock = threading.Lock()

    def on_each_device(self) -> list[HeuristicContext]:
        """Return this context as each of the devices has it: all share what is found out."""
        found = [self]
        for place, device in enumerate(self.further, start=1):
            other = copy.copy(self)
            other.device, other.place = device, place
            found.append(other)
        return found

    @property
    def relaxation(self) -> Relaxation | None:
        """The relaxation's solution, once there is one; the same on all devices."""
        return self._made.get("relaxation")

    @relaxation.setter
    def relaxation(self, relaxation: Relaxation | None) -> None:
        self._made["relaxation"] = relaxation

    def log(self, message: str) -> None:
        """Write a line to the solve's log."""
        self.solve.progress.log(message)

    def is_over(self) -> bool:
        """Whether nobody searches the model any more."""
        return self.replaced.is_set() or self.solve.is_over()

    @property
    def is_temporary(self) -> bool:
        """Whether presolve is still at work, and a smaller model may soon take its place."""
        return self.solve.is_reducing

    def once(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """Return what ``make`` returned at the first call with this key, whoever asks first.

        Whoever comes second waits: it would take as long, and the first longer.
        """
        with self._lock:
            lock = self._locks.setdefault(key, threading.Lock())
        with lock:
            if key not in self._made:
                self._made[key] = make()
            made: Made = self._made[key]
            return made

    def once_here(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """Return what ``make`` returned at the first call with this key on this device."""
        return self.once((key, self.place), make)

    @property
    def aggregated(self) -> Aggregated | None:
        """The model without the columns that its equations imply; None if there are none.

        None, too, while the model is temporary: to find out takes seconds of the interpreter on a
        model with a hundred thousand rows, in which nobody else gets on.
        """
        if self.is_temporary:
            return None
        from solvers.mip.inference.aggregation import eliminate

        return self.once(eliminate, lambda: eliminate(self.model, Budget(stop=self.is_over)))

    @property
    def implied(self) -> IndexArray | None:
        """Columns that equations imply by the others."""
        found = self.aggregated
        return None if found is None else found.implied

    @property
    def has_point(self) -> bool:
        """Whether any feasible point is known."""
        return self.solve.has_point

    def submit(self, x: FloatArray, source: str) -> bool:
        """Take a point (n,) whose integers are decided; return whether it is the best so far."""
        return self.acceptance.submit(x, source)

    def submit_feasible(self, x: FloatArray, source: str) -> bool:
        """Record a feasible point (n,) at once, and give it its best values then.

        For points that are feasible as they are, continuous columns and all: an LP for better
        values may take seconds. Returns whether the point, before or after that, was the best.
        """
        acceptance = self.acceptance
        original = acceptance.original_of(self.model.rounded(x))
        was_best = acceptance.incumbents.record(original, source)
        if was_best:
            acceptance.take(original, source)
        return acceptance.submit(x, source) or was_best

    def basis(self) -> Basis | None:
        """Return the relaxation's basis, or None."""
        return None if self.relaxation is None else self.relaxation.basis

    def reference(self) -> FloatArray | None:
        """Return the relaxation's point (n,) for dives to lean on, or None."""
        return None if self.relaxation is None else self.relaxation.x

    def seed_of(self, name: str, number: int) -> int:
        """Return the seed of a turn: the same for the same name, number, device and solve."""
        words = [self.solve.options.seed, number, *name.encode()]
        words += [self.place] if self.place else []
        return int(np.random.SeedSequence(words).generate_state(1)[0]) & 0x7FFFFFFF


@dataclass(frozen=True, eq=False)
class SearchSpace:
    """Where points are looked for: a model, its points, who takes new ones, and the way there."""

    model: MipModel
    pool: Pool
    submit: Submit
    infeasible_points: InfeasiblePoints
    here: Callable[[FloatArray], FloatArray]


def full_space(context: HeuristicContext) -> SearchSpace:
    """Return the model as it is."""
    acceptance = context.acceptance
    return SearchSpace(
        context.model,
        acceptance.pool,
        acceptance.submit,
        acceptance.infeasible_points,
        lambda x: x,
    )


def aggregated_space(context: HeuristicContext) -> SearchSpace | None:
    """Return the model without the columns that its equations imply; None if there are none."""
    sub, acceptance = context.aggregated, context.acceptance
    if sub is None:
        return None
    return SearchSpace(
        sub.model,
        PoolView(acceptance.pool, sub),
        sub.submit_to(acceptance.submit),
        InfeasibleView(acceptance.infeasible_points, sub),
        sub.from_whole,
    )
