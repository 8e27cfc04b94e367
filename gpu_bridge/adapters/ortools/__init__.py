"""OR-tools' models: MathOpt's, and the protocol buffers of ``ModelBuilder`` and ``pywraplp``.

OR-tools' solvers are compiled into it, and none can be added. So these functions take its models
and give its results, in place of its own ``solve``.
"""

from __future__ import annotations

from gpu_bridge.adapters.ortools.math_opt import solve, solve_proto
from gpu_bridge.adapters.ortools.mp_model import solve_mp_model

__all__ = ["solve", "solve_mp_model", "solve_proto"]
