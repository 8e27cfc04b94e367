"""Walks on the CPU, which go on from turn to turn: on the model, and without its defined columns.

What a walk finds without them is often out of reach for one on the model as it is, and the other
way round; which of the two is of more use is seen only when they have begun. So both have shares,
and once there is a point, that of their common share which they have earned lately.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

from solvers.core.problem import FloatArray
from solvers.mip.heuristics.local_search.cpu.walk import APART, Near, Walk
from solvers.mip.inference.aggregation import PoolView
from solvers.mip.model import MipModel
from solvers.mip.portfolio.budget import Budget
from solvers.mip.portfolio.shared import Shared
from solvers.mip.solutions.pool import Offer, Pool

SHARE, SHARE_WITHOUT = 3.0, 6.0
"""What walks are due while there is no point: on the model, and without its defined columns. The
second are there only where equations define columns, and there steps on the model are hampered."""

SHARE_WITH_POINT = 1.5
"""What all of them are due together once there is a point."""

FADING = 0.7
"""What remains of an improving turn's weight from one turn to the next."""

LEAST_EARNED = 0.1
"""What those count as having earned who have earned nothing, so that they are never left out."""


@dataclass(frozen=True, eq=False)
class Ground:
    """Where walks go: a model, its pool, who takes points of it, and the way there for others."""

    model: MipModel
    pool: Pool
    offer: Offer
    near: Near
    here: Callable[[FloatArray], FloatArray]


def whole_ground(shared: Shared) -> Ground:
    """Return the model as it is."""
    gate = shared.gate
    return Ground(shared.model, gate.pool, gate.offer, gate.near, lambda x: x)


def ground_without_defined(shared: Shared) -> Ground | None:
    """Return the model without the columns that its equations define; None if there are none."""
    sub, gate = shared.substituted, shared.gate
    if sub is None:
        return None
    return Ground(
        sub.model,
        PoolView(gate.pool, sub),
        sub.offer_to(gate.offer),
        sub.near_to(gate.near),
        sub.from_whole,
    )


class Walks:
    """Walks on one ground, one for each turn that runs at a time.

    Parameters
    ----------
    shared : Shared
    make_ground : callable
        Asked at the first turn; where it returns None, there are no walks.
    without_point : float
        What they are due while there is no point.
    first_seed : int
        Added to the seeds.
    """

    def __init__(
        self,
        shared: Shared,
        make_ground: Callable[[Shared], Ground | None],
        without_point: float,
        first_seed: int = 0,
    ) -> None:
        self._shared = shared
        self._make_ground = make_ground
        self._without_point = without_point
        self._first_seed = first_seed
        self._ground: Ground | None = None
        self._has_ground: bool | None = None
        self._waiting: list[Walk] = []
        self._made = 0
        self._improvements = 0
        self._lock = threading.Lock()
        self.rivals: list[Walks] = []
        self.earned = 0.0

    def share(self) -> float:
        """Return what these walks are due now."""
        if self._has_ground is False or self._has_to_wait():
            return 0.0
        if not self._shared.has_point:
            return self._without_point
        earned = self.earned + LEAST_EARNED
        others = sum(one.earned + LEAST_EARNED for one in self.rivals if one.is_there)
        return SHARE_WITH_POINT * earned / (earned + others)

    @property
    def is_there(self) -> bool:
        """Whether there is a ground, as far as is known."""
        return self._has_ground is not False

    def work(self, budget: Budget, seed: int) -> None:
        """Let one of the walks go on."""
        ground = self._find_ground()
        if ground is None:
            return
        with self._lock:
            number, chosen = self._made, None
            if self._waiting:
                chosen = self._waiting.pop(0)
            else:
                self._made += 1
        walk = self._make(ground, number) if chosen is None else chosen
        before = self._improvements
        walk.run(budget)
        with self._lock:
            self._waiting.append(walk)
            self.earned = FADING * self.earned + (self._improvements > before)

    def _has_to_wait(self) -> bool:
        """Whether there is no ground yet, because the model may not last."""
        return self._make_ground is ground_without_defined and self._shared.is_temporary()

    def _find_ground(self) -> Ground | None:
        with self._lock:
            if self._has_ground is None and not self._has_to_wait():
                self._ground = self._make_ground(self._shared)
                self._has_ground = self._ground is not None
            return self._ground

    def _make(self, ground: Ground, number: int) -> Walk:
        seed = self._shared.seed + self._first_seed + number

        def place(turn: int) -> FloatArray | None:
            x = self._place(turn)
            return None if x is None else ground.here(x)

        def offer(x: FloatArray, source: str) -> bool:
            improved = ground.offer(x, source)
            self._improvements += improved
            return improved

        return Walk(
            *(ground.model, offer, seed),
            pool=ground.pool,
            place=place,
            near=ground.near,
            turn=APART * number,
        )

    def _place(self, number: int) -> FloatArray | None:
        """Return where to begin while there is no point: anew, near one, or at the relaxation."""
        shared = self._shared
        if shared.has_point:
            return None
        reference = shared.reference()
        places = [None, *(point.x for point in shared.gate.near.points()[:2])]
        if reference is not None:
            places.append(reference)
        return places[number % len(places)]


def both_walks(shared: Shared) -> tuple[Walks, Walks]:
    """Return the walks on the model and those without its defined columns."""
    whole = Walks(shared, whole_ground, SHARE)
    without = Walks(shared, ground_without_defined, SHARE_WITHOUT, first_seed=1)
    whole.rivals, without.rivals = [without], [whole]
    return whole, without
