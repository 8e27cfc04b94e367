"""The solver ``gpuheur`` for linopy, and with it for PyPSA: ``model.solve("gpuheur")``.

linopy finds a solver by a member of an enumeration, whose name is that of the solver's class in
``linopy.solvers``. Importing this package adds both, after all solvers that linopy has.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, ClassVar, overload

import linopy.solvers
import numpy as np
import numpy.typing as npt
from linopy import solvers as linopy_solvers
from linopy.constants import Result, Solution, SolverReport, SolverStatus, Status
from linopy.constants import TerminationCondition as Condition
from linopy.persistent import VarKind
from linopy.solvers import Solver, SolverFeature, SolverName

from gpu_bridge.adapters.arrays import (
    explanation,
    fits,
    iterations,
    may_be_loaded,
    solve_made,
    why_not_loaded,
)
from gpu_bridge.files import read_problem
from gpu_bridge.files.basis import read_basis, write_basis
from gpu_bridge.files.solution import read_solution, write_solution
from gpu_bridge.interrupt import solving
from gpu_bridge.options import Options, make_options
from gpu_bridge.outcome import Outcome, SolutionStatus, StopReason
from solvers.core.outcome import Basis, Start
from solvers.core.problem import BoolArray, FloatArray, Problem

# What a solve's answer is called in linopy, whose status *ok* means that there are values.


_SETTLED = {
    SolutionStatus.OPTIMAL: Condition.optimal,
    SolutionStatus.APPROXIMATE: Condition.imprecise,
    SolutionStatus.INFEASIBLE: Condition.infeasible,
    SolutionStatus.UNBOUNDED: Condition.unbounded,
}
_STOPPED = {
    StopReason.CONVERGED: Condition.suboptimal,
    StopReason.TIME_LIMIT: Condition.time_limit,
    StopReason.ITERATION_LIMIT: Condition.iteration_limit,
    StopReason.INTERRUPTED: Condition.user_interrupt,
    StopReason.EXHAUSTED: Condition.suboptimal,
    StopReason.NUMERICAL_TROUBLE: Condition.imprecise,
    StopReason.OUT_OF_MEMORY: Condition.resource_interrupt,
}


def linopy_status(outcome: Outcome, *, has_values: bool) -> Status:
    """Return linopy's status, *ok* exactly where the model gets values.

    Without values an answer that linopy would call *ok*, such as one at a time limit, is a
    *warning*, as its infeasible and unbounded ones are.
    """
    settled = _SETTLED.get(outcome.solution_status)
    condition = _STOPPED[outcome.stop_reason] if settled is None else settled
    status = Status.from_termination_condition(condition)
    if has_values:
        status.status = SolverStatus.ok
    elif status.is_ok:
        status.status = SolverStatus.warning
    status.legacy_status = explanation(outcome) if has_values else why_not_loaded(outcome)
    return status


# A linopy model as arrays, which linopy changes in place where a solver is kept.


IndexArray = npt.NDArray[np.int64]


@dataclass(eq=False)
class SolverModel:
    """What stands in ``model.solver_model``: the numbers that are solved, and the answer.

    Parameters
    ----------
    cost, lower, upper : (n,) arrays
    integrality : (n,) array of bool
    matrix : (m, n) sparse array by rows
        None where there are no rows.
    row_lower, row_upper : (m,) arrays
    maximize : bool
    column_names, row_names : sequences of str
        Each is made when somebody reads it.
    outcome : Outcome, optional
        The verified answer of the last solve.
    """

    cost: FloatArray
    lower: FloatArray
    upper: FloatArray
    integrality: BoolArray
    matrix: Any
    row_lower: FloatArray
    row_upper: FloatArray
    maximize: bool
    column_names: Sequence[str]
    row_names: Sequence[str]
    outcome: Outcome | None = None

    def arrays(self) -> dict[str, Any]:
        """Return the arguments of ``Problem.from_arrays``."""
        return {name: value for name, value in vars(self).items() if name != "outcome"}

    @property
    def last_basis(self) -> Basis | None:
        """The basis of the last answer; None without one, or where a variable is integer."""
        basis = None if self.outcome is None else self.outcome.basis
        usable = fits(basis, self.row_lower.size, self.cost.size) and not self.integrality.any()
        return basis if usable else None

    def set_coefficients(self, rows: IndexArray, columns: IndexArray, values: FloatArray) -> None:
        """Change coefficients (k,) that the matrix has.

        Raises
        ------
        KeyError
            It lacks one of them.
        """
        A = self.matrix
        A.sum_duplicates()
        height, width = A.shape
        keys = np.repeat(np.arange(height, dtype=np.int64), np.diff(A.indptr)) * width + A.indices
        wanted = np.asarray(rows, dtype=np.int64) * width + columns
        places = np.searchsorted(keys, wanted)
        known = places < keys.size
        known[known] = keys[places[known]] == wanted[known]
        if not known.all():
            k = int(np.flatnonzero(~known)[0])
            raise KeyError(
                f"'{self.column_names[int(columns[k])]}' has no coefficient in "
                f"'{self.row_names[int(rows[k])]}'"
            )
        A.data[places] = values


class LabelNames(Sequence[str]):
    """Names such as ``Generator-p[2015-01-01, gas]``, found by linopy's labels (n,).

    Parameters
    ----------
    labels : (n,) array of int
    position : callable
        Returns the name and the coordinates that belong to a label.
    """

    def __init__(self, labels: IndexArray, position: Callable[[int], Any]) -> None:
        self._labels = labels
        self._position = position

    def __len__(self) -> int:
        return len(self._labels)

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> list[str]: ...

    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        name, place = self._position(int(self._labels[index]))
        return f"{name}[{', '.join(map(str, place.values()))}]" if place else str(name)


def read_model(model: Any) -> SolverModel:
    """Return a linopy model's numbers."""
    M = model.matrices
    return SolverModel(
        cost=M.c,
        lower=M.lb,
        upper=M.ub,
        integrality=np.isin(M.vtypes, ("B", "I")),
        matrix=M.A,
        row_lower=np.where(M.sense != "<", M.b, -np.inf),
        row_upper=np.where(M.sense != ">", M.b, np.inf),
        maximize=model.sense == "max",
        column_names=LabelNames(M.vlabels, model.variables.get_label_position),
        row_names=LabelNames(M.clabels, model.constraints.get_label_position),
    )


# linopy's solver class: matrices go to the engines without a file, unless ``io_api`` asks for one.
#
# linopy calls ``_build_direct`` or ``_build_file`` once, then ``_run_direct`` or ``_run_file``;
# where a solver is kept (``track_updates=True``) it changes the numbers between runs by
# ``_apply_...``.


logger = logging.getLogger(__name__)


class GpuHeur(Solver[None]):  # type: ignore[misc]
    """gpu-bridge as a solver of linopy; options go by our names or those of other solvers."""

    display_name: ClassVar[str] = "gpu-bridge"
    features: ClassVar[frozenset[SolverFeature]] = frozenset(
        {
            SolverFeature.INTEGER_VARIABLES,
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
    def _run_direct(
        self,
        solution_fn: Path | None = None,
        log_fn: Path | None = None,
        warmstart_fn: Path | None = None,
        basis_fn: Path | None = None,
        **keywords: Any,
    ) -> Result:
        began = perf_counter()
        options = _options(self.options, log_fn)
        held: SolverModel = self.solver_model

        def start(problem: Problem) -> Start:
            return (
                Start(basis=held.last_basis)
                if warmstart_fn is None
                else _start(warmstart_fn, problem)
            )

        outcome = solve_made(lambda: Problem.from_arrays(**held.arrays()), options, began, start)
        held.outcome = outcome
        _write(outcome, solution_fn, basis_fn)
        return self._finish(outcome, options, self._by_label(outcome))

    @solving()
    def _run_file(
        self,
        solution_fn: Path | None = None,
        log_fn: Path | None = None,
        warmstart_fn: Path | None = None,
        basis_fn: Path | None = None,
        **keywords: Any,
    ) -> Result:
        began = perf_counter()
        options = _options(self.options, log_fn)

        def start(problem: Problem) -> Start | None:
            return None if warmstart_fn is None else _start(warmstart_fn, problem)

        outcome = solve_made(lambda: read_problem(self._problem_fn), options, began, start)
        _write(outcome, solution_fn, basis_fn)
        return self._finish(outcome, options, self._by_name(outcome))

    def _finish(self, outcome: Outcome, options: Options, solution: Solution) -> Result:
        """Return linopy's result; ``solution`` stays out of it where it may not be loaded."""
        loaded = may_be_loaded(outcome, options)
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
        place, y = linopy_solvers._solution_from_labels, _duals(outcome)
        return Solution(
            place(outcome.x, self._vlabels, self._n_vars),
            Solution().dual if y is None else place(y, self._clabels, self._n_cons),
            outcome.objective,
        )

    def _by_name(self, outcome: Outcome) -> Solution:
        if outcome.x is None or outcome.problem is None:
            return Solution()
        place, y = linopy_solvers._solution_from_names, _duals(outcome)
        columns, rows = outcome.problem.column_names, outcome.problem.row_names
        return Solution(
            place(outcome.x, columns, self._n_vars),
            Solution().dual if y is None else place(y, rows, self._n_cons),
            outcome.objective,
        )

    def _apply_var_bounds(self, ctx: SolverModel, indices: Any, lower: Any, upper: Any) -> None:
        ctx.lower[indices], ctx.upper[indices] = lower, upper

    def _apply_var_types(self, ctx: SolverModel, positions: Any, kinds: Any) -> None:
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


def _options(given: Mapping[str, Any], log_fn: Path | None) -> Options:
    return make_options(given, None if log_fn is None else {"log_file": log_fn})


def _start(path: Path, problem: Problem) -> Start:
    """Return the point of a solution file, or the basis of a basis file."""
    if not path.is_file() or not path.read_bytes().startswith(b"{"):
        return Start(x=read_solution(path, problem))
    return Start(basis=None if problem.is_mip else read_basis(path, problem))


def _write(outcome: Outcome, solution_fn: Path | None, basis_fn: Path | None) -> None:
    for path in (solution_fn, basis_fn):
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
    if solution_fn is not None:
        write_solution(outcome, solution_fn)
    if basis_fn is not None and not write_basis(outcome, basis_fn):
        logger.warning("The answer has no basis, so '%s' was not written.", basis_fn)


def _duals(outcome: Outcome) -> FloatArray | None:
    """Return the duals of a linear program, which a mixed-integer one does not have."""
    is_mip = outcome.problem is not None and outcome.problem.is_mip
    return None if is_mip else outcome.row_dual


def _report(outcome: Outcome) -> SolverReport:
    counts = outcome.statistics
    return SolverReport(
        runtime=outcome.seconds,
        mip_gap=outcome.gap if np.isfinite(outcome.gap) else None,
        dual_bound=outcome.bound if np.isfinite(outcome.bound) else None,
        barrier_iterations=int(counts.get("ipm_iterations", 0)),
        simplex_iterations=iterations(outcome) - int(counts.get("ipm_iterations", 0)),
    )


__all__ = ["GpuHeur"]

NAME = "gpuheur"


def _register() -> None:
    class_name = GpuHeur.__name__
    if class_name in SolverName.__members__:
        return
    member = object.__new__(SolverName)
    member._name_, member._value_ = class_name, NAME
    setattr(SolverName, class_name, member)
    SolverName._member_names_.append(class_name)
    SolverName._member_map_[class_name] = member
    SolverName._value2member_map_[NAME] = member
    setattr(linopy.solvers, class_name, GpuHeur)
    linopy.solvers._SOLVER_PROBE_ORDER += (NAME,)
    for found in (linopy.solvers.available_solvers, linopy.solvers.licensed_solvers):
        vars(found).pop("_names", None)  # what was found before this one came


_register()
