"""linopy's models by gpuheur: values, duals, statuses, files, names, options, kept solvers."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import pytest

linopy = pytest.importorskip("linopy")
import pandas as pd  # noqa: E402
from linopy.solvers import Solver, SolverName  # noqa: E402

from gpu_bridge.adapters.linopy import HAS_NEW_SOLVERS, GpuHeur  # noqa: E402
from solvers.core.errors import FileFormatError, OptionError  # noqa: E402
from solvers.core.outcome import SolutionStatus  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]
HOURS = pd.RangeIndex(4, name="hour")
DEMAND = pd.Series([30.0, 55.0, 70.0, 25.0], index=HOURS)
new_solvers_only = pytest.mark.skipif(
    not HAS_NEW_SOLVERS, reason="about what solvers can do from linopy 0.8 on"
)
keeping_only = pytest.mark.skipif(
    not hasattr(Solver, "supports_persistent_update"), reason="about linopy 0.9 and newer"
)
FORMS = [None, "direct", "lp", "lp-polars", "mps"]


def or_zero(variable: linopy.Variable) -> linopy.LinearExpression | linopy.Variable:
    """Return a variable that counts as zero where it is masked, as it does in older linopy."""
    try:
        return variable.fillna(0)
    except ValueError:
        return variable


def dispatch(*, sense: str = "min", integer: bool = False, demand=DEMAND) -> linopy.Model:
    """Return two plants that meet a demand in each hour, the cheaper one of them limited."""
    model = linopy.Model()
    sign = -1 if sense == "max" else 1
    cheap = model.add_variables(0, 40, coords=[HOURS], name="cheap")
    dear = model.add_variables(0, 100, coords=[HOURS], name="dear", mask=DEMAND > 28)
    units = model.add_variables(0, 9, coords=[HOURS], name="units", integer=integer)
    model.add_constraints(cheap + or_zero(dear) >= demand, name="balance")
    model.add_constraints(15 * units - cheap >= 0, name="capacity")
    model.add_objective(sign * (10 * cheap + 30 * or_zero(dear) + 7 * units).sum(), sense=sense)
    return model


def values(model: linopy.Model) -> dict[str, np.ndarray]:
    return {name: model.variables[name].solution.values for name in model.variables}


def duals(model: linopy.Model) -> dict[str, np.ndarray]:
    return {name: model.constraints[name].dual.values for name in model.constraints}


@pytest.mark.parametrize("sense", ["min", "max"])
@pytest.mark.parametrize("io_api", FORMS)
def test_a_linear_program_has_what_highs_gives(sense, io_api):
    ours, theirs = dispatch(sense=sense), dispatch(sense=sense)
    assert ours.solve("gpuheur", io_api=io_api) == ("ok", "optimal")
    theirs.solve("highs", io_api="direct", output_flag=False)
    assert ours.objective.value == pytest.approx(theirs.objective.value)
    for mine, other in ((values(ours), values(theirs)), (duals(ours), duals(theirs))):
        for name, array in other.items():
            np.testing.assert_allclose(mine[name], array, atol=1e-8)
    assert ours.solver_name == "gpuheur"


@pytest.mark.parametrize("io_api", [None, "lp"])
def test_a_mixed_integer_program_has_a_bound_and_no_duals(io_api):
    model = dispatch(integer=True)
    assert model.solve("gpuheur", io_api=io_api, rel_gap=0) == ("ok", "optimal")
    units = model.variables["units"].solution.values
    np.testing.assert_allclose(units, np.round(units))
    if HAS_NEW_SOLVERS:
        assert model.solver.report.mip_gap == pytest.approx(0, abs=1e-9)
        assert model.solver.report.dual_bound == pytest.approx(model.objective.value)
    assert "dual" not in model.constraints["balance"].data


@new_solvers_only
def test_nothing_is_written_unless_asked_for(monkeypatch):
    monkeypatch.setattr(linopy.Model, "to_file", None)
    assert dispatch().solve("gpuheur") == ("ok", "optimal")


def test_an_infeasible_model_names_its_conflict():
    model = dispatch(demand=DEMAND * 2)
    assert model.solve("gpuheur", io_api="direct") == ("warning", "infeasible")
    held = model.solver_model
    assert held.outcome.solution_status is SolutionStatus.INFEASIBLE
    said = held.outcome.explanation
    assert "balance[3]: cheap[3] >= 50" in said
    if HAS_NEW_SOLVERS:
        assert said in model.solver.status.legacy_status
    assert "cheap[3] <= 40" in said


def test_crossed_bounds_are_infeasible():
    model = linopy.Model()
    x = model.add_variables(2, 1, name="x")
    model.add_constraints(x >= 0)
    model.add_objective(1 * x)
    for io_api in (None, "lp"):
        assert model.solve("gpuheur", io_api=io_api) == ("warning", "infeasible")


def test_an_unbounded_model():
    model = linopy.Model()
    model.add_objective(-1 * model.add_variables(0, name="x"))
    assert model.solve("gpuheur") == ("warning", "unbounded")


def test_a_limit_without_a_point_is_no_solution():
    model = dispatch(integer=True)
    assert model.solve("gpuheur", time_limit=0) == ("warning", "time_limit")
    assert "solution" not in model.variables["units"].data
    assert np.isnan(model.objective.value)


def test_a_point_at_a_limit_is_loaded():
    rng = np.random.default_rng(1)
    model = linopy.Model()
    items = pd.RangeIndex(60, name="item")
    take = model.add_variables(binary=True, coords=[items], name="take")
    weights = rng.integers(10, 100, (5, 60)).astype(float)
    for row in weights:
        model.add_constraints((take * pd.Series(row, items)).sum() <= row.sum() / 2)
    model.add_objective((take * pd.Series(weights[0], items)).sum(), sense="max")
    status, condition = model.solve("gpuheur", heuristics_only=True, work_limit=0.01)
    assert (status, condition != "optimal") == ("ok", True)
    assert weights[0] @ take.solution.values == pytest.approx(model.objective.value)


def test_options_are_those_of_the_table(tmp_path):
    with pytest.raises(OptionError, match="'spam'"):
        dispatch().solve("gpuheur", spam=1)
    log = tmp_path / "solve.log"
    dispatch().solve("gpuheur", log_fn=log, method="simplex", mip_rel_gap=0.1)
    assert "gpu-bridge" in log.read_text()


@new_solvers_only
@pytest.mark.parametrize("io_api", [None, "lp"])
def test_solution_and_basis_files_are_starts(tmp_path, io_api):
    model, solution, basis = dispatch(), tmp_path / "new" / "x.sol", tmp_path / "new" / "x.bas"
    model.solve("gpuheur", io_api=io_api, solution_fn=solution, basis_fn=basis, keep_files=True)
    assert solution.read_text().startswith("=obj=")
    cold = model.solver.report.simplex_iterations
    simplex = {"method": "simplex", "presolve": False, "io_api": io_api}
    assert model.solve("gpuheur", warmstart_fn=basis, **simplex) == ("ok", "optimal")
    assert model.solver.report.simplex_iterations < max(1, cold)
    assert model.solve("gpuheur", warmstart_fn=solution, **simplex) == ("ok", "optimal")


def test_a_basis_of_another_model_is_refused(tmp_path):
    path = tmp_path / "x.bas"
    path.write_text('{"columns": {"x": "basic"}, "rows": {}}')
    with pytest.raises(FileFormatError, match="another model"):
        dispatch().solve("gpuheur", warmstart_fn=path)
    with pytest.raises(FileFormatError, match="cannot be read"):
        dispatch().solve("gpuheur", warmstart_fn=tmp_path / "absent")


def test_an_answer_without_a_basis_writes_none(tmp_path, caplog):
    path = tmp_path / "x.bas"
    with caplog.at_level(logging.WARNING):
        dispatch(demand=DEMAND * 2).solve("gpuheur", basis_fn=path)
    assert not Path(path).exists()
    assert "has no basis" in caplog.text


@keeping_only
def test_a_kept_solver_takes_changes_in_place_and_starts_from_its_basis():
    model, fresh = dispatch(), dispatch()
    simplex = {"method": "simplex", "presolve": False}
    solver = Solver.from_name("gpuheur", model, "direct", simplex, track_updates=True)
    solver.solve(model, assign=True)
    first = solver.report.simplex_iterations
    for changed in (model, fresh):
        changed.variables["cheap"].update(upper=39)
        changed.constraints["balance"].update(rhs=DEMAND + 1)
        capacity = changed.constraints["capacity"]
        lhs = 14 * changed.variables["units"] - changed.variables["cheap"]
        capacity.update(lhs=lhs)
        objective = (11 * changed.variables["cheap"] + 8 * changed.variables["units"]).sum()
        dear = (30 * changed.variables["dear"].fillna(0)).sum()
        changed.add_objective(objective + dear, overwrite=True)
    solver.solve(model, assign=True, disallow_rebuild=True)
    fresh.solve("highs", output_flag=False)
    assert model.objective.value == pytest.approx(fresh.objective.value)
    assert solver.report.simplex_iterations < first
    assert solver._rebuilds == 0


@keeping_only
def test_a_kept_solver_follows_types_and_sense():
    model = dispatch()
    solver = Solver.from_name("gpuheur", model, "direct", track_updates=True)
    relaxed = solver.solve(model, assign=True).solution.objective
    changed = dispatch(integer=True)
    assert solver.solve(changed, disallow_rebuild=True).solution.objective > relaxed
    mirrored = dispatch(sense="max")
    found = solver.solve(mirrored, disallow_rebuild=True).solution.objective
    assert found == pytest.approx(-relaxed)


@new_solvers_only
def test_linopy_knows_the_solver_after_its_own():
    assert SolverName("gpuheur") is SolverName.GpuHeur
    assert SolverName["GpuHeur"].value == "gpuheur"
    assert list(SolverName)[-1] is SolverName.GpuHeur
    assert linopy.available_solvers[-1] == "gpuheur"
    assert linopy.solvers.GpuHeur is GpuHeur


def either_or() -> linopy.Model:
    """Return a model where of three plants one may run in each region."""
    model = linopy.Model()
    plants = pd.Index(["coal", "gas", "wind"], name="plant")
    regions = pd.Index(["north", "south"], name="region")
    x = model.add_variables(0, 4, coords=[plants, regions], name="x")
    model.add_sos_constraints(x, sos_type=1, sos_dim="plant")
    model.add_constraints(x.sum() <= 20, name="sum")
    model.add_objective((-x * pd.Series([1.0, 3.0, 2.0], index=plants)).sum())
    return model


@new_solvers_only
@pytest.mark.parametrize("io_api", [None, "direct", "lp"])
def test_special_ordered_sets_hold_along_their_dimension(
    io_api: str | None, tmp_path: Path
) -> None:
    model = either_or()
    model.solve("gpuheur", io_api=io_api, problem_fn=tmp_path / "model.lp", keep_files=True)
    assert (tmp_path / "model.lp").exists() is (io_api == "lp")
    assert model.objective.value == pytest.approx(-24)
    assert model.solution["x"].values.tolist() == [[0, 0], [4, 4], [0, 0]]
