"""Everything that a solve works on: the scaled problem on the device, and where it stands."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from solvers.device import Device
from solvers.pdlp.matrix import CompressedRows
from solvers.pdlp.pace import Pace
from solvers.pdlp.primal_weight import PrimalWeight
from solvers.pdlp.scaling import Scaling
from solvers.pdlp.settings import Settings
from solvers.problem import Problem


@dataclass(frozen=True, eq=False)
class ScaledProblem:
    """min (Cc)'x, Ra <= (R A C) x <= Rb, l/C <= x <= u/C, all float64 on the device.

    ``by_row`` is R A C and ``by_column`` its transpose; ``cost``, ``lower`` and ``upper`` are
    (n,), ``row_lower`` and ``row_upper`` (m,). The norms are those of the original problem.
    """

    original: Problem
    device: Device
    scaling: Scaling
    by_row: CompressedRows
    by_column: CompressedRows
    cost: Any
    lower: Any
    upper: Any
    row_lower: Any
    row_upper: Any
    side_norm: float
    cost_norm: float


@dataclass(eq=False)
class Iterate:
    """One side of the iteration, primal (n,) or dual (m,), on the device.

    ``point`` is the Halpern average; ``projection`` (the answer) and ``difference`` (reflected
    minus current point) are written by kept iterations only.
    """

    point: Any
    anchor: Any
    projection: Any
    difference: Any


@dataclass(eq=False)
class State:
    """A prepared solve: what :func:`solvers.pdlp.run` continues from.

    Parameters
    ----------
    problem : ScaledProblem
    settings : Settings
    x, y : Iterate
        Primal (n,) and dual (m,) side.
    reflected : (n,) array on the device
        The reflected primal point, which the dual step reads.
    control : (4,) array on the device
        Step sizes tau and sigma, reflection, and the epoch's iterations before the window.
    norm : float
        Estimate of the spectral norm of the scaled matrix.
    weight : PrimalWeight
    iterations, epoch_iterations, restarts : int
        Iterations in all and since the last restart; restarts so far.
    threads : int
        CPU threads at most; 0 for all.
    graph : object, optional
        The recorded launches of a window's inner iterations, on a GPU.
    pace : Pace
        How fast iterations go.
    """

    problem: ScaledProblem
    settings: Settings
    x: Iterate
    y: Iterate
    reflected: Any
    control: Any
    norm: float
    weight: PrimalWeight
    iterations: int = 0
    epoch_iterations: int = 0
    restarts: int = 0
    threads: int = 0
    graph: Any = None
    pace: Pace = field(default_factory=Pace)

    @property
    def step_size(self) -> float:
        """Eta: the geometric mean of the primal and the dual step size."""
        return self.settings.step_fraction / max(self.norm, 1e-300)
