"""What a heuristic is to the schedule: a name, what it needs, and a few calls.

    prepare(context)           once in a solve, before its first turn: look at the model, or decline
    begin(prepared, number)    once for each turn that runs side by side: make a state, or decline
    run(state, budget, seed)   one turn; the next one goes on from the same state
    share(prepared, usual)     how much of the time it is due now, where the table's share is not it

An object of a heuristic knows nothing of any solve: what it finds out about a model is what
``prepare`` returns, and where a search stands is the state that ``begin`` returns. So the table
(``table``) is a constant, and :class:`~solvers.mip.portfolio.scheduler.Participant` keeps states,
locks and ends for all heuristics alike.

``prepare`` and ``begin`` are two calls because several threads run one heuristic side by side, each
on a state of its own, while the model is looked at once. Points go to ``context.submit`` and not to
an argument of ``run``: a search takes it along when it begins, wrapped where it searches the model
without its implied columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

import numpy as np

if TYPE_CHECKING:
    from solvers.mip.portfolio.budget import Budget
    from solvers.mip.portfolio.heuristic_context import HeuristicContext

Prepared = TypeVar("Prepared")
State = TypeVar("State")


class Declined(Exception):  # noqa: N818 - it is no error
    """Raised by a heuristic that does not suit the model; its message says why."""


@dataclass(frozen=True)
class Needs:
    """What a heuristic cannot do without; checked for it before it is asked for its share.

    Parameters
    ----------
    integers : bool
        Integer columns.
    continuous : bool
        Continuous columns.
    most_entries : float
        Entries of the matrix up to which it is any good.
    device : bool
        A GPU.
    relaxation : bool
        The relaxation's solution; it waits for that.
    incumbent : bool or None
        True: it waits for a feasible point. False: it ends with the first one.
    pool_size : int
        Feasible points of the reduced model; it waits for so many.
    """

    integers: bool = False
    continuous: bool = False
    most_entries: float = np.inf
    device: bool = False
    relaxation: bool = False
    incumbent: bool | None = None
    pool_size: int = 0

    def check(self, context: HeuristicContext) -> None:
        """Raise :class:`Declined` where the model or the machine never gives what is needed."""
        model = context.model
        if self.integers and not model.integers.size:
            raise Declined("there are no integer columns")
        if self.continuous and model.integers.size == model.num_columns:
            raise Declined("there are no continuous columns")
        if model.num_nonzeros > self.most_entries:
            raise Declined(f"the matrix has more than {self.most_entries:,.0f} entries")
        if self.device and context.device.kind == "cpu":
            raise Declined("there is no GPU")

    def are_met(self, context: HeuristicContext) -> bool:
        """Whether what comes and goes in the course of a solve is there now."""
        if self.relaxation and context.root is None:
            return False
        if self.incumbent is not None and self.incumbent != context.has_point:
            return False
        return len(context.acceptance.pool) >= self.pool_size


@dataclass(frozen=True)
class Report:
    """What a turn came to, beside the points it submitted.

    Parameters
    ----------
    is_over : bool
        Whether there is nothing left to try, in this solve, for any of its states.
    proven : float
        Objective, in the minimised sense, that no feasible point is below, where that is known
        without rounding errors; inf where it is known that there is no feasible point.
    """

    is_over: bool = False
    proven: float = -np.inf


UNFINISHED, OVER = Report(), Report(is_over=True)


class Heuristic(Protocol[Prepared, State]):
    """A way to find feasible points, or something that others need for it.

    Subclasses define ``name`` and the calls that they need; what is inherited suits a heuristic
    that begins anew in each turn, with the context as its state.

    Attributes
    ----------
    name : str
        In the log, and the key of its random numbers.
    needs : Needs
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
