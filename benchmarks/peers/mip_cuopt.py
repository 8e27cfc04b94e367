"""NVIDIA cuOpt's mixed-integer solver on the GPU, through its Python package."""

from __future__ import annotations

from importlib import import_module, metadata, util
from typing import Any

import numpy as np

from benchmarks.peers.mip_solver import MipAnswer, MipSolver, MipTask, Recorder

STATUSES = {
    "Optimal": "optimal",
    "FeasibleFound": "feasible",
    "Infeasible": "infeasible",
    "Unbounded": "unbounded",
    "TimeLimit": "time_limit",
    "NoTermination": "failed",
}


class CuOptMip(MipSolver):
    """With its defaults: heuristics on the GPU, branch and bound on the CPU."""

    heuristics_only = False

    def label(self, task: MipTask) -> str:
        """Name, version and way."""
        words = ", heuristics only" if self.heuristics_only else ""
        return f"cuOpt {_version()}{words}"

    def missing(self) -> str | None:
        """Say whether the package is installed."""
        return None if util.find_spec("cuopt") else "the package cuopt is not installed"

    def warm_up(self, task: MipTask) -> None:
        """Solve a knapsack, which loads the library and makes the context."""
        model = import_module("cuopt.linear_programming").DataModel()
        model.set_csr_constraint_matrix(
            np.array([3.0, 4.0, 5.0]),
            np.arange(3, dtype=np.int32),
            np.array([0, 3], dtype=np.int32),
        )
        model.set_objective_coefficients(np.array([-2.0, -3.0, -4.0]))
        model.set_constraint_lower_bounds(np.array([-np.inf]))
        model.set_constraint_upper_bounds(np.array([7.0]))
        model.set_variable_lower_bounds(np.zeros(3))
        model.set_variable_upper_bounds(np.ones(3))
        model.set_variable_types(np.array(["I", "I", "I"]))
        settings = self._settings(task)
        settings.set_parameter("time_limit", task.warm_up)
        import_module("cuopt.linear_programming").Solve(model, settings)

    def load(self, task: MipTask) -> tuple[Any, float]:
        """Fill a data model from the arrays, minimised; HiGHS must not be loaded beside it."""
        model = import_module("cuopt.linear_programming").DataModel()
        with np.load(task.arrays) as arrays:
            model.set_csr_constraint_matrix(
                arrays["value"], arrays["column"].astype(np.int32), arrays["start"].astype(np.int32)
            )
            model.set_objective_coefficients(arrays["cost"])
            model.set_objective_offset(float(arrays["offset"]))
            model.set_constraint_lower_bounds(arrays["row_lower"])
            model.set_constraint_upper_bounds(arrays["row_upper"])
            model.set_variable_lower_bounds(arrays["lower"])
            model.set_variable_upper_bounds(arrays["upper"])
            model.set_variable_types(np.where(arrays["integer"], "I", "C"))
            sense = float(arrays["sense"])
        return model, sense

    def solve(self, model: tuple[Any, float], task: MipTask, recorder: Recorder) -> MipAnswer:
        """Solve and note the incumbents its callback tells of."""
        data, sense = model
        settings = self._settings(task)
        _subscribe(settings, recorder, sense)
        solution = import_module("cuopt.linear_programming").Solve(data, settings)
        reason = str(solution.get_termination_reason())
        status = STATUSES.get(reason, "failed")
        has_point = reason in ("Optimal", "FeasibleFound")
        x = np.asarray(solution.get_primal_solution()) if has_point else None
        if x is not None:
            recorder.event(sense * float(solution.get_primal_objective()), x)
        bound = solution.get_milp_stats().get("solution_bound")
        return MipAnswer(
            status=status,
            bound=sense * float(bound) if bound is not None and np.isfinite(bound) else None,
            x=x,
            detail=reason,
        )

    def _settings(self, task: MipTask) -> Any:
        settings = import_module("cuopt.linear_programming").SolverSettings()
        for name, value in (
            ("time_limit", task.time_limit),
            ("log_to_console", False),
            ("mip_heuristics_only", self.heuristics_only),
            ("num_cpu_threads", task.threads or None),
        ):
            if value is not None:
                settings.set_parameter(name, value)
        _try_seed(settings, task.seed)
        return settings


class CuOptHeuristics(CuOptMip):
    """Its heuristics alone."""

    heuristics_only = True


def _try_seed(settings: Any, seed: int) -> None:
    """Give the seed to versions that take one; others differ from run to run by themselves."""
    known = import_module("cuopt.linear_programming.solver.solver_parameters").solver_params
    for name in ("random_seed", "mip_seed", "seed"):
        if name in known:
            settings.set_parameter(name, seed)
            return


def _subscribe(settings: Any, recorder: Recorder, sense: float) -> None:
    """Register a callback, whose arguments have changed from version to version."""
    base: Any = import_module("cuopt.linear_programming.internals").GetSolutionCallback

    class OnSolution(base):  # type: ignore[misc]
        def get_solution(self, solution: Any, cost: Any, *more: Any) -> None:
            x, value = _on_host(solution), _on_host(cost)
            recorder.event(sense * float(value[0]), x)

    callback = OnSolution()
    try:
        settings.set_mip_callback(callback, None)
    except TypeError:  # before 26.02 there was no argument for user data
        settings.set_mip_callback(callback)


def _on_host(values: Any) -> Any:
    copy = getattr(values, "copy_to_host", None)
    return np.asarray(values) if copy is None else copy()


def _version() -> str:
    """Return that of the Python package, which has a library of its own."""
    for package in ("cuopt-cu13", "cuopt-cu12", "cuopt"):
        try:
            return metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return "of unknown version"
