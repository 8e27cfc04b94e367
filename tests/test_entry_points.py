"""One model through four entry points: Pyomo, PuLP, a file and matrices give the same answer."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pulp
import pyomo.environ as pyo
import pytest

import gpu_bridge
from solvers.core.outcome import SolutionStatus
from solvers.core.problem import Problem
from tests.adapters.pulp.models import solve as solve_pulp


@dataclass(frozen=True)
class Model:
    """A product mix: columns a, b, c; rows machine (<=), labour (range), contract (>=)."""

    maximize: bool
    integer: bool = False
    contract: float = 2.0

    @property
    def cost(self) -> list[float]:
        return [5.0, 4.0, 3.0] if self.maximize else [2.0, 3.0, 1.5]

    matrix = ((2.0, 3.0, 1.0), (4.0, 1.0, 2.0), (1.0, 1.0, 1.0))
    row_lower = (-np.inf, 3.0)
    row_upper = (5.5, 11.0, np.inf)
    names = ("a", "b", "c")
    upper = (2.0, 10.0, 1.75)
    offset = 7.0


@dataclass(frozen=True)
class Answer:
    """What a door returned, in the model's sense."""

    status: str
    objective: float
    x: list[float]
    row_dual: list[float] | None = None
    reduced_cost: list[float] | None = None


def by_matrices(model: Model) -> Answer:
    return _answer(gpu_bridge.solve(_problem(model)))


def by_file(model: Model, folder: Path) -> Answer:
    """Write the model as free MPS, with its range and the objective's constant, and solve it."""
    rows = ("machine", "labour", "contract")
    lines = ["NAME mix", "OBJSENSE", "    MAX" if model.maximize else "    MIN", "ROWS"]
    lines += [" N gain", " L machine", " L labour", " G contract", "COLUMNS"]
    if model.integer:
        lines.append(" MARK0 'MARKER' 'INTORG'")
    for j, name in enumerate(model.names):
        lines.append(f" {name} gain {model.cost[j]}")
        lines += [f" {name} {row} {model.matrix[i][j]}" for i, row in enumerate(rows)]
    if model.integer:
        lines.append(" MARK1 'MARKER' 'INTEND'")
    lines += ["RHS", f" RHS gain {-model.offset}", f" RHS contract {model.contract}"]
    lines += [f" RHS machine {model.row_upper[0]}", f" RHS labour {model.row_upper[1]}"]
    lines += ["RANGES", f" RNG labour {model.row_upper[1] - model.row_lower[1]}", "BOUNDS"]
    lines += [f" UP BND {name} {model.upper[j]}" for j, name in enumerate(model.names)]
    path = folder / "mix.mps"
    path.write_text("\n".join([*lines, "ENDATA", ""]), encoding="utf-8")
    return _answer(gpu_bridge.solve(path))


def by_pyomo(model: Model) -> Answer:
    m = pyo.ConcreteModel()
    domain = pyo.NonNegativeIntegers if model.integer else pyo.NonNegativeReals
    bounds = dict(zip(model.names, model.upper, strict=True))
    m.x = pyo.Var(model.names, domain=domain, bounds=lambda m, j: (0, bounds[j]))
    x = [m.x[name] for name in model.names]
    sense = pyo.maximize if model.maximize else pyo.minimize
    m.gain = pyo.Objective(expr=_dot(model.cost, x) + model.offset, sense=sense)
    m.machine = pyo.Constraint(expr=_dot(model.matrix[0], x) <= model.row_upper[0])
    m.labour = pyo.Constraint(expr=(3.0, _dot(model.matrix[1], x), 11.0))
    m.contract = pyo.Constraint(expr=_dot(model.matrix[2], x) >= model.contract)
    m.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    m.rc = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    results = pyo.SolverFactory("gpuheur").solve(m)
    condition = results.solver.termination_condition
    if condition == pyo.TerminationCondition.infeasible:
        return Answer("INFEASIBLE", np.nan, [])
    assert condition == pyo.TerminationCondition.optimal
    rows = (m.machine, m.labour, m.contract)
    return Answer(
        "OPTIMAL",
        pyo.value(m.gain),
        [pyo.value(v) for v in x],
        None if model.integer else [m.dual[row] for row in rows],
        None if model.integer else [m.rc[v] for v in x],
    )


def by_pulp(model: Model) -> Answer:
    sense = pulp.LpMaximize if model.maximize else pulp.LpMinimize
    lp = pulp.LpProblem("mix", sense)
    cat = "Integer" if model.integer else "Continuous"
    x = [lp.add_variable(n, 0, u, cat) for n, u in zip(model.names, model.upper, strict=True)]
    lp += _dot(model.cost, x) + model.offset
    lp += (_dot(model.matrix[0], x) <= model.row_upper[0]), "machine"
    lp += (_dot(model.matrix[1], x) >= 3.0), "labour_low"
    lp += (_dot(model.matrix[1], x) <= 11.0), "labour_high"
    lp += (_dot(model.matrix[2], x) >= model.contract), "contract"
    if solve_pulp(lp) is SolutionStatus.INFEASIBLE:
        return Answer("INFEASIBLE", np.nan, [])
    rows = {row.name: row.pi for row in lp.constraints()}
    duals = None
    if not model.integer:
        labour = rows["labour_low"] + rows["labour_high"]
        duals = [rows["machine"], labour, rows["contract"]]
    return Answer(
        "OPTIMAL",
        pulp.value(lp.objective),
        [v.varValue for v in x],
        duals,
        None if model.integer else [v.dj for v in x],
    )


def _dot(coefficients, variables):  # type: ignore[no-untyped-def]
    return sum(a * v for a, v in zip(coefficients, variables, strict=True))


def _problem(model: Model) -> Problem:
    return Problem.from_arrays(
        model.cost,
        np.array(model.matrix),
        [*model.row_lower, model.contract],
        model.row_upper,
        upper=model.upper,
        integrality=model.integer,
        offset=model.offset,
        maximize=model.maximize,
        column_names=model.names,
        row_names=("machine", "labour", "contract"),
    )


def _answer(outcome: gpu_bridge.Outcome) -> Answer:
    if outcome.x is None:
        return Answer(outcome.solution_status.name, np.nan, [])
    duals = None if outcome.row_dual is None else outcome.row_dual.tolist()
    costs = None if outcome.reduced_cost is None else outcome.reduced_cost.tolist()
    status = outcome.solution_status.name
    return Answer(status, outcome.objective, outcome.x.tolist(), duals, costs)


@pytest.mark.parametrize("maximize", [False, True])
@pytest.mark.parametrize("integer", [False, True])
def test_all_doors_agree(maximize: bool, integer: bool, tmp_path: Path) -> None:
    model = Model(maximize, integer)
    first = by_matrices(model)
    assert first.status == SolutionStatus.OPTIMAL.name
    for other in (by_file(model, tmp_path), by_pyomo(model), by_pulp(model)):
        assert other.status == first.status
        assert other.objective == pytest.approx(first.objective, abs=1e-9)
        assert other.x == pytest.approx(first.x, abs=1e-9)
        if not integer:
            assert other.row_dual == pytest.approx(first.row_dual, abs=1e-9)
            assert other.reduced_cost == pytest.approx(first.reduced_cost, abs=1e-9)


@pytest.mark.parametrize("maximize", [False, True])
def test_duals_are_derivatives_in_the_sense_of_the_model(maximize: bool) -> None:
    step = 1e-3
    base = by_matrices(Model(maximize))
    moved = by_matrices(Model(maximize, contract=2.0 + step))
    assert base.row_dual is not None
    slope = (moved.objective - base.objective) / step
    assert base.row_dual[2] == pytest.approx(slope, abs=1e-6)


@pytest.mark.parametrize("maximize", [False, True])
def test_all_doors_agree_on_infeasibility(maximize: bool, tmp_path: Path) -> None:
    model = Model(maximize, contract=100.0)
    answers = [by_matrices(model), by_file(model, tmp_path), by_pyomo(model), by_pulp(model)]
    assert [answer.status for answer in answers] == ["INFEASIBLE"] * 4
