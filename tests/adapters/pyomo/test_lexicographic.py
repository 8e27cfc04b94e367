"""Several objectives in order, against what the order says and by hand."""

from __future__ import annotations

from typing import Any

import pyomo.environ as pyo
import pytest

import gpu_bridge as gb


def plants(domain: Any = pyo.NonNegativeReals) -> pyo.ConcreteModel:
    """Return min cost, then emissions, of 10 units from three plants with rooms for 6 each.

    The cheapest plan costs 2 * 6 + 2 * 4 = 20 and leaves open which of two equal plants does what.
    """
    model = pyo.ConcreteModel()
    model.make = pyo.Var(range(3), domain=domain, bounds=(0, 6))
    model.demand = pyo.Constraint(expr=sum(model.make.values()) == 10)
    model.cost = pyo.Objective(expr=2 * model.make[0] + 2 * model.make[1] + 5 * model.make[2])
    model.clean = pyo.Objective(expr=-3 * model.make[0] - model.make[1], sense=pyo.maximize)
    model.clean.deactivate()
    return model


@pytest.mark.parametrize("domain", [pyo.NonNegativeReals, pyo.NonNegativeIntegers])
def test_the_second_objective_chooses_among_the_best_of_the_first(domain: Any) -> None:
    model = plants(domain)
    results = gb.solve_lexicographic(model, [model.cost, model.clean])
    assert len(results) == 2
    for one in results:
        pyo.assert_optimal_termination(one)
    assert pyo.value(model.cost) == pytest.approx(20.0)
    assert [model.make[j].value for j in range(3)] == pytest.approx([4.0, 6.0, 0.0])


def test_the_other_order_gives_the_other_answer() -> None:
    model = plants()
    gb.solve_lexicographic(model, [model.clean, model.cost])
    assert [model.make[j].value for j in range(3)] == pytest.approx([0.0, 4.0, 6.0])


@pytest.mark.parametrize("tolerances", [{"rel_tolerances": [0.15, 0]}, {"abs_tolerances": 3.0}])
def test_a_tolerance_gives_the_next_objective_room(tolerances: dict[str, Any]) -> None:
    # three more of cost move one unit from plant 0 to plant 2
    model = plants()
    gb.solve_lexicographic(model, [model.cost, model.clean], **tolerances)
    assert pyo.value(model.cost) == pytest.approx(23.0)
    assert [model.make[j].value for j in range(3)] == pytest.approx([3.0, 6.0, 1.0])


def test_the_model_is_as_before() -> None:
    model = plants()
    parts = [part.name for part in model.component_objects()]
    gb.solve_lexicographic(model, [model.clean, model.cost])
    assert [part.name for part in model.component_objects()] == parts
    assert model.cost.active
    assert not model.clean.active


def test_an_infeasible_model_ends_with_the_first_objective() -> None:
    model = plants()
    model.too_much = pyo.Constraint(expr=model.make[0] >= 11)
    results = gb.solve_lexicographic(model, [model.cost, model.clean])
    (only,) = results
    assert only.solver.termination_condition == pyo.TerminationCondition.infeasible
    assert model.cost.active


def test_mistakes_are_named() -> None:
    model, other = plants(), plants()
    with pytest.raises(gb.ProblemError, match="'demand' is no single objective"):
        gb.solve_lexicographic(model, [model.demand])
    with pytest.raises(gb.ProblemError, match="another model"):
        gb.solve_lexicographic(model, [other.cost])
    with pytest.raises(gb.OptionError, match="3 numbers for 1"):
        gb.solve_lexicographic(model, [model.cost], rel_tolerances=[0, 0, 0])
    with pytest.raises(gb.OptionError, match="at least 0"):
        gb.solve_lexicographic(model, [model.cost], abs_tolerances=-1)
