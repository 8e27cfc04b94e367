"""What SCIP and GLPK say of a model: evidence, and points that can be checked exactly.

Either may be missing; the campaign then does without it and says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

from solvers.core.outcome import SolutionStatus
from solvers.core.problem import Problem
from tests.campaign.claims import Claim
from tests.campaign.written import row_entries

SECONDS = 5.0

_STATUS = {
    "optimal": SolutionStatus.OPTIMAL,
    "infeasible": SolutionStatus.INFEASIBLE,
    "unbounded": SolutionStatus.UNBOUNDED,
}


@dataclass(frozen=True)
class Oracle:
    """Another solver: the package it needs, and how it answers."""

    package: str
    ask: Callable[[Problem], Claim]

    @property
    def is_there(self) -> bool:
        """Whether its package is installed."""
        return find_spec(self.package) is not None


def ask_scip(problem: Problem) -> Claim:
    """Return SCIP's answer."""
    from pyscipopt import Model, quicksum

    model = Model()
    model.hideOutput()
    model.setParam("limits/time", SECONDS)
    infinity = model.infinity()

    def side(value: float) -> float:
        return float(np.clip(value, -infinity, infinity))

    columns = [
        model.addVar(
            lb=side(problem.lower[j]),
            ub=side(problem.upper[j]),
            vtype="I" if problem.integrality[j] else "C",
        )
        for j in range(problem.num_columns)
    ]
    costs = problem.cost.tolist()
    model.setObjective(quicksum(c * v for c, v in zip(costs, columns, strict=True)))
    for i in range(problem.num_rows):
        body = quicksum(value * columns[j] for j, value in row_entries(problem, i))
        low, high = float(problem.row_lower[i]), float(problem.row_upper[i])
        if low == high:
            model.addCons(body == low)
        elif math.isfinite(low) or math.isfinite(high):
            model.addCons((body <= high) if math.isfinite(high) else (body >= low))
            if math.isfinite(low) and math.isfinite(high):
                model.addCons(body >= low)
    try:
        model.optimize()
    except Exception as error:  # of no class of its own: its linear solver broke down
        return Claim(SolutionStatus.NOTHING, reason=str(error))
    status = _STATUS.get(model.getStatus(), SolutionStatus.NOTHING)
    if not model.getNSols() or status is SolutionStatus.INFEASIBLE:
        return Claim(status, reason=f"SCIP {model.getStatus()}")
    best = model.getBestSol()
    x = np.array([best[column] for column in columns])
    status = SolutionStatus.FEASIBLE if status is SolutionStatus.NOTHING else status
    return Claim(status, problem.objective_at(x), x=x, reason=f"SCIP {model.getStatus()}")


def ask_glpk(problem: Problem) -> Claim:
    """Return GLPK's answer."""
    import swiglpk as glpk

    model = _glpk_model(problem)
    try:
        parameters = glpk.glp_smcp()
        glpk.glp_init_smcp(parameters)
        parameters.msg_lev = glpk.GLP_MSG_OFF
        parameters.tm_lim = int(1000 * SECONDS)
        failed = glpk.glp_simplex(model, parameters)
        words = {
            glpk.GLP_OPT: SolutionStatus.OPTIMAL,
            glpk.GLP_FEAS: SolutionStatus.FEASIBLE,
            glpk.GLP_NOFEAS: SolutionStatus.INFEASIBLE,
            glpk.GLP_INFEAS: SolutionStatus.NOTHING,
            glpk.GLP_UNBND: SolutionStatus.UNBOUNDED,
            glpk.GLP_UNDEF: SolutionStatus.NOTHING,
        }
        status, value = words[glpk.glp_get_status(model)], glpk.glp_get_col_prim
        if problem.is_mip and status is SolutionStatus.OPTIMAL and not failed:
            whole = glpk.glp_iocp()
            glpk.glp_init_iocp(whole)
            whole.msg_lev = glpk.GLP_MSG_OFF
            whole.tm_lim = int(1000 * SECONDS)
            failed = glpk.glp_intopt(model, whole)
            status, value = words[glpk.glp_mip_status(model)], glpk.glp_mip_col_val
        if failed:
            return Claim(SolutionStatus.NOTHING, reason=f"GLPK returned {failed}")
        if not status.has_point:
            return Claim(status, reason="GLPK")
        x = np.array([value(model, j + 1) for j in range(problem.num_columns)])
        return Claim(status, problem.objective_at(x), x=x, reason="GLPK")
    finally:
        glpk.glp_delete_prob(model)


ORACLES = {"SCIP": Oracle("pyscipopt", ask_scip), "GLPK": Oracle("swiglpk", ask_glpk)}


def missing_oracles() -> list[str]:
    """Return the names of those that are not installed."""
    return [name for name, oracle in ORACLES.items() if not oracle.is_there]


def _glpk_model(problem: Problem) -> Any:
    import swiglpk as glpk

    glpk.glp_term_out(glpk.GLP_OFF)
    model = glpk.glp_create_prob()
    if problem.num_rows:
        glpk.glp_add_rows(model, problem.num_rows)
    glpk.glp_add_cols(model, problem.num_columns)

    def kind(a: float, b: float) -> int:
        if a == b:
            return int(glpk.GLP_FX)
        finite = (math.isfinite(a), math.isfinite(b))
        kinds = {(True, True): glpk.GLP_DB, (True, False): glpk.GLP_LO, (False, True): glpk.GLP_UP}
        return int(kinds.get(finite, glpk.GLP_FR))

    for i, (a, b) in enumerate(zip(problem.row_lower, problem.row_upper, strict=True)):
        glpk.glp_set_row_bnds(model, i + 1, kind(a, b), float(a), float(b))
        entries = row_entries(problem, i)
        places, values = glpk.intArray(len(entries) + 1), glpk.doubleArray(len(entries) + 1)
        for k, (j, entry) in enumerate(entries, 1):
            places[k], values[k] = j + 1, entry
        glpk.glp_set_mat_row(model, i + 1, len(entries), places, values)
    for j, (a, b) in enumerate(zip(problem.lower, problem.upper, strict=True)):
        whole = bool(problem.integrality[j])
        glpk.glp_set_col_kind(model, j + 1, glpk.GLP_IV if whole else glpk.GLP_CV)
        low, high = (math.ceil(a) if whole and math.isfinite(a) else a), b
        high = math.floor(b) if whole and math.isfinite(b) else b
        glpk.glp_set_col_bnds(model, j + 1, kind(low, high), float(low), float(high))
        glpk.glp_set_obj_coef(model, j + 1, float(problem.cost[j]))
    return model
