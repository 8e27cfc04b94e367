"""The light presolve of a model, made once for all engines of a race that begin with it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from solvers.core.problem import Problem
from solvers.core.progress import Progress

if TYPE_CHECKING:
    from solvers.presolve import Reduction

PRESOLVE = "light"
"""Which presolve goes before PDLP and our interior point method: HiGHS's takes out little more of
the models here, costs more than the solve on most of them, and made some of them much harder for
PDLP."""


class SharedPresolve:
    """Presolves for whoever asks first; the others wait for it, and get the same.

    The way back computes from what was kept for it and changes none of that, so that engines may
    take it side by side.
    """

    def __init__(self) -> None:
        self._making = threading.Lock()
        self._made: Reduction | None = None

    def reduction(self, problem: Problem, progress: Progress, threads: int) -> Reduction:
        """Return the reduction of the race's problem.

        Parameters
        ----------
        problem : Problem
            The same at every call.
        progress : Progress
            Keeps the limit; what it leaves undone stays so.
        threads : int
            CPU threads at most, 0 for all cores.
        """
        from solvers import presolve

        with self._making:
            if self._made is None:
                self._made = presolve.apply(problem, progress, PRESOLVE, threads)
            return self._made
