"""What the heuristics of one solve share, filled in as the search goes on."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from solvers.core.device import Device
from solvers.core.problem import FloatArray
from solvers.mip.heuristics.feasibility_pump import Root
from solvers.mip.heuristics.large_neighbourhood import Bandit, make_bandit
from solvers.mip.inference.aggregation import Substituted, eliminate
from solvers.mip.inference.cliques import Cliques, find_cliques
from solvers.mip.inference.domain import Domain
from solvers.mip.inference.probing import ProbingCache
from solvers.mip.model import IndexArray, MipModel
from solvers.mip.portfolio.budget import Budget
from solvers.mip.portfolio.credit import Gains
from solvers.mip.relaxation import Relaxation
from solvers.mip.solutions.acceptance import Gate


def _never() -> bool:
    return False


@dataclass(eq=False)
class Shared:
    """The model, the gate for points, and what is known about the model so far.

    Parameters
    ----------
    model : MipModel
        The reduced model.
    gate : Gate
    domain : Domain
        What the columns are known to be within, propagated; to be copied, not changed.
    device : Device
        Where what pays on a GPU runs; the CPU where there is none.
    seed : int
    log : callable
    is_over : callable
        Whether nobody searches the model any more, so that what is computed about it may end.
    is_temporary : callable
        Whether presolve is still at work, and a smaller model may soon take its place.
    root : Root, optional
        The relaxation's solution, once there is one.
    cache : ProbingCache, optional
        What probing found, once it was done.
    prove_infeasible : callable
        To be called by a heuristic that has a safe proof.
    prove_bound : callable, optional
        To be told of an objective that no feasible point is below, with the name of the heuristic,
        where one has proven it without rounding errors. None where no bound is asked for.
    """

    model: MipModel
    gate: Gate
    domain: Domain
    device: Device
    seed: int
    log: Callable[[str], None]
    prove_infeasible: Callable[[], None]
    prove_bound: Callable[[float, str], object] | None = None
    is_over: Callable[[], bool] = _never
    is_temporary: Callable[[], bool] = _never
    root: Root | None = None
    cache: ProbingCache | None = None
    bandit: Bandit = field(init=False)
    gains: Gains = field(init=False)
    _substituted: Substituted | None = field(default=None, init=False)
    _is_substituted: bool = field(default=False, init=False)
    _substituting: threading.Lock = field(default_factory=threading.Lock, init=False)

    def __post_init__(self) -> None:
        self.bandit = make_bandit(self.model)
        self.gains = Gains(self.gate.pool)

    @property
    def cliques(self) -> Cliques:
        """The cliques of the rows, or those that probing has made of them."""
        return self._row_cliques if self.cache is None else self.cache.cliques

    @cached_property
    def _row_cliques(self) -> Cliques:
        return find_cliques(self.model)

    @property
    def substituted(self) -> Substituted | None:
        """The model without the columns that its equations define; None if there are none.

        None, too, while the model is temporary: to find out takes seconds of the interpreter on a
        model with a hundred thousand rows, in which nobody else gets on.
        """
        if self.is_temporary():
            return None
        with self._substituting:  # whoever comes second would take as long, and the first longer
            if not self._is_substituted:
                self._substituted = eliminate(self.model, Budget(stop=self.is_over))
                self._is_substituted = True
            return self._substituted

    @property
    def defined(self) -> IndexArray | None:
        """Columns that equations define by the others."""
        found = self.substituted
        return None if found is None else found.defined

    @property
    def has_point(self) -> bool:
        """Whether any feasible point is known."""
        return len(self.gate.ledger.pool) > 0

    def relaxation(self) -> Relaxation | None:
        """Return the relaxation's point, or None."""
        return None if self.root is None else self.root.relaxation

    def reference(self) -> FloatArray | None:
        """Return the relaxation's point (n,) for dives to lean on, or None."""
        return None if self.root is None else self.root.relaxation.x

    def nearest(self) -> FloatArray | None:
        """Return the point (n,) that violates the fewest rows, or None."""
        points = self.gate.near.points()
        return points[0].x if points else None

    def seed_of(self, name: str, number: int) -> int:
        """Return the seed of a turn: the same for the same name, number and solve."""
        words = [self.seed, number, *name.encode()]
        return int(np.random.SeedSequence(words).generate_state(1)[0]) & 0x7FFFFFFF
