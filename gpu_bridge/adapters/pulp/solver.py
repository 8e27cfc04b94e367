"""The solver class that PuLP calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib.util import find_spec
from math import isfinite
from time import perf_counter
from typing import TYPE_CHECKING, Any

import pulp

from gpu_bridge.adapters.last_answer import remember_basis
from gpu_bridge.adapters.pulp.settings import make_settings
from gpu_bridge.adapters.pulp.solver_model import (
    SolverModel,
    collector_paused,
    go_on,
    read,
    set_start,
    watch,
)
from gpu_bridge.adapters.pulp.version import clocks, has_rust_core
from gpu_bridge.interrupt import solving

if TYPE_CHECKING:
    from gpu_bridge.adapters.pulp.values import PooledSolution
    from gpu_bridge.options import Options
    from gpu_bridge.outcome import Outcome
    from gpu_bridge.report.improvement import Improvement


class GPUHEUR(pulp.LpSolver):  # type: ignore[misc]
    """Solve PuLP models on the GPU, or on the CPU where there is none.

    Parameters
    ----------
    mip : bool
        False solves the linear relaxation.
    msg : bool
        Print the log of the solve.
    options : list of str or str, optional
        Options of the table as texts, such as ``["method=pdlp"]``.
    timeLimit : float, optional
        Wall-clock limit in seconds.
    gapRel, gapAbs : float, optional
        Gaps at which a mixed-integer model counts as solved.
    threads : int, optional
        CPU threads; all cores by default.
    warmStart : bool, optional
        Start from the variables' values (``setInitialValue``); some may be missing.
    logPath : str, optional
        Also write the log to this file.
    on_solution : callable, optional
        Called with an :class:`~gpu_bridge.report.improvement.Improvement` for each better point,
        whose ``values`` map variables, or their names, to values. If it returns True the solve ends
        with the best point; what it raises ends the solve and is raised once the best point
        stands in the model.
    **solverParams
        Every other option of the table by its own name, such as ``method`` or ``device``.

    Attributes
    ----------
    outcome : Outcome or None
        The answer to the last problem this object solved: bound, gap, history, residuals, and
        the conflict of an infeasible model. ``lp.solverModel.outcome`` holds that of a problem.
    pool : list of PooledSolution
        The distinct points of that answer, best first, each with ``objective``, ``seconds``,
        ``source`` and ``values``; :meth:`load_solution` puts one of them into the model.
    candidate : mapping or None
        The approximate or least violated point, where no verified one is as near.

    Raises
    ------
    OptionError
        For an unknown option, with the nearest valid name, or a value that does not fit.

    Notes
    -----
    ``pi`` is d(objective)/d(right-hand side) and ``dj`` the reduced cost, both in the sense of
    the model, as CBC gives them; ``slack`` is right-hand side minus activity, as PuLP defines it
    in ``assignConsSlack``. Mixed-integer models have no ``pi`` and ``dj``: None, or NaN where
    PuLP 4 would else keep those of an earlier solve. A solve that finds no point leaves all
    values as they were; only for an infeasible model they are those of the least violated point,
    or of the bounds nearest to zero, as other solvers leave some point there.
    """

    name = "GPUHEUR"

    def __init__(
        self,
        mip: bool = True,
        msg: bool = True,
        options: list[str] | str | None = None,
        timeLimit: float | None = None,
        gapRel: float | None = None,
        gapAbs: float | None = None,
        threads: int | None = None,
        warmStart: bool | None = None,
        logPath: str | None = None,
        on_solution: Callable[[Improvement], object] | None = None,
        **solverParams: Any,
    ) -> None:
        super().__init__(
            mip=mip,
            msg=msg,
            options=[options] if isinstance(options, str) else options,
            timeLimit=timeLimit,
            gapRel=gapRel,
            gapAbs=gapAbs,
            threads=threads,
            warmStart=warmStart,
            logPath=logPath,
            **solverParams,
        )
        self.on_solution = on_solution  # no option: it cannot be written to JSON
        self.outcome: Outcome | None = None
        self._solved: SolverModel | None = None
        self._read: tuple[str, tuple[Options, bool]] | None = None
        self._settings()

    def available(self) -> bool:
        """Whether the engines are installed; no engine is loaded and no GPU is asked."""
        return find_spec("highspy") is not None

    def copy(self) -> GPUHEUR:
        """Return a solver with the same settings."""
        return type(self)(
            mip=self.mip,
            msg=self.msg,
            options=list(self.options),
            timeLimit=self.timeLimit,
            on_solution=self.on_solution,
            **self.optionsDict,
        )

    @solving()
    def actualSolve(self, lp: pulp.LpProblem, **more: Any) -> Any:  # noqa: N802
        """Solve ``lp``, put the answer into it and return what ``lp.solve`` returns.

        That is the status in PuLP 3 and an ``LpSolveStats`` in PuLP 4. ``more`` are options for
        this call only, which go before those of the solver.
        """
        return self._solve(lp, more)

    @solving()
    def actualResolve(self, lp: pulp.LpProblem, **more: Any) -> Any:  # noqa: N802
        """Solve ``lp`` again as it is now, from its last answer.

        A linear program starts from its basis, or from its point and duals, a mixed-integer one
        from its point. Whatever has changed counts, not only what PuLP notes as modified.
        """
        before = getattr(lp, "solverModel", None)
        return self._solve(lp, more, before if isinstance(before, SolverModel) else None)

    def _solve(
        self, lp: pulp.LpProblem, more: dict[str, Any], before: SolverModel | None = None
    ) -> Any:
        began = clocks()
        on_solution = more.pop("on_solution", self.on_solution)
        options, warm_start = self._settings(more)
        model = lp.solverModel = SolverModel(options)
        self.buildSolverModel(lp)
        if on_solution is not None:
            watch(model, on_solution)
        if warm_start:
            set_start(lp.solverModel, self, lp)
        if before is not None:
            go_on(model, before)
        self.callSolver(lp)
        status, held = self.findSolutionValues(lp)
        assert model.outcome is not None
        remember_basis(self, lp, model.outcome.basis)
        bound = model.outcome.bound if isfinite(model.outcome.bound) else None
        if has_rust_core(lp):
            status = self.buildStats(lp, status, held, start=began, best_bound=bound)
        else:
            lp.bestBound = bound
            lp.assignStatus(status, held)
        lp.resolveOK = True  # so that PuLP 3 comes to actualResolve
        if model.watcher is not None:
            model.watcher.raise_error()
        return status

    @property
    def pool(self) -> list[PooledSolution]:
        """The distinct points of the last answer, best first; empty without one."""
        from gpu_bridge.adapters.pulp.values import pool_of

        solved = self._solved
        if solved is None or solved.outcome is None or solved.arrays is None:
            return []
        return pool_of(solved.outcome, solved.arrays)

    @property
    def candidate(self) -> Mapping[Any, float] | None:
        """The approximate or least violated point, by variable or name; None where there is none.

        Of the two only the approximate one is ever put into the model, by ``load_approximate``.
        """
        from gpu_bridge.adapters.pulp.values import presenter
        from gpu_bridge.solution_pool import unverified_point

        solved = self._solved
        if solved is None or solved.outcome is None or solved.arrays is None:
            return None
        x = unverified_point(solved.outcome)
        return None if x is None else presenter(solved.arrays)(x)

    def load_solution(self, lp: pulp.LpProblem, number: int) -> None:
        """Put the values of a point of the last answer's pool into ``lp``; 0 is the best.

        Raises
        ------
        IndexError
            There are not so many points.
        ProblemError
            Another model was solved last.
        """
        from gpu_bridge.adapters.pulp.values import set_values
        from gpu_bridge.solution_pool import pool_solutions
        from solvers.core.errors import ProblemError

        solved = self._solved
        of_model: object = getattr(lp, "solverModel", None)
        if solved is None or solved is not of_model or solved.arrays is None:
            raise ProblemError(f"The last model this solver has solved is not '{lp.name}'.")
        assert solved.outcome is not None
        points = pool_solutions(solved.outcome)
        if not (hasattr(number, "__index__") and 0 <= number < len(points)):
            raise IndexError(f"There is no solution {number!r}; the pool has {len(points)}.")
        entry = points[number]
        with collector_paused():
            set_values(
                lp, solved.arrays, replace(solved.outcome, x=entry.x, objective=entry.objective)
            )

    def buildSolverModel(self, lp: pulp.LpProblem) -> None:  # noqa: N802
        """Turn PuLP's model into a :class:`~solvers.core.problem.Problem`."""
        from gpu_bridge.report.conversion import conversion_log
        from solvers.core.errors import CrossedBoundsError

        model: SolverModel = lp.solverModel
        with collector_paused():
            tell = conversion_log(model.options)
            model.arrays = read(lp, tell)
            tell("the matrix by rows")
            try:
                model.problem = model.arrays.to_problem(lp.name, lp.sense == pulp.LpMaximize)
                model.arrays = model.arrays.on(model.problem)
            except CrossedBoundsError as error:
                from gpu_bridge.outcome import crossed_bounds_outcome

                model.outcome = crossed_bounds_outcome(error)

    def callSolver(self, lp: pulp.LpProblem) -> None:  # noqa: N802
        """Hand the problem to the bridge."""
        from gpu_bridge.pipeline.dispatch import report, solve
        from solvers.highs.live import Live

        model: SolverModel = lp.solverModel
        options = model.options
        if model.problem is None:
            assert model.outcome is not None
            model.outcome = report(model.outcome, options)
        else:
            if options.time_limit is not None:
                left = max(0.0, round(options.time_limit - (perf_counter() - model.began), 3))
                options = replace(options, time_limit=left)
            model.live = model.live or Live()
            model.outcome = solve(
                model.problem,
                options,
                start=model.start,
                watcher=model.watcher,
                live=model.live,
                analyses=model.live.analyses,
            )
        self.outcome, self._solved = model.outcome, model

    def findSolutionValues(self, lp: pulp.LpProblem) -> tuple[Any, Any]:  # noqa: N802
        """Put values, duals and slacks into the model and say what it holds.

        That is its status and sol_status in PuLP 3, its status and whether it has a solution in
        PuLP 4.
        """
        from gpu_bridge.adapters.pulp.statuses import pulp_3_statuses, pulp_4_status
        from gpu_bridge.adapters.pulp.values import set_values

        model: SolverModel = lp.solverModel
        assert model.arrays is not None
        assert model.outcome is not None
        with collector_paused():
            wanted = model.options.load_approximate
            set_values(lp, model.arrays, model.outcome, approximate=wanted)
        return (pulp_4_status if has_rust_core(lp) else pulp_3_statuses)(model.outcome)

    def _settings(self, more: dict[str, Any] | None = None) -> tuple[Options, bool]:
        named = {**self.optionsDict, **(more or {})}
        limit = named.pop("timeLimit", self.timeLimit)
        given = (self.mip, self.msg, limit, self.options, named)
        text = repr(given)  # equal values of two types, 1 and True, are not the same setting
        if self._read is None or self._read[0] != text:
            self._read = text, make_settings(*given)
        return self._read[1]
