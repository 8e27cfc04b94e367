"""HiGHS as the reference engine: linear programs, branch and bound, crossover, conflicts.

The entry point is :func:`solve`; ``crossover.to_vertex`` moves another engine's point on to a
vertex. Small models run in a thread of this process, the others in a child process that can be
killed when its time is up, because HiGHS does not look at the clock everywhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from solvers.highs.engine import solve

__all__ = ["solve"]


def __getattr__(name: str) -> Any:
    # Child processes import modules of this package but not the entry point, which needs SciPy.
    if name == "solve":
        from solvers.highs.engine import solve

        return solve
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
