"""The pool of the whole model's points in the columns that a smaller model has."""

from __future__ import annotations

from dataclasses import replace

from solvers.mip.inference.aggregation.aggregated import Aggregated
from solvers.mip.solutions.pool import Found, Pool


class PoolView(Pool):
    """A pool for reading, whose points are those of another one; safe to use from any thread.

    Parameters
    ----------
    pool : Pool
        Of the whole model's points.
    aggregated : Aggregated
    """

    def __init__(self, pool: Pool, aggregated: Aggregated) -> None:
        super().__init__(0, aggregated.model.integers)
        self._pool = pool
        self._aggregated = aggregated

    @property
    def version(self) -> int:
        """Number of improvements of the other pool."""
        return self._pool.version

    @property
    def best(self) -> Found | None:
        """The best point in the model's columns, or None."""
        best = self._pool.best
        return None if best is None else self._seen(best)

    @property
    def objective(self) -> float:
        """Objective of the best point; inf without one."""
        return self._pool.objective

    def __len__(self) -> int:
        return len(self._pool)

    def points(self) -> tuple[Found, ...]:
        """Return all points in the model's columns, best first."""
        return tuple(self._seen(found) for found in self._pool.points())

    def add(self, found: Found) -> bool:
        """Refuse: points come in through the whole model's acceptance."""
        raise TypeError(
            "A view of a pool takes no points; submit them to the full model's acceptance."
        )

    def _seen(self, found: Found) -> Found:
        return replace(found, x=self._aggregated.from_whole(found.x))
