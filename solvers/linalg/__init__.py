"""Linear algebra that engines share: conjugate gradients on CPU and GPU.

``operator`` says what M is and what preconditions it, and ``cg`` iterates. ``least_squares`` puts
them to use for linear programs.
"""

from __future__ import annotations

from solvers.linalg.cg import Solution, Stopped, Workspace, conjugate_gradients, prepare, run
from solvers.linalg.operator import Operator, jacobi, normal_equations, symmetric

__all__ = [
    "Operator",
    "Solution",
    "Stopped",
    "Workspace",
    "conjugate_gradients",
    "jacobi",
    "normal_equations",
    "prepare",
    "run",
    "symmetric",
]
