"""What a solver must offer to be measured, and what it hands back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from benchmarks.linear_programs import FloatArray, LinearProgram


@dataclass(frozen=True)
class Task:
    """What is asked of a solver: relative tolerance, limits, and how."""

    tolerance: float
    time_limit: float
    iteration_limit: int | None = None
    presolve: bool = True
    threads: int = 2


@dataclass(frozen=True, eq=False)
class Answer:
    """What a solver claims: a status, and the point x (n,) with row duals y (m,) behind it.

    ``loop_seconds`` is the time of its iterations alone and ``bytes_per_iteration`` what one of
    them moves, where the solver tells. ``seconds`` replaces the measured wall time where that
    would count what others need not do, such as reading a file; ``objective`` serves where no
    point can be had, in the minimised sense.
    """

    status: str
    x: FloatArray | None = None
    y: FloatArray | None = None
    iterations: int | None = None
    loop_seconds: float | None = None
    bytes_per_iteration: float | None = None
    seconds: float | None = None
    objective: float | None = None
    detail: str = ""


class Solver(ABC):
    """One solver with one way of using it.

    ``exact`` solvers give the same vertex whatever tolerance is asked for, so that they run once
    per model. ``first_order`` ones have iterations whose cost can be compared.
    """

    exact = False
    first_order = True
    own_signs = False
    """Whether its duals may come with the opposite sign, so that both have to be tried."""

    def __init__(self, device: str = "auto") -> None:
        self.device = device

    @property
    @abstractmethod
    def label(self) -> str:
        """Name and version, as tables show it."""

    @abstractmethod
    def missing(self) -> str | None:
        """Say why the solver cannot run here; None if it can."""

    @abstractmethod
    def prepare(self, lp: LinearProgram, task: Task) -> Any:
        """Make the solver's own model object; not counted as its time."""

    @abstractmethod
    def solve(self, model: Any, task: Task) -> Answer:
        """Solve it; the wall time of this call is the solver's time."""
