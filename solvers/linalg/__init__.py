"""Linear algebra that engines share: conjugate gradients on CPU and GPU.

``operator`` says what M is, ``precondition`` what helps with it, ``workspace`` holds the vectors
and ``cg`` iterates. ``least_squares`` puts them to use for linear programs.
"""

from __future__ import annotations

from solvers.linalg.cg import Solution, Stopped, conjugate_gradients, run
from solvers.linalg.operator import Operator, normal_equations, symmetric
from solvers.linalg.precondition import (
    Preconditioner,
    block_jacobi,
    chebyshev,
    identity,
    jacobi,
    neumann,
)
from solvers.linalg.workspace import Workspace, prepare

__all__ = [
    "Operator",
    "Preconditioner",
    "Solution",
    "Stopped",
    "Workspace",
    "block_jacobi",
    "chebyshev",
    "conjugate_gradients",
    "identity",
    "jacobi",
    "neumann",
    "normal_equations",
    "prepare",
    "run",
    "symmetric",
]
