"""The persistent interfaces: what they are told, what they look at, what they read again."""

from __future__ import annotations

from typing import Any

import pyomo.environ as pyo
import pytest
from pyomo.contrib.solver.common.factory import SolverFactory as NewFactory
from pyomo.solvers.plugins.solvers.persistent_solver import PersistentSolver

import gpu_bridge  # registers the solver
import gpu_bridge.adapters.pyomo.rows as row_batches
from gpu_bridge.adapters.pyomo.collect import RowCollector
from gpu_bridge.adapters.pyomo.convert import convert
from gpu_bridge.adapters.pyomo.instance import Instance
from solvers.core.errors import OptionError, ProblemError
from tests.adapters.pyomo.models import infeasible


def make_model() -> Any:
    """Return max x + 2 y with x + y <= 4, whose optimum is 7 at (1, 3)."""
    m = pyo.ConcreteModel()
    m.p = pyo.Param(mutable=True, initialize=2.0)
    m.x = pyo.Var(bounds=(0, 3))
    m.y = pyo.Var(bounds=(0, 3))
    m.capacity = pyo.Constraint(expr=m.x + m.y <= 4)
    m.gain = pyo.Objective(expr=m.x + m.p * m.y, sense=pyo.maximize)
    return m


@pytest.fixture
def model() -> Any:
    return make_model()


@pytest.fixture
def solver(model: Any) -> Any:
    return pyo.SolverFactory("gpuheur_persistent", model=model)


def optimum(solver: Any) -> float:
    results = solver.solve()
    pyo.assert_optimal_termination(results)
    return float(pyo.value(solver._pyomo_model.component("gain")))


def test_frameworks_recognise_the_old_one() -> None:
    solver = pyo.SolverFactory("gpuheur_persistent")
    assert isinstance(solver, PersistentSolver)
    assert not solver.has_instance()
    assert solver.name == "gpuheur_persistent"
    assert solver.available()


def test_new_one_says_that_it_is_persistent() -> None:
    assert NewFactory("gpuheur_persistent").is_persistent()
    assert not NewFactory("gpuheur").is_persistent()


def test_constraints_belong_to_it_as_it_is_told(solver: Any, model: Any) -> None:
    assert optimum(solver) == pytest.approx(7)
    model.more = pyo.Constraint(expr=model.y <= 1)
    assert optimum(solver) == pytest.approx(7)
    solver.add_constraint(model.more)
    assert optimum(solver) == pytest.approx(5)
    solver.remove_constraint(model.more)
    assert optimum(solver) == pytest.approx(7)


def test_values_need_not_be_told(solver: Any, model: Any) -> None:
    optimum(solver)
    model.p.set_value(0.5)
    assert optimum(solver) == pytest.approx(3.5)
    model.x.fix(1)
    assert optimum(solver) == pytest.approx(2.5)
    model.x.unfix()
    model.x.setub(1)
    assert optimum(solver) == pytest.approx(2.5)
    model.capacity.set_value(model.x + model.y <= 1)
    assert optimum(solver) == pytest.approx(1)
    model.capacity.deactivate()
    assert optimum(solver) == pytest.approx(2.5)


def test_objective_is_the_one_that_it_is_told(solver: Any, model: Any) -> None:
    optimum(solver)
    model.gain.deactivate()
    model.other = pyo.Objective(expr=model.x - model.y)
    with pytest.raises(ProblemError, match="'gain' that the solver was told is inactive"):
        solver.solve()
    solver.set_objective(model.other)
    solver.solve()
    assert pyo.value(model.other) == pytest.approx(-3)
    with pytest.raises(ProblemError, match="'gain' is inactive"):
        solver.set_objective(model.gain)


def test_blocks_come_and_go(solver: Any, model: Any) -> None:
    model.b = pyo.Block()
    model.b.z = pyo.Var(bounds=(0, 1))
    model.b.cut = pyo.Constraint(expr=model.x + model.b.z == 0.5)
    solver.add_block(model.b)
    assert optimum(solver) == pytest.approx(6.5)
    model.b.cut.deactivate()
    solver.remove_block(model.b)
    model.b.cut.activate()
    assert optimum(solver) == pytest.approx(7)


def test_special_ordered_sets_come_and_go(solver: Any, model: Any) -> None:
    model.both = pyo.Reference({1: model.x, 2: model.y})
    model.one = pyo.SOSConstraint(var=model.both, sos=1)
    solver.add_sos_constraint(model.one)
    assert optimum(solver) == pytest.approx(6)
    solver.remove_sos_constraint(model.one)
    assert optimum(solver) == pytest.approx(7)


def test_column_is_added_to_model_and_instance(solver: Any, model: Any) -> None:
    optimum(solver)
    model.z = pyo.Var(bounds=(0, 2))
    solver.add_column(model, model.z, 10, [model.capacity], [1])
    assert optimum(solver) == pytest.approx(24)
    assert pyo.value(model.capacity) == pytest.approx(4)
    with pytest.raises(ProblemError, match="2 constraints and 1 coef"):
        solver.add_column(model, model.z, 1, [model.capacity, model.capacity], [1])


def test_variables_that_took_no_part_are_loaded_as_columns_would_be(
    solver: Any, model: Any
) -> None:
    model.idle = pyo.Var(bounds=(2, 5))
    model.below = pyo.Var(bounds=(None, -1))
    model.free = pyo.Var()
    model.y.fix(2)
    solver.solve(load_solutions=False, save_results=False)
    solver.load_vars([model.x, model.y, model.idle, model.below, model.free])
    assert model.x.value == pytest.approx(2)
    assert [v.value for v in (model.y, model.idle, model.below, model.free)] == [2, 2, -1, 0]


def test_solution_is_loaded_on_demand(solver: Any, model: Any) -> None:
    with pytest.raises(ProblemError, match="not solved yet"):
        solver.load_vars()
    solver.solve(load_solutions=False, save_results=False)
    assert model.x.value is None
    solver.load_vars([model.y])
    assert (model.x.value, model.y.value) == (None, pytest.approx(3))
    solver.load_vars()
    solver.load_duals()
    solver.load_rc([model.y])
    solver.load_slacks()
    assert model.x.value == pytest.approx(1)
    assert model.dual[model.capacity] == pytest.approx(1)
    assert (len(model.rc), model.rc[model.y]) == (1, pytest.approx(1))
    assert model.slack[model.capacity] == pytest.approx(0)
    assert solver.get_duals([model.capacity])[model.capacity] == pytest.approx(1)


def test_infeasible_instance_becomes_feasible() -> None:
    m = infeasible()
    solver = pyo.SolverFactory("gpuheur_persistent", model=m)
    assert solver.solve().solver.termination_condition == "infeasible"
    for constraint in m.component_data_objects(pyo.Constraint):
        solver.remove_constraint(constraint)
    assert solver.solve().solver.termination_condition == "optimal"


def test_failed_change_can_be_taken_back(solver: Any, model: Any) -> None:
    optimum(solver)
    model.bent = pyo.Constraint(expr=model.x * model.y <= 1)
    solver.add_constraint(model.bent)
    with pytest.raises(gpu_bridge.UnsupportedModelError, match="'bent' has nonlinear terms"):
        solver.solve()
    solver.remove_constraint(model.bent)
    assert optimum(solver) == pytest.approx(7)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda s, m: s.solve(make_model()), "another one was given to solve"),
        (lambda s, m: s.remove_constraint(make_model().capacity), "'capacity' does not belong"),
        (lambda s, m: s.add_constraint(pyo.Constraint([1])), "is indexed"),
        (lambda s, m: s.add_constraint(5), "5 is no component"),
        (lambda s, m: s.add_var(make_model().x), "'x' does not belong to the solver's model"),
        (lambda s, m: s.add_column(make_model(), m.x, 1, [], []), "not this one"),
    ],
)
def test_misuse_is_named(solver: Any, model: Any, call: Any, words: str) -> None:
    with pytest.raises(ProblemError, match=words):
        call(solver, model)


def test_without_an_instance_the_way_to_set_one_is_named() -> None:
    solver = pyo.SolverFactory("gpuheur_persistent")
    with pytest.raises(ProblemError, match="call set_instance"):
        solver.solve()
    with pytest.raises(OptionError):
        pyo.SolverFactory("gpuheur_persistent", model=make_model()).solve(unknown=1)


def test_new_one_finds_what_changed(model: Any) -> None:
    solver = NewFactory("gpuheur_persistent")
    assert solver.solve(model).incumbent_objective == pytest.approx(7)
    model.more = pyo.Constraint(expr=model.y <= 1)
    results = solver.solve(model)
    assert results.incumbent_objective == pytest.approx(5)
    assert results.solution_loader.get_duals()[model.more] == pytest.approx(1)
    del model.more
    model.p.set_value(3)
    assert solver.solve(model).incumbent_objective == pytest.approx(10)
    other = make_model()
    assert solver.solve(other).incumbent_objective == pytest.approx(7)


def test_new_one_may_be_told_instead(model: Any) -> None:
    solver = NewFactory("gpuheur_persistent")
    solver.config.auto_updates.check_for_new_or_removed_constraints = False
    solver.set_instance(model)
    model.more = pyo.Constraint(expr=model.y <= 1)
    assert solver.solve(model).incumbent_objective == pytest.approx(7)
    solver.add_constraints([model.more])
    assert solver.solve(model).incumbent_objective == pytest.approx(5)
    solver.config.auto_updates.check_for_new_or_removed_constraints = True
    del model.more
    assert solver.solve(model).incumbent_objective == pytest.approx(7)


def test_only_what_is_new_is_converted(monkeypatch: pytest.MonkeyPatch) -> None:
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(100), bounds=(0, 1))
    m.rows = pyo.Constraint(range(64), rule=lambda m, i: m.x[i] + m.x[i + 1] <= 1)
    m.gain = pyo.Objective(expr=pyo.quicksum(m.x.values()), sense=pyo.maximize)
    m.cuts = pyo.ConstraintList()
    instance = Instance(m)
    instance.read()
    read: list[int] = []

    class Counting(RowCollector):
        def add_constraints(self, constraints: Any) -> None:
            read.append(len(constraints))
            super().add_constraints(constraints)

    monkeypatch.setattr(row_batches, "RowCollector", Counting)
    for k in range(32):
        instance.add_constraints([m.cuts.add(m.x[k] + 2 * m.x[k + 2] <= 2)])
        assert instance.read().problem.num_rows == 65 + k
        assert_same_rows(instance, m)
    assert sum(read) <= 32 * (1 + 5)  # 5 doublings from 1 to 32, and never the 64 rows
    read.clear()
    for row in list(m.rows.values())[:20]:
        instance.constraints.pop(id(row))
        row.deactivate()
        assert_same_rows(instance, m)
    assert read == []


def assert_same_rows(instance: Instance, model: Any) -> None:
    """The instance's problem is that of the model, its rows in another order perhaps."""
    found, wanted = instance.read().problem, convert(model).problem
    assert rows_of(found) == rows_of(wanted)
    assert dict(zip(found.column_names, found.cost, strict=True)) == dict(
        zip(wanted.column_names, wanted.cost, strict=True)
    )


def rows_of(problem: Any) -> dict[str, Any]:
    entries = problem.entries
    rows = {}
    for i, name in enumerate(problem.row_names):
        own = slice(entries.indptr[i], entries.indptr[i + 1])
        names = [problem.column_names[j] for j in entries.indices[own]]
        sides = problem.row_lower[i], problem.row_upper[i]
        rows[name] = dict(zip(names, entries.data[own], strict=True)), sides
    return rows


def test_simplex_goes_on_from_the_last_basis_after_a_cut(solver: Any, model: Any) -> None:
    optimum(solver)
    instance = solver._instance
    before = instance.start(instance.read())
    assert (before.x.tolist(), before.row_dual.tolist()) == ([1.0, 3.0], [-1.0])
    model.z = pyo.Var(bounds=(None, 2))
    model.cut = pyo.Constraint(expr=model.y + model.z <= 2)
    solver.add_constraint(model.cut)
    start = instance.start(instance.read())
    # columns are x, y, z and rows capacity, cut: basic are x and the row of the cut
    assert start.basis.column_status.tolist() == [1, 2, 2]
    assert start.basis.row_status.tolist() == [2, 1]
    model.x.fix(0.5)
    assert instance.start(instance.read()).basis.column_status.tolist() == [2, 2]
    assert optimum(solver) == pytest.approx(6.5)


def test_mixed_integer_instance_starts_from_the_last_point(solver: Any, model: Any) -> None:
    model.x.domain = model.y.domain = pyo.Integers
    optimum(solver)
    start = solver._instance.start(solver._instance.read())
    assert start.x.tolist() == [1.0, 3.0]
    assert start.basis is None


def test_reset_forgets_the_last_answer_and_keeps_the_model(solver: Any) -> None:
    optimum(solver)
    instance = solver._instance
    solver.options["threads"] = 1
    solver.reset()
    assert instance.start(instance.read()) is None
    assert solver.options["threads"] == 1
    with pytest.raises(ProblemError, match="not solved yet"):
        solver.load_vars()
    assert optimum(solver) == pytest.approx(7)


def test_the_first_model_given_to_solve_becomes_the_instance() -> None:
    first, second = (pyo.ConcreteModel(name) for name in ("first", "second"))
    for model in (first, second):
        model.x = pyo.Var(bounds=(1, 2))
        model.o = pyo.Objective(expr=model.x)
    solver = pyo.SolverFactory("gpuheur_persistent")
    solver.solve(first)
    assert first.x.value == 1.0
    assert solver.has_instance()
    with pytest.raises(ProblemError, match="holds the model 'first'"):
        solver.solve(second)
