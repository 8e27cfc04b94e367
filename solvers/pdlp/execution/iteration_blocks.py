"""Windows of iterations, each followed by a check, on whichever device the state is.

A window is ``check_interval`` iterations, the sums of a check, and the decisions that follow from
them: stop, restart, next weight. On a CPU it runs to its end before the host reads what came of
it. On a GPU the whole of it is one recorded graph of launches, and a window is always queued
behind the one that runs: the host reads about a window while the next is under way, and the GPU
is never idle. Where slices of a window end has no influence on the numbers, only on how soon a
limit or an interruption is noticed.
"""

from __future__ import annotations

from typing import Protocol

from solvers.pdlp.statistics import Record


class Windows(Protocol):
    """Runs windows in the order they were submitted."""

    depth: int
    """Windows that may be under way at once."""

    @property
    def pending(self) -> int:
        """Windows submitted whose records have not been taken."""

    def submit(self, count: int) -> None:
        """Run, or queue, a window of so many iterations."""

    def take(self) -> Record:
        """Return the record of the earliest window not taken; waits for it."""

    def drain(self) -> None:
        """Wait for all windows submitted."""
