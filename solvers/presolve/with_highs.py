"""HiGHS's presolve as a reduction, for linear and mixed-integer programs.

HiGHS keeps the stack of what it removed inside its object, which therefore lives as long as the
reduction. Its way back treats the two kinds differently:

* linear: point, row duals and basis are mapped, and with a basis simplex polishes what rounding
  left over;
* mixed-integer: presolve keeps integrality (columns that became integer by implication are kept
  integer here, because the way back relies on it) and maps the point only. HiGHS then reports the
  status "unknown" and a warning, which say no more than that there are no duals.

While it runs, presolve looks at the clock but hears no interrupt; when it oversteps, it is left
behind in its thread and the model stays as it was.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from highspy import _core

from solvers.core.errors import CrossedBoundsError, EngineError
from solvers.core.options import EngineOptions
from solvers.core.outcome import Basis, Outcome, Proof, SolutionStatus, Start, StopReason
from solvers.core.problem import FloatArray, Problem
from solvers.core.progress import Progress
from solvers.highs import solve
from solvers.highs.in_process import OverstayedError, ProgressChannel, in_thread
from solvers.highs.model import Prepared, lp_settings, prepare
from solvers.highs.session import Session, highs_basis
from solvers.presolve.reduction import Forward, Reduction, unchanged

Status = _core.HighsPresolveStatus
ENGINE = "presolve"
TIME_SHARE = 0.5
"""Presolve may use this part of the time left."""


PATIENCE = 0.3
"""Seconds to wait for presolve after an interrupt, which it does not hear."""


def apply(problem: Problem, progress: Progress) -> Reduction:
    """Reduce a problem by HiGHS's presolve.

    Parameters
    ----------
    problem : Problem
        With at least one row and one column.
    progress : Progress
        Keeps the time limit, half of which presolve may use.
    """
    try:
        prepared = prepare(problem)
    except EngineError:
        return unchanged(problem)  # coefficients beyond what HiGHS can hold; others may hold them
    if prepared.empty_column is not None:
        return replace(unchanged(problem), settled=solve(problem, EngineOptions(), progress))
    channel = ProgressChannel(progress)
    session = Session(prepared.model, lp_settings(EngineOptions()), channel)
    if problem.is_mip:
        _number_columns(session, problem.num_columns)
    try:
        seconds = TIME_SHARE * progress.time_left
        status = in_thread(lambda: _presolve(session, seconds), channel, PATIENCE)
    except OverstayedError:
        return unchanged(problem)
    back = _WayBack(problem, prepared, session, channel)
    return _reduction(problem, status, session, back, progress)


def _reduction(
    problem: Problem, status: Any, session: Session, back: _WayBack, progress: Progress
) -> Reduction:
    if status == Status.kInfeasible and not session.model.may_be_unbounded:
        return replace(unchanged(problem), settled=_infeasible())
    if status == Status.kReducedToEmpty:
        settled = back(_nothing_left(problem))
        if problem.is_mip:  # its optimum is proven by no duals
            settled = replace(settled, bound=settled.objective)
        return replace(unchanged(problem), settled=settled)
    if status in (Status.kInfeasible, Status.kUnboundedOrInfeasible):
        # one of the two it is, whatever the name; the reference engine finds out which
        return replace(unchanged(problem), settled=solve(problem, EngineOptions(), progress))
    if status != Status.kReduced:
        return unchanged(problem)
    try:
        reduced = _reduced(session, problem)
    except CrossedBoundsError:
        return unchanged(problem)
    progress.log(
        f"Presolve: {problem.num_rows} rows, {problem.num_columns} columns, "
        f"{problem.num_nonzeros} nonzeros reduced to {reduced.num_rows}, "
        f"{reduced.num_columns}, {reduced.num_nonzeros}."
    )
    return Reduction(reduced, back, forward=_way_there(session, problem))


@dataclass(frozen=True, eq=False)
class _WayBack:
    """Maps outcomes of the reduced problem to the original, through HiGHS's postsolve."""

    _problem: Problem
    _prepared: Prepared
    _session: Session
    _channel: ProgressChannel

    def __call__(self, outcome: Outcome) -> Outcome:
        """Return ``outcome`` in the space of the original problem."""
        empty: dict[str, Any] = {
            name: None
            for name in ("x", "row_activity", "row_dual", "reduced_cost", "basis", "candidate")
        }
        empty.update(primal_ray=None, dual_ray=None)  # HiGHS maps no rays
        pool = tuple(replace(entry, x=self._point(entry.x)) for entry in outcome.pool)
        back = replace(outcome, pool=pool, **empty)
        if outcome.x is not None:
            back = self._with_point(back, outcome, outcome.x)
            if outcome.candidate is not None:
                back = replace(back, candidate=self._point(outcome.candidate))
        elif outcome.candidate is not None:
            found = self._with_point(back, outcome, outcome.candidate)
            back = replace(found, x=None, row_activity=None, objective=np.nan, candidate=found.x)
        return back

    def _point(self, x: FloatArray) -> FloatArray:
        return self._postsolve(x, None, None)[0]

    def _with_point(self, back: Outcome, outcome: Outcome, point: FloatArray) -> Outcome:
        optimal = outcome.solution_status is SolutionStatus.OPTIMAL
        # with a basis HiGHS runs simplex to the end, which is short only from an optimal one
        basis = outcome.basis if optimal and outcome.row_dual is not None else None
        row_dual = None if self._problem.is_mip else outcome.row_dual
        x, y, basis = self._postsolve(point, row_dual, basis)
        fields: dict[str, Any] = {"x": x, "row_activity": self._problem.matrix @ x, "basis": basis}
        if y is not None:
            fields.update(row_dual=y, reduced_cost=self._problem.cost - self._problem.matrix.T @ y)
        return replace(back, objective=self._problem.objective_at(x), **fields)

    def _postsolve(
        self, x: FloatArray, row_dual: FloatArray | None, basis: Basis | None
    ) -> tuple[FloatArray, FloatArray | None, Basis | None]:
        return in_thread(lambda: self._run(x, row_dual, basis), self._channel)

    def _run(
        self, x: FloatArray, row_dual: FloatArray | None, basis: Basis | None
    ) -> tuple[FloatArray, FloatArray | None, Basis | None]:
        session = self._session
        session.start_scheduler()
        given = _core.HighsSolution()
        given.col_value, given.value_valid = x.tolist(), True
        lp = session.highs.getPresolvedLp()
        if row_dual is not None:
            given.row_dual, given.dual_valid = row_dual.tolist(), True
            given.col_dual = _reduced_cost(lp, row_dual).tolist()
        given.row_value = _activity(lp, x).tolist()
        session.set("time_limit", min(self._channel.time_left(), 1e9))
        arguments = [given]
        if basis is not None and row_dual is not None:
            arguments.append(highs_basis(basis))
        session.highs.postsolve(*arguments)  # its status is "warning" for every MIP
        values, y = session.solution()
        return (
            np.zeros(self._problem.num_columns) if values is None else values,
            None if row_dual is None else self._prepared.duals_back(y),
            None if basis is None else session.basis(),
        )


def _number_columns(session: Session, count: int) -> None:
    """Name every column by its number, by which it is known again after presolve."""
    for j in range(count):
        session.highs.passColName(j, str(j))


def _way_there(session: Session, problem: Problem) -> Forward | None:
    """Return the map of points into the reduced problem, for mixed-integer problems.

    A column that is left keeps its name and nearly always its meaning, so its value is taken
    over. Where presolve shifted a column or counted on optimality, the point it gives is not
    feasible: the caller has to look.
    """
    names = list(session.highs.getPresolvedLp().col_names_) if problem.is_mip else []
    if not names:
        return None
    kept = np.array([int(name) for name in names], dtype=np.int64)

    def forward(start: Start) -> Start:
        return Start(x=None if start.x is None else start.x[kept])

    return forward


def _presolve(session: Session, seconds: float) -> Any:
    session.start_scheduler()
    session.set("time_limit", min(seconds, 1e9))
    session.highs.presolve()
    return session.highs.getModelPresolveStatus()


def _reduced(session: Session, problem: Problem) -> Problem:
    lp = session.highs.getPresolvedLp()
    kinds = [kind != _core.HighsVarType.kContinuous for kind in lp.integrality_]
    return Problem(
        cost=np.array(lp.col_cost_),
        matrix=_matrix(lp),
        row_lower=np.array(lp.row_lower_),
        row_upper=np.array(lp.row_upper_),
        lower=np.array(lp.col_lower_),
        upper=np.array(lp.col_upper_),
        integrality=np.array(kinds or np.zeros(lp.num_col_), dtype=bool),
        offset=lp.offset_,
        name=problem.name,
    )


def _matrix(lp: Any) -> sp.csc_array | sp.csr_array:
    stored, shape = lp.a_matrix_, (lp.num_row_, lp.num_col_)
    by_columns = stored.format_ == _core.MatrixFormat.kColwise
    # HiGHS 1.16 leaves the arrays of the model where presolve leaves nothing of it
    start = np.array(stored.start_)[: shape[by_columns] + 1]
    parts = (np.array(stored.value_)[: start[-1]], np.array(stored.index_)[: start[-1]], start)
    return (sp.csc_array if by_columns else sp.csr_array)(parts, shape=shape)


def _activity(lp: Any, x: FloatArray) -> FloatArray:
    return np.asarray(_matrix(lp) @ x)


def _reduced_cost(lp: Any, row_dual: FloatArray) -> FloatArray:
    return np.asarray(np.array(lp.col_cost_) - _matrix(lp).T @ row_dual)


def _infeasible() -> Outcome:
    return Outcome(
        SolutionStatus.INFEASIBLE,
        StopReason.CONVERGED,
        proof=Proof.SEARCH,
        engine=ENGINE,
        message="Presolve showed that no point satisfies the constraints.",
    )


def _nothing_left(problem: Problem) -> Outcome:
    none = np.zeros(0, dtype=np.int8)
    linear: dict[str, Any] = {}
    if not problem.is_mip:
        linear = {"row_dual": np.zeros(0), "basis": Basis(none, none)}
    return Outcome(
        SolutionStatus.OPTIMAL,
        StopReason.CONVERGED,
        x=np.zeros(0),
        proof=Proof.SEARCH,
        engine=ENGINE,
        **linear,
    )
