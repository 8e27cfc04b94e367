"""A point that a limit kept from the tolerance: every door says so, and loads it only if asked."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import numpy as np
import pulp
import pyomo.environ as pyo
import pytest
from pyomo.contrib.solver.common.factory import SolverFactory
from pyomo.contrib.solver.common.results import SolutionStatus as NewStatus
from pyomo.contrib.solver.common.results import TerminationCondition as NewCondition
from pyomo.contrib.solver.common.util import NoFeasibleSolutionError, NoOptimalSolutionError
from pyomo.opt import SolverStatus, TerminationCondition

import gpu_bridge as gb
from gpu_bridge.cli import main
from gpu_bridge.cli.exit_codes import ExitCode
from gpu_bridge.files import read_solution, write_json, write_solution
from solvers.core.outcome import SolutionStatus, StopReason
from tests.adapters.pulp.writing import in_our_words

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

SHORT: dict[str, Any] = {
    "method": "pdlp",
    "device": "cpu",
    "crossover": "off",
    "presolve": False,
    "tolerance": 1e-9,
    "iteration_limit": 350,
}
ROUTES = [(i, j) for i in range(6) for j in range(7)]
rng = np.random.default_rng(3)
PRICE = dict(zip(ROUTES, rng.uniform(1.0, 9.0, len(ROUTES)).tolist(), strict=True))
NEED = rng.uniform(5.0, 9.0, 7).tolist()
BEFORE = 0.25


def pyomo_model() -> pyo.ConcreteModel:
    model = pyo.ConcreteModel()
    model.x = pyo.Var(ROUTES, bounds=(0, None), initialize=BEFORE)
    model.cost = pyo.Objective(expr=sum(PRICE[r] * model.x[r] for r in ROUTES))
    model.need = pyo.Constraint(
        range(7), rule=lambda m, j: sum(m.x[i, j] for i in range(6)) >= NEED[j]
    )
    model.have = pyo.Constraint(range(6), rule=lambda m, i: sum(m.x[i, j] for j in range(7)) <= 9)
    return model


def values(model: pyo.ConcreteModel) -> list[float]:
    return [variable.value for variable in model.x.values()]


def pulp_model() -> pulp.LpProblem:
    lp = pulp.LpProblem("routes", pulp.LpMinimize)
    x = {(i, j): lp.add_variable(f"x_{i}_{j}", 0) for i, j in ROUTES}
    lp += pulp.lpSum(PRICE[r] * x[r] for r in ROUTES)
    for j in range(7):
        lp += pulp.lpSum(x[i, j] for i in range(6)) >= NEED[j], f"need_{j}"
    for i in range(6):
        lp += pulp.lpSum(x[i, j] for j in range(7)) <= 9, f"have_{i}"
    return lp


@pytest.fixture
def path(tmp_path: Path) -> Path:
    pulp_model().writeMPS(str(tmp_path / "routes.mps"))
    return tmp_path / "routes.mps"


def test_gb_solve_returns_the_point_with_its_residuals(path: Path) -> None:
    outcome = gb.solve(path, **SHORT)
    best = gb.solve(path)
    assert outcome.solution_status is SolutionStatus.APPROXIMATE
    assert outcome.stop_reason is StopReason.ITERATION_LIMIT
    assert outcome.problem is not None
    assert outcome.x is not None
    assert outcome.row_dual is not None
    missed = outcome.problem.row_lower - outcome.problem.matrix @ outcome.x
    assert outcome.residuals.primal >= 0.999 * missed.max()
    assert 1e-9 < outcome.residuals.largest_relative < 1e-2
    assert outcome.objective == pytest.approx(best.objective, rel=0.1)
    words = f"approximate: residuals {outcome.residuals.largest_relative:.1e}, asked for 1.0e-09"
    assert words in outcome.log


def test_files_say_that_it_is_approximate(path: Path, tmp_path: Path) -> None:
    outcome = gb.solve(path, **SHORT)
    write_solution(outcome, tmp_path / "out.sol")
    first = (tmp_path / "out.sol").read_text().splitlines()[0]
    assert first == f"# {outcome.answer}"
    assert outcome.problem is not None
    np.testing.assert_array_equal(read_solution(tmp_path / "out.sol", outcome.problem), outcome.x)
    write_json(outcome, tmp_path / "out.json")
    record = json.loads((tmp_path / "out.json").read_text())
    assert record["status"] == "approximate"
    assert record["status_text"] == outcome.answer
    assert record["tolerance"] == 1e-9
    assert record["gap"] is None


def test_the_command_line_has_an_exit_code_for_it(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [f"--option={name}={value}" for name, value in SHORT.items()]
    assert main(["solve", str(path), "--quiet", *given]) == ExitCode.APPROXIMATE == 5
    assert "approximate: residuals" in capsys.readouterr().out


def test_pyomos_new_interface_loads_it_only_if_asked() -> None:
    model = pyomo_model()
    solver = SolverFactory("gpuheur")
    with pytest.raises(NoOptimalSolutionError, match="approximate: residuals"):
        solver.solve(model, solver_options=SHORT)
    quiet = {"raise_exception_on_nonoptimal_result": False}
    with pytest.raises(NoFeasibleSolutionError, match="load_approximate=True"):
        solver.solve(model, solver_options=SHORT, **quiet)
    assert set(values(model)) == {BEFORE}
    results = solver.solve(model, solver_options=SHORT, load_solutions=False, **quiet)
    assert results.solution_status == NewStatus.infeasible  # of the point
    assert results.termination_condition == NewCondition.iterationLimit
    assert results.incumbent_objective is None
    assert results.solution_loader.get_candidate()[model.x[0, 0]] >= 0.0
    assert set(values(model)) == {BEFORE}
    loaded = solver.solve(model, solver_options={**SHORT, "load_approximate": True}, **quiet)
    assert loaded.solution_status == NewStatus.infeasible
    assert pyo.value(model.cost) == pytest.approx(loaded.solution_loader.outcome.objective)


def test_pyomos_old_interface_loads_it_only_if_asked(caplog: pytest.LogCaptureFixture) -> None:
    model = pyomo_model()
    solver = pyo.SolverFactory("gpuheur")
    with caplog.at_level(logging.WARNING):
        results = solver.solve(model, options=SHORT)
    assert "load_approximate=True" in caplog.text
    assert set(values(model)) == {BEFORE}
    assert results.solver.status == SolverStatus.aborted
    assert results.solver.termination_condition == TerminationCondition.maxIterations
    assert not pyo.check_optimal_termination(results)
    kept = solver.solve(model, options=SHORT, load_solutions=False)
    assert str(kept.solution(0).status) == "unsure"
    solver.solve(model, options={**SHORT, "load_approximate": True})
    outcome = results.solution_loader.outcome
    assert pyo.value(model.cost) == pytest.approx(outcome.objective)


def test_pulp_loads_it_only_if_asked() -> None:
    lp = pulp_model()
    solver = gb.GPUHEUR(msg=False, **SHORT)
    untouched = [variable.varValue for variable in lp.variables()]
    assert in_our_words(lp, lp.solve(solver)) is SolutionStatus.NOTHING
    assert str([variable.varValue for variable in lp.variables()]) == str(untouched)
    assert solver.candidate is not None
    assert solver.pool == []
    mine = gb.GPUHEUR(msg=False, load_approximate=True, **SHORT)
    assert in_our_words(lp, lp.solve(mine)) is SolutionStatus.NOTHING
    assert mine.outcome is not None
    assert pulp.value(lp.objective) == pytest.approx(mine.outcome.objective)
