"""The simplex engines as solvers of a benchmark: the paper's four variants, ours, and HiGHS."""

from __future__ import annotations

from benchmarks.linear_programs import LinearProgram
from benchmarks.peers.highs import Simplex
from benchmarks.peers.solver import Answer, Solver, Task
from solvers.core.options import EngineOptions
from solvers.core.outcome import Outcome, SolutionStatus
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.papers.simplex_variants.engine import VARIANTS
from solvers.papers.simplex_variants.engine import solve as solve_by_variant
from solvers.simplex.solve import solve as solve_by_engine

NAMES = (*VARIANTS, "dense", "highs")


class Engine(Solver):
    """One of our engines by its name; its time is that of the engine alone, without presolve."""

    exact, first_order = True, False

    def __init__(self, name: str, device: str = "auto") -> None:
        super().__init__(device)
        self.name = name

    @property
    def label(self) -> str:
        """Name as tables show it."""
        return self.name

    def missing(self) -> str | None:
        """Return nothing: ours are always there."""
        return None

    def prepare(self, lp: LinearProgram, task: Task) -> Problem:
        """Make an immutable problem."""
        return Problem.from_arrays(
            lp.cost,
            lp.matrix,
            lp.row_lower,
            lp.row_upper,
            lower=lp.lower,
            upper=lp.upper,
            offset=lp.offset,
            name=lp.name,
        )

    def solve(self, model: Problem, task: Task) -> Answer:
        """Solve and translate the outcome."""
        options = EngineOptions(device=self.device, iteration_limit=task.iteration_limit)
        progress = Progress(task.time_limit)
        if self.name in VARIANTS:
            return _answer(solve_by_variant(model, options, progress, variant=self.name))
        return _answer(solve_by_engine(model, options, progress))


class SerialHighs(Simplex):
    """HiGHS's dual simplex on one thread, as in the paper."""

    def options(self, task: Task) -> dict[str, object]:
        """Return what HiGHS is told."""
        return {**super().options(task), "threads": 1}


def make(name: str, device: str) -> Solver:
    """Return an engine by its name."""
    return SerialHighs() if name == "highs" else Engine(name, device)


def _answer(outcome: Outcome) -> Answer:
    decided = outcome.solution_status in (
        SolutionStatus.OPTIMAL,
        SolutionStatus.INFEASIBLE,
        SolutionStatus.UNBOUNDED,
    )
    loop = outcome.statistics.get("loop_seconds")
    return Answer(
        status=(outcome.solution_status if decided else outcome.stop_reason).name.lower(),
        x=outcome.x if outcome.x is not None else outcome.candidate,
        y=outcome.row_dual,
        iterations=int(outcome.statistics.get("iterations", 0)),
        loop_seconds=None if loop is None else float(loop),
        detail=outcome.message or outcome.device,
    )
