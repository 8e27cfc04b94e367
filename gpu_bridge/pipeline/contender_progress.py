"""What one engine of a race asks and tells: its own end, the common clock, a marked log."""

from __future__ import annotations

import numpy as np

from gpu_bridge.report.log_text import figure_text
from solvers.core.outcome import Event
from solvers.core.problem import FloatArray
from solvers.core.progress import DetachableProgress, Progress

SHOWN_FIGURES = ("primal_residual", "dual_residual", "gap")
"""Figures of an iteration that say how near an engine is."""


class ContenderProgress(DetachableProgress):
    """The :class:`~solvers.core.progress.Progress` of one engine among several.

    Clock, time limit and interruption are those of the solve; besides, the engine alone can be
    told that its answer is wanted no more, from when on it is not heard either. Log messages carry
    its name; the running text of a wrapped engine is left out, because that of several would be
    unreadable. Nothing an engine claims in a race counts before it is verified.

    Parameters
    ----------
    parent : Progress
        That of the solve.
    name : str
        What the log calls the engine.
    """

    def __init__(self, parent: Progress, name: str) -> None:
        super().__init__(parent)
        self.name = name
        self._count = 0
        self._figures: dict[str, float | int | str] = {}

    def iteration(self, count: int, **figures: float | int | str) -> None:
        """Remember how far the engine has come and pass it on."""
        if self.abandoned:
            return
        self._count = count
        if figures:
            self._figures = dict(figures)
            self._parent.iteration(count, **figures)
        self._parent.standing(self.name, self._short())

    def log(self, message: str) -> None:
        """Write a message to the log under the engine's name."""
        if not self.abandoned:
            self._parent.log(f"{self.name}: {message}")

    @property
    def reached(self) -> str:
        """What the engine had reached, in words."""
        if not self._count:
            return "no iteration reported"
        known = [name for name in SHOWN_FIGURES if _is_number(self._figures.get(name))]
        figures = [
            f"{name.replace('_', ' ')} {figure_text(name, self._figures[name])}" for name in known
        ]
        return ", ".join([f"{self._count} iterations", *figures])

    def _short(self) -> str:
        """Return the iterations and the largest error for a narrow column."""
        errors = [self._figures.get(name) for name in SHOWN_FIGURES]
        known = [float(error) for error in errors if error is not None and _is_number(error)]
        return f"{self._count} ({max(known):.1e})" if known else str(self._count)


class ForwardingProgress(DetachableProgress):
    """The progress of a whole solve, as long as the caller waits: everything is passed on.

    Attributes
    ----------
    best : (n,) float64 or None
        The best point that was told, for want of an answer.
    """

    def __init__(self, parent: Progress) -> None:
        super().__init__(parent)
        self.best: FloatArray | None = None

    @property
    def best_objective(self) -> float:
        """Best objective reported so far; NaN without one."""
        return self._parent.best_objective

    @property
    def best_bound(self) -> float:
        """Best bound reported so far; NaN without one."""
        return self._parent.best_bound

    @property
    def history(self) -> tuple[Event, ...]:
        """Every improvement of incumbent or bound so far, in order of time."""
        return self._parent.history

    def incumbent(self, objective: float, source: str, x: FloatArray | None = None) -> bool:
        """Pass a point on, and keep it if it is better than all before it."""
        if self.abandoned or not self._parent.incumbent(objective, source, x):
            return False
        if x is not None:
            self.best = np.array(x, dtype=np.float64)
        return True

    def bound(self, value: float, source: str) -> bool:
        """Pass a bound on."""
        return not self.abandoned and self._parent.bound(value, source)

    def engine_output(self, line: str) -> None:
        """Pass a line of a wrapped engine's log on."""
        if not self.abandoned:
            self._parent.engine_output(line)


def _is_number(value: float | int | str | None) -> bool:
    return value is not None and not isinstance(value, str) and bool(np.isfinite(value))
