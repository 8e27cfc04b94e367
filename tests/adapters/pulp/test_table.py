"""Solving a PuLP model over a table, against changing the model and solving it row by row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pulp
import pytest

import gpu_bridge
from gpu_bridge import ProblemError, SolutionStatus, UnsupportedModelError, solve_table
from tests.adapters.pulp.models import PULP_4, rows_of, solve
from tests.cases import through

CPU = {"device": "cpu"}
ROWS = {
    "need.rhs": [4.0, 6.0, 7.5],
    "most.rhs": [5.0, 6.0, 4.0],
    "x.cost": [2.0, 5.0, 1.0],
    "y.upper": [3.0, 9.0, 4.0],
    "z.lower": [0.0, 0.5, -1.0],
    ("most", "y"): [1.0, 2.0, 0.5],
}


def model(sense: int = pulp.LpMinimize, category: str = "Continuous", **row: float) -> Any:
    """Return a model with the numbers of a row of the table in their places."""
    at = {"need.rhs": 4.0, "most.rhs": 5.0, "x.cost": 2.0, "y.upper": 3.0, "z.lower": 0.0}
    at |= {"most[y]": 1.0, **row}
    lp = pulp.LpProblem("mix", sense)
    x = lp.add_variable("x", 0, 8, category)
    y = lp.add_variable("y", 0, at["y.upper"], category)
    z = lp.add_variable("z", at["z.lower"], 2)
    sign = 1 if sense == pulp.LpMinimize else -1
    lp += at["x.cost"] * sign * x + 3 * sign * y + sign * z + 1
    lp += x + y + z >= at["need.rhs"], "need"
    lp += x + at["most[y]"] * y <= at["most.rhs"], "most"
    return lp


def row(k: int) -> dict[str, float]:
    return {key if isinstance(key, str) else "most[y]": ROWS[key][k] for key in ROWS}


@pytest.mark.parametrize("category", ["Continuous", "Integer"])
@pytest.mark.parametrize("sense", [pulp.LpMinimize, pulp.LpMaximize])
def test_each_row_has_the_answer_of_its_own_model(sense: int, category: str) -> None:
    sign = 1 if sense == pulp.LpMinimize else -1
    table = {**ROWS, "x.cost": [sign * cost for cost in ROWS["x.cost"]]}
    results = solve_table(model(sense, category), table, **CPU)
    assert len(results) == 3
    for k in range(3):
        alone = model(sense, category, **row(k))
        assert solve(alone) is results.status[k]
        assert results.objective[k] == pytest.approx(pulp.value(alone.objective))
        for name, variable in alone.variablesDict().items():
            assert results.value(name)[k] == pytest.approx(variable.varValue)
            if category == "Continuous":
                assert results.reduced_cost(name)[k] == pytest.approx(variable.dj)


def test_duals_are_those_of_the_rows() -> None:
    results = solve_table(model(), {"need.rhs": [1.0, 7.0]}, **CPU)
    for k, need in enumerate((1.0, 7.0)):
        alone = model(**{"need.rhs": need})
        solve(alone)
        for constraint in rows_of(alone):
            assert results.dual(constraint)[k] == pytest.approx(constraint.pi)


def test_a_table_has_many_forms_and_becomes_one() -> None:
    expected = solve_table(model(), {"need.rhs": [4.0, 6.0], "x.cost": [2.0, 9.0]}, **CPU)
    rows = [{"need.rhs": 4.0, "x.cost": 2.0}, {"need.rhs": 6.0, "x.cost": 9.0}]
    for table in (rows, pd.DataFrame(rows)):
        results = solve_table(model(), table, **CPU)
        np.testing.assert_allclose(results.objective, expected.objective)
    columns = results.as_dict()
    assert list(columns) == ["need.rhs", "x.cost", "status", "objective", "x", "y", "z"]
    assert columns["status"] == ["optimal", "optimal"]
    np.testing.assert_allclose(columns["x"], expected.value("x"))


def test_an_equation_keeps_both_sides_and_the_objects_are_names() -> None:
    lp = model()
    x = lp.variablesDict()["x"]
    lp += x + 0 == 1, "fixed"
    results = solve_table(lp, {"fixed.rhs": [2.0, 3.0]}, **CPU)
    np.testing.assert_allclose(results.value(x), [2.0, 3.0])


def test_loading_a_row_gives_the_model_its_values_and_slacks() -> None:
    lp = model()
    results = solve_table(lp, {"most.rhs": [5.0, 2.0], "z.lower": [0.0, 5.0]}, **CPU)
    assert results.status == [SolutionStatus.OPTIMAL, SolutionStatus.INFEASIBLE]
    assert all(variable.varValue is None for variable in lp.variables())
    results.load(0)
    assert lp.variablesDict()["x"].varValue == pytest.approx(results.value("x")[0])
    x, y = (lp.variablesDict()[name].varValue for name in "xy")
    assert lp.get_constraint_by_name("most").slack == pytest.approx(5 - x - y)
    with pytest.raises(ProblemError, match="Row 1 of the table has no point"):
        results.load(1)


def test_a_table_without_rows_has_no_answers() -> None:
    results = solve_table(model(), {"need.rhs": []}, **CPU)
    assert (len(results), results.value("x").shape) == (0, (0,))


@through(
    ("table", "said"),
    [
        ({}, "no columns"),
        ({"need": [1.0]}, "does not say what of the model it holds"),
        ({"needs.rhs": [1.0]}, "no constraint 'needs'"),
        ({"w.cost": [1.0]}, "no variable 'w'"),
        ({("need", "w"): [1.0]}, "no variable 'w'"),
        ({("most", "z"): [1.0]}, r"'most\[z\]', but the model has no coefficient"),
        ({"need.rhs": [1.0], "x.cost": [1.0, 2.0]}, "differ in length"),
        ({"need.rhs": [[1.0, 2.0]]}, "one number for each row"),
        ({"need.rhs": 3.0}, "one number for each row"),
        ({"need.rhs": [1.0, None]}, "Row 1 of the table has no number for 'need.rhs'"),
        ({"need.rhs": ["much"]}, "does not hold numbers"),
    ],
)
def test_what_does_not_fit_is_named(table: dict[Any, Any], said: str) -> None:
    with pytest.raises(ProblemError, match=said):
        solve_table(model(), table)


def test_ordered_sets_are_refused() -> None:
    lp = model()
    weights = {variable: k for k, variable in enumerate(lp.variables())}
    if PULP_4:
        from pulp._rustcore import SosKind

        lp.add_sos_group(SosKind.Sos1, "one", weights)
    else:
        lp.sos1 = {"one": weights}
    with pytest.raises(UnsupportedModelError, match="special ordered sets"):
        solve_table(lp, {"need.rhs": [1.0]})


def test_limits_are_understood_by_other_names() -> None:
    results = solve_table(model(), {"need.rhs": [4.0, 5.0]}, timeLimit=0, **CPU)
    assert [outcome.stop_reason for outcome in results.outcomes] == [
        gpu_bridge.StopReason.TIME_LIMIT
    ] * 2
