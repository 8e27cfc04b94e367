"""Branch and bound by HiGHS, used directly."""

from __future__ import annotations

import os
from typing import Any

import highspy
import numpy as np

from benchmarks.peers.mip_solver import MipAnswer, MipSolver, MipTask, Recorder

STATUSES = {
    highspy.HighsModelStatus.kOptimal: "optimal",
    highspy.HighsModelStatus.kInfeasible: "infeasible",
    highspy.HighsModelStatus.kUnbounded: "unbounded",
    highspy.HighsModelStatus.kTimeLimit: "time_limit",
    highspy.HighsModelStatus.kInterrupt: "interrupted",
}


class HighsMip(MipSolver):
    """With its defaults, but for limit, threads and seed."""

    def label(self, task: MipTask) -> str:
        """Name and version."""
        return f"HiGHS {highspy.Highs().version()}"

    def missing(self) -> str | None:
        """Return nothing: HiGHS comes with the project."""
        return None

    def warm_up(self, task: MipTask) -> None:
        """Do nothing: there is nothing to compile."""

    def load(self, task: MipTask) -> highspy.Highs:
        """Read the file."""
        highs = highspy.Highs()
        highs.setOptionValue("output_flag", False)
        if highs.readModel(str(task.path)) == highspy.HighsStatus.kError:
            raise ValueError(f"HiGHS cannot read {task.path}.")
        threads = task.threads or os.cpu_count() or 1
        for name, value in (
            ("time_limit", float(task.time_limit)),
            ("threads", threads),
            ("random_seed", task.seed),
        ):
            if highs.setOptionValue(name, value) != highspy.HighsStatus.kOk:
                raise ValueError(f"HiGHS does not take {name} = {value!r}.")
        return highs

    def solve(self, model: highspy.Highs, task: MipTask, recorder: Recorder) -> MipAnswer:
        """Run and note improving solutions as they come."""

        def on_solution(event: Any) -> None:
            found = event.data_out
            recorder.event(float(found.objective_function_value), found.mip_solution)

        model.cbMipImprovingSolution += on_solution
        model.run()
        info, solution = model.getInfo(), model.getSolution()
        status = model.getModelStatus()
        bound = float(info.mip_dual_bound)
        has_point = info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
        x = np.array(solution.col_value) if has_point and solution.value_valid else None
        if x is not None:
            recorder.event(float(info.objective_function_value), x)
        return MipAnswer(
            status=STATUSES.get(status, "failed"),
            bound=bound if np.isfinite(bound) else None,
            x=x,
            detail=str(model.modelStatusToString(status)),
        )
