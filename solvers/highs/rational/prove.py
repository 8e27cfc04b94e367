"""Branch and bound whose bounds and proofs of infeasibility are exact.

A node is closed by what multipliers prove in rational numbers, never by a simplex in doubles; one
that nothing closes and that cannot be branched keeps its parent's bound. So the bound is right
whenever the search ends.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from solvers.core.errors import EngineError
from solvers.core.options import EngineOptions
from solvers.core.problem import FloatArray, Problem
from solvers.core.progress import Progress
from solvers.highs.in_process import OverstayedError, ProgressChannel, in_thread
from solvers.highs.model import Prepared, prepare
from solvers.highs.rational.model import Guess, Limit, Limits, RationalModel, Relaxation
from solvers.highs.task import Channel

PATIENCE = 0.2
"""Seconds to wait for a linear program after the time is up."""

Accepts = Callable[[FloatArray], bool]
"""Whether a point (n,) is feasible within the tolerances asked for."""


@dataclass(frozen=True, eq=False)
class Proof:
    """What is proven of a model."""

    bound: float
    """Lower bound on the objective, rounded down; inf where no point meets the model exactly."""
    x: FloatArray | None
    """(n,): the best point that is known, with its integers whole."""
    nodes: int
    """Of the search."""


def prove(
    problem: Problem,
    options: EngineOptions,
    progress: Progress,
    accepts: Accepts,
    x: FloatArray | None = None,
) -> Proof | None:
    """Search a small model, from a point that is known if there is one.

    Parameters
    ----------
    problem : Problem
        With at least one row and column: a node takes about a millisecond for each hundred
        coefficients.
    options : EngineOptions
        The gaps at which the search ends.
    progress : Progress
        Keeps the time; the bound holds whenever it ends.
    x : (n,) array, optional
        A point that is accepted.

    Returns
    -------
    Proof or None
        None where HiGHS cannot hold the model, or takes too long for its first linear program.
    """
    channel = ProgressChannel(progress)
    try:
        prepared = prepare(problem)
        search = _Search(problem, prepared, options, accepts, x)
        in_thread(lambda: search.run(channel), channel, PATIENCE)
    except (EngineError, OverstayedError):
        return None
    return search.proof()


@dataclass(order=True)
class _Node:
    """A box, what is proven of its parent, and its number, for a search that repeats itself."""

    bound: Fraction
    number: int
    lower: Limits = field(compare=False)
    upper: Limits = field(compare=False)


LOWEST = Fraction(-(10**400))
"""Stands for no bound at all: below every sum of doubles."""


class _Search:
    """The tree of one model, its best point, and the least bound of what is closed."""

    def __init__(
        self,
        problem: Problem,
        prepared: Prepared,
        options: EngineOptions,
        accepts: Accepts,
        x: FloatArray | None,
    ) -> None:
        self._prepared = prepared
        self._model = model = RationalModel.of(prepared.unscaled(problem))
        self._step = model.objective_step()
        self._gaps = Fraction(options.abs_gap), Fraction(options.rel_gap)
        self._accepts = accepts
        self._x: FloatArray | None = None
        self._objective: Limit = None
        if x is not None:
            self._take(x)
        self._open = [_Node(LOWEST, 0, model.lower, model.upper)]
        self._closed: Limit = None  # the least bound of the nodes that are closed; None: infinite
        self._nodes = 0

    def run(self, channel: Channel) -> None:
        """Search until all is closed or the time is up."""
        if self._prepared.empty_column is not None:
            self._open.clear()
            return
        relaxation = Relaxation(self._prepared, self._model, channel)
        while self._open and channel.stop() is None:
            node = self._open[0]
            if self._is_closed(node.bound):
                self._close(node.bound)  # and so are all the others, which have larger bounds
                self._open.clear()
                return
            guess = relaxation.solve(node.lower, node.upper)
            heapq.heappop(self._open)
            self._nodes += 1
            self._branch(node, guess)

    def proof(self) -> Proof:
        """Return what is proven by now."""
        bounds = [node.bound for node in self._open[:1]]
        if self._closed is not None:
            bounds.append(self._closed)
        bound = min(bounds, default=None)
        value = math.inf if bound is None else _rounded_down(bound)
        return Proof(value, self._x, self._nodes)

    def _branch(self, node: _Node, guess: Guess) -> None:
        """Close a node, or part it in two."""
        if guess.x is None and self._is_empty(node, guess):
            return
        bound = node.bound
        for y in guess.duals:
            found = self._model.dual_bound(y, node.lower, node.upper)
            if found is not None:
                bound = max(bound, self._rounded_up(found))
                if found >= guess.objective:
                    break
        if guess.x is not None:
            self._take(guess.x)
        if self._is_closed(bound):
            self._close(bound)
            return
        parts = self._parts(node, guess.x)
        if parts is None:
            if guess.x is None or not self._is_empty(node, guess):
                self._close(bound)
            return
        for k, (lower, upper) in enumerate(parts):
            heapq.heappush(self._open, _Node(bound, 2 * self._nodes + k, lower, upper))

    def _is_empty(self, node: _Node, guess: Guess) -> bool:
        """Whether it is proven that no point of a box meets the rows exactly."""
        return any(self._model.separates(y, node.lower, node.upper) for y in guess.rays)

    def _parts(
        self, node: _Node, x: FloatArray | None
    ) -> tuple[tuple[Limits, Limits], tuple[Limits, Limits]] | None:
        """Part a box at an integer column: the most fractional one, else the first not fixed."""
        free = [
            j
            for j, whole in enumerate(self._model.integer)
            if whole and (node.lower[j] is None or node.lower[j] != node.upper[j])
        ]
        if not free:
            return None
        value = np.zeros(len(node.lower)) if x is None else x
        j = free[int(np.argmax(np.abs(value - np.round(value))[free]))]
        at = Fraction(math.floor(value[j]))
        low, high = node.lower[j], node.upper[j]
        at = at if high is None else min(at, high - 1)
        at = at if low is None else max(at, low)
        below = (*node.upper[:j], at, *node.upper[j + 1 :])
        above = (*node.lower[:j], at + 1, *node.lower[j + 1 :])
        return (node.lower, below), (above, node.upper)

    def _take(self, x: FloatArray) -> None:
        """Take a point with its integers rounded, if it is accepted and better."""
        whole = np.where(np.array(self._model.integer, dtype=bool), np.round(x), x)
        objective = self._model.objective_at([Fraction(value) for value in whole.tolist()])
        if self._objective is not None and objective >= self._objective:
            return
        if self._accepts(whole):
            self._x, self._objective = whole, objective

    def _is_closed(self, bound: Fraction) -> bool:
        if self._objective is None:
            return False
        gap = max(self._gaps[0], self._gaps[1] * abs(self._objective))
        return bound >= self._objective - gap

    def _close(self, bound: Fraction) -> None:
        self._closed = bound if self._closed is None else min(self._closed, bound)

    def _rounded_up(self, bound: Fraction) -> Fraction:
        """Return the least objective that a point can have, not below a bound."""
        if not self._step:
            return bound
        offset = self._model.offset
        return math.ceil((bound - offset) / self._step) * self._step + offset


def _rounded_down(value: Fraction) -> float:
    if value <= LOWEST:
        return -math.inf
    nearest = float(value)
    return nearest if Fraction(nearest) <= value else math.nextafter(nearest, -math.inf)
