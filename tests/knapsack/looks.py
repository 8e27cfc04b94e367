"""A limit that is counted in looks at the clock, so that no test depends on a clock."""

from __future__ import annotations

import itertools

from solvers.core.outcome import StopReason
from solvers.core.progress import Progress


class Looks(Progress):
    """Says stop from a look on: the first is number 0."""

    def __init__(self, granted: int) -> None:
        super().__init__()
        self._granted = granted
        self._number = itertools.count()

    def should_stop(self) -> StopReason | None:
        """Count this look."""
        return StopReason.TIME_LIMIT if next(self._number) >= self._granted else None
