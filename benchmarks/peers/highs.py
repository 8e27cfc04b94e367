"""HiGHS with each of its three algorithms, used directly."""

from __future__ import annotations

import highspy
import numpy as np

from benchmarks.linear_programs import LinearProgram
from benchmarks.peers.solver import Answer, Solver, Task

STATUSES = {
    highspy.HighsModelStatus.kOptimal: "optimal",
    highspy.HighsModelStatus.kInfeasible: "infeasible",
    highspy.HighsModelStatus.kUnbounded: "unbounded",
    highspy.HighsModelStatus.kTimeLimit: "time_limit",
    highspy.HighsModelStatus.kIterationLimit: "iteration_limit",
}


class Simplex(Solver):
    """Dual simplex with presolve."""

    exact, first_order = True, False
    algorithm = "simplex"

    @property
    def label(self) -> str:
        """Name, version and algorithm."""
        return f"HiGHS {highspy.Highs().version()} {self.algorithm}"

    def missing(self) -> str | None:
        """Return nothing: HiGHS comes with the project."""
        return None

    def prepare(self, lp: LinearProgram, task: Task) -> highspy.HighsLp:
        """Copy the program into HiGHS's own form."""
        model = highspy.HighsLp()
        model.num_row_, model.num_col_ = lp.matrix.shape
        model.col_cost_, model.offset_ = lp.cost, lp.offset
        model.col_lower_, model.col_upper_ = lp.lower, lp.upper
        model.row_lower_, model.row_upper_ = lp.row_lower, lp.row_upper
        model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        model.a_matrix_.num_row_, model.a_matrix_.num_col_ = lp.matrix.shape
        model.a_matrix_.start_, model.a_matrix_.index_ = lp.matrix.indptr, lp.matrix.indices
        model.a_matrix_.value_ = lp.matrix.data
        return model

    def solve(self, model: highspy.HighsLp, task: Task) -> Answer:
        """Run with the options of the task."""
        # HiGHS refuses another number of threads than a process began with.
        highspy.Highs.resetGlobalScheduler(True)
        highs = highspy.Highs()
        for name, value in self.options(task).items():
            if highs.setOptionValue(name, value) != highspy.HighsStatus.kOk:
                raise ValueError(f"HiGHS does not take {name} = {value!r}.")
        highs.passModel(model)
        highs.run()
        return self.answer(highs)

    def options(self, task: Task) -> dict[str, object]:
        """Return what HiGHS is told."""
        return {
            "output_flag": False,
            "solver": self.algorithm,
            "time_limit": float(task.time_limit),
            "presolve": "on" if task.presolve else "off",
            "threads": task.threads,
        }

    def answer(self, highs: highspy.Highs) -> Answer:
        """Return the point HiGHS holds."""
        info, solution = highs.getInfo(), highs.getSolution()
        return Answer(
            status=STATUSES.get(highs.getModelStatus(), "failed"),
            x=np.array(solution.col_value) if solution.value_valid else None,
            y=np.array(solution.row_dual) if solution.dual_valid else None,
            iterations=self.iterations(info),
            detail=highs.modelStatusToString(highs.getModelStatus()),
        )

    def iterations(self, info: highspy.HighsInfo) -> int:
        """Return the algorithm's own count."""
        return int(info.simplex_iteration_count)


class InteriorPoint(Simplex):
    """Interior point method with crossover, as by default."""

    algorithm = "ipm"

    def iterations(self, info: highspy.HighsInfo) -> int:
        """Return the interior point iterations."""
        return int(info.ipm_iteration_count)


class Pdlp(Simplex):
    """HiGHS's first-order method, on one thread."""

    exact, first_order = False, True
    algorithm = "pdlp"

    def options(self, task: Task) -> dict[str, object]:
        """Set all tolerances of the method, and no crossover."""
        options = super().options(task)
        options |= {"kkt_tolerance": max(task.tolerance, 1e-10), "run_crossover": "off"}
        if task.iteration_limit is not None:
            options["pdlp_iteration_limit"] = task.iteration_limit
        return options

    def iterations(self, info: highspy.HighsInfo) -> int:
        """Return the first-order iterations."""
        return int(info.pdlp_iteration_count)
