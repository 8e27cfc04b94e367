"""The solver class of linopy 0.8 and newer.

Matrices go to the engines without a file, unless ``io_api`` asks for one. linopy calls
``_build_direct`` or ``_build_file`` once, then ``_run_direct`` or ``_run_file``; where a solver is
kept (``track_updates=True``, from linopy 0.9 on) it changes the numbers between runs by
``_apply_...``.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from linopy import solvers as linopy_solvers
from linopy.constants import Result, Solution, SolverReport
from linopy.solvers import Solver, SolverFeature

from gpu_bridge.adapters.arrays import iterations
from gpu_bridge.adapters.linopy.answer import duals_of, linopy_status, solve_with_files
from gpu_bridge.adapters.linopy.model import SolverModel, has_ordered_sets, read_model
from gpu_bridge.files import read_problem
from gpu_bridge.interrupt import solving
from gpu_bridge.outcome import Outcome
from solvers.core.outcome import Start


class GpuHeur(Solver[None]):  # type: ignore[misc]
    """gpu-bridge as a solver of linopy; options go by our names or those of other solvers."""

    display_name: ClassVar[str] = "gpu-bridge"
    features: ClassVar[frozenset[SolverFeature]] = frozenset(
        {
            SolverFeature.INTEGER_VARIABLES,
            SolverFeature.SOS_CONSTRAINTS,
            SolverFeature.DIRECT_API,
            SolverFeature.LP_FILE_NAMES,
            SolverFeature.READ_MODEL_FROM_FILE,
            SolverFeature.SOLUTION_FILE_NOT_NEEDED,
            SolverFeature.GPU_ACCELERATION,
            SolverFeature.MIP_DUAL_BOUND_REPORT,
        }
    )
    supports_persistent_update: ClassVar[bool] = True

    @classmethod
    def is_available(cls) -> bool:
        """Return True: who holds this class has the solver."""
        return True

    def _build_file(self, **keywords: Any) -> None:
        if self.io_api is None:  # nobody asked for a file
            self._build_direct()
        else:
            super()._build_file(**keywords)

    def _build_direct(self, **keywords: Any) -> None:
        self.solver_model = read_model(self.model)
        self.io_api = "direct"
        self.sense = self.model.sense
        self._cache_model_labels(self.model)

    @solving()
    def _run_direct(self, **files: Any) -> Result:
        held: SolverModel = self.solver_model
        held.outcome, loaded = solve_with_files(
            held.problem, self.options, lambda: Start(basis=held.last_basis), **files
        )
        return self._finish(held.outcome, loaded, self._by_label(held.outcome))

    def _run_file(self, **files: Any) -> Result:
        if self.model is not None and has_ordered_sets(self.model):
            self._build_direct()  # files with such sets are not read here
            return self._run_direct(**files)
        return self._solve_file(**files)

    @solving()
    def _solve_file(self, **files: Any) -> Result:
        outcome, loaded = solve_with_files(
            lambda: read_problem(self._problem_fn), self.options, **files
        )
        return self._finish(outcome, loaded, self._by_name(outcome))

    def _finish(self, outcome: Outcome, loaded: bool, solution: Solution) -> Result:
        """Return linopy's result; ``solution`` stays out of it where it may not be loaded."""
        held = self.solver_model if self.solver_model is not None else outcome
        return self._make_result(
            linopy_status(outcome, has_values=loaded),
            solution if loaded else Solution(),
            solver_model=held,
            report=_report(outcome),
        )

    def _by_label(self, outcome: Outcome) -> Solution:
        if outcome.x is None:
            return Solution()
        place, y = linopy_solvers._solution_from_labels, duals_of(outcome)
        return Solution(
            place(outcome.x[: len(self._vlabels)], self._vlabels, self._n_vars),
            Solution().dual if y is None else place(y, self._clabels, self._n_cons),
            outcome.objective,
        )

    def _by_name(self, outcome: Outcome) -> Solution:
        if outcome.x is None or outcome.problem is None:
            return Solution()
        place, y = linopy_solvers._solution_from_names, duals_of(outcome)
        columns, rows = outcome.problem.column_names, outcome.problem.row_names
        return Solution(
            place(outcome.x, columns, self._n_vars),
            Solution().dual if y is None else place(y, rows, self._n_cons),
            outcome.objective,
        )

    def _apply_var_bounds(self, ctx: SolverModel, indices: Any, lower: Any, upper: Any) -> None:
        ctx.lower[indices], ctx.upper[indices] = lower, upper

    def _apply_var_types(self, ctx: SolverModel, positions: Any, kinds: Any) -> None:
        from linopy.persistent import VarKind  # from linopy 0.9 on, as who calls this

        ctx.integrality[positions] = [kind in (VarKind.BINARY, VarKind.INTEGER) for kind in kinds]

    def _apply_con_rhs(self, ctx: SolverModel, diff: Any) -> None:
        lower, upper = diff.con_rhs_as_bounds()
        ctx.row_lower[diff.con_rhs_indices], ctx.row_upper[diff.con_rhs_indices] = lower, upper

    def _apply_con_coefs(self, ctx: SolverModel, rows: Any, cols: Any, vals: Any) -> None:
        ctx.set_coefficients(rows, cols, vals)

    def _apply_obj_linear(self, ctx: SolverModel, indices: Any, values: Any) -> None:
        ctx.cost[indices] = values

    def _apply_obj_sense(self, ctx: SolverModel, sense: str) -> None:
        ctx.maximize = sense == "max"


def _report(outcome: Outcome) -> SolverReport:
    counts = outcome.statistics
    return SolverReport(
        runtime=outcome.seconds,
        mip_gap=outcome.gap if np.isfinite(outcome.gap) else None,
        dual_bound=outcome.bound if np.isfinite(outcome.bound) else None,
        barrier_iterations=int(counts.get("ipm_iterations", 0)),
        simplex_iterations=iterations(outcome) - int(counts.get("ipm_iterations", 0)),
    )
