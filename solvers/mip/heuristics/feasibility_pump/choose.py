"""Which projector a pump uses, and when it gives simplex up for PDLP."""

from __future__ import annotations

from collections import deque

from solvers.core.device import Device, cpu
from solvers.mip.heuristics.feasibility_pump.augmented import Augmented, Request
from solvers.mip.heuristics.feasibility_pump.first_order import first_order
from solvers.mip.heuristics.feasibility_pump.projector import SECONDS, WORK, Projection, Projector
from solvers.mip.heuristics.feasibility_pump.root import FIRST_ORDER_FROM, SIMPLEX, Root
from solvers.mip.heuristics.feasibility_pump.simplex import Simplex
from solvers.mip.portfolio.budget import Budget

WATCHED = 5
"""Latest projections of simplex that are looked at,"""

ALLOWED = 2
"""and how many of them may end at their limit before PDLP takes over."""

MOST_OF_IT = 0.9
"""Part of a projection's limit from which it counts as reached."""


def choose_projector(
    augmented: Augmented,
    root: Root,
    budget: Budget,
    *,
    device: Device | None = None,
    threads: int = 1,
    seed: int = 0,
) -> Projector:
    """Return the projector for a model of this size on this device.

    On a GPU PDLP, from :data:`FIRST_ORDER_FROM` nonzeros on or where simplex took longer for the
    relaxation than a projection may. Otherwise simplex, unless PDLP had to solve the relaxation,
    and only as long as it keeps to its limit.
    """
    where = cpu() if device is None else device
    by_gpu = where.kind != "cpu"
    slow = root.method != SIMPLEX or (by_gpu and root.seconds > SECONDS)
    large = by_gpu and augmented.model.num_nonzeros >= FIRST_ORDER_FROM
    if augmented.problem.num_nonzeros and (slow or large):
        return first_order(augmented.problem, where, budget, threads, seed)
    return _SimplexFirst(augmented, root, where, threads, seed)


class _SimplexFirst:
    """Simplex, until it fails to finish too often."""

    def __init__(
        self, augmented: Augmented, root: Root, device: Device, threads: int, seed: int
    ) -> None:
        self._augmented = augmented
        self._device = device
        self._threads = threads
        self._seed = seed
        self._finished: deque[bool] = deque(maxlen=WATCHED)
        self._is_simplex = True
        self._inner: Projector = Simplex(augmented.problem, seed, root.basis)

    def project(self, request: Request, budget: Budget) -> Projection:
        """Solve a projection."""
        found = self._inner.project(request, budget)
        finished = found.is_converged or found.is_empty
        if self._is_simplex and (finished or _had_its_time(budget)):
            self._finished.append(finished)
            if self._finished.count(False) > ALLOWED and self._augmented.problem.num_nonzeros:
                self._hand_over(budget)
        return found

    def _hand_over(self, budget: Budget) -> None:
        self._is_simplex = False
        problem = self._augmented.problem
        self._inner = first_order(problem, self._device, budget, self._threads, self._seed)


def _had_its_time(budget: Budget) -> bool:
    """Whether a projection ran for as long as one may, and was not cut short by a turn's end."""
    if budget.is_timed:
        return budget.seconds >= MOST_OF_IT * SECONDS
    return budget.work >= MOST_OF_IT * WORK
