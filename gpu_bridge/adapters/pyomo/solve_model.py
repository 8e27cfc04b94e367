"""One solve of a Pyomo model: options, conversion, dispatch, loading."""

from __future__ import annotations

import dataclasses
import math
import os
import time
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import partial
from typing import Any

import numpy as np
from pyomo.common.config import ADVANCED_OPTION, ConfigValue
from pyomo.common.timing import HierarchicalTimer
from pyomo.core.staleflag import StaleFlagManager

from gpu_bridge.adapters.arrays import PointValues, explanation, why_not_loaded
from gpu_bridge.adapters.last_answer import merged, recall_basis, remember_basis
from gpu_bridge.adapters.pyomo.config import make_bridge_options
from gpu_bridge.adapters.pyomo.convert import ConvertedModel, convert_again
from gpu_bridge.adapters.pyomo.instance import Instance
from gpu_bridge.adapters.pyomo.interface import (
    NoFeasibleSolutionError,
    NoOptimalSolutionError,
    Results,
)
from gpu_bridge.adapters.pyomo.loader import Columns, GpuHeurSolutionLoader
from gpu_bridge.adapters.pyomo.statuses import new_condition, new_status
from gpu_bridge.options import Options
from gpu_bridge.outcome import Outcome, SolutionStatus, crossed_bounds_outcome
from gpu_bridge.pipeline.dispatch import solve as dispatch
from gpu_bridge.report.conversion import conversion_log
from gpu_bridge.report.improvement import Watcher
from solvers.core.errors import CrossedBoundsError
from solvers.core.outcome import Basis, Start

# An outcome in the words of Pyomo's API version 2.


class _Log(ConfigValue):  # type: ignore[misc]
    """A log that is composed when somebody reads it."""

    _UninitializedClass = None

    def __init__(self, written: Any) -> None:
        super().__init__(domain=str, visibility=ADVANCED_OPTION)
        self._data = written

    def value(self, accessValue: bool = True) -> str:
        """Return its text."""
        self._data = str(self._data)
        return super().value(accessValue)  # type: ignore[no-any-return]


def make_results(solver: Any, solved: Solved, config: Any) -> Results:
    """Return results with every field filled."""
    results = Results()
    loader = solved.loader
    outcome = loader.outcome
    results.solution_loader = loader
    results.termination_condition = new_condition(outcome.solution_status, outcome.stop_reason)
    results.solution_status = new_status(outcome.solution_status)
    results.incumbent_objective = incumbent_of(loader)
    results.objective_bound = bound_of(loader)
    results.solver_config = config
    results.solver_name = solver.name
    results.solver_version = solver.version()
    del results["solver_log"]
    results.declare("solver_log", _Log(outcome.record.written))
    results.timing_info.start_timestamp = solved.timestamp
    results.timing_info.wall_time = solved.seconds
    results.timing_info.timer = solved.timer
    _fill_extra_info(results.extra_info, outcome)
    return results


def incumbent_of(loader: GpuHeurSolutionLoader) -> float | None:
    """Return the objective of the point found, None without a point or an objective."""
    known = _has_objective(loader) and loader.outcome.solution_status.has_point
    return loader.outcome.objective if known else None


def bound_of(loader: GpuHeurSolutionLoader) -> float | None:
    """Return the bound on the optimum, None where there is no optimum to bound."""
    outcome = loader.outcome
    known = _has_objective(loader) and not math.isnan(outcome.bound) and _has_optimum(outcome)
    return outcome.bound if known else None


def _has_objective(loader: GpuHeurSolutionLoader) -> bool:
    return loader.converted is not None and loader.converted.objective is not None


def _has_optimum(outcome: Outcome) -> bool:
    """Whether there may be an optimum for the bound to bound."""
    return outcome.solution_status not in (SolutionStatus.INFEASIBLE, SolutionStatus.UNBOUNDED)


def _fill_extra_info(extra: Any, outcome: Outcome) -> None:
    extra.gap = outcome.gap
    extra.engine = outcome.engine
    extra.device = outcome.device
    extra.solve_seconds = outcome.seconds
    extra.answer = outcome.answer
    extra.stop_reason = str(outcome.stop_reason)
    extra.message = outcome.message
    extra.residuals = outcome.residuals
    extra.conflict = outcome.conflict
    extra.relaxation = outcome.relaxation
    extra.statistics = dict(outcome.statistics)


@dataclass(frozen=True, eq=False)
class Solved:
    """What came of one solve, in no interface's words yet.

    ``loader`` has the outcome and the conversion, ``timestamp`` and ``seconds`` say when it began
    and how long it took, ``processor_seconds`` what this process and those it started have used
    meanwhile, in user and in system mode.
    """

    loader: GpuHeurSolutionLoader
    timestamp: datetime
    seconds: float
    timer: HierarchicalTimer
    processor_seconds: tuple[float, float]


def solve_model(solver: Any, model: Any, config: Any) -> Solved:
    """Solve ``model``; the solution is not loaded yet.

    Parameters
    ----------
    solver : GpuHeur
        Whose earlier solves of the model may spare work; a persistent one has it as an instance.
    config : GpuHeurConfig
        Of this one call; nothing in it is changed but a missing timer.
    """
    began, processor = time.perf_counter(), os.times()
    timestamp = datetime.now(timezone.utc)
    options = make_bridge_options(config)
    timer = config.timer = config.timer or HierarchicalTimer()
    converted: ConvertedModel | None = None
    watcher: Watcher | None = None
    try:
        timer.start("convert")
        try:
            instance: Instance | None = solver.instance_of(model, config)
            if instance is None:
                converted = convert_again(solver, model, conversion_log(options, config.tee))
            else:
                converted = instance.read()
        finally:
            timer.stop("convert")
        if config.on_solution is not None:
            own = getattr(config, "own_variables", None)
            columns = converted.columns if own is None else own(converted.columns)
            present = partial(PointValues, Columns(columns))
            watcher = Watcher(config.on_solution, present)
        StaleFlagManager.mark_all_as_stale()
        timer.start("solve")
        try:
            start = _start(converted, config)
            if instance is not None:
                start = merged(start, instance.start(converted))
            elif config.warmstart:
                start = _with_basis(start, recall_basis(solver, model, converted.problem))
            outcome = _dispatch(converted, options, config, began, watcher, start)
            if instance is not None:
                instance.remember(converted, outcome)
            else:
                remember_basis(solver, model, outcome.basis)
        finally:
            timer.stop("solve")
    except CrossedBoundsError as error:
        outcome = crossed_bounds_outcome(error)
    loader = GpuHeurSolutionLoader(model, converted, outcome, options.load_approximate)
    loader.failure = None if watcher is None else watcher.error
    seconds = time.perf_counter() - began
    return Solved(loader, timestamp, seconds, timer, _processor_seconds(processor))


def _processor_seconds(since: os.times_result) -> tuple[float, float]:
    now = os.times()
    user = now.user + now.children_user - since.user - since.children_user
    system = now.system + now.children_system - since.system - since.children_system
    return round(user, 6), round(system, 6)  # whole ticks of the system's clock


def finish(loader: GpuHeurSolutionLoader, config: Any) -> None:
    """Raise for what the configuration forbids, and load what it asks for.

    The model is not touched before anything is raised, so that it keeps the values it had; only
    what a callback raised comes after the best point was loaded.
    """
    outcome = loader.outcome
    if loader.failure is not None:
        if config.load_solutions and loader.may_be_loaded:
            loader.load_solution()
        raise loader.failure
    is_optimal = outcome.solution_status is SolutionStatus.OPTIMAL
    if not is_optimal and config.raise_exception_on_nonoptimal_result:
        raise NoOptimalSolutionError(
            f"{NoOptimalSolutionError.default_message} {explanation(outcome)}"
        )
    if config.load_solutions:
        if not loader.may_be_loaded:
            raise NoFeasibleSolutionError(
                f"{NoFeasibleSolutionError.default_message} {why_not_loaded(outcome)}"
            )
        config.timer.start("load")
        loader.load_solution()
        config.timer.stop("load")


def _dispatch(
    converted: ConvertedModel,
    options: Options,
    config: Any,
    began: float,
    watcher: Watcher | None,
    start: Start | None,
) -> Outcome:
    if options.time_limit is not None:
        left = options.time_limit - (time.perf_counter() - began)
        left = max(0.0, math.floor(1000 * left) / 1000)  # a round figure for the log
        options = dataclasses.replace(options, time_limit=left)
    return dispatch(
        converted.problem,
        options,
        start=start,
        streams=config.tee,
        watcher=watcher,
        live=converted.live,
        analyses=converted.live.analyses,
    )


def _with_basis(start: Start | None, basis: Basis | None) -> Start | None:
    """Add the basis of the last answer to a start."""
    return start if basis is None else dataclasses.replace(start or Start(), basis=basis)


def _start(converted: ConvertedModel, config: Any) -> Start | None:
    """Return the current values of the variables as a start, NaN where there are none."""
    if not (config.warmstart or config.warmstart_discrete_vars):
        return None
    values = [variable.value for variable in converted.columns]
    x = np.full(converted.problem.num_columns, np.nan)
    x[: len(values)] = [np.nan if value is None else value for value in values]
    if not config.warmstart:
        x[~converted.problem.integrality] = np.nan
    return None if np.isnan(x).all() else Start(x=x)
