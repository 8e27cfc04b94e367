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
from solvers.mip.inference.aggregation import Aggregated, eliminate
from solvers.mip.inference.cliques import Cliques, find_cliques
from solvers.mip.inference.domain import Domain
from solvers.mip.inference.probing import ProbingCache
from solvers.mip.model import IndexArray, MipModel
from solvers.mip.portfolio.budget import Budget
from solvers.mip.portfolio.credit import Credit
from solvers.mip.relaxation import Relaxation
from solvers.mip.solutions.acceptance import Acceptance


def _never() -> bool:
    return False


@dataclass(eq=False)
class HeuristicContext:
    """The model, the acceptance for points, and what is known about the model so far.

    Parameters
    ----------
    model : MipModel
        The reduced model.
    acceptance : Acceptance
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
    acceptance: Acceptance
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
    credit: Credit = field(init=False)
    _aggregated: Aggregated | None = field(default=None, init=False)
    _is_aggregated: bool = field(default=False, init=False)
    _aggregating: threading.Lock = field(default_factory=threading.Lock, init=False)

    def __post_init__(self) -> None:
        self.bandit = make_bandit(self.model)
        self.credit = Credit(self.acceptance.pool)

    @property
    def cliques(self) -> Cliques:
        """The cliques of the rows, or those that probing has made of them."""
        return self._row_cliques if self.cache is None else self.cache.cliques

    @cached_property
    def _row_cliques(self) -> Cliques:
        return find_cliques(self.model)

    @property
    def aggregated(self) -> Aggregated | None:
        """The model without the columns that its equations imply; None if there are none.

        None, too, while the model is temporary: to find out takes seconds of the interpreter on a
        model with a hundred thousand rows, in which nobody else gets on.
        """
        if self.is_temporary():
            return None
        with self._aggregating:  # whoever comes second would take as long, and the first longer
            if not self._is_aggregated:
                self._aggregated = eliminate(self.model, Budget(stop=self.is_over))
                self._is_aggregated = True
            return self._aggregated

    @property
    def implied(self) -> IndexArray | None:
        """Columns that equations define by the others."""
        found = self.aggregated
        return None if found is None else found.implied

    @property
    def has_point(self) -> bool:
        """Whether any feasible point is known."""
        return len(self.acceptance.incumbents.pool) > 0

    def relaxation(self) -> Relaxation | None:
        """Return the relaxation's point, or None."""
        return None if self.root is None else self.root.relaxation

    def reference(self) -> FloatArray | None:
        """Return the relaxation's point (n,) for dives to lean on, or None."""
        return None if self.root is None else self.root.relaxation.x

    def nearest(self) -> FloatArray | None:
        """Return the point (n,) that violates the fewest rows, or None."""
        points = self.acceptance.infeasible_points.points()
        return points[0].x if points else None

    def seed_of(self, name: str, number: int) -> int:
        """Return the seed of a turn: the same for the same name, number and solve."""
        words = [self.seed, number, *name.encode()]
        return int(np.random.SeedSequence(words).generate_state(1)[0]) & 0x7FFFFFFF
