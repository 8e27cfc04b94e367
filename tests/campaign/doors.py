"""Every door that a model can come through, with the same model and what is answered there.

A door takes a problem, options and a folder for files, and returns a list of problems, as the door
left them, with the claims about them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import gpu_bridge as gb
from gpu_bridge.classify import KNAPSACKS, classify
from solvers.core.outcome import SolutionStatus
from solvers.core.problem import FloatArray, Problem
from tests.campaign.claims import Claim, claim_of
from tests.campaign.written import has_exact_ranges, lp_text, mps_text, pyomo_model
from tests.properties.exact import whole_bounds

Options = Mapping[str, Any]
Answers = list[tuple[Problem, Claim]]
SMALLEST_IN_FILES = 1e-12
"""Entries of at most this size are refused in files, with a message."""

COMMAND_SECONDS = 100.0
"""A command that has not ended by then hangs."""


def by_arrays(problem: Problem, options: Options, folder: Path) -> Answers:
    """Solve the problem itself."""
    return [(problem, claim_of(problem, gb.solve(problem, **options)))]


def by_mps(problem: Problem, options: Options, folder: Path) -> Answers:
    """Write an MPS file and solve that."""
    return _by_file(problem, folder / "model.mps", mps_text(problem), options)


def by_lp(problem: Problem, options: Options, folder: Path) -> Answers:
    """Write an LP file and solve that."""
    return _by_file(problem, folder / "model.lp", lp_text(problem), options)


def by_pyomo(problem: Problem, options: Options, folder: Path) -> Answers:
    """Solve a Pyomo model through the new interface."""
    from pyomo.contrib.solver.common.factory import SolverFactory

    model = pyomo_model(problem)
    results = SolverFactory("gpuheur").solve(
        model,
        load_solutions=False,
        raise_exception_on_nonoptimal_result=False,
        **_as_pyomo(options),
    )
    told = (results.solution_status.name, results.termination_condition.name)
    claim = claim_of(problem, results.solution_loader.outcome)
    if claim.status.has_point:
        results.solution_loader.load_vars()
    sign = -1.0 if problem.maximize else 1.0
    objective = results.incumbent_objective
    return [
        (
            problem,
            replace(
                claim,
                status=_NEW.get(told, _NEW_WITHOUT_PROOF.get(told[0], SolutionStatus.NOTHING)),
                objective=np.nan if objective is None else sign * objective,
                x=_pyomo_values(problem, model) if claim.status.has_point else None,
                reason=f"{claim.reason} {' '.join(told)}",
            ),
        )
    ]


def by_old_pyomo(problem: Problem, options: Options, folder: Path) -> Answers:
    """Solve a Pyomo model through the old interface."""
    import pyomo.environ as pyo

    model = pyomo_model(problem)
    results = pyo.SolverFactory("gpuheur").solve(model, load_solutions=False, options=dict(options))
    condition = str(results.solver.termination_condition)
    status = _OLD.get(condition, SolutionStatus.NOTHING)
    if len(results.solution):
        model.solutions.load_from(results)
        status = status if status.has_point else SolutionStatus.FEASIBLE
    x = _pyomo_values(problem, model) if status.has_point else None
    return [(problem, Claim(status, x=x, reason=condition))]


def by_pulp(problem: Problem, options: Options, folder: Path) -> Answers:
    """Solve a PuLP model."""
    from gpu_bridge.adapters.pulp import GPUHEUR
    from tests.adapters.pulp.writing import in_our_words, model_of

    lp = model_of(problem)
    mine = GPUHEUR(msg=False, **options)
    status = in_our_words(lp, lp.solve(mine))
    claim = claim_of(problem, mine.outcome)
    x = None
    if status.has_point:
        values = {variable.name: variable.varValue for variable in lp.variables()}
        x = _completed(problem, [values.get(f"c{j:04d}") for j in range(problem.num_columns)])
    return [(problem, replace(claim, status=status, x=x))]


def by_command(problem: Problem, options: Options, folder: Path) -> Answers:
    """Solve an MPS file by the command line, in a process of its own."""
    model, answer = folder / "model.mps", folder / "answer.json"
    model.write_text(mps_text(problem), encoding="utf-8")
    answer.unlink(missing_ok=True)
    words = [f"--option={name}={value}" for name, value in options.items()]
    ended = subprocess.run(
        [sys.executable, "-m", "gpu_bridge", "solve", model, "--quiet", f"--json={answer}", *words],
        capture_output=True,
        text=True,
        timeout=COMMAND_SECONDS,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([os.getcwd(), *sys.path])},
        check=False,
    )
    if not answer.exists():
        raise RuntimeError(f"the command ended with {ended.returncode}: {ended.stderr[-2000:]}")
    told = json.loads(answer.read_text(encoding="utf-8"))
    sign = -1.0 if problem.maximize else 1.0
    x = told["x"]
    claim = Claim(
        SolutionStatus[told["status"].upper()],
        np.nan if told["objective"] is None else sign * told["objective"],
        np.nan if told["bound"] is None else sign * told["bound"],
        None if x is None else np.array([x[f"c{j}"] for j in range(problem.num_columns)]),
        told["stop_reason"].upper(),
    )
    return [(problem, claim)]


def by_list(problem: Problem, options: Options, folder: Path) -> Answers:
    """Solve the problem twice in one list, which makes a batch of linear programs."""
    outcomes = gb.solve_many([problem, problem], **options)
    return [(problem, claim_of(problem, outcome)) for outcome in outcomes]


def by_batch(problem: Problem, options: Options, folder: Path) -> Answers:
    """Solve a batch: the problem, its costs turned round, and its costs halved."""
    costs = np.stack([problem.cost, -problem.cost, 0.5 * problem.cost])
    batch = gb.Batch(problem, cost=costs)
    outcomes = gb.solve_many(batch, **options)
    members = [problem, *(replace(problem, cost=cost) for cost in costs[1:])]
    pairs = zip(members, outcomes, strict=True)
    return [(member, claim_of(member, outcome)) for member, outcome in pairs]


Door = Callable[[Problem, Options, Path], Answers]
DOORS: dict[str, Door] = {
    door.__name__: door
    for door in (
        by_arrays,
        by_mps,
        by_lp,
        by_pyomo,
        by_old_pyomo,
        by_pulp,
        by_command,
        by_list,
        by_batch,
    )
}
FILE_DOORS = frozenset({"by_mps", "by_lp", "by_command"})
MODELLING_DOORS = frozenset({"by_pyomo", "by_old_pyomo", "by_pulp"})
"""A variable that appears nowhere is not part of their models, which changes what methods fit."""


def fits(door: str, problem: Problem) -> bool:
    """Whether a door can take the problem as it is."""
    entries = np.abs(problem.matrix.data)
    if door in FILE_DOORS and entries.size and entries.min() <= SMALLEST_IN_FILES:
        return False
    if door in MODELLING_DOORS and not _every_column_appears(problem):
        return False
    if door == "by_lp" and classify(problem).kind in KNAPSACKS:  # of which only some methods fit
        both = np.isfinite(problem.row_lower) & np.isfinite(problem.row_upper)
        return not np.any(both & (problem.row_lower < problem.row_upper))
    return door not in ("by_mps", "by_command") or has_exact_ranges(problem)


_NEW = {
    ("optimal", "convergenceCriteriaSatisfied"): SolutionStatus.OPTIMAL,
    ("noSolution", "provenInfeasible"): SolutionStatus.INFEASIBLE,
    ("noSolution", "unbounded"): SolutionStatus.UNBOUNDED,
}
_NEW_WITHOUT_PROOF = {"feasible": SolutionStatus.FEASIBLE}
_OLD = {
    "optimal": SolutionStatus.OPTIMAL,
    "infeasible": SolutionStatus.INFEASIBLE,
    "unbounded": SolutionStatus.UNBOUNDED,
    "feasible": SolutionStatus.FEASIBLE,
}


def _every_column_appears(problem: Problem) -> bool:
    """Whether each has a cost or an entry in a row that limits something."""
    limited = np.isfinite(problem.row_lower) | np.isfinite(problem.row_upper)
    seen = problem.cost != 0.0
    seen[problem.matrix[np.flatnonzero(limited)].indices] = True
    return bool(seen.all())


def _by_file(problem: Problem, path: Path, text: str, options: Options) -> Answers:
    path.write_text(text, encoding="utf-8")
    outcome = gb.solve(path, **options)
    claim = claim_of(problem, outcome)
    if claim.x is not None:  # a reader may put columns into the order of their appearance
        assert outcome.problem is not None
        place = {outcome.problem.column_label(j): j for j in range(problem.num_columns)}
        claim = replace(claim, x=claim.x[[place[f"c{j}"] for j in range(problem.num_columns)]])
    return [(problem, claim)]


def _as_pyomo(options: Options) -> dict[str, Any]:
    """Return options as the new interface has them: its own names, and the rest of the table."""
    own = {name: options[name] for name in ("time_limit", "threads") if name in options}
    rest = {name: value for name, value in options.items() if name not in own}
    return {**own, "solver_options": rest}


def _pyomo_values(problem: Problem, model: Any) -> FloatArray:
    return _completed(problem, [model.x[j].value for j in range(problem.num_columns)])


def _completed(problem: Problem, values: Sequence[float | None]) -> FloatArray:
    """Return values with any that is allowed for variables that appear nowhere and have none."""
    rest = np.clip(0.0, *whole_bounds(problem))
    return np.array([rest[j] if value is None else value for j, value in enumerate(values)])
