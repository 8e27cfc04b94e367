"""Solve a batch together by the simplex method, verify it, and solve the rest alone.

Claims of optimality are verified all at once (``batch/verify.py``), the others one by one, and the
reference engine solves the members whose claims do not hold.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gpu_bridge.batch.batch import Batch
from gpu_bridge.batch.one_by_one import labelled, solve_singles
from gpu_bridge.batch.outcomes import MemberArrays, Part, Singles, Together, proven_bounds
from gpu_bridge.batch.verify import Checked, check_claims
from gpu_bridge.options import Options
from gpu_bridge.outcome import Outcome
from gpu_bridge.report.progress import BridgeProgress
from gpu_bridge.verify.verify import verify
from solvers.core.outcome import Basis, SolutionStatus, Start, StopReason
from solvers.core.outcome import Outcome as Claim
from solvers.core.problem import FloatArray, Problem
from solvers.core.progress import DetachableProgress
from solvers.core.threads import run_beside
from solvers.simplex.batch.data import NOT_REACHED, BatchData

if TYPE_CHECKING:
    from solvers.simplex.batch import BatchAnswer
    from solvers.simplex.batch.data import StatusArray

SETTLED = (SolutionStatus.OPTIMAL, SolutionStatus.INFEASIBLE, SolutionStatus.UNBOUNDED)
"""What no other engine has to be asked about."""

LARGEST_DICTIONARY = 300_000
"""Rows times columns up to which members are solved together: every pivot passes over a dense
matrix of that size."""

LARGEST_ON_CPU = 100_000
"""The same on a CPU where nobody asked for it. On two cores forty variants of a sparse Netlib model
took a 28th to a third of HiGHS's time up to 20,000, an eighth to its 1.4-fold up to 100,000 and a
third to its sixfold beyond; dense models a fifth of it and less."""

NOISE_LEVELS = (1e-3, 1e-5, 1e-7, 0.0)
"""Entries of a ray below these parts of its largest are tried as zeros."""


def fits(problem: Problem) -> bool:
    """Whether members of this size are solved together by the simplex method."""
    return problem.num_rows * problem.num_columns <= LARGEST_DICTIONARY


def fits_cpu(problem: Problem) -> bool:
    """Whether members of this size end sooner on a CPU that way than by HiGHS."""
    return problem.num_rows * problem.num_columns <= LARGEST_ON_CPU


def solve_by_simplex(
    batch: Batch, options: Options, progress: BridgeProgress, start: Start | None
) -> Part:
    """Solve the LPs of a batch to vertices, and those that the engine leaves one by one.

    Parameters
    ----------
    start : Start, optional
        Its basis is where all members start; a point without one is not used.
    """
    from solvers.simplex import batch as engine

    data = simplex_data(batch, start)
    answer = run_beside(
        lambda own: engine.solve(data, options, own, check=True),
        DetachableProgress(progress),
        "simplex",
    )
    if answer is None:  # the time is up, which singly they are told
        members = [batch.member_or_crossing(k) for k in range(len(batch))]
        return Singles(labelled(solve_singles(members, options, progress), batch), batch)
    claimed = ~batch.crossed & (answer.ending == engine.Ending.OPTIMAL)
    checked = run_beside(
        lambda own: check_claims(data, answer, claimed, options, own),
        DetachableProgress(progress),
        "check",
    )
    if checked is None:
        checked = Checked.nothing(len(batch))
    progress.log(
        f"{len(batch)} LPs together on {answer.device}: "
        f"{int(np.count_nonzero(checked.optimal))} optimal, "
        f"{int(np.median(answer.iterations)) if len(batch) else 0} iterations in the median, "
        f"{int(np.max(answer.iterations, initial=0))} at the most."
    )
    left = np.flatnonzero(~checked.optimal)
    others = _Leftovers(batch, answer, options, progress).solved(left)
    maximize = batch.problem.maximize
    arrays = MemberArrays(
        data, answer.x, answer.row_dual, checked.optimal, others, maximize=maximize
    )
    return _together(batch, answer, arrays, checked, others, progress)


def simplex_data(batch: Batch, start: Start | None = None) -> BatchData:
    """Return a batch as the engine takes it."""
    basis: StatusArray | None = None
    if start is not None and start.basis is not None:
        basis = np.concatenate([start.basis.column_status, start.basis.row_status])
        basis = basis.reshape(1, -1)
    of_members = ("cost", "lower", "upper", "row_lower", "row_upper", "offset")
    return BatchData(
        count=len(batch),
        pattern=batch.problem.matrix,
        values=batch.rows_of("coefficients"),
        basis=basis,
        **{name: batch.rows_of(name) for name in of_members},
    )


@dataclass(frozen=True, eq=False)
class _Leftovers:
    """The members of a batch that an engine did not settle, and what it says of them."""

    batch: Batch
    answer: BatchAnswer
    options: Options
    progress: BridgeProgress

    def solved(self, members: npt.NDArray[np.int64]) -> dict[int, Outcome]:
        """Return the answers to some of them, by the reference engine where need be."""
        batch, progress = self.batch, self.progress
        found: dict[int, Outcome] = {}
        unsettled: list[int] = []
        stopped = progress.should_stop()
        for k in members.tolist():
            if stopped and self.answer.ending[k] == NOT_REACHED:  # no time to make problems either
                found[k] = Outcome(SolutionStatus.NOTHING, stopped, problem=batch.problem)
                continue
            graded = self._graded(k)
            if graded is not None and graded.solution_status in SETTLED:
                found[k] = graded
            else:
                unsettled.append(k)
        if unsettled:
            progress.log(f"{len(unsettled)} of the LPs are left for the reference engine.")
        problems = [batch.member_or_crossing(k) for k in unsettled]
        singly = solve_singles(problems, replace(self.options, method="highs"), progress)
        for k, outcome in zip(unsettled, singly, strict=True):
            nothing = outcome.solution_status is SolutionStatus.NOTHING
            found[k] = self._what_there_is(k, outcome) if nothing else outcome
        return found

    def _what_there_is(self, k: int, nothing: Outcome) -> Outcome:
        """Prefer the engine's point to nothing when time ran out: at least it is a candidate."""
        graded = self._graded(k)
        if graded is None or not (
            graded.solution_status.has_values or graded.candidate is not None
        ):
            return nothing
        return replace(graded, stop_reason=nothing.stop_reason)

    def _graded(self, k: int) -> Outcome | None:
        """Return the verified claim on a member, as that of a single solve; None without one."""
        if self.batch.crossed[k] or self.answer.ending[k] == NOT_REACHED:
            return None
        problem = self.batch.member(k)
        return Outcome.in_model_sense(
            verify(problem, self._claim(problem, k), self.options), problem
        )

    def _claim(self, problem: Problem, k: int) -> Claim:
        from solvers.core.lp_answer import proves_infeasible
        from solvers.simplex.batch import Ending

        answer, n = self.answer, problem.num_columns
        common: dict[str, Any] = {
            "engine": "simplex",
            "device": answer.device,
            "statistics": {"iterations": int(answer.iterations[k])},
        }
        ending = answer.ending[k]
        if ending == Ending.INFEASIBLE:
            rays = cleaned(answer.row_dual[k])
            ray = next((ray for ray in rays if proves_infeasible(problem, ray)), None)
            return Claim(SolutionStatus.INFEASIBLE, StopReason.CONVERGED, dual_ray=ray, **common)
        common["x"] = answer.x[k]
        if ending == Ending.UNBOUNDED:
            ray = answer.rays[k]
            return Claim(SolutionStatus.UNBOUNDED, StopReason.CONVERGED, primal_ray=ray, **common)
        return Claim(
            SolutionStatus.NOTHING,
            StopReason.CONVERGED if ending == Ending.OPTIMAL else StopReason.ITERATION_LIMIT,
            row_dual=answer.row_dual[k],
            basis=Basis(answer.basis[k][:n], answer.basis[k][n:]),
            **common,
        )


def _together(
    batch: Batch,
    answer: BatchAnswer,
    arrays: MemberArrays,
    checked: Checked,
    others: dict[int, Outcome],
    progress: BridgeProgress,
) -> Together:
    """Turn objectives into the model's sense and put the other answers where they belong."""
    figures = checked.figures
    objective = figures["objective"].copy()
    bound = proven_bounds(objective, figures["dual_objective"])
    if batch.problem.maximize:
        objective, bound = -objective, -bound
    for k, outcome in others.items():
        objective[k], bound[k] = outcome.objective, outcome.bound
    names = ("primal", "primal_relative", "dual", "dual_relative", "gap_relative")
    residuals = {name: figures[name] for name in names}
    residuals["gap"] = np.abs(figures["objective"] - figures["dual_objective"])
    return Together(
        batch=batch,
        arrays=arrays,
        objective=objective,
        bound=bound,
        residuals=residuals,
        iterations=answer.iterations.astype(np.float64),
        device=answer.device,
        seconds=progress.seconds,
        others=others,
        basis=answer.basis,
    )


def cleaned(ray: FloatArray) -> list[FloatArray]:
    """Return the normalised ray with ever less of it taken for noise."""
    largest = float(np.max(np.abs(ray), initial=0.0))
    if not np.isfinite(largest) or largest < np.finfo(float).tiny:
        return []
    ray = ray / largest
    return [np.where(np.abs(ray) > level, ray, 0.0) for level in NOISE_LEVELS]
