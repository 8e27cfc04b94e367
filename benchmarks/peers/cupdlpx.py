"""cuPDLPx on the GPU, through its Python package (``pip install cupdlpx``, needs nvcc)."""

from __future__ import annotations

from importlib import import_module, metadata, util
from typing import Any

import numpy as np

from benchmarks.linear_programs import LinearProgram
from benchmarks.peers.solver import Answer, Solver, Task

STATUSES = {
    0: "optimal",
    1: "infeasible",
    2: "unbounded",
    3: "time_limit",
    4: "iteration_limit",
    5: "infeasible_or_unbounded",
}


class CuPdlpx(Solver):
    """With its defaults; its presolve is left out where the build has none."""

    own_signs = True

    @property
    def label(self) -> str:
        """Name and version."""
        return f"cupdlpx {metadata.version('cupdlpx')}"

    def missing(self) -> str | None:
        """Say whether the package is installed."""
        return None if util.find_spec("cupdlpx") else "the package cupdlpx is not installed"

    def prepare(self, lp: LinearProgram, task: Task) -> Any:
        """Make a model with the parameters of the task."""
        model = import_module("cupdlpx").Model(
            lp.cost, lp.matrix, lp.row_lower, lp.row_upper, lp.lower, lp.upper, lp.offset
        )
        model.setParam("OutputFlag", False)
        model.setParam("OptimalityTol", task.tolerance)
        model.setParam("FeasibilityTol", task.tolerance)
        model.setParam("TimeLimit", task.time_limit)
        if not task.presolve:
            model.setParam("Presolve", False)
        if task.iteration_limit is not None:
            model.setParam("IterationLimit", task.iteration_limit)
        return model

    def solve(self, model: Any, task: Task) -> Answer:
        """Solve and read the attributes."""
        model.optimize()
        status = getattr(model, "StatusCode", None)
        code = int(model.Status) if status is None else int(status)
        return Answer(
            status=STATUSES.get(code, "failed"),
            x=None if model.X is None else np.asarray(model.X),
            y=None if model.Pi is None else np.asarray(model.Pi),
            iterations=None if model.IterCount is None else int(model.IterCount),
            loop_seconds=_loop_seconds(model),
            objective=model.ObjVal,
        )


def _loop_seconds(model: Any) -> float | None:
    if model.Runtime is None:
        return None
    return float(model.Runtime) - float(model.RescalingTime or 0.0)
