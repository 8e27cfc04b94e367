"""Solving a model over a table of parameter values, against solving it row by row."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo
import pytest
from pyomo.common.collections import ComponentMap

import gpu_bridge
from gpu_bridge import ProblemError, SolutionStatus, StopReason, solve_table
from gpu_bridge.adapters.pyomo import table as table_module
from gpu_bridge.adapters.pyomo.convert import convert
from gpu_bridge.adapters.pyomo.table_batch import read_batch, read_table
from tests.cases import through


def transport() -> pyo.ConcreteModel:
    """Two plants, three towns; parameters in every place where one may stand."""
    model = pyo.ConcreteModel(name="transport")
    model.towns = pyo.RangeSet(3)
    model.plants = pyo.RangeSet(2)
    model.demand = pyo.Param(model.towns, initialize={1: 3, 2: 4, 3: 5}, mutable=True)
    model.fee = pyo.Param(initialize=1.0, mutable=True)
    model.loss = pyo.Param(initialize=0.1, mutable=True)
    model.capacity = pyo.Param(initialize=9.0, mutable=True)
    model.largest = pyo.Param(initialize=6.0, mutable=True, within=pyo.NonNegativeReals)
    model.ship = pyo.Var(model.plants, model.towns, bounds=(0, model.largest))
    model.extra = pyo.Var(within=pyo.NonNegativeReals)
    model.cost = pyo.Objective(
        expr=sum((p + t * model.fee) * model.ship[p, t] for p in model.plants for t in model.towns)
        + 100 * model.extra
        + 2 * model.fee
    )

    @model.Constraint(model.towns)
    def serve(model, t):
        need = model.demand[t] * (model.fee + 1) / 2 if t == 1 else model.demand[t]
        arriving = sum((1 - model.loss) * model.ship[p, t] for p in model.plants)
        return arriving + model.extra >= need

    @model.Constraint(model.plants)
    def supply(model, p):
        return sum(model.ship[p, t] for t in model.towns) <= model.capacity * p + model.demand[1]

    model.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    return model


def rows_of(count: int, seed: int = 0) -> dict[str, np.ndarray]:
    generator = np.random.default_rng(seed)
    return {
        "demand[1]": generator.uniform(1.0, 5.0, count),
        "demand[3]": generator.uniform(1.0, 5.0, count),
        "fee": generator.uniform(0.5, 2.0, count),
        "loss": generator.uniform(0.0, 0.3, count),
        "capacity": generator.uniform(5.0, 9.0, count),
        "largest": generator.uniform(4.0, 8.0, count),
    }


def one_by_one(model, table):
    """Set the parameters and solve, for each row, as a user would."""
    rows = read_table(model, table)
    answers = []
    for k in range(len(rows)):
        rows.set_row(k)
        answers.append(gpu_bridge.solve(convert(model).problem))
    return answers


def test_columns_give_exactly_what_converting_every_row_gives():
    model, table = transport(), rows_of(6)
    rows = read_table(model, table)
    rows.set_row(0)
    batch = read_batch(model, rows, convert(model))
    assert batch is not None
    for k in range(6):
        rows.set_row(k)
        expected, found = convert(model).problem, batch.member(k)
        for name in ("cost", "lower", "upper", "row_lower", "row_upper", "offset"):
            np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-14)
        assert abs(found.matrix - expected.matrix).max() <= 1e-14


@pytest.mark.parametrize("method", ["auto", "pdlp"])
def test_results_are_those_of_single_solves(method):
    model, table = transport(), rows_of(10)
    expected = one_by_one(transport(), table)
    results = solve_table(model, table, method=method, device="cpu")
    assert results.status == [SolutionStatus.OPTIMAL] * 10
    np.testing.assert_allclose(results.objective, [o.objective for o in expected], rtol=1e-5)


def test_values_duals_and_columns_by_name():
    model, table = transport(), rows_of(4)
    results = solve_table(model, table)
    columns = results.as_dict()
    assert columns["status"] == ["optimal"] * 4
    assert {"fee", "demand[1]", "objective", "ship[1,1]", "extra"} <= set(columns)
    single = gpu_bridge.solve(convert(_at(transport(), table, 2)).problem)
    np.testing.assert_allclose(results.objective[2], single.objective)
    np.testing.assert_array_equal(results.value("ship[1,2]"), results.value(model.ship[1, 2]))
    assert results.dual(model.serve[2]).shape == (4,)
    assert results.dual("serve[2]")[2] >= -1e-9
    assert results.reduced_cost("extra").shape == (4,)


def _at(model, table, k):
    read_table(model, table).set_row(k)
    return model


def test_parameters_and_variables_are_as_before():
    model = transport()
    model.ship[1, 1].set_value(1.25)
    solve_table(model, rows_of(3))
    assert model.fee.value == 1.0
    assert model.demand[1].value == 3
    assert model.ship[1, 1].value == 1.25
    assert model.ship[1, 2].value is None


def test_a_solution_can_be_loaded():
    model, table = transport(), rows_of(3)
    results = solve_table(model, table)
    results.load(1)
    assert model.fee.value == table["fee"][1]
    assert pyo.value(model.cost) == pytest.approx(results.objective[1])


def test_every_form_of_a_table():
    table = {"fee": [1.0, 2.0], "demand[2]": [3.0, 4.0]}
    expected = solve_table(transport(), table).objective
    model = transport()
    forms = [
        ComponentMap([(model.fee, table["fee"]), (model.demand, {2: table["demand[2]"]})]),
        ComponentMap([(model.fee, table["fee"]), (model.demand[2], table["demand[2]"])]),
        [{"fee": 1.0, "demand[2]": 3.0}, {"fee": 2.0, "demand[2]": 4.0}],
        [ComponentMap([(model.fee, fee), (model.demand[2], fee + 2)]) for fee in (1.0, 2.0)],
        [{"fee": 1.0, "demand[2]": 3.0}, {"demand[2]": 4.0, "fee": 2.0}],
        Frame(table),
    ]
    for form in forms:
        np.testing.assert_allclose(solve_table(model, form).objective, expected)


class Frame:
    """What solve_table needs of a pandas DataFrame."""

    def __init__(self, columns):
        self.columns = list(columns)
        self._columns = columns

    def __getitem__(self, name):
        return self._columns[name]


def test_a_maximisation_keeps_its_sense():
    model = pyo.ConcreteModel()
    model.price = pyo.Param(initialize=1.0, mutable=True)
    model.x = pyo.Var(bounds=(0, 4))
    model.y = pyo.Var(bounds=(0, 4))
    model.profit = pyo.Objective(expr=model.price * model.x + model.y + 1, sense=pyo.maximize)
    model.limit = pyo.Constraint(expr=model.x + model.y <= 5)
    results = solve_table(model, {"price": [0.5, 3.0]}, method="pdlp", device="cpu")
    np.testing.assert_allclose(results.objective, [4 + 0.5 + 1, 12 + 1 + 1], rtol=1e-6)
    np.testing.assert_allclose(results.dual(model.limit), [0.5, 1.0], rtol=1e-5)


def nonlinear_in_parameters():
    model = pyo.ConcreteModel()
    model.angle = pyo.Param(initialize=0.5, mutable=True)
    model.x = pyo.Var(bounds=(0, 10))
    model.low = pyo.Constraint(expr=pyo.sin(model.angle) * model.x >= model.angle**2)
    model.cost = pyo.Objective(expr=model.x)
    return model, {"angle": [0.5, 1.0, 1.5]}, lambda a: a**2 / np.sin(a)


def structure_changes():
    model = pyo.ConcreteModel()
    model.share = pyo.Param(initialize=0.0, mutable=True)
    model.x = pyo.Var(bounds=(0, 10))
    model.y = pyo.Var(bounds=(0, 10))
    model.low = pyo.Constraint(expr=model.x + model.share * model.y >= 3)
    model.cost = pyo.Objective(expr=2 * model.x + model.y)
    return model, {"share": [0.0, 1.0, 0.1]}, lambda s: np.where(s > 0.5, 3.0, 6.0)


def nested_expressions():
    model = pyo.ConcreteModel()
    model.rate = pyo.Param(initialize=2.0, mutable=True)
    model.x = pyo.Var(bounds=(0, 10))
    model.double = pyo.Expression(expr=2 * model.rate * model.x)
    model.low = pyo.Constraint(expr=3 * (model.double + 1) >= 27)
    model.cost = pyo.Objective(expr=model.double + model.x)
    return model, {"rate": [2.0, 4.0]}, lambda r: 8.0 + 4.0 / r


@pytest.mark.parametrize(
    ("case", "by_columns"),
    [(nonlinear_in_parameters, False), (structure_changes, False), (nested_expressions, True)],
)
def test_what_columns_cannot_do_is_converted_row_by_row(case, by_columns, monkeypatch):
    model, table, expected = case()
    calls = []
    original = table_module.read_batch

    def watched(*arguments):
        calls.append(original(*arguments))
        return calls[-1]

    monkeypatch.setattr(table_module, "read_batch", watched)
    results = solve_table(model, table)
    assert [batch is not None for batch in calls] == [by_columns]
    column = np.array(next(iter(table.values())))
    np.testing.assert_allclose(results.objective, expected(column), rtol=1e-6)
    np.testing.assert_allclose(results.value("x") >= 0, True)


def test_integers_and_fixed_variables():
    model = pyo.ConcreteModel()
    model.weight = pyo.Param(initialize=1.0, mutable=True)
    model.x = pyo.Var(within=pyo.Integers, bounds=(0, 10))
    model.y = pyo.Var(initialize=2.0)
    model.y.fix()
    model.limit = pyo.Constraint(expr=model.weight * model.x + model.weight * model.y <= 10)
    model.gain = pyo.Objective(expr=model.x, sense=pyo.maximize)
    results = solve_table(model, {"weight": [1.0, 1.5, 3.0]})
    np.testing.assert_allclose(results.value("x"), [8, 4, 1])
    np.testing.assert_array_equal(results.value(model.y), [2.0, 2.0, 2.0])


def test_rows_without_a_solution_say_so():
    model = pyo.ConcreteModel()
    model.need = pyo.Param(initialize=1.0, mutable=True)
    model.most = pyo.Param(initialize=4.0, mutable=True)
    model.x = pyo.Var(bounds=(1, model.most))
    model.cost = pyo.Objective(expr=model.x)
    model.low = pyo.Constraint(expr=model.x >= model.need)
    results = solve_table(model, {"need": [2.0, 5.0, 1.0], "most": [4.0, 4.0, 0.5]})
    assert [status.name for status in results.status] == ["OPTIMAL", "INFEASIBLE", "INFEASIBLE"]
    assert np.isnan(results.value("x")[1:]).all()
    assert results.value("x")[0] == 2.0
    with pytest.raises(ProblemError, match="Row 1"):
        results.load(1)


def test_a_contradiction_without_variables_is_infeasible_in_its_row_only():
    model = pyo.ConcreteModel()
    model.a = pyo.Param(initialize=1.0, mutable=True)
    model.x = pyo.Var(bounds=(0, 1))
    model.cost = pyo.Objective(expr=model.x)
    model.never = pyo.Constraint(expr=model.a * model.x >= 0.5)
    results = solve_table(model, {"a": [0.0, 1.0]})
    assert [status.name for status in results.status] == ["INFEASIBLE", "OPTIMAL"]
    np.testing.assert_allclose(results.value(model.x), [np.nan, 0.5])


def test_no_rows():
    results = solve_table(transport(), {"fee": []})
    assert len(results) == 0
    assert results.status == []
    assert results.objective.shape == (0,)


@through(
    ("table", "message"),
    [
        ({"nothing": [1.0]}, "no parameter 'nothing'"),
        ({"demand": [1.0]}, "indexed"),
        ({"fee": [1.0], "loss": [0.1, 0.2]}, "differ in length"),
        ({"fee": ["much"]}, "does not hold numbers"),
        ({}, "no columns"),
        (3, "must be a mapping"),
        ([{"fee": 1.0}, {"loss": 1.0}], "Row 1"),
        ([{"fee": 1.0}, {"fee": 1.0, "loss": 1.0}], "Row 1"),
        ({"fee": [1.0, None]}, "Row 1 of the table has no number for 'fee'"),
        ({"fee": [1.0, 2.0, float("nan")]}, "Row 2 of the table has no number for 'fee'"),
        ({"demand": {9: [1.0]}}, "'demand' has no index 9; known are"),
        ({"fee": {9: [1.0]}}, "'fee' has no index 9; it is not indexed"),
    ],
)
def test_a_bad_table_is_refused(table, message):
    with pytest.raises(ProblemError, match=message):
        solve_table(transport(), table)


def test_a_value_outside_its_domain_is_refused_and_nothing_is_left_changed():
    model = transport()
    with pytest.raises(ProblemError, match="Row 1 of the table gives 'largest' the value -1"):
        solve_table(model, {"fee": [3.0, 3.0], "largest": [1.0, -1.0]})
    assert (model.fee.value, model.largest.value) == (1.0, 6.0)


def test_what_is_no_model_is_refused():
    with pytest.raises(ProblemError, match="a int was given for the model"):
        solve_table(3, {"fee": [1.0]})


def test_a_row_that_cannot_be_converted_is_named():
    model = pyo.ConcreteModel()
    model.p = pyo.Param(initialize=1.0, mutable=True)
    model.x = pyo.Var(bounds=(0, 10))
    model.c = pyo.Constraint(expr=model.x >= 1 / model.p)
    model.o = pyo.Objective(expr=model.x)
    with pytest.raises(ProblemError, match=r"Row 2 of the table: .*'c'"):
        solve_table(model, {"p": [1.0, 2.0, 0.0, 4.0]})
    assert model.p.value == 1.0


@pytest.mark.parametrize("limit", [0.0, None])
def test_converting_row_by_row_is_part_of_the_time_limit(limit, monkeypatch):
    monkeypatch.setattr(table_module, "read_batch", lambda model, table, base: None)
    results = solve_table(transport(), {"fee": [1.0, 2.0]}, time_limit=limit)
    reasons = {outcome.stop_reason for outcome in results.outcomes}
    assert reasons == {StopReason.CONVERGED if limit is None else StopReason.TIME_LIMIT}
    assert np.isnan(results.objective).all() == (limit is not None)
    assert np.isnan(results.value("ship[1,2]")).all() == (limit is not None)


def test_an_immutable_parameter_is_refused():
    model = transport()
    model.constant = pyo.Param(initialize=1.0)
    with pytest.raises(ProblemError, match="mutable=True"):
        solve_table(model, {"constant": [1.0]})
