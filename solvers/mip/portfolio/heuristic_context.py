"""What the heuristics on one reduced model share, filled in as the search goes on.

:class:`~solvers.mip.context.SolveContext` is of one solve, and there is one; this is of one model
that is searched, and where presolve comes to a much smaller model late, there is a second.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from solvers.core.device import Device
from solvers.core.problem import FloatArray
from solvers.mip.context import SolveContext
from solvers.mip.inference.aggregation import Aggregated, eliminate
from solvers.mip.inference.cliques import Cliques, find_cliques
from solvers.mip.inference.domain import Domain
from solvers.mip.inference.probing import ProbingCache
from solvers.mip.inference.relaxation import Root
from solvers.mip.model import IndexArray, MipModel, Relaxation
from solvers.mip.portfolio.budget import Budget
from solvers.mip.portfolio.credit import Credit
from solvers.mip.solutions.acceptance import Acceptance

if TYPE_CHECKING:
    from solvers.mip.inference.propagation import DeviceModel

Made = TypeVar("Made")


@dataclass(eq=False)
class _Found:
    """What is found out about the model in the course of the search; of all devices."""

    domain: Domain
    root: Root | None = None
    is_root_over: bool = False
    cache: ProbingCache | None = None


class HeuristicContext:
    """The model, the acceptance of points, and what is known about the model so far.

    Parameters
    ----------
    model : MipModel
        The reduced model.
    acceptance : Acceptance
    domain : Domain
        What the columns are known to be within, propagated; to be copied, not changed.
    device : Device
        Where what pays on a GPU runs; the CPU where there is none.
    solve : SolveContext
    further : sequence of Device
        GPUs beside this one.

    Attributes
    ----------
    place : int
        Number of the device among all.
    replaced : Event
        Set when the heuristics begin again on a smaller model.
    """

    def __init__(
        self,
        model: MipModel,
        acceptance: Acceptance,
        domain: Domain,
        device: Device,
        solve: SolveContext,
        further: Sequence[Device] = (),
    ) -> None:
        self.model = model
        self.acceptance = acceptance
        self.device = device
        self.solve = solve
        self.further = further
        self.place = 0
        self.replaced = threading.Event()
        self.credit = Credit(acceptance.pool)
        self._found = _Found(domain)
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
    def domain(self) -> Domain:
        """What the columns are known to be within, propagated; to be copied, not changed."""
        return self._found.domain

    @domain.setter
    def domain(self, domain: Domain) -> None:
        self._found.domain = domain

    @property
    def root(self) -> Root | None:
        """The relaxation's solution, once there is one."""
        return self._found.root

    @root.setter
    def root(self, root: Root | None) -> None:
        self._found.root = root

    @property
    def is_root_over(self) -> bool:
        """Whether nobody solves the relaxation any more, with a solution or without."""
        return self._found.is_root_over

    @is_root_over.setter
    def is_root_over(self, is_over: bool) -> None:
        self._found.is_root_over = is_over

    @property
    def cache(self) -> ProbingCache | None:
        """What probing found, once it was done."""
        return self._found.cache

    @cache.setter
    def cache(self, cache: ProbingCache | None) -> None:
        self._found.cache = cache

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
    def cliques(self) -> Cliques:
        """The cliques of the rows, or those that probing has made of them."""
        cache = self.cache
        if cache is not None:
            return cache.cliques
        return self.once(find_cliques, lambda: find_cliques(self.model))

    @property
    def aggregated(self) -> Aggregated | None:
        """The model without the columns that its equations imply; None if there are none.

        None, too, while the model is temporary: to find out takes seconds of the interpreter on a
        model with a hundred thousand rows, in which nobody else gets on.
        """
        if self.is_temporary:
            return None
        return self.once(eliminate, lambda: eliminate(self.model, Budget(stop=self.is_over)))

    @property
    def implied(self) -> IndexArray | None:
        """Columns that equations imply by the others."""
        found = self.aggregated
        return None if found is None else found.implied

    @property
    def device_model(self) -> DeviceModel:
        """The model in the GPU's memory; to be asked for within ``device.activate()``."""
        from solvers.mip.inference.propagation import DeviceModel

        return self.once_here(DeviceModel, lambda: DeviceModel.of(self.model, self.device))

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

    def relaxation(self) -> Relaxation | None:
        """Return the relaxation's point, or None."""
        return None if self.root is None else self.root.relaxation

    def reference(self) -> FloatArray | None:
        """Return the relaxation's point (n,) for dives to lean on, or None."""
        return None if self.root is None else self.root.relaxation.x

    def least_violated(self) -> FloatArray | None:
        """Return the infeasible point (n,) that violates the fewest rows, or None."""
        points = self.acceptance.infeasible_points.points()
        return points[0].x if points else None

    def seed_of(self, name: str, number: int) -> int:
        """Return the seed of a turn: the same for the same name, number, device and solve."""
        words = [self.solve.options.seed, number, *name.encode()]
        words += [self.place] if self.place else []
        return int(np.random.SeedSequence(words).generate_state(1)[0]) & 0x7FFFFFFF
