"""What one solve of a PuLP model carries from step to step."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Any

from gpu_bridge.adapters.last_answer import recall_basis
from gpu_bridge.adapters.pulp.version import has_rust_core

if TYPE_CHECKING:
    from gpu_bridge.adapters.pulp.reading import ModelArrays
    from gpu_bridge.options import Options
    from gpu_bridge.outcome import Outcome
    from gpu_bridge.report.conversion import Tell
    from gpu_bridge.report.improvement import Improvement, Watcher
    from solvers.core.outcome import Start
    from solvers.core.problem import Problem
    from solvers.highs.live import Live


@dataclass(eq=False)
class SolverModel:
    """What stands in ``lp.solverModel``: the model as handed to the engines, and the answer."""

    options: Options
    """Options of this solve; its time limit covers the conversion too."""
    arrays: ModelArrays | None = None
    """The model's variables, constraints and numbers, once read."""
    problem: Problem | None = None
    """The same as the engines see it; None when its bounds contradict each other."""
    start: Start | None = None
    """Values of the variables to start from."""
    outcome: Outcome | None = None
    """The verified answer, in the sense of the model."""
    watcher: Watcher | None = None
    """Who hears of better points during the solve."""
    live: Live | None = None
    """What is left in the reference engine of the solve, for the next one."""
    began: float = field(default_factory=perf_counter)
    """Time when the solve began, on the clock ``time.perf_counter``."""


def read(lp: Any, tell: Tell | None = None) -> ModelArrays:
    """Read an ``LpProblem`` of any version of PuLP; ``tell`` hears what comes next."""
    if has_rust_core(lp):
        from gpu_bridge.adapters.pulp.rust_core import read_rust_model  # imports PuLP 4's core

        return read_rust_model(lp)
    from gpu_bridge.adapters.pulp.reading import read_model

    return read_model(lp) if tell is None else read_model(lp, tell)


def watch(model: SolverModel, on_solution: Callable[[Improvement], object]) -> None:
    """Let a function hear of better points, by variables and names."""
    from gpu_bridge.adapters.pulp.values import presenter
    from gpu_bridge.report.improvement import Watcher

    assert model.arrays is not None
    model.watcher = Watcher(on_solution, presenter(model.arrays))


def set_start(model: SolverModel, solver: Any, lp: Any) -> None:
    """Start from the values of the variables, if any has one, and from the last answer's basis."""
    from gpu_bridge.adapters.pulp.values import starting_point
    from solvers.core.outcome import Start

    if model.problem is None or model.arrays is None:
        return
    point = starting_point(model.arrays, model.problem.num_columns)
    basis = recall_basis(solver, lp, model.problem)
    if point is not None or basis is not None:
        model.start = Start(x=point, basis=basis)


def go_on(model: SolverModel, before: SolverModel) -> None:
    """Start from the answer to an earlier state of the same model, and leave it nothing in HiGHS.

    Columns and rows are told apart by their names.
    """
    from gpu_bridge.adapters.last_answer import Solved, merged, start_after

    model.live, before.live = before.live, None
    now, last = model.arrays, before.arrays
    if now is None or model.problem is None:
        return
    if last is None or before.problem is None or before.outcome is None:
        return
    solved = Solved(before.problem, before.outcome, last.column_names, last.row_names)
    if solved.is_a_start:
        names = now.column_names, now.row_names
        model.start = merged(model.start, start_after(solved, model.problem, *names, key=str))


@contextmanager
def collector_paused() -> Iterator[None]:
    """Keep the garbage collector from walking a large model while objects are made from it."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
