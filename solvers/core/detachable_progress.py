"""The progress of work that its caller may stop waiting for."""

from __future__ import annotations

import threading
from collections.abc import Callable

from solvers.core.outcome import Outcome
from solvers.core.problem import FloatArray
from solvers.core.progress import Progress


class DetachableProgress(Progress):
    """A :class:`Progress` whose clock is that of another, until it is abandoned.

    The time limit is its own, to begin with that of the parent. Incumbents and bounds stay here:
    what the work claims is the caller's to judge.

    Parameters
    ----------
    parent : Progress
    """

    def __init__(self, parent: Progress) -> None:
        super().__init__(parent.time_limit)
        self._parent = parent
        self._abandoned = threading.Event()

    @property
    def seconds(self) -> float:
        """Seconds since the solve, not this work, began."""
        return self._parent.seconds

    @property
    def interrupted(self) -> bool:
        """Whether the solve was interrupted or this work was told to stop."""
        return self.abandoned or super().interrupted or self._parent.interrupted

    @property
    def abandoned(self) -> bool:
        """Whether nobody waits for this work any more."""
        return self._abandoned.is_set() or self._parent.abandoned

    def abandon(self) -> None:
        """Tell the work to stop without an answer, and hear it no more."""
        self._abandoned.set()

    def hold(self, answer: Outcome) -> None:
        """Keep the best answer so far, and hand it on."""
        if not self.abandoned:
            super().hold(answer)
            self._parent.hold(answer)

    def listen(self, take: Callable[[FloatArray, str], object]) -> None:
        """Hear of others' points by the parent, while somebody waits for this work."""
        self._parent.listen(lambda x, source: None if self.abandoned else take(x, source))

    def iteration(self, count: int, **figures: float | int | str) -> None:
        """Pass an iteration on."""
        if not self.abandoned:
            self._parent.iteration(count, **figures)

    def standing(self, runner: str, words: str) -> None:
        """Pass on how an engine of a race within this work stands."""
        if not self.abandoned:
            self._parent.standing(runner, words)

    def log(self, message: str) -> None:
        """Pass a message on."""
        if not self.abandoned:
            self._parent.log(message)
